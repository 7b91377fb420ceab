"""One cluster while a person labels it: the rules so far, the page to label next, and the values to review.

The sample pages stay parsed, so that a label shows its effect at once. Attributes are learned independently of each
other. So a label costs learning one attribute and applying one rule to the sample pages. Attributes whose labels have
not changed since the rules were saved keep their saved rules. The resulting wrapper is the one that gets saved: the
records that a person sees are those that will be extracted.

Vertex III-B shows the pages in the order of the sample and learns a rule after each: "if the rule is able to
successfully extract attribute values from the remaining pages in the sample, then no further annotations are
required".

Departures: the next page is the one that the rules are least sure about. Rules extract successfully from a page if
every mandatory attribute has a value (or more than half of all attributes, if none is mandatory), and most of the
committee agrees with every value. A missing value of an optional attribute does not count, because the page may not
contain it. An attribute without a rule does count, until `MIN_ABSENT_PAGES` pages are labeled as not containing it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.learning import AttributeReport, SampleTable, learn_sample
from untemplate.page import Page
from untemplate.record import MAX_DOUBTFUL_CONFIDENCE
from untemplate.rules import Rule, Wrapper
from untemplate.rules.applying import Match, apply_rule
from untemplate.schema import Attribute, Schema
from untemplate.value_types import looks_typed

__all__ = [
    "ClusterSession",
    "DoubtfulValue",
    "LabelingProgress",
    "PageState",
    "find_doubtful_values",
    "lowest_confidence",
    "measure_progress",
]

MIN_ABSENT_PAGES = 2
"""Pages that must be labeled as not containing an attribute before it counts as absent from the cluster."""


class ClusterSession:
    """The sample pages of a cluster, best first, their labels, and the rules: saved ones, or learned from the labels.

    Args:
        saved: The wrapper of the cluster in the newest version of the rules.
        pages: The sample pages. Pages that cannot be parsed are left out.
        schema: The schema of the site.
    """

    def __init__(self, saved: Wrapper, pages: Iterable[Page], schema: Schema) -> None:
        self.schema = schema
        #: locked while somebody reads or changes the session
        self.lock = RLock()
        #: the readable pages by id; copies, so that nobody else releases their trees
        self.pages: dict[str, Page] = {}
        #: the ids of pages that a person left aside: they need no labels
        self.flagged: frozenset[str] = frozenset()
        #: how learning went, for each attribute that was learned in this session
        self.reports: dict[str, AttributeReport] = {}
        self._saved = saved
        self._labels: dict[str, list[Label]] = {}  # by attribute
        self._found: dict[tuple[str, str], list[Match]] = {}  # by attribute and page
        for page in pages:
            self._add_page(page)

    @property
    def cluster(self) -> str:
        """The id of the cluster."""
        return self._saved.cluster

    @cached_property
    def table(self) -> SampleTable:
        """The sample pages as the learner needs them."""
        return SampleTable(list(self.pages.values()))

    @cached_property
    def wrapper(self) -> Wrapper:
        """The saved wrapper, with the learned rules in place of the saved ones.

        If the saved wrapper is for list pages, the learned rules replace all of its rules.
        """
        if not self.reports:
            return self._saved
        saved_rules = {} if self._saved.records else self._saved.rules
        rules: dict[str, Rule] = {}
        for name in self.schema.attributes:
            rule = self.reports[name].rule if name in self.reports else saved_rules.get(name)
            if rule is not None:
                rules[name] = rule
        static = set(self.table.static)
        if saved_rules.keys() - self.reports.keys():
            static.update(self._saved.static)
        lost = tuple(name for name in self._saved.lost if name not in rules)
        return replace(self._saved, rules=rules, static=tuple(sorted(static)), lost=lost, records=None)

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules of `wrapper` by attribute."""
        return dict(self.wrapper.rules)

    @property
    def is_saved(self) -> bool:
        """Whether the rules are the same as the saved ones."""
        return self.wrapper.rules == self._saved.rules

    def labels_of(self, page: str) -> list[Label]:
        """Return the labels of a page."""
        labels: list[Label] = []
        for attribute_labels in self._labels.values():
            labels += [label for label in attribute_labels if label.page == page]
        return labels

    def count_absent(self, attribute: str) -> int:
        """Return how many pages are labeled as not containing an attribute."""
        return sum(label.is_gap for label in self._labels.get(attribute, []))

    def is_unlearned(self, attribute: str) -> bool:
        """Return True if an attribute has labeled values, but no rule fits them."""
        has_values = not all(label.is_gap for label in self._labels.get(attribute, []))
        return has_values and attribute not in self.rules

    def table_with(self, page: Page) -> tuple[SampleTable, int]:
        """Return a table that contains a page, and the number of the page in it.

        Args:
            page: A page of the cluster, in the sample or not.

        This is the session's table, or a new one if the page is not in the sample.
        """
        if self.pages.get(page.id) is page:
            return self.table, list(self.pages).index(page.id)
        return SampleTable([page]), 0

    def warm_up(self) -> None:
        """Compute what learning needs in any case, so that the first label does not wait for it."""
        with self.lock:
            for table in (self.table, self.table.with_elements):
                table.prepare()

    def update(
        self,
        saved: Wrapper,
        labels: Iterable[Label],
        changed: Collection[str],
        extra_pages: Sequence[Page] = (),
    ) -> None:
        """Learn again what depends on a new saved wrapper, on changed labels, or on labeled pages beside the sample.

        Args:
            saved: The wrapper of the cluster in the newest version of the rules.
            labels: All labels of the cluster.
            changed: The attributes whose labels have changed since the wrapper was saved.
            extra_pages: Labeled pages that are not among the sample pages.
        """
        with self.lock:
            added = [self._add_page(page) for page in extra_pages if page.id not in self.pages]
            if any(added):
                self.__dict__.pop("table", None)
                self._forget_rules()
            if saved != self._saved:
                self._saved = saved
                self._forget_rules()
            for name, attribute_labels in self._group_labels(labels).items():
                is_same = attribute_labels == self._labels.get(name, [])
                self._labels[name] = attribute_labels
                if not is_same or (name in changed) != (name in self.reports):
                    self._learn_attribute(name, attribute_labels, name in changed)

    def find(self, page: Page) -> dict[str, list[Match]]:
        """Return the values that the rules find on a page, by attribute.

        The page may be outside the sample. The values of sample pages are kept until their rule changes.

        The rules of list pages find nothing here, because such a page contains many records.
        """
        with self.lock:
            wrapper = self.wrapper
            if wrapper.records:
                return {name: [] for name in wrapper.rules}
            if self.pages.get(page.id) is not page:
                return {name: self._apply(rule, page) for name, rule in wrapper.rules.items()}
            for name, rule in wrapper.rules.items():
                if (name, page.id) not in self._found:
                    self._found[name, page.id] = self._apply(rule, page)
            return {name: self._found[name, page.id] for name in wrapper.rules}

    def find_unlabeled(self, page: Page) -> dict[str, list[Match]]:
        """Return the values that the rules find on a page, only for attributes without a label there.

        The label of a person is always right, so what a rule finds in its place does not matter.
        """
        labeled = {label.attribute for label in self.labels_of(page.id)}
        return {name: matches for name, matches in self.find(page).items() if name not in labeled}

    def values_of(self, page: Page, attribute: str) -> list[str]:
        """Return the values of an attribute on a sample page: those of its labels, or else what its rule finds."""
        labels = [label for label in self.labels_of(page.id) if label.attribute == attribute]
        if labels:
            return [label.value for label in labels if label.value is not None]
        return [match.text for match in self.find(page).get(attribute, [])]

    def try_labels(self, attribute: Attribute, labels: Sequence[Label]) -> dict[str, list[str]]:
        """Return the values of all sample pages that a rule finds which is learned from these labels.

        Nothing of the session changes.

        Args:
            attribute: The attribute as it would be defined.
            labels: Its labels on the sample pages.
        """
        schema = replace(self.schema, attributes={**self.schema.attributes, attribute.name: attribute})
        with self.lock:
            report = self._learn(attribute.name, labels, schema)
            wrapper = replace(self.wrapper, static=tuple(sorted(self.table.static)))
            if report.rule is None:
                return {page: [] for page in self.pages}
            return {
                id: [match.text for match in apply_rule(report.rule, page.tree, wrapper, attribute)]
                for id, page in self.pages.items()
            }

    def coverage(self, attribute: str) -> float:
        """Return the share of the pages without a label for an attribute on which its rule finds a value.

        Labeled pages are left out, because a rule always fits the labels it was learned from. If there is no other
        page, the share is 1.
        """
        labeled = {label.page for label in self._labels.get(attribute, [])}
        unlabeled = [self.pages[id] for id in self.pages.keys() - labeled]
        if not unlabeled:
            return 1.0
        filled = sum(bool(self.find(page)[attribute]) for page in unlabeled)
        return filled / len(unlabeled)

    def _add_page(self, page: Page) -> bool:
        """Add a copy of a page; return False if it cannot be parsed."""
        copy = Page(page.url, page.html, page.id, page.fetched, page.charset, page.limits)
        if copy.why_unreadable():
            return False
        self.pages[copy.id] = copy
        return True

    def _group_labels(self, labels: Iterable[Label]) -> dict[str, list[Label]]:
        """Return the labels of these pages by attribute.

        Ignored are labels of list rows, of attributes outside the schema, and of pages that cannot be parsed.
        """
        groups: dict[str, list[Label]] = {name: [] for name in self.schema.attributes}
        for label in labels:
            if label.page in self.pages and label.attribute in groups and label.record is None:
                groups[label.attribute].append(label)
        return groups

    def _forget_rules(self) -> None:
        self.__dict__.pop("wrapper", None)
        self.reports.clear()
        self._found.clear()

    def _learn_attribute(self, attribute: str, labels: Sequence[Label], is_changed: bool) -> None:
        """Learn the rule of an attribute, or go back to the saved rule if its labels have not changed since.

        Args:
            attribute: The name of the attribute.
            labels: All labels of the attribute.
            is_changed: True if these labels have changed since the rules were saved.
        """
        self.__dict__.pop("wrapper", None)
        self.reports.pop(attribute, None)
        self._found = {key: values for key, values in self._found.items() if key[0] != attribute}
        if not is_changed:
            return
        self.reports[attribute] = self._learn(attribute, labels, self.schema)

    def _learn(self, attribute: str, labels: Sequence[Label], schema: Schema) -> AttributeReport:
        """Return how learning an attribute from its labels went; without a rule if there are no labels."""
        by_page: dict[Page, list[Label]] = {}
        for label in labels:
            if label.page in self.pages:
                by_page.setdefault(self.pages[label.page], []).append(label)
        reports = learn_sample(self.table, by_page, schema).reports
        return reports[0] if reports else AttributeReport(attribute)

    def _apply(self, rule: Rule, page: Page) -> list[Match]:
        return apply_rule(rule, page.tree, self.wrapper, self.schema.attributes[rule.attribute])


