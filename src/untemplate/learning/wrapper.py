"""Labels of one cluster's pages to the rules of that cluster (Vertex III-C)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from untemplate.extraction.patterns import looks_typed
from untemplate.extraction.ranges import Range
from untemplate.extraction.rule import Rule, Selector
from untemplate.labeling import Label
from untemplate.learning.places import Place, closest_text, find_places
from untemplate.learning.ranges import learn_range
from untemplate.learning.selectors import Task, learn_committee, learn_selectors
from untemplate.learning.table import Table
from untemplate.schema import Attribute, Schema

__all__ = ["AttributeReport", "PageLabels", "learn_rules"]

PageLabels = Mapping[int, Sequence[Label]]
"""The labels of some of a table's pages."""

# Modes from the plainest on; of equally frequent ones the first is taken.
_MODES = ("whole", "element", "span", "part", "attribute")


@dataclass
class AttributeReport:
    """How learning one attribute went: what a person should know, and label next."""

    attribute: str
    rule: Rule | None = None
    coverage: float = 0.0  # share of the unlabelled sample pages on which the rule finds something
    problems: list[str] = field(default_factory=list)
    label_next: str | None = None  # a page on which it finds nothing


def learn_rules(
    table: Table, labels: PageLabels, schema: Schema
) -> tuple[dict[str, Rule], list[AttributeReport]]:
    """A rule for each labelled attribute, and how that went."""
    reports = []
    for attribute in schema.attributes.values():
        own = {
            page: [label for label in given if label.attribute == attribute.name]
            for page, given in labels.items()
        }
        own = {page: given for page, given in own.items() if given}
        if own:
            reports.append(_learn_attribute(table, own, attribute))
    return {report.attribute: report.rule for report in reports if report.rule}, reports


def _learn_attribute(table: Table, labels: PageLabels, attribute: Attribute) -> AttributeReport:
    report = AttributeReport(attribute.name)
    places: dict[int, list[list[Place]]] = {}
    for page, given in labels.items():
        found = []
        for label in given:
            if label.value is None and label.xpath is None:
                continue
            here = find_places(table, page, label, attribute)
            if here:
                found.append(_drop_static(table, here))
            else:
                report.problems.append(_not_found(table, page, label))
        if found or all(label.value is None and label.xpath is None for label in given):
            places[page] = found
    if not any(places.values()):
        return report
    task, by_row = _task(table, places, attribute)
    selectors = learn_selectors(task)
    if not selectors:
        report.problems.append("no condition tells the labelled values from other texts")
        return report
    committee = learn_committee(task, selectors)
    chosen = [by_row[row] for row in _chosen_rows(task, selectors) if row in by_row]
    found_rows = _found(task, selectors)
    range_ = None
    if any(place.mode == "part" for place in chosen):
        examples = [(table.rows[place.row].text, place.text) for place in chosen]
        others = [table.rows[row].text for row in found_rows.values()]
        range_ = learn_range(examples, others, attribute.type)
        if range_ is None:
            report.problems.append("the labelled parts of their texts have no start or end in common")
            return report
    report.rule = _rule(attribute, selectors, committee, chosen, range_)
    open_pages = task.open_pages
    report.coverage = len(found_rows) / len(open_pages) if open_pages else 1.0
    missed = [page for page in open_pages if page not in found_rows]
    report.label_next = table.pages[missed[0]].id if missed else None
    return report


def _rule(
    attribute: Attribute,
    selectors: Sequence[Selector],
    committee: Sequence[Selector],
    chosen: Sequence[Place],
    range_: Range | None,
) -> Rule:
    extents = Counter((place.levels_up, place.nodes) for place in chosen)
    levels_up, nodes = extents.most_common(1)[0][0]
    typed = all(looks_typed(place.text, attribute.type) for place in chosen)
    return Rule(attribute.name, tuple(selectors), tuple(committee), None, range_, levels_up, nodes, typed)


def _drop_static(table: Table, places: list[Place]) -> list[Place]:
    """Without those in static text, which repeats true values in navigation; unless all are."""
    dynamic = [place for place in places if not table.is_static(place.row)]
    return dynamic or places


def _task(
    table: Table, places: Mapping[int, list[list[Place]]], attribute: Attribute
) -> tuple[Task, dict[int, Place]]:
    """The places of the most frequent mode and node kind, as rows."""
    modes = Counter(place.mode for values in places.values() for value in values for place in value[:1])
    mode = max(_MODES, key=lambda mode: (modes[mode], -_MODES.index(mode)))
    kept = {mode, "whole"} if mode == "part" else {mode}
    kinds: Counter[str] = Counter()
    for values in places.values():
        for value in values:
            kinds.update({_kind(table, place) for place in value if place.mode in kept})
    kind = kinds.most_common(1)[0][0]
    rows: dict[int, list[list[int]]] = {}
    by_row: dict[int, Place] = {}
    for page, values in places.items():
        found = []
        for value in values:
            fitting = [place for place in value if place.mode in kept and _kind(table, place) == kind]
            by_row.update((place.row, place) for place in fitting)
            if fitting:
                found.append([place.row for place in fitting])
        if found or not values:
            rows[page] = found
    return Task(table, kind, rows, attribute.many), by_row


def _kind(table: Table, place: Place) -> str:
    node = table.rows[place.row]
    return node.kind if node.is_attribute else "text()"


def _chosen_rows(task: Task, selectors: Sequence[Selector]) -> list[int]:
    return [row for page in task.rows for row in _pick(task, selectors, page)]


def _found(task: Task, selectors: Sequence[Selector]) -> dict[int, int]:
    """For each unlabelled page on which the selectors find something, the first row."""
    found = {page: _pick(task, selectors, page) for page in task.open_pages}
    return {page: rows[0] for page, rows in found.items() if rows}


def _pick(task: Task, selectors: Sequence[Selector], page: int) -> list[int]:
    for selector in selectors:
        bits = task.table.bits(selector.features) & task.universe
        if rows := task.pick(bits, page, selector.position):
            return rows if task.many else rows[:1]
    return []


def _not_found(table: Table, page: int, label: Label) -> str:
    where = table.pages[page].id
    if label.xpath is not None:
        return f"{where}: the XPath {label.xpath} selects no text"
    assert label.value is not None
    closest = closest_text(table, page, label.value)
    hint = f"; the closest text is {closest!r}" if closest else ""
    return f"{where}: {label.value!r} is not on the page{hint}"
