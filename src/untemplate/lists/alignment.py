"""Align records: put their cells into common columns, by partial tree alignment (DEPTA).

A seed tree grows. It starts as the largest record. Every other record is matched with it from the top down,
children in order, and parts without a partner in the seed are inserted next to their neighbors. The leaves of
the final seed are the columns. Departure from the paper: a part that fits between two neighbors in several ways
is inserted at once, after the left one, instead of waiting for other records. And parts with different captions, such
as `Genre:` and `Price:`, never match, whatever their tags: each caption gets a column of its own. Neither do cells of
a table with different numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from untemplate.lists.cells import CellFinder, Line, Unit
from untemplate.lists.list_headers import TABLE_CELLS, RecordCaptions, table_column
from untemplate.lists.page_tree import TEXT, PageTree, Run, Shapes

__all__ = ["AlignedLines", "align_records"]

AlignedLines = list[list[Line | None]]
"""A list of cells per record, all of the same length; None where a record lacks a column."""

# Matching children is quadratic. Above this many pairs they are matched greedily in order.
MAX_PAIRS = 4_096
# Different parts per element, and cells per list: the columns with the most cells stay. Real lists have about
# 50 columns.
MAX_PARTS = 200
MAX_CELLS = 10_000_000
# Similarity of any two elements with the same tag, so that they match rather than not.
_SAME_TAG = 0.1

_Kind = tuple[str, str, str]
"""Tag, class, and caption or number of the table cell of a part."""


@dataclass(eq=False, slots=True)
class _SeedNode:
    """A part that some records have."""

    kind: _Kind
    #: the row of the first record's part
    row: int
    children: list[_SeedNode] = field(default_factory=list)
    #: record number -> its cell
    cells: dict[int, Line] = field(default_factory=dict)


def align_records(tree: PageTree, shapes: Shapes, cells: CellFinder, runs: Sequence[Run]) -> AlignedLines:
    """Return the cells of each record in common columns.

    Args:
        tree: the page.
        shapes: the shapes of its rows.
        cells: finds the cells inside elements.
        runs: the records, at least one.
    """
    return _Alignment(tree, shapes, cells).align(runs)


class _Alignment:
    def __init__(self, tree: PageTree, shapes: Shapes, cells: CellFinder) -> None:
        self._tree, self._shapes, self._cells = tree, shapes, cells

    def align(self, runs: Sequence[Run]) -> AlignedLines:
        """Grow the seed by all records, the largest first, and read the columns off its leaves."""
        self._captions = RecordCaptions(self._tree, runs)
        seed = _SeedNode(("", "", ""), -1)
        sizes = [len(self._tree.rows_inside(run)) for run in runs]
        for record in sorted(range(len(runs)), key=lambda record: -sizes[record]):
            units = [Unit((row,), self._tree.tags[row] == TEXT) for row in runs[record]]
            self._grow(seed, units, record)
        columns = _fullest_columns(_columns_of(seed), MAX_CELLS // len(runs))
        return [[cells.get(record) for cells in columns] for record in range(len(runs))]

    def _grow(self, root: _SeedNode, units: list[Unit], record: int) -> None:
        """Match a record with the seed, and add its cells."""
        waiting = [(root, units)]
        while waiting:
            seed, inside = waiting.pop()
            for part, unit in zip(self._partners(seed, inside), inside, strict=True):
                if unit.is_cell:
                    part.cells[record] = unit.rows
                else:
                    waiting.append((part, self._cells.units(unit.rows[0])))

    def _partners(self, seed: _SeedNode, units: list[Unit]) -> list[_SeedNode]:
        """Return the child of a seed node for each of these siblings.

        Siblings without a partner get new children, inserted in order. Once a node has MAX_PARTS children, new
        ones are not kept, so that hostile pages cannot blow up the seed.
        """
        kinds = [self._kind_of(unit) for unit in units]
        parts = seed.children
        if [part.kind for part in parts] == kinds:
            return parts
        pairs = self._match(parts, units, kinds)
        partners: list[_SeedNode] = []
        grown: list[_SeedNode] = []
        position = 0
        for index, unit in enumerate(units):
            if index in pairs:
                grown += parts[position : pairs[index] + 1]
                position = pairs[index] + 1
            else:
                grown.append(_SeedNode(kinds[index], unit.rows[0]))
            partners.append(grown[-1])
        grown += parts[position:]
        if len(grown) <= MAX_PARTS:
            seed.children = grown
        return partners

    def _match(
        self, parts: Sequence[_SeedNode], units: Sequence[Unit], kinds: Sequence[_Kind]
    ) -> dict[int, int]:
        """Map unit indices to part indices, in order, so that the sum of similarities is highest."""
        if len(parts) * len(units) > MAX_PAIRS:
            return _match_greedily(parts, kinds)
        best = [[0.0] * (len(parts) + 1) for _ in range(len(units) + 1)]
        for i, unit in enumerate(units, 1):
            above, current = best[i - 1], best[i]
            for j, part in enumerate(parts, 1):
                score = above[j - 1] + self._similarity(part, unit, kinds[i - 1])
                current[j] = max(score, above[j], current[j - 1])
        return _trace_pairs(best)

    def _similarity(self, part: _SeedNode, unit: Unit, kind: _Kind) -> float:
        has_other_caption = part.kind[2] and kind[2] and part.kind[2] != kind[2]
        if part.kind[0] != kind[0] or has_other_caption:
            return 0.0
        if unit.is_cell:
            return 1.0 + (part.kind[2] == kind[2])
        return _SAME_TAG + (part.kind[1] == kind[1]) + self._shapes.similarity(part.row, unit.rows[0])

    def _kind_of(self, unit: Unit) -> _Kind:
        """Return the tag, class and caption of an element; lines differ in their captions only."""
        caption, row = self._captions.of_rows(unit.rows), unit.rows[0]
        if unit.is_cell:
            return (TEXT, "", caption)
        if self._tree.tags[row] in TABLE_CELLS:
            # Empty cells are not in the tree, so the order of the others does not say which is which.
            caption = f"{table_column(self._tree.elements[row])}"
        return (self._tree.tags[row], self._tree.classes[row], caption)


def _trace_pairs(best: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return the pairs that led to the best score in the last corner of a dynamic program."""
    pairs: dict[int, int] = {}
    i, j = len(best) - 1, len(best[0]) - 1
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs[i] = j
    return pairs


def _match_greedily(parts: Sequence[_SeedNode], kinds: Sequence[_Kind]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    position = 0
    for index, kind in enumerate(kinds):
        if position < len(parts) and parts[position].kind == kind:
            pairs[index] = position
            position += 1
    return pairs


def _columns_of(root: _SeedNode) -> list[dict[int, Line]]:
    """Return the cells of each seed node that has any, in document order."""
    columns: list[dict[int, Line]] = []
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if part.cells:
            columns.append(part.cells)
        waiting += reversed(part.children)
    return columns


def _fullest_columns(columns: list[dict[int, Line]], count: int) -> list[dict[int, Line]]:
    """Return at most this many columns, those with the most cells, in their order."""
    if len(columns) <= count:
        return columns
    best = sorted(range(len(columns)), key=lambda number: -len(columns[number]))[:count]
    return [columns[number] for number in sorted(best)]
