"""Labels of one cluster's pages to the rules of that cluster (Vertex III-C)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from untemplate.labeling import Label
from untemplate.learning.descriptions import Task, Variant, find_variants
from untemplate.learning.features import node_features
from untemplate.learning.naive_bayes import learn_classifier
from untemplate.learning.occurrences import MAX_PLACES, Place, closest_text, find_elements, find_places
from untemplate.learning.range_pruner import learn_range
from untemplate.learning.sample_table import Table
from untemplate.learning.search import Search, disjunctions
from untemplate.learning.selectors import cover, learn_committee, learn_elsewhere, learn_selectors, pick
from untemplate.rules.rule import Rule, Selector
from untemplate.schema import Attribute, Schema
from untemplate.value_types import looks_typed

__all__ = ["AttributeReport", "PageLabels", "learn_rules"]

PageLabels = Mapping[int, Sequence[Label]]
"""The labels of some of a table's pages."""

_Places = Mapping[int, Sequence[Sequence[Place]]]
"""Per labelled page, per value its places."""

# Modes in which a place shows the value and nothing else.
_PLAIN = ("whole", "attribute")
# Members of a committee that look at other places.
MAX_ELSEWHERE = 2

# How a value stands at a place, and what a place is worth where it stands so: a part must be cut out, and an
# attribute is not what a reader sees.
_WORTH = {"whole": 1.0, "element": 0.9, "span": 0.8, "part": 0.5, "attribute": 0.4}


@dataclass
class AttributeReport:
    """How learning one attribute went: what a person should know, and label next."""

    attribute: str
    rule: Rule | None = None
    coverage: float = 0.0  # share of the unlabelled sample pages on which the rule finds something
    problems: list[str] = field(default_factory=list)
    label_next: str | None = None  # a page on which it finds nothing


@dataclass(frozen=True)
class _Attempt:
    """One way to read the labels: the places of one mode, and the variants that describe them."""

    task: Task
    mode: str
    places: dict[int, Place]  # by row
    variants: list[Variant]

    @property
    def rank(self) -> tuple[int, int, float, float, int]:
        placed = sum(len(values) for values in self.task.rows.values())
        covered = frozenset[int]().union(*(variant.covered for variant in self.variants))
        best = max(variant.rank for variant in self.variants)[1:]
        worth = _WORTH[self.mode]
        return (len(covered), placed, worth * best[0], worth, best[1])


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
    """Learn from all labels; if no rule fits them, from those of most pages, which stand at one place."""
    report = _learn_from_all(table, labels, attribute)
    most = {} if report.rule else _at_one_place(table, labels, attribute)
    if not most:
        return report
    again = _learn_from_all(table, most, attribute)
    if again.rule:
        odd = [table.pages[page].id for page in labels if page not in most]
        again.problems.append(
            f"{len(odd)} of {len(labels)} labelled pages do not fit the rule, such as {odd[0]}"
        )
    return again if again.rule else report


def _at_one_place(table: Table, labels: PageLabels, attribute: Attribute) -> PageLabels:
    """The labels of those pages whose values stand where they do on most; none if that is on less than half."""
    pages: dict[tuple[str, ...], list[int]] = {}
    for page, given in labels.items():
        found = [_find_nodes(table, attribute, page, label)[:1] for label in given if not label.is_gap]
        pages.setdefault(tuple(table.rows[p.row].xpath for (p,) in filter(None, found)), []).append(page)
    most = max(pages.values(), key=len)
    return {page: labels[page] for page in most} if len(labels) / 2 <= len(most) < len(labels) else {}


def _learn_from_all(table: Table, labels: PageLabels, attribute: Attribute) -> AttributeReport:
    report = AttributeReport(attribute.name)
    present = {page: [label for label in given if not label.is_gap] for page, given in labels.items()}
    places = _find_all(present, partial(_find_nodes, table, attribute))
    attempts = _attempts(table, places, attribute)
    elements: _Places = {}
    if not all(_stands_whole(value) for values in places.values() for value in values):
        elements = _find_all(present, partial(find_elements, table.with_elements))
        attempts += _attempts(table.with_elements, elements, attribute)
    report.problems += _not_found(table, present, places, elements)
    described = [attempt for attempt in attempts if attempt.variants]
    described.sort(key=lambda attempt: attempt.rank, reverse=True)
    for attempt in described:
        report.rule = _rule(attempt, attribute)
        if report.rule:
            report.rule = _with_other_places(report.rule, attempt, described)
            _report_coverage(report, attempt.task)
            return report
    for attempt in attempts:
        report.rule = _classifying_rule(attempt, attribute)
        if report.rule:
            _report_coverage(report, attempt.task)
            return report
    if attempts:
        report.problems.append("no rule tells the labelled values from other texts")
    return report


def _find_all(labels: PageLabels, find: Callable[[int, Label], list[Place]]) -> _Places:
    """Per page the places of each value; no values on pages that are labelled as having none."""
    return {page: [find(page, label) for label in given] for page, given in labels.items()}


def _find_nodes(table: Table, attribute: Attribute, page: int, label: Label) -> list[Place]:
    """The places of a value, without those in static text, which repeats values in navigation; unless all are."""
    places = find_places(table, page, label, attribute)
    dynamic = [place for place in places if not table.is_static(place.row)]
    return (dynamic or places)[:MAX_PLACES]


