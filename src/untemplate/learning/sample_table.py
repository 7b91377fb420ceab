"""The sample's nodes and elements as arrays, so that a feature is looked up for all nodes at once.

Rows are the nodes of all pages, page after page, in document order. Elements are numbered over all pages;
number 0 stands for "none", so that going up or sideways needs no test. A set of rows is a bit set, kept as an
integer, which Python combines and counts faster than anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from lxml import etree

from untemplate.page import Node, Page, visible_text
from untemplate.page.arrays import Bools, Ints
from untemplate.page.captions import count_pages_with_texts, may_be_caption, static_key_at
from untemplate.rules.feature import Feature, element_values

__all__ = ["Table", "bits_of"]

# The share of pages on which a text must stand to be static: 0.8, as in "High-Precision Web Extraction Using Site
# Knowledge". Swept with `python -m benchmarks.measure.constants`: 0.5 is worse, since frequent values then
# look like labels; 0.65 to 0.95 are alike.
STATIC_SHARE = 0.8

# Up to so many rows of a bit set are listed one by one; that takes quadratic time, but little.
FEW = 32

# An element with more text is not one value.
MAX_ELEMENT_TEXT = 1000


class Table:
    """All nodes of a few readable pages, with their elements, as columns; whole elements too if asked for."""

    def __init__(self, pages: Sequence[Page], whole_elements: bool = False) -> None:
        self.pages = pages
        self._whole_elements = whole_elements
        self.rows: list[Node] = []
        self.starts: list[int] = [0]
        self._elements: list[etree._Element | None] = [None]
        self._first_elements: list[int] = []
        self._parent: list[int] = [0]
        self._sibling: dict[str, list[int]] = {"preceding": [0], "following": [0]}
        self._row_element: list[int] = []
        self._row_sibling: dict[str, list[int]] = {"preceding": [], "following": []}
        self._row_neighbor: dict[str, list[int]] = {"left": [], "right": []}
        self._holders: dict[tuple[str, str], list[int]] = {}
        self._bits: dict[Feature, int] = {}
        for page in pages:
            self._add(page)

    def _add(self, page: Page) -> None:
        self._first_elements.append(len(self._parent))
        numbers = self._number_elements(page.tree)
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
                start = last_text if last_text >= 0 else first
                right[start:row] = [row] * (row - start)
                last_text = row
        self.starts.append(len(self.rows))

    def _nodes(self, page: Page) -> Sequence[Node]:
        return _with_elements(page.nodes) if self._whole_elements else page.nodes

    @cached_property
    def with_elements(self) -> Table:
        """The same pages, and besides their nodes whole elements as rows."""
        return Table(self.pages, whole_elements=True)

    def _number_elements(self, root: etree._Element) -> dict[etree._Element | None, int]:
        numbers: dict[etree._Element | None, int] = {}
        last_child: dict[int, int] = {}
        for number, element in enumerate(root.iter(etree.Element), len(self._parent)):
            numbers[element] = number
            parent = numbers.get(element.getparent(), 0)
            before = last_child.get(parent, 0) if parent else 0
            last_child[parent] = number
            self._elements.append(element)
            self._parent.append(parent)
            self._sibling["preceding"].append(before)
            self._sibling["following"].append(0)
            if before:
                self._sibling["following"][before] = number
            for key in element_values(element):
                self._holders.setdefault(key, []).append(number)
        return numbers

    def __len__(self) -> int:
        return len(self.rows)

    # Rows and pages

    @cached_property
    def row_page(self) -> Ints:
        """The page of each row."""
        return np.repeat(np.arange(len(self.pages), dtype=np.int32), np.diff(np.array(self.starts)))

    @cached_property
    def page_bits(self) -> list[int]:
        """The rows of each page."""
        spans = zip(self.starts, self.starts[1:], strict=False)
        return [((1 << (stop - start)) - 1) << start for start, stop in spans]

    @cached_property
    def node_bits(self) -> dict[str, int]:
        """The rows of each node kind: `text()`, `@src` …"""
        kinds: dict[str, list[int]] = {}
        for row, node in enumerate(self.rows):
            kinds.setdefault(node.node_test, []).append(row)
        return {kind: bits_of(rows) for kind, rows in kinds.items()}

    def first(self, bits: int, page: int) -> int | None:
        """The first of these rows on a page."""
        start = self.starts[page]
        on_page = (bits & self.page_bits[page]) >> start
        return start + (on_page & -on_page).bit_length() - 1 if on_page else None

    def on_page(self, bits: int, page: int) -> list[int]:
        """All of these rows on a page, in order."""
        start, stop = self.starts[page], self.starts[page + 1]
        rest = (bits & self.page_bits[page]) >> start
        if rest.bit_count() > FEW:
            packed = np.frombuffer(rest.to_bytes((stop - start + 7) // 8, "little"), np.uint8)
            return (np.flatnonzero(np.unpackbits(packed, bitorder="little")) + start).tolist()
        rows = []
        while rest:
            low = rest & -rest
            rows.append(start + low.bit_length() - 1)
            rest ^= low
        return rows

    # Going up, sideways, left and right

    @cached_property
    def parent(self) -> Ints:
        return np.array(self._parent, np.int32)

    @cached_property
    def sibling(self) -> dict[str, Ints]:
        """Per direction, the nearest element sibling of each element."""
        return {axis: np.array(numbers, np.int32) for axis, numbers in self._sibling.items()}

    @cached_property
    def row_sibling(self) -> dict[str, Ints]:
        """Per direction, the nearest element sibling of each row."""
        return {axis: np.array(numbers, np.int32) for axis, numbers in self._row_sibling.items()}

    @cached_property
    def row_neighbor(self) -> dict[str, Ints]:
        """Per side, the nearest text row; −1 at the page's ends."""
        return {side: np.array(rows, np.int32) for side, rows in self._row_neighbor.items()}

    @cached_property
    def _ancestors(self) -> list[Ints]:
        return [np.array(self._row_element, np.int32)]

    def ancestor(self, level: int) -> Ints:
        """The element `level` steps up from each row; level 1 is the element that contains it."""
        while len(self._ancestors) < level:
            self._ancestors.append(self.parent[self._ancestors[-1]])
        return self._ancestors[level - 1]

    def element(self, number: int) -> etree._Element:
        element = self._elements[number]
        assert element is not None
        return element

    def neighbor_text(self, row: int, side: str) -> str:
        """The text to the left or right of a row; empty at the page's ends."""
        other = int(self.row_neighbor[side][row])
        return self.rows[other].text if other >= 0 else ""

    # Static text and labels

    @cached_property
    def static(self) -> frozenset[str]:
        """Short texts that stand at the same path on most pages, with their tags: the template's own words."""
        if len(self.pages) < 2:
            return frozenset()
        spans = zip(self.starts, self.starts[1:], strict=False)
        counts = count_pages_with_texts(filter(_is_text, self.rows[start:stop]) for start, stop in spans)
        return frozenset(
            static_key_at(path, text)
            for (path, text), count in counts.items()
            if may_be_caption(text) and self._is_frequent(text, count)
        )

    def _is_frequent(self, text: str, count: int) -> bool:
        return count >= STATIC_SHARE * len(self.pages) or (count > 1 and text.endswith(":"))

    def is_static(self, row: int) -> bool:
        """Whether a row is one of the template's own words."""
        node = self.rows[row]
        return node.is_text and static_key_at(node.path, node.text) in self.static

    @cached_property
    def labels(self) -> list[str]:
        """The nearest static text before each row; empty if there is none."""
        labels: list[str] = []
        for start, stop in zip(self.starts, self.starts[1:], strict=False):
            label = ""
            for row in range(start, stop):
                labels.append(label)
                if self.is_static(row):
                    label = self.rows[row].text
        return labels

    # Features

    def pages_with(self, kind: str, value: str) -> int:
        """On how many pages some element has this value."""
        numbers = self._holders.get((kind, value), [])
        return len(np.unique(np.searchsorted(self._first_elements, numbers, side="right")))

    def pages_with_text(self, kind: str, value: str) -> int:
        """On how many pages some row's text is this, or begins, ends or stands with this word."""
        return len(np.unique(self.row_page[self.rows_by(kind, value)]))

    def rows_by(self, kind: str, value: str) -> list[int]:
        """The rows with this `text`, `first`, `last` or any `word`, or `label`."""
        return self._text_index[kind].get(value, [])

    @cached_property
    def _text_index(self) -> dict[str, dict[str, list[int]]]:
        index: dict[str, dict[str, list[int]]] = {k: {} for k in ("text", "first", "last", "word", "label")}
        for row, (node, label) in enumerate(zip(self.rows, self.labels, strict=True)):
            words = node.text.split(" ")
            index["label"].setdefault(label, []).append(row)
            for word in set(words):
                index["word"].setdefault(word, []).append(row)
            if node.is_text:
                index["text"].setdefault(node.text, []).append(row)
                index["first"].setdefault(words[0], []).append(row)
                index["last"].setdefault(words[-1], []).append(row)
        return index

    def bits(self, features: Iterable[Feature]) -> int:
        """The rows of which all these features hold."""
        bits = (1 << len(self)) - 1
        for feature in features:
            if feature not in self._bits:
                self._bits[feature] = self._rows_with(feature)
            bits &= self._bits[feature]
        return bits

    def _rows_with(self, feature: Feature) -> int:
        match feature.kind:
            case "label":
                return bits_of(row for value in feature.values for row in self.rows_by("label", value))
            case "inside-word":
                return bits_of(row for value in feature.values for row in self.rows_by("word", value))
            case "inside-left-text":
                return bits_of(r for r, n in enumerate(self.rows) if n.text.startswith(feature.values))
            case "inside-right-text":
                return bits_of(r for r, n in enumerate(self.rows) if n.text.endswith(feature.values))
            case "text" | "word":
                return self._rows_beside(feature)
            case _:
                return self._rows_within(feature)

    def _rows_beside(self, feature: Feature) -> int:
        assert feature.side is not None
        edge = "last" if feature.side == "left" else "first"
        index = self._text_index["text" if feature.kind == "text" else edge]
        texts = np.zeros(len(self) + 1, np.bool_)  # the last place stands for neighbor −1
        for value in feature.values:
            texts[index.get(value, [])] = True
        return _pack(texts[self.row_neighbor[feature.side]])

    def _rows_within(self, feature: Feature) -> int:
        elements = np.zeros(len(self._parent), np.bool_)
        for value in feature.values:
            elements[self._holders.get((feature.kind, value), [])] = True
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


