"""How rules changed, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from untemplate import Attribute, Label, Page, Rules, Schema, learn
from untemplate.page import Signature
from untemplate.rules.diff import Change, compare_rules


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

    assert after(committee=()) == "; with another committee"
    assert after(typed=not title.typed) == "; with other details"


def test_clusters_come_and_go(rules: Rules) -> None:
    [wrapper] = rules.wrappers
    other = replace(wrapper, cluster="c2", url_pattern="http://b.example/*", rules={})
    both = Rules(rules.schema, (wrapper, other))
    assert compare_rules(rules, both) == [Change("c2", None, "", "http://b.example/*, needs labels")]
    assert compare_rules(both, rules) == [Change("c2", None, "http://b.example/*, needs labels", "")]
    [signatures] = compare_rules(rules, changed(rules, signatures=(Signature((1,) * 8),)))
    assert signatures.after == "http://a.example/*, other signatures"


def test_the_schema(rules: Rules) -> None:
    attributes = {"title": Attribute("title", constant=True, pattern="B.*"), "isbn": Attribute("isbn")}
    changes = compare_rules(Rules(rules.schema, ()), Rules(Schema("book", attributes), ()))
    assert changes == [
        Change(None, "title", "text, mandatory", "text, constant, like B.*"),
        Change(None, "price", "price", ""),
        Change(None, "isbn", "", "text"),
    ]
