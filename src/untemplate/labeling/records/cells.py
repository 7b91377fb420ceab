"""Cells: the texts of a record, put together again where markup only colors or links some of their words.

What a browser would show as one line of words is one cell, except that a link at its beginning is a cell of its own,
and that separators such as `|` part cells.
"""

from __future__ import annotations

from typing import NamedTuple

from untemplate.labeling.records.tree import BREAK, TEXT, Tree
from untemplate.page import INLINE_TAGS, squeeze

__all__ = ["Cells", "Line", "Unit"]

Line = tuple[int, ...]
"""Rows of the tree that stand side by side and are one text."""

# Tags that color words of a text: a text is one though all its words are in such elements.
COLORS = frozenset({"b", "strong", "em", "i", "u", "mark", "font", "big", "tt"})
# What stands in a line of words.
IN_LINE = INLINE_TAGS | {TEXT, "label", "img", "svg", "picture", "button"}
APART = frozenset({"a", "time", "button", "img", "svg", "picture"})
SEPARATORS = frozenset("|·•")


class Unit(NamedTuple):
    """Something in a record: an element to look into, or the rows of a line that is a cell."""

    rows: tuple[int, ...]
    is_cell: bool


class Cells:
    """Where the cells of a tree are."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        #: of each row, whether all of it stands in one line
        self._in_line = [tag in IN_LINE for tag in tree.tags]
        for row in range(len(tree) - 1, 0, -1):
            if not self._in_line[row]:
                self._in_line[int(tree.parent[row])] = False

    def units(self, row: int) -> list[Unit]:
        """What is in an element, in its order."""
        found: list[Unit] = []
        line: list[int] = []
        for child in self._tree.children.get(row, ()):
            if self._in_line[child] and not self._is_separator(child):
                line.append(child)
                continue
            found += self._cut(line)
            line = []
            if not self._in_line[child] and self._tree.tags[child] != BREAK:
                found.append(Unit((child,), False))
        return found + self._cut(line)

    def text(self, rows: tuple[int, ...]) -> str:
        """The text of a line."""
        items = (item for row in rows for item in self._tree.items[row : int(self._tree.end[row])])
        return squeeze("".join(item for item in items if isinstance(item, str)))

    def _cut(self, line: list[int]) -> list[Unit]:
        """A line as a cell, or as its parts if it is no running text."""
        tags = self._tree.tags
        if len(line) == 1:
            return [Unit((line[0],), tags[line[0]] == TEXT)]
        links = 0
        while links < len(line) and tags[line[links]] in APART:
            links += 1
        rest = line[links:]
        is_running = any(tags[row] == TEXT and _speaks(str(self._tree.items[row])) for row in rest)
        if is_running or (rest and all(tags[row] in COLORS or tags[row] == TEXT for row in rest)):
            return [Unit((row,), False) for row in line[:links]] + [Unit(tuple(rest), True)]
        return [Unit((row,), tags[row] == TEXT) for row in line]

    def _is_separator(self, row: int) -> bool:
        if self._tree.end[row] > row + 2:  # more than a text, or an element with one
            return False
        text = self.text((row,))
        return bool(text) and all(char in SEPARATORS for char in text)


def _speaks(text: str) -> bool:
    return any(map(str.isalnum, text))
