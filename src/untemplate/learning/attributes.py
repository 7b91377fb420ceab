"""The rule of each attribute, learned from the labels of a sample of one cluster's pages (Vertex III-C).

A label's value may occur in several places and modes. Each combination of mode and node kind is one hypothesis. The
best-ranked hypothesis that yields a rule wins; places that show the same value elsewhere join the rule's committee.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from untemplate.labeling import Label
from untemplate.learning.occurrences import (
    LabeledOccurrences,
    PageLabels,
    explain_missing_labels,
    locate_labels,
    most_alike_pages,
)
from untemplate.learning.record_places import (
    FAR_WEIGHT,
    are_all_found,
    are_rarely_found,
    find_weighted_lists,
    weigh_labels,
)
from untemplate.learning.refining import (
    explain_lost_values,
    learn_classifier,
    learn_part_range,
    locate_shared_texts,
)
from untemplate.learning.reports import AttributeReport
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.search import ScoredFeatures, Search, shared_features
from untemplate.learning.selectors import (
    count_exact_pages,
    learn_committee,
    learn_elsewhere,
    learn_selectors,
    pick_rows,
)
from untemplate.learning.value_lists import ListPlace, learn_value_list
from untemplate.learning.variants import LearningTarget, Variant, choose_variants, find_variants
from untemplate.page.dom import INLINE_TAGS
from untemplate.page.locating import MatchMode, Occurrence, letters_and_digits
from untemplate.rules.rule import Rule, Selector
from untemplate.schema import Attribute, Schema
from untemplate.value_types import Type, is_one_typed, looks_typed

__all__ = ["learn_rules"]

# A description of a whole list may find something on fewer pages than one of single values, by this share of them: it
# finds complete lists.
MAX_LOST_COVERAGE = 0.05
# A place whose score is at least this share of the best one is about as good.
CLOSE_SCORE = 0.8
# Committee members that select other places.
MAX_ELSEWHERE = 2
# Ancestors whose tags select the candidates of a classifier if nothing better does.
MAX_TAG_LEVEL = 2

# Worth of an occurrence by its mode: a part must be cut out, and readers do not see attributes.
_WORTH: dict[MatchMode, float] = {
    "node": 1.0,
    "element": 0.99,
    "span": 0.6,
    "part": 0.5,
    "pair": 0.45,
    "attribute": 0.4,
}
# Modes in which a value must be cut out of a longer text.
_CUT_MODES: tuple[MatchMode, ...] = ("part", "pair")
# Modes in which a node shows the value and nothing else.
_COMPLETE_MODES: tuple[MatchMode, ...] = ("node", "attribute")


@dataclass(frozen=True)
class _Hypothesis:
    """One reading of the labels: the occurrences of one mode and node kind, and the variants that describe them.

    The alternatives are all variants, of which some were chosen.
    """

    target: LearningTarget
    mode: MatchMode
    occurrences: dict[int, Occurrence]  # by row
    variants: list[Variant]
    alternatives: list[Variant]

    @property
    def rank(self) -> tuple[int, int, float, float, int]:
        """Sort key, best last: labeled pages covered, values located, then what the sample says."""
        located = sum(len(values) for values in self.target.rows.values())
        covered = frozenset[int]().union(*(variant.covered for variant in self.variants))
        _, score, texts, _ = max(variant.rank for variant in self.variants)
        worth = _WORTH[self.mode]
        return (len(covered), located, worth * score, worth, texts)


def learn_rules(
    table: SampleTable, labels: PageLabels, schema: Schema
) -> tuple[dict[str, Rule], list[AttributeReport]]:
    """Learn a rule for each labeled attribute of a schema.

    Args:
        table: the sample, labeled pages and others.
        labels: labels of any attributes, by the page's number in the table.
        schema: the attributes to learn; other labels are ignored.

    Returns:
        The rules by attribute, and a report on each labeled attribute.
    """
    labels_of = _group_by_attribute(labels)
    labeled = [attribute for attribute in schema.attributes.values() if attribute.name in labels_of]
    weights = weigh_labels(table, labels_of, schema)
    reports = [
        _learn_attribute(table, labels_of[attribute.name], attribute, weights.get(attribute.name, {}))
        for attribute in labeled
    ]
    return {report.attribute: report.rule for report in reports if report.rule}, reports


def _group_by_attribute(labels: PageLabels) -> dict[str, dict[int, list[Label]]]:
    """Return for each attribute its labels by page."""
    labels_of: dict[str, dict[int, list[Label]]] = {}
    for page, page_labels in labels.items():
        for label in page_labels:
            labels_of.setdefault(label.attribute, {}).setdefault(page, []).append(label)
    return labels_of


def _learn_attribute(
    table: SampleTable, labels: PageLabels, attribute: Attribute, weights: Mapping[int, float]
) -> AttributeReport:
    """Learn from all labels; if no rule fits them, from the largest group of pages with the value at one place."""
    report = _learn_from_all(table, labels, attribute, weights)
    alike = {} if report.rule else most_alike_pages(table, labels, attribute)
    if not alike:
        return report
    second = _learn_from_all(table, alike, attribute, weights)
    if not second.rule:
        return report
    odd = [table.pages[page].id for page in labels if page not in alike]
    problem = f"{len(odd)} of {len(labels)} labeled pages do not fit the rule, such as {odd[0]}"
    return replace(second, problems=[*second.problems, problem])


def _learn_from_all(
    table: SampleTable, labels: PageLabels, attribute: Attribute, weights: Mapping[int, float]
) -> AttributeReport:
    present = {page: [label for label in found if not label.is_gap] for page, found in labels.items()}
    learn_labels = _learn_many if attribute.many else _learn_values
    return learn_labels(table, present, attribute, weights)


def _learn_many(
    table: SampleTable, labels: PageLabels, attribute: Attribute, weights: Mapping[int, float]
) -> AttributeReport:
    """Learn several values a page: as parts of one text, as a list, or each value by itself, whichever fits best."""
    places = find_weighted_lists(table.with_elements, labels, weights)
    is_complete = all(map(are_all_found, places.values()))
    shared_report = None if is_complete else _learn_shared_text(table, labels, attribute, weights)
    if shared_report is not None:
        return shared_report
    list_report = _learn_list(table.with_elements, labels, places, attribute)
    report = _learn_values(table, labels, attribute, weights)
    if list_report is None or list_report.coverage < report.coverage - MAX_LOST_COVERAGE:
        return report
    if report.rule and are_rarely_found(labels, places):
        return report
    # Some description of a list fits any labeled page, even if it contradicts the labels of most others.
    return report if is_complete and list_report.exact_pages < report.exact_pages else list_report


def _learn_shared_text(
    table: SampleTable, labels: PageLabels, attribute: Attribute, weights: Mapping[int, float]
) -> AttributeReport | None:
    """Learn values that share one text, with separators between them; None if they do not on all labeled pages."""
    lists = locate_shared_texts(table, labels, attribute)
    if lists is None:
        return None
    single = replace(attribute, many=False)
    hypotheses = _make_hypotheses(table, lists.in_nodes, single, weights)
    hypotheses += _make_hypotheses(table.with_elements, lists.in_elements, single, weights)
    learned = _best_rule(hypotheses, single)
    if learned is None or learned[0].range is None:
        return None
    return _report_rule(*learned, lists.remarks)


def _learn_values(
    table: SampleTable, present: PageLabels, attribute: Attribute, weights: Mapping[int, float]
) -> AttributeReport:
    """Learn each value by itself, from its place and what is around it."""
    located = locate_labels(table, present, attribute)
    missing = list(explain_missing_labels(table, present, located.in_nodes, located.in_elements))
    if 2 * len(missing) > sum(map(len, present.values())):
        return AttributeReport(
            attribute.name, problems=[*missing, "most labeled values are not on their pages"]
        )
    hypotheses = _make_hypotheses(table, located.in_nodes, attribute, weights)
    if any(_per_label(located.in_elements)):
        hypotheses += _make_hypotheses(table.with_elements, located.in_elements, attribute, weights)
    problems = [*missing, *located.remarks]
    learned = _best_rule(hypotheses, attribute)
    if learned and table.is_of_records:
        learned = _with_complete_element(learned, hypotheses, attribute)
    if learned:
        rule, target = learned
        report = _report_rule(rule, target, problems)
        disputed = _disputed_page(rule, target, hypotheses)
        return report if disputed is None else report.with_dispute(table.pages[disputed].id)
    if hypotheses:
        problems.append("no rule tells the labeled values from other texts")
    return AttributeReport(attribute.name, problems=problems)


def _learn_list(
    table: SampleTable, labels: PageLabels, places: Mapping[int, list[ListPlace]], attribute: Attribute
) -> AttributeReport | None:
    """Learn a list of values by what its members share; None if nothing structural distinguishes them."""
    located = {page: found for page, found in places.items() if found}
    gaps = [page for page, page_labels in labels.items() if not page_labels]
    learned = learn_value_list(table, located, gaps)
    if learned is None:
        return None
    rule = Rule(attribute.name, learned.selectors, learned.committee, look=learned.look)
    target = LearningTarget(table, learned.selectors[0].node, {page: [] for page in labels}, many=True)
    problems = [
        explain_lost_values(table, page, found[0].lost, len(labels[page]))
        for page, found in located.items()
        if found[0].lost
    ]
    report = _report_rule(rule, target, problems)
    report = replace(report, coverage=learned.coverage, exact_pages=learned.exact_pages)
    if learned.other_look is not None:
        report = report.with_other_look(table.pages[learned.other_look].id)
    return report if learned.disputed is None else report.with_dispute(table.pages[learned.disputed].id)


def _per_label(occurrences: LabeledOccurrences) -> Iterator[Sequence[Occurrence]]:
    return chain.from_iterable(occurrences.values())


def _best_rule(hypotheses: Sequence[_Hypothesis], attribute: Attribute) -> tuple[Rule, LearningTarget] | None:
    """Return the rule of the best hypothesis that has one, by selectors or, as a last resort, by a classifier."""
    described = [hypothesis for hypothesis in hypotheses if hypothesis.variants]
    described.sort(key=lambda hypothesis: hypothesis.rank, reverse=True)
    for hypothesis in described:
        if rule := _selecting_rule(hypothesis, attribute):
            return _with_other_places(rule, hypothesis, described), hypothesis.target
    for hypothesis in hypotheses:
        if rule := _classifying_rule(hypothesis, attribute):
            return rule, hypothesis.target
    return None


def _with_complete_element(
    learned: tuple[Rule, LearningTarget], hypotheses: Sequence[_Hypothesis], attribute: Attribute
) -> tuple[Rule, LearningTarget]:
    """Return a rule for an inline element instead of one for its text, if other records show that it has more text.

    The labeled names of a list may be links without further tags, and others links with some words in italics.
    """
    rule, target = learned
    if not rule.selects_one_node or target.node != "text()" or target.many:
        return learned
    for hypothesis in hypotheses:
        complete = _selecting_rule(hypothesis, attribute) if hypothesis.mode == "element" else None
        if complete and complete.selects_one_node and _adds_text(rule, target, complete, hypothesis.target):
            return complete, hypothesis.target
    return learned


def _adds_text(rule: Rule, target: LearningTarget, complete: Rule, complete_target: LearningTarget) -> bool:
    """Return True if the texts of a rule are parts of the inline elements of another, and not always all of it."""
    adds = False
    for page in (*target.rows, *target.unlabeled_pages):
        rows = pick_rows(target, rule.selectors, page)
        element_rows = pick_rows(complete_target, complete.selectors, page)
        if not rows or not element_rows:
            continue
        text, node = target.table.rows[rows[0]].text, complete_target.table.rows[element_rows[0]]
        if text not in node.text or node.element.tag not in INLINE_TAGS:
            return False
        adds = adds or text != node.text
    return adds


def _disputed_page(rule: Rule, target: LearningTarget, hypotheses: Sequence[_Hypothesis]) -> int | None:
    """Return an unlabeled page on which a place that is about as good as the chosen one shows another value."""
    if target.many or not rule.selects_one_node:
        return None
    for other, variant in _close_places(hypotheses):
        selector = Selector(other.node, variant.sets[0], variant.position, region=variant.region)
        for page in target.unlabeled_pages:
            if _differ(target, rule.selectors, other, selector, page):
                return page
    return None


def _close_places(hypotheses: Iterable[_Hypothesis]) -> list[tuple[LearningTarget, Variant]]:
    """Return the places of complete values that are about as good as the best of them."""
    places: list[tuple[LearningTarget, Variant]] = []
    for hypothesis in hypotheses:
        if hypothesis.mode in ("node", "element"):
            places += [(hypothesis.target, variant) for variant in hypothesis.alternatives]
    best = max((variant.score for _, variant in places), default=0.0)
    return [(target, variant) for target, variant in places if variant.score >= CLOSE_SCORE * best]


def _differ(
    target: LearningTarget,
    selectors: Sequence[Selector],
    other: LearningTarget,
    selector: Selector,
    page: int,
) -> bool:
    """Return True if two places show different values on a page, both of which are there."""
    rows, other_rows = pick_rows(target, selectors, page), pick_rows(other, [selector], page)
    if not rows or not other_rows:
        return False
    text, other_text = target.table.rows[rows[0]].text, other.table.rows[other_rows[0]].text
    return letters_and_digits(text) != letters_and_digits(other_text)


def _make_hypotheses(
    table: SampleTable, occurrences: LabeledOccurrences, attribute: Attribute, weights: Mapping[int, float]
) -> list[_Hypothesis]:
    """Return one hypothesis for each mode and kind of node in which values occur."""
    kinds: set[tuple[MatchMode, str]] = set()
    for label_occurrences in _per_label(occurrences):
        kinds |= {(occurrence.mode, _kind_of(table, occurrence)) for occurrence in label_occurrences}
    return [
        _make_hypothesis(table, occurrences, mode, kind, attribute, weights) for mode, kind in sorted(kinds)
    ]


def _make_hypothesis(
    table: SampleTable,
    occurrences: LabeledOccurrences,
    mode: MatchMode,
    kind: str,
    attribute: Attribute,
    weights: Mapping[int, float],
) -> _Hypothesis:
    """Return the hypothesis that all values occur in this mode, in nodes of this kind.

    Pages on which no label has such an occurrence are left out. Pages labeled as having no value stay.
    """
    fitting = _fitting_occurrences(table, occurrences, mode, kind)
    by_row = {occurrence.row: occurrence for occurrence in chain.from_iterable(_per_label(fitting))}
    rows: dict[int, list[list[int]]] = {}
    for page, page_occurrences in fitting.items():
        values = list(filter(None, page_occurrences))
        if values or not occurrences[page]:
            rows[page] = [[occurrence.row for occurrence in value] for value in values]
    elsewhere = FAR_WEIGHT if weights else 1.0
    row_weights = {row: weights.get(int(table.ancestor(1)[row]), elsewhere) for row in by_row}
    before = _texts_before(table, by_row.values())
    type_ = None if mode in _CUT_MODES else _strict_type(by_row.values(), attribute)
    target = LearningTarget(table, kind, rows, attribute.many, before, row_weights, type_)
    variants = find_variants(target)
    return _Hypothesis(target, mode, by_row, choose_variants(target, variants), variants)


def _strict_type(occurrences: Iterable[Occurrence], attribute: Attribute) -> Type | None:
    """Return the attribute's type if each labeled value is one value of it and nothing else; None for texts."""
    is_strict = all(is_one_typed(occurrence.text, attribute.type) for occurrence in occurrences)
    return attribute.type if is_strict and attribute.type != "text" else None


