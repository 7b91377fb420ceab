"""Shapes: how alike two parts of a page are, by the tag paths below them.

The tree edit distance of MDR and DEPTA is quadratic in the size of what is compared. The share of common tag paths
says nearly the same of records, takes the same time for all pages, and does not mind how often something repeats.
"""

from __future__ import annotations

import numpy as np

from untemplate.lists.tree import Hashes, Ints, Tree

__all__ = ["Shapes"]

# Tag paths reach so far down. Deeper ones tell records apart no better.
DEPTH = 8
# So many pairs of different shapes are compared on a page; beyond, only equal shapes are alike. Real pages need a few
# thousand.
MAX_COMPARISONS = 100_000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Shapes:
    """The set of tag paths below each row of a tree."""

    def __init__(self, tree: Tree) -> None:
        self._owners, self._paths = _paths_below(tree)
        rows = np.arange(len(tree) + 1)
        self._starts = np.searchsorted(self._owners, rows)
        sums = np.concatenate([[np.uint64(0)], np.cumsum(_mix(self._paths), dtype=np.uint64)])
        #: equal for rows with the same set of paths
        self.codes: list[int] = (sums[self._starts[1:]] - sums[self._starts[:-1]]).tolist()
        self._sets: dict[int, frozenset[int]] = {}
        self._known: dict[tuple[int, int], float] = {}

    def likeness(self, one: int, other: int) -> float:
        """The share of their paths that two rows have in common, from 0 to 1."""
        codes = self.codes[one], self.codes[other]
        if codes[0] == codes[1]:
            return 1.0
        if codes not in self._known:
            if len(self._known) >= MAX_COMPARISONS:
                return 0.0
            first, second = self._set(one), self._set(other)
            self._known[codes] = 2 * len(first & second) / (len(first) + len(second))
        return self._known[codes]

    def _set(self, row: int) -> frozenset[int]:
        code = self.codes[row]
        if code not in self._sets:
            self._sets[code] = frozenset(self._paths[self._starts[row] : self._starts[row + 1]].tolist())
        return self._sets[code]

    def size(self, row: int) -> int:
        """How many different paths there are below a row."""
        return int(self._starts[row + 1] - self._starts[row])


def _paths_below(tree: Tree) -> tuple[Ints, Hashes]:
    """Pairs of a row and the hash of a tag path below it, sorted and each once."""
    owner = np.arange(len(tree))
    tag = _mix(tree.tag_ids.astype(np.uint64) + np.uint64(1))
    path = tag.copy()
    owners, paths = [owner], [path]
    for _ in range(DEPTH - 1):
        above = tree.parent[owner]
        alive = above >= 0
        owner, path = above[alive], path[alive]
        path = _mix(path * _FACTOR + tag[owner])
        owners.append(owner)
        paths.append(path)
    every_owner, every_path = np.concatenate(owners), np.concatenate(paths)
    order = np.lexsort((every_path, every_owner))
    every_owner, every_path = every_owner[order], every_path[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (every_owner[1:] != every_owner[:-1]) | (every_path[1:] != every_path[:-1])
    return every_owner[new], every_path[new]


def _mix(values: Hashes) -> Hashes:
    """Spread numbers over all of 64 bits."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
