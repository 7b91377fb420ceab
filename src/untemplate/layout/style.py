"""Style: what the estimate needs to know about an element.

`read_declarations` selects the CSS declarations that matter. `compute_style` turns those that apply to an element
into its Style: hidden or shown, block or inline, font, margins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tinycss2 import ast

from untemplate.layout.boxes import VIEWPORT

__all__ = [
    "PROPERTIES",
    "ROOT_STYLE",
    "Declared",
    "Style",
    "compute_style",
    "parse_length",
    "read_declarations",
]

# How an element takes part in the page. Plain numbers, since the estimate compares them for every element.
NONE: Final = 0
INLINE: Final = 1
BLOCK: Final = 2
#: beside its neighbors: inline blocks, floats, table cells, items of a flex box
BESIDE: Final = 3
BREAK: Final = 4
#: a block that is as wide as its content: tables and their rows
TABLE: Final = 5

#: pairs of property and value, in lower case, with shorthands expanded
Declared = tuple[tuple[str, str], ...]

#: the properties that Style depends on
PROPERTIES: Final = frozenset(
    {
        *("display", "visibility", "float", "flex-direction", "font", "font-size", "font-weight"),
        *("margin", "margin-top", "margin-bottom", "margin-left", "padding", "padding-left"),
    }
)
_TABLES = ("table", "table-row", "table-row-group", "table-header-group", "table-footer-group")
# Other values mean a block, such as list items and flex boxes.
_DISPLAYS = {
    **dict.fromkeys(_TABLES, TABLE),
    **dict.fromkeys(("inline-block", "inline-flex", "inline-grid", "inline-table", "table-cell"), BESIDE),
    "none": NONE,
    "inline": INLINE,
    "contents": INLINE,
    "-line-break": BREAK,
}
_SIZE_NAMES = ("xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large")
_FONT_SIZES = dict(zip(_SIZE_NAMES, (9.0, 10.0, 13.0, 16.0, 18.0, 24.0, 32.0), strict=True))
_BOLD = frozenset({"bold", "bolder", "600", "700", "800", "900"})
# Which value of a margin or padding is for top, bottom and left, by how many values there are.
_SIDES = {1: (0, 0, 0), 2: (0, 0, 1), 3: (0, 2, 1), 4: (0, 2, 3)}
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|pt|pc|em|rem|ex|in|cm|mm|vw|%|)")
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "rem": 16.0, "in": 96.0, "vw": VIEWPORT / 100}
_PIXELS |= {"cm": 96 / 2.54, "mm": 96 / 25.4}
# Pixels. Pages may declare any number; lengths and font sizes stay below these.
MAX_LENGTH = 20_000.0
MAX_FONT_SIZE = 200.0
# Tokens of a value that are read. `font` is the longest, and its families do not matter.
MAX_TOKENS = 20


@dataclass(frozen=True, slots=True)
class Style:
    """The computed style of an element; lengths are CSS pixels."""

    display: int = INLINE
    is_visible: bool = True
    font_size: float = 16.0
    #: 400 is normal, 700 is bold
    font_weight: int = 400
    margin_top: float = 0.0
    margin_bottom: float = 0.0
    #: left margin and left padding together
    indent: float = 0.0
    #: the element is a flex box that puts its children beside each other
    is_flex_row: bool = False


ROOT_STYLE = Style(display=BLOCK)


def compute_style(parent: Style, declared: Iterable[tuple[str, str]]) -> Style:
    """Return the style of an element.

    Args:
        parent: the style of its parent, from which font and visibility are inherited.
        declared: the declarations that apply, the weakest first: the last one of a property wins.
    """
    values = dict(declared)
    font_size = _font_size(values.get("font-size", ""), parent.font_size)
    indent = _margin(values, "margin-left", font_size) + _margin(values, "padding-left", font_size)
    visibility = values.get("visibility", "inherit")
    is_flex = values.get("display", "").endswith("flex")
    return Style(
        display=_display(values, parent),
        is_visible=parent.is_visible if visibility == "inherit" else visibility == "visible",
        font_size=font_size,
        font_weight=_font_weight(values.get("font-weight", "inherit"), parent.font_weight),
        margin_top=_margin(values, "margin-top", font_size),
        margin_bottom=_margin(values, "margin-bottom", font_size),
        indent=max(0.0, indent),
        is_flex_row=is_flex and not values.get("flex-direction", "").startswith("column"),
    )


def parse_length(value: str, font_size: float = 16.0, percent_of: float = 0.0) -> float | None:
    """Return a CSS length in pixels, or None if the value is no length.

    Args:
        value: such as `12px`, `1.5em`, `50%`; a bare number means pixels, as in HTML attributes.
        font_size: what `em` refers to.
        percent_of: what percentages refer to.
    """
    match = _LENGTH.fullmatch(value.strip())
    if match is None:
        return None
    relative = {"em": font_size, "ex": font_size / 2, "%": percent_of / 100}
    number = float(match[1]) * (relative.get(match[2]) or _PIXELS.get(match[2], 0.0))
    return max(-MAX_LENGTH, min(MAX_LENGTH, number))


def _display(values: Mapping[str, str], parent: Style) -> int:
    """Return how an element is displayed; floats and the items of a flex box are beside their neighbors."""
    display = _DISPLAYS.get(values.get("display", "inline"), BLOCK)
    is_beside = parent.is_flex_row or values.get("float") in ("left", "right")
    return BESIDE if is_beside and display in (INLINE, BLOCK, TABLE) else display


def _font_size(value: str, parent: float) -> float:
    """Return a font size in pixels; that of the parent if the value is not understood."""
    if value in _FONT_SIZES:
        return _FONT_SIZES[value]
    if value in ("smaller", "larger"):
        value = "1.2em" if value == "larger" else "83.333%"
    size = parse_length(value, parent, parent)
    return parent if size is None else max(0.0, min(MAX_FONT_SIZE, size))


def _font_weight(value: str, parent: int) -> int:
    """Return 400 or 700: we distinguish normal and bold only."""
    if value == "inherit":
        return parent
    return 700 if value in _BOLD else 400


def _margin(values: Mapping[str, str], name: str, font_size: float) -> float:
    """Return a margin or padding; 0 if it is not declared, or `auto`."""
    return parse_length(values.get(name, ""), font_size, VIEWPORT) or 0.0


def read_declarations(nodes: Iterable[ast.Node]) -> tuple[Declared, Declared]:
    """Return the normal and the important declarations of PROPERTIES, in the order of the style sheet.

    Args:
        nodes: what `tinycss2.parse_blocks_contents` returns for a rule or a style attribute.
    """
    normal: list[tuple[str, str]] = []
    important: list[tuple[str, str]] = []
    for node in nodes:
        if node.type == "declaration" and node.lower_name in PROPERTIES:
            declarations = important if node.important else normal
            words = list(filter(None, map(_token_text, node.value[:MAX_TOKENS])))
            declarations += _expand(node.lower_name, words)
    return tuple(normal), tuple(important)


def _token_text(token: ast.Node) -> str:
    """Return a token in lower case; an empty string for functions, strings, colors and blanks."""
    match token.type:
        case "ident":
            return str(token.lower_value)
        case "dimension":
            return f"{token.value:f}{token.lower_unit}"
        case "percentage":
            return f"{token.value:f}%"
        case "number":
            return f"{token.value:g}"
        case _:
            return ""


def _expand(name: str, words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a declaration with its shorthand expanded."""
    if name == "font":
        yield from _expand_font(words)
    elif name in ("margin", "padding") and words:
        top, bottom, left = _SIDES[min(4, len(words))]
        yield f"{name}-top", words[top]
        yield f"{name}-bottom", words[bottom]
        yield f"{name}-left", words[left]
    elif words:
        yield name, words[0]


def _expand_font(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield weight and size of `bold 20px/30px Arial`. The size ends the search."""
    yield "font-weight", "normal"
    for word in words:
        if word in _BOLD:
            yield "font-weight", word
        elif word in _FONT_SIZES or (not word.isdecimal() and _LENGTH.fullmatch(word)):
            yield "font-size", word
            return
