"""Lists of embedded data that the page writes in another way are read from the page."""

from __future__ import annotations

import json

import pytest
from lxml import etree

from untemplate import Attribute, Label, Page, Reason, Schema, learn
from untemplate.rules.shown_lists import are_mostly_same, are_own_texts, find_shown_list

SCHEMA = Schema(
    "recipe", {"title": Attribute("title", mandatory=True), "items": Attribute("items", many=True)}
)
EMBEDDED = ["0.25 cup oil", "1 clove garlic", "8 tomatoes"]


def shown(html: str, texts: list[str]) -> list[str]:
    return [node.text for node in find_shown_list(etree.HTML(html), texts)]


def recipe(title: str, embedded: list[str], body: str) -> Page:
    data = json.dumps({"@type": "Recipe", "name": title, "recipeIngredient": embedded})
    html = f'<html><body><script type="application/ld+json">{data}</script>{body}</body></html>'
    return Page(f"http://a.example/{title}", html, title)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["a", "b", "c"], ["A.", "b", "x"], True),
        (["a", "b"], ["a", "x"], False),
        (["a", "b", "c"], ["a", "b"], False),
        ([], [], False),
    ],
)
def test_most_members_are_the_same(first: list[str], second: list[str], expected: bool) -> None:
    assert are_mostly_same(first, second) is expected


def test_the_writing_of_the_page_counts() -> None:
    html = (
        "<ul><li>¼ cup oil</li><li><b>1</b> clove garlic</li><li>8 tomatoes</li></ul><ul><li>Home</li></ul>"
    )
    assert shown(html, EMBEDDED) == ["¼ cup oil", "1 clove garlic", "8 tomatoes"]


def test_a_list_in_sections() -> None:
    html = "<div><ul><li>1 clove garlic</li></ul><h3>Sauce</h3><ul><li>½ cup oil</li><li>8 tomatoes</li></ul></div>"
    texts = ["1 clove garlic", "0.5 cup oil", "8 tomatoes"]
    assert shown(html, texts) == ["1 clove garlic", "½ cup oil", "8 tomatoes"]


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li>¼ cup oil</li><li>2 cloves garlic</li><li>8 tomatoes</li></ul>",
        "<ul><li>¼ cup oil</li><li>1 clove garlic</li><li>Advertisement</li><li>8 tomatoes</li></ul>",
        "<p>¼ cup oil, 1 clove garlic, 8 tomatoes</p>",
        "<script>1 clove garlic</script><script>8 tomatoes</script>",
    ],
    ids=["few", "others among them", "one text", "hidden"],
)
def test_lists_that_are_not_shown(html: str) -> None:
    assert shown(html, EMBEDDED) == []


def test_a_redesigned_page_shows_what_its_data_write_otherwise() -> None:
    items = "".join(f"<li class=item>{text}</li>" for text in EMBEDDED)
    old = recipe("Soup", EMBEDDED, f"<h1>Soup</h1><div class=old><ul>{items}</ul></div>")
    rules = learn(
        [old], [Label(old.id, "title", "Soup"), *(Label(old.id, "items", x) for x in EMBEDDED)], SCHEMA
    )
    rows = "<tr><td>¼ cup oil</td></tr><tr><td>1 clove garlic</td></tr><tr><td>8 tomatoes</td></tr>"
    new = recipe("Soup", EMBEDDED, f"<section><h1>Soup</h1><main><table>{rows}</table></main></section>")
    values = rules.extract_one(new).values["items"]
    assert [value.text for value in values] == ["¼ cup oil", "1 clove garlic", "8 tomatoes"]


def test_texts_of_their_own() -> None:
    tree = etree.HTML("<ul><li>2 tbsp Oil</li><li><i>3</i> <b>Eggs</b></li><li>Salt</li></ul>")
    assert are_own_texts(tree, ["Oil", "Eggs", "Salt"])
    assert not are_own_texts(tree, ["Oil", "Salt"])


def test_a_list_without_the_amounts_that_the_page_shows_is_withheld() -> None:
    texts = ["2 tbsp oil", "1 clove garlic", "8 tomatoes"]
    items = "".join(f"<li class=item>{text}</li>" for text in texts)
    old = recipe("Soup", texts, f"<h1>Soup</h1><div class=old><ul>{items}</ul></div>")
    rules = learn(
        [old], [Label(old.id, "title", "Soup"), *(Label(old.id, "items", x) for x in texts)], SCHEMA
    )
    rows = "".join(f"<tr><td>{text}</td></tr>" for text in texts)
    body = f"<section><h1>Soup</h1><main><table>{rows}</table></main></section>"
    record = rules.extract_one(recipe("Soup", ["oil", "garlic", "tomatoes"], body))
    assert record.missing["items"] == Reason.UNDECIDED
