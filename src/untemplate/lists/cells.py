"""Cells: the texts of a record, put together again where they are one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.lists.joins import speaks
from untemplate.lists.tree import TEXT, Tree
from untemplate.page import INLINE_TAGS, squeeze

__all__ = ["Cells", "Line", "Unit"]

Line = tuple[int, ...]
"""Rows of the tree that stand side by side and are one text."""


class Unit(NamedTuple):
    """Something in a record: an element to look into, or the rows of a line that is a cell."""

    rows: tuple[int, ...]
    is_cell: bool


class Cells:
    """Where the cells of a tree are, given which rows are one text with those before them, and which are shown."""

    def __init__(self, tree: Tree, joined: npt.NDArray[np.bool_], shown: npt.NDArray[np.bool_]) -> None:
        self._tree, self._shown = tree, shown
        said = np.array([isinstance(item, str) and speaks(item) for item in tree.items]) & shown
        self._speaks: list[bool] = (tree.total(said.astype(np.float64)) > 0).tolist()
        self._joined: list[bool] = joined.tolist()
        #: of each row, whether all in it is one text
        self._whole = [True] * len(tree)
        for around, children in tree.children.items():
            later = [child for child in children if self._speaks[child]][1:]
            self._whole[around] &= all(self._joined[child] for child in later)
        for row in range(len(tree) - 1, 0, -1):
            self._whole[int(tree.parent[row])] &= self._whole[row]

    def units(self, row: int) -> list[Unit]:
        """What is in an element, in its order."""
        lines: list[list[int]] = []
        mute: list[int] = []
        for child in self._tree.children.get(row, ()):
            if not self._speaks[child]:
                mute.append(child)
                continue
            if lines and self._joined[child] and self._whole[child] and self._whole[lines[-1][-1]]:
                lines[-1] += [*mute, child]
            else:
                lines.append([child])
            mute = []
        return [Unit(tuple(line), len(line) > 1 or self._tree.tags[line[0]] == TEXT) for line in lines]

    def text(self, rows: tuple[int, ...]) -> str:
        """What is shown of the text of a line; blocks and line breaks part words."""
        parts: list[str] = []
        ends: set[int] = set()
        for row in (inside for top in rows for inside in range(top, int(self._tree.end[top]))):
            if row in ends:
                parts.append(" ")
            item = self._tree.items[row]
            if isinstance(item, str):
                parts.append(item if self._shown[row] else "")
            elif item.tag not in INLINE_TAGS:
                parts.append(" ")
                ends.add(int(self._tree.end[row]))
        return squeeze("".join(parts))
