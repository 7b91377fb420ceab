"""Nodes as arrays: what is static, what labels what, and pages of every kind."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Limits, Page
from untemplate.labeling.nodes import Fields, NodeTable


def pages_of(*bodies: str, head: str = "") -> list[Page]:
    return [
        Page(id=str(number), html=f"<html><head>{head}</head><body>{body}</body></html>")
        for number, body in enumerate(bodies)
    ]


def facts(name: str, weight: str) -> str:
    return f"<h1>{name}</h1><dl><dt>Weight</dt><dd>{weight}</dd></dl><p>Team: {name} United</p>"


PLAYERS = pages_of(
    *(facts(f"Player {letter}", f"{number} lbs") for number, letter in enumerate("ABCDEFGH", 200))
)


def row_of(table: NodeTable, text: str) -> int:
    return next(row for row, node in enumerate(table.nodes) if node.text == text)


def test_static_texts_label_what_follows() -> None:
    table = NodeTable(PLAYERS)
    weight = row_of(table, "200 lbs")
    assert table.is_static[row_of(table, "Weight")]
    assert not table.is_static[weight]
    assert table.texts[table.caption[weight]] == "Weight"
    assert table.caption_distance[weight] == 1
    assert table.headers[table.header[weight]] == "Weight"
    assert table.caption[row_of(table, "Player A")] == -1


def room(number: int) -> str:
    """A fact with two values after its caption, one without a caption, and texts that are the same everywhere."""
    pets = "Yes" if number % 3 else "No"
    state = "Vacant" if number % 4 else "Taken"
    links = "".join(f"<li>{text}</li>" for text in ("Home", "Help", "Terms"))
    return f"<h1>Room {number}</h1><b>Pets</b><i>{pets}</i><i>Deposit</i><u>{state}</u><ul>{links}</ul>"


def test_texts_that_exclude_each_other_are_values() -> None:
    table = NodeTable(pages_of(*map(room, range(40))))
    for value in ("Yes", "No", "Vacant", "Taken"):
        assert not table.is_template[row_of(table, value)]
    for template in ("Pets", "Deposit", "Home", "Help", "Terms"):
        assert table.is_template[row_of(table, template)]
    assert table.is_static[row_of(table, "Yes")], "it may be a caption as well"
    fields = Fields(table)
    candidates = {int(field) for field in fields.candidates(["text()"])}
    of_pets = {int(field) for field in fields.field[table.text[fields.row] == table.texts.index("No")]}
    assert of_pets & candidates


def test_an_exception_makes_no_value() -> None:
    bodies = [f"<h1>{number}</h1><p>{'Sale!' if number == 7 else 'Buy'}</p>" for number in range(40)]
    table = NodeTable(pages_of(*bodies))
    assert table.is_template[row_of(table, "Buy")]


def test_labels_do_not_reach_over_to_the_next_page() -> None:
    table = NodeTable(pages_of(*["<p>one</p><p>Label</p>"] * 3))
    assert (table.caption[table.starts[:-1]] == -1).all()


def test_columns_of_a_table_have_headers() -> None:
    rows = [
        f"<table><tr><th>Ht</th><th>Wt</th></tr><tr><td>6-{n}</td><td>2{n}0</td></tr></table>"
        for n in range(5)
    ]
    table = NodeTable(pages_of(*rows))
    assert table.headers[table.header[row_of(table, "6-3")]] == "Ht"
    assert table.headers[table.header[row_of(table, "230")]] == "Wt"
    assert table.header[row_of(table, "Wt")] == -1


def test_values_of_the_first_row_are_no_headers() -> None:
    rows = [
        f"<table><tr><td>Ht</td><td>6-{n}</td></tr><tr><td>Wt</td><td>2{n}0</td></tr></table>"
        for n in range(5)
    ]
    table = NodeTable(pages_of(*rows))
    assert table.header[row_of(table, "230")] == -1


def test_agreement_with_the_title_counts_what_tells_pages_apart() -> None:
    bodies = [f"<h1>{name}</h1><p>Great shop</p>" for name in ("Red shoe", "Blue hat", "Green coat")]
    pages = [
        Page(id=name, html=f"<title>{name} | Great shop</title>{body}")
        for name, body in zip(("Red shoe", "Blue hat", "Green coat"), bodies, strict=True)
    ]
    table = NodeTable(pages)
    assert table.in_title[row_of(table, "Blue hat")] > 0.7 > 0.5 > table.in_title[row_of(table, "Great shop")]


def test_pages_that_cannot_be_read_are_left_out() -> None:
    huge = Page(id="huge", html="<p>x</p>" * 10, limits=Limits(bytes=10))
    table = NodeTable([*PLAYERS, huge, Page(id="empty", html="")])
    assert len(table.pages) == len(PLAYERS)
    assert len(NodeTable([huge])) == len(NodeTable([])) == 0
    assert len(Fields(NodeTable([huge]))) == 0


def test_attributes_only_if_asked_for() -> None:
    pages = pages_of(*(f'<img src="{n}.png" alt="x"><p>{n}</p>' for n in range(3)))
    assert len(NodeTable(pages)) == 3
    table = NodeTable(pages, {"@src"})
    assert [node.kind for node in table.nodes[:2]] == ["@src", "text"]
    assert not table.is_text[0]


TAGS = st.sampled_from(["p", "div", "td", "table", "tr", "dl", "dt", "dd", "h1", "a", "option", "title", "b"])
HTML = st.recursive(
    st.text("ab:1 ", max_size=8),
    lambda inner: st.tuples(TAGS, st.lists(inner, max_size=4)).map(
        lambda n: f"<{n[0]}>{''.join(n[1])}</{n[0]}>"
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(HTML, max_size=5))
def test_any_pages_have_fields_with_one_row_a_page(bodies: list[str]) -> None:
    table = NodeTable(Page(id=str(n), html=body) for n, body in enumerate(bodies))
    fields = Fields(table)
    pairs = list(zip(fields.field.tolist(), table.page[fields.row].tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    assert (np.bincount(fields.field, minlength=len(fields)) == fields.size).all()
    assert (fields.size >= 2).all()
    for row in range(len(table)):
        text = table.nodes[row].text
        prefix = fields.prefixes[fields.prefix[row]] if fields.prefix[row] >= 0 else ""
        assert text.startswith(prefix)
        assert text.endswith(fields.values[fields.value[row]])
    assert all(0 <= agreement <= 1.0001 for agreement in table.in_title)
