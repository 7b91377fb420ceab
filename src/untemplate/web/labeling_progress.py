"""What a person should do next in a session: the page to label next, and the values to review.

Vertex III-B shows the pages in the order of the sample and learns a rule after each: "if the rule is able to
successfully extract attribute values from the remaining pages in the sample, then no further annotations are
required".

Departures: the next page is the one that the rules are least sure about. Rules extract successfully from a page if
every mandatory attribute has a value (or more than half of all attributes, if none is mandatory), and most of the
committee agrees with every value. A missing value of an optional attribute does not count, because the page may not
contain it. An attribute without a rule does count, until `MIN_ABSENT_PAGES` pages are labeled as not containing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.rules import Rule
from untemplate.rules.applying import Match, apply_rule
from untemplate.value_types import looks_typed
from untemplate.web.cluster_session import ClusterSession

__all__ = [
    "DoubtfulValue",
    "LabelingProgress",
    "PageState",
    "find_doubtful_values",
    "lowest_confidence",
    "measure_progress",
]

MAX_DOUBTFUL_CONFIDENCE = 0.5
"""A value is doubtful if at most this share of the committee agrees with it."""

MIN_ABSENT_PAGES = 2
"""Pages that must be labeled as not containing an attribute before it counts as absent from the cluster."""


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


@dataclass(frozen=True)
class LabelingProgress:
    """How far the labeling of a cluster is, page by page."""

    pages: list[PageState] = field(default_factory=list)
    undecided: tuple[str, ...] = ()  # attributes without a rule that the pages may contain
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

    Labeling is done if every attribute has a rule or is absent, and the rules extract from all sample pages.
    """
    with session.lock:
        states = [_page_state(session, page) for page in session.pages]
        undecided = _undecided_attributes(session)
    unfinished = [state for state in states if not (state.is_labeled and state.is_extracted)]
    least_sure = max(unfinished, key=lambda state: state.uncertainty, default=None)
    is_extracted = all(state.is_extracted for state in states)
    return LabelingProgress(
        states,
        undecided,
        least_sure.page if least_sure else None,
        done=bool(session.rules) and not undecided and is_extracted,
    )


def _undecided_attributes(session: ClusterSession) -> tuple[str, ...]:
    """Return the attributes that have no rule, and that too few pages are labeled as not containing."""
    without_rule = [name for name in session.schema.attributes if name not in session.rules]
    return tuple(name for name in without_rule if session.count_absent(name) < MIN_ABSENT_PAGES)


def _page_state(session: ClusterSession, page: str) -> PageState:
    """Return the labels of a page, and how well the rules extract its other attributes."""
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
    """Return why the values of an attribute are doubtful, or None if they are not."""
    attribute = session.schema.attributes[rule.attribute]
    texts = tuple(match.text for match in matches)
    confidence = round(lowest_confidence(matches), 3)
    if not matches and not attribute.mandatory:
        return None
    others = _minority_texts(session, page, rule, texts)
    if not matches:
        reason = "missing, though mandatory"
    elif others:
        reason = "the committee disagrees"
    elif confidence <= MAX_DOUBTFUL_CONFIDENCE:
        reason = "few of the committee agree"
    elif not all(looks_typed(text, attribute.type) for text in texts):
        reason = f"does not look like a {attribute.type}"
    else:
        return None
    return DoubtfulValue(page.id, rule.attribute, texts, confidence, reason, others)


def _minority_texts(
    session: ClusterSession, page: Page, rule: Rule, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the texts that single members of the committee find on a page, besides the value."""
    attribute = session.schema.attributes[rule.attribute]
    others: dict[str, None] = {}
    for member in rule.committee:
        member_rule = replace(rule, selectors=(member,), committee=())
        for match in apply_rule(member_rule, page.tree, session.wrapper, attribute):
            if match.text not in texts:
                others.setdefault(match.text)
    return tuple(others)
