"""The nodes of sample pages as arrays, so that one lookup answers a feature for all nodes at once.

Rows are the nodes of all pages, page after page, in document order. A set of rows is a bit set in one Python integer,
which is the fastest representation to intersect and count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from lxml import etree

from untemplate.learning.element_table import ElementTable
from untemplate.learning.value_spans import PageSpans
from untemplate.page import Node, Page
from untemplate.page.arrays import Bools, Ints, nearest_before
from untemplate.page.captions import (
    count_pages_with_texts,
    find_captions,
    may_be_caption,
    min_static_pages,
    static_key_at,
)
from untemplate.page.dom import CROSSED_OUT_TAGS, element_texts
from untemplate.rules.feature import Feature
from untemplate.rules.record_pages import RECORD_TAG
from untemplate.rules.rule import Region

__all__ = ["SampleTable", "bits_of"]

# Share of pages on which a text must appear to be static: 0.8, as in "High-Precision Web Extraction Using Site
# Knowledge". Swept with `python -m benchmarks.measure.constants`: 0.5 is worse, since frequent values then
# look like captions; 0.65 to 0.95 are alike.
STATIC_SHARE = 0.8

# Bit sets with more rows are unpacked by NumPy; listing the rows one by one is quadratic, but faster for few.
MAX_ROWS_ONE_BY_ONE = 32

# An element with more text is not one value. Steps of a recipe and descriptions of a product are the longest that our
# data sets label.
MAX_ELEMENT_TEXT = 4000


class SampleTable(ElementTable):
    """All nodes of a few readable pages, with their elements, as columns.

    Args:
        pages: pages of one template. Reading one that cannot be parsed raises PageError.
        add_elements: add whole elements as rows, for values that span several text nodes.
    """

    def __init__(self, pages: Sequence[Page], add_elements: bool = False) -> None:
        super().__init__()
        self.pages = pages
        self._add_elements = add_elements
        self.rows: list[Node] = []
        self.starts: list[int] = [0]
        self._row_element: list[int] = []
        self._row_sibling: dict[str, list[int]] = {"preceding": [], "following": []}
        self._row_neighbor: dict[str, list[int]] = {"left": [], "right": []}
        self._bits: dict[Feature, int] = {}
        self._spans: dict[int, PageSpans] = {}
        self._inside: dict[tuple[Region, str, int], int] = {}
        for page in pages:
            self._add(page)

    def _add(self, page: Page) -> None:
        """Append the rows and elements of one page; each row gets its nearest text rows to the left and right."""
        numbers = self.number_elements(page.tree)
        left, right = self._row_neighbor["left"], self._row_neighbor["right"]
        first, last_text = len(self.rows), -1
        for row, node in enumerate(self._nodes(page), first):
            self.rows.append(node)
            self._row_element.append(numbers[node.parent])
            for axis, sibling in _element_siblings(node):
                self._row_sibling[axis].append(numbers.get(sibling, 0))
            left.append(last_text)
            right.append(-1)
            if node.is_text:
                start = max(last_text, first)
                right[start:row] = [row] * (row - start)
                last_text = row
        self.starts.append(len(self.rows))

    def _nodes(self, page: Page) -> Sequence[Node]:
        """Return the rows of a page; subclasses may choose others."""
        return _nodes_and_elements(page) if self._add_elements else page.nodes

    @cached_property
    def with_elements(self) -> SampleTable:
        """The same pages with whole elements as additional rows."""
        return SampleTable(self.pages, add_elements=True)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def is_of_records(self) -> bool:
        """True if the pages are records of list pages."""
        return all(page.tree.tag == RECORD_TAG for page in self.pages)

    # Rows and pages

    @cached_property
    def row_page(self) -> Ints:
        """The page of each row."""
        return np.repeat(np.arange(len(self.pages), dtype=np.int32), np.diff(np.array(self.starts)))

    @cached_property
    def page_bits(self) -> list[int]:
        """The rows of each page, as a bit set."""
        spans = zip(self.starts, self.starts[1:], strict=False)
        return [((1 << (stop - start)) - 1) << start for start, stop in spans]

    @cached_property
    def node_bits(self) -> dict[str, int]:
        """The rows of each node kind, such as `text()` or `@src`, as a bit set."""
        kinds: dict[str, list[int]] = {}
        for row, node in enumerate(self.rows):
            kinds.setdefault(node.node_test, []).append(row)
        return {kind: bits_of(rows) for kind, rows in kinds.items()}

    def prepare(self) -> None:
        """Compute what learning needs in any case, so that the first label of a person does not wait for it."""
        _ = self._text_index, self.node_bits, self.page_bits, self.subtree_end

    def rows_of_page(self, page: int) -> list[Node]:
        """Return the nodes of one page; the first is row `starts[page]`."""
        return self.rows[self.starts[page] : self.starts[page + 1]]

    def on_page(self, bits: int, page: int) -> list[int]:
        """Return those rows of a bit set that are on one page, in order."""
        start, stop = self.starts[page], self.starts[page + 1]
        rest = (bits & self.page_bits[page]) >> start
        if rest.bit_count() > MAX_ROWS_ONE_BY_ONE:
            packed = np.frombuffer(rest.to_bytes((stop - start + 7) // 8, "little"), np.uint8)
            return (np.flatnonzero(np.unpackbits(packed, bitorder="little")) + start).tolist()
        rows = []
        while rest:
            low = rest & -rest
            rows.append(start + low.bit_length() - 1)
            rest ^= low
        return rows

    @cached_property
    def crossed_out(self) -> int:
        """The rows that readers see crossed out, as a bit set."""
        bits = 0
        for tag in sorted(CROSSED_OUT_TAGS):
            bits |= self._rows_with_ancestor_inside(Region((Feature("tag", 1, (tag,)),)), 1)
        return bits

    def spans(self, page: int) -> PageSpans:
        """Return the rows of a page as spans of its letters and digits."""
        if page not in self._spans:
            nodes = self.rows_of_page(page)
            self._spans[page] = PageSpans(self.starts[page], nodes, self.ancestor(1), self.subtree_end)
        return self._spans[page]

    # Going up, sideways, left and right

    @cached_property
    def row_sibling(self) -> dict[str, Ints]:
        """The nearest sibling element of each row, by direction."""
        return {axis: np.array(numbers, np.int32) for axis, numbers in self._row_sibling.items()}

    @cached_property
    def row_neighbor(self) -> dict[str, Ints]:
        """The nearest text row beside each row, by side; −1 at the ends of the page."""
        return {side: np.array(rows, np.int32) for side, rows in self._row_neighbor.items()}

    @cached_property
    def _ancestors(self) -> list[Ints]:
        return [np.array(self._row_element, np.int32)]

    def ancestor(self, level: int) -> Ints:
        """Return the element `level` steps up from each row; level 1 is the element that contains the row."""
        while len(self._ancestors) < level:
            self._ancestors.append(self.parent[self._ancestors[-1]])
        return self._ancestors[level - 1]

    def rows_inside(self, region: Region, node: str, top: int) -> int:
        """Return the rows that a selector with this region may select, as a bit set.

        Args:
            region: the region.
            node: the kind of node that is selected.
            top: the highest level that has a feature; the element there may be that of the region.
        """
        level = max(top, 1)
        if node == "element()" and level == 1:
            level = 2  # a selected element is inside the region, not the region itself
        key = (region, node, level)
        if key not in self._inside:
            self._inside[key] = self._rows_with_ancestor_inside(region, level)
        return self._inside[key]

    def _rows_with_ancestor_inside(self, region: Region, level: int) -> int:
        """Return the rows whose ancestor at a level is an element of a region, or inside one."""
        elements = self.elements_of(region)
        changes = np.zeros(len(self.parent) + 1, np.int32)
        np.add.at(changes, elements, 1)
        np.add.at(changes, self.subtree_end[elements] + 1, -1)
        inside = np.cumsum(changes[:-1]) > 0
        return _pack(inside[self.ancestor(level)])

    def neighbor_text(self, row: int, side: str) -> str:
        """Return the text to the left or right of a row; empty at the ends of the page."""
        neighbor = int(self.row_neighbor[side][row])
        return self.rows[neighbor].text if neighbor >= 0 else ""

    # Static text and captions

    @cached_property
    def static(self) -> frozenset[str]:
        """Short texts that appear at the same path on most pages, as static keys: the template's own words."""
        if len(self.pages) < 2:
            return frozenset()
        counts = count_pages_with_texts(map(self._texts_of_page, range(len(self.pages))))
        static = {
            (path, text)
            for (path, text), pages in counts.items()
            if may_be_caption(text) and self._is_frequent(text, pages)
        }
        is_first = (self.sibling["preceding"][self.ancestor(1)] == 0).tolist()
        texts = [
            [(self.rows[row], is_first[row]) for row in range(start, stop) if self.rows[row].is_text]
            for start, stop in pairwise(self.starts)
        ]
        return frozenset(static_key_at(path, text) for path, text in static | find_captions(texts))

    def _texts_of_page(self, page: int) -> list[Node]:
        return [node for node in self.rows_of_page(page) if node.is_text]

    def _is_frequent(self, text: str, pages: int) -> bool:
        """Return True if a text is on enough pages to be static; two are enough if it ends as captions do."""
        return pages >= min_static_pages(len(self.pages), STATIC_SHARE) or (pages > 1 and text.endswith(":"))

    def is_static(self, row: int) -> bool:
        """Return True if a row's text is one of the template's own words."""
        node = self.rows[row]
        return node.is_text and static_key_at(node.path, node.text) in self.static

    @cached_property
    def captions(self) -> list[str]:
        """The nearest static text before each row; empty if there is none."""
        static = np.array([self.is_static(row) for row in range(len(self))], np.bool_)
        before = nearest_before(static, self.row_page).tolist()
        return [self.rows[row].text if row >= 0 else "" for row in before]

    # Features

    def pages_with_text(self, kind: str, value: str) -> int:
        """Count the pages on which `rows_by` returns a row."""
        return len(np.unique(self.row_page[self.rows_by(kind, value)]))

    def rows_by(self, kind: str, value: str) -> list[int]:
        """Return the rows with this `text`, `first` word, `last` word, any `word`, or `caption`."""
        return self._text_index[kind].get(value, [])

    @cached_property
    def _text_index(self) -> dict[str, dict[str, list[int]]]:
        kinds = ("text", "first", "last", "word", "caption")
        index: dict[str, dict[str, list[int]]] = {kind: {} for kind in kinds}
        for row, (node, caption) in enumerate(zip(self.rows, self.captions, strict=True)):
            words = node.text.split(" ")
            index["caption"].setdefault(caption, []).append(row)
            for word in set(words):
                index["word"].setdefault(word, []).append(row)
            if node.is_text:
                index["text"].setdefault(node.text, []).append(row)
                index["first"].setdefault(words[0], []).append(row)
                index["last"].setdefault(words[-1], []).append(row)
        return index

    def bits(self, features: Iterable[Feature]) -> int:
        """Return the rows that have all these features, as a bit set."""
        bits = (1 << len(self)) - 1
        for feature in features:
            if feature not in self._bits:
                self._bits[feature] = self._rows_with(feature)
            bits &= self._bits[feature]
        return bits

    def _rows_with(self, feature: Feature) -> int:
        match feature.kind:
            case "label":
                return self._rows_by_any("caption", feature.values)
            case "inside-word":
                return self._rows_by_any("word", feature.values)
            case "inside-left-text":
                starts = [node.text.startswith(feature.values) for node in self.rows]
                return _pack(np.array(starts, np.bool_))
            case "inside-right-text":
                ends = [node.text.endswith(feature.values) for node in self.rows]
                return _pack(np.array(ends, np.bool_))
            case _:
                return self._rows_beside(feature) if feature.side else self._rows_within(feature)

    def _rows_by_any(self, kind: str, values: Iterable[str]) -> int:
        bits = 0
        for value in values:
            bits |= bits_of(self.rows_by(kind, value))
        return bits

    def _rows_beside(self, feature: Feature) -> int:
        """Return the rows with this text, or a text with this word, on the feature's side."""
        side = "left" if feature.side == "left" else "right"
        edge = "last" if side == "left" else "first"
        index = self._text_index["text" if feature.kind == "text" else edge]
        texts = np.zeros(len(self) + 1, np.bool_)  # the last entry is for neighbor −1
        for value in feature.values:
            texts[index.get(value, [])] = True
        return _pack(texts[self.row_neighbor[side]])

    def _rows_within(self, feature: Feature) -> int:
        """Return the rows whose ancestor at the feature's level, or a sibling of it, has this value."""
        elements = self._with_any(feature.kind, feature.values)
        elements[0] = feature.kind == "tag" and "" in feature.values
        if not feature.axis:
            return _pack(elements[self.ancestor(feature.level)])
        if feature.level:
            at = self.sibling[feature.axis][self.ancestor(feature.level)]
        else:
            at = self.row_sibling[feature.axis]
        if feature.sibling == 2:
            at = self.sibling[feature.axis][at]
        held = elements[at]
        if feature.level:
            held &= self.ancestor(feature.level) > 0
        return _pack(held)


