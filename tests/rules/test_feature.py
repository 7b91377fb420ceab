"""Features as XPath: the paper's examples in our spelling, and texts that try to break out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from untemplate import Page
from untemplate.native import core
from untemplate.page.dom import element_xpath
from untemplate.rules import Selector
from untemplate.rules.feature import (
    CELL,
    Feature,
    cell_number,
    full_xpath,
    native_conditions,
    structure_xpath,
    xpath_literal,
)


def test_the_paper_combines_features_of_three_levels() -> None:
    features = (
        Feature("tag", 3, ("div",)),
        Feature("preceding-sibling-class-2", 3, ("c1", "c2")),
        Feature("id", 1, ("i1",)),
    )
    assert Selector("text()", features).xpath == (
        '//div[preceding-sibling::*[2]/self::*[@class="c1"] or preceding-sibling::*[2]/self::*[@class="c2"]]'
        '/*/*[@id="i1"]/text()'
    )


@pytest.mark.parametrize(
    ("node", "features", "xpath"),
    [
        ("text()", [], "//text()"),
        ("text()", [("tag", 3, "div")], "//div/*/*/text()"),
        ("text()", [("class", 1, "listprice")], '//*[@class="listprice"]/text()'),
        ("text()", [("tag", 2, "td"), ("class", 2, "navbar")], '//td[@class="navbar"]/*/text()'),
        (
            "@src",
            [("class", 2, "detailImage", "detailMain hackborder"), ("tag", 1, "img")],
            '//*[@class="detailImage" or @class="detailMain hackborder"]/img/@src',
        ),
        ("text()", [("tag", 1, "td"), ("tag", 2, "html")], "/html/td/text()"),
        ("text()", [("tag", 1, "td", "th")], "//*[self::td or self::th]/text()"),
        ("text()", [("tag", 1, "o:p")], '//*[name()="o:p"]/text()'),
        ("text()", [("@itemprop", 1, "name")], '//*[@itemprop="name"]/text()'),
        ("text()", [("@data:x", 1, "y")], '//*[@*[name()="data:x"]="y"]/text()'),
        (
            "text()",
            [("token", 1, "adr")],
            '//*[contains(concat(" ", normalize-space(@class), " "), " adr ")]/text()',
        ),
        ("text()", [("following-sibling-tag-1", 0, "")], "//text()[not(following-sibling::*[1])]"),
        (
            "text()",
            [("preceding-sibling-tag-1", 0, "br")],
            "//text()[preceding-sibling::*[1]/self::*[self::br]]",
        ),
    ],
)
def test_how_features_are_written(node: str, features: list[tuple[str, int, str]], xpath: str) -> None:
    made = [Feature(type_, level, tuple(values)) for type_, level, *values in features]
    assert structure_xpath(node, made) == xpath


def test_the_position_comes_last() -> None:
    features = (Feature("tag", 1, ("td",)), Feature("inside-word", 0, ("each",)))
    plain, first, last = (full_xpath("text()", features, position) for position in (0, 1, -1))
    assert first.startswith(f"({plain}")
    assert first.endswith(")[1]")
    assert last.endswith(")[last()]")


def test_conditions_on_texts_are_no_part_of_the_structure() -> None:
    features = (Feature("tag", 1, ("td",)), Feature("out-left-text", 0, ("Our Price:",)))
    assert structure_xpath("text()", features) == "//td/text()"
    assert '"Our Price:"' in full_xpath("text()", features)
    assert Selector("text()", features).text_features == features[1:]


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20))
def test_any_text_is_a_literal(text: str) -> None:
    assert etree.XPath(xpath_literal(text))(etree.Element("a")) == text


@pytest.mark.parametrize(
    "value", ['x"] | //*[@y="', "x'] | //*[@y='", "']\"", 'document("file:///etc/passwd")']
)
@pytest.mark.parametrize(
    "type_", ["class", "id", "token", "@name", "tag", "inside-word", "out-left-text", "label"]
)
def test_values_cannot_break_out(type_: str, value: str) -> None:
    level = 0 if type_ in ("inside-word", "out-left-text", "label") else 1
    tree = etree.fromstring("<html><body y='1'><p>secret</p></body></html>")
    selector = Selector("text()", (Feature(type_, level, (value,)),))
    assert tree.xpath(selector.xpath, static="") == []


@pytest.mark.parametrize(
    "type_", ["", "tags", "out-up-text", "preceding-sibling-class-3", "ancestor-class-1", "@"]
)
def test_other_feature_types_do_not_exist(type_: str) -> None:
    with pytest.raises(ValueError, match="no such feature type"):
        assert Feature(type_, 1, ("x",)).kind


STRUCTURES = [
    [Feature("class", 1, ("a",))],
    [Feature("class", 2, ("a", "b c")), Feature("tag", 1, ("b",))],
    [Feature("class", 1, ('a"b', "it's"))],
    [Feature("token", 1, ("b",))],
    [Feature("token", 1, ("b",)), Feature("token", 1, ("c",)), Feature("tag", 1, ("p",))],
    [Feature("token", 1, ("b", "d"))],
    [Feature("id", 2, ("x",)), Feature("tag", 2, ("div",))],
    [Feature("@data-x.y", 1, ("1",))],
    [Feature("preceding-sibling-class-1", 1, ("a",))],
    [Feature("class", 1, ("",))],
    [Feature("tag", 1, ("p",))],
]
STRUCTURE_PAGE = """
    <div id=x class="a"><p class="b c">1<b>2</b></p><p class=" c\tb ">3</p><p class=bc>4</p><p>5</p></div>
    <div class='a"b'>6</div><div class="it's" data-x.y=1>7<p class="a">8</p><i class=d>9</i></div>"""


@pytest.mark.parametrize("features", STRUCTURES)
@pytest.mark.parametrize("node", ["text()", "element()"])
@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.skipif(core is None, reason="needs the native core")
def test_the_native_core_selects_the_same(features: list[Feature], node: str, is_inside: bool) -> None:
    path = structure_xpath(node, features, is_inside)
    path = f".{path}" if is_inside else path
    tree, root = Page(html=STRUCTURE_PAGE).tree, Page(html=STRUCTURE_PAGE).root
    start, regions = (tree[0][0], [root[0][0]]) if is_inside else (tree, None)
    selected = start.xpath(path)
    found = native_conditions(node, features).find(root, regions)
    if node == "text()":
        assert [text for _, _, text in found] == [text.strip() for text in selected if text.strip()]
    else:
        assert [element_xpath(element) for element in found.elements()] == list(map(element_xpath, selected))


def test_cells_are_counted_with_empty_ones() -> None:
    tree = etree.HTML(
        "<table><tr><td>a</td><td></td><td><b>c</b></td></tr><tr><th>d</th><td>e</td></tr></table>"
    )
    third = Feature(CELL, 2, ("3",))
    assert [text.strip() for text in tree.xpath(structure_xpath("text()", [third]))] == ["c"]
    assert [cell_number(cell) for cell in tree.iter("td", "th")] == [1, 2, 3, 1, 2]
    assert [Feature(CELL, 1, ("1",)).matches_element(cell) for cell in tree.iter("td")] == [
        True,
        False,
        False,
        False,
    ]
    assert cell_number(tree) == 0


def test_cells_far_to_the_right_have_no_number() -> None:
    tree = etree.HTML("<table><tr>" + "<td>x</td>" * 60 + "</tr></table>")
    assert max(map(cell_number, tree.iter("td"))) == 50
