"""Styles computed from declarations."""

from __future__ import annotations

import pytest
import tinycss2

from untemplate.layout.style import (
    BESIDE,
    BLOCK,
    INLINE,
    NONE,
    ROOT_STYLE,
    Style,
    compute_style,
    parse_length,
    read_declarations,
)


def compute(css: str, parent: Style = ROOT_STYLE) -> Style:
    normal, important = read_declarations(tinycss2.parse_blocks_contents(css, True, True))
    return compute_style(parent, normal + important)


@pytest.mark.parametrize(
    ("css", "display"),
    [
        ("", INLINE),
        ("display: NONE", NONE),
        ("display: none; display: block", BLOCK),
        ("display: none !important; display: block", NONE),
        ("display: list-item", BLOCK),
        ("display: table-cell", BESIDE),
        ("display: block; float: left", BESIDE),
        ("float: none", INLINE),
        ("float: right; display: none", NONE),
    ],
)
def test_display(css: str, display: int) -> None:
    assert compute(css).display == display


def test_children_of_a_flex_box_are_beside_each_other_unless_it_is_a_column() -> None:
    assert compute("display: block", compute("display: flex")).display == BESIDE
    assert compute("display: block", compute("display: flex; flex-direction: column")).display == BLOCK


@pytest.mark.parametrize(
    ("css", "size", "weight"),
    [
        ("", 20, 400),
        ("font-size: 1.5em", 30, 400),
        ("font-size: 150%; font-weight: bold", 30, 700),
        ("font: bold 12pt/30px Arial, serif", 16, 700),
        ("font: italic 600 x-large serif", 24, 700),
        ("font-weight: bold; font: 10px serif", 10, 400),
        ("font-size: larger", 24, 400),
        ("font-size: calc(1px + 2px)", 20, 400),
        ("font-size: 99999px", 200, 400),
        ("font-size: -5px", 0, 400),
    ],
)
def test_fonts(css: str, size: float, weight: int) -> None:
    style = compute(css, Style(font_size=20))
    assert (style.font_size, style.font_weight) == (pytest.approx(size), weight)


def test_fonts_and_visibility_are_inherited_and_margins_are_not() -> None:
    parent = compute("font: bold 20px serif; visibility: hidden; margin: 5px; display: none")
    style = compute("", parent)
    assert (style.font_size, style.font_weight, style.is_visible) == (20, 700, False)
    assert (style.margin_top, style.indent, style.display) == (0, 0, INLINE)
    assert compute("visibility: visible", parent).is_visible


def test_margins_and_paddings_of_four_sides() -> None:
    style = compute("margin: 1px 2px 3px 4px; padding: 10px 20px")
    assert (style.margin_top, style.margin_bottom, style.indent) == (1, 3, 24)
    style = compute("margin: 1em auto 3em; padding-left: 5px")
    assert (style.margin_top, style.margin_bottom, style.indent) == (16, 48, 5)


@pytest.mark.parametrize(
    ("value", "pixels"),
    [
        *(
            ("5", 5),
            ("5px", 5),
            ("12pt", 16),
            ("2em", 20),
            ("2ex", 10),
            ("1rem", 16),
            ("50%", 100),
            ("10vw", 128),
        ),
        *(
            ("1in", 96),
            ("-3px", -3),
            ("999999px", 20_000),
            ("5 px", None),
            ("", None),
            ("auto", None),
            ("1e5px", None),
        ),
    ],
)
def test_lengths(value: str, pixels: float | None) -> None:
    assert parse_length(value, 10, percent_of=200) == (None if pixels is None else pytest.approx(pixels))
