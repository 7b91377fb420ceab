"""How an element is displayed: what browsers make of its tag, its attributes and the declarations for it."""

from __future__ import annotations

import re
from enum import IntEnum

from untemplate.layout.boxes import IMAGE, VIEWPORT
from untemplate.page import HIDDEN_TAGS

__all__ = ["PROPERTIES", "TELLING", "Align", "Display", "Style", "declarations", "root_style"]

Declarations = tuple[tuple[str, str], ...]


class Display(IntEnum):
    """How a box takes part in the flow."""

    TEXT = 0
    INLINE = 1
    BLOCK = 2
    INLINE_BLOCK = 3
    REPLACED = 4
    BREAK = 5
    TABLE = 6
    GROUP = 7
    ROW = 8
    CELL = 9
    NONE = 10


class Align(IntEnum):
    LEFT = 0
    CENTER = 1
    RIGHT = 2


# Attributes that change where something stands.
TELLING = frozenset(
    {"align", "border", "cellpadding", "cellspacing", "clear", "cols", "colspan", "face", "height", "hidden"}
    | {"hspace", "nowrap", "rows", "rowspan", "size", "style", "type", "valign", "value", "vspace", "width"}
)
# Properties that do.
PROPERTIES = frozenset(
    {"border", "border-width", "clear", "display", "float", "font", "font-family", "font-size", "font-weight"}
    | {
        "height",
        "left",
        "line-height",
        "margin",
        "margin-bottom",
        "margin-left",
        "margin-right",
        "margin-top",
    }
    | {"min-height", "padding", "padding-bottom", "padding-left", "padding-right", "padding-top"}
    | {"position", "right", "text-align", "top", "vertical-align", "visibility", "white-space", "width"}
)

_BLOCKS = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre search "
    "section summary ul xmp"
)
_HIDDEN = "area base basefont col colgroup datalist frame frameset head link meta param rp source title track"
_REPLACED = "audio canvas embed iframe img input meter progress select svg textarea video"
_DISPLAY = {
    **dict.fromkeys((*_HIDDEN.split(), *HIDDEN_TAGS), Display.NONE),
    **dict.fromkeys(_BLOCKS.split(), Display.BLOCK),
    **dict.fromkeys(_REPLACED.split(), Display.REPLACED),
    **dict.fromkeys(("tbody", "thead", "tfoot"), Display.GROUP),
    **dict.fromkeys(("td", "th"), Display.CELL),
    "table": Display.TABLE,
    "tr": Display.ROW,
    "br": Display.BREAK,
    "button": Display.INLINE_BLOCK,
}
_CSS_DISPLAY = {
    "none": Display.NONE,
    "block": Display.BLOCK,
    "list-item": Display.BLOCK,
    "flex": Display.BLOCK,
    "grid": Display.BLOCK,
    "inline": Display.INLINE,
    "inline-block": Display.INLINE_BLOCK,
    "inline-flex": Display.INLINE_BLOCK,
    "inline-table": Display.INLINE_BLOCK,
    "table": Display.TABLE,
    "table-row-group": Display.GROUP,
    "table-row": Display.ROW,
    "table-cell": Display.CELL,
}
# Font size in that of the parent, and the margin above and below in the element's own.
_HEADINGS = {
    "h1": (2.0, 0.67),
    "h2": (1.5, 0.83),
    "h3": (1.17, 1.0),
    "h4": (1.0, 1.33),
    "h5": (0.83, 1.67),
    "h6": (0.67, 2.33),
}
_MARGINS = dict.fromkeys(
    ("p", "ul", "ol", "dl", "dir", "menu", "blockquote", "figure", "pre", "xmp", "listing"), 1.0
)
_BOLD = frozenset({"b", "strong", "th", *_HEADINGS})
_MONOSPACE = frozenset({"code", "kbd", "listing", "plaintext", "pre", "samp", "textarea", "tt", "xmp"})
_LISTS = frozenset({"dir", "menu", "ol", "ul"})
_ALIGNS = {"left": Align.LEFT, "center": Align.CENTER, "middle": Align.CENTER, "right": Align.RIGHT}
# What <font size> and the names of CSS mean in pixels.
_FONT_SIZES = (10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)
_SIZE_NAMES = {
    **dict(zip(("x-small", "small", "medium", "large", "x-large", "xx-large"), _FONT_SIZES, strict=False)),
    "xx-small": 9.0,
}
_UNITS = {
    "px": 1.0,
    "rem": 16.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 96 / 25.4,
    "": 1.0,
}
_LENGTH = re.compile(r"([+-]?(?:\d{1,7}\.?\d{0,6}|\.\d{1,6}))\s*(px|pt|pc|em|rem|ex|in|cm|mm|%|vw|)")
_NUMBER = re.compile(r"\s*([+-]?\d{1,6})")
_DECLARATION = re.compile(r"([\w-]+)\s*:\s*([^;{}]{0,200})")

