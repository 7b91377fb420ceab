"""The texts around a node: the same that the page's own list of nodes shows, found by short walks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.linear_time import assert_linear, cpu_seconds
from tests.rules.trees import html_trees
from untemplate import Node, Page, read_pages, static_text
from untemplate.learning import SampleTable
from untemplate.page.captions import (
    MAX_STEPS,
    CaptionFinder,
    find_caption_places,
    join_texts,
    nodes_after,
    text_after,
    text_before,
)


def node_of(page: Page, text: str) -> Node:
    return next(node for node in page.nodes if node.text == text)


def assert_neighbors(page: Page) -> None:
    before = ""
    seen: list[tuple[Node, str]] = []
    for node in page.nodes:
        assert text_before(node) == before, node
        seen.append((node, before))
        if not node.is_attribute:
            before = node.text
    after = ""
    for node, _ in reversed(seen):
        assert text_after(node) == after, node
        if not node.is_attribute:
            after = node.text


@given(html_trees)
@settings(max_examples=100, deadline=None)
def test_neighbors_are_those_in_document_order(html: str) -> None:
    assert_neighbors(Page(html=html))


def test_neighbors_on_real_pages(real_pages: list[Path]) -> None:
    for path in real_pages[::5]:
        assert_neighbors(Page(html=path.read_bytes()))


@pytest.mark.parametrize("hidden", ["script", "style", "template", "iframe"])
def test_hidden_texts_are_passed_over(hidden: str) -> None:
    page = Page(html=f"<p>Price:<{hidden}>x</{hidden}><!-- y --><b>$5</b><{hidden}>z</{hidden}> each</p>")
    assert text_before(node_of(page, "$5")) == "Price:"
    assert text_after(node_of(page, "$5")) == "each"


def test_what_stands_inside_its_element_follows_an_attribute() -> None:
    page = Page(html="<p>see</p><a href=/x>here</a><p>end</p>")
    link = node_of(page, "/x")
    assert (text_before(link), text_after(link)) == ("see", "here")


def test_the_ends_of_a_page_have_no_neighbors() -> None:
    page = Page(html="<p>only</p>")
    [node] = page.nodes
    assert (text_before(node), text_after(node)) == ("", "")


def test_a_caption_is_the_nearest_static_text() -> None:
    def html(price: str) -> str:
        return f"<dl><dt>Price</dt><dd><b>about</b> {price}</dd><dt>Stock</dt><dd>{len(price)}</dd></dl>"

    prices = ("$5", "$17", "$125")
    table = SampleTable(
        [Page(html=html(price).replace("about", f"about{price}"), id=price) for price in prices]
    )
    assert CaptionFinder(table.static).caption(node_of(table.pages[0], "$5")) == "Price"
    assert CaptionFinder(table.static).caption(node_of(table.pages[2], "4")) == "Stock"
    assert CaptionFinder(table.static).caption(node_of(table.pages[0], "Price")) == ""


def test_walks_stop_on_hostile_pages() -> None:
    """A node without neighbors for a long way costs so many steps and no more."""
    pages = {
        size: Page(html="<p>first</p>" + "<i></i>" * size * MAX_STEPS + "<b>last</b>") for size in (2, 200)
    }
    last_nodes = {size: page.nodes[-1] for size, page in pages.items()}

    def work(size: int) -> None:
        for _ in range(20):
            assert text_before(last_nodes[size]) == ""

    assert cpu_seconds(work, 200) < 10 * cpu_seconds(work, 2) + 0.5


def test_captions_of_a_long_page_take_linear_time() -> None:
    """A table of so many rows after the last caption: each row's caption is as far away as its number."""

    def work(rows: int) -> None:
        page = Page(html="<p>Price</p><table>" + "<tr><td>a</td><td>b</td></tr>" * rows + "</table>")
        captions = CaptionFinder(frozenset({"2 p Price"}))
        assert {captions.caption(node) for node in page.nodes[1:]} == {"Price"}

    assert_linear(work, 1_000, 10_000)