def _is_text(node: Node) -> bool:
    return node.is_text


def bits_of(rows: Iterable[int]) -> int:
    """These rows as a bit set."""
    numbers = np.fromiter(rows, np.int64)
    if not len(numbers):
        return 0
    mask = np.zeros(int(numbers.max()) + 1, np.bool_)
    mask[numbers] = True
    return _pack(mask)


def _pack(mask: Bools) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _with_elements(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, and before those inside it each element that holds a short text, the outer ones first."""
    length: dict[etree._Element, int] = {}
    starting: dict[int, list[etree._Element]] = {}
    for index, node in enumerate(nodes):
        if not node.is_text:
            continue
        for element in (node.parent, *node.parent.iterancestors()):
            if element not in length:
                length[element] = 0
                starting.setdefault(index, []).append(element)
            length[element] += len(node.text)
    merged: list[Node] = []
    for index, node in enumerate(nodes):
        short = (e for e in reversed(starting.get(index, [])) if length[e] <= MAX_ELEMENT_TEXT)
        merged += (Node(element, "element", visible_text(element)) for element in short)
        merged.append(node)
    return merged


def _element_siblings(node: Node) -> Iterator[tuple[str, etree._Element | None]]:
    """The nearest element siblings of a text node; other nodes have none."""
    element = node.element
    if not node.is_text:
        yield "preceding", None
        yield "following", None
    elif node.kind == "text":
        yield "preceding", None
        yield "following", next(iter(element.iterchildren("*")), None)
    else:
        before = element if isinstance(element.tag, str) else None
        yield (
            "preceding",
            before if before is not None else next(element.itersiblings("*", preceding=True), None),
        )
        yield "following", next(element.itersiblings("*"), None)
