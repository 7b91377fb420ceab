"""CSS declarations: those that change where something stands, and what they do to a style."""

from __future__ import annotations

import re

from untemplate.layout import style as s
from untemplate.layout.boxes import VIEWPORT
from untemplate.layout.style import Style

__all__ = ["Declarations", "declarations", "declare", "declare_font", "family", "set_height", "set_width"]

Declarations = tuple[tuple[str, str], ...]

_FONT = frozenset({"font", "font-family", "font-size", "font-weight", "line-height"})
_EDGES = {
    f"{kind}-{side}": (kind, side)
    for kind in ("margin", "padding")
    for side in ("top", "right", "bottom", "left")
}
_OTHERS = frozenset(
    {
        "clear",
        "display",
        "flex-direction",
        "float",
        "height",
        "left",
        "margin",
        "min-height",
        "overflow",
        "padding",
        "position",
    }
    | {"text-align", "top", "vertical-align", "visibility", "white-space", "width"}
)
_TELLING = _FONT | _OTHERS | _EDGES.keys()
_DISPLAY = {
    "none": s.NONE,
    "block": s.BLOCK,
    "list-item": s.BLOCK,
    "flex": s.BLOCK,
    "grid": s.BLOCK,
    "inline": s.INLINE,
    "inline-block": s.INLINE_BLOCK,
    "inline-flex": s.INLINE_BLOCK,
    "inline-table": s.INLINE_BLOCK,
    "table": s.TABLE,
    "table-row-group": s.GROUP,
    "table-row": s.ROW,
    "table-cell": s.CELL,
}
_ALIGNS = {"center": s.CENTER, "right": s.RIGHT, "end": s.RIGHT}
_VALIGNS = {"top": 0.0, "baseline": 0.0, "middle": 0.5, "bottom": 1.0}
_SIZE_NAMES = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
}
_BOLD = frozenset({"bold", "bolder", "600", "700", "800", "900"})
_UNITS = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "rem": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 96 / 25.4,
}
_LENGTH = re.compile(r"([+-]?(?:\d{1,6}\.?\d{0,6}|\.\d{1,6}))(px|pt|pc|em|rem|ex|in|cm|mm|vw|%|)")
_DECLARATION = re.compile(r"([a-z][a-z-]{2,20})\s{0,9}:\s{0,9}([^;]{1,200})")

# How much wider than those of Times New Roman the letters of other families are, as measured on SWDE's sites:
# `python -m benchmarks.measure.layout --choose`.
_FAMILIES = {
    **dict.fromkeys(("courier", "monospace"), 1.32),
    "verdana": 1.2,
    **dict.fromkeys(("arial", "helvetica", "roboto", "sans", "segoe", "tahoma", "trebuchet"), 1.1),
}
# Lengths are kept within reason.
_FAR = 20_000.0


def declarations(css: str) -> Declarations:
    """The telling declarations in a style attribute or in the body of a rule, in their order."""
    found = (match.groups() for match in _DECLARATION.finditer(css.lower()))
    return tuple((name, value.partition("!")[0].strip()) for name, value in found if name in _TELLING)


def declare_font(style: Style, parent: Style, declared: Declarations) -> None:
    """What is said of the font: first, since lengths are told in font sizes."""
    for name, value in declared:
        if name == "font":
            for part in value.split():
                _font_part(style, parent, part)
            style.factor = family(value)
        elif name == "font-size":
            style.size = _font_size(value, parent.size, style.size)
        elif name == "font-weight":
            style.weight = 700 if value in _BOLD else 400
        elif name == "font-family":
            style.factor = family(value)
        elif name == "line-height":
            _line_height(style, value)


