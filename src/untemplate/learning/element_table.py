"""The elements of sample pages as arrays: their parents, siblings and values.

Elements are numbered over all pages, in document order. Number 0 means "no element", so going up or sideways needs no
test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
from lxml import etree

from untemplate.page.arrays import Bools, Ints
from untemplate.rules.feature import CELL, CELL_TAGS, cell_number, element_values
from untemplate.rules.record_pages import RECORD_TAG
from untemplate.rules.rule import Region

__all__ = ["ElementTable", "position_slice"]


class ElementTable:
    """All elements of a few pages, as columns. Pages are added before the first question."""

    def __init__(self) -> None:
        self._elements: list[etree._Element] = []  # element n is at n - 1
        self._first_elements: list[int] = []
        self._parent: list[int] = [0]
        self._sibling: dict[str, list[int]] = {"preceding": [0], "following": [0]}
        self._holders: dict[tuple[str, str], list[int]] = {}
        self._holder_arrays: dict[tuple[str, str], Ints] = {}

    def number_elements(self, root: etree._Element) -> dict[etree._Element | None, int]:
        """Number the elements of one more page, and record their parents, siblings and values."""
        self._first_elements.append(len(self._parent))
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
            if not element.get("class"):
                self._holders.setdefault(("class", ""), []).append(number)
            if root.tag == RECORD_TAG and element.tag in CELL_TAGS:
                self._holders.setdefault((CELL, str(cell_number(element))), []).append(number)
        return numbers

    # Going up and sideways

    @cached_property
    def parent(self) -> Ints:
        """The parent of each element."""
        return np.array(self._parent, np.int32)

    @cached_property
    def sibling(self) -> dict[str, Ints]:
        """The nearest sibling of each element, by direction."""
        return {axis: np.array(numbers, np.int32) for axis, numbers in self._sibling.items()}

    def element(self, number: int) -> etree._Element:
        """Return the element with a number."""
        return self._elements[number - 1]

    @cached_property
    def subtree_end(self) -> Ints:
        """The last element inside each element, or the element itself: elements are numbered in document order."""
        ends = list(range(len(self._parent)))
        for number in range(len(ends) - 1, 0, -1):
            parent = self._parent[number]
            if ends[number] > ends[parent]:
                ends[parent] = ends[number]
        return np.array(ends, np.int32)

    @cached_property
    def depth(self) -> list[int]:
        """How many elements are around each element."""
        depths = [0] * len(self._parent)
        for number in range(1, len(depths)):
            parent = self._parent[number]
            depths[number] = depths[parent] + 1 if parent else 0
        return depths

    def shared_element(self, first: int, second: int) -> int:
        """Return the smallest element that contains two elements of a page."""
        while first != second:
            if first > second:
                first = self._parent[first]
            else:
                second = self._parent[second]
        return first

    def shared_depth(self, first: int, second: int) -> int:
        """Return the depth of the smallest element that contains two elements of a page."""
        return self.depth[self.shared_element(first, second)]

    def children(self, number: int) -> Iterator[int]:
        """Yield the child elements of an element."""
        child, last = number + 1, int(self.subtree_end[number])
        while child <= last:
            yield child
            child = int(self.subtree_end[child]) + 1

    # Elements with a value

    def count_elements(self, kind: str, value: str) -> int:
        """Count the elements with this value."""
        return len(self._holders.get((kind, value), ()))

    def count_on_page(self, kind: str, value: str, page: int) -> int:
        """Count the elements of a page with this value."""
        return len(self._numbers_between(kind, value, *self._bounds[page]))

    def pages_with(self, kind: str, value: str) -> int:
        """Count the pages on which an element has this value."""
        numbers = self._numbers_with(kind, value)
        return len(np.unique(np.searchsorted(self._first_elements, numbers, side="right")))

    def elements_of(self, region: Region) -> Ints:
        """Return the elements of a region on all pages."""
        numbers = self._elements_between(region, 1, len(self._parent))
        if not region.position:
            return numbers
        firsts = np.searchsorted(numbers, [*self._first_elements, len(self._parent)])
        at_position = position_slice(region.position)
        return np.concatenate([numbers[start:stop][at_position] for start, stop in pairwise(firsts)])

    def elements_on_page(self, region: Region, page: int) -> Ints:
        """Return the elements of one page that have the features of a region, whatever its position is."""
        return self._elements_between(region, *self._bounds[page])

    def _elements_between(self, region: Region, first: int, after: int) -> Ints:
        """Return the elements with a region's features among those of complete pages: from a number to another."""
        mask = np.ones(after - first, np.bool_)
        for feature in region.features:
            has_value = np.zeros(after - first + 1, np.bool_)  # number 0, no element, stays at 0
            for value in feature.values:
                has_value[self._numbers_between(feature.kind, value, first, after) - (first - 1)] = True
            above = self._go_up(feature.level - 1)[first:after]
            mask &= has_value[np.maximum(above - (first - 1), 0)]
        return (np.flatnonzero(mask) + first).astype(np.int32)

    def _numbers_between(self, kind: str, value: str, first: int, after: int) -> Ints:
        """Return the elements with a value from a number to another."""
        numbers = self._numbers_with(kind, value)
        start, stop = np.searchsorted(numbers, (first, after))
        return numbers[start:stop]

    def _numbers_with(self, kind: str, value: str) -> Ints:
        """Return the elements with a value; an array is made of the list when it is first needed."""
        key = (kind, value)
        if key not in self._holder_arrays:
            self._holder_arrays[key] = np.array(self._holders.get(key, ()), np.int32)
        return self._holder_arrays[key]

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        """For each page, its first element and the one after its last."""
        return list(pairwise([*self._first_elements, len(self._parent)]))

    def _with_any(self, kind: str, values: Iterable[str]) -> Bools:
        """Return for each element whether it has one of these values."""
        has_value = np.zeros(len(self._parent), np.bool_)
        for value in values:
            has_value[self._numbers_with(kind, value)] = True
        return has_value

    def _go_up(self, levels: int) -> Ints:
        """Return the element that many levels above each element."""
        while len(self._above) <= levels:
            self._above.append(self.parent[self._above[-1]])
        return self._above[levels]

    @cached_property
    def _above(self) -> list[Ints]:
        """The elements 0, 1 … levels above each element, as far as they were needed."""
        return [np.arange(len(self._parent), dtype=np.int32)]


def position_slice(position: int) -> slice:
    """Return which of several matches a position keeps: counted from 1; −1 for the last, 0 for all.

    >>> "abc"[position_slice(2)], "abc"[position_slice(-1)], "abc"[position_slice(0)]
    ('b', 'c', 'abc')
    """
    if not position:
        return slice(None)
    return slice(position - 1, position) if position > 0 else slice(-1, None)
