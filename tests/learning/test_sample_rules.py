"""A rule that does not return its own labels is a finding."""

from __future__ import annotations

import json

from tests.learning.lessons import labels_of, schema_of, site
from untemplate import Attribute, Label, Page, Rules, Schema, learn
from untemplate.learning.label_fit import LabelFit
from untemplate.learning.sample_rules import learn_embedded
from untemplate.pipeline import learn_site

BODIES = [f"<h1>Lamp {n}</h1><p class=price>${n}.99</p>" for n in range(6)]


def test_labels_that_come_back_are_no_finding() -> None:
    learned = learn_site(site(BODIES), labels_of({0: {"name": "Lamp 0"}}), schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert report.unfit is None
    assert report.problems == []


def test_a_label_at_another_place_is_named_with_its_page() -> None:
    labels = labels_of({0: {"name": "Lamp 0"}, 1: {"name": "Lamp 1"}, 2: {"name": "$2.99"}})
    learned = learn_site(site(BODIES), labels, schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert report.unfit == "2"
    assert report.problems[-1] == "the rule does not return 1 of 3 labeled values: look at 2"


def test_fits_add_up_and_name_the_first_page() -> None:
    fit = LabelFit(3, 3).plus(LabelFit(2, 2, 1, "b")).plus(LabelFit(1, 0, 0, "c"))
    assert fit == LabelFit(6, 5, 1, "b")
    assert fit.problem == "the rule does not return 1 of 6 labeled values: look at b"
    assert (
        LabelFit(2, 2, 2, "a").problem == "the rule returns 2 values that the labels do not have: look at a"
    )
    assert LabelFit(2, 2).problem is None


def test_a_rule_that_returns_none_of_its_labeled_lists_is_not_believed() -> None:
    assert LabelFit(12, 1, 0, "a", lost=11).returns_other_lists
    assert not LabelFit(12, 11, 1, "a", lost=1).returns_other_lists, "one member is spelled differently"
    assert not LabelFit(4, 3, 0, "a").returns_other_lists, "the page does not show the fourth"
    assert not LabelFit(12, 8, 0, "b", fitting=1, lost=4).returns_other_lists, "it fits another page"


SCHEMA = Schema(
    "recipe",
    {
        "title": Attribute("title"),
        "author": Attribute("author"),
        "steps": Attribute("steps", many=True),
    },
)


def page(name: str, *objects: object, body: str = "") -> Page:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in objects)
    return Page(f"http://a.example/{name}", f"<html><body>{scripts}<p>{body}</p></body></html>", name)


def labels(name: str, **values: str | list[str] | None) -> list[Label]:
    found = []
    for attribute, texts in values.items():
        for text in texts if isinstance(texts, list) else [texts]:
            found.append(Label(name, attribute, text))
    return found


def paths(labeled: dict[Page, list[Label]], *unlabeled: Page) -> dict[str, str]:
    learned = learn_embedded(labeled, unlabeled, SCHEMA)
    return {name: str(selectors[0].path) for name, selectors in learned.items()}


def recipe(name: str, **more: object) -> dict[str, object]:
    return {"@type": "Recipe", "keywords": name, "name": name, "author": {"name": "Ann"}, **more}


def test_the_object_with_most_attributes_is_the_record() -> None:
    site = {"@type": "WebPage", "name": "Soup"}
    first = page("1", site, recipe("Soup"))
    second = page("2", site | {"name": "Stew"}, recipe("Stew"))
    found = paths({first: labels("1", title="Soup", author="Ann")}, second)
    assert found == {"title": "ld+json Recipe.name", "author": "ld+json Recipe.author..name"}


def test_a_path_that_never_changes_is_tried_last() -> None:
    first = page("1", {"@type": "Recipe", "a": "Soup", "b": "Soup"})
    others = [page(name, {"@type": "Recipe", "a": "Soup", "b": name}) for name in ("Stew", "Cake")]
    assert paths({first: labels("1", title="Soup")}, *others) == {"title": "ld+json Recipe.b"}


def test_names_of_the_schema_decide() -> None:
    schema = Schema("s", {"title": Attribute("title", same_as=("headline",))})
    one = page("1", {"@type": "A", "x": "Soup", "headline": "Soup"})
    other = page("2", {"@type": "A", "x": "Stew", "headline": "Stew"})
    learned = learn_embedded({one: labels("1", title="Soup")}, [other], schema)
    assert str(learned["title"][0].path) == "ld+json A.headline"


def test_lists_are_compared_whole() -> None:
    steps = [{"name": "Chop", "text": "Chop it."}, {"name": "Cook", "text": "Cook it."}]
    first, second = page("1", recipe("Soup", how=steps)), page("2", recipe("Stew", how=steps[:1]))
    whole = labels("1", steps=["Chop it.", "Cook it."])
    assert "Recipe.how" in paths({first: whole}, second)["steps"]
    assert paths({first: whole[:1]}, second) == {}


def test_lines_of_one_text_are_a_list() -> None:
    first = page("1", recipe("Soup", how="<p>Chop.</p><p>Cook.</p>"))
    second = page("2", recipe("Stew", how="Cut.\nFry."))
    (selector, *_) = learn_embedded({first: labels("1", steps=["Chop.", "Cook."])}, [second], SCHEMA)["steps"]
    assert selector.lines


def test_a_value_by_its_position() -> None:
    first = page("1", {"@type": "List", "item": ["Home", "Soups"]})
    second = page("2", {"@type": "List", "item": ["Home", "Cakes"]})
    (selector,) = learn_embedded({first: labels("1", title="Soups")}, [second], SCHEMA)["title"]
    assert selector.position == 2


def test_pages_labeled_as_empty_and_most_pages_decide() -> None:
    labeled = {page(name, recipe(name)): labels(name, title=name) for name in ("Soup", "Stew")}
    labeled[page("3", {"@type": "Recipe"})] = labels("3", title=None)
    assert paths(labeled) == {"title": "ld+json Recipe.name"}
    assert (
        paths(
            {
                page("1", recipe("Soup")): labels("1", title="Soup"),
                page("2", recipe("x")): labels("2", title="y"),
            }
        )
        == {}
    )


def test_pages_without_data_teach_nothing() -> None:
    assert paths({page("1"): labels("1", title="Soup")}, page("2")) == {}


def test_rules_with_data_survive_the_file() -> None:
    pages = [page(name, recipe(name), body=name) for name in ("Soup", "Stew", "Cake")]
    rules = learn(pages, labels("Soup", title="Soup", author="Ann"), SCHEMA)
    again = Rules.loads(rules.dumps())
    assert again == rules
    assert [record["title"] for record in again.extract(pages)] == ["Soup", "Stew", "Cake"]
    # The page does not show the author: the embedded value is all there is.
    assert again.extract_one(pages[1])["author"] == "Ann"


def test_a_list_in_another_writing_is_learned_unless_the_page_shows_that_writing() -> None:
    written = ["0.5 cup oil", "1 clove garlic", "8 tomatoes"]
    labeled = labels("1", steps=["½ cup oil", "1 clove garlic", "8 tomatoes"])
    data = recipe("Soup", recipeIngredient=written)
    one = page("1", data, body="½ cup oil, 1 clove garlic, 8 tomatoes")
    assert paths({one: labeled}) == {"steps": "ld+json Recipe.recipeIngredient"}
    both = page("1", data, body="½ cup oil (0.5 cup oil), 1 clove garlic, 8 tomatoes")
    assert paths({both: labeled}) == {}