def declare(style: Style, declared: Declarations) -> None:
    """What is said of anything else."""
    for name, value in declared:
        if name == "display":
            if style.display != s.REPLACED or not value.startswith("inline"):
                style.display = _DISPLAY.get(value, style.display)
            style.flex = value in ("flex", "inline-flex")
        elif name == "flex-direction":
            style.column = value.startswith("column")
        elif name == "float":
            style.side = value if value in ("left", "right") else ""
        elif name == "clear":
            style.clear = value in ("left", "right", "both")
        elif name == "position":
            style.absolute = value in ("absolute", "fixed")
            style.relative = value == "relative"
        elif name == "visibility":
            style.visible = value == "visible"
        elif name == "text-align":
            style.align, style.block_align = _ALIGNS.get(value, s.LEFT), s.LEFT
        elif name == "vertical-align":
            style.valign = _VALIGNS.get(value, style.valign)
        elif name == "white-space":
            style.nowrap = value in ("nowrap", "pre")
        elif name == "width":
            set_width(style, value)
        elif name == "height":
            set_height(style, value)
        elif name == "min-height":
            style.min_height = max(0.0, _pixels(value, style.size, 0.0, 0.0))
        elif name == "overflow":
            style.contains = value in ("hidden", "auto", "scroll")
        elif name == "left":
            style.x = _pixels(value, style.size, VIEWPORT, 0.0) if value != "auto" else None
        elif name == "top":
            style.y = _pixels(value, style.size, 0.0, 0.0) if value != "auto" else None
        elif name in ("margin", "padding"):
            _four_edges(style, name, value.split())
        elif name in _EDGES:
            _edge(style, *_EDGES[name], value)


def set_width(style: Style, value: str) -> None:
    """A width in pixels, or as a share of what the element stands in."""
    match = _LENGTH.match(value.strip())
    if match and match[2] == "%":
        style.width, style.share = -1.0, max(0.0, min(2.0, float(match[1]) / 100))
    elif match:
        style.width, style.share = max(0.0, _pixels(value.strip(), style.size, 0.0, 0.0)), 0.0


def set_height(style: Style, value: str) -> None:
    """A height in pixels; shares are of nothing that is known."""
    match = _LENGTH.match(value.strip())
    if match and match[2] != "%":
        style.height = max(0.0, _pixels(value.strip(), style.size, 0.0, 0.0))


def family(names: str) -> float:
    """The width of a font family's letters; the first that is known counts."""
    names = names.lower()
    found = [(names.find(name), factor) for name, factor in _FAMILIES.items() if name in names]
    return min(found)[1] if found else 1.0


def _font_part(style: Style, parent: Style, part: str) -> None:
    size, _, line = part.partition("/")
    if part in _BOLD:
        style.weight = 700
    elif size in _SIZE_NAMES or _LENGTH.fullmatch(size):
        style.size = _font_size(size, parent.size, style.size)
        if line:
            _line_height(style, line)


def _font_size(value: str, parent: float, otherwise: float) -> float:
    if value in _SIZE_NAMES:
        return _SIZE_NAMES[value]
    if value in ("smaller", "larger"):
        return parent * (1.2 if value == "larger" else 1 / 1.2)
    return max(0.0, min(200.0, _pixels(value, parent, parent, otherwise)))


def _line_height(style: Style, value: str) -> None:
    if match := _LENGTH.match(value):
        if match[2] in ("", "em", "%"):
            style.line_height = max(0.0, min(20.0, float(match[1]) / (100 if match[2] == "%" else 1)))
        else:
            style.line_height = -max(0.0, min(1000.0, _pixels(value, style.size, 0.0, 0.0)))
    elif value == "normal":
        style.line_height = 0.0


def _four_edges(style: Style, kind: str, parts: list[str]) -> None:
    """One value for all sides, or two, three or four, clockwise from the top."""
    if 1 <= len(parts) <= 4:
        top, right, bottom, left = (parts * 4)[:4] if len(parts) != 3 else (*parts, parts[1])
        for side, value in zip(("top", "right", "bottom", "left"), (top, right, bottom, left), strict=True):
            _edge(style, kind, side, value)


def _edge(style: Style, kind: str, side: str, value: str) -> None:
    if kind == "padding":
        name = f"pad_{side}"
        setattr(style, name, max(0.0, _pixels(value, style.size, VIEWPORT, getattr(style, name))))
    elif value == "auto":
        style.margin_auto = style.margin_auto or side in ("left", "right")
    else:
        setattr(style, side, _pixels(value, style.size, VIEWPORT, getattr(style, side)))


def _pixels(value: str, size: float, whole: float, otherwise: float) -> float:
    """A length in pixels; `otherwise` if it is none."""
    match = _LENGTH.match(value)
    if match is None:
        return otherwise
    number, unit = float(match[1]), match[2]
    if unit == "%":
        number *= whole / 100
    elif unit == "vw":
        number *= VIEWPORT / 100
    elif unit in ("em", "ex"):
        number *= size if unit == "em" else size / 2
    else:
        number *= _UNITS[unit]
    return max(-_FAR, min(_FAR, number))