# static text


def test_static_text_is_what_stands_on_most_pages() -> None:
    pages = [Page(html=f"<h1>{name}</h1><b>Price:</b><i>{name} tail</i>") for name in "abcd"]
    pages.append(Page(html="<b>Price:</b>"))
    assert static_text(pages) == {("html/body/b/text()", "Price:")}
    assert static_text(pages, share=1.0) == {("html/body/b/text()", "Price:")}
    assert ("html/body/h1/text()", "a") in static_text(pages, share=0.2)


def test_static_text_counts_pages_not_occurrences() -> None:
    pages = [Page(html="<p>x</p>" * 10), Page(html="<p>y</p>")]
    assert static_text(pages, share=0.8) == frozenset()


def test_static_text_needs_two_readable_pages() -> None:
    assert static_text([]) == frozenset()
    assert static_text([Page(html="<p>x")]) == frozenset()
    assert static_text([Page(html="<p>x"), Page(html=b"")]) == frozenset()
    assert static_text([Page(html="<p>x"), Page(html=b""), Page(html="<p>x")]) != frozenset()


def test_static_text_needs_the_same_path() -> None:
    assert static_text([Page(html="<p>x</p>"), Page(html="<b>x</b>")], share=0.6) == frozenset()


def places(*pages: str) -> list[list[tuple[str, str]]]:
    """The texts of pages: a capital letter is the place of the text after it."""
    return [[(word[0], word[1:]) for word in page.split()] for page in pages]


def test_captions_repeat_at_their_place() -> None:
    pages = places("Cborn V1950 Cdied V2001", "Cborn V1987 Cspouse VAda", "Cdied V1833 Cspouse VBo")
    assert find_caption_places(pages) == {"C": {"born", "died", "spouse"}}


def test_frequent_values_of_a_field_are_no_captions() -> None:
    """One text a page is a field, though few different ones occur."""
    assert find_caption_places(places("Gnovel T1", "Gpoem T2", "Gnovel T3", "Gpoem T4")) == {}


def test_links_of_a_menu_are_no_captions() -> None:
    assert find_caption_places(places("Ma Mb Mc Vx", "Ma Mc Vy", "Mb Mc Vz")) == {}


def test_places_with_many_texts_of_one_page_are_no_captions() -> None:
    assert find_caption_places(places("Ca V1 Cb V2 Cx V3", "Ca V4 Cb V5 Cy V6", "Cz V7 Cq V8")) == {}


@pytest.mark.parametrize("site", ["bookshop", "players", "recipes", "restaurants"])
def test_trees_and_tables_find_the_same_captions(site: str) -> None:
    table = SampleTable(list(read_pages(Path(__file__).parents[1] / "sites" / site / "pages")))
    captions = []
    for number in range(len(table.pages)):
        finder = CaptionFinder(table.static)
        captions += [finder.caption(node) for node in table.rows_of_page(number)]
    assert any(captions)
    assert captions == table.captions


@pytest.mark.parametrize(
    ("html", "joined"),
    [
        ("<p>10 <i>minutos</i>.</p>", "10 minutos."),
        ("<p><b>4</b><sup>1</sup>/<sub>2</sub> cups</p>", "41/2 cups"),
        ("<p>one<br>two</p>", "one two"),
        ("<div><p>one</p><p>two</p></div>", "one two"),
        ("<p><b>one</b>\n<b>two</b></p>", "one two"),
        ("<p><b>one</b><script>x</script><b>two</b></p>", "onetwo"),
        ("<p><b>one</b><hr><b>two</b></p>", "one two"),
    ],
)
def test_joined_texts_keep_the_spaces_that_readers_see(html: str, joined: str) -> None:
    html = f"<html><body>{html}</body></html>"
    texts = [node for node in Page("", html).nodes if node.is_text]
    assert join_texts(texts[0], len(texts)) == joined
    root = Page("", html).root  # of the native core, where it is installed
    assert join_texts(next(nodes_after(Node(root, "text", ""))), len(texts)) == joined
