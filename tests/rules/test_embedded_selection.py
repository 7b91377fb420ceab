"""Embedded values and visible ones: which of them a rule returns, and how sure it is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from untemplate import Attribute, Page, Rules, Schema
from untemplate.page import Signature
from untemplate.page.embedded_data import DataPath
from untemplate.rules import Rule, Selector, Wrapper, parsed_page
from untemplate.rules.applying import UNDECIDED, Match, apply_wrapper
from untemplate.rules.embedded_selection import embedded_texts
from untemplate.rules.feature import Feature
from untemplate.rules.rule import EmbeddedSelector

NAME = EmbeddedSelector(DataPath("ld+json", "Recipe", ("name",)))
STEPS = DataPath("ld+json", "Recipe", ("steps",), ("name", "text"))
HEADING = Selector("text()", (Feature("tag", 1, ("h1",)),))
SCHEMA = Schema("s", {"name": Attribute("name"), "steps": Attribute("steps", many=True)})


def page(body: str, **data: object) -> Page:
    script = f'<script type="application/ld+json">{json.dumps({"@type": "Recipe", **data})}</script>'
    return Page("http://a.example/1", f"<html><head>{script}</head><body>{body}</body></html>")


def wrapper(rule: Rule, *stops: str) -> Wrapper:
    return Wrapper("c1", (Signature((None,) * 8),), 1, "*", {rule.attribute: rule}, stops=stops)


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"@type":"Recipe","name":"Leek soup"}', None),
        (None, '{"@type":"Recipe","name":"Leek soup"}'),
        ('{"@type":"Recipe","name":"Ragout"}', '{"@type":"Recipe","name":"Leek soup"}'),
    ],
)
@pytest.mark.parametrize("shown", ["before", "after", "nowhere"])
def test_reading_in_part_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, before: str | None, after: str | None, shown: str
) -> None:
    monkeypatch.setattr(parsed_page, "MIN_PARTIAL_BYTES", 0)
    scripts = [
        f'<script type="application/ld+json">{data}</script>' if data else "" for data in (before, after)
    ]
    texts = ["<p>Leek soup</p>" if shown == place else "" for place in ("before", "after")]
    html = f'<body>{scripts[0]}<h1>Hello</h1>{texts[0]}<div class="x">{scripts[1]}{texts[1]}</div>'
    rule = Rule("name", (HEADING,), embedded=(NAME,))
    in_part, complete = (
        apply_wrapper(wrapper(rule, *stops), Page(html=html), SCHEMA.attributes)["name"]
        for stops in (['<div class="x">'], [])
    )
    assert [(m.text, m.confidence) for m in in_part] == [(m.text, m.confidence) for m in complete]


def test_meta_tags_confirm_but_do_not_correct() -> None:
    title = EmbeddedSelector(DataPath("meta", "", ("og:title",)))
    html = '<html><head><meta property="og:title" content="Soup"></head><body>{}<p>Soup</p></body></html>'
    (corrected,) = apply(Page(html=html.format("<h1>Stew</h1>")), HEADING, embedded=(title,))
    (confirmed,) = apply(Page(html=html.format("<h1>Soup</h1>")), HEADING, embedded=(title,))
    (alone,) = apply(Page(html=html.format("")), HEADING, embedded=(title,))
    assert (corrected.text, confirmed.text, alone.text) == ("Stew", "Soup", "Soup")