_SIDES = ("top", "right", "bottom", "left")
_VALIGNS = {"top": 0.0, "text-top": 0.0, "baseline": 0.0, "middle": 0.5, "bottom": 1.0, "text-bottom": 1.0}
# Elements whose width and height attributes count.
_SIZED = frozenset(
    {"table", "td", "th", "tr", "img", "iframe", "embed", "hr", "input", "video", "canvas", "object", "svg"}
)
_CONTROLS = {
    "button": (-1.0, -1.0),
    "input": (153.0, 21.0),
    "select": (100.0, 19.0),
    "textarea": (182.0, 36.0),
}
_REPLACED_SIZES = {
    **dict.fromkeys(("audio", "canvas", "embed", "iframe", "svg", "video"), (300.0, 150.0)),
    "img": IMAGE,
    **dict.fromkeys(("meter", "progress"), (80.0, 16.0)),
}

# The width of a family's letters in that of Times New Roman's.
SANS = 1.15
MONOSPACE = 1.32
_FAMILIES = {
    **dict.fromkeys(("courier", "monospace", "verdana"), MONOSPACE),
    **dict.fromkeys(("arial", "helvetica", "roboto", "sans", "segoe", "tahoma", "trebuchet"), SANS),
}
# Height of a line in font sizes, where nothing is said.
LINE = 1.15
MAX_SPAN = 100


class Style:
    """What an element's place depends on, in pixels; what it hands down to the elements inside it included."""

    __slots__ = (
        *(
            "absolute",
            "align",
            "below",
            "block_align",
            "bottom",
            "cell_padding",
            "clear",
            "colspan",
            "display",
        ),
        *(
            "factor",
            "height",
            "left",
            "line",
            "line_factor",
            "margin_auto",
            "nowrap",
            "pad_bottom",
            "pad_left",
        ),
        *("pad_right", "pad_top", "right", "rowspan", "share", "side", "size", "spacing", "top", "valign"),
        *("visible", "weight", "width", "x", "y"),
    )

    def __init__(self) -> None:
        # Handed down
        self.size = 16.0
        self.weight = 400
        self.align = Align.LEFT
        self.block_align = Align.LEFT  # of blocks narrower than what they stand in, by legacy `align`
        self.nowrap = False
        self.factor = 1.0
        self.line_factor = 0.0  # 0: normal; negative: pixels
        self.cell_padding = 1.0
        self.visible = True
        # Its own
        self.display = Display.INLINE
        self.absolute = False
        self.side = ""
        self.clear = False
        self.width = -1.0  # of the content; negative: none is given
        self.share = 0.0  # width as a share of what it stands in; 0: none is given
        self.height = -1.0
        self.top = self.bottom = self.left = self.right = 0.0  # margins
        self.margin_auto = False
        self.pad_top = self.pad_bottom = self.pad_left = self.pad_right = 0.0  # padding and border
        self.x = self.y = 0.0  # offsets of what stands outside the flow
        self.colspan = self.rowspan = 1
        self.spacing = 2.0
        self.valign = 0.5  # share of the free height of a row that goes above the cell's content
        self.line = LINE * 16.0
        self.below: dict[object, Style] = {}

    def child(self, tag: str, attributes: Declarations = (), declared: Declarations = ()) -> Style:
        """The style of an element inside this one, by its tag, telling attributes and the declarations for it."""
        key = (tag, attributes, declared) if attributes or declared else tag
        style = self.below.get(key)
        if style is None:
            style = self.below[key] = _child(self, tag, dict(attributes), declared)
        return style


