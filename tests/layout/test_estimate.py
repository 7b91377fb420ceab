"""The estimate: everything in reading order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from untemplate import Page
from untemplate.layout import Box, Boxes, EstimatedLayout
from untemplate.layout.boxes import IMAGE
from untemplate.sources.assets import FolderAssets


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
    name, one, two = texts("<h1>Name</h1><p>one</p><p>two</p>").values()
    assert name.y < one.y < two.y
    assert name.x == one.x == two.x == 8
    assert name.height > one.height
    assert two.y - one.y == pytest.approx(18.4 + 16, abs=0.01)  # a line and one shared margin


def test_nested_blocks_share_their_margins() -> None:
    found = texts("<p>one</p><div><div><p>two</p></div></div><p>three</p>")
    assert found["three"].y - found["two"].y == pytest.approx(found["two"].y - found["one"].y, abs=0.01)


def test_words_follow_each_other_and_wrap() -> None:
    found = texts("<p><b>" + "</b> <b>".join(f"word{number}" for number in range(100)) + "</b></p>")
    assert found["word1"].x > found["word0"].x + found["word0"].width
    assert found["word99"].y > found["word0"].y
    assert all(box.x + box.width <= 1320 for box in found.values())


def test_a_long_text_takes_as_many_lines_as_it_needs() -> None:
    (box,) = texts(f"<p>{'lorem ipsum ' * 100}</p>").values()
    assert box.width == pytest.approx(1272, abs=1)
    assert 5 * 18 <= box.height <= 8 * 18


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>caption<td>value<tr><td>below</table>",
        "<div style='display: flex'><div>caption</div><div>value</div></div><p>below",
        "<div style='float: left'>caption</div><div style='float: right'>value</div><p>below",
        "<span style='display: inline-block'><p>caption</p></span><div style='float: left'>value</div><p>below",
    ],
)
def test_cells_floats_and_items_are_beside_each_other(html: str) -> None:
    caption, value, below = texts(html).values()
    assert caption.y == pytest.approx(value.y, abs=20)
    assert caption.x + caption.width < value.x
    assert below.y >= value.y + value.height - 0.01


def test_what_has_no_room_beside_something_goes_below_it() -> None:
    found = texts(f"<div style='float: left'>{'long ' * 1000}</div><div style='float: left'>next</div>")
    assert found["next"].y > 10 * 18
    assert found["next"].x == 8


def test_cells_of_a_row_share_its_width() -> None:
    found = texts(f"<table><tr><td>{'long ' * 1000}</td><td>next</td></tr></table>")
    assert found["next"].y == 8
    assert found["next"].x == pytest.approx(1280 / 2, abs=20)


def test_a_row_is_as_high_as_its_highest_cell() -> None:
    html = "<table><tr><td>1<br>2<br>3</td><td>x</td></tr><tr><td>below</td></tr></table>"
    assert of(html, "//tr[1]").height == pytest.approx(3 * 18.4, abs=0.1)
    assert texts(html)["below"].y >= texts(html)["3"].y + 18


@pytest.mark.parametrize(
    "html",
    [
        "<p style='display:none'>x</p>",
        "<p hidden>x</p>",
        "<div style='DISPLAY: None !important'><p>x</p></div>",
        "<style>div p {display: none}</style><div><p>x</p></div>",
        "<style>#a > .b {display: none}</style><div id=a><p class=b>x</p></div>",
        "<style>p:not(.shown) {display: none}</style><p>x",
        "<style>[data-tab='2'] {display: none}</style><p data-tab=2>x",
        "<style>@media screen and (min-width: 600px) { p {display: none} }</style><p>x",
        "<style>@supports (display: flex) { p {display: none} }</style><p>x",
        "<noframes>x</noframes><select><option><p>x</p></select>",
        "<p style='visibility: hidden'>x</p>",
    ],
)
def test_what_is_hidden_is_not_visible(html: str) -> None:
    boxes = lay_out(html)
    assert not boxes.visible[boxes.node_elements].any()


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
def test_rules_that_do_not_apply_hide_nothing(css: str) -> None:
    boxes = lay_out(f"<style>{css}</style><div><span><p class=x>x</p></span></div>")
    assert boxes.visible[boxes.numbers[boxes.page.tree.find(".//p")]]


def test_fonts_come_from_tags_attributes_and_styles() -> None:
    html = """<style>.big {font: bold 20px/30px Arial} .big i {font-size: 150%}</style><p id=a><font size=5>x</font>
    <p class=big>y <i>z</i><p style='font-size: 2em'>w <small>v</small>"""
    boxes = lay_out(html)
    row = {node.text: row for node, row in zip(boxes.page.nodes, boxes.node_elements, strict=True)}
    assert [boxes.font_size[row[text]] for text in "xyzw"] == [24, 20, 30, 32]
    assert [boxes.font_weight[row[text]] for text in "xyzw"] == [400, 700, 700, 400]
    assert boxes.font_size[row["v"]] == pytest.approx(32 / 1.2, abs=0.01)


def test_lists_are_indented() -> None:
    found = texts("<ul><li>a<ul><li>b</ul><li>c</ul>")
    assert found["b"].x - found["a"].x == 40
    assert found["c"].x == found["a"].x


def test_images_have_the_size_they_are_given() -> None:
    html = "<img width=100 height=50><img width=160><img height=72><img>"
    sizes = [of(html, f"//img[{number}]")[2:] for number in (1, 2, 3, 4)]
    assert sizes == [(100, 50), (160, IMAGE[1]), (IMAGE[0], 72), IMAGE]


@pytest.mark.parametrize(
    ("link", "is_visible"),
    [
        ("<link rel=stylesheet href='page_files/a.css'>", False),
        ("<link rel='Stylesheet' href='/page_files/a.css' media=screen>", False),
        ("<link rel=stylesheet href='page_files/a.css' media=print>", True),
        ("<link rel='alternate stylesheet' href='page_files/a.css'>", True),
        ("<link rel=preload href='page_files/a.css'>", True),
        ("<link rel=stylesheet href='../outside.css'>", True),
        ("<link rel=stylesheet href='page_files/missing.css'>", True),
        ("<noscript><link rel=stylesheet href='page_files/a.css'></noscript>", True),
        ("<noscript><style>p {display: none}</style></noscript>", True),
        ("<link rel=stylesheet href='page_files/a.css'><style>p.x {display: block}</style>", True),
    ],
)
def test_style_sheets_that_were_saved_beside_the_page_count(
    tmp_path: Path, link: str, is_visible: bool
) -> None:
    (tmp_path / "pages" / "page_files").mkdir(parents=True)
    for name in ("pages/page_files/a.css", "outside.css"):
        (tmp_path / name).write_text("p {display: none}")
    html = f"<head>{link}</head><p class=x>text</p>"
    layout = EstimatedLayout(FolderAssets(tmp_path / "pages"))
    (boxes,) = layout.boxes([Page("http://a.example/page.html", html, "page.html")])
    assert boxes.visible[boxes.numbers[boxes.page.tree.find(".//p")]] == is_visible


def test_a_page_that_cannot_be_read_costs_a_reason() -> None:
    good, bad = EstimatedLayout().boxes([Page(html="<p>one</p>"), Page(html="")])
    assert good.reason is None
    assert bad.reason == "page is empty"
    assert bad.nodes.shape == (0, 4)


def test_pages_do_not_depend_on_each_other() -> None:
    html = ["<style>p {font-size: 50px}</style><p class=a>x y z", "<p class=a>x y z", "<p class=a>x<p>y"]
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
@given(st.lists(BLOCKS, max_size=5).map("".join))
def test_boxes_are_inside_those_around_them(html: str) -> None:
    boxes = lay_out(f"<html><body>{html}</body></html>")
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
    "attributes": lambda n: (
        "<style>[class] p {display: block}</style>" + "".join(f"<p class={number}>x" for number in range(n))
    ),
    "steps": lambda n: (
        f"<style>{'b p {width: 1px; font-size: 1px}' * 200}</style>"
        + "".join(f"<div style='width: {number}px'><p>x</p></div>" for number in range(n))
    ),
    "selectors": lambda n: (
        f"<style>{'div ' * 15 + 'p {font-size: 1px}'}</style>{'<div>' * 90}{'<p>x</p>' * n}"
    ),
    "floats": lambda n: "<div style='float:left'>x</div>" * n,
    "inline": lambda n: "<i>x</i> " * n,
    "styles": lambda n: "".join(f"<p style='width:{number}px'>x" for number in range(n)),
    "rules": lambda n: f"<style>{'div div p {font-size: 1px}' * n}</style>{'<div><p>x</p></div>' * 100}",
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
