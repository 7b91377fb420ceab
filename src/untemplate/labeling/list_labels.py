"""Where the labeled records of a list page are, and which other records the list has.

Everything that repeats on the page competes, as in `find_records`. We select the group in which the most
labeled records are members with all their values; among several such groups, the one that looks most like the
records of a page. Records around texts like the labeled ones are further hypotheses; see `list_anchors`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np
from lxml import etree

from untemplate.labeling.label import Label
from untemplate.labeling.list_anchors import AnchoredRun, AnchorFinder, Span
from untemplate.layout import EstimatedLayout
from untemplate.lists.groups import Group, drop_hidden_members, dropped_members
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_tree import TEXT, Run
from untemplate.lists.rows import ADDRESS_COLUMNS, SECTION_COLUMN, Row
from untemplate.page import Node, Page, squeeze
from untemplate.page.locating import letters_and_digits

__all__ = ["LetterIndex", "LocatedRecord", "labels_of_rows", "locate_lists", "locate_runs"]

SOURCE = "find_records"

# A value that occurs more often does not show where its record is.
MAX_OCCURRENCES = 100
# Records that are located to compare groups. More would only take longer.
MAX_COMPARED_RECORDS = 100


class LetterIndex:
    """Finds values in the letters of adjacent texts, as if these were one text.

    Args:
        texts: the letters of each text, as from `letters_and_digits`.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._letters = "".join(texts)
        self._starts = [0]
        for text in texts:
            self._starts.append(self._starts[-1] + len(text))
        self._number_of_start = {start: number for number, start in enumerate(self._starts)}

    def find_all(self, value: str) -> Iterator[tuple[int, int]]:
        """Yield the numbers of the first and the last text of each occurrence; an empty value has none."""
        for position in self._positions(value):
            yield self._number_at(position), self._number_at(position + len(value) - 1)

    def find_complete(self, value: str) -> range | None:
        """Return the numbers of the first adjacent texts that together are the value; None if there are none.

        No text may be empty.
        """
        for position in self._positions(value):
            first = self._number_of_start.get(position)
            end = self._number_of_start.get(position + len(value))
            if first is not None and end is not None:
                return range(first, end)
        return None

    def _positions(self, value: str) -> Iterator[int]:
        position = self._letters.find(value) if value else -1
        while position >= 0:
            yield position
            position = self._letters.find(value, position + 1)

    def _number_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1


@dataclass(frozen=True)
class LocatedRecord:
    """A record of a page: adjacent siblings, and the labels of its values.

    Attributes:
        elements: the sibling elements.
        labels: the labels; empty for a record that nobody labeled.
        lead: the text before the first element, if the record begins with it.
        ends_in_text: True if the text after the last element belongs to the record.
        anchor: the text by which the record was found; None if it was not found by one.
        level: how many levels above the anchor the record begins.
        is_member: True if the record is a member of a repeated group.
        is_repetition: True if it has the texts and links of an earlier record, so that `find_records` drops it.
    """

    elements: list[etree._Element]
    labels: list[Label]
    lead: Node | None = None
    ends_in_text: bool = False
    anchor: Node | None = None
    level: int = 0
    is_member: bool = False
    is_repetition: bool = False

    @property
    def start(self) -> tuple[etree._Element, str]:
        """Where the record begins: an element, or a text, as the element and the kind of a node."""
        return (self.lead.element, self.lead.kind) if self.lead else (self.elements[0], "element")


def locate_lists(page: Page, labels: Iterable[Label]) -> list[list[LocatedRecord]]:
    """Return the lists that the labels may mean, each as its records in page order, labeled or not.

    The first is the repeated group that contains most labeled records. The others have records around texts like the
    labeled ones. There are none if no labeled record is found.

    Raises:
        PageError: the page cannot be parsed, shows nothing or too much.
    """
    list_page = ListPage(page, EstimatedLayout())
    by_record = _group_by_record(labels)
    locator = _RecordLocator(page, list_page)
    lists = []
    maker = _RecordMaker(list_page)
    if group := locator.locate(by_record):
        records = [maker.make_member(run, run_labels, group) for run, run_labels in group.records]
        lists.append([record for record in records if record.elements])
    for anchored in locator.locate_by_anchors(by_record):
        records = [maker.make_anchored(record, record_labels) for record, record_labels in anchored]
        lists.append(records)
    return [records for records in lists if any(record.labels for record in records)]


