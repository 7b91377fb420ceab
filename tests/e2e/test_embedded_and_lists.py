"""A person labels embedded values in their panel, and all items of a list by two clicks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.person import Person
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.page import Page
from untemplate.schema import Attribute, Schema
from untemplate.sources import read_pages
from untemplate.web import RunningServer, add_site, running_server

SCHEMA = Schema(
    "recipe",
    {
        "title": Attribute("title"),
        "calories": Attribute("calories"),
        "ingredients": Attribute("ingredients", many=True),
    },
)
FOODS = ["flour", "sugar", "butter", "milk", "salt", "yeast", "honey", "rice"]


def amounts(number: int) -> list[tuple[str, str, str]]:
    """The ingredients of a recipe: five to seven of them."""
    count = 5 + number % 3
    return [(str(number + place + 1), "cups", FOODS[(number + place) % len(FOODS)]) for place in range(count)]


def recipe(number: int) -> Page:
    parts = amounts(number)
    items = "".join(
        f"<li><b>{amount}</b> <span>{unit}</span> <span>{food}</span></li>" for amount, unit, food in parts
    )
    data = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": "Soups"},
            {
                "@type": "Recipe",
                "name": f"Cake {number}",
                "recipeIngredient": [" ".join(part) for part in parts],
                "nutrition": {"@type": "NutritionInformation", "calories": f"{200 + number} kcal"},
            },
        ],
    }
    html = (
        f"<html><head><title>Cake {number}</title>"
        f"<script type='application/ld+json'>{json.dumps(data)}</script></head>"
        f"<body><ul class='nav'><li>Home</li><li>About</li></ul><h1>Cake {number}</h1>"
        f"<h2>Ingredients</h2><ul class='parts'>{items}</ul><p>Enjoy.</p></body></html>"
    )
    return Page(f"http://cakes.example/cake-{number}.html", html, f"{number}.html")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server over a site of recipes without labels."""
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        pages = read_pages([recipe(number) for number in range(8)])
        add_site(catalog, "cakes", cluster(pages), SCHEMA, pages, {})
        with running_server(catalog) as server:
            yield server


def number_of(person: Person) -> int:
    return int(person.page_id.removesuffix(".html"))


def open_data(person: Person) -> None:
    person.open()
    assert person.page
    person.window.get_by_role("button", name="Embedded data", exact=True).click()
    expect(person.window.locator(".data")).to_be_visible()


def test_a_value_of_the_embedded_data_is_labeled_by_a_click(person: Person) -> None:
    open_data(person)
    calories = f"{200 + number_of(person)} kcal"
    panel = person.window.locator(".data")
    expect(panel.locator("summary")).to_contain_text(["Recipe"])
    expect(panel.locator("code", has_text="nutrition.calories")).to_be_visible()
    person.choose("calories")
    with person.completing():
        panel.get_by_role("button", name=calories, exact=True).click()
    assert (person.state("calories"), person.value("calories")) == ("labeled", calories)
    expect(panel.locator(".datum.label")).to_have_text([calories])
    [stored] = person.server.workspace.catalog.labels("cakes")
    assert (stored.label.value, stored.label.xpath) == (calories, None)
    names = {row.inner_text().split("\n")[0] for row in person.window.locator(".records tbody tr").all()}
    assert len(names) == 8
    assert {row[1] for row in person.records()} == {f"{200 + number} kcal" for number in range(8)}
    person.ask("u")
    assert person.state("calories") == "open"
    expect(panel.locator(".datum.label")).to_have_count(0)


def test_the_data_are_searched_and_stay_open_or_closed(person: Person) -> None:
    open_data(person)
    panel = person.window.locator(".data")
    panel.get_by_role("searchbox").fill("nutrition kcal")
    expect(panel.locator(".datum")).to_have_count(1)
    panel.get_by_role("searchbox").fill("no such words")
    expect(panel).to_contain_text("Nothing in the data has these words.")
    person.window.reload()
    assert person.page
    expect(panel).to_be_visible()
    person.press("d")
    expect(panel).to_be_hidden()


def test_all_values_at_a_path_are_labeled_by_one_click(person: Person) -> None:
    open_data(person)
    wanted = [" ".join(part) for part in amounts(number_of(person))]
    person.choose("ingredients")
    with person.completing():
        person.window.locator(".data .button.all").click()
    assert person.value("ingredients") == " | ".join(wanted)
    expect(person.window.locator(".data .datum.label")).to_have_text(wanted)
    person.window.reload()
    assert person.page
    assert person.value("ingredients") == " | ".join(wanted)


def test_two_embedded_values_propose_the_whole_list(person: Person) -> None:
    open_data(person)
    wanted = [" ".join(part) for part in amounts(number_of(person))]
    person.choose("ingredients")
    panel = person.window.locator(".data")
    for text in wanted[:2]:
        with person.completing():
            panel.get_by_role("button", name=text, exact=True).click()
    expect(panel.locator(".datum.proposed")).to_have_text(wanted[2:])
    person.ask("a")
    assert person.value("ingredients") == " | ".join(wanted)


def test_a_click_labels_the_item_and_a_second_proposes_all(person: Person) -> None:
    person.open()
    wanted = [" ".join(part) for part in amounts(number_of(person))]
    person.choose("ingredients")
    items = person.page.locator("ul.parts li")
    with person.completing():
        items.nth(0).locator("b").click()
    assert person.value("ingredients") == wanted[0]
    expect(person.window.locator(".proposal")).to_have_count(0)
    with person.completing():
        items.nth(2).locator("span").last.click()
    expect(person.window.locator(".proposal")).to_contain_text("Are all of these ingredients?")
    with person.completing():
        person.window.get_by_role("button", name=f"All {len(wanted)}").click()
    assert person.value("ingredients") == " | ".join(wanted)
    expect(person.window.locator(".proposal")).to_have_count(0)
    for row, number in zip(person.records(), page_numbers(person), strict=True):
        assert row[2] == " · ".join(" ".join(part) for part in amounts(number))
    person.ask("u")
    assert person.value("ingredients") == f"{wanted[0]} | {wanted[2]}"
    person.ask("r")
    assert person.value("ingredients") == " | ".join(wanted)


def test_escape_declines_a_proposal(person: Person) -> None:
    person.open()
    wanted = [" ".join(part) for part in amounts(number_of(person))]
    person.choose("ingredients")
    items = person.page.locator("ul.parts li")
    for place in (0, 1):
        with person.completing():
            items.nth(place).locator("b").click()
    expect(person.window.locator(".proposal")).to_be_visible()
    person.press("Escape")
    expect(person.window.locator(".proposal")).to_have_count(0)
    with person.completing():
        items.nth(2).locator("b").click()
    expect(person.window.locator(".proposal")).to_have_count(0)
    assert person.value("ingredients") == " | ".join(wanted[:3])


def test_a_second_click_on_an_item_narrows_and_a_third_removes_it(person: Person) -> None:
    person.open()
    amount, unit, food = amounts(number_of(person))[0]
    person.choose("ingredients")
    place = person.page.locator("ul.parts li").first.locator("span").last
    seen = []
    for _ in range(3):
        with person.completing():
            place.click()
        person.window.wait_for_timeout(600)  # apart from a double click
        seen.append(person.value("ingredients") if person.state("ingredients") == "labeled" else "")
    assert seen == [f"{amount} {unit} {food}", food, ""]


def page_numbers(person: Person) -> list[int]:
    """The recipes in the order of the table."""
    titles = person.window.locator(".records tbody th").all_inner_texts()
    return [int(re.findall(r"Cake (\d+)", title)[0]) for title in titles]
