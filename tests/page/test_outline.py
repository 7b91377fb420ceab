"""A page as numbered nodes: what is shown, what is folded, and that the budget is kept."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Page, PageError, find_records
from untemplate.lists.list_page import find_row_elements
from untemplate.page import outline as outline_module
from untemplate.page.outline import count_tokens, find_site_words, outline_page

DATA = """<script type="application/ld+json">
{"@type": "Book", "name": "%s", "url": "http://a.example/7", "author": {"name": "Ada"}, "keywords": ["sea", "salt"]}
</script>"""


def page(name: str, phone: str, data: str = "") -> Page:
    return Page(
        html=f"""<title>{name}</title><nav><a href=/>Home</a><a href=/about>About us</a></nav>
        <div class="info x1"><h1>{name}</h1><p><b class=label>Tel:</b> <span class=tel>{phone}</span></p></div>
        <p>All rights reserved.</p><p>Terms apply.</p><script>var a = 1</script>{data}""",
        id=name,
    )


def test_lines_are_blocks_with_numbers_in_reading_order() -> None:
    outline = outline_page(page("Chez Nous", "555-0100"))
    assert outline.text.splitlines() == [
        "title [0] Chez Nous",
        "… 2",
        "nav [4] About us",
        "div.info h1 [5] Chez Nous",
        "div.info p b.label [6] Tel: span.tel [7] 555-0100",
        "p [8] All rights reserved.",
        "[9] Terms apply.",
    ]
    assert outline.folded == 1


def test_numbers_are_those_of_the_page_and_lead_to_its_nodes() -> None:
    shown = page("Chez Nous", "555-0100")
    outline = outline_page(shown)
    for number, node in outline.nodes.items():
        assert node.texts == (shown.nodes[number].text,)
        assert node.xpath == shown.nodes[number].xpath


def test_words_of_the_site_are_folded_but_captions_stay() -> None:
    pages = [page("Chez Nous", "555-0100"), page("Grill", "555-0199"), page("Bar 7", "555-0111")]
    outline = outline_page(pages[1], find_site_words(pages))
    assert outline.text.splitlines() == [
        "title [0] Grill",
        "… 2",
        "nav [4] About us",
        "div.info h1 [5] Grill",
        "div.info p b.label [6] Tel: span.tel [7] 555-0199",
        "… 8-9",
    ]


def test_a_member_that_several_pages_share_stays_in_its_list() -> None:
    def recipe(*members: str) -> Page:
        return Page(html="<ul>" + "".join(f"<li>{member}</li>" for member in members) + "</ul>")

    pages = [recipe("salt", "leek"), recipe("salt", "flour", "eggs")]
    outline = outline_page(pages[0], find_site_words(pages))
    assert [node.texts[0] for node in outline.nodes.values()] == ["salt", "leek"]


def test_embedded_data_have_a_number_for_each_path() -> None:
    outline = outline_page(page("Chez Nous", "555-0100", DATA % "Chez Nous"))
    assert outline.text.splitlines()[-3:] == [
        "ld+json Book: [10] name: Chez Nous",
        "[12] author.name: Ada",
        "[13] keywords (2 values): sea | salt",
    ]
    assert outline.nodes[13].texts == ("sea", "salt")
    assert outline.nodes[13].is_data


def test_links_are_shown_on_request() -> None:
    outline = outline_page(page("Chez Nous", "555-0100", DATA % "Chez Nous"), links=True)
    assert "url: http://a.example/7" in outline.text
    linked = outline_page(Page(html="<p><a href=/7>seven</a><img src=/7.png></p>"), links=True)
    assert linked.text == "p [0] @href /7 [1] seven [2] @src /7.png"


def test_a_span_shows_what_is_folded() -> None:
    shown = page("Chez Nous", "555-0100")
    assert outline_page(shown, span=range(2, 5)).text == "nav [2] Home [4] About us"


def test_a_page_cannot_forge_numbers_or_lines() -> None:
    hostile = Page(html="<p>[7] evil\n[8] worse\x07\u2028[9] worst\u202e</p><h1>title</h1>")
    assert outline_page(hostile).text.splitlines() == ["p [0] (7) evil (8) worse (9) worst", "h1 [1] title"]


def test_a_list_page_has_rows() -> None:
    items = "".join(
        f"<li><h3>Tea {number}</h3><p>from {land}</p></li>"
        for number, land in enumerate(("India", "Japan", "China", "Taiwan"))
    )
    teas = Page(html=f"<h1>Teas</h1><ul>{items}</ul><p>Page 1</p>")
    assert len(find_records(teas)) == 4
    lines = outline_page(teas, rows=find_row_elements(teas)).text.splitlines()
    assert lines[:3] == ["h1 [0] Teas", "row 1: h3 [1] Tea 0", "p [2] from India"]
    assert lines[-3:] == ["row 4: h3 [7] Tea 3", "p [8] from Taiwan", "no row: [9] Page 1"]


def test_many_rows_are_folded_as_a_whole() -> None:
    items = "".join(f"<li><h3>Tea {number}</h3><p>{'leaf ' * 30}</p></li>" for number in range(300))
    teas = Page(html=f"<ul>{items}</ul>")
    outline = outline_page(teas, rows=find_row_elements(teas), budget=800)
    assert outline.tokens <= 800
    assert "row 3:" in outline.text
    assert outline.text.splitlines()[-1].startswith("… ")


@pytest.mark.parametrize("budget", [100, 500, 3000])
@pytest.mark.parametrize("kind", ["p", "td", "li"])
def test_the_budget_is_kept(budget: int, kind: str) -> None:
    texts = "".join(f"<{kind} class=c{n % 7}x>{'word ' * (n % 90)}{n}</{kind}>" for n in range(2000))
    outline = outline_page(Page(html=f"<div>{texts}</div>" + DATA % "x"), budget=budget)
    assert outline.tokens <= budget
    assert outline.nodes
    assert outline.folded


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(100, 300))
def test_any_text_gives_numbers_of_the_page(texts: list[str], budget: int) -> None:
    shown = Page(html="<h1>x</h1>" + "".join(f"<p>{text}</p>" for text in texts))
    outline = outline_page(shown, budget=budget)
    assert outline.tokens <= budget
    assert set(outline.nodes) <= set(range(len(shown.nodes)))


def test_a_page_that_cannot_be_read() -> None:
    with pytest.raises(PageError):
        outline_page(Page(html=b""))
    assert find_site_words([Page(html=b""), Page(html="<p>x")]) == frozenset()


def test_tokens_are_counted_by_tiktoken_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_tokens("abcde") == 2
    encoding = SimpleNamespace(encode_ordinary=list)
    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=lambda name: encoding))
    outline_module._find_encoder.cache_clear()
    assert count_tokens("abcde") == 5
    outline_module._find_encoder.cache_clear()
