"""Remembered values on fresh pages: how they are found, and which sightings are believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Attribute, Label, Page, Schema
from untemplate.labeling.golden import GoldenLabeler, ValueFinder
from untemplate.schema import Type


def page(body: str, number: int = 0) -> Page:
    return Page(f"http://x.example/{number}", f"<html><body>{body}</body></html>", str(number))


def seen(body: str, value: str, type_: Type = "text") -> list[tuple[str, str, bool]]:
    return [(one.text, one.node.kind, one.is_complete) for one in ValueFinder(page(body)).find(value, type_)]


@pytest.mark.parametrize(
    ("body", "value", "type_", "expected"),
    [
        ("<p>THE FALCON</p>", "The Falcon", "text", [("THE FALCON", "text", True)]),
        ("<p>» The Falcon</p>", "The Falcon", "text", [("The Falcon", "text", False)]),
        ("<p>The Falcon.</p>", "The Falcon", "text", [("The Falcon.", "text", True)]),
        ("<p>Tel: (212) 555-2360</p>", "212.555.2360", "phone", [("(212) 555-2360", "text", False)]),
        ("<p>Now only $1,299.00!</p>", "USD 1299.00", "price", [("$1,299.00", "text", False)]),
        ("<p>ISBN 13: 9785641459103</p>", "978-5641459103", "isbn", [("9785641459103", "text", False)]),
        ("<p>Time: 2 hr 15 min</p>", "135 minutes", "text", [("2 hr 15 min", "text", False)]),
        ("<img src='/i/a.jpg'>", "http://x.example/i/a.jpg", "image", [("/i/a.jpg", "@src", True)]),
        (
            "<meta content='Falcon'><p>Falcon</p>",
            "Falcon",
            "text",
            [("Falcon", "text", True), ("Falcon", "@content", True)],
        ),
        ("<p>Falcons</p>", "Falcon", "text", []),
        ("<p>The</p><p>Falcon flies</p>", "The Falcon", "text", []),
    ],
)
def test_where_a_value_stands(
    body: str, value: str, type_: Type, expected: list[tuple[str, str, bool]]
) -> None:
    assert seen(body, value, type_) == expected


def test_a_value_over_several_nodes() -> None:
    (sighting,) = ValueFinder(page("<p>12 Oak St<br>Salem</p>")).find("12 Oak St, Salem", "text")
    assert (sighting.text, sighting.nodes) == ("12 Oak St Salem", 2)


SCHEMA = Schema("s", {"name": Attribute("name"), "kind": Attribute("kind", many=True)})


def labels(bodies: list[str], goldens: list[dict[str, list[str]]]) -> set[tuple[str, str, str | None]]:
    pages = [page(body, number) for number, body in enumerate(bodies)]
    known = {str(number): golden for number, golden in enumerate(goldens)}
    return {(one.page, one.attribute, one.value) for one in GoldenLabeler(known, SCHEMA).label(pages)}


def test_values_become_labels_and_gaps_too() -> None:
    bodies = ["<h1>Ash</h1>", "<h1>Birch</h1>", "<h1>Cedar</h1>"]
    goldens = [{"name": ["ash"]}, {"name": ["birch"]}, {"kind": ["x"]}]
    assert labels(bodies, goldens) == {("0", "name", "Ash"), ("1", "name", "Birch"), ("2", "name", None)}


def test_a_value_that_stands_elsewhere_by_chance_is_not_believed() -> None:
    bodies = [*(f"<h1>{name}</h1>" for name in ("Ash", "Birch", "Cedar")), "<i>Fir</i>"]
    goldens = [{"name": [name]} for name in ("Ash", "Birch", "Cedar", "Fir")]
    assert {one for one, _, _ in labels(bodies, goldens)} == {"0", "1", "2"}


def test_values_that_all_pages_show_are_not_believed() -> None:
    menu = "<ul><li>Ash</li><li>Birch</li><li>Cedar</li></ul>"
    goldens = [{"name": [name]} for name in ("Ash", "Birch", "Cedar")]
    assert labels([menu] * 3, goldens) == set()


def test_several_values_in_one_text_or_apart() -> None:
    apart = [{"kind": ["Thai", "Korean"]}, {"kind": ["French", "Tapas"]}]
    joined = [{"kind": ["Thai, Korean"]}, {"kind": ["French, Tapas"]}]
    in_one = ["<p>Thai, Korean</p>", "<p>French, Tapas</p>"]
    in_two = ["<b>Thai</b><b>Korean</b>", "<b>French</b><b>Tapas</b>"]
    as_one = {("0", "kind", "Thai, Korean"), ("1", "kind", "French, Tapas")}
    as_two = {("0", "kind", "Thai"), ("0", "kind", "Korean"), ("1", "kind", "French"), ("1", "kind", "Tapas")}

    def kinds(bodies: list[str], goldens: list[dict[str, list[str]]]) -> set[tuple[str, str, str | None]]:
        return {one for one in labels(bodies, goldens) if one[1] == "kind"}

    assert kinds(in_one, apart) == as_one
    assert kinds(in_one, joined) == as_one
    assert kinds(in_two, apart) == as_two
    assert kinds(in_two, joined) == as_two


def test_it_says_who_labeled() -> None:
    schema = Schema("s", {"name": Attribute("name")})
    (label,) = GoldenLabeler({"0": {"name": ["Ash"]}}, schema).label([page("<b>Ash</b>")])
    assert label == Label("0", "name", "Ash", source="golden")


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_text_and_any_value(body: str, value: str) -> None:
    for type_ in ("text", "price", "url", "date"):
        for one in ValueFinder(Page("http://x.example/", f"<p>a</p><p>{body}</p>")).find(value, type_):
            assert one.text
