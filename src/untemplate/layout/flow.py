"""The flow: all of a page placed in document order, in lines, blocks, floats and tables; linear in the page."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from untemplate.layout.boxes import VIEWPORT
from untemplate.layout.frame import Canvas, Floats, Frame, Grid
from untemplate.layout.lines import Lines
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

# A margin that no other exceeds: what would add to it, adds nothing.
ALL = 1e9


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
        self.frames = [Frame(Style(), 0.0, edge, 0.0, Floats(0.0, edge, 0.0))]

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
        width = style.share * (frame.right - frame.left) if style.share else style.width
        if style.side or style.absolute:
            self.open_block(frame, slot, style, BLOCK)
            self.close_block(self.frames[-1], slot, style, BLOCK)
        else:
            self.lines.replaced(frame, slot, style, width, style.height)

    # Blocks

    def open_block(self, frame: Frame, slot: int, style: Style, kind: int) -> None:
        width, columns = self.block_width(frame, slot, style, kind)
        floats = frame.floats
        if style.side:
            x, y = self.beside_floats(frame, style, width)
        elif style.absolute:
            x, y = frame.left + style.left + style.x, frame.y + style.top + style.y
        elif kind == INLINE_BLOCK:
            self.lines.room(frame, slot, style, width + style.left + style.right)
            x, y = frame.cursor + style.left, frame.y + style.top
            frame.items.append(slot)
        else:
            self.end_line(frame)
            frame.leave(style.top)
            if style.clear:
                frame.go_below_floats()
            x, y = self.block_start(frame, style, kind, width)
        contains = kind != BLOCK or style.contains or bool(style.side) or style.absolute
        if contains:
            floats = Floats(x, x + width, y)
        inner = Frame(style, x + style.pad_left, x + width - style.pad_right, y, floats)
        inner.y += style.pad_top
        inner.margin = ALL if style.quirk else 0.0 if contains or style.pad_top else frame.margin
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
        return max(sum(given) + edges, width) if not given else sum(given) + edges, given

    def block_start(self, frame: Frame, style: Style, kind: int, width: float) -> tuple[float, float]:
        """Where a block of the normal flow starts; tables, and what contains its floats, go beside floats."""
        left, right = frame.left, frame.right
        if (kind == TABLE or style.contains) and frame.floats.bottom > frame.y:
            beside_left, beside_right = frame.floats.beside(left, right, frame.y)
            if beside_right - beside_left >= width:
                left, right = beside_left, beside_right
            elif kind == TABLE or style.width >= 0:
                frame.go_below_floats()
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
        bottom = inner.y if contains and not style.quirk else inner.y - inner.margin
        bottom = max(bottom, inner.top + style.pad_top)
        if contains:
            bottom = max(bottom, inner.floats.bottom)
        if style.height >= 0:
            given = inner.top + style.pad_top + style.height
            bottom = max(bottom, given) if kind in (TABLE, CELL) else given
        bottom = max(bottom, inner.top + style.pad_top + style.min_height) + style.pad_bottom
        self.canvas.height[slot] = bottom - inner.top
        if kind == CELL:
            self.tables.close_cell(frame, slot)
        elif style.side:
            self.end_float(frame, slot, style, bottom)
        elif style.absolute:
            return
        elif kind == INLINE_BLOCK:
            frame.cursor = inner.right + style.pad_right + style.right
            height = bottom - inner.top + style.top + style.bottom
            if height > frame.line_height:
                frame.line_height = height
        else:
            if contains or style.pad_bottom or style.height >= 0 or style.min_height:
                frame.y, frame.margin = bottom, 0.0
            else:
                frame.y, frame.margin = inner.y, inner.margin
            frame.leave(style.bottom)

    # Floats

    def beside_floats(self, frame: Frame, style: Style, width: float) -> tuple[float, float]:
        """Where a float goes: beside those that are there, or below them."""
        y, whole = frame.y, width + style.left + style.right
        left, right = frame.floats.beside(frame.left, frame.right, y)
        if right - left < whole and (left > frame.left or right < frame.right):
            y = frame.floats.bottom
            left, right = frame.left, frame.right
        x = left if style.side == "left" else right - whole
        return x + style.left, y + style.top

    def end_float(self, frame: Frame, slot: int, style: Style, bottom: float) -> None:
        floats, x, y = frame.floats, self.canvas.x[slot], self.canvas.y[slot] - style.top
        bottom += style.bottom
        if style.side == "left":
            edge = x + self.canvas.width[slot] + style.right
            beside = floats.left_bottom > y
            floats.left = max(floats.left, edge) if beside else edge
            floats.left_bottom = max(floats.left_bottom, bottom) if beside else bottom
        else:
            edge = x - style.left
            beside = floats.right_bottom > y
            floats.right = min(floats.right, edge) if beside else edge
            floats.right_bottom = max(floats.right_bottom, bottom) if beside else bottom
        if frame.items:
            self.make_room(frame)

    def make_room(self, frame: Frame) -> None:
        """A float came to stand beside the open line."""
        left, right = frame.floats.beside(frame.line_left, frame.line_right, frame.y)
        by = left - frame.line_left
        if by:
            for slot in frame.items:
                if slot >= 0:
                    self.canvas.x[slot] += by
            frame.line_left += by
            frame.cursor += by
        frame.line_right = right