def _fitting_occurrences(
    table: SampleTable, occurrences: LabeledOccurrences, mode: MatchMode, kind: str
) -> LabeledOccurrences:
    """Return the occurrences in this mode, in nodes of this kind; labels without one have an empty list.

    A value that is a part of the node on one page may fill it on another; a span has the most frequent length. Pairs
    of nodes may be of any length, as their range says where they end.
    """
    modes = {"part", "node", "element"} if mode == "part" else {mode}
    lengths = _allowed_lengths(occurrences, mode)

    def fits(occurrence: Occurrence) -> bool:
        return (
            occurrence.mode in modes and occurrence.nodes in lengths and _kind_of(table, occurrence) == kind
        )

    return {
        page: [list(filter(fits, label_occurrences)) for label_occurrences in page_occurrences]
        for page, page_occurrences in occurrences.items()
    }


def _allowed_lengths(occurrences: LabeledOccurrences, mode: MatchMode) -> set[int]:
    lengths: Counter[int] = Counter()
    for label_occurrences in _per_label(occurrences):
        lengths.update(occurrence.nodes for occurrence in label_occurrences if occurrence.mode == mode)
    return set(lengths) if mode == "pair" else {lengths.most_common(1)[0][0]}


def _texts_before(table: SampleTable, occurrences: Iterable[Occurrence]) -> dict[int, str]:
    parts = (occurrence for occurrence in occurrences if occurrence.mode in _CUT_MODES)
    return {part.row: table.rows[part.row].text[: part.start] for part in parts}


