"""The estimate: a small flow layout."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from untemplate import Page
from untemplate.layout import Box, Boxes, EstimatedLayout
from untemplate.layout.boxes import IMAGE

STANDARD = "<!DOCTYPE html>"


def lay_out(html: str) -> Boxes:
    boxes = EstimatedLayout().boxes([Page(html=html)])[0]
    assert boxes.reason is None
    return boxes


def texts(html: str) -> dict[str, Box]:
    """The box of each text."""
    boxes = lay_out(html)
    return {node.text: boxes.node(node) for node in boxes.page.nodes if node.is_text}


def of(html: str, path: str) -> Box:
    """The box of the element that an XPath finds."""
    boxes = lay_out(html)
    return boxes.element(boxes.page.tree.xpath(path)[0])


def test_blocks_stack_and_headings_are_large() -> None:
    found = texts("<h1>Name</h1><p>one</p><p>two</p>")
    name, one, two = found.values()
    assert name.y < one.y < two.y
    assert name.x == one.x == two.x == 8
    assert name.height > one.height == two.height
    assert two.y - one.y == 18 + 16  # a line and one shared margin


def test_margins_of_nested_blocks_are_shared() -> None:
    html = STANDARD + "<p>one</p><div id=outer><div><p>two</p></div></div><p>three</p>"
    assert of(html, "//*[@id='outer']")[1::2] == (8 + 16 + 18 + 16 - 8, 18)
    found = texts(html)
    assert found["three"].y - found["two"].y == found["two"].y - found["one"].y == 34


def test_words_follow_each_other_and_wrap() -> None:
    found = texts("<p><b>" + "</b> <b>".join(f"word{number}" for number in range(100)) + "</b></p>")
    assert found["word1"].x > found["word0"].x + found["word0"].width
    assert found["word99"].y > found["word0"].y
    assert all(box.x + box.width <= 1272 for box in found.values())


def test_a_long_text_takes_as_many_lines_as_it_needs() -> None:
    (box,) = texts(f"<p>{'lorem ipsum ' * 100}</p>").values()
    assert 1200 < box.width <= 1264
    assert 5 * 18 <= box.height <= 8 * 18


def test_cells_stand_side_by_side_in_columns() -> None:
    found = texts("<table><tr><td>label<td>value<tr><td>longer label<td>other</table>")
    assert found["label"].x == found["longer label"].x
    assert found["value"].x == found["other"].x > found["longer label"].x + found["longer label"].width
    assert found["label"].y == found["value"].y < found["other"].y


def test_spanning_cells_take_their_columns_and_rows() -> None:
    html = "<table width=600><tr><td rowspan=2>a<td colspan=2>b<tr><td>c<td>d</table>"
    cells = [of(html, f"//td[.='{name}']") for name in "abcd"]
    a, b, c, d = cells
    assert a.height == pytest.approx(b.height + c.height + 2)
    assert b.width == pytest.approx(c.width + d.width + 2)
    assert b.x == c.x


def test_widths_of_columns_are_those_the_page_says() -> None:
    html = "<table width=500 cellspacing=0><tr><td width=100>a<td width='20%'>b<td>c</table>"
    assert [round(of(html, f"//td[{number}]").width) for number in (1, 2, 3)] == [102, 100, 298]


def test_cells_are_aligned_in_their_rows() -> None:
    found = texts("<table><tr><td>1<br>2<br>3<td>middle<td valign=top>top<td valign=bottom>bottom</table>")
    assert found["top"].y == found["1"].y
    assert found["middle"].y == found["2"].y
    assert found["bottom"].y == found["3"].y


@pytest.mark.parametrize(
    "html",
    [
        "<center>x</center>",
        "<p align=center>x",
        "<div style='text-align: center'>x</div>",
        "<style>.c {text-align: center}</style><p class='b c'>x",
        "<table align=center><tr><td>x</table>",
        "<div style='width: 50px; margin: 0 auto; text-align: center'>x</div>",
    ],
)
def test_what_is_centered_stands_in_the_middle(html: str) -> None:
    (box,) = (box for text, box in texts(html).items() if text == "x")
    assert box.x + box.width / 2 == pytest.approx(640, abs=1)


def test_texts_flow_beside_floats_and_below_them() -> None:
    html = f"<img align=left width=300 height=50><i>beside</i> {'long ' * 1000}<br clear=all><b>below</b>"
    found = texts(html)
    assert found["beside"].x == 308
    assert found["below"].x == 8
    left, right = (texts(f"<div style='float: {side}; width: 100px'>x</div>y") for side in ("left", "right"))
    assert left["x"].y == left["y"].y
    assert left["x"].x == 8
    assert left["y"].x == 108
    assert right["x"].x == 1172
    assert right["y"].x == 8


def test_what_contains_floats_is_as_high_as_they_are() -> None:
    float_ = "<p style='float: left; height: 100px'>x</p>"
    assert of(STANDARD + f"<div>{float_}</div>", "//div").height == 0
    assert of(STANDARD + f"<div style='overflow: hidden'>{float_}</div>", "//div").height > 100


def test_positioned_boxes_leave_the_flow_or_move_from_it() -> None:
    found = texts("<p>a</p><div style='position: absolute; left: 500px; top: 300px'>b</div><p>c</p>")
    assert found["b"][:2] == (500, pytest.approx(300, abs=1))
    assert found["c"].y - found["a"].y == 34
    moved = texts("<p>a</p><p style='position: relative; left: 10px; top: 20px'>b</p>")
    assert moved["b"].x - moved["a"].x == 10
    assert moved["b"].y - moved["a"].y == 54


@pytest.mark.parametrize(
    "html",
    [
        "<p style='display:none'>x</p>",
        "<p hidden>x</p>",
        "<div style='DISPLAY: None !important'><p>x</p></div>",
        "<style>div p {display: none}</style><div><p>x</p></div>",
        "<style>#a > .b {display: none}</style><div id=a><p class=b>x</p></div>",
        "<style>@media screen and (min-width: 600px) { p {display: none} }</style><p>x",
        "<noframes>x</noframes><select><option><p>x</p></select>",
        "<p style='visibility: hidden'>x</p>",
    ],
)
def test_what_is_hidden_is_not_visible(html: str) -> None:
    boxes = lay_out(html)
    assert not [
        node for node, row in zip(boxes.page.nodes, boxes.node_elements, strict=True) if boxes.visible[row]
    ]


@pytest.mark.parametrize(
    "css",
    [
        "@media print { p {display: none} }",
        "@media (max-width: 600px) { p {display: none} } p {color: red}",
        "/* p {display: none} */",
        "p:hover {display: none}",
        "div > p {display: none}",
        "p {display: none} body p {display: block}",
        "p {display: none} .x {display: block}",
        "@font-face { display: none }",
    ],
)
def test_rules_that_do_not_hold_hide_nothing(css: str) -> None:
    boxes = lay_out(f"<style>{css}</style><div><span><p class=x>x</p></span></div>")
    assert boxes.visible[boxes.numbers[boxes.page.tree.find(".//p")]]


def test_fonts_come_from_tags_attributes_and_styles() -> None:
    html = """<style>.big {font: bold 20px/30px Arial} .big i {font-size: 150%}</style><p id=a><font size=5>x</font>
    <p class=big>y <i>z</i><p style='font-size: 2em'>w <small>v</small>"""
    boxes = lay_out(html)
    row = {node.text: row for node, row in zip(boxes.page.nodes, boxes.node_elements, strict=True)}
    assert [boxes.font_size[row[text]] for text in "xyzw"] == [24, 20, 30, 32]
    assert [boxes.font_weight[row[text]] for text in "xyzw"] == [400, 700, 700, 400]
    assert boxes.font_size[row["v"]] == pytest.approx(32 / 1.2)


def test_lists_are_indented_and_items_without_text_have_their_line() -> None:
    found = texts("<ul><li>a<ul><li>b</ul><li><li>c</ul>")
    assert found["b"].x - found["a"].x == 40
    assert found["c"].y - found["b"].y == 36


def test_a_hard_blank_takes_its_place() -> None:
    assert of("<div>&nbsp;</div>", "//div").height == 18
    assert of("<div> </div>", "//div").height == 0


def test_flex_boxes_stand_in_a_row() -> None:
    found = texts("<div style='display: flex'><div>a</div><div>b</div></div>")
    assert found["a"].y == found["b"].y
    assert found["a"].x < found["b"].x


def test_images_have_the_size_they_are_told_or_keep_their_shape() -> None:
    html = "<img width=100 height=50><img width=160><img height=72><img>"
    sizes = [of(html, f"//img[{number}]")[2:] for number in (1, 2, 3, 4)]
    assert sizes == [(100, 50), (160, 72), (160, 72), IMAGE]


def test_a_page_that_cannot_be_read_costs_a_reason() -> None:
    good, bad = EstimatedLayout().boxes([Page(html="<p>one</p>"), Page(html="")])
    assert good.reason is None
    assert bad.reason == "page is empty"
    assert bad.nodes.shape == (0, 4)


def test_pages_do_not_depend_on_each_other() -> None:
    html = [
        "<style>p {width: 50px}</style><p class=a>x y z",
        "<p class=a>x y z",
        "<!DOCTYPE html><p class=a>x y z",
    ]
    together = EstimatedLayout().boxes([Page(html=one) for one in html * 2])
    for boxes, one in zip(together, html * 2, strict=True):
        assert np.array_equal(boxes.elements, lay_out(one).elements)


# Properties

WORDS = st.lists(st.sampled_from(["lorem", "ipsum", "a", "dolor sit"]), min_size=1, max_size=8).map(" ".join)


def block(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    contents = st.lists(inside, max_size=4).map("".join)
    cells = st.lists(st.lists(contents, min_size=1, max_size=3), max_size=3)
    tags = st.sampled_from(["div", "p", "h2", "blockquote", "section", "center"])
    return st.one_of(
        st.builds(lambda tag, html: f"<{tag}>{html}</{tag}>", tags, contents),
        st.builds(
            lambda items: f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>",
            st.lists(contents, max_size=3),
        ),
        cells.map(
            lambda rows: (
                "<table>"
                + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
                + "</table>"
            )
        ),
    )


BLOCKS = st.recursive(WORDS.map(lambda words: f"<div>{words} <b>{words}</b></div>"), block, max_leaves=12)


@settings(deadline=None)
@given(st.lists(BLOCKS, max_size=5).map("".join), st.sampled_from(["", STANDARD]))
def test_boxes_stand_inside_those_around_them(html: str, doctype: str) -> None:
    boxes = lay_out(f"{doctype}<html><body>{html}</body></html>")
    for element, row in boxes.numbers.items():
        parent = element.getparent()
        if parent is None or not boxes.visible[row] or not boxes.elements[row, 3]:
            continue
        inner, outer = boxes.element(element), boxes.element(parent)
        assert inner.x >= outer.x - 1
        assert inner.y >= outer.y - 1
        assert inner.x + inner.width <= outer.x + outer.width + 1
        assert inner.y + inner.height <= outer.y + outer.height + 1


@settings(deadline=None)
@given(st.lists(BLOCKS, max_size=5).map("".join))
def test_blocks_of_a_flow_do_not_overlap(html: str) -> None:
    boxes = lay_out(f"<html><body>{html}</body></html>")
    for element in boxes.numbers:
        if element.tag in ("body", "div", "td", "ul"):
            shown = [boxes.element(child) for child in element if child.tag != "b"]
            for above, below in pairwise(shown):
                assert above.y + above.height <= below.y + 0.01


TAGS = st.sampled_from(
    ["div", "p", "b", "table", "tr", "td", "form", "ul", "li", "img", "select", "h1", "br", "center"]
)
VALUES = st.sampled_from(["-5", "0", "7", "99999999999", "50%", "1e9", "nan", "", "left", "center", "*", "é"])
ATTRIBUTES = st.sampled_from(
    ["width", "height", "colspan", "rowspan", "align", "size", "cellspacing", "style"]
)
DECLARATIONS = st.builds(
    lambda name, value: f"{name}:{value}",
    st.sampled_from(
        [
            "display",
            "float",
            "width",
            "height",
            "margin",
            "padding",
            "position",
            "left",
            "font",
            "line-height",
        ]
    ),
    st.sampled_from(
        [
            "none",
            "inline-block",
            "table-cell",
            "left",
            "-9px",
            "3em 5%",
            "absolute",
            "auto",
            "0",
            "1e5px",
            "flex",
        ]
    ),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.builds(
                lambda tag, name, value: f'<{tag} {name}="{value}">', TAGS, ATTRIBUTES, VALUES | DECLARATIONS
            ),
            TAGS.map(lambda tag: f"</{tag}>"),
            st.text(max_size=10),
        ),
        max_size=40,
    ).map("".join)
)
def test_whatever_a_page_says_boxes_are_finite(html: str) -> None:
    boxes = lay_out(f"<html><body>{html}<p>end</p></body></html>")
    for rows in (boxes.elements, boxes.nodes):
        assert np.isfinite(rows).all()
        assert (rows[:, 2:] >= 0).all()


# Hostile pages

HOSTILE: dict[str, Callable[[int], str]] = {
    "flat": lambda n: "<p>x</p>" * n,
    "rows": lambda n: f"<table>{'<tr><td>a<td>b' * n}</table>",
    "columns": lambda n: f"<table><tr>{'<td>x' * n}</table>",
    "spans": lambda n: f"<table>{'<tr><td colspan=99999 rowspan=99999>x' * n}</table>",
    "tall cells": lambda n: f"<table><tr>{'<td rowspan=99999>x' * 500}{'<tr><td>x' * n}</table>",
    "floats": lambda n: "<div style='float:left'>x</div>" * n,
    "inline": lambda n: "<i>x</i> " * n,
    "styles": lambda n: "".join(f"<p style='width:{number}px'>x" for number in range(n)),
    "rules": lambda n: f"<style>{'div div p {width: 1px}' * n}</style>{'<div><p>x</p></div>' * 100}",
    "braces": lambda n: f"<style>{'{' * n}</style>{'<p>x' * 100}",
    "parted tables": lambda n: f"<table>{'<form>' * 500}<tr>{'<b>' * 500}{'<td>x</td>' * n}</table>",
    "margins": lambda n: "".join(
        f"<div style='margin-top:{number % 90}px'>" * 20 + "x" + "</div>" * 20 for number in range(n // 20)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_page_and_not_faster(name: str) -> None:
    few, many = (_calls(HOSTILE[name](count)) for count in (500, 2000))
    assert many < 5 * few


def _calls(html: str) -> int:
    """How many calls laying a page out makes: time, but the same on every machine."""
    page = Page(html=html)
    assert page.nodes
    count = 0

    def called(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        boxes = EstimatedLayout().boxes([page])[0]
    finally:
        sys.setprofile(before)
    assert boxes.reason is None
    return count


def test_a_deep_page_is_laid_out() -> None:
    boxes = lay_out("<div>" * 1900 + "x" + "</div>" * 1900)
    assert boxes.visible.sum() > 1900
    assert isinstance(boxes.page.tree, etree._Element)
