"""How far labelling is: which page to label next, and whether there is anything left to label.

Vertex III-B: pages are shown in the order of the sample, a rule is learnt after each, and "if the rule is able to
successfully extract attribute values from the remaining pages in the sample, then no further annotations are
required". Here the next page is the one that the rules are least sure about, and rules extract successfully from a
page when every mandatory attribute comes out (where none is mandatory, more than half) and most of the committee
agrees with every value. A gap of an optional attribute does not hold up the end: the page may lack it. An attribute
without a rule does, until a person has said of `ABSENT` pages that it is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from untemplate.web.bench import Bench

__all__ = ["SURE", "PageState", "Progress", "measure"]

SURE = 0.5
"""A value that no more than this share of the committee agrees with is doubtful."""

ABSENT = 2
"""Pages that must lack an attribute before it is taken not to be on the site's pages."""


@dataclass(frozen=True)
class PageState:
    """How one sample page stands."""

    page: str
    labelled: tuple[str, ...]  # attributes
    gaps: tuple[str, ...]  # attributes with a rule that finds nothing here and no label
    doubts: tuple[str, ...]  # attributes with a value that the committee doubts and no label
    holds: bool  # whether rules extract successfully what has no label
    doubt: float  # the higher, the less sure the rules are

    @property
    def is_labelled(self) -> bool:
        return bool(self.labelled)


@dataclass(frozen=True)
class Progress:
    """How the labelling of one cluster stands."""

    pages: list[PageState] = field(default_factory=list)
    undecided: tuple[str, ...] = ()  # attributes without a rule that may be on the pages
    next: str | None = None  # the page to label next
    done: bool = False


def measure(bench: Bench) -> Progress:
    """How the labelling of a cluster stands."""
    with bench.lock:
        states = [_state(bench, page) for page in bench.pages]
        absent = Counter(
            label.attribute for id in bench.pages for label in bench.labels_of(id) if label.is_gap
        )
    undecided = tuple(
        name for name in bench.schema.attributes if name not in bench.rules and absent[name] < ABSENT
    )
    unsettled = [state for state in states if not (state.is_labelled and state.holds)]
    best = max(unsettled, key=lambda state: state.doubt, default=None)
    done = bool(bench.rules) and not undecided and all(state.holds for state in states)
    return Progress(states, undecided, best.page if best else None, done)


def _state(bench: Bench, id: str) -> PageState:
    labelled = tuple(dict.fromkeys(label.attribute for label in bench.labels_of(id)))
    found = bench.find(bench.pages[id])
    open_names = [name for name in found if name not in labelled]
    gaps = tuple(name for name in open_names if not found[name])
    doubts = tuple(name for name in open_names if any(one.confidence <= SURE for one in found[name]))
    doubt = sum(1 - min((one.confidence for one in found[name]), default=0.0) for name in open_names)
    return PageState(id, labelled, gaps, doubts, _holds(bench, open_names, gaps, doubts), round(doubt, 6))


def _holds(bench: Bench, names: Sequence[str], gaps: Sequence[str], doubts: Sequence[str]) -> bool:
    mandatory = [name for name in names if bench.schema.attributes[name].mandatory]
    if doubts:
        return False
    if mandatory or not names:
        return not set(mandatory) & set(gaps)
    return 2 * len(gaps) < len(names)