@dataclass(frozen=True)
class PageState:
    """The labels of one sample page, and how well the rules extract from it."""

    page: str
    labeled: tuple[str, ...]  # attributes with a label
    gaps: tuple[str, ...]  # attributes without a label whose rules find nothing
    doubts: tuple[str, ...]  # attributes without a label whose values are doubtful
    is_extracted: bool  # the rules extract the unlabeled attributes successfully
    uncertainty: float

    @property
    def is_labeled(self) -> bool:
        """Whether the page has labels."""
        return bool(self.labeled)

    @property
    def is_finished(self) -> bool:
        """Whether the page has labels, and the rules extract its other attributes."""
        return self.is_labeled and self.is_extracted


@dataclass(frozen=True)
class LabelingProgress:
    """How far the labeling of a cluster is, page by page."""

    pages: list[PageState] = field(default_factory=list)
    undecided: tuple[str, ...] = ()  # attributes without a rule that the pages may contain
    unlearned: tuple[str, ...] = ()  # attributes with labeled values, but without a rule that fits them
    next: str | None = None  # the page to label next
    done: bool = False


@dataclass(frozen=True)
class DoubtfulValue:
    """A value, or a missing value, that a person should review."""

    page: str
    attribute: str
    texts: tuple[str, ...]
    confidence: float
    reason: str
    others: tuple[str, ...] = ()  # what members of the committee find instead


