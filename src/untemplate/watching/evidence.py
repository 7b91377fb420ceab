"""What the rules of a cluster find on fresh pages, beside what they found when they were learnt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from untemplate.errors import PageError
from untemplate.labeling.golden import Golden, Sightings
from untemplate.page import Page, signature
from untemplate.page.sameness import same_values
from untemplate.rules import Bellwether, Wrapper
from untemplate.rules.applying import Match, apply_wrapper
from untemplate.schema import Schema

__all__ = ["Comparison", "Evidence", "Pair", "by_name", "gather", "pair"]

Pair = tuple[Bellwether | None, Page]
"""What is remembered of a page, if anything, and the page as it is now."""


@dataclass(frozen=True)
class Comparison:
    """An attribute of one page: what is remembered (None: the page is new), and what its rule finds now."""

    page: str
    golden: tuple[str, ...] | None
    found: tuple[str, ...]
    is_same: bool
    #: what is remembered still stands on the page, but the rule does not find it
    is_elsewhere: bool
    #: the committee's confidence in what is found
    agreement: float

    @property
    def is_missing(self) -> bool:
        return bool(self.golden) and not self.found

    @property
    def is_other(self) -> bool:
        """Whether another value is found than is remembered, or one where there was none."""
        return bool(self.found) and self.golden is not None and not self.is_same


@dataclass(frozen=True)
class Evidence:
    """What fresh pages say about a wrapper: which look unlike before, and comparisons of the attributes.

    An attribute that has no rule is compared if there are remembered values of it.
    """

    wrapper: Wrapper
    pages: tuple[str, ...]
    watched: tuple[str, ...]  # those of which something is remembered, or all if there are none
    unlike: tuple[str, ...]  # those of the watched ones that none of the wrapper's signatures covers
    comparisons: dict[str, list[Comparison]]

    @property
    def coverage(self) -> float:
        """The share of the watched pages that still look like the cluster's."""
        return 1 - len(self.unlike) / len(self.watched) if self.watched else 0.0


def by_name(fresh: Iterable[Page]) -> dict[str, Page]:
    """Fresh pages by URL and, where that tells nothing, by id."""
    pages: dict[str, Page] = {}
    for page in fresh:
        pages.setdefault(page.id, page)
        if page.url:
            pages[page.url] = page
    return pages


def pair(wrapper: Wrapper, fresh: Mapping[str, Page]) -> list[Pair]:
    """The wrapper's bellwethers that have a fresh version among these, which are `by_name`."""
    pairs = ((known, fresh.get(known.url) or fresh.get(known.page)) for known in wrapper.bellwethers)
    return [(known, page) for known, page in pairs if page is not None]


def gather(wrapper: Wrapper, pairs: Iterable[Pair], schema: Schema) -> Evidence:
    """Apply the wrapper to fresh versions of its bellwethers, or to pages of which nothing is remembered."""
    comparisons: defaultdict[str, list[Comparison]] = defaultdict(list)
    everything = list(pairs)
    watched = [page for known, page in everything if known] or [page for _, page in everything]
    unlike = [page.id for page in watched if not wrapper.matches_signature(signature(page.html))]
    for known, page in everything:
        try:
            compared = _compare(wrapper, known, page, schema)
        except PageError:
            compared = {name: _unreadable(name, known, page) for name in wrapper.rules}
        for name, comparison in compared.items():
            comparisons[name].append(comparison)
    pages = tuple(page.id for _, page in everything)
    return Evidence(wrapper, pages, tuple(page.id for page in watched), tuple(unlike), comparisons)


def _unreadable(name: str, known: Bellwether | None, page: Page) -> Comparison:
    return Comparison(page.id, known.golden_values(name) if known else None, (), False, False, 0.0)


def _compare(wrapper: Wrapper, known: Bellwether | None, page: Page, schema: Schema) -> dict[str, Comparison]:
    compared = {}
    golden = known.golden if known else None
    all_places = apply_wrapper(wrapper, page, schema.attributes)
    for name in {**wrapper.rules, **(golden or {})}:
        attribute, places = schema.attributes[name], all_places.get(name, [])
        before = known.golden_values(name) if known else None
        found = tuple(place.text for place in places)
        is_same = before is not None and same_values(before, found, attribute.type)
        compared[name] = Comparison(page.id, before, found, is_same, False, _agreement(places))
    if golden is None or all(one.is_same or one.golden is None for one in compared.values()):
        return compared
    seen = _seen_again(golden, page, schema)
    if not seen and not any(one.is_same and one.golden for one in compared.values()):
        return {name: replace(one, golden=None) for name, one in compared.items()}
    return {
        name: replace(one, is_elsewhere=name in seen and not one.is_same) for name, one in compared.items()
    }


def _seen_again(golden: Golden, page: Page, schema: Schema) -> set[str]:
    """The attributes all of whose remembered values stand on the page; none: it tells of something else now."""
    sightings = Sightings(page)
    return {
        name
        for name, texts in golden.items()
        if all(sightings.of(text, schema.attributes[name].type) for text in texts)
    }


def _agreement(places: Sequence[Match]) -> float:
    return sum(place.confidence for place in places) / len(places) if places else 0.0
