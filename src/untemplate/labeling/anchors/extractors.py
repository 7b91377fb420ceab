"""Candidate extractors of a site: XPaths for anchors, and offsets from them for what is near.

An XPath is a data field: a tag path with its nearest classes or ids, or the caption before it, and the position
among equal ones. An offset counts leaves: text nodes in document order, with the adjacent ones of one value joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from untemplate.labeling.nodes import Fields, NodeTable
from untemplate.page.arrays import Bools, Floats, Ints, group_rows

__all__ = ["OFFSET", "WINDOW", "Extractors", "LeafSequence", "annotation_threshold", "choose_xpaths"]

# Leaves from an anchor within which other attributes are searched: the paper's ω.
WINDOW = 7
# What `Fields.grouping` contains for an extractor by offset.
OFFSET = 3
# Part of the expected annotations that an XPath needs (the analysis of section 6 gives the expected number): new
# sites are not better than those on which recall was measured.
MARGIN = 0.5
# Bounds of the threshold.
MIN_THRESHOLD, MAX_THRESHOLD = 0.04, 0.5


class LeafSequence:
    """The rows of a table as leaves. An element that spans several texts is at the leaf of its first text.

    Adjacent text nodes in the same slot are one value, such as the paragraphs of a description, if their number
    differs from page to page. A fixed number of them are several attributes.

    Attributes:
        row: The first row of each leaf.
        page: The page of each leaf.
        of: The leaf of each row, −1 if it has none.
    """

    def __init__(self, table: NodeTable) -> None:
        rows = np.flatnonzero(table.is_text & ~table.is_excluded).astype(np.int32)
        starts = ~_continues_value(table, rows)
        self.row: Ints = rows[starts]
        self.page: Ints = table.page[self.row]
        self.of: Ints = np.full(len(table), -1, np.int32)
        self.of[rows] = np.cumsum(starts, dtype=np.int32) - 1
        self.of = self.of[table.first]

    def __len__(self) -> int:
        return len(self.row)

    def shift(self, rows: Ints, offset: int) -> Ints:
        """Return the rows `offset` leaves after these on the same page; −1 beyond its first or last leaf."""
        if not len(self):
            return np.full(len(rows), -1, np.int32)
        leaves = self.of[rows]
        moved = leaves + offset
        inside = (leaves >= 0) & (moved >= 0) & (moved < len(self))
        moved = np.where(inside, moved, 0)
        inside &= self.page[moved] == self.page[np.where(leaves >= 0, leaves, 0)]
        return np.where(inside, self.row[moved], -1).astype(np.int32)


def _continues_value(table: NodeTable, rows: Ints) -> Bools:
    """Return for each of these rows whether it continues the value of the row before."""
    if not len(rows):
        return np.zeros(0, np.bool_)
    slot, page, static = table.slot[rows], table.page[rows], table.is_static[rows]
    same = np.zeros(len(rows), np.bool_)
    same[1:] = (slot[1:] == slot[:-1]) & (page[1:] == page[:-1]) & ~static[1:] & ~static[:-1]
    run = np.cumsum(~same) - 1
    first = np.flatnonzero(~same)
    length = np.diff(np.append(first, len(rows)))
    # Runs of different pages correspond if they are in the same slot after the same caption.
    kind = group_rows(slot[first], table.caption[rows[first]])
    longest = np.zeros(int(kind.max()) + 1, np.int64)
    np.maximum.at(longest, kind, length)
    shortest = np.full(len(longest), len(rows) + 1)
    np.minimum.at(shortest, kind, length)
    varies = (longest != shortest)[kind]
    continued: Bools = same & varies[run]
    return continued


def annotation_threshold(recall: float, share: float) -> float:
    """Return the share of all pages on which an XPath must be annotated (section 6: τ ≤ φ R).

    Args:
        recall: The recall of the annotator.
        share: The share of pages that have the attribute.
    """
    return min(MAX_THRESHOLD, max(MIN_THRESHOLD, MARGIN * recall * share))


def choose_xpaths(fields: Fields, marks: Bools, candidates: Ints, share: float) -> Ints:
    """Return the XPaths with annotated nodes on at least this share of the pages, the most annotated first.

    This is algorithm 1 of the paper.
    """
    counts = np.bincount(fields.field, weights=marks[fields.row], minlength=len(fields))[candidates]
    enough = counts >= max(1.0, share * len(fields.table.pages))
    order = np.argsort(-counts[enough], kind="stable")
    return candidates[enough][order]


class Extractors(Fields):
    """The fields of a site, and after them extractors at offsets from some of them.

    Attributes:
        origins: Of each extractor, the field of its anchor and the offset from it; itself and 0 for XPaths.
        exceptions: Of each extractor, the share of its anchor's pages that have no such leaf.
    """

    def __init__(
        self, base: Fields, leaves: LeafSequence, anchors: Sequence[int], window: int = WINDOW
    ) -> None:
        """Add extractors up to `window` leaves before and after the anchors. Equal extractors are added once."""
        self.table = base.table
        self._base = base
        rows, numbers, exceptions = [base.row], [base.field], [0.0] * len(base)
        origins = [(number, 0) for number in range(len(base))]
        seen = {base.rows_of(number).tobytes() for number in range(len(base))}
        offsets = (*range(-window, 0), *range(1, window + 1))
        for anchor in anchors:
            anchor_rows = base.rows_of(anchor)
            for offset in offsets:
                shifted = leaves.shift(anchor_rows, offset)
                shifted = shifted[shifted >= 0]
                if len(shifted) < 2 or shifted.tobytes() in seen:
                    continue
                seen.add(shifted.tobytes())
                rows.append(shifted)
                numbers.append(np.full(len(shifted), len(origins), np.int32))
                exceptions.append(1 - len(shifted) / len(anchor_rows))
                origins.append((anchor, offset))
        self.row = np.concatenate(rows)
        self.field = np.concatenate(numbers)
        self.grouping = np.concatenate([base.grouping, np.full(len(origins) - len(base), OFFSET, np.int32)])
        self.origins = origins
        self.exceptions: Floats = np.array(exceptions, np.float32)

    @cached_property
    def _stripped(self) -> tuple[Ints, list[str], Ints, list[str]]:
        return self._base._stripped
