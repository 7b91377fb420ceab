"""Where a labeled value occurs: nodes, parts, spans, elements, attributes; by value or by XPath."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Attribute, Label, Page
from untemplate.learning import SampleTable
from untemplate.learning.occurrences import (
    closest_text,
    explain_missing_labels,
    find_element_occurrences,
    find_occurrences,
    locate_labels,
)
from untemplate.page.locating import Occurrence

HTML = """<html><head><title>Chimichurri Grill - Menus</title></head><body>
<p class=crumbs><a href=/>Home</a> &gt; Chimichurri Grill</p>
<h1>Chimichurri   Grill</h1>
<div class=adr>606 9th Ave<br>New York<br>NY 10036</div>
<p>Call us: (212) 586-8655 (evenings)</p>
<p>Tom &amp; Jerry&nbsp;Pub</p>
<p>Rated <b>4</b> of <b>5</b> stars</p>
<p><img src="img/1.png" alt="The grill"><a href="../menu.pdf">menu</a></p>
</body></html>"""
URL = "http://eat.example/ny/1.html"


def find(
    value: str | None, xpath: str | None = None, type_: str = "text", html: str = HTML
) -> list[Occurrence]:
    table = SampleTable([Page(URL, html, "1")])
    return find_occurrences(table, 0, Label("1", "a", value, xpath), Attribute("a", type_))


def elements(value: str | None) -> list[Occurrence]:
    table = SampleTable([Page(URL, HTML, "1")], add_elements=True)
    return find_element_occurrences(table, 0, Label("1", "a", value))


def node_xpaths(occurrences: list[Occurrence], html: str = HTML) -> list[str]:
    table = SampleTable([Page(URL, html, "1")])
    return [table.rows[occurrence.row].xpath for occurrence in occurrences]


def modes(occurrences: list[Occurrence]) -> set[str]:
    return {occurrence.mode for occurrence in occurrences}


def test_a_whole_node() -> None:
    occurrences = find("606 9th Ave")
    assert node_xpaths(occurrences) == ["/html/body/div/text()[1]"]
    assert modes(occurrences) == {"node"}


def test_all_places_are_candidates() -> None:
    occurrences = [occurrence for occurrence in find("Chimichurri Grill") if occurrence.mode == "node"]
    assert "/html/body/h1/text()[1]" in node_xpaths(occurrences)


@pytest.mark.parametrize("value", ["Tom & Jerry Pub", "Tom &amp; Jerry Pub", " Tom  &  Jerry\nPub "])
def test_entities_and_white_space_make_no_difference(value: str) -> None:
    assert "node" in modes(find(value))


def test_a_part_of_a_node() -> None:
    occurrences = find("(212) 586-8655")
    assert modes(occurrences) == {"part"}
    assert {occurrence.text for occurrence in occurrences} == {"(212) 586-8655"}


def test_no_part_begins_in_the_middle_of_a_word() -> None:
    assert find("enus") == []
    assert find("86-8655") == find("586-865") == []


def test_the_whole_text_of_an_element() -> None:
    [occurrence] = elements("606 9th Ave New York NY 10036")
    assert (occurrence.mode, occurrence.text) == ("element", "606 9th Ave New York NY 10036")


def test_consecutive_nodes_that_are_no_element() -> None:
    [occurrence] = [occurrence for occurrence in find("606 9th Ave New York") if occurrence.mode == "span"]
    assert occurrence.nodes == 2


def test_inline_elements_do_not_break_a_text() -> None:
    assert modes(find("Rated 4 of 5 stars")) == {"span"}
    assert modes(elements("Rated 4 of 5 stars")) == {"element"}


@pytest.mark.parametrize("value", ["img/1.png", "http://eat.example/ny/img/1.png"])
def test_links_as_on_the_page_or_absolute(value: str) -> None:
    occurrences = find(value, type_="image")
    assert node_xpaths(occurrences) == ["/html/body/p[5]/img/@src"]
    assert modes(occurrences) == {"attribute"}


def test_the_visible_text_goes_before_attributes() -> None:
    assert modes(find("menu")) == {"node"}
    assert "attribute" in modes(find("The grill"))


@pytest.mark.parametrize(
    ("xpath", "value", "mode", "text"),
    [
        ("//h1", None, "node", "Chimichurri Grill"),
        ("//h1/text()", None, "node", "Chimichurri Grill"),
        ("//div[@class='adr']", None, "span", "606 9th Ave New York NY 10036"),
        ("//div/text()[2]", None, "node", "New York"),
        ("//img/@src", None, "attribute", "img/1.png"),
        ("//p[2]/text()", "(212) 586-8655", "part", "(212) 586-8655"),
        ("//p[2]", "(212) 586-8655", "part", "(212) 586-8655"),
        ("//p[4]/text()[2]", None, "node", "of"),
    ],
)
def test_pinned_by_xpath(xpath: str, value: str | None, mode: str, text: str) -> None:
    assert [(occurrence.mode, occurrence.text) for occurrence in find(value, xpath)] == [(mode, text)]


@pytest.mark.parametrize(
    "xpath",
    [
        "//nothing",
        "//[",
        "count(//p)",
        "'text'",
        "true()",
        "//h1/@class",
        "document('/etc/passwd')",
        "$x",
        "//p:x",
    ],
)
def test_an_xpath_that_selects_nothing_of_use(xpath: str) -> None:
    assert find(None, xpath) == []


def test_the_closest_text_of_a_value_that_is_not_there() -> None:
    table = SampleTable([Page(URL, HTML, "1")])
    assert closest_text(table, 0, "Chimichuri Gril") == "Chimichurri Grill"
    assert closest_text(table, 0, "(212) 586-8656") is not None
    assert closest_text(table, 0, "zzzz qqqq") is None


# The steps, from strict to loose


def locate(value: str) -> tuple[set[tuple[str, str]], list[str]]:
    """The mode and text of each place where a label is, and what is said about it."""
    table = SampleTable([Page(URL, STEPS_HTML, "1")])
    labels = {0: [Label("1", "a", value)]}
    located = locate_labels(table, labels, Attribute("a"))
    found = [*located.in_nodes[0][0], *located.in_elements[0][0]]
    missing = explain_missing_labels(table, labels, located.in_nodes, located.in_elements)
    return {(place.mode, place.text) for place in found}, [*located.remarks, *missing]


STEPS_HTML = """<h1>Chef’s  Pie &amp; Co – “Best”</h1><h2>Pie</h2><p>By ANN-Marie O’Neil, today</p>
<p>Open 9 <b>May</b> to 11 <b>May</b> daily</p>"""


@pytest.mark.parametrize(
    ("value", "places", "remark"),
    [
        ("Chef’s Pie & Co – “Best”", {("node", "Chef’s Pie & Co – “Best”")}, ""),
        ("Chef’s\nPie &amp; Co –\xa0“Best”", {("node", "Chef’s Pie & Co – “Best”")}, ""),
        ('Chef\'s Pie & Co - "Best"', {("node", "Chef’s Pie & Co – “Best”")}, ""),
        (
            "CHEFS PIE & CO BEST",
            {("node", "Chef’s Pie & Co – “Best”")},
            "read 'CHEFS PIE & CO BEST' as 'Chef’s",
        ),
        ("ANN-Marie O’Neil", {("part", "ANN-Marie O’Neil")}, ""),
        ("ANN-Marie O'Neil", {("part", "ANN-Marie O’Neil")}, ""),
        ("Ann Marie ONeil", {("part", "ANN-Marie O’Neil")}, "read 'Ann Marie ONeil' as 'ANN-Marie O’Neil'"),
        ("9 May to 11 May", {("pair", "9 May to 11 May"), ("part", "9 May to 11 May")}, ""),
        ("Chefs Pies & Co Best", set(), "the closest text is 'Chef’s Pie & Co – “Best”'"),
        ("May 9", set(), "'May 9' is not on the page"),
    ],
)
def test_labels_match_in_steps(value: str, places: set[tuple[str, str]], remark: str) -> None:
    found, said = locate(value)
    assert places <= found
    assert bool(places) == bool(found)
    assert bool(said) == bool(remark)
    assert remark in "".join(said)


@given(st.lists(st.text("ab <>&;\xa0", max_size=6), min_size=1, max_size=8), st.text("ab &\xa0", max_size=8))
@settings(deadline=None)
def test_what_is_found_is_the_value(texts: list[str], value: str) -> None:
    if not value.strip():
        return
    table = SampleTable([Page(URL, f"<body><p>{'<br>'.join(texts)}</p><i>x</i></body>", "1")])
    occurrences = find_occurrences(table, 0, Label("1", "a", value), Attribute("a"))
    for occurrence in occurrences:
        assert occurrence.text == " ".join(value.split())
        text = table.rows[occurrence.row].text
        assert (
            occurrence.text == text
            if occurrence.mode == "node"
            else occurrence.text in text or occurrence.text.startswith(text)
        )


@pytest.mark.parametrize(
    ("html", "mode"),
    [
        (
            "<p>&raquo; Silent Rose</p><h2>Silent Rose [Hardcover]</h2>",
            "part",
        ),  # the sign is no part of the value
        ("<p>Silent - Rose</p><h2>Silent Rose [Hardcover]</h2>", "node"),  # written in another way
    ],
)
def test_signs_around_a_value_are_cut_off(html: str, mode: str) -> None:
    table = SampleTable([Page(URL, html, "1")])
    located = locate_labels(table, {0: [Label("1", "a", "Silent Rose")]}, Attribute("a"))
    assert {occurrence.mode for occurrence in located.in_nodes[0][0]} == {mode}
