"""Style: what an element's place depends on, in pixels."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(slots=True, eq=False)
class Style:
    """What an element's place depends on. A negative width or height says that none is given."""

    size: float = 16.0  # of the font
    weight: int = 400
    factor: float = 1.0  # how much wider letters are than those of Times New Roman
    line_height: float = 0.0  # in font sizes; negative: in pixels; 0: normal
    nowrap: bool = False
    align: float = LEFT
    block_align: float = LEFT  # by legacy attributes
    list_depth: int = 0
    cell_padding: float = 1.0
    visible: bool = True

    display: int = INLINE
    side: str = ""  # "left" or "right", if it floats
    clear: bool = False
    contains: bool = False  # its floats do not reach out of it
    relative: bool = False
    absolute: bool = False
    x: float | None = None  # offsets, of what is relative or absolute
    y: float | None = None
    flex: bool = False
    column: bool = False
    width: float = -1.0  # of the content
    share: float = 0.0  # width as a share of what it stands in; 0: none is given
    height: float = -1.0
    min_height: float = 0.0
    top: float = 0.0  # margins
    bottom: float = 0.0
    left: float = 0.0
    right: float = 0.0
    margin_auto: bool = False
    pad_top: float = 0.0  # padding and border
    pad_bottom: float = 0.0
    pad_left: float = 0.0
    pad_right: float = 0.0
    colspan: int = 1
    rowspan: int = 1
    spacing: float = 2.0
    # The share of a cell's free height that goes above its content; of an image's, above the texts beside it.
    valign: float = 0.5
    quirk: bool = (
        False  # as in old browsers, the margin of its first block adds nothing; a marker takes a line
    )
    marker: bool = False  # a list's bullet or number stands before it

    # Known when all else is.
    line: float = 0.0
    text_height: float = 0.0
    strut: float = 0.0  # the least height of its lines
    descent: float = 0.0  # what is below the baseline of its lines, and so below images
    scale: float = 0.0  # pixels of a letter as wide as the font size of Times New Roman
    key: int = 0  # the same for styles under which all others come out alike