class _RecordMaker:
    """Turns runs of rows into records."""

    def __init__(self, list_page: ListPage) -> None:
        self._tree = list_page.tree
        self._texts_of: dict[int, dict[int, Node]] = {}

    def make_member(self, run: Run, labels: list[Label], group: _LocatedGroup) -> LocatedRecord:
        """Return a record that begins with its first element, even if a text is before that."""
        return LocatedRecord(
            self._elements_of(run),
            labels,
            ends_in_text=self._is_text(run[-1]),
            is_member=group.is_repeated_group,
            is_repetition=run in group.repetitions,
        )

    def make_anchored(self, record: AnchoredRun, labels: list[Label]) -> LocatedRecord:
        run = record.run
        return LocatedRecord(
            self._elements_of(run),
            labels,
            self._text_node(run[0]) if self._is_text(run[0]) else None,
            self._is_text(run[-1]),
            self._text_node(record.anchor),
            record.level,
        )

    def _is_text(self, row: int) -> bool:
        return self._tree.tags[row] == TEXT

    def _elements_of(self, run: Run) -> list[etree._Element]:
        """Return the siblings from the first element of a run to its last, with those that show nothing.

        If the run ends with a text, the last element is the one right before that text.
        """
        shown = self._tree.elements_of(run)
        elements = shown[:1]
        if not elements:
            return []
        last = self._text_node(run[-1]).element if self._is_text(run[-1]) else shown[-1]
        while elements[-1] is not last:
            elements.append(next(elements[-1].itersiblings("*")))
        return elements

    def _text_node(self, row: int) -> Node:
        parent = int(self._tree.parent[row])
        if parent not in self._texts_of:
            rows = [child for child in self._tree.children[parent] if self._tree.tags[child] == TEXT]
            nodes = _text_nodes(self._tree.elements[parent])
            self._texts_of[parent] = dict(zip(rows, nodes, strict=True))
        return self._texts_of[parent][row]


def _text_nodes(element: etree._Element) -> Iterator[Node]:
    """Yield the texts right inside an element, without blank ones."""
    if text := squeeze(element.text or ""):
        yield Node(element, "text", text)
    for child in element:
        if text := squeeze(child.tail or ""):
            yield Node(child, "tail", text)


def _group_by_record(labels: Iterable[Label]) -> dict[str, list[Label]]:
    by_record: dict[str, list[Label]] = {}
    for label in labels:
        if label.record is not None:
            by_record.setdefault(label.record, []).append(label)
    return by_record


def locate_runs(page: Page, list_page: ListPage, labels: Iterable[Label]) -> list[tuple[Run, list[Label]]]:
    """Return the records of a page in page order, each with its labels; none if no labeled record is found."""
    group = _RecordLocator(page, list_page).locate(_group_by_record(labels))
    return [record for record in group.records if record[0] not in group.repetitions] if group else []


class _WantedRecord(NamedTuple):
    """A labeled record."""

    #: the row of the element that the record's name points to; -1 if the name is no XPath
    head: int
    #: the spans at which each value occurs, without values that occur nowhere or too often
    values: list[list[Span]]


class _LocatedGroup(NamedTuple):
    """A list that contains labeled records."""

    #: the runs of the list with the labels of each
    records: list[tuple[Run, list[Label]]]
    #: runs with the texts and links of an earlier one
    repetitions: set[Run]
    #: False if some runs are no members of the group, but known by their labels alone
    is_repeated_group: bool


