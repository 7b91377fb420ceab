"""What the rules of a cluster find on fresh pages, beside what they found when they were learnt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from untemplate.clustering import signature
from untemplate.errors import PageError
from untemplate.extraction import Bellwether, Wrapper
from untemplate.extraction.apply import Found, apply_rule
from untemplate.labeling.golden import Sightings
from untemplate.page import Page
from untemplate.sameness import same_values
from untemplate.schema import Attribute, Schema

__all__ = ["Comparison", "Evidence", "Pair", "gather", "pair"]

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
    """What fresh pages say about a wrapper: per attribute the comparisons, and which pages look unlike before."""

    wrapper: Wrapper
    pages: tuple[str, ...]
    unlike: tuple[str, ...]  # pages that none of the wrapper's signatures covers
    unreadable: tuple[str, ...]
    comparisons: dict[str, list[Comparison]]


def pair(wrapper: Wrapper, fresh: Iterable[Page]) -> list[Pair]:
    """The wrapper's bellwethers that have a fresh version: by URL or, where that tells nothing, by id."""
    by_name: dict[str, Page] = {}
    for page in fresh:
        by_name.setdefault(page.id, page)
        if page.url:
            by_name[page.url] = page
    pairs = ((known, by_name.get(known.url) or by_name.get(known.page)) for known in wrapper.bellwethers)
    return [(known, page) for known, page in pairs if page is not None]


def gather(wrapper: Wrapper, pairs: Iterable[Pair], schema: Schema) -> Evidence:
    """Apply the wrapper to fresh versions of its bellwethers, or to pages of which nothing is remembered."""
    comparisons: dict[str, list[Comparison]] = {name: [] for name in wrapper.rules}
    pages, unlike, unreadable = [], [], []
    for known, page in pairs:
        pages.append(page.id)
        if not wrapper.knows_signature(signature(page.html)):
            unlike.append(page.id)
        try:
            compared = _compare(wrapper, known, page, schema)
        except PageError:
            unreadable.append(page.id)
            continue
        for name, comparison in compared.items():
            comparisons[name].append(comparison)
    return Evidence(wrapper, tuple(pages), tuple(unlike), tuple(unreadable), comparisons)


def _compare(wrapper: Wrapper, known: Bellwether | None, page: Page, schema: Schema) -> dict[str, Comparison]:
    sightings: Sightings | None = None
    compared = {}
    for name, rule in wrapper.rules.items():
        attribute = schema.attributes[name]
        places = apply_rule(rule, page.tree, wrapper, attribute)
        golden = None if known is None else known.golden.get(name, ())
        found = tuple(place.text for place in places)
        is_same = golden is not None and same_values(golden, found, attribute.type)
        is_elsewhere = False
        if golden and not is_same:
            sightings = sightings or Sightings(page)
            is_elsewhere = _is_anywhere(golden, sightings, attribute)
        compared[name] = Comparison(page.id, golden, found, is_same, is_elsewhere, _agreement(places))
    return compared


def _is_anywhere(golden: Sequence[str], sightings: Sightings, attribute: Attribute) -> bool:
    return all(sightings.of(text, attribute.type) for text in golden)


def _agreement(places: Sequence[Found]) -> float:
    return sum(place.confidence for place in places) / len(places) if places else 0.0
