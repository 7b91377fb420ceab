"""Alignment: records into rows of the same columns, by partial tree alignment (DEPTA).

A seed tree grows: it starts as the record with most texts, and every other record is matched with it from the top
down, children in their order; what has no partner in the seed is put in where its neighbours are. The leaves of the
grown seed are the columns. Departure from the paper: a part that fits between two neighbours in several ways is put
in at once, behind the left one, instead of waiting for other records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from untemplate.lists.cells import Cells, Line, Unit
from untemplate.lists.groups import Run
from untemplate.lists.shapes import Shapes
from untemplate.lists.tree import TEXT, Tree

__all__ = ["align"]

# Matching children is quadratic; above so many pairs they are matched one by one in their order.
MAX_PAIRS = 4_096
# So many different parts of one element are told apart, and so many cells are kept of a list, those of columns that
# most records have. Real lists have some 50 columns.
MAX_PARTS = 200
MAX_CELLS = 10_000_000

Label = tuple[str, str]


@dataclass(eq=False, slots=True)
class _Seed:
    """A part that some records have: what it looks like, and what is in it."""

    label: Label
    row: int  # the first that was put here
    children: list[_Seed] = field(default_factory=list)
    #: of each record that has a cell here, its rows
    cells: dict[int, Line] = field(default_factory=dict)


def align(tree: Tree, shapes: Shapes, cells: Cells, runs: Sequence[Run]) -> list[list[Line | None]]:
    """Of each run its cells, None where it lacks a column; all of the same length."""
    return _Alignment(tree, shapes, cells).align(runs)


class _Alignment:
    def __init__(self, tree: Tree, shapes: Shapes, cells: Cells) -> None:
        self._tree, self._shapes, self._cells = tree, shapes, cells

    def align(self, runs: Sequence[Run]) -> list[list[Line | None]]:
        seed = _Seed(("", ""), -1)
        sizes = [sum(int(self._tree.end[row]) - row for row in run) for run in runs]
        for number in sorted(range(len(runs)), key=lambda number: -sizes[number]):
            units = [Unit((row,), self._tree.tags[row] == TEXT) for row in runs[number]]
            self._grow(seed, units, number)
        columns = _most_used([leaf.cells for leaf in _leaves(seed)], MAX_CELLS // len(runs))
        return [[cells.get(number) for cells in columns] for number in range(len(runs))]

    def _grow(self, top: _Seed, units: list[Unit], record: int) -> None:
        waiting = [(top, units)]
        while waiting:
            seed, inside = waiting.pop()
            for part, unit in zip(self._partners(seed, inside), inside, strict=True):
                if unit.is_cell:
                    part.cells[record] = unit.rows
                else:
                    waiting.append((part, self._cells.units(unit.rows[0])))

    def _partners(self, seed: _Seed, units: list[Unit]) -> list[_Seed]:
        """Where in the seed each of these siblings belongs; what has no partner is put in."""
        labels = [self._label(unit) for unit in units]
        parts = seed.children
        if len(parts) == len(labels) and [part.label for part in parts] == labels:
            return parts
        pairs = self._match(parts, units, labels)
        partners: list[_Seed] = []
        grown: list[_Seed] = []
        position = 0
        for index, unit in enumerate(units):
            partner = pairs.get(index)
            if partner is None:
                partners.append(_Seed(labels[index], unit.rows[0]))
                grown.append(partners[-1])
            else:
                grown += parts[position : partner + 1]
                position = partner + 1
                partners.append(parts[partner])
        grown += parts[position:]
        if len(grown) <= MAX_PARTS:
            seed.children = grown
        return partners

    def _match(
        self, parts: Sequence[_Seed], units: Sequence[Unit], labels: Sequence[Label]
    ) -> dict[int, int]:
        """Pairs of a unit's index and a part's, in order, that are the most alike together."""
        if len(parts) * len(units) > MAX_PAIRS:
            return _match_in_order(parts, labels)
        best = [[0.0] * (len(parts) + 1) for _ in range(len(units) + 1)]
        for i, unit in enumerate(units, 1):
            above, here = best[i - 1], best[i]
            for j, part in enumerate(parts, 1):
                score = above[j - 1] + self._likeness(part, unit, labels[i - 1])
                here[j] = max(score, above[j], here[j - 1])
        pairs: dict[int, int] = {}
        i, j = len(units), len(parts)
        while i and j:
            if best[i][j] == best[i - 1][j]:
                i -= 1
            elif best[i][j] == best[i][j - 1]:
                j -= 1
            else:
                i, j = i - 1, j - 1
                pairs[i] = j
        return pairs

    def _likeness(self, part: _Seed, unit: Unit, label: Label) -> float:
        if part.label[0] != label[0]:
            return 0.0
        if unit.is_cell:
            return 1.0
        return 0.1 + (part.label[1] == label[1]) + self._shapes.likeness(part.row, unit.rows[0])

    def _label(self, unit: Unit) -> Label:
        """The tag and the class of an element; lines are all the same."""
        item = self._tree.items[unit.rows[0]]
        if unit.is_cell or isinstance(item, str):
            return (TEXT, "")
        return (item.tag, item.get("class", ""))


def _match_in_order(parts: Sequence[_Seed], labels: Sequence[Label]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    position = 0
    for index, label in enumerate(labels):
        if position < len(parts) and parts[position].label == label:
            pairs[index] = position
            position += 1
    return pairs


def _most_used(columns: list[dict[int, Line]], count: int) -> list[dict[int, Line]]:
    """So many columns, those with most cells, in their order."""
    if len(columns) <= count:
        return columns
    best = sorted(range(len(columns)), key=lambda number: -len(columns[number]))[:count]
    return [columns[number] for number in sorted(best)]


def _leaves(seed: _Seed) -> list[_Seed]:
    found: list[_Seed] = []
    waiting = [seed]
    while waiting:
        part = waiting.pop()
        if part.cells:
            found.append(part)
        waiting += reversed(part.children)
    return found
