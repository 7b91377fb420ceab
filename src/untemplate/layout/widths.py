"""How wide things want to be: on one line, and at least; bottom up, columns of tables included."""

from __future__ import annotations

from dataclasses import dataclass, field

from untemplate.layout.defaults import MAX_SPAN
from untemplate.layout.outline import Outline
from untemplate.layout.style import BREAK, CELL, GROUP, INLINE, INLINE_BLOCK, REPLACED, ROW, TABLE, TEXT
from untemplate.layout.text import SPACE

__all__ = ["Columns", "Widths", "measure_widths"]

IN_LINES = frozenset({TEXT, INLINE, INLINE_BLOCK, REPLACED})


@dataclass
class Columns:
    """The columns of a table: the least and the wanted width of each, and what the page says."""

    least: list[float] = field(default_factory=list)
    wanted: list[float] = field(default_factory=list)
    fixed: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)

    def distribute(self, width: float, fill: bool) -> list[float]:
        """A width for each column; they take up the whole width if they need to, or if `fill` says so."""
        pairs = zip(self.wanted, self.least, self.fixed, self.share, strict=True)
        want = [
            max(least, share * width if share else fixed if fixed >= 0 else wanted)
            for wanted, least, fixed, share in pairs
        ]
        total, least = sum(want), sum(self.least)
        if total > width:
            if total <= least:
                return want
            part = max(0.0, width - least) / (total - least)
            return [low + part * (high - low) for low, high in zip(self.least, want, strict=True)]
        if not want or not fill or total >= width:
            return want
        free = [not share and fixed < 0 for share, fixed in zip(self.share, self.fixed, strict=True)]
        growing = [wide if ok else 0.0 for wide, ok in zip(want, free, strict=True)]
        if not sum(growing):
            growing = [wide or 1.0 for wide in want]
        extra = (width - total) / sum(growing)
        return [wide + extra * grow for wide, grow in zip(want, growing, strict=True)]


@dataclass
class Widths:
    """Of each slot its width on one line and at least, margins and paddings included; of tables the columns."""

    wanted: list[float]
    least: list[float]
    columns: dict[int, Columns]
    #: the first column of each cell
    column: dict[int, int]


def measure_widths(outline: Outline) -> Widths:
    """Inside before outside, in one pass from the last event to the first."""
    count = len(outline.display)
    wanted, least = outline.width, outline.least
    run = [0.0] * count  # of the line that is open in each slot
    rows: dict[int, list[int]] = {}  # the cells of each row, or the rows of each table, last first
    columns: dict[int, Columns] = {}
    column: dict[int, int] = {}
    display, styles, parents, spaced = outline.display, outline.style, outline.parent, outline.spaced
    homes = _homes(outline)
    for slot in reversed(outline.events):
        if slot < 0:
            continue
        kind = display[slot]
        style = styles[slot]
        parent = parents[slot]
        if kind == TEXT:
            width = wanted[slot]
            low = width if style.nowrap else least[slot]
        elif kind == BREAK:
            width = low = 0.0
        else:
            width = run[slot] if run[slot] > wanted[slot] else wanted[slot]
            low = least[slot]
            if kind == TABLE:
                columns[slot] = table = _columns(rows.pop(slot, []), rows, outline, wanted, least, column)
                edges = style.spacing * (len(table.wanted) + 1)
                width = max(width, sum(map(max, table.wanted, table.fixed)) + edges)
                low = max(low, sum(table.least) + edges)
            if kind != INLINE:
                edges = style.pad_left + style.pad_right
                if style.width >= 0:
                    width = style.width
                    low = max(low, width) if kind in (TABLE, CELL) else width
                    width = max(low, width)
                width += edges
                low += edges
                if kind != CELL:
                    width += style.left + style.right
                    low += style.left + style.right
            wanted[slot] = width
            least[slot] = low
        if parent < 0:
            continue
        if kind == CELL or (kind == ROW and slot not in homes):
            rows.setdefault(homes.get(parent, parent), []).append(slot)
            continue
        if style.absolute and kind != TEXT:
            continue
        if low > least[parent]:
            least[parent] = low
        if kind in IN_LINES or (kind != TEXT and style.side):
            run[parent] += width + SPACE * style.scale if spaced[slot] else width
        else:
            widest = run[parent] if run[parent] > width else width
            run[parent] = 0.0
            if widest > wanted[parent]:
                wanted[parent] = widest
    return Widths(wanted, least, columns, column)


def _homes(outline: Outline) -> dict[int, int]:
    """The table of each group of rows; and the row that a row inside it is part of."""
    homes: dict[int, int] = {}
    for slot in outline.events:
        if slot >= 0 and (kind := outline.display[slot]) in (GROUP, ROW):
            parent = outline.parent[slot]
            if kind == GROUP or outline.display[parent] == ROW:
                homes[slot] = homes.get(parent, parent)
    return homes


def _columns(
    table_rows: list[int],
    cells_of: dict[int, list[int]],
    outline: Outline,
    wanted: list[float],
    least: list[float],
    column: dict[int, int],
) -> Columns:
    """The columns of a table from its rows, and these from their cells; says in `column` where each cell starts."""
    columns = Columns()
    taken_until: list[int] = []  # the row before which each column is taken by a cell from above
    wide_cells: list[tuple[int, int, int]] = []
    for number, row in enumerate(reversed(table_rows)):
        at = 0
        for cell in reversed(cells_of.pop(row, [])):
            style = outline.style[cell]
            while at < len(taken_until) and taken_until[at] > number:
                at += 1
            at = min(at, MAX_SPAN - 1)
            span = min(style.colspan, MAX_SPAN - at)
            column[cell] = at
            missing = at + span - len(taken_until)
            if missing > 0:
                taken_until += [0] * missing
                columns.least += [0.0] * missing
                columns.wanted += [0.0] * missing
                columns.fixed += [-1.0] * missing
                columns.share += [0.0] * missing
            if style.rowspan > 1:
                taken_until[at : at + span] = [number + style.rowspan] * span
            if span > 1:
                wide_cells.append((cell, at, span))
            else:
                columns.least[at] = max(columns.least[at], least[cell])
                columns.wanted[at] = max(columns.wanted[at], wanted[cell])
                if style.width >= 0:
                    columns.fixed[at] = max(columns.fixed[at], style.width + style.pad_left + style.pad_right)
                columns.share[at] = max(columns.share[at], min(1.0, style.share))
            at += span
    for cell, at, span in wide_cells:
        part = slice(at, at + span)
        columns.least[part] = _stretched(columns.least[part], columns.wanted[part], least[cell])
        columns.wanted[part] = _stretched(columns.wanted[part], columns.wanted[part], wanted[cell])
    for at, low in enumerate(columns.least):
        columns.wanted[at] = max(columns.wanted[at], low)
    return columns


def _stretched(widths: list[float], by: list[float], to: float) -> list[float]:
    """The widths made to add up to a larger one, in proportion to others."""
    missing, total = to - sum(widths), sum(by)
    if missing <= 0:
        return widths
    if not total:
        return [width + missing / len(widths) for width in widths]
    return [width + missing * share / total for width, share in zip(widths, by, strict=True)]
