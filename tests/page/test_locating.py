"""The one locator of labeled values: by text, by XPath, as elements; `test_occurrences` tests it through learning."""

from __future__ import annotations

import pytest

from untemplate import Page
from untemplate.page import locating
from untemplate.page.locating import (
    MATCH_STEPS,
    MatchStep,
    Occurrence,
    clean_value,
    letters_and_digits,
    locate_list,
    locate_pairs,
    locate_parts,
    locate_value,
    locate_xpath,
    match_texts,
    nodes_by_xpath,
)

PAGE = Page(
    "http://eat.example/1",
    "<h1>Tom &amp; Jerry</h1><p>Tel: <b>555-0100</b>, fax</p><p>Call 555-0100 now</p><img src=a/1.png>",
)


def found(value: str) -> list[tuple[str, str]]:
    occurrences = locate_value(PAGE.nodes, value, PAGE.url)
    return [(PAGE.nodes[occurrence.row].text, occurrence.mode) for occurrence in occurrences]


def test_entities_and_white_space_are_normalized() -> None:
    assert clean_value(" Tom  &amp;\nJerry ") == "Tom & Jerry"
    assert found(" Tom &amp;  Jerry") == [("Tom & Jerry", "node")]


def test_nodes_come_before_spans_and_parts() -> None:
    assert found("555-0100") == [("555-0100", "node"), ("Call 555-0100 now", "part")]
    assert found("Tel: 555-0100 , fax") == [("Tel:", "span")]


@pytest.mark.parametrize("value", ["a/1.png", "http://eat.example/a/1.png"])
def test_links_match_as_written_and_absolute(value: str) -> None:
    assert found(value) == [("a/1.png", "attribute")]


def test_no_part_starts_or_ends_inside_a_word() -> None:
    assert found("55-0100") == found("all") == []


@pytest.mark.parametrize("step", MATCH_STEPS)
def test_a_value_longer_than_every_text_is_not_made_into_a_pattern(
    step: MatchStep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiling one of 100,000 letters took a second; a labels file may hold thousands of them."""

    def refuse(value: str, step: MatchStep) -> None:
        raise AssertionError("made into a pattern")

    monkeypatch.setattr(locating, "_part_pattern", refuse)
    assert locate_parts(PAGE.nodes, "x" * 100_000, step) == []
    assert locate_pairs(PAGE.nodes, "x " * 100_000) == []


@pytest.mark.parametrize(
    ("xpath", "value", "expected"),
    [
        ("//h1", None, [("node", "Tom & Jerry", 1)]),
        ("//p[1]", None, [("span", "Tel: 555-0100, fax", 3)]),
        ("//p[1]", "Tel: 555-0100 , fax", [("span", "Tel: 555-0100, fax", 3)]),
        ("//p[1]", "555-0100", [("node", "555-0100", 1)]),
        ("//p[2]/text()", "555-0100", [("part", "555-0100", 1)]),
        ("//img/@src", None, [("attribute", "a/1.png", 1)]),
        ("//p[1]", "elsewhere", []),
        ("//[", None, []),
    ],
)
def test_an_xpath_pins_nodes(xpath: str, value: str | None, expected: list[tuple[str, str, int]]) -> None:
    occurrences = locate_xpath(PAGE.nodes, PAGE.tree, xpath, value)
    assert [(one.mode, one.text, one.nodes) for one in occurrences] == expected


def test_a_pinned_part_is_a_word_of_its_own() -> None:
    page = Page(html="<p>Rated R</p>")
    [occurrence] = locate_xpath(page.nodes, page.tree, "//p/text()", "R")
    assert (occurrence.mode, occurrence.start) == ("part", 6)


def test_nodes_of_an_element_and_of_a_text() -> None:
    nodes = dict(enumerate(PAGE.nodes))
    texts = {
        kind: [nodes[key].text for key in keys] for kind, keys in nodes_by_xpath(nodes, PAGE.tree, "//p[1]")
    }
    assert texts == {"element": ["Tel:", "555-0100", ", fax"]}
    assert [kind for kind, _ in nodes_by_xpath(nodes, PAGE.tree, "//p[1]/text()[2]")] == ["tail"]


def test_equal_texts_or_the_shortest_around() -> None:
    texts = {3: "a long text with grill", 1: "the grill", 2: "grill"}
    assert match_texts(texts, "grill") == [2]
    assert match_texts(texts, "the") == [1]
    assert match_texts(texts, "bar") == []


def test_letters_and_digits() -> None:
    assert letters_and_digits("Tel.: +1 (555) Ä_0") == "tel1555ä0"


# Several values in one text


def lists(html: str, *values: str) -> list[tuple[str, str, tuple[str, ...], int]]:
    nodes = Page(html=html).nodes
    return [(found.mode, found.text, found.values, found.lost) for found in locate_list(nodes, values)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>tea, jam and pie", [("node", "tea, jam and pie", ("tea", "jam", "pie"), 0)]),
        ("<p>Tags: tea · jam · pie!", [("part", "tea · jam · pie", ("tea", "jam", "pie"), 0)]),
        ("<p>jam and tea: tea/jam/pie", [("part", "tea/jam/pie", ("tea", "jam", "pie"), 0)]),
        ("<p>tea, honey, pie", [("node", "tea, honey, pie", ("tea", "pie"), 1)]),
        ("<p>tea, jam, cakes", [("node", "tea, jam, cakes", ("tea", "jam"), 1)]),
        ("<p>tea is better than jam or any kind of pie", []),
        ("<p>teapot, jam, pies", []),
    ],
)
def test_values_in_one_text(html: str, expected: list[tuple[str, str, tuple[str, ...], int]]) -> None:
    assert lists(html, "tea", "jam", "pie") == expected


def test_values_in_one_text_that_are_written_in_another_way() -> None:
    assert lists("<p>Green TEA / Chef’s pie", "green-tea", "chef's pie")[0][2] == ("Green TEA", "Chef’s pie")


def test_a_pair_of_nodes() -> None:
    nodes = Page(html="<p>Open 9 <b>May</b> to 11 <b>May</b>").nodes
    assert locate_pairs(nodes, "9 May to 11 May") == [Occurrence(0, "pair", "9 May to 11 May", 5, 4)]
    assert locate_pairs(nodes, "9 May to 1") == []
    assert locate_pairs(nodes, "9 June") == []
