"""Lists that look like the labeled ones, and lists with titles, which the labels do not decide about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from untemplate import Attribute, Page, Reason, Rules, Schema
from untemplate.page import Node, Signature, visible_text
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.feature import Feature
from untemplate.rules.list_look import are_sentences, describe_lists, is_title, looks_alike
from untemplate.rules.rule import ListLook

STEP = "Whisk the eggs with the sugar until the mixture is thick and pale."
ITEM = Selector("element()", (Feature("tag", 1, ("li",)),))
SCHEMA = Schema("recipe", {"steps": Attribute("steps", many=True)})


def members(html: str, tag: str = "li") -> list[Node]:
    return [Node(element, "element", visible_text(element)) for element in etree.HTML(html).iter(tag)]


def extract(html: str, look: ListLook, unfit: bool = False) -> tuple[list[str], str | None]:
    """Return the steps of a page, or why there are none."""
    rule = Rule("steps", (ITEM,), look=look, unfit=unfit)
    wrapper = Wrapper("c1", (Signature((None,) * 8),), 1, "*", {"steps": rule})
    record = Rules(SCHEMA, (wrapper,)).extract_one(Page("http://a.example/1", html))
    return [value.text for value in record.values.get("steps", [])], record.missing.get("steps")


def test_sentences_are_longer_than_items() -> None:
    assert are_sentences([STEP, STEP, "Serve."])
    assert not are_sentences(["2 eggs", "100 g sugar", STEP])
    assert not are_sentences([])


def test_a_look_says_what_is_between_labeled_members() -> None:
    labeled = members(f"<ol><li>{STEP}</li><p>Photo</p>loose<li>{STEP}</li></ol><h3>After</h3>")
    assert describe_lists([labeled, []]) == ListLook(2, True, False, ("p", "text()"), True)


def test_hidden_and_wordless_things_between_members_do_not_count() -> None:
    labeled = members(f"<ol><li>{STEP}</li><b>2.</b><script>x()</script><img><li>{STEP}</li></ol>")
    assert describe_lists([labeled]).between == ()


def test_members_can_be_texts() -> None:
    (paragraph,) = etree.HTML(f"<p>{STEP}<br>{STEP}<br><i>Icing</i><br>{STEP}</p>").iter("p")
    breaks = list(paragraph.iter("br"))
    texts = [Node(paragraph, "text", STEP), Node(breaks[0], "tail", STEP), Node(breaks[2], "tail", STEP)]
    assert describe_lists([texts]).between == ("i",)
    assert describe_lists([texts[:2]]).between == ()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<ol><li>{STEP}</li><li>{STEP}</li></ol>", True),
        (f"<ol><li>{STEP}</li></ol><h3>Icing</h3><ol><li>{STEP}</li></ol>", False),
        (f"<ol><li><b>Icing</b></li><li>{STEP}</li></ol>", False),
        (f"<ol><li>{STEP}</li></ol>", False),
    ],
    ids=["like the labeled ones", "a title between", "a title among the members", "a single text"],
)
def test_lists_of_sentences_are_compared_with_the_labeled_ones(html: str, expected: bool) -> None:
    assert looks_alike(ListLook(3, of_sentences=True), members(html)) is expected


def test_labels_decide_about_titles() -> None:
    titled = members(f"<ol><li><b>Icing</b></li><li>{STEP}</li></ol><h3>Cake</h3><ol><li>{STEP}</li></ol>")
    assert looks_alike(ListLook(3, True, True, ("h3",)), titled)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<li>For the icing:</li>", True),
        ("<li><strong>Icing</strong></li>", True),
        ("<li><b>2</b> eggs</li>", False),
        ("<li>2 eggs</li>", False),
    ],
)
def test_titles_are_emphasized_as_a_whole_or_end_with_a_colon(html: str, expected: bool) -> None:
    assert [is_title(node) for node in members(html)] == [expected]


def test_a_text_is_a_title_by_the_elements_around_it() -> None:
    (bold,) = etree.HTML("<p><b><i>Icing</i></b></p>").iter("i")
    assert is_title(Node(bold, "text", "Icing"))
    assert not is_title(Node(bold.getparent(), "tail", "2 eggs"))


def test_titles_are_no_items() -> None:
    html = "<ul><li>2 eggs</li><li><b>Icing</b></li><li>sugar</li></ul>"
    assert extract(html, ListLook(3)) == (["2 eggs", "sugar"], None)
    assert extract(html, ListLook(3, has_titles=True)) == (["2 eggs", "Icing", "sugar"], None)


def test_what_the_labels_do_not_decide_is_no_value_and_has_a_reason() -> None:
    html = f"<ol><li>{STEP}</li></ol><h3>Icing</h3><ol><li>{STEP}</li></ol>"
    assert extract(html, ListLook(2, of_sentences=True)) == ([], Reason.UNDECIDED)
    assert extract(html, ListLook(2, of_sentences=True, between=("h3",))) == ([STEP, STEP], None)
    assert extract(html, ListLook(2), unfit=True) == ([], Reason.UNDECIDED)


@pytest.mark.parametrize("look", [ListLook(), ListLook(4, True, True, ("h3", "text()"))])
def test_looks_are_saved(look: ListLook, tmp_path: Path) -> None:
    rule = Rule("steps", (replace(ITEM, support=1.0),), look=look, unfit=True)
    rules = Rules(SCHEMA, (Wrapper("c1", (Signature((None,) * 8),), 1, "*", {"steps": rule}),))
    rules.save(tmp_path / "rules.json")
    assert Rules.load(tmp_path / "rules.json") == rules


def test_sentences_are_not_items() -> None:
    items = describe_lists([members("<ul><li>2 eggs</li><li>100 g sugar</li></ul>")])
    assert not looks_alike(items, members(f"<ul><li>{STEP}</li><li>{STEP}</li></ul>"))
    long_items = f"<ul><li>{STEP[:-1]}</li><li>{STEP[:-1]}</li></ul>"
    assert looks_alike(items, members(long_items))
    short_steps = describe_lists([members("<ul><li>Mix.</li><li>Bake.</li></ul>")])
    assert looks_alike(short_steps, members(f"<ul><li>{STEP}</li><li>{STEP}</li></ul>"))