def bits_of(rows: Iterable[int]) -> int:
    """Return rows as a bit set."""
    numbers = np.fromiter(rows, np.int64)
    if not len(numbers):
        return 0
    mask = np.zeros(int(numbers.max()) + 1, np.bool_)
    mask[numbers] = True
    return _pack(mask)


def _pack(mask: Bools) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _nodes_and_elements(page: Page) -> list[Node]:
    """Return the nodes, with each element that has a short text in front of its first text, outer elements first."""
    texts = element_texts(page.tree, MAX_ELEMENT_TEXT)
    seen: set[etree._Element] = set()
    merged: list[Node] = []
    for node in page.nodes:
        if node.is_text:
            starting = []
            element = node.parent
            while element is not None and element not in seen:
                seen.add(element)
                if element in texts:
                    starting.append(Node(element, "element", texts[element]))
                element = element.getparent()
            merged += reversed(starting)
        merged.append(node)
    return merged


def _element_siblings(node: Node) -> Iterator[tuple[str, etree._Element | None]]:
    """Yield the nearest sibling elements of a text node, by direction; other nodes have none."""
    element = node.element
    if not node.is_text:
        yield "preceding", None
        yield "following", None
    elif node.kind == "text":
        yield "preceding", None
        yield "following", next(iter(element.iterchildren("*")), None)
    else:
        is_comment = not isinstance(element.tag, str)
        yield "preceding", next(element.itersiblings("*", preceding=True), None) if is_comment else element
        yield "following", next(element.itersiblings("*"), None)
