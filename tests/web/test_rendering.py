"""Pages as data: what could act is not in it, and every item leads back to its node."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate.demo import make_site
from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.web.rendering import ATTRIBUTES, DROPPED, TAGS, render, rewrite_css

SAFE_ATTRIBUTES = ATTRIBUTES | {"style", "background", "href", "src", "rel", "media"}

tags = st.sampled_from(
    sorted(TAGS | DROPPED | {"base", "embed", "meta", "link", "style", "source", "x-card", "blink"})
)
names = st.sampled_from(
    ["onclick", "onload", "href", "src", "style", "srcdoc", "action", "name", "class", "srcset"]
)
values = st.sampled_from(
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://evil.example/",
        "url(http://evil.example)",
        "a b",
        "#",
    ]
)


@st.composite
def hostile_html(draw: st.DrawFn) -> str:
    """Tags and texts in any order, mostly not closed."""
    parts = []
    for _ in range(draw(st.integers(1, 30))):
        tag = draw(tags)
        attributes = "".join(f' {draw(names)}="{draw(values)}"' for _ in range(draw(st.integers(0, 3))))
        text = draw(st.text("abc <>&\"'\u00a0é", max_size=8))
        closing = f"</{draw(tags)}>" if draw(st.booleans()) else ""
        parts.append(f"<{tag}{attributes}>{text}{closing}<!-- c -->{text}")
    return "".join(parts)


@given(hostile_html())
@settings(max_examples=60, deadline=None)
def test_only_what_is_listed_comes_out(html: str) -> None:
    page = Page("http://a.example/", html)
    try:
        items = render(page, lambda reference: None).items
    except PageError:
        return
    for number, item in enumerate(items):
        assert -1 <= item[0] < number
        if len(item) == 2:
            continue
        _, tag, attributes = item
        assert tag in TAGS | {"style", "span"} or "-" in tag
        assert set(attributes) <= SAFE_ATTRIBUTES
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#") == "#"
        assert not any("javascript:" in attributes.get(name, "") for name in ("src", "href", "background"))
        assert "url(http" not in attributes.get("style", "")
        assert "src" not in attributes


@given(hostile_html())
@settings(max_examples=40, deadline=None)
def test_items_lead_to_nodes_and_back(html: str) -> None:
    page = Page("http://a.example/", html)
    try:
        rendering = render(page, lambda reference: None)
    except PageError:
        return
    for number in range(len(rendering.items)):
        node = rendering.node(number)
        if node is not None:
            assert rendering.number(node) == number
            assert (
                node.text == " ".join(rendering.items[number][1].split())
                or "url(" in rendering.items[number][1]
            )


def test_all_texts_of_a_page_are_shown() -> None:
    page = make_site("restaurant", seed=2, pages=10).pages[0]
    rendering = render(page, lambda reference: None)
    texts = [node for node in page.nodes if node.is_text]
    shown = [rendering.number(node) for node in texts]
    assert None not in shown
    assert [rendering.node(number).text for number in shown] == [node.text for node in texts]  # type: ignore[arg-type, union-attr]


def test_texts_beside_what_is_left_out_stay_apart() -> None:
    page = Page("", "<p>a<!-- c -->b<script>x</script>c<svg><text>d</text></svg>e<source><b>f</b></p>")
    texts = [item[1] for item in render(page, lambda reference: None).items if len(item) == 2]
    assert texts == ["a", "b", "c", "e", "f"]


def test_images_that_scripts_would_load_are_shown() -> None:
    html = '<img src="data:image/gif;base64,R0" data-src="/big.jpg"><img src="small.png"><img alt="none">'
    page = Page("http://a.example/", html)
    sources = [
        item[2].get("src")
        for item in render(page, lambda reference: f"asset:{reference}").items
        if len(item) == 3 and item[1] == "img"
    ]
    assert sources == ["asset:/big.jpg", "asset:small.png", None]


def test_references_are_followed_from_the_base() -> None:
    html = (
        '<base href="http://b.example/deep/"><link rel="stylesheet" href="x.css"><a href="javascript:x">y</a>'
    )
    items = render(Page("http://a.example/", html), lambda reference: reference).items
    attributes = {item[1]: item[2] for item in items if len(item) == 3}
    assert attributes["link"]["href"] == "http://b.example/deep/x.css"
    assert attributes["a"] == {"href": "#"}


def test_stylesheets_lead_to_assets_or_nowhere() -> None:
    css = "@import 'a.css'; p { background: url( \"b.png\" ), URL(c.png), url(data:image/png;base64,AA) }"
    known = {"a.css": "/asset/a", "c.png": '/asset/"c'}
    assert rewrite_css(css, known.get) == (
        '@import url("/asset/a"); p { background: url(""), url("/asset/\\22 c"), '
        'url("data:image/png;base64,AA") }'
    )


def test_pages_without_a_modern_doctype_are_shown_as_of_old() -> None:
    doctypes = {
        "<!DOCTYPE html>": False,
        "<!-- c --><!doctype html>": False,
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">': False,
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">': True,
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/x.dtd">': False,
        "": True,
    }
    for doctype, quirks in doctypes.items():
        page = Page("", f"{doctype}<html><body>x</body></html>")
        assert render(page, lambda reference: None).quirks is quirks, doctype
