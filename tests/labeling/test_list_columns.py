"""Columns of lists as attributes of a schema."""

from __future__ import annotations

import json

from untemplate import Attribute, Page, Schema, find_records
from untemplate.labeling.list_columns import map_columns, select_attributes

SCHEMA = Schema(
    "tea",
    {
        "name": Attribute("name"),
        "origin": Attribute("origin", same_as=("countryOfOrigin",)),
        "cost": Attribute("cost", type="price"),
        "maker": Attribute("maker"),
    },
)
LANDS = ("India", "Japan", "China", "Taiwan", "Nepal")


def page_of(data: object = None) -> Page:
    items = "".join(
        f"<li><h3>Tea {number}</h3><i>{land}</i><u>Maker {number} &amp; Son</u><b>${number + 4}.50</b></li>"
        for number, land in enumerate(LANDS)
    )
    script = f"<script type='application/ld+json'>{json.dumps(data)}</script>" if data else ""
    return Page(html=f"<h1>Teas</h1>{script}<ul>{items}</ul>")


def test_names_and_types() -> None:
    page = page_of()
    rows = select_attributes(page, find_records(page), SCHEMA)
    assert rows[0].values == {"name": "Tea 0", "origin": None, "cost": "$4.50", "maker": None}


def test_embedded_data_know_more() -> None:
    data = [
        {
            "@type": "Product",
            "name": f"Tea {number}",
            "countryOfOrigin": land,
            "maker": f"Maker {number} & Son",
        }
        for number, land in enumerate(LANDS)
    ]
    page = page_of(data)
    rows = find_records(page)
    assert {*map_columns(page, rows, SCHEMA)} == {"name", "origin", "cost", "maker"}
    assert select_attributes(page, rows, SCHEMA)[1].values == {
        "name": "Tea 1",
        "origin": "Japan",
        "cost": "$5.50",
        "maker": "Maker 1 & Son",
    }


def test_a_page_without_rows() -> None:
    page = Page(html="")
    assert select_attributes(page, find_records(page), SCHEMA) == []
