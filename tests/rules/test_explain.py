"""Rules in words."""

from __future__ import annotations

import pytest

from untemplate.rules import Rule, Selector
from untemplate.rules.classifier import Classifier
from untemplate.rules.explain import explain_rule, explain_selector
from untemplate.rules.feature import Feature
from untemplate.rules.ranges import Range


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
            "after the label “Our Price:”",
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
            "the text that ends with “USD”, that contains the word “only”, before any label",
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
        explain_selector(selector(*path, ("label", 0, "x")), path=False)
        == "the text in a `b`, after the label “x”"
    )
    assert explain_selector(selector(*path), path=False) == "the text in a `b`, on the path `p/b`"


P = selector(("tag", 1, "p"))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule("a", (P,)), "the text in a `p`"),
        (Rule("a", (P, P)), "the text in a `p`; else in 1 other way"),
        (Rule("a", (Selector("element()", P.features),)), "all text in a `p`"),
        (Rule("a", (P,), nodes=3), "3 texts in a row from the text in a `p`"),
        (Rule("a", (P,), classifier=Classifier(0, (), (), ())), "the likeliest of the text in a `p`"),
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
    ],
)
def test_rules(rule: Rule, words: str) -> None:
    assert explain_rule(rule) == words
