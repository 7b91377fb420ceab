"""What is open while a page is being laid out: blocks, the floats beside them, tables; and the boxes so far."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from untemplate.layout.outline import Outline
from untemplate.layout.style import Style

__all__ = ["UNBEATEN", "Canvas", "Floats", "Frame", "Grid"]

Floats64 = npt.NDArray[np.float64]


# Lines narrower than so many pixels go below the floats beside them.
NARROW = 20.0
# So many floats on a side are looked at: time stays linear.
MAX_FLOATS = 32
# A margin that no other exceeds, so that none adds to it.
UNBEATEN = 1e9


class Canvas:
    """The boxes of all slots, as far as they are known."""

    def __init__(self, outline: Outline) -> None:
        count = len(outline.display)
        self._last = outline.last
        self._parent = outline.parent
        self.x = [0.0] * count
        self.y = [0.0] * count
        self.width = [0.0] * count
        self.height = [0.0] * count
        #: inline elements that take several lines: they reach around what is in them
        self.spread: list[int] = []
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
        if self.spread:
            self._spread(boxes)
        return boxes.T.astype(np.float32)

    def _spread(self, boxes: Floats64) -> None:
        """Make inline elements that take several lines as large as what is in them, the inner ones first."""
        inside = np.flatnonzero(np.isin(self._parent, self.spread))
        edges: dict[int, tuple[float, float, float, float]] = {}
        for slot, (x, y, width, height) in zip(
            inside[::-1].tolist(), boxes[:, inside[::-1]].T.tolist(), strict=True
        ):
            own = edges.get(slot, (x, y, x + width, y + height))
            if own[3] > own[1]:
                left, top, right, bottom = edges.get(self._parent[slot], own)
                edges[self._parent[slot]] = (
                    *(min(left, own[0]), min(top, own[1])),
                    *(max(right, own[2]), max(bottom, own[3])),
                )
        for slot, (left, top, right, bottom) in edges.items():
            boxes[:, slot] = left, top, right - left, bottom - top


class Floats:
    """The floats in a block: how far they reach into what flows beside them, and down to where."""

    __slots__ = ("_lefts", "_rights", "bottom", "last_top")

    def __init__(self, top: float) -> None:
        self._lefts: list[tuple[float, float]] = []  # edge and bottom of each
        self._rights: list[tuple[float, float]] = []
        self.bottom = self.last_top = top

    def add(self, side: str, edge: float, top: float, bottom: float) -> None:
        floats = self._lefts if side == "left" else self._rights
        if len(floats) >= MAX_FLOATS:
            floats[:] = [(other, ends) for other, ends in floats if ends > top][1 - MAX_FLOATS :]
        floats.append((edge, bottom))
        self.bottom = max(self.bottom, bottom)
        self.last_top = max(self.last_top, top)

    def beside(self, left: float, right: float, y: float) -> tuple[float, float]:
        """What is free between these edges at a height."""
        if self.bottom > y:
            for edge, bottom in self._lefts:
                if bottom > y and edge > left:
                    left = edge
            for edge, bottom in self._rights:
                if bottom > y and edge < right:
                    right = edge
        return left, right

    def room(self, left: float, right: float, y: float, width: float) -> tuple[float, float, float]:
        """The first height from y on that has so much room, or where no float is beside; and what is free there."""
        while self.bottom > y:
            free_left, free_right = self.beside(left, right, y)
            if free_right - free_left >= width or (free_left, free_right) == (left, right):
                return y, free_left, free_right
            y = min(bottom for _, bottom in self._lefts + self._rights if bottom > y)
        return y, left, right


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
        *(
            "cursor",
            "floats",
            "grid",
            "holds_margin",
            "items",
            "left",
            "line_height",
            "line_left",
            "line_right",
            "margin",
        ),
        *("origin", "right", "slot", "style", "text_lowered", "top", "y"),
    )

    def __init__(self, slot: int, style: Style, left: float, right: float, y: float, floats: Floats) -> None:
        self.slot, self.style = slot, style
        self.left, self.right = left, right
        self.top = self.y = y
        self.floats = floats
        self.grid: Grid | None = None
        self.origin = (0.0, 0.0)  # what offsets of boxes outside the flow count from
        self.holds_margin = True  # the margin of its first block is inside it, not shared with its own
        self.margin = 0.0  # how much of what is above y is margin, which the next one shares
        self.items: list[int] = []  # slots that start on the open line
        self.line_left = self.cursor = left
        self.line_right = right
        self.line_height = 0.0
        self.text_lowered = 1.0  # the share of the free height of the line that goes above texts

    def start_line(self) -> None:
        """Open a line beside the floats, or below them if there is no room."""
        self.line_left, self.line_right = self.left, self.right
        if self.floats.bottom > self.y:
            self.y, self.line_left, self.line_right = self.floats.room(self.left, self.right, self.y, NARROW)
        self.cursor = self.line_left
        self.line_height = 0.0
        self.text_lowered = 1.0

    def fill_line(self, height: float) -> None:
        """Put something on the line; an inline element alone does not make one."""
        self.margin = 0.0
        self.line_height = max(self.line_height, height, self.style.strut)

    def leave(self, margin: float) -> None:
        """Leave a margin, shared with the one that is there."""
        if margin > self.margin:
            self.y += margin - self.margin
            self.margin = margin
        elif margin < 0:
            self.y += margin

    def go_below_floats(self) -> None:
        self.y = max(self.y, self.floats.bottom)
