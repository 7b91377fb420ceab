"""Segments between static nodes: the paper's example 3.1, and static text inside nodes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.labeling.segments.yelp import texts_of, yelp
from untemplate import Page
from untemplate.labeling.segments.segmenting import NodeId, SegmentedSite


def segmented(*bodies: str) -> SegmentedSite:
    return SegmentedSite([Page(id=str(number), html=body) for number, body in enumerate(bodies)])


def test_example_3_1() -> None:
    site = yelp()
    page = 2
    leaves = [leaf for leaf in range(len(site)) if site.page[leaf] == page]
    assert [(site.texts[site.text[leaf]], site.table.paths[site.path[leaf]]) for leaf in leaves[:7]] == [
        ("Yelp", "html/body/p/text()"),
        ("Chimichurri Grill", "html/body/h1/text()"),
        ("Categories:", "html/body/p/strong/text()"),
        ("Argentine, Steakhouses", "html/body/p/text()"),
        ("606 9th Ave", "html/body/div/text()"),
        ("NY 10036", "html/body/div/text()"),
        ("(212) 586-8655", "html/body/span/text()"),
    ]
    assert site.is_static[leaves[:7]].tolist() == [True, False, True, False, False, False, False]
    assert texts_of(site, page) == {
        "Yelp": ["Chimichurri Grill"],
        "Categories:": ["Argentine, Steakhouses", "606 9th Ave", "NY 10036", "(212) 586-8655"],
        "Nearest Transit:": ["42nd St"],
    }
    assert site.ids[:2] == [
        NodeId("Yelp", "html/body/p/text()"),
        NodeId("Categories:", "html/body/p/strong/text()"),
    ]


@pytest.mark.parametrize(("of_ten", "static"), [(7, False), (8, True)])
def test_static_is_what_stands_on_four_of_five_pages(of_ten: int, static: bool) -> None:
    bodies = [f"<p>{'Menu' if number < of_ten else f'Menu {number}'}<p>x{number}" for number in range(10)]
    assert ("Menu" in texts_of(segmented(*bodies), 0)) == static


def test_static_text_at_the_start_of_a_node() -> None:
    site = segmented(
        *(f"<p>Price range: ${number}0 to ${number}9<p>NY: 4: {'ab'[number]}" for number in range(2))
    )
    assert texts_of(site, 1) == {"Price range:": ["$10 to $19"], "NY: 4:": ["b"]}
    assert (site.row - site.table.starts[site.page]).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]


def test_a_second_caption_on_a_few_pages_is_not_static() -> None:
    extra = [f"<p>Tel: {number}5</p>" if number < 2 else "" for number in range(20)]
    site = segmented(*(f"<p>Tel: {number}</p>{more}" for number, more in enumerate(extra)))
    assert [id.number for id in site.ids] == [0]
    assert texts_of(site, 0) == {"Tel:": ["0", "Tel: 05"]}
    assert site.captions[:3] == [("", 0), ("Tel:", 1), ("Tel:", 2)]


def test_the_same_words_at_another_path_are_not_static() -> None:
    assert texts_of(segmented("<p>Price: 1", "<b>Price: 2"), 0) == {"": ["Price: 1"]}


def test_nodes_alike_are_numbered() -> None:
    site = segmented("<p>a</p><i>|</i><p>b</p><i>|</i><p>c</p>", "<p>d</p><i>|</i><p>e</p><i>|</i><p>f</p>")
    assert [(segment.id, segment.page) for segment in site.segments] == [
        (-1, 0),
        (0, 0),
        (1, 0),
        (-1, 1),
        (0, 1),
        (1, 1),
    ]
    assert [id.number for id in site.ids] == [0, 1]


def test_nothing_is_static_on_one_page() -> None:
    assert texts_of(segmented("<p>Yelp</p><p>Name</p>"), 0) == {"": ["Yelp", "Name"]}


def test_pages_that_cannot_be_read() -> None:
    assert segmented("", "<p>a</p>").segments[0].leaves == range(1)
    assert segmented("").segments == []


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "a: d", "a: e", "b f"]), max_size=8), max_size=6))
def test_every_leaf_is_static_or_in_one_segment(pages: list[list[str]]) -> None:
    site = segmented(*("".join(f"<p>{text}</p>" for text in texts) for texts in pages))
    inside = Counter(leaf for segment in site.segments for leaf in segment.leaves)
    assert set(inside.values()) <= {1}
    assert [inside[leaf] == 0 for leaf in range(len(site))] == site.is_static.tolist()
    own = [(segment.page, segment.id) for segment in site.segments]
    assert len(own) == len(set(own))
    words = [
        " ".join(site.texts[n] for n in site.text[site.page == page]) for page in range(len(site.table.pages))
    ]
    assert words == [" ".join(texts) for texts in pages if texts]


def test_a_segment_that_is_empty_counts() -> None:
    site = segmented(*(f"<p>Fax:</p><p>{fax}</p><i>Menu</i>" for fax in ("", "", "555")))
    assert [texts_of(site, page) for page in range(3)] == [
        {"Fax:": [], "Menu": []},
        {"Fax:": [], "Menu": []},
        {"Fax:": ["555"], "Menu": []},
    ]