def root_style() -> Style:
    """What the root element hangs in."""
    style = Style()
    style.display = Display.BLOCK
    return style


def declarations(css: str) -> Declarations:
    """The declarations in a style attribute or a rule's body that change where something stands."""
    found = (match.groups() for match in _DECLARATION.finditer(css.lower()))
    return tuple((name, value.strip()) for name, value in found if name in PROPERTIES)


def _child(parent: Style, tag: str, attributes: dict[str, str], declared: Declarations) -> Style:
    style = Style()
    for name in _INHERITED:
        setattr(style, name, getattr(parent, name))
    style.display = _DISPLAY.get(tag, Display.INLINE)
    _by_tag(style, tag)
    if attributes:
        _by_attributes(style, tag, attributes)
        declared += declarations(attributes.get("style", ""))
    for name, value in declared:
        _declare_font(style, parent, name, value)
    _default_margins(style, tag)
    for name, value in declared:
        _declare(style, name, value)
    style.display = _in_place(style, parent, tag)
    if style.line_factor:
        style.line = style.line_factor * style.size if style.line_factor > 0 else -style.line_factor
    else:
        style.line = LINE * style.size
    return style


_INHERITED = (
    *("size", "weight", "align", "block_align", "nowrap", "factor", "line_factor", "cell_padding", "visible"),
)


def _by_tag(style: Style, tag: str) -> None:
    if tag in _HEADINGS:
        style.size *= _HEADINGS[tag][0]
    elif tag in ("small", "sub", "sup"):
        style.size /= 1.2
    elif tag == "big":
        style.size *= 1.2
    if tag in _BOLD:
        style.weight = 700
    if tag in _MONOSPACE:
        style.factor = MONOSPACE
        style.size *= 13 / 16
        style.nowrap = style.nowrap or tag in ("listing", "pre", "xmp")
    if tag == "nobr":
        style.nowrap = True
    elif tag == "center":
        style.align = style.block_align = Align.CENTER
    elif tag == "table":  # as in quirks mode, which most template pages without a doctype are in
        style.align = style.block_align = Align.LEFT
        style.cell_padding = 1.0
    elif tag in ("th", "caption"):
        style.align = Align.CENTER
    elif tag in _CONTROLS:
        style.size, style.factor, style.weight, style.align = 13.33, SANS, 400, Align.LEFT
        style.width, style.height = _CONTROLS[tag]
    if tag in ("td", "th"):
        style.pad_top = style.pad_bottom = style.pad_left = style.pad_right = style.cell_padding
    elif tag in _REPLACED_SIZES:
        style.width, style.height = _REPLACED_SIZES[tag]
    elif tag == "hr":
        style.height = 2.0
    elif tag == "fieldset":
        style.pad_top, style.pad_bottom, style.pad_left, style.pad_right = 8.0, 12.0, 14.0, 14.0


def _default_margins(style: Style, tag: str) -> None:
    margin = _HEADINGS[tag][1] if tag in _HEADINGS else _MARGINS.get(tag, 0.0)
    style.top = style.bottom = margin * style.size
    if tag == "body":
        style.top = style.bottom = style.left = style.right = 8.0
    elif tag in ("blockquote", "figure"):
        style.left = style.right = 40.0
    elif tag == "dd":
        style.left = 40.0
    if tag in _LISTS:
        style.pad_left = 40.0


