"""Columns of numbers: types of arrays, and what tables of nodes do with them.

A table has one row per node, and a column is an array with a number per row. Whatever recurs (texts, tag paths, class
names) is numbered, so that work is done once per distinct thing and not once per node.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bools",
    "Doubles",
    "Floats",
    "Hashes",
    "Ints",
    "Longs",
    "Numbered",
    "count_distinct",
    "group_rows",
    "nearest_before",
    "ordinals",
]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]

T = TypeVar("T", bound=Hashable)


class Numbered(Generic[T]):
    """Distinct things and their numbers, in the order in which they came.

    >>> tags = Numbered[str]()
    >>> [tags[tag] for tag in ("p", "b", "p")]
    [0, 1, 0]
    >>> list(tags)
    ['p', 'b']
    """

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def __getitem__(self, thing: T) -> int:
        """Return the number of a thing, a new one if it is new."""
        return self._numbers.setdefault(thing, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[T]:
        return iter(self._numbers)


def group_rows(*columns: Ints) -> Ints:
    """Return a number for each row; rows that agree in all columns get the same number.

    >>> group_rows(np.array([3, 3, 5, 3]), np.array([0, 1, 0, 0])).tolist()
    [0, 1, 2, 0]
    """
    groups = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        low = int(column.min(initial=0))
        groups = groups * (int(column.max(initial=0)) - low + 1) + (column - low)
        groups = np.unique(groups, return_inverse=True)[1].ravel()
    return groups.astype(np.int32)


def nearest_before(marked: Bools, page: Ints) -> Longs:
    """Return for each row the nearest marked row before it on its page; −1 if there is none.

    With static texts marked, these are the captions of the rows.

    >>> nearest_before(np.array([True, False, False, True, False]), np.array([0, 0, 1, 1, 1])).tolist()
    [-1, 0, -1, -1, 3]
    """
    latest = np.maximum.accumulate(np.where(marked, np.arange(len(marked)), -1))
    previous = np.concatenate([[-1], latest])[: len(marked)]
    return np.where(previous >= np.searchsorted(page, page), previous, -1)


def ordinals(page: Ints, kind: Ints) -> Ints:
    """Return for each row how many rows of the same kind its page has before it.

    >>> ordinals(np.array([0, 0, 0, 1]), np.array([7, 8, 7, 7])).tolist()
    [0, 0, 1, 0]
    """
    groups = group_rows(page, kind)
    order = np.argsort(groups, kind="stable")
    first = np.searchsorted(groups[order], groups[order], side="left")
    before = np.empty(len(groups), np.int32)
    before[order] = np.arange(len(groups)) - first
    return before


def count_distinct(groups: Ints, column: Ints, minlength: int = 0) -> Longs:
    """Return for each group how many different values of a column its rows have.

    With the column of pages, this is the number of pages on which a group appears.

    >>> count_distinct(np.array([0, 0, 0, 1]), np.array([4, 4, 5, 4])).tolist()
    [2, 1]
    """
    width = int(column.max(initial=0)) + 1
    pairs = np.unique(groups.astype(np.int64) * width + column) // width
    return np.bincount(pairs, minlength=minlength)
