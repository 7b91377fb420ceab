"""The leaf sequence of pages: text nodes in document order, the adjacent ones of one value taken together."""

from __future__ import annotations

import numpy as np

from untemplate.labeling.nodes import NodeTable
from untemplate.page.arrays import Bools, Ints, group_rows

__all__ = ["Leaves"]


class Leaves:
    """Rows of a table as leaves: `of[row]` is its leaf, −1 if it has none, `row[leaf]` the first of its rows.
    A whole element stands where its first text does.

    Text nodes that follow each other at the same place are one value, such as the paragraphs of a description, if
    their number differs from page to page; a fixed number of them are several attributes.
    """

    def __init__(self, table: NodeTable) -> None:
        inside = np.flatnonzero(table.is_text & ~table.is_excluded).astype(np.int32)
        starts = ~_continues(table, inside)
        self.row: Ints = inside[starts]
        self.page: Ints = table.page[self.row]
        self.of: Ints = np.full(len(table), -1, np.int32)
        self.of[inside] = np.cumsum(starts, dtype=np.int32) - 1
        self.of = self.of[table.first]

    def __len__(self) -> int:
        return len(self.row)

    def at(self, rows: Ints, offset: int) -> Ints:
        """The rows so many leaves after these, on the same page; −1 beyond its first or last leaf."""
        own = self.of[rows]
        moved = own + offset
        inside = (own >= 0) & (moved >= 0) & (moved < len(self))
        moved = np.where(inside, moved, 0)
        if not len(self):
            return np.full(len(rows), -1, np.int32)
        inside &= self.page[moved] == self.page[np.where(own >= 0, own, 0)]
        return np.where(inside, self.row[moved], -1).astype(np.int32)


def _continues(table: NodeTable, rows: Ints) -> Bools:
    """Whether each of these rows goes on with the value of the one before."""
    if not len(rows):
        return np.zeros(0, np.bool_)
    place, page, static = table.slot[rows], table.page[rows], table.is_static[rows]
    same = np.zeros(len(rows), np.bool_)
    same[1:] = (place[1:] == place[:-1]) & (page[1:] == page[:-1]) & ~static[1:] & ~static[:-1]
    run = np.cumsum(~same) - 1
    first = np.flatnonzero(~same)
    length = np.diff(np.append(first, len(rows)))
    # Runs are alike across pages if they stand at the same place after the same label.
    kind = group_rows(place[first], table.caption[rows[first]])
    longest = np.zeros(int(kind.max()) + 1, np.int64)
    np.maximum.at(longest, kind, length)
    shortest = np.full(len(longest), len(rows) + 1)
    np.minimum.at(shortest, kind, length)
    varies = (longest != shortest)[kind]
    continued: Bools = same & varies[run]
    return continued