def _by_attributes(style: Style, tag: str, attributes: dict[str, str]) -> None:
    if "hidden" in attributes:
        style.display = Display.NONE
    if tag == "input":
        _input(style, attributes)
    elif tag == "textarea":
        style.width = 2 + 8.0 * _number(attributes.get("cols"), 20)
        style.height = 6 + 15.0 * _number(attributes.get("rows"), 2)
    elif tag == "font":
        _legacy_font(style, attributes)
    elif tag == "br":
        style.clear = bool(attributes.get("clear"))
    elif tag in ("td", "th"):
        style.colspan = max(1, min(MAX_SPAN, _number(attributes.get("colspan"), 1)))
        style.rowspan = max(1, min(MAX_SPAN, _number(attributes.get("rowspan"), 1)))
        style.nowrap = style.nowrap or "nowrap" in attributes
    elif tag == "table":
        style.spacing = float(max(0, min(100, _number(attributes.get("cellspacing"), 2))))
        style.cell_padding = float(max(0, min(100, _number(attributes.get("cellpadding"), 1))))
    if tag in _SIZED:
        _set_width(style, attributes.get("width", ""))
        _set_height(style, attributes.get("height", ""))
    if "align" in attributes:
        _legacy_align(style, tag, attributes["align"].strip().lower())
    if "valign" in attributes and tag in ("td", "th", "tr"):
        style.valign = _VALIGNS.get(attributes["valign"].strip().lower(), 0.5)


def _input(style: Style, attributes: dict[str, str]) -> None:
    kind = attributes.get("type", "text").strip().lower()
    if kind == "hidden":
        style.display = Display.NONE
    elif kind in ("checkbox", "radio"):
        style.width, style.height, style.left, style.right = 13.0, 13.0, 4.0, 4.0
    elif kind in ("submit", "button", "reset"):
        style.width = 16 + 6.7 * len(attributes.get("value", "Submit")[:100])
    elif kind == "image":
        style.width, style.height = IMAGE
    elif "size" in attributes:
        style.width = 8 + 7.3 * max(1, min(200, _number(attributes["size"], 20)))


def _legacy_font(style: Style, attributes: dict[str, str]) -> None:
    if size := _NUMBER.match(attributes.get("size", "")):
        number = int(size[1]) + (3 if size[1][0] in "+-" else 0)
        style.size = _FONT_SIZES[max(1, min(7, number)) - 1]
    if "face" in attributes:
        style.factor = _family(attributes["face"])


def _legacy_align(style: Style, tag: str, value: str) -> None:
    if tag in ("img", "table", "iframe", "embed", "object") and value in ("left", "right"):
        style.side = value
    elif tag == "table":
        style.margin_auto = value == "center"
    elif tag not in ("img", "input", "iframe") and value in _ALIGNS:
        style.align = _ALIGNS[value]
        if tag in ("div", "td", "th", "tr", "tbody", "thead", "tfoot"):
            style.block_align = style.align


def _declare_font(style: Style, parent: Style, name: str, value: str) -> None:
    """Fonts come first, since lengths are told in them."""
    if name == "font":
        parts = value.partition("/")[0].split()
        for part in parts:
            if part in ("bold", "bolder", "700") or part in _SIZE_NAMES or _LENGTH.fullmatch(part):
                bold = part in ("bold", "bolder", "700")
                _declare_font(style, parent, "font-weight" if bold else "font-size", part)
        style.factor = _family(value)
    elif name == "font-size":
        if value in _SIZE_NAMES:
            style.size = _SIZE_NAMES[value]
        elif value in ("smaller", "larger"):
            style.size = parent.size * (1.2 if value == "larger" else 1 / 1.2)
        elif match := _LENGTH.match(value):
            style.size = max(1.0, min(200.0, _pixels(match, parent.size, parent.size)))
    elif name == "font-weight":
        style.weight = 700 if value in ("bold", "bolder", "600", "700", "800", "900") else 400
    elif name == "font-family":
        style.factor = _family(value)