def _kind_of(table: SampleTable, occurrence: Occurrence) -> str:
    return table.rows[occurrence.row].node_test


def _selected_occurrences(hypothesis: _Hypothesis, selectors: Sequence[Selector]) -> list[Occurrence]:
    """Return the labeled occurrences that selectors select on the labeled pages."""
    target = hypothesis.target
    rows = chain.from_iterable(pick_rows(target, selectors, page) for page in target.rows)
    return [hypothesis.occurrences[row] for row in rows if row in hypothesis.occurrences]


def _selecting_rule(hypothesis: _Hypothesis, attribute: Attribute) -> Rule | None:
    """Return a hypothesis as a rule; None if its values are parts of texts that no range cuts out."""
    target = hypothesis.target
    selectors = learn_selectors(target, hypothesis.variants, hypothesis.alternatives)
    chosen = _selected_occurrences(hypothesis, selectors)
    if not chosen:
        return None
    range_ = None
    if any(occurrence.mode in _CUT_MODES or occurrence.values for occurrence in chosen):
        range_ = learn_part_range(target, selectors, chosen, attribute.type)
        if range_ is None:
            return None
    values = chain.from_iterable(occurrence.all_values for occurrence in chosen)
    return Rule(
        attribute.name,
        tuple(selectors),
        tuple(learn_committee(target, selectors)),
        None,
        range_,
        max(occurrence.nodes for occurrence in chosen),
        typed=all(looks_typed(value, attribute.type) for value in values),
        single=target.type is not None,
    )