def _stands_whole(places: Sequence[Place]) -> bool:
    return any(place.mode in ("whole", "attribute") for place in places)


def _attempts(table: Table, places: _Places, attribute: Attribute) -> list[_Attempt]:
    """One for each mode and kind of node in which values stand."""
    found = {
        (place.mode, _kind(table, place)) for values in places.values() for value in values for place in value
    }
    return [_attempt(table, places, mode, kind, attribute) for mode, kind in sorted(found)]


def _attempt(table: Table, places: _Places, mode: str, kind: str, attribute: Attribute) -> _Attempt:
    modes = {"part", "whole"} if mode == "part" else {mode}
    every = (place for values in places.values() for value in values for place in value if place.mode == mode)
    nodes = Counter(place.nodes for place in every).most_common(1)[0][0]
    rows: dict[int, list[list[int]]] = {}
    by_row: dict[int, Place] = {}
    for page, values in places.items():
        fitting = [
            [p for p in value if p.mode in modes and _kind(table, p) == kind and p.nodes == nodes]
            for value in values
        ]
        by_row.update((place.row, place) for value in fitting for place in value)
        if any(fitting) or not values:
            rows[page] = [[place.row for place in value] for value in fitting if value]
    before = {row: table.rows[row].text[: p.start] for row, p in by_row.items() if p.mode == "part"}
    task = Task(table, kind, rows, attribute.many, before)
    return _Attempt(task, mode, by_row, cover(task, find_variants(task)))


def _kind(table: Table, place: Place) -> str:
    return table.rows[place.row].node_test


def _rule(attempt: _Attempt, attribute: Attribute) -> Rule | None:
    """The attempt as a rule; None if its values are parts of texts that no range cuts out."""
    task, table = attempt.task, attempt.task.table
    selectors = learn_selectors(task, attempt.variants)
    rows = [row for page in task.rows for row in pick(task, selectors, page)]
    chosen = [attempt.places[row] for row in rows if row in attempt.places]
    if not chosen:
        return None
    range_ = None
    if any(place.mode == "part" for place in chosen):
        examples = [(table.rows[place.row].text, place.text, place.start) for place in chosen]
        others = [table.rows[row].text for page in task.open_pages for row in pick(task, selectors, page)]
        range_ = learn_range(examples, others, attribute.type)
        if range_ is None:
            return None
    return Rule(
        attribute.name,
        tuple(selectors),
        tuple(learn_committee(task, selectors)),
        None,
        range_,
        chosen[0].nodes,
        typed=all(looks_typed(place.text, attribute.type) for place in chosen),
    )


def _with_other_places(rule: Rule, own: _Attempt, attempts: Sequence[_Attempt]) -> Rule:
    """The rule, its committee joined by selectors of other places that show the same value, such as meta data."""
    if own.mode not in _PLAIN or own.task.many:
        return rule
    others = [
        member
        for attempt in attempts
        if attempt is not own and attempt.mode in _PLAIN
        for member in learn_elsewhere(attempt.task, attempt.variants, own.task, rule.selectors)
    ]
    return replace(rule, committee=(*rule.committee, *others[:MAX_ELSEWHERE]))


def _classifying_rule(attempt: _Attempt, attribute: Attribute) -> Rule | None:
    """The paper's last resort for a whole node: the most precise XPath, and a classifier among what it selects."""
    task = attempt.task
    if attribute.many or attempt.mode not in ("whole", "attribute"):
        return None
    positives = [values[0][0] for values in task.rows.values() if values]
    shared = disjunctions([node_features(task.table, row) for row in positives])
    broad = {feature for feature in shared if feature.is_structural and not feature.axis}
    search = Search(task.table, positives, task.rows.keys(), task.universe)
    tags = tuple(sorted((f for f in broad if f.kind == "tag" and f.level <= 2), key=lambda f: f.level))
    best = search.best_by_distance(broad) or search.judge(tags, task.bits(tags))
    selected = [row for page in task.rows for row in task.table.on_page(best.bits, page)]
    classifier = learn_classifier(task.table, positives, [row for row in selected if row not in positives])
    if classifier is None:
        return None
    selector = Selector(task.node, best.features, support=round(best.support, 3))
    return Rule(attribute.name, (selector,), classifier=classifier)


def _report_coverage(report: AttributeReport, task: Task) -> None:
    assert report.rule is not None
    missed = [page for page in task.open_pages if not pick(task, report.rule.selectors, page)]
    report.coverage = 1 - len(missed) / len(task.open_pages) if task.open_pages else 1.0
    report.label_next = task.table.pages[missed[0]].id if missed else None


def _not_found(table: Table, labels: PageLabels, places: _Places, elements: _Places) -> Iterator[str]:
    """What to tell about labels whose value is nowhere on its page."""
    for page, given in labels.items():
        for number, label in enumerate(given):
            if places[page][number] or (page in elements and elements[page][number]):
                continue
            where = table.pages[page].id
            if label.xpath is not None:
                yield f"{where}: the XPath {label.xpath} selects no text"
            elif label.value is not None:
                closest = closest_text(table, page, label.value)
                hint = f"; the closest text is {closest!r}" if closest else ""
                yield f"{where}: {label.value!r} is not on the page{hint}"