def _declare(style: Style, name: str, value: str) -> None:
    if name == "display":
        style.display = _CSS_DISPLAY.get(value, style.display)
    elif name == "float":
        style.side = value if value in ("left", "right") else ""
    elif name == "clear":
        style.clear = value in ("left", "right", "both")
    elif name == "position":
        style.absolute = value in ("absolute", "fixed")
    elif name == "visibility":
        style.visible = value == "visible"
    elif name == "text-align":
        style.align = _ALIGNS.get(value, Align.LEFT)
        style.block_align = Align.LEFT
    elif name == "vertical-align":
        style.valign = _VALIGNS.get(value, style.valign)
    elif name == "white-space":
        style.nowrap = value in ("nowrap", "pre")
    elif name == "line-height":
        if match := _LENGTH.match(value):
            unitless = not match[2] or match[2] in ("em", "%")
            factor = float(match[1]) / (100 if match[2] == "%" else 1)
            style.line_factor = factor if unitless else -_pixels(match, style.size, style.size)
    elif name == "width":
        _set_width(style, value)
    elif name in ("height", "min-height"):
        _set_height(style, value)
    elif name in ("left", "top"):
        if match := _LENGTH.match(value):
            setattr(style, "x" if name == "left" else "y", _pixels(match, style.size, 0.0))
    else:
        _declare_edges(style, name, value)


def _declare_edges(style: Style, name: str, value: str) -> None:
    """Margins, and paddings; borders count with the padding."""
    kind, _, side = name.partition("-")
    if kind not in ("margin", "padding"):
        return
    parts = value.split()[:4]
    sides = {"": _SIDES}.get(side, (side,))
    for position, one in enumerate(sides):
        if not parts or one not in _SIDES:
            continue
        part = parts[position] if position < len(parts) else parts[max(0, position - 2) % len(parts)]
        if part == "auto":
            style.margin_auto = style.margin_auto or (kind == "margin" and one in ("left", "right"))
        elif match := _LENGTH.match(part):
            length = max(-2000.0, min(2000.0, _pixels(match, style.size, VIEWPORT)))
            setattr(
                style,
                one if kind == "margin" else f"pad_{one}",
                length if kind == "margin" else max(0.0, length),
            )


def _in_place(style: Style, parent: Style, tag: str) -> Display:
    """Parts of tables are such only inside tables; what stands outside the flow is a block."""
    display, around = style.display, parent.display
    if display == Display.BLOCK and tag == "form":  # parsers part tables by forms; browsers ignore those
        return {Display.TABLE: Display.GROUP, Display.GROUP: Display.GROUP, Display.ROW: Display.ROW}.get(
            around, display
        )
    if display == Display.CELL and around != Display.ROW:
        return Display.BLOCK
    if display == Display.ROW and around not in (Display.TABLE, Display.GROUP):
        return Display.BLOCK
    if display == Display.GROUP and around not in (Display.TABLE, Display.GROUP):
        return Display.BLOCK
    if (style.side or style.absolute) and display in (Display.INLINE, Display.INLINE_BLOCK):
        return Display.BLOCK
    return display


def _set_width(style: Style, value: str) -> None:
    if match := _LENGTH.match(value.strip()):
        if match[2] == "%":
            style.width, style.share = -1.0, max(0.0, min(2.0, float(match[1]) / 100))
        else:
            style.width, style.share = max(0.0, min(20_000.0, _pixels(match, style.size, VIEWPORT))), 0.0


def _set_height(style: Style, value: str) -> None:
    if (match := _LENGTH.match(value.strip())) and match[2] != "%":
        style.height = max(0.0, min(20_000.0, _pixels(match, style.size, VIEWPORT)))


def _pixels(match: re.Match[str], size: float, whole: float) -> float:
    number, unit = float(match[1]), match[2]
    if unit == "%":
        return number / 100 * whole
    if unit == "vw":
        return number / 100 * VIEWPORT
    return number * (size if unit == "em" else size / 2 if unit == "ex" else _UNITS[unit])


def _number(value: str | None, otherwise: int) -> int:
    match = _NUMBER.match(value or "")
    return int(match[1]) if match else otherwise


def _family(value: str) -> float:
    value = value.lower()
    found = [(value.find(name), factor) for name, factor in _FAMILIES.items() if name in value]
    return min(found)[1] if found else 1.0
