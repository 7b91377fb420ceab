"""Labels of somebody who makes mistakes, such as a language model: rules outvote them.

A label is supported if a rule that was learned from another page alone returns it. Pages whose labels support each
other form a group. A label outside of the largest group is dropped. If no group is the largest, the labeler is
asked once more, with two pages of different groups side by side; if that does not decide, the attribute is left to
a person. One page alone cannot be outvoted, so its labels are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from untemplate.labeling import Label
from untemplate.learning.label_groups import LabelGroups, is_mostly_found
from untemplate.learning.sample_rules import learn_sample
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Page
from untemplate.schema import Attribute, Schema

__all__ = ["ConfirmedLabels", "DroppedLabels", "confirm_labels"]

# Rules of single pages need other pages to generalize over: at most this many of those that are not labeled.
MAX_OTHER_PAGES = 10

UNSUPPORTED = "the rules of other pages do not support it"
CONTRADICTED_GAP = "the rules of other pages find a value"
UNDECIDED = "pages disagree, and a second question did not decide"

AskAgain = Callable[[Page, Page, str], Sequence[Label]]
"""Asks about one attribute of two pages side by side."""


@dataclass(frozen=True)
class DroppedLabels:
    """Labels of one attribute on one page that do not teach, and why."""

    page: str
    attribute: str
    values: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        """Format as one line for a report."""
        values = " | ".join(self.values) or "not on the page"
        return f"{self.attribute} of {self.page} ({values}): {self.why}"


@dataclass(frozen=True)
class ConfirmedLabels:
    """The labels that rules support.

    Attributes:
        labels: what is left to learn from.
        dropped: what was dropped.
        for_person: attributes that a person has to label.
        asked_again: attributes that were asked about once more.
    """

    labels: list[Label] = field(default_factory=list)
    dropped: list[DroppedLabels] = field(default_factory=list)
    for_person: list[str] = field(default_factory=list)
    asked_again: list[str] = field(default_factory=list)

    def __add__(self, other: ConfirmedLabels) -> ConfirmedLabels:
        """Return the labels of two attributes, or of two templates."""
        return ConfirmedLabels(
            [*self.labels, *other.labels],
            [*self.dropped, *other.dropped],
            [*self.for_person, *other.for_person],
            [*self.asked_again, *other.asked_again],
        )


def confirm_labels(
    pages: Iterable[Page],
    labels: Sequence[Label],
    schema: Schema,
    others: Sequence[Page] = (),
    ask_again: AskAgain | None = None,
) -> ConfirmedLabels:
    """Return the labels that rules of other pages support.

    Args:
        pages: the labeled pages, of one template.
        labels: their labels.
        schema: the attributes; labels of others are ignored.
        others: pages of the same template without labels.
        ask_again: asks about an attribute of two pages that disagree.
    """
    names = {label.page for label in labels}
    labeled = [page for page in pages if page.is_named_in(names) and not page.why_unreadable()]
    jury = _Jury(labeled, _select_others(others, labeled), schema)
    confirmed = ConfirmedLabels()
    for name, attribute in schema.attributes.items():
        if by_page := _labels_of_pages(labeled, labels, name):
            confirmed += jury.judge(attribute, by_page, ask_again)
    return confirmed


def _select_others(others: Iterable[Page], labeled: Sequence[Page]) -> list[Page]:
    unlabeled = [page for page in others if page not in labeled]
    return [page for page in unlabeled[:MAX_OTHER_PAGES] if not page.why_unreadable()]


_PageLabels = dict[Page, list[Label]]
"""The labels of one attribute by page."""


def _labels_of_pages(pages: Sequence[Page], labels: Sequence[Label], name: str) -> _PageLabels:
    by_page: _PageLabels = {}
    for page in pages:
        page_labels = [one for one in labels if one.attribute == name and page.is_named_in({one.page})]
        if page_labels:
            by_page[page] = page_labels
    return by_page


class _Jury:
    """Judges the labels of pages of one template by rules of single pages."""

    def __init__(self, labeled: Sequence[Page], others: Sequence[Page], schema: Schema) -> None:
        self._groups = LabelGroups(SampleTable([*labeled, *others]), schema, learn_sample)

    def judge(
        self, attribute: Attribute, by_page: _PageLabels, ask_again: AskAgain | None
    ) -> ConfirmedLabels:
        """Return the supported labels of one attribute."""
        values = {page: labels for page, labels in by_page.items() if not labels[0].is_gap}
        groups = self._groups.find_groups(attribute, values)
        if len(values) < 2 or _is_decided(groups):
            return self._keep(attribute, by_page, groups[0] if groups else [])
        name = attribute.name
        second = self._second_opinion(attribute, by_page, groups, ask_again)
        if second is None:
            dropped = [_drop(page, name, labels, UNDECIDED) for page, labels in values.items()]
            return ConfirmedLabels([], dropped, [name], [name] if ask_again else [])
        confirmed = self._keep(attribute, *second)
        return ConfirmedLabels(confirmed.labels, confirmed.dropped, [], [name])

    def _second_opinion(
        self,
        attribute: Attribute,
        by_page: _PageLabels,
        groups: Sequence[Sequence[Page]],
        ask_again: AskAgain | None,
    ) -> tuple[_PageLabels, Sequence[Page]] | None:
        """Ask about the first pages of the two largest groups; return the labels and the group that then decides."""
        if ask_again is None:
            return None
        first, second = groups[0][0], groups[1][0]
        answered = _labels_of_pages([first, second], ask_again(first, second, attribute.name), attribute.name)
        values = {page: labels for page, labels in answered.items() if not labels[0].is_gap}
        if len(values) < 2 or len(self._groups.find_groups(attribute, values)) > 1:
            return None
        corrected = {**by_page, **answered}
        values = {page: labels for page, labels in corrected.items() if not labels[0].is_gap}
        decided = next(group for group in self._groups.find_groups(attribute, values) if first in group)
        return corrected, decided

    def _keep(self, attribute: Attribute, by_page: _PageLabels, group: Sequence[Page]) -> ConfirmedLabels:
        """Return the labels of a group, and gaps that the rules of the group do not contradict."""
        teachers = {page: by_page[page] for page in group}
        kept: list[Label] = []
        dropped: list[DroppedLabels] = []
        for page, labels in by_page.items():
            if labels[0].is_gap:
                found = self._groups.find_values(attribute, teachers, page)
                why = CONTRADICTED_GAP if is_mostly_found(found) else ""
            else:
                why = "" if page in group else UNSUPPORTED
            if why:
                dropped.append(_drop(page, attribute.name, labels, why))
            else:
                kept += labels
        return ConfirmedLabels(kept, dropped)


def _is_decided(groups: Sequence[Sequence[Page]]) -> bool:
    """Return True if one group of at least two pages is larger than every other."""
    return bool(groups) and len(groups[0]) > 1 and (len(groups) == 1 or len(groups[0]) > len(groups[1]))


def _drop(page: Page, name: str, labels: Sequence[Label], why: str) -> DroppedLabels:
    return DroppedLabels(page.id, name, tuple(label.value for label in labels if label.value), why)
