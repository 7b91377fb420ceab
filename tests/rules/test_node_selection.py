"""A selector is evaluated in three ways, which must agree: bit sets, compiled XPath with tests, whole XPath."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.trees import features_of, html_trees, place
from untemplate import Node, Page
from untemplate.learning import SampleTable
from untemplate.learning.search import disjunctions
from untemplate.page import HIDDEN_TAGS, squeeze
from untemplate.page.captions import CaptionFinder
from untemplate.rules import Selector
from untemplate.rules.feature import SEPARATOR, Feature
from untemplate.rules.node_selection import CandidateNodes, feature_matches, select, selector_matches
from untemplate.rules.rule import Region

Place = tuple[object, str]


def by_bits(table: SampleTable, selector: Selector, page: int) -> list[Place]:
    rows = table.on_page(table.bits(selector.features) & table.node_bits.get(selector.node, 0), page)
    if selector.position:
        index = selector.position - 1 if selector.position > 0 else -1
        rows = rows[index : index + 1 or None]
    return [place(table.rows[row]) for row in rows]


def by_select(table: SampleTable, selector: Selector, page: int) -> list[Place]:
    return [place(node) for node in select(selector, table.pages[page].tree, table.static)]


def by_holds(table: SampleTable, selector: Selector, page: int) -> list[Place]:
    labels = CaptionFinder(table.static)
    return [
        place(node)
        for node in table.pages[page].nodes
        if (node.kind if node.is_attribute else "text()") == selector.node
        and all(feature_matches(feature, node, labels) for feature in selector.features)
    ]


def by_xpath(table: SampleTable, selector: Selector, page: int) -> list[Place]:
    static = SEPARATOR + SEPARATOR.join(table.static) + SEPARATOR
    found = []
    for result in table.pages[page].tree.xpath(selector.xpath, static=static):
        kind = f"@{result.attrname}" if result.is_attribute else "tail" if result.is_tail else "text"
        node = Node(result.getparent(), kind, squeeze(result))
        if node.text and visible(node):
            found.append(place(node))
    return found


def visible(node: Node) -> bool:
    parent = node.parent
    return parent.tag not in HIDDEN_TAGS and next(parent.iterancestors(*HIDDEN_TAGS), None) is None


def assert_agree(table: SampleTable, selector: Selector) -> None:
    for page in range(len(table.pages)):
        expected = by_bits(table, selector, page)
        assert by_select(table, selector, page) == expected, selector
        assert by_xpath(table, selector, page) == expected, selector.xpath
        if not selector.position:
            assert by_holds(table, selector, page) == expected, selector


def kind(node: Node) -> str:
    return node.kind if node.is_attribute else "text()"


def draw_table(data: st.DataObject) -> SampleTable:
    return SampleTable([Page(html=data.draw(html_trees)) for _ in range(data.draw(st.integers(1, 3)))])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_what_a_node_has_in_common_with_others(data: st.DataObject) -> None:
    table = draw_table(data)
    row = data.draw(st.integers(0, len(table) - 1))
    features = data.draw(st.lists(st.sampled_from(features_of(table, row)), max_size=4, unique=True))
    selector = Selector(kind(table.rows[row]), tuple(features))
    assert_agree(table, selector)
    assert place(table.rows[row]) in by_bits(table, selector, int(table.row_page[row]))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_disjunctions_of_what_several_nodes_have(data: st.DataObject) -> None:
    table = draw_table(data)
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=2, max_size=3))
    features = disjunctions([set(features_of(table, row)) for row in rows])
    several = sorted((f for f in features if len(f.values) > 1), key=repr)
    if several:
        chosen = data.draw(st.lists(st.sampled_from(several), min_size=1, max_size=2, unique=True))
        selector = Selector(kind(table.rows[rows[0]]), tuple(chosen))
        assert_agree(table, selector)
        found = by_bits(table, selector, int(table.row_page[rows[0]]))
        assert place(table.rows[rows[0]]) in found


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_positions_count_visible_nodes(data: st.DataObject) -> None:
    table = draw_table(data)
    row = data.draw(st.integers(0, len(table) - 1))
    features = data.draw(st.lists(st.sampled_from(features_of(table, row)), max_size=2, unique=True))
    position = data.draw(st.sampled_from((-1, 1, 2, 3)))
    assert_agree(table, Selector(kind(table.rows[row]), tuple(features), position))


@given(html_trees, st.data())
@settings(max_examples=40, deadline=None)
def test_what_stands_inside_a_text(html: str, data: st.DataObject) -> None:
    table = SampleTable([Page(html=html)])
    text = data.draw(st.sampled_from(table.rows)).text
    cut = data.draw(st.integers(0, len(text)))
    type_ = data.draw(st.sampled_from(("inside-left-text", "inside-right-text")))
    value = text[:cut] if type_ == "inside-left-text" else text[cut:]
    assert_agree(table, Selector("text()", (Feature(type_, 0, (value,)),)))


def test_real_pages(real_pages: list[Path]) -> None:
    rng = Random(0)
    for path in rng.sample(real_pages, 8):
        neighbors = sorted(path.parent.glob("*.htm"))[1:3]
        table = SampleTable([Page(html=file.read_bytes(), id=file.name) for file in (path, *neighbors)])
        for row in rng.sample(range(len(table)), 40):
            features = rng.sample(features_of(table, row), 2)
            selector = Selector(kind(table.rows[row]), tuple(features))
            for page in range(len(table.pages)):
                assert by_select(table, selector, page) == by_bits(table, selector, page), selector
                if all(feature.is_structural for feature in features):
                    assert by_xpath(table, selector, page) == by_bits(table, selector, page), selector.xpath


# regions

LISTS = (
    "<div class=a><ul class=x><li>1<li>2</ul><div class=a><ul class=x><li>3</ul></div></div>"
    "<div class=b><ul class=x><li>4</ul></div><ul class=x><li>5</ul>"
)
LI = Feature("tag", 1, ("li",))


def region(kind: str, value: str, position: int = 0) -> Region:
    return Region((Feature(kind, 1, (value,)),), position)


@pytest.mark.parametrize(
    ("features", "inside", "expected"),
    [
        ((LI,), region("class", "a"), ["1", "2", "3"]),
        ((LI,), region("class", "a", -1), ["3"]),
        ((LI,), region("class", "b"), ["4"]),
        ((LI,), region("tag", "ul", 4), ["5"]),
        (
            (LI, Feature("class", 2, ("x",))),
            region("tag", "ul", 3),
            ["4"],
        ),  # the parent may be the region itself
        ((Feature("tag", 1, ("ul",)),), region("tag", "ul", 4), []),  # the member may not
        ((LI, Feature("class", 1, ("",))), region("class", "b"), ["4"]),
    ],
)
def test_a_region_limits_a_selector_in_the_same_way_everywhere(
    features: tuple[Feature, ...], inside: Region, expected: list[str]
) -> None:
    page = Page(html=LISTS, id="0")
    selector = Selector("element()", features, region=inside)
    assert [node.text for node in select(selector, page.tree, frozenset())] == expected
    assert [element.text for element in page.tree.xpath(selector.xpath)] == expected
    table = SampleTable([page]).with_elements
    top = max(feature.level for feature in features)
    bits = table.bits([f for f in features if f.values != ("",)]) & table.rows_inside(
        inside, "element()", top
    )
    assert [table.rows[row].text for row in table.on_page(bits & table.node_bits["element()"], 0)] == expected
    captions = CaptionFinder(frozenset())
    candidates = CandidateNodes(page.tree, frozenset())
    elements = [node for node in table.rows if node.kind == "element"]
    matching = [node.text for node in elements if selector_matches(selector, node, candidates, captions)]
    assert matching == expected