class _RecordLocator:
    """Finds the group of a page that contains labeled records."""

    def __init__(self, page: Page, list_page: ListPage) -> None:
        self._page, self._list, self._tree = page, list_page, list_page.tree
        rows = np.flatnonzero(~self._tree.has_tag({TEXT})).tolist()
        self._row_of = {self._tree.elements[row]: row for row in rows}
        self._letters = list(map(letters_and_digits, self._tree.texts))
        self._index = LetterIndex(self._letters)

    def locate(self, by_record: dict[str, list[Label]]) -> _LocatedGroup | None:
        """Return the best group with the labels of its members; None if no labeled record is found."""
        wanted = [_WantedRecord(self._head(name), self._spans(labels)) for name, labels in by_record.items()]
        # Records that are similar to nothing else are the last resort.
        groups = [*(group.runs for group in self._list.groups), self._with_smallest_elements(wanted)]
        scores = [*self._list.scores.tolist(), -inf]
        compared = wanted[:: max(1, len(wanted) // MAX_COMPARED_RECORDS)]
        located = [0 if self._is_cut(runs) else len(self._pair(runs, compared)) for runs in groups]
        main = self._list.main_group
        is_main = [main is not None and runs == main.runs for runs in groups]
        best = max(range(len(groups)), key=lambda number: (located[number], is_main[number], scores[number]))
        if not located[best]:
            return None
        labels = self._labels_of(groups[best], wanted, by_record)
        return self._without_dropped(groups[best], labels, best < len(self._list.groups))

    def _is_cut(self, runs: Sequence[Run]) -> bool:
        """Return True if the parser nested records in elements of others: no rule of elements tells these apart."""
        return not self._tree.cut.isdisjoint(row for run in runs for row in run)

    def _without_dropped(
        self, runs: tuple[Run, ...], labels: Sequence[list[Label]], is_group: bool
    ) -> _LocatedGroup:
        """Return a list without what `find_records` leaves out, unless it is labeled; repetitions are marked."""
        members, profile = Group(runs), self._list.profile
        dropped = set(dropped_members(profile, members).runs)
        kept = set(drop_hidden_members(profile, members).runs)
        records = [(run, own) for run, own in zip(runs, labels, strict=True) if own or run not in dropped]
        repetitions = {run for run, own in records if not own and run not in kept}
        return _LocatedGroup(records, repetitions, is_group)

    def _labels_of(
        self, runs: Sequence[Run], wanted: Sequence[_WantedRecord], by_record: dict[str, list[Label]]
    ) -> list[list[Label]]:
        """Return the labels of each run."""
        labels_of_record = list(by_record.values())
        of_run = {run: labels_of_record[record] for record, run in self._pair(runs, wanted).items()}
        return [of_run.get(number, []) for number in range(len(runs))]

    def locate_by_anchors(
        self, by_record: dict[str, list[Label]]
    ) -> list[list[tuple[AnchoredRun, list[Label]]]]:
        """Return the ways to split the page at texts like the labeled ones, with the labels of each record.

        Records named by an XPath need no other way: their elements are known.
        """
        if any(name.startswith("/") for name in by_record):
            return []
        wanted = [_WantedRecord(-1, self._spans(labels)) for labels in by_record.values()]
        places = [self._attribute_spans(labels) for labels in by_record.values()]
        ways = []
        for records in AnchorFinder(self._tree, self._letters).find(places):
            labels = self._labels_of([record.run for record in records], wanted, by_record)
            ways.append(list(zip(records, labels, strict=True)))
        return ways

    def _attribute_spans(self, labels: Iterable[Label]) -> dict[str, list[Span]]:
        """Return for each attribute of a record where its first value is, exactly if it is somewhere exactly."""
        spans: dict[str, list[Span]] = {}
        for label in labels:
            found = self._value_spans(label)
            if found and label.attribute not in spans:
                value = letters_and_digits(label.value or "")
                exact = [span for span in found if "".join(self._letters[span[0] : span[1] + 1]) == value]
                spans[label.attribute] = exact or found
        return spans

    def _head(self, name: str) -> int:
        return self._row_of.get(self._element_at(name), -1) if name.startswith("/") else -1

    def _element_at(self, xpath: str) -> etree._Element | None:
        """Return the first element that an XPath selects, or that contains what it selects."""
        try:
            results = self._page.tree.xpath(xpath, smart_strings=True)
        except etree.XPathError:
            return None
        if not isinstance(results, list) or not results:
            return None
        return results[0] if isinstance(results[0], etree._Element) else results[0].getparent()

    def _spans(self, labels: Iterable[Label]) -> list[list[Span]]:
        """Return the spans of each value, without values that occur nowhere or too often."""
        by_value = [self._value_spans(label) for label in labels]
        return [spans for spans in by_value if 0 < len(spans) <= MAX_OCCURRENCES]

    def _value_spans(self, label: Label) -> list[Span]:
        if label.xpath is None:
            occurrences = self._index.find_all(letters_and_digits(label.value or ""))
            return list(islice(occurrences, MAX_OCCURRENCES + 1))
        row = self._row_of.get(self._element_at(label.xpath), -1)
        return [(row, row)] if row >= 0 else []

    def _pair(self, runs: Sequence[Run], wanted: Sequence[_WantedRecord]) -> dict[int, int]:
        """Map wanted records to the runs that contain them, by number; no run contains two."""
        starts = [run[0] for run in runs]
        ends = [int(self._tree.end[run[-1]]) for run in runs]
        heads = {self._first_element(run): number for number, run in enumerate(runs)}
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for number, record in enumerate(wanted):
            free = _candidate_runs(record, heads, starts, ends) - taken
            if free:
                pairs[number] = min(free)
                taken.add(pairs[number])
        return pairs

    def _first_element(self, run: Run) -> int:
        return next((row for row in run if self._tree.tags[row] != TEXT), -2)

    def _with_smallest_elements(self, wanted: Sequence[_WantedRecord]) -> tuple[Run, ...]:
        """Return the main list of the page and the smallest elements of the records outside, if it has some records.

        An advertisement above the results may be labeled with them. If no labeled record is in the main list, the
        smallest elements of all are returned.
        """
        main = self._list.main_group.runs if self._list.main_group else ()
        paired = self._pair(main, wanted)
        runs = self._smallest_elements(record for number, record in enumerate(wanted) if number not in paired)
        if not paired:
            return runs
        tree = self._tree
        starts = [run[0] for run in main]
        ends = [int(tree.end[run[-1]]) for run in main]
        outside = [run for run in runs if not _overlaps(run[0], int(tree.end[run[-1]]), starts, ends)]
        return tuple(sorted([*main, *outside]))

    def _smallest_elements(self, wanted: Iterable[_WantedRecord]) -> tuple[Run, ...]:
        """Return the smallest element of each record, in page order, without elements that contain another one."""
        rows = sorted({self._smallest_element(record) for record in wanted} - {-1})
        following = [*rows, len(self._tree)][1:]
        pairs = zip(rows, following, strict=True)
        return tuple((row,) for row, after in pairs if self._tree.end[row] <= after)

    def _smallest_element(self, record: _WantedRecord) -> int:
        """Return the row of a record's element, or of the smallest element with all of its values; -1 for none."""
        if record.head >= 0 or not record.values:
            return record.head
        rarest = min(record.values, key=len)
        around = (self._smallest_around(span, record.values) for span in rarest)
        sizes = [(int(self._tree.end[row]) - row, row) for row in around if row >= 0]
        _, row = min(sizes, default=(0, -1))
        is_text = row >= 0 and self._tree.tags[row] == TEXT
        return int(self._tree.parent[row]) if is_text else row

    def _smallest_around(self, span: Span, values: list[list[Span]]) -> int:
        """Return the smallest row around a span that contains all values; -1 for none."""
        row, last = span
        while row >= 0:
            end = int(self._tree.end[row])
            if last < end and all(_any_inside(spans, row, end) for spans in values):
                return row
            row = int(self._tree.parent[row])
        return -1


def _overlaps(first: int, end: int, starts: Sequence[int], ends: Sequence[int]) -> bool:
    """Return True if a part of the page overlaps one of the given parts, which are in page order."""
    number = bisect_right(starts, end - 1) - 1
    return number >= 0 and ends[number] > first


def _any_inside(spans: Iterable[Span], start: int, end: int) -> bool:
    return any(start <= first and last < end for first, last in spans)


def _candidate_runs(
    record: _WantedRecord, heads: dict[int, int], starts: Sequence[int], ends: Sequence[int]
) -> set[int]:
    """Return the numbers of the runs that begin with a record's element and contain all of its values."""
    if record.head < 0:
        return _runs_with_values(record.values, starts, ends) if record.values else set()
    if record.head not in heads:
        return set()
    return {heads[record.head]} & _runs_with_values(record.values, starts, ends)


def _runs_with_values(values: list[list[Span]], starts: Sequence[int], ends: Sequence[int]) -> set[int]:
    """Return the numbers of the runs that contain all values."""
    if not values:
        return set(range(len(starts)))
    return set.intersection(*(_runs_with_value(spans, starts, ends) for spans in values))


def _runs_with_value(spans: Iterable[Span], starts: Sequence[int], ends: Sequence[int]) -> set[int]:
    runs: set[int] = set()
    for first, last in spans:
        number = bisect_right(starts, first) - 1
        if number >= 0 and last < ends[number]:
            runs.add(number)
    return runs


def labels_of_rows(rows: Iterable[Row]) -> list[Label]:
    """Return the values of rows as labels: the texts of their columns, without addresses and headings above them.

    Rules look inside of records only, so they cannot learn the heading of a section.
    """
    ignored = {*ADDRESS_COLUMNS, SECTION_COLUMN}
    labels: list[Label] = []
    for row in rows:
        labels += [
            Label(row.page, name, text, None, SOURCE, row.confidence, row.xpath)
            for name, text in row.values.items()
            if name not in ignored
        ]
    return labels
