"""The rules of a sample of pages: from visible nodes, from embedded data, and checked on the labeled pages.

This is the last step of `learn_cluster`. Healing and the web server, which choose their pages themselves, start here.

Every labeled page is extracted again: a rule that does not return its own labels is a finding. A person who labels
must learn at once that a rule does not do what the labels say, and on which page to look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from untemplate.labeling import Label
from untemplate.learning.attributes import learn_rules
from untemplate.learning.embedded_rules import learn_embedded
from untemplate.learning.reports import AttributeReport, LearnedRules
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Page
from untemplate.page.locating import letters_and_digits
from untemplate.rules.applying import apply_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.rule import EmbeddedSelector, Rule, Wrapper
from untemplate.schema import Attribute, Schema

__all__ = ["LabelFit", "learn_sample"]


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
    fits = _check_labels(Wrapper("", (), 0, "*", _rules_of(reports), static), labels, schema)
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


@dataclass(frozen=True)
class LabelFit:
    """How well a rule returns the values it was learned from.

    Attributes:
        labeled: how many values were labeled.
        returned: how many of them come back.
        extra: how many values come back that nobody labeled.
        page: the first page on which the values differ; None if there is none.
        fitting: on how many pages the values are the labeled ones.
        lost: how many labeled values do not come back although their page shows them.
    """

    labeled: int = 0
    returned: int = 0
    extra: int = 0
    page: str | None = None
    fitting: int = 0
    lost: int = 0

    @property
    def returns_other_lists(self) -> bool:
        """True if no labeled list comes back, and members that the page shows are missing without replacement.

        Of the lists that such rules find on other pages of `recipes` none is right, in ten cases. Other members in
        place of the labeled ones may be the page's spelling of them.
        """
        is_other_count = self.returned + self.extra != self.labeled
        return not self.fitting and self.lost > 0 and is_other_count

    @property
    def problem(self) -> str | None:
        """The finding as a sentence; None if all labeled values come back and no others."""
        if self.page is None:
            return None
        if self.returned < self.labeled:
            missing = self.labeled - self.returned
            return f"the rule does not return {missing} of {self.labeled} labeled values: look at {self.page}"
        noun = "a value" if self.extra == 1 else f"{self.extra} values"
        return f"the rule returns {noun} that the labels do not have: look at {self.page}"

    def plus(self, other: LabelFit) -> LabelFit:
        """Return the sum over two pages."""
        return LabelFit(
            self.labeled + other.labeled,
            self.returned + other.returned,
            self.extra + other.extra,
            self.page or other.page,
            self.fitting + other.fitting,
            self.lost + other.lost,
        )


def _check_labels(
    wrapper: Wrapper, labeled: Mapping[Page, Sequence[Label]], schema: Schema
) -> dict[str, LabelFit]:
    """Return for each attribute with a rule how well it returns the labels of all pages.

    Values are compared by letters and digits. Labels that only pin a node by an XPath are not judged.
    """
    fits = {name: LabelFit() for name in wrapper.rules}
    for page, labels in labeled.items():
        parsed = ParsedPage(page.tree)
        for name, matches in apply_rules(wrapper, parsed, schema.attributes).items():
            own = [label for label in labels if label.attribute == name]
            if own and not any(map(_is_only_pinned, own)):
                fit = _compare_labels(own, [match.text for match in matches], schema.attributes[name], parsed)
                fits[name] = fits[name].plus(replace(fit, page=None if fit.fitting else page.id))
    return fits


def _is_only_pinned(label: Label) -> bool:
    return label.xpath is not None and label.value is None


def _compare_labels(
    labels: Sequence[Label], texts: Sequence[str], attribute: Attribute, page: ParsedPage
) -> LabelFit:
    """Return how the values of one page agree with its labels; one of several labels is enough for a single value."""
    wanted = Counter(letters_and_digits(label.value or "") for label in labels if not label.is_gap)
    found = Counter(map(letters_and_digits, texts))
    if not attribute.many and found and wanted & found:
        return LabelFit(1, 1, fitting=1)
    returned = (wanted & found).total()
    labeled = wanted.total() if attribute.many else min(1, wanted.total())
    extra = found.total() - returned
    lost = sum(map(page.shows, (wanted - found).elements()))
    is_same = returned == labeled and extra == 0
    return LabelFit(labeled, returned, extra, fitting=int(is_same), lost=lost)
