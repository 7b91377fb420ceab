"""The rules of a sample of pages: from visible nodes, from embedded data, and checked on the labeled pages.

This is the last step of `learn_cluster`. Healing and the web server, which choose their pages themselves, start here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from untemplate.labeling import Label
from untemplate.learning.attributes import learn_rules
from untemplate.learning.embedded_rules import learn_embedded
from untemplate.learning.label_check import LabelFit, check_labels
from untemplate.learning.reports import AttributeReport, LearnedRules
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Page
from untemplate.rules.rule import EmbeddedSelector, Rule, Wrapper
from untemplate.schema import Schema

__all__ = ["learn_sample"]


def learn_sample(table: SampleTable, labels: Mapping[Page, Sequence[Label]], schema: Schema) -> LearnedRules:
    """Learn the rules of pages that each show one record, from a sample that is chosen already.

    Learning again after a label changed is cheap: the table is reused, and only labeled attributes are learned.

    Args:
        table: readable pages of one cluster, with labels or without.
        labels: the labels of some pages of the table.
        schema: the attributes to learn; labels of others are ignored.

    Returns:
        The rules of all labeled attributes, and the static text of the table. Reports name rules that do not return
        their own labels.
    """
    numbers = {page: number for number, page in enumerate(table.pages)}
    labels_by_number = {numbers[page]: page_labels for page, page_labels in labels.items()}
    _, reports = learn_rules(table, labels_by_number, schema)
    unlabeled = [page for page in table.pages if page not in labels]
    embedded = learn_embedded(labels, unlabeled, schema)
    reports = [_with_embedded(report, embedded.get(report.attribute, ())) for report in reports]
    static = tuple(sorted(table.static))
    fits = check_labels(Wrapper("", (), 0, "*", _rules_of(reports), static), labels, schema)
    reports = [_add_fit(report, fits.get(report.attribute), schema) for report in reports]
    return LearnedRules(_rules_of(reports), static, reports)


def _rules_of(reports: Iterable[AttributeReport]) -> dict[str, Rule]:
    return {report.attribute: report.rule for report in reports if report.rule}


def _add_fit(report: AttributeReport, fit: LabelFit | None, schema: Schema) -> AttributeReport:
    """Return a report that says so if the rule does not return its own labels."""
    if report.rule is None or fit is None or fit.problem is None:
        return report
    is_unfit = schema.attributes[report.attribute].many and fit.returns_other_lists
    rule = replace(report.rule, unfit=is_unfit)
    return replace(report, rule=rule, problems=[*report.problems, fit.problem], unfit=fit.page)


def _with_embedded(report: AttributeReport, embedded: tuple[EmbeddedSelector, ...]) -> AttributeReport:
    """Add to a rule where its values are in the embedded data; they can be a rule on their own."""
    if not embedded:
        return report
    rule = replace(report.rule or Rule(report.attribute, ()), embedded=embedded)
    coverage = max(report.coverage, embedded[0].support)
    return replace(
        report, rule=rule, coverage=coverage, label_next=None if coverage == 1 else report.label_next
    )
