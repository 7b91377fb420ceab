"""The flow: boxes placed in document order, in lines, blocks, floats and tables; linear in the page."""

from __future__ import annotations

from itertools import accumulate
from math import ceil

import numpy as np
import numpy.typing as npt

from untemplate.layout.boxes import VIEWPORT
from untemplate.layout.outline import Outline
from untemplate.layout.style import LINE, Align, Display, Style
from untemplate.layout.text import SPACE
from untemplate.layout.widths import Widths

__all__ = ["place"]


class Floats:
    """How far floats reach into what flows beside them, and down to where."""

    __slots__ = ("left", "left_bottom", "right", "right_bottom")

    def __init__(self, left: float, right: float) -> None:
        self.left, self.right = left, right
        self.left_bottom = self.right_bottom = 0.0


class Grid:
    """A table that is open: where its columns start, and the row that is being filled."""

    __slots__ = ("cells", "columns", "row_y", "spans")

    def __init__(self, columns: list[float]) -> None:
        self.columns = columns  # with one more, where the next would start
        self.row_y = 0.0
        self.cells: list[int] = []
        self.spans: list[tuple[int, int]] = []  # cells that reach further down, and by how many rows


class Frame:
    """A block that is open: its edges, how far it is filled, and the line that is being filled."""

    __slots__ = (
        *("cursor", "floats", "grid", "items", "left", "line_height", "line_left", "line_right", "margin"),
        *("right", "slot", "style", "top", "y"),
    )

    def __init__(self, slot: int, style: Style, left: float, right: float, y: float, floats: Floats) -> None:
        self.slot, self.style = slot, style
        self.left, self.right = left, right
        self.top = self.y = y
        self.floats = floats
        self.grid: Grid | None = None
        self.margin = 0.0  # how much of what is above y is margin that the next one may share
        self.items: list[int] = []  # slots that start on the open line
        self.line_height = 0.0
        self.cursor = self.line_left = left
        self.line_right = right


