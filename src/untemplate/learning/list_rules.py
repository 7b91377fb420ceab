"""The rules of list pages, learned from labels of several records on a page.

Where records begin is found by the paper's search (Vertex III-C.2), among elements instead of texts. Each record is
then a small page of its own, and the rules of its attributes are learned as for any page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.labeling.list_labels import LocatedRecord, locate_records
from untemplate.learning.attributes import learn_rules
from untemplate.learning.reports import LearnedRules
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.search import ScoredFeatures, Search, shared_features
from untemplate.learning.selectors import MAX_COMMITTEE, without_contexts
from untemplate.page import Node, Page, nodes_at
from untemplate.page.dom import NumberedXPaths
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.rules.rule import RecordRule, Selector
from untemplate.schema import Schema

__all__ = ["learn_list"]

T = TypeVar("T")
_TAGS = re.compile(r"(/[a-z][a-z0-9]*)+")

# Records whose features are compared to find where records begin.
MAX_COMPARED_RECORDS = 200
# Labeled records that the rules of attributes are learned from, and unlabeled ones they generalize over.
MAX_LABELED_RECORDS = 40
MAX_UNLABELED_RECORDS = 40
# Unlabeled records count as left out on purpose if at least this many records, and this share of all that look alike,
# are labeled. From 0.4 to 0.7 record F1 on `lists` is the same.
MIN_LABELED_RECORDS = 5
MIN_LABELED_SHARE = 0.6
# Levels inside a record that are searched for tags that other elements lack.
MAX_INNER_LEVELS = 4
# Unlabeled pages on which a rule should find records, and from which unlabeled records come.
MAX_UNLABELED_PAGES = 5

_Located = Mapping[Page, Sequence[LocatedRecord]]
"""The records found on each labeled page."""


def learn_list(
    labeled: Mapping[Page, Sequence[Label]], unlabeled: Sequence[Page], schema: Schema
) -> LearnedRules:
    """Learn the rules of list pages. If no record rule is found there are no rules, and `problems` says why.

    Args:
        labeled: readable pages with labels of their records.
        unlabeled: other pages of the same template.
        schema: the attributes to learn.
    """
    located, problems = _locate_records(labeled)
    if not located:
        return LearnedRules(problems=problems)
    unlabeled = unlabeled[:MAX_UNLABELED_PAGES]
    record_rule = _learn_record_rule(located, unlabeled)
    if record_rule is None:
        problems.append("no rule tells the labeled records from the rest of their page")
        return LearnedRules(problems=problems)
    labels_of = _records_as_pages(located)
    known = _spread_evenly([part for part, labels in labels_of.items() if labels], MAX_LABELED_RECORDS)
    others = [part for part, labels in labels_of.items() if not labels]
    for page in unlabeled:
        others += split_records(record_rule, page)
    table = SampleTable([*known, *_spread_evenly(others, MAX_UNLABELED_RECORDS)])
    labels_by_number = {number: labels_of[part] for number, part in enumerate(known)}
    rules, reports = learn_rules(table, labels_by_number, schema)
    return LearnedRules(rules, tuple(sorted(table.static)), reports, record_rule, problems)


def _locate_records(labeled: Mapping[Page, Sequence[Label]]) -> tuple[_Located, list[str]]:
    """Find the labeled records and others like them on each page, and say which labels were not found."""
    located: dict[Page, Sequence[LocatedRecord]] = {}
    problems: list[str] = []
    for page, labels in labeled.items():
        try:
            records = locate_records(page, labels)
        except PageError as error:
            problems.append(f"{page.id}: {error}")
            continue
        missing = _explain_not_located(page, labels, records)
        problems += missing
        if records:
            located[page] = records if missing else _without_excluded(records)
    return located, problems


def _without_excluded(records: Sequence[LocatedRecord]) -> Sequence[LocatedRecord]:
    """Drop unlabeled records that were left out on purpose, if most records are labeled.

    An unlabeled record that is a sibling of labeled ones and has the same structure was merely forgotten.
    """
    labeled = [record for record in records if record.labels]
    if len(labeled) < max(MIN_LABELED_RECORDS, MIN_LABELED_SHARE * len(records)):
        return records
    heads = [record.elements[0] for record in labeled]
    slots = set(map(_list_slot, heads))
    inner_paths = list(map(_inner_paths, heads))
    shared, known = set.intersection(*inner_paths), set.union(*inner_paths)

    def is_alike(head: etree._Element) -> bool:
        return _list_slot(head) in slots and shared <= _inner_paths(head) <= known

    return [record for record in records if record.labels or is_alike(record.elements[0])]


def _list_slot(head: etree._Element) -> tuple[etree._Element | None, str, str | None]:
    return head.getparent(), head.tag, head.get("class")


def _explain_not_located(page: Page, labels: Sequence[Label], located: Sequence[LocatedRecord]) -> list[str]:
    """Return a message for each labeled record that was not found, and one for labels without a record."""
    placed = {label.record for record in located for label in record.labels}
    missing = dict.fromkeys(label.record for label in labels if label.record not in placed)
    messages = []
    for name in missing:
        if name is None:
            messages.append(
                f"{page.id}: ignored labels of the page as a whole, since its records are labeled"
            )
        else:
            messages.append(f"{page.id}: record {name}: its values are not close together on the page")
    return messages


class _ElementRows(SampleTable):
    """A sample whose rows are all elements that contain text."""

    def _nodes(self, page: Page) -> list[Node]:
        with_text: set[etree._Element] = set()
        for node in page.nodes:
            element = node.parent if node.is_text else None
            while element is not None and element not in with_text:
                with_text.add(element)
                element = element.getparent()
        elements = (element for element in page.tree.iter(etree.Element) if element in with_text)
        return [Node(element, "element", "") for element in elements]


def _learn_record_rule(located: _Located, unlabeled: Sequence[Page]) -> RecordRule | None:
    """Learn where records begin, how many siblings they span, and with which tags."""
    table = _ElementRows([*located, *unlabeled])
    records = list(chain.from_iterable(located.values()))
    heads = _rows_of_heads(table, records)
    selecting = _select_heads(table, heads, len(located))
    if not selecting:
        return None
    holds = "" if selecting[0].is_precise else _distinguishing_path(table, heads, selecting[0], len(located))
    siblings = chain.from_iterable(record.elements[1:] for record in records)
    return RecordRule(
        tuple(Selector("element()", best.features, support=round(best.support, 3)) for best in selecting),
        holds,
        max(len(record.elements) for record in records) - 1,
        tuple(sorted({element.tag for element in siblings})),
    )


def _rows_of_heads(table: SampleTable, records: Sequence[LocatedRecord]) -> list[int]:
    """Return the rows of the first element of each record."""
    row_of = {node.element: row for row, node in enumerate(table.rows)}
    heads = [record.elements[0] for record in records]
    return [row_of[head] for head in heads if head in row_of]


def _select_heads(table: SampleTable, heads: Sequence[int], labeled_pages: int) -> list[ScoredFeatures]:
    """Return the most general feature sets of record heads, each in other contexts.

    Only the first may be imprecise.
    """
    search = Search(table, heads, range(labeled_pages), (1 << len(table)) - 1, many=True)
    features = shared_features(table, _spread_evenly(heads, MAX_COMPARED_RECORDS))
    chosen: list[ScoredFeatures] = []
    while features and len(chosen) < MAX_COMMITTEE:
        best = search.best_by_distance(features)
        if best is None or (chosen and not best.is_precise):
            break
        chosen.append(best)
        features = without_contexts(features, best.features)
    return chosen


def _distinguishing_path(
    table: SampleTable, heads: Sequence[int], imprecise: ScoredFeatures, labeled_pages: int
) -> str:
    """Return a path of tags inside all record heads that fewest of the wrongly selected elements have.

    The shortest of several such paths is best. Returns an empty path if all wrong elements have all paths.
    """
    selected: set[int] = set()
    for page in range(labeled_pages):
        selected.update(table.on_page(imprecise.bits, page))
    wrong = selected.difference(heads)
    shared = set.intersection(*(_inner_paths(table.rows[row].element) for row in heads))
    remaining = {path: _count_with(table, wrong, path) for path in shared}
    best = min(remaining, key=lambda path: (remaining[path], path.count("/"), path), default="")
    return best if best and remaining[best] < len(wrong) else ""


def _count_with(table: SampleTable, rows: Collection[int], path: str) -> int:
    return sum(table.rows[row].element.find(path) is not None for row in rows)


def _inner_paths(element: etree._Element) -> set[str]:
    """Return the tag paths below an element, down to a few levels."""
    paths: set[str] = set()
    level = [("", element)]
    for _ in range(MAX_INNER_LEVELS):
        level = [
            (f"{path}/{child.tag}", child) for path, parent in level for child in parent.iterchildren("*")
        ]
        paths.update(path[1:] for path, _ in level if _TAGS.fullmatch(path))
    return paths


def _records_as_pages(located: _Located) -> dict[RecordPage, list[Label]]:
    """Return each located record as a small page, with its labels."""
    labels_of: dict[RecordPage, list[Label]] = {}
    for page, records in located.items():
        paths = NumberedXPaths()
        for position, record in enumerate(records, 1):
            part = RecordPage(page, record.elements, position, paths)
            labels_of[part] = [_move_label(label, page, part) for label in record.labels]
    return labels_of


def _move_label(label: Label, page: Page, part: RecordPage) -> Label:
    """Return a label whose XPath is valid inside the record's own page."""
    if label.xpath is None:
        return label
    copies = dict(_copied_elements(part))
    for element, kind in nodes_at(page.tree, label.xpath):
        if element in copies:
            return replace(label, xpath=Node(copies[element], kind, "").xpath)
    return label


def _copied_elements(part: RecordPage) -> Iterator[tuple[etree._Element, etree._Element]]:
    for original, copy in zip(part.elements, part.tree, strict=True):
        yield from zip(original.iter(), copy.iter(), strict=True)


def _spread_evenly(items: Sequence[T], count: int) -> list[T]:
    """Return at most `count` items, evenly spread."""
    return list(items[:: max(1, -(-len(items) // count))])
