"""The rules of list pages, learned from labels of several records on a page.

The labels may mean several lists: the repeated group that `find_records` knows, or the records around texts like the
labeled ones. Rules are learned for each, and tried on the labeled page. Where records begin is learned by
`record_rules`. Each record is then a small page, and the rules of its attributes are learned as for any page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.labeling.list_labels import LocatedRecord, locate_lists
from untemplate.learning.attributes import learn_rules
from untemplate.learning.list_trials import ListTrial, choose_trial
from untemplate.learning.record_rules import LocatedLists, inner_paths, learn_record_rule, spread_evenly
from untemplate.learning.reports import LearnedRules
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Node, Page, nodes_at
from untemplate.page.dom import NumberedXPaths
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.schema import Schema

__all__ = ["learn_list", "try_lists"]

# Labeled records that the rules of attributes are learned from, and unlabeled ones they generalize over.
MAX_LABELED_RECORDS = 40
MAX_UNLABELED_RECORDS = 40
# Unlabeled records count as left out on purpose if at least this many records, and this share of all that look alike,
# are labeled. From 0.4 to 0.7 record F1 on `lists` is the same.
MIN_LABELED_RECORDS = 5
MIN_LABELED_SHARE = 0.6
# Unlabeled pages on which a rule should find records, and from which unlabeled records come.
MAX_UNLABELED_PAGES = 5


def learn_list(
    labeled: Mapping[Page, Sequence[Label]], unlabeled: Sequence[Page], schema: Schema
) -> LearnedRules:
    """Learn the rules of list pages. If no record rule is found there are no rules, and `problems` says why.

    Args:
        labeled: readable pages with labels of their records.
        unlabeled: other pages of the same template.
        schema: the attributes to learn.
    """
    trials, problems = try_lists(labeled, unlabeled, schema)
    return choose_trial(trials).report(problems) if trials else LearnedRules(problems=problems)


def try_lists(
    labeled: Mapping[Page, Sequence[Label]], unlabeled: Sequence[Page], schema: Schema
) -> tuple[list[ListTrial], list[str]]:
    """Return the rules of each list that the labels may mean, and what is wrong with the labels; see `learn_list`."""
    hypotheses, problems = _locate_hypotheses(labeled)
    trials: list[ListTrial] = []
    for located in hypotheses:
        if learned := _learn_located(located, unlabeled[:MAX_UNLABELED_PAGES], schema):
            apart = {page.id: _names_of_unplaced(labeled[page], records) for page, records in located.items()}
            records = list(chain.from_iterable(located.values()))
            is_group = all(record.is_member for record in records)
            is_anchored = any(record.anchor for record in records)
            trials.append(ListTrial(learned, is_group, is_anchored, labeled, schema, apart))
    if hypotheses and not trials:
        problems.append("no rule tells the labeled records from the rest of their page")
    return trials, problems


def _names_of_unplaced(labels: Sequence[Label], records: Sequence[LocatedRecord]) -> set[str]:
    """Return the names of the labeled records that are no single record of a list."""
    names = {label.record for label in labels if label.record is not None}
    for record in records:
        names -= {label.record for label in record.labels if label.record is not None}
    return names


def _locate_hypotheses(labeled: Mapping[Page, Sequence[Label]]) -> tuple[list[LocatedLists], list[str]]:
    """Return the lists that the labels of all pages may mean, the repeated groups first, and why a page has none."""
    lists_of: dict[Page, list[list[LocatedRecord]]] = {}
    problems: list[str] = []
    for page, labels in labeled.items():
        if any(label.record is None for label in labels):
            problems.append(
                f"{page.id}: ignored labels of the page as a whole, since its records are labeled"
            )
        try:
            lists = locate_lists(page, labels)
        except PageError as error:
            problems.append(f"{page.id}: {error}")
            continue
        if lists:
            lists_of[page] = lists
        else:
            problems.append(f"{page.id}: the values of no labeled record are close together on the page")
    count = max(map(len, lists_of.values()), default=0)
    return [_pick_lists(lists_of, number) for number in range(count)], problems


def _pick_lists(lists_of: Mapping[Page, Sequence[Sequence[LocatedRecord]]], number: int) -> LocatedLists:
    """Return one list of each page; the first of a page that has fewer."""
    picked = {page: lists[number if number < len(lists) else 0] for page, lists in lists_of.items()}
    return {page: _without_excluded(records) for page, records in picked.items()}


def _without_excluded(records: Sequence[LocatedRecord]) -> Sequence[LocatedRecord]:
    """Drop unlabeled records that were left out on purpose, if most records are labeled.

    An unlabeled record that is a sibling of labeled ones and has the same structure was merely forgotten.
    """
    labeled = [record for record in records if record.labels]
    if len(labeled) < max(MIN_LABELED_RECORDS, MIN_LABELED_SHARE * len(records)):
        return records
    heads = [record.elements[0] for record in labeled]
    slots = set(map(_list_slot, heads))
    paths_of_heads = list(map(inner_paths, heads))
    shared, known = set.intersection(*paths_of_heads), set.union(*paths_of_heads)

    def is_alike(head: etree._Element) -> bool:
        return _list_slot(head) in slots and shared <= inner_paths(head) <= known

    # A record of texts alone has no elements.
    return [record for record in records if record.labels or any(map(is_alike, record.elements[:1]))]


def _list_slot(head: etree._Element) -> tuple[etree._Element | None, str, str | None]:
    return head.getparent(), head.tag, head.get("class")


def _learn_located(located: LocatedLists, unlabeled: Sequence[Page], schema: Schema) -> LearnedRules | None:
    """Learn the rules of located records; None if nothing tells them from the rest of their page."""
    record_rule = learn_record_rule(located, unlabeled)
    if record_rule is None:
        return None
    labels_of = _records_as_pages(located)
    known = spread_evenly([part for part, labels in labels_of.items() if labels], MAX_LABELED_RECORDS)
    others = [part for part, labels in labels_of.items() if not labels]
    for page in unlabeled:
        others += split_records(record_rule, page)
    table = SampleTable([*known, *spread_evenly(others, MAX_UNLABELED_RECORDS)])
    labels_by_number = {number: labels_of[part] for number, part in enumerate(known)}
    rules, reports = learn_rules(table, labels_by_number, schema)
    return LearnedRules(rules, tuple(sorted(table.static)), reports, record_rule)


def _records_as_pages(located: LocatedLists) -> dict[RecordPage, list[Label]]:
    """Return each located record as a small page, with its labels."""
    labels_of: dict[RecordPage, list[Label]] = {}
    for page, records in located.items():
        paths = NumberedXPaths()
        for position, record in enumerate(_without_repetitions(records), 1):
            ends_in_text = record.ends_in_text or len(record.elements) > 1
            part = RecordPage(page, record.elements, position, paths, record.lead, ends_in_text)
            labels_of[part] = [_move_label(label, page, part) for label in record.labels]
    return labels_of


def _without_repetitions(records: Sequence[LocatedRecord]) -> list[LocatedRecord]:
    return [record for record in records if not record.is_repetition]


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
