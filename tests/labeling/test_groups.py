"""Groups of elements: lists of values, and values of sites with two pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from untemplate import Attribute, Label, Page, Schema
from untemplate.labeling.groups import GroupModel
from untemplate.labeling.groups.element_groups import find_element_groups

SCHEMA = Schema("recipe", {"title": Attribute("title"), "ingredients": Attribute("ingredients", many=True)})
DISHES = {
    "Soup": ["2 leeks", "1 cup milk", "3 cups water"],
    "Pie": ["1 cup sugar", "4 apples", "2 cups flour"],
}


def make_site(site: str, tag: str) -> list[Page]:
    """Return two pages of a site, whose ingredients have several texts each."""
    pages = []
    for dish, things in DISHES.items():
        members = "".join(f'<{tag} class="ingredient">{t[0]} <b>{t[2:]}</b></{tag}>' for t in things)
        menu = "<ul><li>Home</li><li>About us</li><li>Contact</li></ul>"
        html = f"<title>{dish} | {site}</title>{menu}<h1>{dish}</h1><h2>Ingredients</h2><div>{members}</div>"
        pages.append(Page(id=f"{site} {dish}", html=html))
    return pages


def labels_of(pages: list[Page]) -> list[Label]:
    labels = []
    for page, (dish, things) in zip(pages, DISHES.items(), strict=True):
        labels += [Label(page.id, "title", dish), *(Label(page.id, "ingredients", thing) for thing in things)]
    return labels


@pytest.fixture(scope="module")
def model() -> GroupModel:
    sites = [make_site("a", "li"), make_site("b", "p")]
    return GroupModel.train([(pages, labels_of(pages)) for pages in sites], SCHEMA)


def test_lists_of_a_new_site_are_found_complete(model: GroupModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    new_site = make_site("c", "li")
    title, ingredients = GroupModel.load(tmp_path).find(new_site, SCHEMA, SCHEMA.attributes)
    assert [node.text for _, node in title.places] == list(DISHES)
    assert [node.text for _, node in ingredients.places] == [*DISHES["Soup"], *DISHES["Pie"]]
    assert model.lists == {"ingredients"}


def test_only_the_attributes_asked_for_are_searched(model: GroupModel) -> None:
    (finding,) = model.find(make_site("c", "li"), SCHEMA, ["ingredients"])
    assert finding.attribute == "ingredients"


def test_pages_without_text_have_no_groups() -> None:
    assert find_element_groups(Page(html="<html><body></body></html>")) == []


def test_a_deep_page_costs_linear_time() -> None:
    html = "<div>" * 200 + "x " * 20_000 + "</div>" * 200
    assert len(find_element_groups(Page(html=html))) <= 1500
