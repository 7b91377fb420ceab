"""Rules in words, and how they changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from untemplate import Attribute, Label, Page, Rules, Schema, learn
from untemplate.page import Signature
from untemplate.page.embedded_data import DataPath
from untemplate.rules import Rule, Selector
from untemplate.rules.feature import Feature
from untemplate.rules.in_words import RuleChange, compare_rules, explain_rule, explain_selector
from untemplate.rules.rule import CandidateClassifier, EmbeddedSelector
from untemplate.rules.value_range import Range


def selector(
    *features: tuple[str, int, str | tuple[str, ...]], node: str = "text()", position: int = 0
) -> Selector:
    made = (
        Feature(type_, level, (value,) if isinstance(value, str) else value)
        for type_, level, value in features
    )
    return Selector(node, tuple(made), position)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            selector(("tag", 1, "span"), ("class", 1, "tel"), ("out-left-text", 0, "Phone:")),
            "the text in a `span` of class `tel`, right after the text “Phone:”",
        ),
        (selector(("tag", 1, "h1"), ("id", 1, "top")), "the text in an `h1` with id `top`"),
        (
            selector(("token", 1, "price"), ("@itemprop", 2, "offer"), ("label", 0, "Our Price:")),
            "the text in an element with `price` in its class, inside an element with itemprop `offer` (2 up), "
            "after the caption “Our Price:”",
        ),
        (
            selector(("tag", 1, "a"), ("tag", 2, "td"), ("tag", 3, "tr")),
            "the text in an `a`, on the path `tr/td/a`",
        ),
        (
            selector(("preceding-sibling-tag-1", 0, "b"), ("following-sibling-class-2", 1, "x")),
            "the text right after a `b`, in an element two before an element of class `x`",
        ),
        (
            selector(("preceding-sibling-tag-1", 2, "")),
            "the text inside an element (2 up) with no element before it",
        ),
        (
            selector(("out-right-word", 0, ("review", "reviews")), ("inside-left-text", 0, "4")),
            "the text right before the word “review” or “reviews”, that begins with “4”",
        ),
        (
            selector(("inside-right-text", 0, "USD"), ("inside-word", 0, "only"), ("label", 0, "")),
            "the text that ends with “USD”, that contains the word “only”, before any caption",
        ),
        (selector(("tag", 1, "img"), node="@src"), "the `src` in an `img`"),
        (selector(("tag", 1, "p"), position=2), "the second of: the text in a `p`"),
        (selector(("tag", 1, "p"), position=-1), "the last of: the text in a `p`"),
        (selector(("tag", 1, "p"), position=12), "the 12th of: the text in a `p`"),
        (selector(), "the text"),
    ],
)
def test_selectors(given: Selector, words: str) -> None:
    assert explain_selector(given) == words


def test_the_path_is_left_out_where_more_is_known() -> None:
    path = (("tag", 1, "b"), ("tag", 2, "p"))
    assert (
        explain_selector(selector(*path, ("label", 0, "x")), with_path=False)
        == "the text in a `b`, after the caption “x”"
    )
    assert explain_selector(selector(*path), with_path=False) == "the text in a `b`, on the path `p/b`"


P = selector(("tag", 1, "p"))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule("a", (P,)), "the text in a `p`"),
        (Rule("a", (P, P)), "the text in a `p`; else in 1 other way"),
        (Rule("a", (Selector("element()", P.features),)), "all text in a `p`"),
        (Rule("a", (P,), nodes=3), "3 texts in a row from the text in a `p`"),
        (
            Rule("a", (P,), classifier=CandidateClassifier(0, (), (), ())),
            "the likeliest of the text in a `p`",
        ),
        (Rule("a", (P,), range=Range(type="price")), "the text in a `p`, the part that looks like a price"),
        (
            Rule("a", (P,), range=Range(after="Our Price:", before="/")),
            "the text in a `p`, the part after “Our Price:” and before “/”",
        ),
        (Rule("a", (P,), range=Range(start=1, stop=2)), "the text in a `p`, word 2"),
        (Rule("a", (P,), range=Range(start=0, stop=2)), "the text in a `p`, words 1 to 2"),
        (Rule("a", (P,), range=Range(start=1, stop=0)), "the text in a `p`, from word 2 on"),
        (Rule("a", (P,), range=Range(start=0, stop=-1)), "the text in a `p`, all words without 1 last word"),
        (Rule("a", (P,), range=Range(start=-2, stop=0)), "the text in a `p`, 2 last words"),
        (Rule("a", (P,), range=Range(separators=(", ", "/"))), "the text in a `p`, split at “, ” or “/”"),
        (
            Rule("a", (P,), range=Range(after="Tags: ", separators=("\n",))),
            "the text in a `p`, the part after “Tags: ”, line by line",
        ),
    ],
)
def test_rules(rule: Rule, words: str) -> None:
    assert explain_rule(rule) == words


@pytest.fixture(scope="module")
def rules() -> Rules:
    pages = [
        Page(
            f"http://a.example/{n}",
            f"<html><body><h1>Book {n}</h1><p>Price: ${n}.99</p></body></html>",
            f"{n}",
        )
        for n in range(6)
    ]
    schema = Schema(
        "book", {"title": Attribute("title", mandatory=True), "price": Attribute("price", "price")}
    )
    return learn(pages, [Label("0", "title", "Book 0"), Label("0", "price", "$0.99")], schema)


def changed(old: Rules, /, **parts: object) -> Rules:
    [wrapper] = old.wrappers
    return Rules(old.schema, (replace(wrapper, **parts),))  # type: ignore[arg-type]


def test_the_same_rules(rules: Rules) -> None:
    assert compare_rules(rules, rules) == []


def test_a_rule_that_moved_and_one_that_was_lost(rules: Rules) -> None:
    [wrapper] = rules.wrappers
    title = wrapper.rules["title"]
    moved = replace(title, selectors=(replace(title.selectors[0], position=2),))
    new = changed(rules, rules={"title": moved}, lost=("price",))
    by_title, by_price = compare_rules(rules, new)
    assert (by_title.cluster, by_title.attribute) == ("c1", "title")
    assert by_title.before.startswith("the text in an `h1`")
    assert by_title.after.startswith("the second of: the text in an `h1`")
    assert (by_price.attribute, by_price.after) == ("price", "no rule: the site changed")
    [back, _] = compare_rules(new, rules)
    assert (back.before, back.after) == (by_title.after, by_title.before)


def test_details_that_words_leave_out(rules: Rules) -> None:
    [wrapper] = rules.wrappers
    title = wrapper.rules["title"]

    def after(**parts: object) -> str:
        new = {**wrapper.rules, "title": replace(title, **parts)}  # type: ignore[arg-type]
        [change] = compare_rules(rules, changed(rules, rules=new))
        return change.after.removeprefix(change.before)

    assert after(committee=()) == "; with other selectors that confirm values"
    assert after(typed=not title.typed) == "; with other details"


def test_clusters_come_and_go(rules: Rules) -> None:
    [wrapper] = rules.wrappers
    other = replace(wrapper, cluster="c2", url_pattern="http://b.example/*", rules={})
    both = Rules(rules.schema, (wrapper, other))
    assert compare_rules(rules, both) == [RuleChange("c2", None, "", "http://b.example/*, needs labels")]
    assert compare_rules(both, rules) == [RuleChange("c2", None, "http://b.example/*, needs labels", "")]
    [signatures] = compare_rules(rules, changed(rules, signatures=(Signature((1,) * 8),)))
    assert signatures.after == "http://a.example/*, pages of another structure"


def test_the_schema(rules: Rules) -> None:
    attributes = {"title": Attribute("title", constant=True, pattern="B.*"), "isbn": Attribute("isbn")}
    changes = compare_rules(Rules(rules.schema, ()), Rules(Schema("book", attributes), ()))
    assert changes == [
        RuleChange(None, "title", "text, mandatory", "text, constant, like B.*"),
        RuleChange(None, "price", "price", ""),
        RuleChange(None, "isbn", "", "text"),
    ]


def test_embedded_values_in_words() -> None:
    path = DataPath("ld+json", "Recipe", ("steps",), ("name", "text"))
    steps = EmbeddedSelector(path, lines=True, skips_repeats=True)
    name = EmbeddedSelector(DataPath("meta", "", ("og:title",)), position=2)
    heading = Selector("text()", (Feature("tag", 1, ("h1",)),))
    assert explain_rule(Rule("steps", (), embedded=(steps, name))) == (
        "the embedded value `ld+json Recipe.steps..name|text`, line by line without repeats; else in 1 other way"
    )
    assert explain_rule(Rule("name", (heading,), embedded=(name,))) == (
        "the second of: the embedded value `meta og:title`, if the page shows it; else the text in an `h1`"
    )