def _with_other_places(rule: Rule, chosen: _Hypothesis, hypotheses: Sequence[_Hypothesis]) -> Rule:
    """Add selectors to the committee that select other places with the same value, such as meta data."""
    if chosen.mode not in _COMPLETE_MODES or chosen.target.many:
        return rule
    members: list[Selector] = []
    for other in hypotheses:
        if other is not chosen and other.mode in _COMPLETE_MODES:
            members += learn_elsewhere(other.target, other.variants, chosen.target, rule.selectors)
    return replace(rule, committee=(*rule.committee, *members[:MAX_ELSEWHERE]))


def _classifying_rule(hypothesis: _Hypothesis, attribute: Attribute) -> Rule | None:
    """Return the paper's last resort: the most precise XPath, a classifier among its nodes, and a range for parts."""
    if hypothesis.mode not in (*_COMPLETE_MODES, "part"):
        return None
    target = hypothesis.target
    positives = [rows[0] for rows in target.values_to_select()]
    best = _most_precise(target, positives)
    selected = chain.from_iterable(target.table.on_page(best.bits, page) for page in target.rows)
    classifier = learn_classifier(target.table, positives, sorted(set(selected).difference(positives)))
    if classifier is None:
        return None
    selector = Selector(target.node, best.features, support=round(best.support, 3))
    rule = Rule(attribute.name, (selector,), classifier=classifier)
    if hypothesis.mode in _COMPLETE_MODES:
        return rule
    # Which nodes the classifier picks on unlabeled pages is not known here, so none of these teach the range.
    chosen = [hypothesis.occurrences[row] for row in positives]
    range_ = learn_part_range(target, (), chosen, attribute.type)
    nodes = max(occurrence.nodes for occurrence in chosen)
    return replace(rule, range=range_, nodes=nodes) if range_ else None


def _most_precise(target: LearningTarget, positives: Sequence[int]) -> ScoredFeatures:
    """Return the best feature set about the ancestors of positive rows; if there is none, the tags right above."""
    shared = shared_features(target.table, positives)
    broad = {feature for feature in shared if feature.is_structural and not feature.axis}
    search = Search(target.table, positives, target.rows.keys(), target.universe)
    if best := search.best_by_distance(broad):
        return best
    tags = [feature for feature in broad if feature.kind == "tag" and feature.level <= MAX_TAG_LEVEL]
    tags = sorted(tags, key=lambda feature: feature.level)
    return search.judge(tuple(tags), target.bits(tags))


def _report_rule(rule: Rule, target: LearningTarget, problems: list[str]) -> AttributeReport:
    pages = target.unlabeled_pages
    missed = [page for page in pages if not pick_rows(target, rule.selectors, page)]
    coverage = 1 - len(missed) / len(pages) if pages else 1.0
    label_next = target.table.pages[missed[0]].id if missed else None
    exact = count_exact_pages(target, rule.selectors)
    return AttributeReport(rule.attribute, rule, coverage, problems, label_next, exact_pages=exact)
