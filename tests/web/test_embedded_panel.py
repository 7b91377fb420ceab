"""Embedded data as a panel: listed once, searched, cut, clicked, and marked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from untemplate.errors import LabelError
from untemplate.labeling import Label
from untemplate.page import Node, Page
from untemplate.rules.applying import Match
from untemplate.schema import Attribute
from untemplate.web.embedded_panel import (
    MAX_OBJECT_VALUES,
    MAX_PATH_VALUES,
    MAX_SHOWN_TEXT,
    MAX_SHOWN_VALUES,
    PanelObject,
    find_alike_values,
    labels_from_embedded,
    list_embedded,
    numbers_of_label,
    numbers_of_match,
    select_shown,
)

RECIPE = {
    "@type": "Recipe",
    "name": "Leek soup",
    "author": {"@type": "Person", "name": "Ann"},
    "isPartOf": {"@id": "#page"},
    "recipeIngredient": ["2 leeks", "1 l <b>water</b>", "—", "salt"],
    "recipeInstructions": "<p>Chop.</p><p>Cook.</p>",
}
GRAPH = {"@graph": [{"@type": "WebPage", "@id": "#page", "name": "Soups"}, RECIPE]}


def page_with(data: Any, meta: str = "") -> Page:
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return Page("http://a.example/1", f"<html><head>{meta}{script}</head><body><p>x</p></body></html>", "1")


def listed(objects: list[PanelObject]) -> dict[str, dict[str, list[str]]]:
    return {
        panel_object.prefix: {path.path: [value.text for value in path.values] for path in panel_object.paths}
        for panel_object in objects
    }


def number_of(page: Page, text: str) -> int:
    [number] = [one.number for item in list_embedded(page) for one in item.values if one.text == text]
    return number


def test_each_value_is_listed_once_with_the_outermost_object() -> None:
    page = page_with(GRAPH, '<meta property="og:title" content="Leek soup | Soups">')
    assert listed(list_embedded(page)) == {
        "ld+json WebPage": {"name": ["Soups"]},
        "ld+json Recipe": {
            "name": ["Leek soup"],
            "author.name": ["Ann"],
            "recipeIngredient[*]": ["2 leeks", "1 l water", "salt"],
            "recipeInstructions": ["Chop. Cook."],
        },
        "meta": {"og:title": ["Leek soup | Soups"]},
    }
    numbers = [value.number for item in list_embedded(page) for value in item.values]
    assert numbers == list(range(len(numbers)))


def test_application_state_comes_last() -> None:
    state = '<script id="state" type="application/json">{"title": "Leek soup"}</script>'
    page = page_with(GRAPH, f'{state}<meta name="author" content="Ann">')
    assert [item.source for item in list_embedded(page)] == ["ld+json", "ld+json", "meta", "script:state"]


def test_a_page_without_data_has_an_empty_panel() -> None:
    assert list_embedded(Page("", "<p>x</p>")) == []


def test_all_words_of_a_search_are_in_the_path_or_the_text() -> None:
    objects = list_embedded(page_with(GRAPH))
    assert listed(select_shown(objects, "recipe WATER")) == {
        "ld+json Recipe": {"recipeIngredient[*]": ["1 l water"]}
    }
    assert listed(select_shown(objects, "author.name")) == {"ld+json Recipe": {"author.name": ["Ann"]}}
    assert select_shown(objects, "water wine") == []
    assert select_shown(objects) == objects


def test_only_so_many_values_are_shown_and_the_others_counted() -> None:
    things = [
        {"@type": "Thing", "long": "x" * 5_000, "many": [f"v{n}" for n in range(100)]}
        | {f"key{letter}": letter for letter in "abcdefghijklmnopqrstuvwxyz"}
        | {f"more{letter}": [letter] * 40 for letter in "abc"}
        for _ in range(6)
    ]
    first, *_ = shown = select_shown(list_embedded(page_with(things)))
    paths = {path.path: path for path in first.paths}
    assert (len(paths["many[*]"].values), paths["many[*]"].hidden) == (MAX_PATH_VALUES, 100 - MAX_PATH_VALUES)
    assert len(paths["long"].values[0].text) == MAX_SHOWN_TEXT + 1
    sizes = [sum(1 for _ in item.values) for item in shown]
    assert max(sizes) == MAX_OBJECT_VALUES
    assert sum(sizes) == MAX_SHOWN_VALUES
    in_paths = sum(path.hidden for path in first.paths)
    assert MAX_OBJECT_VALUES + in_paths + first.hidden == 1 + 100 + 26 + 3 * 40


def test_a_click_labels_the_text_or_its_lines() -> None:
    page = page_with(GRAPH)
    steps = number_of(page, "Chop. Cook.")
    one, many = Attribute("steps"), Attribute("steps", many=True)
    assert labels_from_embedded(steps, page, one) == [Label("1", "steps", "Chop. Cook.")]
    assert labels_from_embedded(steps, page, many) == [
        Label("1", "steps", "Chop."),
        Label("1", "steps", "Cook."),
    ]
    water = number_of(page, "1 l water")
    assert labels_from_embedded(water, page, many) == [Label("1", "steps", "1 l water")]
    with pytest.raises(LabelError, match="no such value"):
        labels_from_embedded(99, page, one)


def test_labels_and_found_values_are_marked() -> None:
    page = page_with(GRAPH, '<meta property="og:title" content="Leek soup">')
    objects = list_embedded(page)
    both = numbers_of_label(Label("1", "name", " Leek  soup"), objects)
    assert [value.text for item in objects for value in item.values if value.number in both] == [
        "Leek soup"
    ] * 2
    node = Node(page.tree, "data", "Leek soup", "ld+json Recipe.name")
    assert numbers_of_match(Match(node, "Leek soup", "name#embedded-1", 0.9), objects) == both[:1]


def test_two_values_of_a_list_mean_the_list() -> None:
    objects = list_embedded(page_with(GRAPH))
    first, second, third = (number_of(page_with(GRAPH), text) for text in ("2 leeks", "1 l water", "salt"))
    assert find_alike_values(objects, [second], [[first]]) == [first, second, third]
    assert find_alike_values(objects, [third], [[first], [second]]) == []
    assert find_alike_values(objects, [first], [[number_of(page_with(GRAPH), "Ann")]]) == []
