"""One cluster on the work bench: its sample pages parsed and kept, so that a label becomes new predictions at once.

Attributes are learnt independently of each other, so a label costs learning one attribute and applying one rule to
the sample pages. Attributes whose labels have not changed since the rules were saved keep their saved rules. The
result is the wrapper that gets saved: what a person saw is what is extracted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.learning import AttributeReport, Table, learn_rules
from untemplate.page import Page
from untemplate.rules import Rule, Wrapper
from untemplate.rules.applying import Match, apply_rule
from untemplate.schema import Schema

__all__ = ["Bench"]


class Bench:
    """The sample pages of one cluster, best first, their labels, and the rules: saved ones, or learnt from these."""

    def __init__(self, saved: Wrapper, pages: Iterable[Page], schema: Schema) -> None:
        self.schema = schema
        #: held by who works on it
        self.lock = RLock()
        #: the pages that can be read; nobody else parses or forgets them
        self.pages: dict[str, Page] = {}
        #: how learning went, of each attribute that was learnt here
        self.reports: dict[str, AttributeReport] = {}
        self._saved = saved
        self._labels: dict[str, list[Label]] = {}  # by attribute
        self._found: dict[tuple[str, str], list[Match]] = {}  # by attribute and page
        for page in pages:
            self._take(page)

    @property
    def cluster(self) -> str:
        return self._saved.cluster

    def _take(self, page: Page) -> bool:
        own = Page(page.url, page.html, page.id, page.fetched, page.charset, page.limits)
        try:
            assert own.tree is not None
        except PageError:
            return False
        self.pages[own.id] = own
        return True

    @cached_property
    def table(self) -> Table:
        return Table(list(self.pages.values()))

    @cached_property
    def wrapper(self) -> Wrapper:
        """The saved wrapper with what was learnt here in place of its rules; of a list page, in place of all."""
        learnt = {name: report.rule for name, report in self.reports.items()}
        if not learnt:
            return self._saved
        old = {} if self._saved.records else self._saved.rules
        kept = {name: rule for name, rule in old.items() if name not in learnt}
        rules = {
            name: rule for name in self.schema.attributes if (rule := learnt.get(name) or kept.get(name))
        }
        static = self.table.static | (set(self._saved.static) if kept else set())
        lost = tuple(name for name in self._saved.lost if name not in rules)
        return replace(self._saved, rules=rules, static=tuple(sorted(static)), lost=lost, records=None)

    @property
    def rules(self) -> dict[str, Rule]:
        return dict(self.wrapper.rules)

    @property
    def is_saved(self) -> bool:
        """Whether the saved rules are these."""
        return self.wrapper.rules == self._saved.rules

    def labels_of(self, page: str) -> list[Label]:
        return [label for given in self._labels.values() for label in given if label.page == page]

    def warm_up(self) -> None:
        """Compute what learning looks up anyway, so that the first label does not wait for it."""
        with self.lock:
            for table in (self.table, self.table.with_elements):
                table.rows_by("text", "")
                table.ancestor(1)

    def update(
        self, saved: Wrapper, labels: Iterable[Label], fresh: Collection[str], strangers: Sequence[Page] = ()
    ) -> None:
        """Learn anew what has changed: the saved wrapper, labels, or labelled pages that are not here yet.

        `fresh` are the attributes whose labels have changed since the wrapper was saved.
        """
        with self.lock:
            taken = [self._take(page) for page in strangers if page.id not in self.pages]
            if any(taken):
                self.__dict__.pop("table", None)
                self._forget()
            if saved != self._saved:
                self._saved = saved
                self._forget()
            given: dict[str, list[Label]] = {name: [] for name in self.schema.attributes}
            for label in labels:
                if label.page in self.pages and label.attribute in given and label.record is None:
                    given[label.attribute].append(label)
            for name, own in given.items():
                changed = own != self._labels.get(name, []) or (name in fresh) != (name in self.reports)
                self._labels[name] = own
                if changed:
                    self._learn(name, own, name in fresh)

    def _forget(self) -> None:
        self.__dict__.pop("wrapper", None)
        self.reports.clear()
        self._found.clear()

    def _learn(self, attribute: str, labels: Sequence[Label], fresh: bool) -> None:
        self.__dict__.pop("wrapper", None)
        self.reports.pop(attribute, None)
        self._found = {key: found for key, found in self._found.items() if key[0] != attribute}
        if not fresh:
            return
        numbers = {page: number for number, page in enumerate(self.pages)}
        by_page: dict[int, list[Label]] = {}
        for label in labels:
            by_page.setdefault(numbers[label.page], []).append(label)
        _, reports = learn_rules(self.table, by_page, self.schema)
        self.reports[attribute] = reports[0] if reports else AttributeReport(attribute)

    def find(self, page: Page) -> dict[str, list[Match]]:
        """What the rules find on a page, one of these or another; nothing on a list page, which is many records."""
        with self.lock:
            wrapper = self.wrapper
            if wrapper.records:
                return {name: [] for name in wrapper.rules}
            if self.pages.get(page.id) is not page:
                return {name: self._apply(rule, page, wrapper) for name, rule in wrapper.rules.items()}
            for name, rule in wrapper.rules.items():
                if (name, page.id) not in self._found:
                    self._found[name, page.id] = self._apply(rule, page, wrapper)
            return {name: self._found[name, page.id] for name in wrapper.rules}

    def _apply(self, rule: Rule, page: Page, wrapper: Wrapper) -> list[Match]:
        return apply_rule(rule, page.tree, wrapper, self.schema.attributes[rule.attribute])

    def coverage(self, attribute: str) -> float:
        """The share of the pages without a label for it on which the rule of an attribute finds something."""
        labelled = {label.page for label in self._labels.get(attribute, [])}
        others = [page for id, page in self.pages.items() if id not in labelled]
        return sum(bool(self.find(page)[attribute]) for page in others) / len(others) if others else 1.0
