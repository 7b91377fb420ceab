"""List pages split into records, each a page of its own."""

from __future__ import annotations

from untemplate import Page
from untemplate.rules import RecordRule, Selector
from untemplate.rules.feature import Feature
from untemplate.rules.record_pages import RECORD_TAG, split_records

PAGE = Page(
    "http://a/",
    "<dl><dt><b>A</b></dt><dd>1</dd><dd>2</dd><dt><b>B</b></dt> and <dd>3</dd><dt>no</dt><dd>4</dd></dl>",
    "list",
)


def element(tag: str) -> Selector:
    return Selector("element()", (Feature("tag", 1, (tag,)),))


def texts(rule: RecordRule) -> list[list[str]]:
    return [[node.text for node in record.nodes] for record in split_records(rule, PAGE)]


def test_siblings_belong_to_the_record_before_them() -> None:
    assert texts(RecordRule((element("dt"),))) == [["A"], ["B"], ["no"]]
    assert texts(RecordRule((element("dt"),), "", 1, ("dd",))) == [["A", "1"], ["B", "and", "3"], ["no", "4"]]
    assert texts(RecordRule((element("dt"),), "b", 2, ("dd",))) == [["A", "1", "2"], ["B", "and", "3"]]


def test_the_first_selector_that_selects_anything_counts() -> None:
    assert texts(RecordRule((element("li"), element("b"), element("dt")))) == [["A"], ["B"]]
    assert texts(RecordRule((element("li"),))) == []


def test_records_know_their_place_on_the_page() -> None:
    rule = RecordRule((element("dt"),), "", 1, ("dd",))
    for position, record in enumerate(split_records(rule, PAGE), 1):
        assert (record.position, record.tree.tag) == (position, RECORD_TAG)
        for node in record.nodes:
            [found] = PAGE.tree.xpath(record.xpath(node))
            assert found.strip() == node.text
