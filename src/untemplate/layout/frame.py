"""What is open while a page is being laid out: blocks, the floats beside them, tables; and the boxes so far."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from untemplate.layout.outline import Outline
from untemplate.layout.style import Style

__all__ = ["Canvas", "Floats", "Frame", "Grid"]

# Lines narrower than so many pixels go below the floats beside them.
NARROW = 20.0


class Canvas:
    """The boxes of all slots, as far as they are known."""

    def __init__(self, outline: Outline) -> None:
        count = len(outline.display)
        self._last = outline.last
        self.x = [0.0] * count
        self.y = [0.0] * count
        self.width = [0.0] * count
        self.height = [0.0] * count
        # Added from a slot on.
        self._right: dict[int, float] = {}
        self._down: dict[int, float] = {}

    def move(self, slot: int, right: float, down: float) -> None:
        """Move a slot and all inside it; done for all at the end, so that it takes no time here."""
        after = self._last[slot] + 1
        for moves, by in ((self._right, right), (self._down, down)):
            if by:
                moves[slot] = moves.get(slot, 0.0) + by
                moves[after] = moves.get(after, 0.0) - by

    def boxes(self) -> npt.NDArray[np.float32]:
        """x, y, width and height of each slot."""
        boxes = np.array([self.x, self.y, self.width, self.height])
        for axis, moves in enumerate((self._right, self._down)):
            if moves:
                steps = np.zeros(boxes.shape[1] + 1)
                steps[list(moves)] = list(moves.values())
                boxes[axis] += np.cumsum(steps)[:-1]
        return boxes.T.astype(np.float32)


class Floats:
    """How far floats reach into what flows beside them, and down to where."""

    __slots__ = ("left", "left_bottom", "right", "right_bottom")

    def __init__(self, left: float, right: float, top: float) -> None:
        self.left, self.right = left, right
        self.left_bottom = self.right_bottom = top

    @property
    def bottom(self) -> float:
        return max(self.left_bottom, self.right_bottom)

    def beside(self, left: float, right: float, y: float) -> tuple[float, float]:
        """What is free between these edges at a height."""
        if self.left_bottom > y and self.left > left:
            left = self.left
        if self.right_bottom > y and self.right < right:
            right = self.right
        return left, right

    def next_bottom(self, y: float) -> float:
        """Where the next of them ends; y if none is there."""
        return min((bottom for bottom in (self.left_bottom, self.right_bottom) if bottom > y), default=y)


class Grid:
    """A table that is open: where its columns start, and the row that is being filled."""

    __slots__ = ("cells", "columns", "row_y", "spans")

    def __init__(self, columns: list[float]) -> None:
        self.columns = columns  # and one more, where the next would start
        self.row_y = 0.0
        self.cells: list[int] = []
        self.spans: list[tuple[int, int]] = []  # cells that reach further down, and by how many rows


class Frame:
    """A block that is open: its edges, how far it is filled, and the line that is being filled."""

    __slots__ = (
        *("cursor", "floats", "grid", "items", "left", "line_height", "line_left", "line_right", "margin"),
        *("right", "style", "text_lowered", "top", "y"),
    )

    def __init__(self, style: Style, left: float, right: float, y: float, floats: Floats) -> None:
        self.style = style
        self.left, self.right = left, right
        self.top = self.y = y
        self.floats = floats
        self.grid: Grid | None = None
        self.margin = 0.0  # how much of what is above y is margin, which the next one shares
        self.items: list[int] = []  # slots that start on the open line
        self.line_left = self.cursor = left
        self.line_right = right
        self.line_height = 0.0
        self.text_lowered = 1.0  # the share of the free height of the line that goes above texts

    def start_line(self) -> None:
        """Open a line beside the floats, or below them if there is no room."""
        floats = self.floats
        self.line_left, self.line_right = self.left, self.right
        if floats.left_bottom > self.y or floats.right_bottom > self.y:
            left, right = floats.beside(self.left, self.right, self.y)
            if right - left < NARROW:
                self.y = floats.bottom
            else:
                self.line_left, self.line_right = left, right
        self.cursor = self.line_left
        self.line_height = 0.0
        self.text_lowered = 1.0
        self.margin = 0.0

    def leave(self, margin: float) -> None:
        """Leave a margin, shared with the one that is there."""
        if margin > self.margin:
            self.y += margin - self.margin
            self.margin = margin
        elif margin < 0:
            self.y += margin

    def go_below_floats(self) -> None:
        self.y = max(self.y, self.floats.bottom)
