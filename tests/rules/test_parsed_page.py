"""Reading a page in part gives what reading all of it gives, wherever reading stops."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.trees import features_of, html_trees
from untemplate import Attribute, Page, Rules, Schema, learn
from untemplate.demo import make_site
from untemplate.learning import SampleTable, learn_stops
from untemplate.page import Node, Signature
from untemplate.rules import Rule, Selector, Wrapper, parsed_page
from untemplate.rules.applying import Match, apply_rule, apply_rules
from untemplate.rules.feature import Feature
from untemplate.rules.node_selection import select
from untemplate.rules.parsed_page import (
    NeedsCompletePage,
    ParsedPage,
    read_complete_page,
    read_page_beginning,
    read_page_until,
)

ANY = Signature((None,) * 8)
FOOTER = '<div class="footer">'


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of a few elements are read in part too."""
    monkeypatch.setattr(parsed_page, "MIN_PARTIAL_BYTES", 0)


def beginning(html: str, stop: str) -> ParsedPage | None:
    return read_page_beginning(Page(html=html), (stop.encode(),))


def with_stops(rules: Rules, *stops: str) -> Rules:
    return replace(rules, wrappers=tuple(replace(wrapper, stops=stops) for wrapper in rules.wrappers))


def assert_same(rules: Rules, page: Page) -> None:
    copy = Page(page.url, page.html, page.id, charset=page.charset)
    record = rules.extract_one(page)
    assert record == with_stops(rules).extract_one(copy)
    for values in record.values.values():
        on_page = [value for value in values if "#embedded" not in value.rule]
        assert all(len(copy.tree.xpath(value.xpath)) == 1 for value in on_page)


# where reading stops


@pytest.mark.parametrize(
    ("html", "open_tags"),
    [
        ("<p>a</p>|<p>b", ["body", "html"]),
        ("<div><ul><li>a|<li>b</ul></div>", ["li", "ul", "div", "body", "html"]),
        ("<head><meta name=a content=b>|<title>x</title></head><p>y", ["head", "html"]),
        ("<script>a</script><p>b|<p>c", ["p", "body", "html"]),
        ("<body><p>a</p></body>|<p>b", ["body", "html"]),
        ("<body><div>a</body></html><p>b</p>|<p>c", ["div", "body", "html"]),
    ],
)
def test_the_elements_that_are_open_at_the_end(html: str, open_tags: list[str]) -> None:
    end = Page(html=html.replace("|", "")).read(html.index("|"))
    assert end is not None
    assert [element.tag for element in end.iterancestors()] == open_tags


@pytest.mark.parametrize(
    "html",
    [
        "<p>a<b title='x|y'>z</b>",
        "<p>a<b title=x |class=y>z</b>",
        "<p>a<!-- b |<p>c</p> --><p>d",
        "<script>if (a |<b) c</script><p>d",
        "<title>a |<b> c</title>",
        "<textarea>a |<b> c</textarea>",
        "<style>a |<b> c</style>",
        "|<p>a",
        "a <!-- untemplate: the end of what was read |--> b",
    ],
)
def test_reading_cannot_stop_inside_something(html: str) -> None:
    assert Page(html=html.replace("|", "")).read(html.index("|")) is None


@given(html_trees, st.floats(0, 1), st.binary(max_size=10))
@settings(max_examples=150, deadline=None)
def test_a_beginning_is_as_in_the_complete_tree(html: str, share: float, noise: bytes) -> None:
    page = Page(html=html.encode().replace(b"</span>", noise, 1))
    end = page.read(int(share * len(page.html)))
    if end is None:
        return
    begun = ParsedPage(end.getroottree().getroot(), page.html, 0, end)
    read = [(node.path, node.text) for node in _nodes(begun.tree) if not begun.may_truncate(node)]
    assert read == [(node.path, node.text) for node in page.nodes][: len(read)]


def _nodes(tree: object) -> list[Node]:
    page = Page()
    page.__dict__["tree"] = tree
    return page.nodes


@pytest.mark.parametrize(
    "page",
    [
        Page(html="<p>a</p><p>b</p>".encode("utf-16"), charset="utf-16"),
        Page(html=b"<p>a</p>\0<p>b</p>"),
        Page(html=b'<p>\x1b$B$"\x1b(B</p><p>b</p>', charset="iso-2022-jp"),
    ],
)
def test_pages_whose_letters_are_not_plain_are_read_completely(page: Page) -> None:
    assert not page.has_plain_letters
    assert read_page_beginning(page, (b"<p>b",)) is None
    assert not read_complete_page(page).rules_out(Selector("text()", (), 0))


