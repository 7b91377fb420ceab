"""What browsers make of tags and of legacy attributes, before any style sheet."""

from __future__ import annotations

import re

from untemplate.layout import style as s
from untemplate.layout.boxes import IMAGE
from untemplate.layout.declared import family, set_height, set_width
from untemplate.layout.style import Style
from untemplate.layout.text import text_widths
from untemplate.page import HIDDEN_TAGS, squeeze

__all__ = ["TELLING", "by_attributes", "by_tag", "default_margins"]

# Attributes that change where something stands.
TELLING = frozenset(
    {"align", "border", "cellpadding", "cellspacing", "clear", "cols", "colspan", "face", "height", "hidden"}
    | {"nowrap", "rows", "rowspan", "size", "style", "type", "valign", "value", "width"}
)
# No table is taken to have more columns, nor a cell to span more rows: time stays linear.
MAX_SPAN = 100

_BLOCKS = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre search "
    "section summary ul xmp"
)
_HIDDEN = (
    *(
        "area",
        "base",
        "basefont",
        "col",
        "colgroup",
        "datalist",
        "embed",
        "frame",
        "frameset",
        "head",
        "link",
        "meta",
    ),
    *("optgroup", "option", "param", "rp", "source", "title", "track"),
)
_SIZES = {
    **dict.fromkeys(("svg", "video"), (300.0, 150.0)),
    **dict.fromkeys(("meter", "progress"), (80.0, 16.0)),
    "audio": (300.0, 54.0),
    "iframe": (304.0, 154.0),
    "img": IMAGE,
    "input": (177.0, 21.0),
    "select": (-1.0, 19.0),  # as wide as its longest option
    "textarea": (182.0, 36.0),
}
_DISPLAY = {
    **dict.fromkeys((*_HIDDEN, *HIDDEN_TAGS), s.NONE),
    **dict.fromkeys(_BLOCKS.split(), s.BLOCK),
    **dict.fromkeys(_SIZES, s.REPLACED),
    **dict.fromkeys(("tbody", "thead", "tfoot"), s.GROUP),
    **dict.fromkeys(("td", "th"), s.CELL),
    "table": s.TABLE,
    "tr": s.ROW,
    "br": s.BREAK,
    "button": s.INLINE_BLOCK,
}
# The font size in that of the parent, and the margin above and below in the heading's own.
_HEADINGS = {
    "h1": (2.0, 0.67),
    "h2": (1.5, 0.83),
    "h3": (1.17, 1.0),
    "h4": (1.0, 1.33),
    "h5": (0.83, 1.67),
    "h6": (0.67, 2.33),
}
_LISTS = frozenset({"dir", "menu", "ol", "ul"})
_PREFORMATTED = frozenset({"listing", "pre", "xmp"})
_SPACED = frozenset({"blockquote", "dl", "figure", "p", *_LISTS, *_PREFORMATTED})
_BOLD = frozenset({"b", "strong", "th", *_HEADINGS})
_MONOSPACE = frozenset({"code", "kbd", "samp", "textarea", "tt", *_PREFORMATTED})
_CONTROLS = frozenset({"button", "input", "select", "textarea"})
_SIZED = frozenset({"hr", "object", "table", "td", "th", "tr", *_SIZES} - {"select", "textarea"})
_ALIGNS = {"left": s.LEFT, "center": s.CENTER, "middle": s.CENTER, "right": s.RIGHT}
_VALIGNS = {"top": 0.0, "baseline": 0.0, "middle": 0.5, "bottom": 1.0}
# What <font size> means in pixels.
_FONT_SIZES = (10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)
_NUMBER = re.compile(r"\s*([+-]?\d{1,6})")


def by_tag(style: Style, tag: str, quirks: bool) -> None:
    """What the tag alone says, without margins."""
    style.display = _DISPLAY.get(tag, s.INLINE)
    if tag in _HEADINGS:
        style.size *= _HEADINGS[tag][0]
    elif tag in ("small", "sub", "sup"):
        style.size /= 1.2
    elif tag == "big":
        style.size *= 1.2
    elif tag == "nobr" or tag in _PREFORMATTED:
        style.nowrap = True
    elif tag == "center":
        style.align = style.block_align = s.CENTER
    elif tag == "table":
        style.block_align = s.LEFT
        style.cell_padding = 1.0
        if quirks:
            style.size, style.weight, style.align, style.nowrap, style.line_height = (
                16.0,
                400,
                s.LEFT,
                False,
                0.0,
            )
    elif tag in ("td", "th"):
        style.pad_top = style.pad_bottom = style.pad_left = style.pad_right = style.cell_padding
    elif tag == "li":
        style.marker = True
    elif tag == "hr":
        style.height = 2.0
    elif tag == "fieldset":
        style.pad_top, style.pad_bottom, style.pad_left, style.pad_right = 8.0, 12.0, 14.0, 14.0
    if tag in ("th", "caption"):
        style.align = s.CENTER
    if tag in _BOLD:
        style.weight = 700
    if tag in _MONOSPACE:
        style.factor = family("monospace")
        style.size *= 13 / 16
    if tag in _CONTROLS:
        style.size, style.factor, style.weight, style.align = 40 / 3, family("arial"), 400, s.LEFT
        style.line_height = 0.0
    if tag == "button":
        style.align = s.CENTER
        style.pad_top = style.pad_bottom = 3.0
        style.pad_left = style.pad_right = 8.0
    if tag in _SIZES:
        style.width, style.height = _SIZES[tag]
        style.valign = 1.0
    style.quirk = quirks and tag in ("body", "li", "td", "th")


