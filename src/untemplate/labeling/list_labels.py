"""Where on a list page the labelled records stand, and which others are like them.

All that repeats on the page competes, as in `find_records`: the records are the group of which most labelled records
are a member each, with all their values; among several such groups, the one that looks most like a page's records.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from lxml import etree

from untemplate.labeling.label import Label
from untemplate.layout import EstimatedLayout
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_tree import Run
from untemplate.lists.row import Row, cell_names
from untemplate.page import Page

__all__ = ["Located", "labels_of_rows", "letters", "locate", "locate_runs"]

SOURCE = "find_records"

# A value that stands in more places does not tell where its record is; so many records are looked for to tell groups
# apart: more would only take longer.
MAX_PLACES = 100
MAX_RECORDS = 100

_OTHER = re.compile(r"[\W_]+")
_Place = tuple[int, int]
"""The first and the last row of the tree at which a value stands."""


@dataclass(frozen=True)
class Located:
    """A record of a page: adjacent siblings, and what was labelled in it."""

    elements: list[etree._Element]
    labels: list[Label]


def locate(page: Page, labels: Iterable[Label]) -> list[Located]:
    """The records of a page in their order, labelled or not; none if no labelled one is found.

    Raises PageError when the page cannot be read, shows nothing or too much.
    """
    found = ListPage(page, EstimatedLayout())
    runs = ((_elements(found, run), own) for run, own in locate_runs(page, found, labels))
    return [Located(elements, own) for elements, own in runs if elements]


def locate_runs(page: Page, found: ListPage, labels: Iterable[Label]) -> list[tuple[Run, list[Label]]]:
    """The records of a page in their order, each with its labels, if any; none if no labelled one is found."""
    by_record: dict[str, list[Label]] = {}
    for label in labels:
        if label.record is not None:
            by_record.setdefault(label.record, []).append(label)
    return _Locator(page, found).locate(by_record)


class _Locator:
    def __init__(self, page: Page, found: ListPage) -> None:
        self._page, self._list = page, found
        self._tree = self._list.tree
        self._row_of = {item: row for row, item in enumerate(self._tree.items) if not isinstance(item, str)}
        texts = [letters(item) if isinstance(item, str) else "" for item in self._tree.items]
        self._letters = "".join(texts)
        self._offsets = [0]
        for text in texts:
            self._offsets.append(self._offsets[-1] + len(text))

    def locate(self, by_record: dict[str, list[Label]]) -> list[tuple[Run, list[Label]]]:
        wanted = [(self._head(record), self._places(labels)) for record, labels in by_record.items()]
        groups = [group.runs for group in self._list.groups]
        scores = self._list.scores.tolist()
        groups.append(self._apart(sorted({self._smallest(*one) for one in wanted} - {-1})))
        scores.append(-inf)  # what is like nothing else is the last resort
        some = wanted[:: max(1, len(wanted) // MAX_RECORDS)]
        placed = [len(self._pair(runs, some)) for runs in groups]
        best = max(range(len(groups)), key=lambda number: (placed[number], scores[number]))
        if not placed[best]:
            return []
        labels = list(by_record.values())
        of_run = {run: labels[number] for number, run in self._pair(groups[best], wanted).items()}
        return [(run, of_run.get(number, [])) for number, run in enumerate(groups[best])]

    def _apart(self, rows: Sequence[int]) -> tuple[Run, ...]:
        """The rows, in their order, that hold no other."""
        after = [*rows, len(self._tree)][1:]
        return tuple((row,) for row, other in zip(rows, after, strict=True) if self._tree.end[row] <= other)

    def _pair(self, runs: Sequence[Run], wanted: Sequence[tuple[int, list[list[_Place]]]]) -> dict[int, int]:
        """Of each wanted record that a run holds the number of the run; no run holds two."""
        starts = [run[0] for run in runs]
        ends = [int(self._tree.end[run[-1]]) for run in runs]
        heads = {self._first_element(run): number for number, run in enumerate(runs)}
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for record, (head, values) in enumerate(wanted):
            options = {heads[head]} & self._holding(starts, ends, values) if head in heads else set()
            if head < 0 and values:
                options = self._holding(starts, ends, values)
            if free := options - taken:
                pairs[record] = min(free)
                taken.add(pairs[record])
        return pairs

    def _holding(self, starts: Sequence[int], ends: Sequence[int], values: list[list[_Place]]) -> set[int]:
        """The runs that hold all values."""
        holding = set(range(len(starts))) if not values else None
        for places in values:
            found = set()
            for first, last in places:
                number = bisect_right(starts, first) - 1
                if number >= 0 and last < ends[number]:
                    found.add(number)
            holding = found if holding is None else holding & found
        return holding or set()

    def _head(self, record: str) -> int:
        """The row of the element that a record's name points to; −1 if it is no XPath."""
        return self._row_of.get(self._element_at(record), -1) if record.startswith("/") else -1

    def _element_at(self, xpath: str) -> etree._Element | None:
        """The element that an XPath selects, or that holds what it selects."""
        try:
            results = self._page.tree.xpath(xpath, smart_strings=True)
        except etree.XPathError:
            return None
        for result in results if isinstance(results, list) else []:
            return result if isinstance(result, etree._Element) else result.getparent()
        return None

    def _places(self, labels: Iterable[Label]) -> list[list[_Place]]:
        """Where each value stands that tells anything; values that are nowhere in the text tell nothing."""
        found = []
        for label in labels:
            if label.xpath is not None:
                row = self._row_of.get(self._element_at(label.xpath), -1)
                places = [(row, row)] if row >= 0 else []
            else:
                places = list(self._occurrences(letters(label.value or "")))
            if 0 < len(places) <= MAX_PLACES:
                found.append(places)
        return found

    def _occurrences(self, letters: str) -> Iterator[_Place]:
        if not letters:
            return
        place, count = self._letters.find(letters), 0
        while place >= 0 and count <= MAX_PLACES:
            yield self._row_at(place), self._row_at(place + len(letters) - 1)
            place, count = self._letters.find(letters, place + 1), count + 1

    def _row_at(self, place: int) -> int:
        return bisect_right(self._offsets, place) - 1

    def _smallest(self, head: int, values: list[list[_Place]]) -> int:
        """The row of the smallest element that holds all values: a record that is like no other; −1: none."""
        if head >= 0 or not values:
            return head
        rarest = min(values, key=len)
        sizes = []
        for first, last in rarest:
            row = first
            while row >= 0 and not self._holds(row, last, values):
                row = int(self._tree.parent[row])
            if row >= 0:
                sizes.append((int(self._tree.end[row]) - row, row))
        row = min(sizes, default=(0, -1))[1]
        return int(self._tree.parent[row]) if row >= 0 and isinstance(self._tree.items[row], str) else row

    def _holds(self, row: int, last: int, values: list[list[_Place]]) -> bool:
        end = int(self._tree.end[row])
        return last < end and all(any(row <= a and b < end for a, b in places) for places in values)

    def _first_element(self, run: Run) -> int:
        return next((row for row in run if not isinstance(self._tree.items[row], str)), -2)


def _elements(found: ListPage, run: Run) -> list[etree._Element]:
    """The siblings from the first element of a run to its last, those that show nothing too."""
    shown = [item for row in run if not isinstance(item := found.tree.items[row], str)]
    elements = shown[:1]
    while elements and elements[-1] is not shown[-1]:
        elements.append(next(elements[-1].itersiblings("*")))
    return elements


def letters(text: str) -> str:
    """Letters and digits in small letters: how texts are compared."""
    return _OTHER.sub("", text.lower())


def labels_of_rows(rows: Iterable[Row]) -> list[Label]:
    """What rows say as labels, by the names that a model gave, or if it gave none by `cell_names`."""
    return [
        Label(row.page, name, value, None, SOURCE, row.confidence, row.xpath)
        for row in rows
        for name, value in _named(row)
    ]


def _named(row: Row) -> Iterable[tuple[str, str | None]]:
    return row.values.items() or zip(cell_names(len(row.cells)), row.cells, strict=True)
