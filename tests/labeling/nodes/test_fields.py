"""Data fields: the same role on different pages, in spite of what is missing, moved or labeled inside.

From one value of an attribute to all of its list.
"""

from __future__ import annotations

import numpy as np
import pytest

from untemplate import Page
from untemplate.labeling.nodes import Bags, Fields, NodeTable
from untemplate.labeling.nodes.fields import MAX_VALUES, all_values
from untemplate.labeling.nodes.node_features import shape_features, topic_features, word_features


def fields_of(*bodies: str) -> Fields:
    return Fields(
        NodeTable(Page(id=str(n), html=f"<html><body>{body}</body></html>") for n, body in enumerate(bodies))
    )


def values_of(fields: Fields, way: int) -> list[set[str]]:
    """What each field formed in a way holds."""
    return [
        {fields.table.nodes[row].text for row in fields.rows_of(number)}
        for number in range(len(fields))
        if fields.grouping[number] == way
    ]


def test_a_heading_is_one_field_whatever_stands_before_it() -> None:
    fields = fields_of(*(f"<p>{'New' if n % 2 else 'Used'}</p><h1>Car {n}</h1>" for n in range(8)))
    assert {f"Car {n}" for n in range(8)} in values_of(fields, 0)


def test_cells_alike_are_told_apart_by_their_labels() -> None:
    rows = (
        "".join(
            f"<tr><td>{name}:</td><td>{value}</td></tr>"
            for name, value in (("Ht", f"6-{n}"), ("Wt", f"2{n}0"))
        )
        for n in range(8)
    )
    optional = [
        f"<table>{row if n % 2 else '<tr><td>No:</td><td>7</td></tr>' + row}</table>"
        for n, row in enumerate(rows)
    ]
    found = values_of(fields_of(*optional), 1)
    assert {f"6-{n}" for n in range(8)} in found
    assert {f"2{n}0" for n in range(8)} in found


def test_a_label_inside_the_text_is_no_part_of_the_value() -> None:
    fields = fields_of(
        *(f"<p>Weight: 2{n}0 lbs</p><p>by {name}</p>" for n, name in enumerate(["Ann Lee", "Bo", "Cy"] * 3))
    )
    assert {"Weight:", "by"} == set(fields.prefixes)
    assert {"210 lbs", "Ann Lee"} <= set(fields.values)


def test_years_are_no_labels() -> None:
    fields = fields_of(*(f"<p>2010 {name}</p>" for name in ("Ford Ka", "BMW M3", "Kia Rio", "Audi A4")))
    assert not fields.prefixes


def test_candidates_vary_and_are_of_the_right_kind() -> None:
    fields = fields_of(*(f"<p>Static</p><h1>{n}</h1><select><option>{n}</option></select>" for n in range(6)))
    texts = [fields.table.nodes[fields.rows_of(number)[0]].path for number in fields.candidates(["text()"])]
    assert texts == ["html/body/h1/text()"]
    assert len(fields.candidates(["@src"])) == 0


def test_bags_weigh_alike_and_repeat() -> None:
    bags = Bags([["a", "b"], ["a"], []])
    scores = bags.score(bags.matrix().toarray()[1], 0.5)
    assert scores[1] == 1.5
    assert 1.2 < scores[0] < 1.21
    assert scores[2] == 0.5


def test_features_see_what_they_should() -> None:
    assert "digits 13" in word_features("9780307269997")
    assert "word 9780307269997" not in word_features("9780307269997")
    assert shape_features("(404) 705-8870")[0] == shape_features("(212) 555-0100")[0]
    assert set(topic_features("13", ["City (mpg)"])) == set(topic_features("13 mpg", ["City"]))


ROWS = {"Hours": "All day", "Cuisine": "Thai"}
MENU = "<p><b><a>View the menu</a></b></p>"


def values_around(html: str, text: str) -> list[str]:
    table = NodeTable([Page(html=f"<html><body>{html}</body></html>")])
    row = [node.text for node in table.nodes].index(text)
    return [table.nodes[found].text for found in all_values(table, np.array([row], np.int32))]


@pytest.mark.parametrize("text", ["Thai", "Sushi", "Soups"])
@pytest.mark.parametrize(
    "html",
    [
        "<ul><li><a>Thai</a></li><li><a>Sushi</a></li><li><a>Soups</a></li></ul>",
        "<p>Cuisine: <a>Thai</a>, <a>Sushi</a> and <a>Soups</a></p>",
        f"{MENU}<p><b><a>Thai</a></b><b><a>Sushi</a></b><b><a>Soups</a></b></p>",
    ],
)
def test_all_values_of_a_list(html: str, text: str) -> None:
    assert values_around(html, text) == ["Thai", "Sushi", "Soups"]


def test_a_label_between_values_parts_them() -> None:
    rows = "".join(f"<tr><td>{name}</td><td><i>{of}</i></td></tr>" for name, of in ROWS.items())
    assert values_around(f"<table>{rows}</table>", "Thai") == ["Thai"]


def test_what_the_template_prints_in_each_list_is_no_value() -> None:
    table = NodeTable(
        Page(id=str(n), html=f"<ul><li><a>Home</a></li><li><a>Kind {n}</a></li><li><a>Part {n}</a></li></ul>")
        for n in range(6)
    )
    rows = [number for number, node in enumerate(table.nodes) if node.text.startswith("Kind")]
    found = [table.nodes[row].text for row in all_values(table, np.array(rows, np.int32))]
    assert found == [text for n in range(6) for text in (f"Kind {n}", f"Part {n}")]


def test_a_long_list_is_of_something_else() -> None:
    html = "".join(f"<li>Dish {number}</li>" for number in range(MAX_VALUES + 1))
    assert values_around(f"<ul>{html}</ul>", "Dish 3") == ["Dish 3"]
