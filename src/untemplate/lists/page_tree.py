"""A page as a table of rows: one row per visible element or text, in document order.

Everything in `untemplate.lists` works on the columns of this table, because NumPy handles a whole page at once.
A *row* in these modules is a row of this table; the records that come out of a list page are `Row` objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from lxml import etree

from untemplate.page import HIDDEN_TAGS, Page, squeeze
from untemplate.page.arrays import Bools, Doubles, Hashes, Longs

__all__ = [
    "BREAK",
    "MEDIA_TAGS",
    "TEXT",
    "PageTree",
    "Run",
    "Shapes",
    "build_page_tree",
]


Run = tuple[int, ...]
"""The rows of adjacent siblings that make one record. Most records have one."""

# The tag of text rows, and the tag that ends a line.
TEXT = "#text"
BREAK = "br"
# Elements that show something although they contain no text.
MEDIA_TAGS = frozenset({"img", "svg", "video", "picture", "canvas", "object", "embed", "audio"})
_KEPT_WHEN_EMPTY = MEDIA_TAGS | {BREAK}
_SKIPPED = HIDDEN_TAGS | {"head", "noscript"}

# Tag paths have at most this many tags. Longer ones do not separate records better.
MAX_PATH_TAGS = 8
# Comparisons of different shapes on one page. Beyond, only equal shapes are similar. Real pages need a few thousand.
MAX_COMPARISONS = 100_000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class PageTree:
    """The elements and texts of a page as columns, without empty elements, scripts and the like."""

    #: the element; of a text, the element around it
    elements: list[etree._Element]
    #: the tag; TEXT for texts
    tags: list[str]
    #: the words of a text, with a blank at either end where the page has white space; "" for elements
    texts: list[str]
    #: the row of the parent element; -1 for the root
    parent: Longs
    #: the row after the last descendant
    end: Longs
    #: the rows whose elements contain more than the page shows in them: table rows that follow them
    cut: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.tags)

    @cached_property
    def tag_ids(self) -> Longs:
        """A number per row, equal for equal tags."""
        return np.array([self._id_of_tag[tag] for tag in self.tags], np.int64)

    @cached_property
    def _id_of_tag(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(dict.fromkeys(self.tags))}

    @cached_property
    def classes(self) -> list[str]:
        """The class attribute of each element; "" for texts and elements without one."""
        rows = zip(self.elements, self.tags, strict=True)
        return ["" if tag == TEXT else element.get("class", "") for element, tag in rows]

    @cached_property
    def path_ids(self) -> list[int]:
        """A number per row, equal for rows with the same tags and classes from the root down to themselves."""
        ids: dict[tuple[int, str, str], int] = {}
        paths: list[int] = []
        for tag, class_name, parent in zip(self.tags, self.classes, self.parent.tolist(), strict=True):
            above = paths[parent] if parent >= 0 else -1
            paths.append(ids.setdefault((above, tag, class_name), len(ids)))
        return paths

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The rows of the children of each row that has any; those of -1 are the roots."""
        children: dict[int, list[int]] = {}
        for row, parent in enumerate(self.parent.tolist()):
            children.setdefault(parent, []).append(row)
        return children

    def has_tag(self, tags: Iterable[str]) -> Bools:
        """Return which rows have one of these tags."""
        wanted = [self._id_of_tag[tag] for tag in tags if tag in self._id_of_tag]
        return np.isin(self.tag_ids, wanted)

    def total(self, column: Doubles) -> Doubles:
        """Sum a column over each row and its descendants."""
        sums = np.concatenate([[0.0], np.cumsum(column)])
        inside: Doubles = sums[self.end] - sums[:-1]
        return inside

    def depth(self, marked: Bools) -> Longs:
        """Count the marked rows among each row and its ancestors."""
        steps = np.zeros(len(self) + 1, np.int64)
        rows = np.flatnonzero(marked)
        np.add.at(steps, rows, 1)
        np.add.at(steps, self.end[rows], -1)
        return np.cumsum(steps)[:-1]

    def rows_inside(self, run: Run) -> list[int]:
        """Return the rows of a run with all their descendants, in document order."""
        rows: list[int] = []
        for top in run:
            rows += range(top, int(self.end[top]))
        return rows

    def texts_inside(self, run: Run) -> list[str]:
        """Return the texts of a run, in document order."""
        return [text for row in self.rows_inside(run) if (text := self.texts[row])]

    def elements_of(self, run: Run) -> list[etree._Element]:
        """Return the elements of a run, without its texts."""
        return [self.elements[row] for row in run if self.tags[row] != TEXT]