def test_the_encoding_is_that_of_the_whole_page() -> None:
    """Bytes that are no UTF-8 may come late."""
    page = Page(html=b"<p>caf\xc3\xa9</p><hr>" + b"<i>\xe9</i>")
    end = page.read(page.html.index(b"<hr>"))
    assert end is not None
    assert end.getprevious().text == "cafÃ©"


# what rules find


@cache
def site_of(vertical: str, seed: int) -> tuple[Rules, list[Page]]:
    site = make_site(vertical, seed, pages=12)
    labeled = list(site.truth)[:3]
    rules = learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema)
    wrappers = tuple(replace(one, signatures=(ANY,), url_pattern="*") for one in rules.wrappers if one.rules)
    return replace(rules, wrappers=wrappers), site.pages


@pytest.mark.parametrize("vertical", ["restaurant", "book", "recipe", "product"])
@pytest.mark.parametrize("seed", [1, 2])
def test_stops_change_no_record(vertical: str, seed: int) -> None:
    rules, pages = site_of(vertical, seed)
    for page in pages:
        assert_same(rules, page)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_reading_may_stop_anywhere(data: st.DataObject) -> None:
    """Any piece of a page as the stop, and pages that are damaged."""
    rules, pages = site_of(data.draw(st.sampled_from(("restaurant", "book"))), data.draw(st.integers(1, 3)))
    html = data.draw(st.sampled_from(pages)).html
    first, second = sorted(data.draw(st.tuples(*[st.integers(0, len(html))] * 2)))
    shape = data.draw(st.sampled_from(("as it is", "doubled", "without", "noise")))
    if shape == "doubled":
        html = html[:second] + html[first:]
    elif shape == "without":
        html = html[:first] + html[second:]
    elif shape == "noise":
        html = html[:first] + data.draw(st.binary(max_size=20)) + html[first:]
    start = html.find(b"<", data.draw(st.integers(0, len(html))))
    stop = html[start : start + 40] if start > 0 else b"<"
    assert_same(with_stops(rules, stop.decode("utf-8", "ignore")), Page("http://x.example/", html, "1"))


@given(html_trees, st.data())
@settings(max_examples=300, deadline=None)
def test_any_rule_on_any_beginning(html: str, data: st.DataObject) -> None:
    """What a rule finds on a beginning it finds on the whole page, or it says that it must read on."""
    table = SampleTable([Page(html=html)])
    rows = [row for row, node in enumerate(table.rows) if node.is_text or node.is_attribute]
    selectors = []
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(rows))
        features = data.draw(st.lists(st.sampled_from(features_of(table, row)), max_size=3, unique=True))
        node = table.rows[row].kind if table.rows[row].is_attribute else "text()"
        node = data.draw(st.sampled_from((node, "element()"))) if node == "text()" else node
        selectors.append(Selector(node, tuple(features), data.draw(st.sampled_from((0, 0, 1, 2, -1))), 1.0))
    first, *members = selectors
    attribute = Attribute("name", many=data.draw(st.booleans()))
    wrapper = Wrapper("c", (), 1, "*", {"name": Rule("name", (first,), tuple(members))}, tuple(table.static))
    page = table.pages[0]
    begun = read_page_until(page, data.draw(st.integers(1, len(page.html))))
    if begun is None:
        return
    whole = apply_rule(wrapper.rules["name"], page.tree, wrapper, attribute)
    try:
        [found] = apply_rules(wrapper, begun, {"name": attribute}).values()
    except NeedsCompletePage:
        return
    assert [_known(one) for one in found] == [_known(one) for one in whole]


def _known(found: Match) -> tuple[str, str, str, float]:
    return found.node.numbered_xpath, found.text, found.rule, found.confidence


@given(html_trees, html_trees, st.data())
@settings(max_examples=100, deadline=None)
def test_bytes_tell_what_a_page_lacks(html: str, other: str, data: st.DataObject) -> None:
    table = SampleTable([Page(html=html)])
    row = data.draw(st.integers(0, len(table) - 1))
    node = table.rows[row]
    features = data.draw(
        st.lists(st.sampled_from(features_of(table, row)), min_size=1, max_size=3, unique=True)
    )
    selector = Selector(node.kind if node.is_attribute else "text()", tuple(features))
    for page in (table.pages[0], Page(html=other)):
        if read_complete_page(page).rules_out(selector):
            assert not list(select(selector, page.tree, table.static))


def of_class(name: str, *more: Feature, node: str = "text()", position: int = 0) -> Selector:
    return Selector(node, (Feature("class", 1, (name,)), *more), position, 1.0)


