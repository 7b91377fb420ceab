"""Divide pages into short segments at the text that the site repeats on nearly all of them.

A leaf is a text node, or a part of one: static text at the start of a node, such as `Price:`, is a separate leaf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from untemplate.labeling.nodes import NodeTable
from untemplate.labeling.nodes.node_table import ELEMENT
from untemplate.page import Page
from untemplate.page.arrays import Bools, Ints, Numbered
from untemplate.page.captions import min_static_pages

__all__ = ["ALPHA", "NOISE", "NodeId", "Segment", "SegmentedSite"]

#: the class of a leaf that contains no attribute
NOISE = ""
# Static text appears on at least this share of the pages: the paper's α.
ALPHA = 0.8
# Static text at the start of a node has at most this many characters; longer text is content.
MAX_CAPTION_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class NodeId:
    """Identifies a node within its page: text, path, and its number among nodes with the same two, from 0."""

    text: str
    path: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """The leaves between one static leaf and the next, maybe none.

    Attributes:
        page: The number of the page.
        id: The number of the static leaf before the segment; −1 for what precedes the first static leaf of a page.
        leaves: The numbers of the leaves.
    """

    page: int
    id: int
    leaves: range


class SegmentedSite:
    """The leaves of a site's pages as columns, and the segments between the static ones.

    Attributes:
        table: The nodes of the pages.
        row: Of each leaf, its row of the table.
        text: Of each leaf, the number of its text.
        texts: The texts by number.
        is_static: Of each leaf, True if its text is static.
        page: Of each leaf, the number of its page.
        path: Of each leaf, the number of its path.
        segments: All segments, page by page.
        ids: The static nodes; the id of a segment is a number of this list.
    """

    def __init__(self, pages: Iterable[Page], alpha: float = ALPHA) -> None:
        """Segment the pages of one site; static text is on at least a share `alpha` of them."""
        self.table = table = NodeTable(pages, {ELEMENT})
        static = _static_rows(table, alpha)
        captions = _static_captions(table, static, alpha)
        texts = Numbered[str]()
        rows: list[int] = []
        numbers: list[int] = []
        flags: list[bool] = []
        for row in np.flatnonzero(table.is_text & ~table.is_excluded).tolist():
            text = table.texts[table.text[row]]
            if row in captions:
                rows += (row, row)
                numbers += (texts[captions[row]], texts[text[len(captions[row]) :].strip()])
                flags += (True, False)
            else:
                rows.append(row)
                numbers.append(texts[text])
                flags.append(bool(static[row]))
        self.row: Ints = np.array(rows, np.int32)
        self.text: Ints = np.array(numbers, np.int32)
        self.texts = list(texts)
        self.is_static: Bools = np.array(flags, np.bool_)
        self.page: Ints = table.page[self.row]
        self.path: Ints = table.path[self.row]
        ids = Numbered[NodeId]()
        self.segments: list[Segment] = []
        for page, leaves in enumerate(self.page_leaves()):
            self.segments += self._split_page(page, leaves, ids)
        self.ids = list(ids)

    def __len__(self) -> int:
        return len(self.row)

    def page_leaves(self) -> Iterator[range]:
        """Yield the leaves of each page."""
        bounds = np.searchsorted(self.page, np.arange(len(self.table.pages) + 1)).tolist()
        for start, stop in pairwise(bounds):
            yield range(start, stop)

    def _split_page(self, page: int, leaves: range, ids: Numbered[NodeId]) -> Iterator[Segment]:
        """Yield the segments of a page; new static nodes get the next numbers of `ids`."""
        seen: Counter[tuple[int, int]] = Counter()
        first, id = leaves.start, -1
        static = leaves.start + np.flatnonzero(self.is_static[leaves.start : leaves.stop])
        for leaf in static.tolist():
            if leaf > first or id >= 0:
                yield Segment(page, id, range(first, leaf))
            text, path = key = (int(self.text[leaf]), int(self.path[leaf]))
            id = ids[NodeId(self.texts[text], self.table.paths[path], seen[key])]
            seen[key] += 1
            first = leaf + 1
        if leaves.stop > first or id >= 0:
            yield Segment(page, id, range(first, leaves.stop))

    @cached_property
    def titles(self) -> list[str]:
        """The title of each page."""
        return [page.title for page in self.table.pages]

    @cached_property
    def captions(self) -> list[tuple[str, int]]:
        """Of each leaf, the static text before it on its page and the number of leaves from there to the leaf."""
        captions = [("", 0)] * len(self)
        for segment in self.segments:
            caption = self.ids[segment.id].text if segment.id >= 0 else ""
            for distance, leaf in enumerate(segment.leaves, 1):
                captions[leaf] = (caption, distance)
        return captions


def _static_rows(table: NodeTable, alpha: float) -> Bools:
    """Return True for rows whose `NodeId` appears on enough pages: one pass over a hash table."""
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


def _static_captions(table: NodeTable, static: Bools, alpha: float) -> dict[int, str]:
    """Map rows to the longest caption they begin with that is static.

    As with nodes, the first, second … row of a path on a page that begins with a caption has to do so on enough
    pages: a second `Tel:` on a few pages is no static text.
    """
    captions: dict[int, list[str]] = {}
    pages: Counter[tuple[int, str, int]] = Counter()
    seen: Counter[tuple[int, int, str]] = Counter()
    ids: dict[int, list[tuple[int, str, int]]] = {}
    for row in np.flatnonzero(table.is_text & ~static & ~table.is_excluded).tolist():
        text, path, page = int(table.text[row]), int(table.path[row]), int(table.page[row])
        if text not in captions:
            captions[text] = _possible_captions(table.texts[text])
        ids[row] = [(path, caption, seen[page, path, caption]) for caption in captions[text]]
        seen.update((page, path, caption) for caption in captions[text])
        pages.update(ids[row])
    min_pages = min_static_pages(len(table.pages), alpha)
    longest = {}
    for row, row_ids in ids.items():
        for id in row_ids:
            if pages[id] >= min_pages:
                longest[row] = id[1]
    return longest


def _possible_captions(text: str) -> list[str]:
    """Return what a text begins with and might be a caption, shortest first: words up to a colon, if more follows.

    In the paper any words that all pages share would do, but then `NY` in its own example addresses is static.
    """
    words = text[: MAX_CAPTION_CHARACTERS + 1].split(" ")[:-1]
    return [" ".join(words[: count + 1]) for count, word in enumerate(words) if word.endswith(":")]
