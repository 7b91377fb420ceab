"""Which pages have labels that agree: rules learned from single pages decide.

A rule that was learned from one page alone mostly holds on all pages of its template. So the label of a page supports
that of another if its rule returns it. Mistakes are at other places: hardly any rule returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from untemplate.labeling import Label
from untemplate.learning.label_fit import compare_labels
from untemplate.learning.reports import LearnedRules
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.rules.applying import apply_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.schema import Attribute, Schema

__all__ = ["LabelGroups", "LabelsOfPages", "is_mostly_found"]

# A list supports another one if its rule returns this share of the members: lists have headings and notes.
MIN_LIST_SHARE = 0.5

# Labeled pages whose rules are learned, evenly spread: more would cost time and change nothing.
MAX_TEACHERS = 8

LabelsOfPages = Mapping[Page, Sequence[Label]]
"""Labels by page."""

LearnLabels = Callable[[SampleTable, LabelsOfPages, Schema], LearnedRules]
"""Learns rules from labels as they are."""


class LabelGroups:
    """Groups labeled pages of one template by rules of single pages.

    Args:
        table: the labeled pages, and others to generalize over.
        schema: the attributes.
        learn: learns the rules of single pages.
    """

    def __init__(self, table: SampleTable, schema: Schema, learn: LearnLabels) -> None:
        self.table = table
        self.schema = schema
        self._learn = learn
        self._wrappers: dict[tuple[Page, tuple[Label, ...]], Wrapper] = {}

    def find_groups(self, attribute: Attribute, values: LabelsOfPages) -> list[list[Page]]:
        """Return groups of pages whose labels of an attribute agree, the largest group first.

        A group is a page with all others whose labels its rule returns; each page is in one group.

        Args:
            attribute: the attribute.
            values: its labels, no gaps.
        """
        pages = list(values)
        supported = {page: {page} for page in pages}
        for teacher in pages[:: ceil(len(pages) / MAX_TEACHERS) or 1]:
            supported[teacher] |= self._find_supported(teacher, values, attribute)
            if len(supported[teacher]) == len(pages):
                break  # no other page is supported by more
        groups: list[list[Page]] = []
        while pages:
            best = max(pages, key=lambda page: len(supported[page].intersection(pages)))
            groups.append([best, *(page for page in pages if page in supported[best] and page is not best)])
            pages = [page for page in pages if page not in supported[best]]
        return groups

    def _find_supported(self, teacher: Page, values: LabelsOfPages, attribute: Attribute) -> set[Page]:
        """Return the other pages whose labels the rule of a page returns."""
        wrapper = self._rules_of_page(teacher, values[teacher])
        others = (page for page in values if page is not teacher)
        return {page for page in others if self._supports(wrapper, page, values[page], attribute)}

    def find_values(self, attribute: Attribute, teachers: LabelsOfPages, page: Page) -> list[list[str]]:
        """Return what the rules of single other pages find on a page; an empty list for one that finds nothing."""
        others = [teacher for teacher in teachers if teacher is not page][:MAX_TEACHERS]
        rules = [self._rules_of_page(teacher, teachers[teacher]) for teacher in others]
        return [self._find(rule, page, attribute) for rule in rules]

    def _rules_of_page(self, page: Page, labels: Sequence[Label]) -> Wrapper:
        """Return a wrapper with the rules that the labels of one page teach, which are learned once."""
        key = page, tuple(labels)
        if key not in self._wrappers:
            learned = self._learn(self.table, {page: labels}, self.schema)
            self._wrappers[key] = Wrapper("", (), 0, "*", learned.rules, learned.static)
        return self._wrappers[key]

    def _find(self, wrapper: Wrapper, page: Page, attribute: Attribute) -> list[str]:
        """Return what a rule finds on a page."""
        matches = apply_rules(wrapper, ParsedPage(page.tree), self.schema.attributes)
        return [match.text for match in matches.get(attribute.name, ())]

    def _supports(self, wrapper: Wrapper, page: Page, labels: Sequence[Label], attribute: Attribute) -> bool:
        """Return True if a rule of another page returns the labels of a page."""
        texts = self._find(wrapper, page, attribute)
        if not texts:
            return False
        fit = compare_labels(labels, texts, attribute, ParsedPage(page.tree))
        if attribute.many:
            return fit.returned >= MIN_LIST_SHARE * max(fit.labeled, len(texts))
        return bool(fit.fitting)


def is_mostly_found(found: Sequence[Sequence[str]]) -> bool:
    """Return True if most rules find something, given what each of them finds."""
    return 2 * sum(map(bool, found)) > len(found)