class Flow:
    """Places everything on a page."""

    def __init__(self, outline: Outline, widths: Widths) -> None:
        count = len(outline.display)
        self.outline = outline
        self.widths = widths
        self.x = [0.0] * count
        self.y = [0.0] * count
        self.width = [0.0] * count
        self.height = [0.0] * count
        # Moves of a slot with all inside it: added at its first slot, taken back after its last.
        self.right_by: dict[int, float] = {}
        self.down_by: dict[int, float] = {}
        root = Frame(-1, Style(), 0.0, float(VIEWPORT), 0.0, Floats(0.0, float(VIEWPORT)))
        self.frames = [root]

    def run(self) -> npt.NDArray[np.float32]:
        """x, y, width and height of each slot."""
        display, styles = self.outline.display, self.outline.style
        for slot in self.outline.events:
            if slot >= 0:
                kind = display[slot]
                if kind == Display.TEXT:
                    self.text(slot, styles[slot])
                elif kind == Display.INLINE:
                    self.open_inline(slot, styles[slot])
                elif kind == Display.BREAK:
                    self.break_line(slot, styles[slot])
                elif kind == Display.REPLACED:
                    self.replaced(slot, styles[slot])
                elif kind == Display.GROUP:
                    self.y[slot] = self.frames[-1].y
                elif kind == Display.ROW:
                    self.open_row(slot)
                else:
                    self.open_block(slot, styles[slot], kind)
            else:
                slot = ~slot
                kind = display[slot]
                if kind == Display.INLINE:
                    self.close_inline(slot, styles[slot])
                elif kind == Display.GROUP:
                    self.close_group(slot)
                elif kind == Display.ROW:
                    self.close_row(slot)
                elif kind != Display.BREAK and kind != Display.REPLACED:
                    self.close_block(slot, styles[slot], kind)
        boxes = np.array([self.x, self.y, self.width, self.height], np.float64)
        for moves, row in ((self.right_by, 0), (self.down_by, 1)):
            if moves:
                steps = np.zeros(boxes.shape[1] + 1)
                steps[list(moves)] = list(moves.values())
                boxes[row] += np.cumsum(steps)[:-1]
        return boxes.T.astype(np.float32)

    def move(self, moves: dict[int, float], first: int, by: float) -> None:
        """Move a slot and all inside it."""
        after = self.outline.last[first] + 1
        moves[first] = moves.get(first, 0.0) + by
        moves[after] = moves.get(after, 0.0) - by

    # Lines

    def start_line(self, frame: Frame) -> None:
        floats, y = frame.floats, frame.y
        left, right = frame.left, frame.right
        if floats.left_bottom > y and floats.left > left:
            left = floats.left
        if floats.right_bottom > y and floats.right < right:
            right = floats.right
        if right - left < 20:  # no room beside the floats
            if floats.left_bottom > y or floats.right_bottom > y:
                frame.y = max(floats.left_bottom, floats.right_bottom)
            left, right = frame.left, frame.right
        frame.line_left = frame.cursor = left
        frame.line_right = right
        frame.margin = 0.0

    def end_line(self, frame: Frame) -> None:
        """Align what stands on the open line, and go to the next."""
        height = frame.line_height
        free = frame.line_right - frame.cursor
        align = frame.style.align
        offset = 0.0 if align == Align.LEFT or free <= 0 else free / 2 if align == Align.CENTER else free
        for slot in frame.items:
            lower = height - self.height[slot]
            if self.outline.display[slot] == Display.INLINE_BLOCK:
                if offset:
                    self.move(self.right_by, slot, offset)
                if lower > 0:
                    self.move(self.down_by, slot, lower)
            else:
                self.x[slot] += offset
                if lower > 0 and self.height[slot] <= height:
                    self.y[slot] += lower
        frame.items = []
        frame.y += height
        frame.line_height = 0.0
        frame.cursor = frame.line_left = frame.left

    def room(self, frame: Frame, slot: int, style: Style, width: float) -> None:
        """Make room on the line for something that cannot be parted."""
        if not frame.items:
            self.start_line(frame)
            return
        if self.outline.spaced[slot] and frame.cursor > frame.line_left:
            frame.cursor += SPACE * style.size
        if frame.cursor + width > frame.line_right and frame.cursor > frame.line_left and not style.nowrap:
            self.end_line(frame)
            self.start_line(frame)

    def text(self, slot: int, style: Style) -> None:
        frame = self.frames[-1]
        width = self.outline.width[slot]
        line = style.line
        if not frame.items:
            self.start_line(frame)
        elif self.outline.spaced[slot] and frame.cursor > frame.line_left:
            frame.cursor += SPACE * style.size
        if frame.cursor + width <= frame.line_right or style.nowrap:
            self.put(frame, slot, frame.cursor, width, line, style)
            frame.cursor += width
            return
        word = min(self.outline.word[slot], WORD * style.size)
        if frame.cursor > frame.line_left and frame.cursor + word > frame.line_right:
            self.end_line(frame)
            self.start_line(frame)
            if frame.cursor + width <= frame.line_right:
                self.put(frame, slot, frame.cursor, width, line, style)
                frame.cursor += width
                return
        self.wrap(frame, slot, style, width, word)

    def wrap(self, frame: Frame, slot: int, style: Style, width: float, word: float) -> None:
        """A text that takes several lines; each loses half a word at its end."""
        line, top = style.line, frame.y
        left, right = frame.line_left, frame.line_right
        usable = max(right - left - word / 2, word, 1.0)
        self.put(frame, slot, frame.cursor, right - frame.cursor, line, style)
        first = frame.line_height
        rest = width - max(0.0, right - frame.cursor - word / 2)
        frame.cursor = right
        self.end_line(frame)
        self.start_line(frame)
        beside = frame.line_right - frame.line_left
        if beside > right - left + 1:  # below the float
            left, right = frame.line_left, frame.line_right
            usable = max(right - left - word / 2, word, 1.0)
        lines = max(1, ceil(rest / usable))
        frame.y += (lines - 1) * line
        self.start_line(frame)
        last = min(max(rest - (lines - 1) * usable, 0.0), right - left)
        self.x[slot], self.y[slot] = left, top
        self.width[slot] = right - left
        self.height[slot] = first + lines * line
        frame.items.append(slot)
        frame.line_height = line
        frame.cursor = frame.line_left + last
        self.x[slot] = left

    def put(self, frame: Frame, slot: int, x: float, width: float, height: float, style: Style) -> None:
        self.x[slot], self.y[slot], self.width[slot] = x, frame.y, width
        text_height = LINE * style.size
        self.height[slot] = text_height if text_height < height else height
        frame.items.append(slot)
        if height > frame.line_height:
            frame.line_height = height

    def open_inline(self, slot: int, style: Style) -> None:
        frame = self.frames[-1]
        if not frame.items:
            self.start_line(frame)
        elif self.outline.spaced[slot] and frame.cursor > frame.line_left:
            frame.cursor += SPACE * style.size
        self.x[slot], self.y[slot] = frame.cursor, frame.y
        self.height[slot] = LINE * style.size
        frame.items.append(slot)

    def close_inline(self, slot: int, style: Style) -> None:
        frame = self.frames[-1]
        items = frame.items
        if items and self.y[slot] >= frame.y - 0.01 and self.x[slot] <= frame.cursor:
            self.width[slot] = frame.cursor - self.x[slot]
            return
        bottom = frame.y + frame.line_height
        self.x[slot], self.width[slot] = frame.left, frame.right - frame.left
        self.height[slot] = max(bottom - self.y[slot], 0.0)

    def break_line(self, slot: int, style: Style) -> None:
        frame = self.frames[-1]
        if not frame.items:
            self.start_line(frame)
        if style.line > frame.line_height:
            frame.line_height = style.line
        self.x[slot], self.y[slot], self.height[slot] = frame.cursor, frame.y, style.line
        frame.items.append(slot)
        self.end_line(frame)
        if style.clear:
            frame.y = max(frame.y, frame.floats.left_bottom, frame.floats.right_bottom)

    def replaced(self, slot: int, style: Style) -> None:
        frame = self.frames[-1]
        width = style.share * (frame.right - frame.left) if style.share else style.width
        height = style.height
        if style.side or style.absolute or style.display == Display.BLOCK:
            self.open_block(slot, style, Display.BLOCK)
            self.frames[-1].y += height
            self.close_block(slot, style, Display.BLOCK)
            return
        self.room(frame, slot, style, width)
        self.put(frame, slot, frame.cursor, width, height, style)
        self.height[slot] = height
        frame.cursor += width

    # Blocks

    def open_block(self, slot: int, style: Style, kind: int) -> None:
        frame = self.frames[-1]
        if kind == Display.CELL:
            self.open_cell(slot, style, frame)
            return
        wide = frame.right - frame.left
        edges = style.pad_left + style.pad_right
        shrink = kind == Display.TABLE or kind == Display.INLINE_BLOCK or bool(style.side) or style.absolute
        margins = style.left + style.right
        if style.width >= 0:
            width = style.width + (edges if kind != Display.TABLE else 0.0)
        elif style.share:
            width = style.share * wide
        elif shrink:
            least, wanted = self.widths.least[slot] - margins, self.widths.wanted[slot] - margins
            width = max(least, min(wanted, wide - margins))
        else:
            width = max(0.0, wide - margins)
        if kind == Display.TABLE:
            columns = self.widths.columns[slot]
            spacing = style.spacing
            content = max(0.0, width - edges - spacing * (len(columns.wanted) + 1))
            given = columns.distribute(content, style.width >= 0 or style.share > 0)
            width = sum(given) + spacing * (len(given) + 1) + edges
        if style.side:
            x, y = self.float_place(frame, style, width + margins)
            floats = Floats(x, x + width)
        elif style.absolute:
            x, y = frame.left + style.x, frame.y + style.y
            floats = Floats(x, x + width)
        elif kind == Display.INLINE_BLOCK:
            self.room(frame, slot, style, width + margins)
            x, y = frame.cursor + style.left, frame.y
            frame.items.append(slot)
            floats = Floats(x, x + width)
        else:
            if frame.items:
                self.end_line(frame)
            self.margin(frame, style.top)
            floats = frame.floats
            if style.clear:
                frame.y = max(frame.y, floats.left_bottom, floats.right_bottom)
            x, y = frame.left + style.left, frame.y
            if kind == Display.TABLE:
                self.start_line(frame)
                if frame.line_right - frame.line_left < width:
                    frame.y = max(frame.y, floats.left_bottom, floats.right_bottom)
                    self.start_line(frame)
                x, y = frame.line_left + style.left, frame.y
                floats = Floats(x, x + width)
            free = wide - width - margins
            if free > 0:
                align = frame.style.block_align
                if style.margin_auto or align == Align.CENTER:
                    x += free / 2
                elif align == Align.RIGHT:
                    x += free
        inner = Frame(slot, style, x + style.pad_left, x + width - style.pad_right, y, floats)
        inner.y += style.pad_top
        inner.margin = 0.0 if style.pad_top or floats is not frame.floats else frame.margin
        self.x[slot], self.y[slot], self.width[slot] = x, y, width
        if kind == Display.TABLE:
            starts = accumulate(given, lambda at, one: at + one + spacing, initial=inner.left + spacing)
            inner.grid = Grid(list(starts))
            inner.y += spacing
            inner.margin = 0.0
        self.frames.append(inner)

    def close_block(self, slot: int, style: Style, kind: int) -> None:
        inner = self.frames.pop()
        frame = self.frames[-1]
        if inner.items:
            self.end_line(inner)
        bottom = max(inner.y - inner.margin, inner.top)
        if kind == Display.TABLE:
            bottom = max(inner.y, inner.top + style.height)
        own_floats = inner.floats is not frame.floats
        if own_floats:
            bottom = max(bottom, inner.floats.left_bottom, inner.floats.right_bottom)
        bottom += style.pad_bottom
        if style.height >= 0 and kind != Display.TABLE and kind != Display.CELL:
            bottom = inner.top + style.height + style.pad_top + style.pad_bottom
        height = bottom - inner.top
        self.height[slot] = height
        if kind == Display.CELL:
            self.grid.cells.append(slot)
            return
        if style.side:
            self.float_end(frame, slot, style, bottom + style.bottom)
        elif style.absolute:
            return
        elif kind == Display.INLINE_BLOCK:
            frame.cursor = inner.right + style.pad_right + style.right
            frame.line_height = max(frame.line_height, height + style.top + style.bottom)
        else:
            if own_floats or style.pad_bottom or style.height >= 0 or bottom > inner.y - inner.margin:
                frame.y, frame.margin = bottom, 0.0
            if not own_floats and not style.pad_bottom and style.height < 0:
                frame.y, frame.margin = inner.y, inner.margin
            self.margin(frame, style.bottom)

    def margin(self, frame: Frame, margin: float) -> None:
        """Leave a margin, shared with the one that is there."""
        if margin > frame.margin:
            frame.y += margin - frame.margin
            frame.margin = margin
        elif margin < 0:
            frame.y += margin

    # Floats

    def float_place(self, frame: Frame, style: Style, width: float) -> tuple[float, float]:
        floats = frame.floats
        y, left, right = frame.y, frame.left, frame.right
        if floats.left_bottom > y:
            left = max(left, floats.left)
        if floats.right_bottom > y:
            right = min(right, floats.right)
        if right - left < width and (left > frame.left or right < frame.right):
            y = max(floats.left_bottom, floats.right_bottom)
            left, right = frame.left, frame.right
        x = left + style.left if style.side == "left" else right - width + style.left
        return x, y + style.top

    def float_end(self, frame: Frame, slot: int, style: Style, bottom: float) -> None:
        floats = frame.floats
        if style.side == "left":
            edge = self.x[slot] + self.width[slot] + style.right
            floats.left = max(floats.left, edge) if floats.left_bottom > self.y[slot] else edge
            floats.left_bottom = max(floats.left_bottom, bottom)
        else:
            edge = self.x[slot] - style.left
            floats.right = min(floats.right, edge) if floats.right_bottom > self.y[slot] else edge
            floats.right_bottom = max(floats.right_bottom, bottom)
        if frame.items:
            self.push(frame)

    def push(self, frame: Frame) -> None:
        """A float came to stand beside the open line."""
        floats = frame.floats
        if floats.left_bottom > frame.y and floats.left > frame.line_left:
            by = floats.left - frame.line_left
            for slot in frame.items:
                self.x[slot] += by
            frame.line_left += by
            frame.cursor += by
        if floats.right_bottom > frame.y and floats.right < frame.line_right:
            frame.line_right = floats.right

    # Tables

    @property
    def grid(self) -> Grid:
        """The innermost open table."""
        grid = self.frames[-1].grid
        assert grid is not None, "rows and cells are such only in tables"
        return grid

    def open_row(self, slot: int) -> None:
        frame = self.frames[-1]
        if self.outline.display[self.outline.parent[slot]] == Display.ROW:  # a form that parts a row
            return
        if frame.items:
            self.end_line(frame)
        self.y[slot] = self.grid.row_y = frame.y

    def open_cell(self, slot: int, style: Style, table: Frame) -> None:
        at = self.widths.column[slot]
        grid = self.grid
        xs = grid.columns
        end = min(at + style.colspan, len(xs) - 1)
        x, width = xs[at], xs[end] - xs[at] - table.style.spacing
        inner = Frame(
            slot, style, x + style.pad_left, x + width - style.pad_right, grid.row_y, Floats(x, x + width)
        )
        inner.y += style.pad_top
        self.x[slot], self.y[slot], self.width[slot] = x, grid.row_y, width
        self.frames.append(inner)

    def close_row(self, slot: int) -> None:
        frame = self.frames[-1]
        if self.outline.display[self.outline.parent[slot]] == Display.ROW:
            return
        grid, styles = self.grid, self.outline.style
        height = max(0.0, styles[slot].height)
        spans = [(cell, rows - 1) for cell, rows in grid.spans]
        for cell in grid.cells:
            style = styles[cell]
            if style.rowspan > 1:
                spans.append((cell, style.rowspan - 1))
            else:
                height = max(height, self.height[cell], style.height + style.pad_top + style.pad_bottom)
        ending = [cell for cell, rows in spans if rows <= 0]
        for cell in ending:
            height = max(height, self.y[cell] + self.height[cell] - grid.row_y)
        bottom = grid.row_y + height
        for cell in ending + [cell for cell in grid.cells if styles[cell].rowspan == 1]:
            self.fill(cell, bottom)
        grid.spans = [(cell, rows) for cell, rows in spans if rows > 0]
        frame.y = bottom + frame.style.spacing
        grid.cells = []
        self.x[slot], self.width[slot] = frame.left, frame.right - frame.left
        self.height[slot] = height

    def fill(self, cell: int, bottom: float) -> None:
        """Stretch a cell down to the bottom of its row; what is inside moves by its vertical alignment."""
        height = bottom - self.y[cell]
        free = height - self.height[cell]
        if free > 0:
            if by := free * self.outline.style[cell].valign:
                self.move(self.down_by, cell, by)
                self.y[cell] -= by
            self.height[cell] = height

    def close_group(self, slot: int) -> None:
        frame = self.frames[-1]
        self.x[slot], self.width[slot] = frame.left, frame.right - frame.left
        self.height[slot] = max(0.0, frame.y - self.y[slot])


# The longest word that is taken into account where a line breaks, in font sizes.
WORD = 3.0


def place(outline: Outline, widths: Widths) -> npt.NDArray[np.float32]:
    """x, y, width and height of each slot of the outline."""
    return Flow(outline, widths).run()
