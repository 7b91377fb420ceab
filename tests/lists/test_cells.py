"""Which texts of a record are a cell of their own."""

from __future__ import annotations

from tests.lists.made_up_lists import many, page_of, sentence, title
from untemplate import find_records


def test_a_counter_in_a_block_of_its_own_is_a_cell() -> None:
    link = "<a href='/{number}/share'>Share memories <div class='counter'><span>{number}</span></div></a>"
    rows = find_records(page_of(many(f"<div><p>{{title}}</p><p>{{text}}</p>{link}</div>")))
    assert [row.cells for row in rows][1] == [title(1), sentence(1), "Share memories", "1"]


def test_classes_that_differ_in_numbers_do_not_change_cells() -> None:
    name = "<p><a href='/{number}'>{title}</a> <i class='of-{number}'>by {number} people</i></p>"
    rows = find_records(page_of(many(f"<div>{name}<p>{{text}}</p></div>")))
    same = find_records(page_of(many(f"<div>{name.replace('of-{number}', 'of')}<p>{{text}}</p></div>")))
    assert [row.cells for row in rows] == [row.cells for row in same]


def test_scales_for_a_rating_are_no_cells() -> None:
    stars = "".join(f"<a href='#'>{step} of 5 stars</a> " for step in range(1, 6))
    sizes = "".join(f"<i>EU {size}</i> <b>|</b> " for size in range(38, 42))
    rows = find_records(
        page_of(many(f"<div><p>{{title}}</p><p>{{text}}</p><p>{stars}</p><p>{sizes}</p></div>"))
    )
    assert [row.cells for row in rows][1] == [title(1), sentence(1), "EU 38", "EU 39", "EU 40", "EU 41"]
