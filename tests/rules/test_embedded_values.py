"""Embedded values and visible ones: which of them a rule returns, and how sure it is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from lxml import etree

from untemplate import Attribute, Label, Page, Reason, Rules, Schema, learn
from untemplate.page import Signature
from untemplate.page.embedded_data import DataPath
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.applying import UNDECIDED, Match, apply_wrapper
from untemplate.rules.embedded_values import are_mostly_same, are_own_texts, embedded_texts, find_shown_list
from untemplate.rules.feature import Feature
from untemplate.rules.rule import EmbeddedSelector

NAME = EmbeddedSelector(DataPath("ld+json", "Recipe", ("name",)))
STEPS = DataPath("ld+json", "Recipe", ("steps",), ("name", "text"))
HEADING = Selector("text()", (Feature("tag", 1, ("h1",)),))
SCHEMA = Schema("s", {"name": Attribute("name"), "steps": Attribute("steps", many=True)})


def page(body: str, **data: object) -> Page:
    script = f'<script type="application/ld+json">{json.dumps({"@type": "Recipe", **data})}</script>'
    return Page("http://a.example/1", f"<html><head>{script}</head><body>{body}</body></html>")


def wrapper(rule: Rule) -> Wrapper:
    return Wrapper("c1", (Signature((None,) * 8),), 1, "*", {rule.attribute: rule})


def apply(one: Page, *selectors: Selector, embedded: tuple[EmbeddedSelector, ...] = (NAME,)) -> list[Match]:
    rule = Rule("name", selectors, embedded=embedded)
    return apply_wrapper(wrapper(rule), one, SCHEMA.attributes)["name"]


def test_what_both_say_is_taken_from_the_page() -> None:
    (match,) = apply(page("<h1>Leek soup!</h1>", name="Leek Soup"), HEADING)
    assert (match.text, match.rule) == ("Leek soup!", "name#1")
    assert match.confidence > 0.9


def test_an_embedded_value_counts_if_the_page_shows_it() -> None:
    (match,) = apply(page("<h1>Welcome</h1><p>Leek <b>soup</b></p>", name="Leek soup"), HEADING)
    assert (match.text, match.node.xpath, match.rule) == (
        "Leek soup",
        "ld+json Recipe.name",
        "name#embedded-1",
    )


def test_else_the_visible_value_counts() -> None:
    (match,) = apply(page("<h1>Welcome</h1><style>Leek soup</style>", name="Leek soup"), HEADING)
    assert match.text == "Welcome"
    assert match.confidence < 0.9


def test_else_the_embedded_value() -> None:
    (match,) = apply(page("<p>no heading</p>", name="Leek soup"), HEADING)
    assert match.text == "Leek soup"
    assert match.confidence < 0.9


def test_the_first_embedded_value_that_is_shown() -> None:
    other = EmbeddedSelector(DataPath("ld+json", "Recipe", ("headline",)))
    (match,) = apply(page("<p>Soup</p>", name="Leek soup", headline="Soup"), embedded=(NAME, other))
    assert (match.text, match.rule) == ("Soup", "name#embedded-2")


def test_nothing_on_the_page_and_in_the_data() -> None:
    assert apply(page("<p>x</p>"), HEADING) == []
    assert apply(Page(html="<p>x</p>")) == []


def test_ways_to_select() -> None:
    steps = [
        {"name": "Chop", "text": "Chop it."},
        {"name": "Then", "text": "<p>Cook.</p><p>Stir.</p>"},
        "Serve.",
    ]
    data = page("", steps=steps).embedded
    all_texts = EmbeddedSelector(STEPS)
    assert embedded_texts(all_texts, data) == ["Chop", "Chop it.", "Then", "Cook. Stir.", "Serve."]
    assert embedded_texts(replace(all_texts, lines=True), data)[3:] == ["Cook.", "Stir.", "Serve."]
    assert embedded_texts(replace(all_texts, skips_repeats=True), data)[:2] == ["Chop it.", "Then"]
    assert embedded_texts(replace(all_texts, position=5), data) == ["Serve."]


@pytest.mark.parametrize(("committee", "is_decided"), [((), True), (("b",), False)])
def test_a_list_that_differs_from_a_doubtful_one_on_the_page_is_undecided(
    committee: tuple[str, ...], is_decided: bool
) -> None:
    members = Selector("text()", (Feature("tag", 1, ("li",)),))
    doubts = tuple(Selector("text()", (Feature("tag", 1, (tag,)),)) for tag in committee)
    rule = Rule("steps", (members,), doubts, embedded=(EmbeddedSelector(STEPS),))
    one = page("<li>leek<li>salt<p>oil</p><b>water</b>", steps=["leek", "oil"])
    matches = apply_wrapper(wrapper(rule), one, SCHEMA.attributes)["steps"]
    assert [match.text for match in matches] == ["leek", "oil"]
    assert (matches[0].confidence > UNDECIDED) is is_decided


def test_records_know_the_path() -> None:
    one = page("<li>leek<li>salt", steps=["leek", "salt"])
    rules = Rules(SCHEMA, (wrapper(Rule("steps", (), embedded=(EmbeddedSelector(STEPS),))),))
    values = rules.extract_one(one).values["steps"]
    paths = [value.xpath for value in values]
    assert paths == ["ld+json Recipe.steps..name|text[1]", "ld+json Recipe.steps..name|text[2]"]


def test_meta_tags_confirm_but_do_not_correct() -> None:
    title = EmbeddedSelector(DataPath("meta", "", ("og:title",)))
    html = '<html><head><meta property="og:title" content="Soup"></head><body>{}<p>Soup</p></body></html>'
    (corrected,) = apply(Page(html=html.format("<h1>Stew</h1>")), HEADING, embedded=(title,))
    (confirmed,) = apply(Page(html=html.format("<h1>Soup</h1>")), HEADING, embedded=(title,))
    (alone,) = apply(Page(html=html.format("")), HEADING, embedded=(title,))
    assert (corrected.text, confirmed.text, alone.text) == ("Stew", "Soup", "Soup")


LIST_SCHEMA = Schema(
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
        [old], [Label(old.id, "title", "Soup"), *(Label(old.id, "items", x) for x in EMBEDDED)], LIST_SCHEMA
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
        [old], [Label(old.id, "title", "Soup"), *(Label(old.id, "items", x) for x in texts)], LIST_SCHEMA
    )
    rows = "".join(f"<tr><td>{text}</td></tr>" for text in texts)
    body = f"<section><h1>Soup</h1><main><table>{rows}</table></main></section>"
    record = rules.extract_one(recipe("Soup", ["oil", "garlic", "tomatoes"], body))
    assert record.missing["items"] == Reason.UNDECIDED
