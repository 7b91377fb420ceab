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


FLOW = Page(
    "http://a/",
    "<body><p>Menu</p><div>No. 1 <a href=/1.pdf>A</a> x<br>No. 2 <a href=/2>B</a><br>No. 3 <i>C</i></div>"
    "<section><h3>Day</h3><p><b>7</b> D</p></section><section><h3>Day</h3><p><b>8</b> E</p></section></body>",
    "flow",
)


def starting_with(rule: RecordRule) -> list[list[str]]:
    return [[node.text for node in record.nodes if node.is_text] for record in split_records(rule, FLOW)]


def test_records_may_begin_and_end_with_texts() -> None:
    numbers = Selector("text()", (Feature("tag", 1, ("div",)), Feature("inside-word", 0, ("No.",))))
    rule = RecordRule((numbers,), "", 2, ("a", "br", "i"), 0, True)
    assert starting_with(rule) == [["No. 1", "A", "x"], ["No. 2", "B"], ["No. 3", "C"]]
    for record in split_records(rule, FLOW):
        for node in filter(lambda node: node.is_text, record.nodes):
            [found] = FLOW.tree.xpath(record.xpath(node))
            assert found.strip() == node.text


def test_a_record_may_need_a_link_of_a_kind() -> None:
    numbers = Selector("text()", (Feature("tag", 1, ("div",)), Feature("inside-word", 0, ("No.",))))
    rule = RecordRule((numbers,), "", 2, ("a", "br", "i"), 0, True, "link")
    assert starting_with(rule) == [["No. 1", "A", "x"], ["No. 2", "B"]]
    assert len(split_records(RecordRule((numbers,), "", 2, ("a", "br", "i"), 0, True, "document"), FLOW)) == 1


def test_records_begin_below_elements_with_several_anchors() -> None:
    bold = Selector("text()", (Feature("tag", 1, ("b",)),))
    assert starting_with(RecordRule((bold,), levels=2)) == [["7", "D"], ["8", "E"]]
    assert starting_with(RecordRule((bold,), levels=9)) == [["Day", "7", "D"], ["Day", "8", "E"]]