def lowest_confidence(matches: Sequence[Match]) -> float:
    """Return the lowest confidence of the values of an attribute; 0 if there are none."""
    return min((match.confidence for match in matches), default=0.0)


def measure_progress(session: ClusterSession) -> LabelingProgress:
    """Return how far the labeling of a cluster is, and which page to label next.

    The next page is the one that the rules are least sure about, among those without labels and those with labels
    whose other attributes are not extracted successfully.

    Labeling is done if every attribute has a rule or is absent, and the rules extract from all sample pages. Pages
    that a person left aside do not count.
    """
    with session.lock:
        states = [_page_state(session, page) for page in session.pages]
        undecided = _undecided_attributes(session)
        unlearned = tuple(filter(session.is_unlearned, session.schema.attributes))
    counted = [state for state in states if state.page not in session.flagged]
    unfinished = [state for state in counted if not state.is_finished]
    least_sure = max(unfinished, key=lambda state: state.uncertainty, default=None)
    is_extracted = all(state.is_extracted for state in counted)
    return LabelingProgress(
        states,
        undecided,
        unlearned,
        least_sure.page if least_sure else None,
        done=bool(session.rules) and not undecided and is_extracted,
    )


def _undecided_attributes(session: ClusterSession) -> tuple[str, ...]:
    """Return the attributes that have no rule, and that too few pages are labeled as not containing.

    As long as there is such an attribute, the labeling of the cluster is not done.
    """
    decided = session.rules
    undecided = []
    for name in session.schema.attributes:
        if name not in decided and session.count_absent(name) < MIN_ABSENT_PAGES:
            undecided.append(name)
    return tuple(undecided)


