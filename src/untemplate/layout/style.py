"""Style: what an element's place depends on, in pixels."""

from __future__ import annotations

from typing import Final

__all__ = ["Style"]

# How a box takes part in the flow; plain numbers, since every box is asked often.
TEXT: Final = 0
INLINE: Final = 1
BLOCK: Final = 2
INLINE_BLOCK: Final = 3
REPLACED: Final = 4
BREAK: Final = 5
TABLE: Final = 6
GROUP: Final = 7
ROW: Final = 8
CELL: Final = 9
NONE: Final = 10

# Where lines, and blocks narrower than what they stand in, are put: the share of the free width to their left.
LEFT: Final = 0.0
CENTER: Final = 0.5
RIGHT: Final = 1.0

# Handed down to the elements inside.
INHERITED: Final = (
    *(
        "align",
        "block_align",
        "cell_padding",
        "factor",
        "line_height",
        "list_depth",
        "nowrap",
        "size",
        "visible",
    ),
    "weight",
)


class Style:
    """What an element's place depends on. A negative width or height says that none is given."""

    __slots__ = (
        *INHERITED,
        *(
            "absolute",
            "bottom",
            "clear",
            "colspan",
            "column",
            "contains",
            "display",
            "flex",
            "height",
            "key",
            "left",
        ),
        *(
            "line",
            "margin_auto",
            "min_height",
            "pad_bottom",
            "pad_left",
            "pad_right",
            "pad_top",
            "quirk",
            "right",
        ),
        *("rowspan", "scale", "share", "side", "spacing", "text_height", "top", "valign", "width", "x", "y"),
    )

    def __init__(self) -> None:
        self.size = 16.0  # of the font
        self.weight = 400
        self.factor = 1.0  # how much wider letters are than those of Times New Roman
        self.line_height = 0.0  # in font sizes; negative: in pixels; 0: normal
        self.nowrap = False
        self.align = LEFT
        self.block_align = LEFT  # by legacy attributes
        self.list_depth = 0
        self.cell_padding = 1.0
        self.visible = True

        self.display: int = INLINE
        self.side = ""  # "left" or "right", if it floats
        self.clear = False
        self.absolute = False
        self.flex = self.column = False
        self.width = self.height = -1.0  # of the content
        self.min_height = 0.0
        self.contains = False  # its floats do not reach out of it
        self.quirk = False  # the margin of its first block adds nothing
        self.share = 0.0  # width as a share of what it stands in; 0: none is given
        self.top = self.bottom = self.left = self.right = 0.0  # margins
        self.margin_auto = False
        self.pad_top = self.pad_bottom = self.pad_left = self.pad_right = 0.0  # padding and border
        self.x = self.y = 0.0  # offsets of what stands outside the flow
        self.colspan = self.rowspan = 1
        self.spacing = 2.0
        # The share of a cell's free height that goes above its content; of an image's, above the texts beside it.
        self.valign = 0.5

        # Known when all else is.
        self.line = self.text_height = self.scale = 0.0
        self.key = 0  # the same for styles under which all others come out alike
