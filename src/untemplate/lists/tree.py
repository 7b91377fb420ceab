"""Tree: what a page shows as columns of numbers, one row an element or a text, in document order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from lxml import etree

from untemplate.page import HIDDEN_TAGS, Page, squeeze

__all__ = ["BREAK", "SHOWN", "TEXT", "Floats", "Hashes", "Ints", "Tree", "read_tree"]

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

# What stands for the tag of a text; what ends a line.
TEXT = "#text"
BREAK = "br"
# Elements that show something though they hold no text.
SHOWN = frozenset({"img", "svg", "video", "picture", "canvas", "object", "embed", "audio"})
_KEPT = SHOWN | {BREAK}
_LEFT_OUT = HIDDEN_TAGS | {"head"}


@dataclass(frozen=True, eq=False)
class Tree:
    """The elements and texts of a page; empty ones, scripts and the like are left out."""

    #: the element; of a text its words, with a blank at either end if there is white space
    items: list[etree._Element | str]
    #: the tag, TEXT for a text
    tags: list[str]
    #: the row of the element around each; -1 for the root
    parent: Ints
    #: the row after the last one inside each
    end: Ints

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def tag_ids(self) -> Ints:
        """A number for each different tag."""
        ids: dict[str, int] = {}
        return np.array([ids.setdefault(tag, len(ids)) for tag in self.tags], np.int64)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The rows inside each element, its own children only."""
        children: dict[int, list[int]] = {}
        for row, around in enumerate(self.parent.tolist()):
            children.setdefault(around, []).append(row)
        return children

    def total(self, column: Floats) -> Floats:
        """Of each row the sum of a column over it and all inside it."""
        sums = np.concatenate([[0.0], np.cumsum(column)])
        inside: Floats = sums[self.end] - sums[:-1]
        return inside

    def depth(self, marked: npt.NDArray[np.bool_]) -> Ints:
        """In how many marked rows each stands, itself counted."""
        steps = np.zeros(len(self) + 1, np.int64)
        rows = np.flatnonzero(marked)
        np.add.at(steps, rows, 1)
        np.add.at(steps, self.end[rows], -1)
        return np.cumsum(steps)[:-1]


def read_tree(page: Page) -> Tree:
    """What the page shows. Raises PageError when the page cannot be read."""
    items: list[etree._Element | str] = []
    tags: list[str] = []
    parent: list[int] = []
    end: list[int] = []
    open_rows = [-1]
    blank = ""  # what stands before the next text

    def add(item: etree._Element | str, tag: str) -> None:
        items.append(item)
        tags.append(tag)
        parent.append(open_rows[-1])
        end.append(len(items))

    def add_text(text: str) -> None:
        nonlocal blank
        words = squeeze(text)
        if words:
            before = blank or " " * text[0].isspace()
            add(before + words + " " * text[-1].isspace(), TEXT)
        blank = "" if words else " "

    walker = etree.iterwalk(page.tree, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            add(element, element.tag)
            open_rows.append(len(items) - 1)
            if element.tag in _LEFT_OUT:
                walker.skip_subtree()
            elif element.text:
                add_text(element.text)
            continue
        if event == "end":
            row = open_rows.pop()
            if len(items) == row + 1 and element.tag not in _KEPT:
                for column in (items, tags, parent, end):
                    column.pop()
            else:
                end[row] = len(items)
        if len(open_rows) > 1 and element.tail:
            add_text(element.tail)
    return Tree(items, tags, np.array(parent, np.int64), np.array(end, np.int64))
