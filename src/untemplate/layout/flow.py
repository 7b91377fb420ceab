"""The flow: all of a page placed in document order, in lines, blocks, floats and tables; linear in the page."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from untemplate.layout.boxes import VIEWPORT
from untemplate.layout.frame import NARROW, UNBEATEN, Canvas, Floats, Frame, Grid
from untemplate.layout.lines import CONTINUED, Lines
from untemplate.layout.outline import Outline
from untemplate.layout.style import (
    BLOCK,
    BREAK,
    CELL,
    GROUP,
    INLINE,
    INLINE_BLOCK,
    REPLACED,
    ROW,
    TABLE,
    TEXT,
    Style,
)
from untemplate.layout.tables import Tables
from untemplate.layout.widths import Widths

__all__ = ["place"]

# So many blocks around one are moved by its margin, which they share.
MAX_SHARING = 16


def place(outline: Outline, widths: Widths) -> npt.NDArray[np.float32]:
    """x, y, width and height of each slot of the outline."""
    flow = _Flow(outline, widths)
    flow.run()
    return flow.canvas.boxes()


class _Flow:
    def __init__(self, outline: Outline, widths: Widths) -> None:
        self.outline = outline
        self.widths = widths
        self.canvas = Canvas(outline)
        self.lines = Lines(outline, self.canvas)
        self.tables = Tables(outline, widths, self.canvas)
        edge = float(VIEWPORT)
        self.frames = [Frame(-1, Style(), 0.0, edge, 0.0, Floats(0.0))]

    def run(self) -> None:
        display, styles, frames = self.outline.display, self.outline.style, self.frames
        lines, tables = self.lines, self.tables
        for event in self.outline.events:
            frame = frames[-1]
            if event >= 0:
                kind, style = display[event], styles[event]
                if kind == TEXT:
                    lines.text(frame, event, style)
                elif kind == INLINE:
                    lines.open_inline(frame, event, style)
                elif kind in (BLOCK, TABLE, INLINE_BLOCK):
                    self.open_block(frame, event, style, kind)
                elif kind == CELL:
                    frames.append(tables.open_cell(frame, event, style))
                    frames[-1].origin = frame.origin
                elif kind == BREAK:
                    lines.break_line(frame, event, style)
                elif kind == REPLACED:
                    self.replaced(frame, event, style)
                else:
                    self.end_line(frame)
                    tables.open_part(frame, event, kind)
            else:
                slot = ~event
                kind, style = display[slot], styles[slot]
                if kind == INLINE:
                    lines.close_inline(frame, slot, style)
                elif kind in (BLOCK, TABLE, INLINE_BLOCK, CELL):
                    self.close_block(frame, slot, style, kind)
                elif kind in (ROW, GROUP):
                    self.end_line(frame)
                    tables.close_part(frame, slot, kind)

    def end_line(self, frame: Frame) -> None:
        if frame.items:
            self.lines.end(frame)

    def replaced(self, frame: Frame, slot: int, style: Style) -> None:
        if style.side or style.absolute:
            self.open_block(frame, slot, style, BLOCK)
            self.close_block(self.frames[-1], slot, style, BLOCK)
        else:
            width = style.width if style.width >= 0 else self.widths.wanted[slot] - style.left - style.right
            if style.share:
                width = style.share * (frame.right - frame.left)
            self.lines.replaced(frame, slot, style, max(0.0, width), max(0.0, style.height))

    # Blocks

    def open_block(self, frame: Frame, slot: int, style: Style, kind: int) -> None:
        width, columns = self.block_width(frame, slot, style, kind)
        floats = frame.floats
        if style.side:
            x, y = self.beside_floats(frame, style, width)
        elif style.absolute:
            x = (frame.left if style.x is None else frame.origin[0] + style.x) + style.left
            y = (frame.y if style.y is None else frame.origin[1] + style.y) + style.top
        elif kind == INLINE_BLOCK:
            self.lines.room(frame, slot, style, width + style.left + style.right)
            x, y = frame.cursor + style.left, frame.y + style.top
            frame.items.append(slot)
        else:
            self.end_line(frame)
            self.start_with_marker(frame, style)
            self.leave_margin(frame, style.top)
            if style.clear:
                frame.go_below_floats()
            x, y = self.block_start(frame, style, kind, width)
        contains = kind != BLOCK or style.contains or bool(style.side) or style.absolute
        if contains:
            floats = Floats(y)
        inner = Frame(slot, style, x + style.pad_left, x + width - style.pad_right, y, floats)
        inner.y += style.pad_top
        inner.origin = (x, y) if style.absolute or style.relative else frame.origin
        inner.holds_margin = contains or style.pad_top > 0
        if style.quirk and not style.marker:
            inner.margin = UNBEATEN
        elif not inner.holds_margin:
            inner.margin = frame.margin
        if kind == TABLE:
            spacing = style.spacing
            starts = accumulate(columns, lambda at, one: at + one + spacing, initial=inner.left + spacing)
            inner.grid = Grid(list(starts))
            inner.y += spacing if columns else 0.0
        self.canvas.x[slot], self.canvas.y[slot], self.canvas.width[slot] = x, y, width
        self.frames.append(inner)

    def block_width(self, frame: Frame, slot: int, style: Style, kind: int) -> tuple[float, list[float]]:
        """The width with paddings, and those of a table's columns."""
        around = frame.right - frame.left
        edges, margins = style.pad_left + style.pad_right, style.left + style.right
        if style.width >= 0:
            width = style.width + (0.0 if kind == TABLE else edges)
        elif style.share:
            width = style.share * around + (0.0 if kind == TABLE else edges)
        elif kind != BLOCK or style.side or style.absolute:
            if kind == INLINE_BLOCK and frame.style.flex and frame.items:
                around = frame.line_right - frame.cursor
            width = max(self.widths.least[slot] - margins, min(self.widths.wanted[slot], around) - margins)
        else:
            width = around - margins
        if kind != TABLE:
            return max(0.0, width), []
        columns = self.widths.columns[slot]
        edges += style.spacing * (len(columns.wanted) + 1)
        given = columns.distribute(max(0.0, width - edges), style.width >= 0 or style.share > 0)
        return sum(given) + edges if given else max(edges, width), given

    def block_start(self, frame: Frame, style: Style, kind: int, width: float) -> tuple[float, float]:
        """Where a block of the normal flow starts; tables, and what contains its floats, go beside floats."""
        left, right = frame.left, frame.right
        if (kind == TABLE or style.contains) and frame.floats.bottom > frame.y:
            wide = width if kind == TABLE or style.width >= 0 else NARROW
            frame.y, left, right = frame.floats.room(left, right, frame.y, wide)
        if kind == TABLE:
            frame.margin = 0.0
        free = right - left - width - style.left - style.right
        align = 0.5 if style.margin_auto else frame.style.block_align
        return left + style.left + (free * align if free > 0 else 0.0), frame.y

    def close_block(self, inner: Frame, slot: int, style: Style, kind: int) -> None:
        self.end_line(inner)
        self.frames.pop()
        frame = self.frames[-1]
        contains = inner.floats is not frame.floats
        bottom = inner.y if contains else inner.y - inner.margin
        bottom = max(bottom, inner.top + style.pad_top)
        if contains:
            bottom = max(bottom, inner.floats.bottom)
        elif style.marker and bottom == inner.top:  # only the marker is there
            inner.y, inner.margin = bottom + style.line, 0.0
            bottom = inner.y
        if style.height >= 0:
            given = inner.top + style.pad_top + style.height
            bottom = max(bottom, given) if kind in (TABLE, CELL) else given
        bottom = max(bottom, inner.top + style.pad_top + style.min_height) + style.pad_bottom
        self.canvas.height[slot] = bottom - inner.top
        if style.relative and (style.x or style.y):
            self.canvas.move(slot, style.x or 0.0, style.y or 0.0)
        if kind == CELL:
            self.tables.close_cell(frame, slot)
        elif style.side:
            self.end_float(frame, slot, style, bottom)
        elif style.absolute:
            return
        elif kind == INLINE_BLOCK:
            frame.cursor = inner.right + style.pad_right + style.right
            frame.fill_line(bottom - inner.top + style.top + style.bottom)
        else:
            if contains or style.pad_bottom or style.height >= 0 or style.min_height:
                frame.y, frame.margin = bottom, 0.0
            else:
                frame.y, frame.margin = inner.y, inner.margin
            frame.leave(style.bottom)

    def start_with_marker(self, frame: Frame, style: Style) -> None:
        """The marker of a list item that starts with a list has a line of its own in old browsers."""
        item = frame.style
        if item.marker and item.quirk and frame.y == frame.top and style.list_depth > item.list_depth:
            frame.y += item.line
            frame.margin = 0.0

    def leave_margin(self, frame: Frame, margin: float) -> None:
        """Leave a margin above a block; blocks that start with it share the margin, so they move too."""
        top = frame.y
        frame.leave(margin)
        by, level = frame.y - top, len(self.frames) - 1
        while by and level and level > len(self.frames) - MAX_SHARING:
            around = self.frames[level]
            if around.holds_margin or around.top != top:
                break
            around.top = around.y = self.canvas.y[around.slot] = frame.y
            level -= 1

    # Floats

    def beside_floats(self, frame: Frame, style: Style, width: float) -> tuple[float, float]:
        """Where a float goes: beside those that are there, or below them, but not above the last."""
        whole = width + style.left + style.right
        top = max(frame.y, frame.floats.last_top)
        y, left, right = frame.floats.room(frame.left, frame.right, top, whole)
        x = left if style.side == "left" else right - whole
        return x + style.left, y + style.top

    def end_float(self, frame: Frame, slot: int, style: Style, bottom: float) -> None:
        x, top = self.canvas.x[slot], self.canvas.y[slot] - style.top
        edge = x + self.canvas.width[slot] + style.right if style.side == "left" else x - style.left
        frame.floats.add(style.side, edge, top, bottom + style.bottom)
        if frame.items:
            self.make_room(frame)

    def make_room(self, frame: Frame) -> None:
        """A float came to stand beside the open line."""
        left, frame.line_right = frame.floats.beside(frame.line_left, frame.line_right, frame.y)
        if by := left - frame.line_left:
            for slot in frame.items:
                if slot != CONTINUED:
                    self.canvas.x[slot] += by
            frame.line_left += by
            frame.cursor += by