def build_page_tree(page: Page) -> PageTree:
    """Return the table of what a page shows.

    A table row that the parser put into a cell, because something in the cell is not closed, follows the row of that
    cell, as in browsers.

    Raises:
        PageError: the page cannot be parsed.
    """
    builder = _TreeBuilder()
    walker = etree.iterwalk(page.tree, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            if element.tag == "tr":
                builder.close_table_row()
            builder.open_element(element)
            if element.tag in _SKIPPED:
                walker.skip_subtree()
            elif element.text:
                builder.add_text(element.text)
            continue
        if event == "end":
            builder.close_element(element)
        if builder.has_open_element and element.tail:
            builder.add_text(element.tail)
    return builder.build()


class _TreeBuilder:
    """Collects the rows of a tree while the page is walked."""

    def __init__(self) -> None:
        self._elements: list[etree._Element] = []
        self._tags: list[str] = []
        self._texts: list[str] = []
        self._parent: list[int] = []
        self._end: list[int] = []
        self._open_rows = [-1]
        self._cut: set[int] = set()
        self._open_tables = [-1]  # the open rows of tables and table rows
        self._blank_before = ""

    @property
    def has_open_element(self) -> bool:
        return len(self._open_rows) > 1

    def open_element(self, element: etree._Element) -> None:
        self._add(element, element.tag)
        self._open_rows.append(len(self._tags) - 1)
        if element.tag in ("table", "tr"):
            self._open_tables.append(len(self._tags) - 1)

    def close_table_row(self) -> None:
        """Close the table row that is open, with everything inside it, unless a table inside it is open."""
        table_row = self._open_tables[-1]
        if table_row < 0 or self._tags[table_row] != "tr":
            return
        while table_row <= self._open_rows[-1]:
            row = self._open_rows[-1]
            self._cut.add(row)
            self._close_row(self._elements[row])

    def close_element(self, element: etree._Element) -> None:
        """Set the end of an element's row, or remove the row if the element shows nothing."""
        if self._open_rows[-1] >= 0 and self._elements[self._open_rows[-1]] is element:
            self._close_row(element)

    def _close_row(self, element: etree._Element) -> None:
        row = self._open_rows.pop()
        if self._open_tables[-1] == row:
            self._open_tables.pop()
        is_empty = len(self._tags) == row + 1
        if not is_empty or element.tag in _KEPT_WHEN_EMPTY:
            self._end[row] = len(self._tags)
            return
        for column in (self._elements, self._tags, self._texts, self._parent, self._end):
            column.pop()

    def add_text(self, text: str) -> None:
        """Add a text with its white space squeezed; white space alone becomes a blank before the next text."""
        words = squeeze(text)
        if not words:
            self._blank_before = " "
            return
        before = self._blank_before or " " * text[0].isspace()
        self._blank_before = ""
        around = self._elements[self._open_rows[-1]]
        self._add(around, TEXT, before + words + " " * text[-1].isspace())

    def build(self) -> PageTree:
        parent, end = np.array(self._parent, np.int64), np.array(self._end, np.int64)
        return PageTree(self._elements, self._tags, self._texts, parent, end, frozenset(self._cut))

    def _add(self, element: etree._Element, tag: str, text: str = "") -> None:
        self._elements.append(element)
        self._tags.append(tag)
        self._texts.append(text)
        self._parent.append(self._open_rows[-1])
        self._end.append(len(self._tags))


class Shapes:
    """How similar two parts of a page are, by the sets of tag paths below them.

    MDR and DEPTA compare trees by their edit distance, which is quadratic in the size of the trees. The share
    of common tag paths gives nearly the same answer for records, needs about the same time for all pages, and
    ignores how often something repeats.
    """

    def __init__(self, tree: PageTree) -> None:
        self._owners, self._paths = _paths_below(tree)
        rows = np.arange(len(tree) + 1)
        self._starts = np.searchsorted(self._owners, rows)
        sums = np.concatenate([[np.uint64(0)], np.cumsum(_mix(self._paths), dtype=np.uint64)])
        #: a number per row, equal for rows with the same set of paths
        self.codes: list[int] = (sums[self._starts[1:]] - sums[self._starts[:-1]]).tolist()
        self._path_sets: dict[int, frozenset[int]] = {}
        self._similarities: dict[tuple[int, int], float] = {}

    def similarity(self, left: int, right: int) -> float:
        """Return the share of tag paths that two rows have in common, from 0 to 1."""
        codes = self.codes[left], self.codes[right]
        if codes[0] == codes[1]:
            return 1.0
        if codes not in self._similarities:
            if len(self._similarities) >= MAX_COMPARISONS:
                return 0.0
            first, second = self._path_set(left), self._path_set(right)
            self._similarities[codes] = 2 * len(first & second) / (len(first) + len(second))
        return self._similarities[codes]

    def size(self, row: int) -> int:
        """Count the different tag paths below a row."""
        return int(self._starts[row + 1] - self._starts[row])

    def _path_set(self, row: int) -> frozenset[int]:
        code = self.codes[row]
        if code not in self._path_sets:
            paths = self._paths[self._starts[row] : self._starts[row + 1]]
            self._path_sets[code] = frozenset(paths.tolist())
        return self._path_sets[code]


def _paths_below(tree: PageTree) -> tuple[Longs, Hashes]:
    """Return pairs of a row and the hash of a tag path below it, sorted and without duplicates."""
    owner = np.arange(len(tree))
    tag = _mix(tree.tag_ids.astype(np.uint64) + np.uint64(1))
    path = tag.copy()
    owners, paths = [owner], [path]
    for _ in range(MAX_PATH_TAGS - 1):
        above = tree.parent[owner]
        has_parent = above >= 0
        owner, path = above[has_parent], path[has_parent]
        path = _mix(path * _FACTOR + tag[owner])
        owners.append(owner)
        paths.append(path)
    all_owners, all_paths = np.concatenate(owners), np.concatenate(paths)
    order = np.lexsort((all_paths, all_owners))
    all_owners, all_paths = all_owners[order], all_paths[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (all_owners[1:] != all_owners[:-1]) | (all_paths[1:] != all_paths[:-1])
    return all_owners[is_new], all_paths[is_new]


def _mix(values: Hashes) -> Hashes:
    """Spread numbers over all 64 bits."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
