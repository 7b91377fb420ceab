"""Groups of elements: lists of values, and values of sites with two pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from untemplate import Attribute, Label, Page, Schema
from untemplate.labeling.groups import GroupModel
from untemplate.labeling.groups.element_groups import find_element_groups
from untemplate.labeling.groups.list_members import strip_numbers

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


STEPS = Schema("recipe", {"steps": Attribute("steps", many=True)})
PARTS = {"Dough": ["Mix flour and water.", "Knead it well."], "Filling": ["Peel the apples.", "Cut them."]}


def page_with_sections(site: str, tag: str, number: str = "") -> Page:
    """Return a page whose steps have sections with titles; notes are parts of steps, and no titles."""
    sections = []
    for title, steps in PARTS.items():
        items = [
            f"<li>{number.format(n)}<p class=step>{step}</p><i>Note {n}</i></li>"
            for n, step in enumerate(steps, 1)
        ]
        sections.append(f"<section><{tag}>{title}</{tag}><ol>{''.join(items)}</ol></section>")
    return Page(id=site, html=f"<h2>Steps</h2>{''.join(sections)}<p>Home</p><p>About</p>")


@pytest.mark.parametrize("has_titles", [True, False])
def test_titles_of_sections_are_values_where_seed_sites_label_them(has_titles: bool) -> None:
    values = []
    for title, steps in PARTS.items():
        values += [title, *steps] if has_titles else steps
    sites = []
    for name, tag in (("a", "h3"), ("b", "h4")):
        sites.append(([page_with_sections(name, tag)], [Label(name, "steps", value) for value in values]))
    (finding,) = GroupModel.train(sites, STEPS).find([page_with_sections("c", "h3")], STEPS, STEPS.attributes)
    assert [node.text for _, node in finding.places] == values


def test_numbers_that_count_steps_are_no_part_of_them() -> None:
    page = page_with_sections("a", "h3", "<b>Step {0}</b> ")
    items = [group for group in find_element_groups(page) if group.elements[0].tag == "li"]
    assert [node.text for node in items[0].nodes(is_list=True)][:2] == [
        "Mix flour and water. Note 1",
        "Knead it well. Note 2",
    ]


@pytest.mark.parametrize(
    ("texts", "stripped"),
    [
        (["1. Peel", "2. Boil"], ("Peel", "Boil")),
        (["1 Peel", "2 Boil", "3 Serve"], ("Peel", "Boil", "Serve")),
        (["1 onion", "2 carrots"], ("1 onion", "2 carrots")),
        (["1 onion", "1 carrot", "1 leek"], ("1 onion", "1 carrot", "1 leek")),
        (["1/3 cup milk", "2/3 cup rice", "3 eggs"], ("1/3 cup milk", "2/3 cup rice", "3 eggs")),
        (["Step 1: Peel", "Step 2: Boil", "Step 1: Fry"], ("Peel", "Boil", "Fry")),
        (["1. Peel", "Boil"], ("1. Peel", "Boil")),
        (["7"], ("7",)),
        ([], ()),
    ],
)
def test_only_numbers_that_count_all_members_are_stripped(
    texts: list[str], stripped: tuple[str, ...]
) -> None:
    assert strip_numbers(texts) == stripped
