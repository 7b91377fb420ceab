"""From one value of an attribute to all of its list."""

from __future__ import annotations

import numpy as np
import pytest

from untemplate import Page
from untemplate.labeling.nodes import NodeTable
from untemplate.labeling.nodes.fields import MAX_VALUES, all_values

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


def test_a_long_list_is_of_something_else() -> None:
    html = "".join(f"<li>Dish {number}</li>" for number in range(MAX_VALUES + 1))
    assert values_around(f"<ul>{html}</ul>", "Dish 3") == ["Dish 3"]
