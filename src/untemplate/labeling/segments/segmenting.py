"""Pages cut into short segments by the text that the site repeats on nearly all of them.

A leaf is a text node, or a part of one: static text at the start of a node, such as `Price:`, is a leaf of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from untemplate.labeling.nodes import NodeTable
from untemplate.labeling.nodes.node_table import ELEMENT
from untemplate.page import Page
from untemplate.page.arrays import Bools, Ints, Numbered
from untemplate.page.captions import min_static_pages

__all__ = ["ALPHA", "NodeId", "Segment", "Segmented"]

# The share of the pages on which static text stands: the paper's α.
ALPHA = 0.8
# Static text inside a node has at most so many characters; more are content.
MAX_PREFIX = 60


@dataclass(frozen=True, slots=True)
class NodeId:
    """What tells a node from all others of its page: text, path, and which of several alike it is, from 0."""

    text: str
    path: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """Leaves after a static one and before the next, maybe none; `id` is the number of the static one before.

    What a page has before its first static leaf is a segment too if there is anything: −1.
    """

    page: int
    id: int
    leaves: range


class Segmented:
    """The leaves of a site's pages as columns, and the segments between those that are static."""

    def __init__(self, pages: Iterable[Page], alpha: float = ALPHA) -> None:
        self.table = table = NodeTable(pages, {ELEMENT})
        static = _static_rows(table, alpha)
        prefix = _static_prefixes(table, static, alpha)
        texts = Numbered[str]()
        rows: list[int] = []
        numbers: list[int] = []
        flags: list[bool] = []
        for row in np.flatnonzero(table.is_text & ~table.is_excluded).tolist():
            text = table.texts[table.text[row]]
            if row in prefix:
                rows += (row, row)
                numbers += (texts[prefix[row]], texts[text[len(prefix[row]) :].strip()])
                flags += (True, False)
            else:
                rows.append(row)
                numbers.append(texts[text])
                flags.append(bool(static[row]))
        #: of each leaf, its row of the table and the number of its text
        self.row: Ints = np.array(rows, np.int32)
        self.text: Ints = np.array(numbers, np.int32)
        self.texts = list(texts)
        self.is_static: Bools = np.array(flags, np.bool_)
        self.page: Ints = table.page[self.row]
        self.path: Ints = table.path[self.row]
        #: the static nodes whose segments have their number as id
        self.ids: list[NodeId] = []
        self.segments = list(self._cut())

    def __len__(self) -> int:
        return len(self.row)

    def _cut(self) -> Iterator[Segment]:
        ids = Numbered[NodeId]()
        paths = self.table.paths
        bounds = np.searchsorted(self.page, np.arange(len(self.table.pages) + 1))
        for page, (start, stop) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            seen: Counter[tuple[int, int]] = Counter()
            first, before = start, -1
            for leaf in (start + np.flatnonzero(self.is_static[start:stop])).tolist():
                if leaf > first or before >= 0:
                    yield Segment(page, before, range(first, leaf))
                key = (int(self.text[leaf]), int(self.path[leaf]))
                before = ids[NodeId(self.texts[key[0]], paths[key[1]], seen[key])]
                seen[key] += 1
                first = leaf + 1
            if stop > first or before >= 0:
                yield Segment(page, before, range(first, stop))
        self.ids = list(ids)

    @cached_property
    def titles(self) -> list[str]:
        """The title of each page."""
        return [page.title for page in self.table.pages]


def _static_rows(table: NodeTable, alpha: float) -> Bools:
    """Rows whose id stands on at least this share of the pages: one pass over a hash table."""
    ids: Numbered[tuple[int, int, int]] = Numbered()
    numbers = np.zeros(len(table), np.int32)
    seen: Counter[tuple[int, int, int]] = Counter()
    columns = (table.page.tolist(), table.text.tolist(), table.path.tolist())
    for row, key in enumerate(zip(*columns, strict=True)):
        numbers[row] = ids[(key[1], key[2], seen[key])]
        seen[key] += 1
    pages = np.bincount(numbers, minlength=1)
    static: Bools = pages[numbers] >= min_static_pages(len(table.pages), alpha)
    return static


def _static_prefixes(table: NodeTable, static: Bools, alpha: float) -> dict[int, str]:
    """Of rows that begin with a label which rows of their path begin with on enough pages: the longest such label."""
    starts: dict[int, list[str]] = {}
    pages: dict[tuple[int, str], set[int]] = {}
    rows = np.flatnonzero(table.is_text & ~static & ~table.is_excluded).tolist()
    for row in rows:
        number = int(table.text[row])
        if number not in starts:
            starts[number] = _starts(table.texts[number])
        for start in starts[number]:
            pages.setdefault((int(table.path[row]), start), set()).add(int(table.page[row]))
    enough = min_static_pages(len(table.pages), alpha)
    known = {key for key, found in pages.items() if len(found) >= enough}
    prefix = {}
    for row in rows:
        path = int(table.path[row])
        for start in starts[int(table.text[row])]:
            if (path, start) in known:
                prefix[row] = start
    return prefix


def _starts(text: str) -> list[str]:
    """What a text begins with and might be a label: words up to a colon, if something follows.

    Any words that all pages share would do in theory, but then `NY` of the paper's own addresses is static.
    """
    words = text[: MAX_PREFIX + 1].split(" ")[:-1]
    return [" ".join(words[: count + 1]) for count, word in enumerate(words) if word.endswith(":")]
