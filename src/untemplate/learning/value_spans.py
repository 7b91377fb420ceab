"""Labels as spans: where the letters and digits of a value are on a page, and which nodes and elements equal them.

A page is one string of letters and digits. Each text node and each element is a span of it. A value is at every span
that equals it, however many nodes the span has and whatever the markup, white space and punctuation inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import cached_property

from lxml import etree

from untemplate.page import Node
from untemplate.page.arrays import Ints
from untemplate.page.dom import is_hidden
from untemplate.page.locating import letters_and_digits

__all__ = ["PageSpans", "Span"]

Span = tuple[int, int]
"""Where a part of the page's letters and digits starts and ends."""

# Occurrences of one value that are considered, and starts of a list that are tried.
MAX_SPANS = 400
MAX_STARTS = 30
# A list is found if this share of its labeled members is on the page, in their order.
MIN_FOUND_SHARE = 0.6


class PageSpans:
    """The text rows and element rows of one page as spans.

    Args:
        first_row: the number of the page's first row in its table.
        nodes: the rows of the page.
        elements: the element of each row of the table: the one that contains a text, or the row's own.
        subtree_end: for each element, the last element inside it.
        skipped: rows whose text is left out.
    """

    def __init__(
        self,
        first_row: int,
        nodes: Sequence[Node],
        elements: Ints,
        subtree_end: Ints,
        skipped: Set[int] = frozenset(),
    ) -> None:
        self._page = (first_row, nodes, elements, subtree_end)
        # The span of each row.
        self._span_of: dict[int, Span] = {}
        keys: list[str] = []
        position = 0
        open_rows: list[tuple[int, int, int, int]] = []  # row, its element, the last element inside, start
        for row, node in enumerate(nodes, first_row):
            if node.is_attribute or row in skipped:
                continue
            element = int(elements[row])
            # An element ends before the first text outside it.
            while open_rows and not open_rows[-1][1] <= element <= open_rows[-1][2]:
                closed, _, _, start = open_rows.pop()
                self._span_of[closed] = (start, position)
            if node.is_text:
                keys.append(letters_and_digits(node.text))
                self._span_of[row] = (position, position + len(keys[-1]))
                position += len(keys[-1])
            else:
                open_rows.append((row, element, int(subtree_end[element]), position))
        for row, _, _, start in open_rows:
            self._span_of[row] = (start, position)
        #: all letters and digits of the page
        self.letters = "".join(keys)

    @cached_property
    def rows_at(self) -> dict[Span, list[int]]:
        """The rows of each span that is not empty, outer elements first."""
        rows_at: dict[Span, list[int]] = {}
        for row, span in sorted(self._span_of.items()):
            if span[1] > span[0]:
                rows_at.setdefault(span, []).append(row)
        return rows_at

    def for_values(self, values: Sequence[str]) -> PageSpans:
        """Return these spans or, if more of the values follow each other there, those without hidden texts."""
        found = max(map(len, self.find_lists(values)), default=0)
        if found == len(values) or self._visible is self:
            return self
        visible = max(map(len, self._visible.find_lists(values)), default=0)
        return self._visible if visible > found else self

    @cached_property
    def _visible(self) -> PageSpans:
        """The spans of the page without the texts of hidden elements; these spans if there are none."""
        first_row, nodes, _, _ = self._page
        is_inside = _HiddenElements()
        hidden = {row for row, node in enumerate(nodes, first_row) if node.is_text and is_inside[node.parent]}
        return PageSpans(*self._page, skipped=hidden) if hidden else self

    def find(self, value: str) -> Iterator[Span]:
        """Yield the spans of nodes and elements that equal a value in letters and digits, in page order."""
        key = letters_and_digits(value)
        start = self.letters.find(key) if key else -1
        for _ in range(MAX_SPANS):
            if start < 0:
                return
            if (start, start + len(key)) in self.rows_at:
                yield start, start + len(key)
            start = self.letters.find(key, start + 1)

    def find_lists(self, values: Sequence[str]) -> list[dict[int, Span]]:
        """Return the places where the values of a list follow each other, best first.

        Returns:
            For each place, the span of each value that is there, by its number. The best place has most values, in
            the least text. Places with fewer values, or with much more text, are left out.
        """
        spans_of = [list(self.find(value)) for value in values]
        first = next((number for number, spans in enumerate(spans_of) if spans), None)
        if first is None:
            return []
        places = [_follow(spans_of, first, start) for start in spans_of[first][:MAX_STARTS]]
        places.sort(key=lambda place: (-len(place), _extent(place)))
        chosen: list[dict[int, Span]] = []
        for place in places:
            if len(place) < max(1.0, MIN_FOUND_SHARE * len(values)):
                continue
            if all(_is_alternative(place, other, chosen[0]) for other in chosen):
                chosen.append(place)
        return chosen


class _HiddenElements(dict[etree._Element, bool]):
    """Whether elements are hidden, by themselves or by an element around them."""

    def __missing__(self, element: etree._Element) -> bool:
        path = [element]
        while (parent := path[-1].getparent()) is not None and parent not in self:
            path.append(parent)
        for inner in reversed(path):
            self[inner] = is_hidden(inner) or self.get(inner.getparent(), False)
        return self[element]


def _follow(spans_of: Sequence[Sequence[Span]], first: int, start: Span) -> dict[int, Span]:
    """Return the nearest spans of all values after the first one, each behind those before it."""
    place, position = {first: start}, start[1]
    for number in range(first + 1, len(spans_of)):
        following = next((span for span in spans_of[number] if span[0] >= position), None)
        if following is not None:
            place[number] = following
            position = following[1]
    return place


def _extent(place: dict[int, Span]) -> int:
    spans = list(place.values())
    return spans[-1][1] - spans[0][0]


def _is_alternative(place: dict[int, Span], other: dict[int, Span], best: dict[int, Span]) -> bool:
    """Return True if a place is as complete as the best and about as compact, and shares no span with another."""
    if len(place) < len(best) or _extent(place) > 3 * _extent(best) + 50:
        return False
    return set(place.values()).isdisjoint(other.values())
