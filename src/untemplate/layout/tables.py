"""Tables: rows below each other, cells in the columns that the widths of all rows gave."""

from __future__ import annotations

from untemplate.layout.frame import UNBEATEN, Canvas, Floats, Frame, Grid
from untemplate.layout.outline import Outline
from untemplate.layout.style import ROW, Style
from untemplate.layout.widths import Widths

__all__ = ["Tables"]


class Tables:
    """Places the parts of tables."""

    def __init__(self, outline: Outline, widths: Widths, canvas: Canvas) -> None:
        self._outline = outline
        self._column = widths.column
        self._canvas = canvas

    def open_part(self, table: Frame, slot: int, kind: int) -> None:
        """Open a row or a group of rows."""
        self._canvas.x[slot], self._canvas.y[slot] = table.left, table.y
        self._canvas.width[slot] = table.right - table.left
        if kind == ROW and not self._inside_row(slot):
            _grid(table).row_y = table.y

    def close_part(self, table: Frame, slot: int, kind: int) -> None:
        if kind == ROW and not self._inside_row(slot):
            self._close_row(table, slot)
        else:
            self._canvas.height[slot] = max(0.0, table.y - self._canvas.y[slot])

    def open_cell(self, table: Frame, slot: int, style: Style) -> Frame:
        grid = _grid(table)
        first = self._column[slot]
        after = min(first + style.colspan, len(grid.columns) - 1)
        x, y = grid.columns[first], grid.row_y
        width = max(0.0, grid.columns[after] - x - table.style.spacing)
        self._canvas.x[slot], self._canvas.y[slot], self._canvas.width[slot] = x, y, width
        cell = Frame(slot, style, x + style.pad_left, x + width - style.pad_right, y, Floats(y))
        cell.y += style.pad_top
        cell.margin = UNBEATEN if style.quirk else 0.0
        return cell

    def close_cell(self, table: Frame, slot: int) -> None:
        _grid(table).cells.append(slot)

    def _close_row(self, table: Frame, slot: int) -> None:
        """A row is as high as its highest cell, and all cells fill it."""
        grid, styles, heights = _grid(table), self._outline.style, self._canvas.height
        height = max(0.0, styles[slot].height)
        spans = [(cell, rows - 1) for cell, rows in grid.spans]
        ending: list[int] = []
        for cell in grid.cells:
            if styles[cell].rowspan > 1:
                spans.append((cell, styles[cell].rowspan - 1))
            else:
                height = max(height, heights[cell])
                ending.append(cell)
        for cell, rows in spans:
            if rows <= 0:
                height = max(height, self._canvas.y[cell] + heights[cell] - grid.row_y)
                ending.append(cell)
        bottom = grid.row_y + height
        for cell in ending:
            self._fill(cell, bottom)
        grid.spans = [(cell, rows) for cell, rows in spans if rows > 0]
        grid.cells = []
        heights[slot] = height
        table.y = bottom + table.style.spacing

    def _fill(self, cell: int, bottom: float) -> None:
        """Stretch a cell down to the bottom of its row; what is inside moves by its vertical alignment."""
        canvas = self._canvas
        free = bottom - canvas.y[cell] - canvas.height[cell]
        if free > 0:
            by = free * self._outline.style[cell].valign
            canvas.move(cell, 0.0, by)
            canvas.y[cell] -= by  # the cell itself stays
            canvas.height[cell] += free

    def _inside_row(self, slot: int) -> bool:
        """Whether it is a form that parts a row."""
        parent = self._outline.parent[slot]
        return self._outline.display[parent] == ROW


def _grid(table: Frame) -> Grid:
    assert table.grid is not None, "rows and cells are such only in tables"
    return table.grid