def _page_state(session: ClusterSession, page: str) -> PageState:
    """Return the labels of a page, and how well the rules extract its other attributes.

    The uncertainty of the page is the sum over these attributes; a missing value counts as 1.
    """
    labeled = dict.fromkeys(label.attribute for label in session.labels_of(page))
    unlabeled = session.find_unlabeled(session.pages[page])
    gaps, doubts, uncertainty = [], [], 0.0
    for name, matches in unlabeled.items():
        confidence = lowest_confidence(matches)
        uncertainty += 1 - confidence
        if not matches:
            gaps.append(name)
        elif confidence <= MAX_DOUBTFUL_CONFIDENCE:
            doubts.append(name)
    return PageState(
        page,
        tuple(labeled),
        tuple(gaps),
        tuple(doubts),
        not doubts and _has_enough_values(session, list(unlabeled), gaps),
        round(uncertainty, 6),
    )


def _has_enough_values(session: ClusterSession, names: Sequence[str], gaps: Sequence[str]) -> bool:
    """Return True if no mandatory attribute is missing; if none is mandatory, if less than half are missing."""
    mandatory = {name for name in names if session.schema.attributes[name].mandatory}
    if mandatory or not names:
        return mandatory.isdisjoint(gaps)
    return 2 * len(gaps) < len(names)


def find_doubtful_values(session: ClusterSession, page: Page) -> list[DoubtfulValue]:
    """Return the values of a page that a person should review.

    These are values that the committee does not agree on, values that do not look like their type, and missing values
    of mandatory attributes. Labeled attributes are never doubtful. A page that cannot be parsed has no values.
    """
    try:
        unlabeled = session.find_unlabeled(page)
    except PageError:
        return []
    doubts = [
        _judge_values(session, page, session.rules[name], matches) for name, matches in unlabeled.items()
    ]
    return [doubt for doubt in doubts if doubt is not None]


def _judge_values(
    session: ClusterSession, page: Page, rule: Rule, matches: Sequence[Match]
) -> DoubtfulValue | None:
    """Return why the values of an attribute are doubtful, or None if they are not.

    Args:
        session: The session with the rules.
        page: A page without a label for the attribute.
        rule: The rule of the attribute.
        matches: The values that the rule finds on the page.
    """
    attribute = session.schema.attributes[rule.attribute]
    texts = tuple(match.text for match in matches)
    confidence = round(lowest_confidence(matches), 3)
    if not matches and not attribute.mandatory:
        return None
    others = _minority_texts(session, page, rule, texts)
    if not matches:
        reason = "missing, though mandatory"
    elif others:
        reason = "other checks find another value"
    elif confidence <= MAX_DOUBTFUL_CONFIDENCE:
        reason = "few checks agree with it"
    elif not all(looks_typed(text, attribute.type) for text in texts):
        reason = f"does not look like a {attribute.type}"
    else:
        return None
    return DoubtfulValue(page.id, rule.attribute, texts, confidence, reason, others)


def _minority_texts(
    session: ClusterSession, page: Page, rule: Rule, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the texts that single members of the committee find on a page, besides the value.

    Each member is applied as if it were the only selector of the rule.
    """
    attribute = session.schema.attributes[rule.attribute]
    others: dict[str, None] = {}
    for member in rule.committee:
        member_rule = replace(rule, selectors=(member,), committee=())
        for match in apply_rule(member_rule, page.tree, session.wrapper, attribute):
            if match.text not in texts:
                others.setdefault(match.text)
    return tuple(others)
