"""Whole elements as rows: values that span several nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Attribute, Label, Page
from untemplate.labeling.nodes import Fields, NodeTable, Screen
from untemplate.labeling.nodes.fields import locate_examples
from untemplate.labeling.nodes.node_features import MAX_LENGTH, MAX_TEXTS, find_spans
from untemplate.labeling.nodes.node_table import ELEMENT
from untemplate.layout import EstimatedLayout
from untemplate.page import visible_text

STREETS = ["1 Elm St", "2 Oak Ave", "3 Lake Rd", "4 Park Way", "5 Mill Ln", "6 Bay St"]
CITIES = ["Austin", "Boston", "Chicago", "Denver", "Eugene", "Fargo"]


def restaurants(address: str) -> list[Page]:
    return [
        Page(
            id=str(number),
            html=f"<html><body><h1>Bistro {number}</h1><p>Where</p>{address.format(street=street, city=city)}"
            f"<p>Call</p><p>555-010{number}</p></body></html>",
        )
        for number, (street, city) in enumerate(zip(STREETS, CITIES, strict=True))
    ]


def wholes(html: str) -> list[str]:
    page = Page(html=f"<html><body>{html}</body></html>")
    return [node.text for node, _, _ in find_spans(page.nodes)]


def test_elements_with_several_texts() -> None:
    assert wholes("<div><p>a<br>b</p></div><div><p>c</p></div><i>d</i>") == ["a b", "a b c d"]


def test_of_elements_around_the_same_texts_the_innermost() -> None:
    page = Page(html="<div><section><p>a<br>b</p></section></div>")
    ((node, first, last),) = find_spans(page.nodes)
    assert (node.parent.tag, first, last) == ("p", 0, 1)


def test_what_holds_too_much_is_no_value() -> None:
    many = "".join(f"<b>{number}</b> " for number in range(MAX_TEXTS + 1))
    assert wholes(f"<div>{many}</div><p>a<br>b</p>") == ["a b"]
    assert wholes(f"<div><p>{'x' * MAX_LENGTH}</p><p>y</p></div><p>a<br>b</p>") == ["a b"]


@given(st.recursive(st.sampled_from(["a", "b c", "<br>", ""]), lambda inner: st.lists(inner, max_size=4)))
def test_wholes_are_what_they_say(tree: object) -> None:
    page = Page(html=f"<html><body>{_html(tree)}</body></html>")
    nodes = [node for node in page.nodes if node.is_text]
    found = find_spans(nodes)
    assert len({(first, last) for _, first, last in found}) == len(found)
    for node, first, last in found:
        inside = set(node.parent.iter())
        own = [number for number, one in enumerate(nodes) if one.parent in inside]
        assert own == list(range(first, last + 1))
        assert 1 < len(own) <= MAX_TEXTS
        assert node.text == visible_text(node.parent)


def _html(tree: object) -> str:
    return tree if isinstance(tree, str) else f"<div>{''.join(map(_html, tree))}</div>"  # type: ignore[call-overload]


def test_wholes_stand_where_their_first_text_does() -> None:
    table = NodeTable(restaurants("<div>{street}<br>{city}</div>"), {ELEMENT})
    whole = [node.text for node in table.nodes].index("2 Oak Ave Boston")
    first = [node.text for node in table.nodes].index("2 Oak Ave")
    assert table.spans_nodes[whole]
    assert not table.is_text[whole]
    assert (table.first[whole], table.last[whole]) == (first, first + 1)
    assert table.texts[table.caption[whole]] == "Where"
    assert table.texts[table.following[whole]] == "Call"
    assert (table.caption_distance[whole], table.order[whole]) == (1, table.order[first])
    boxes = Screen(table, EstimatedLayout()).boxes
    assert (boxes[whole] == boxes[first]).all()


def test_texts_are_as_without_wholes() -> None:
    pages = restaurants("<div>{street}<br>{city}</div>")
    plain, table = NodeTable(pages), NodeTable(pages, {ELEMENT})
    texts = np.flatnonzero(table.is_text)
    for column in ("is_static", "order", "is_excluded"):
        assert (getattr(table, column)[texts] == getattr(plain, column)).all()
    for column in ("caption", "following"):
        with_wholes, without = getattr(table, column)[texts], getattr(plain, column)
        assert [table.texts[text] if text >= 0 else None for text in with_wholes] == [
            plain.texts[text] if text >= 0 else None for text in without
        ]


@pytest.mark.parametrize(
    "address",
    [
        "<div>{street},<br>{city}</div>",
        "<div><span>{street},</span> <span>{city}</span></div>",
        "<div><div>{street},</div><div>{city}</div></div>",
        "<div>{street}, {city}</div>",
    ],
)
@pytest.mark.parametrize("pinned", [False, True])
def test_labels_of_values_that_span_nodes_are_found(address: str, pinned: bool) -> None:
    table = NodeTable(restaurants(address), {ELEMENT})
    values = [f"{street}, {city}" for street, city in zip(STREETS, CITIES, strict=True)]
    labels = [
        Label(str(number), "address", value, "/html/body/div" if pinned else None)
        for number, value in enumerate(values)
    ]
    examples = locate_examples(Fields(table), labels, Attribute("address"))
    assert examples is not None
    assert [table.nodes[row].text for row in np.flatnonzero(examples.positive)] == values


def test_texts_that_make_up_a_whole_are_joined() -> None:
    table = NodeTable(restaurants("<div>{street}<br>{city}</div>")[:1], {ELEMENT})
    texts = [node.text for node in table.nodes]
    name, street, city = (texts.index(text) for text in ("Bistro 0", "1 Elm St", "Austin"))
    assert [texts[row] for row in table.join_spans([name, street, city])] == ["Bistro 0", "1 Elm St Austin"]
    assert table.join_spans([name, street]) == [name, street]