def default_margins(style: Style, tag: str, quirks: bool) -> None:
    """Margins, which are told in the element's font size, so that this must be known."""
    if tag in _HEADINGS:
        style.top = style.bottom = _HEADINGS[tag][1] * style.size
    elif tag in _SPACED and not (tag in _LISTS and style.list_depth):
        style.top = style.bottom = style.size
    if tag in _LISTS:
        style.pad_left = 40.0
        style.list_depth += 1
    elif tag in ("blockquote", "figure"):
        style.left = style.right = 40.0
    elif tag == "dd":
        style.left = 40.0
    elif tag == "hr":
        style.top = style.bottom = 8.0
    elif tag == "form" and quirks:
        style.bottom = style.size
    elif tag == "body":
        style.top = style.bottom = style.left = style.right = 8.0


def by_attributes(style: Style, tag: str, attributes: dict[str, str]) -> None:
    """What legacy attributes say."""
    if "hidden" in attributes:
        style.display = s.NONE
    if tag in _SIZED:
        set_width(style, attributes.get("width", ""))
        set_height(style, attributes.get("height", ""))
    if tag == "img":
        _keep_ratio(style, attributes)
    elif tag == "input":
        _input(style, attributes)
    elif tag == "textarea":
        style.width = 22 + 8.0 * min(200, _number(attributes.get("cols"), 20))
        style.height = 6 + 15.0 * min(200, _number(attributes.get("rows"), 2))
    elif tag == "font":
        _font(style, attributes)
    elif tag == "br":
        style.clear = bool(attributes.get("clear"))
    elif tag in ("td", "th"):
        style.colspan = max(1, min(MAX_SPAN, _number(attributes.get("colspan"), 1)))
        style.rowspan = max(1, min(MAX_SPAN, _number(attributes.get("rowspan"), 1)))
        style.nowrap = style.nowrap or "nowrap" in attributes
    elif tag == "table":
        style.spacing = float(max(0, min(100, _number(attributes.get("cellspacing"), 2))))
        style.cell_padding = float(max(0, min(100, _number(attributes.get("cellpadding"), 1))))
    if "align" in attributes:
        _align(style, tag, attributes["align"].strip().lower())
    if tag in ("td", "th") and "valign" in attributes:
        style.valign = _VALIGNS.get(attributes["valign"].strip().lower(), 0.5)


def _keep_ratio(style: Style, attributes: dict[str, str]) -> None:
    """An image of which only one side is told keeps its shape."""
    if "width" in attributes and "height" not in attributes and style.width >= 0:
        style.height = style.width * IMAGE[1] / IMAGE[0]
    elif "height" in attributes and "width" not in attributes:
        style.width = style.height * IMAGE[0] / IMAGE[1]


def _input(style: Style, attributes: dict[str, str]) -> None:
    kind = attributes.get("type", "text").strip().lower()
    if kind == "hidden":
        style.display = s.NONE
    elif kind in ("checkbox", "radio"):
        style.width, style.height, style.left, style.right = 13.0, 13.0, 4.0, 4.0
    elif kind in ("submit", "button", "reset"):
        value = squeeze(attributes.get("value", ""))[:200] or "Submit"
        style.width = 16 + float(text_widths([value]).whole[0]) * style.size * style.factor
    elif kind == "image" and "width" not in attributes:
        style.width, style.height = IMAGE
    elif "size" in attributes and "width" not in attributes:
        style.width = 17 + 8.0 * max(1, min(200, _number(attributes["size"], 20)))


def _font(style: Style, attributes: dict[str, str]) -> None:
    if size := _NUMBER.match(attributes.get("size", "")):
        number = int(size[1]) + (3 if size[1][0] in "+-" else 0)
        style.size = _FONT_SIZES[max(1, min(7, number)) - 1]
    if "face" in attributes:
        style.factor = family(attributes["face"])


def _align(style: Style, tag: str, value: str) -> None:
    if tag in ("img", "table", "iframe") and value in ("left", "right"):
        style.side = value
    elif tag == "table":
        style.margin_auto = value == "center"
    elif style.display == s.REPLACED:
        style.valign = {"middle": 0.5, "absmiddle": 0.5, "top": 0.0, "texttop": 0.0}.get(value, 1.0)
    elif value in _ALIGNS:
        style.align = _ALIGNS[value]
        if tag in ("div", "td", "th", "tr", "tbody", "thead", "tfoot"):
            style.block_align = style.align


def _number(value: str | None, otherwise: int) -> int:
    match = _NUMBER.match(value or "")
    return int(match[1]) if match else otherwise