@pytest.mark.parametrize(
    ("rest", "is_enough"),
    [
        ("<p>and more</p>", True),
        ('<p class="price">$6</p>', False),
        ('<p class="&#112;rice">$6</p>', False),
        ('<p class="&#x70;rice">$6</p>', False),
        ('<p class="&#0112rice">$6</p>', False),
        ('<p class="pri</body>ce">$6</p>', True),
        ("it&#39;s &#8364; 5", True),
    ],
)
def test_all_values_are_read_if_nothing_of_their_name_follows(rest: str, is_enough: bool) -> None:
    html = f'<div><p class="price">$5</p>{FOOTER}{rest}</div></div>'
    wrapper = Wrapper("c", (), 1, "*", {"price": Rule("price", (of_class("price"),))})
    begun = beginning(html, FOOTER)
    assert begun is not None
    attributes = {"price": Attribute("price", many=True)}
    if is_enough:
        assert [one.text for one in apply_rules(wrapper, begun, attributes)["price"]] == ["$5"]
    else:
        with pytest.raises(NeedsCompletePage):
            apply_rules(wrapper, begun, attributes)
    one = apply_rules(wrapper, begun, {"price": Attribute("price")})
    assert [found.text for found in one["price"]] == ["$5"]


def test_xpaths_of_a_beginning_select_the_same_on_the_whole_page() -> None:
    html = f'<div><p class="price">$5</p></div>{FOOTER}<p>x</p></div><div><p>y</p></div>'
    schema = Schema("s", {"price": Attribute("price")})
    wrapper = Wrapper("c", (ANY,), 1, "*", {"price": Rule("price", (of_class("price"),))}, stops=(FOOTER,))
    page = Page(html=html)
    [value] = Rules(schema, (wrapper,)).extract_one(page).values["price"]
    assert value.xpath == "/html[1]/body[1]/div[1]/p[1]/text()[1]"
    assert page.tree.xpath(value.xpath) == ["$5"]


def test_a_word_of_an_element_may_be_parted_by_tags() -> None:
    word = Selector("element()", (Feature("inside-word", 0, ("price",)),))
    reading = read_complete_page(Page(html="<p>pr<b>ice</b></p>"))
    assert not reading.rules_out(word)
    assert reading.rules_out(replace(word, node="text()"))


def test_what_was_not_read_is_not_refused() -> None:
    """Limits hold for what is read: the rest costs nothing."""
    html = f'<p class="price">$5</p>{FOOTER}' + "<i>" * 10_000
    schema = Schema("s", {"price": Attribute("price")})
    wrapper = Wrapper("c", (ANY,), 1, "*", {"price": Rule("price", (of_class("price"),))}, stops=(FOOTER,))
    assert Rules(schema, (wrapper,)).extract_one(Page(html=html))["price"] == "$5"
    assert (
        "nested deeper"
        in Rules(schema, (replace(wrapper, stops=()),)).extract_one(Page(html=html)).missing["price"]
    )


# which stops are learned


def test_stops_are_the_tags_behind_what_rules_look_for() -> None:
    pages = [
        Page(html=f'<h1 id="a{n}">{n}</h1><p class="price">${n}</p>{FOOTER}' + f"<i class=x>{n}</i>" * 30)
        for n in range(10)
    ]
    schema = Schema("s", {"price": Attribute("price")})
    wrapper = Wrapper("c", (), 1, "*", {"price": Rule("price", (of_class("price"),))})
    assert learn_stops(wrapper, pages, schema) == (FOOTER,)


def test_pages_that_lack_the_first_stop_have_another() -> None:
    other = '<ul class="links">'
    pages = [
        Page(html=f'<p class="price">${n}</p>{FOOTER if n % 2 else other}' + f"<i>{n}</i>" * 30)
        for n in range(10)
    ]
    schema = Schema("s", {"price": Attribute("price")})
    wrapper = Wrapper("c", (), 1, "*", {"price": Rule("price", (of_class("price"),))})
    assert set(learn_stops(wrapper, pages, schema)) == {FOOTER, other}


def test_where_rules_look_to_the_end_there_is_no_stop() -> None:
    pages = [Page(html=f'<p class="price">${n}</p>{FOOTER}' + f"<i>{n}</i>" * 30) for n in range(10)]
    schema = Schema("s", {"price": Attribute("price")})
    last = Wrapper("c", (), 1, "*", {"price": Rule("price", (Selector("text()", (), -1),))})
    assert learn_stops(last, pages, schema) == ()
    assert learn_stops(replace(last, rules={}), [], schema) == ()
