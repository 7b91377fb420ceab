"""Columns named by the model that is shipped."""

from __future__ import annotations

import pytest

from untemplate import Page, find_records, list_model
from untemplate.lists.hcrf import Hcrf, Weights
from untemplate.lists.hcrf_blocks import BlockClasses

WORDS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath")


def page_of(count: int) -> Page:
    menu = "".join(f"<li><a href='/m{n}'>Menu {n}</a></li>" for n in range(9))
    items = "".join(
        f"<li class='result'><img src='/{n}.jpg' width='90' height='90'>"
        f"<h3><a href='/{n}'>{WORDS[n % 8]} chair with {WORDS[n * 3 % 8].lower()} legs {n}</a></h3>"
        f"<span class='price'>${n + 10}.50</span><p>A chair that stands in number {n} of the street.</p></li>"
        for n in range(count)
    )
    return Page(
        html=f"<body><nav><ul>{menu}</ul></nav><h1>Chairs</h1><ul class='results'>{items}</ul></body>"
    )


def test_names_titles_and_prices() -> None:
    rows = find_records(page_of(8), model=list_model())
    assert len(rows) == 8
    assert [row.values.get("price") for row in rows] == [f"${n + 10}.50" for n in range(8)]
    assert [row.values.get("title") for row in rows] == [row.cells[0] for row in rows]
    assert all(text in row.cells for row in rows for name, text in row.values.items() if name != "image")


def test_a_model_changes_nothing_else() -> None:
    page = page_of(8)
    plain, named = find_records(page), find_records(page, model=list_model())
    assert [(row.text, row.cells, row.xpath) for row in plain] == [
        (row.text, row.cells, row.xpath) for row in named
    ]
    assert all(row.values == {} for row in plain)
    every = find_records(page, all_lists=True, model=list_model())
    assert [row.values for row in every if row.list_id == 0] == [row.values for row in named]


@pytest.mark.parametrize(
    "html", ["", "<p>Just a text.</p>", "<ul>" + "<li>a</li>" * 500, "<div>" * 1500 + "deep"]
)
def test_hostile_pages_end(html: str) -> None:
    rows = find_records(Page(html=html), model=list_model())
    assert rows or rows.reason


def test_a_model_that_knows_nothing_does_no_harm() -> None:
    classes = BlockClasses(("title",))
    page = page_of(8)
    rows = find_records(page, model=Hcrf(classes, Weights.zeros(len(classes))))
    assert [row.text for row in rows] == [row.text for row in find_records(page)]
