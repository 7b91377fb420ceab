"""Bellwethers: a few pages of each cluster, remembered with the values that came out of them (Vertex IV-B).

The paper names 10 to 20 sample URLs per cluster, and what was extracted from them when the rules were made.
Departure: the surroundings of the values are remembered too, so that rules can be repaired when values move.
Later, what the rules find on fresh versions of these pages is compared with what is remembered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from random import Random
from statistics import median

from untemplate.clustering import Cluster
from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.labeling.golden import Golden, ValueFinder
from untemplate.learning import LabelsByPage, LearnedCluster, is_moderate, labels_of_page, learn_stops
from untemplate.page import Page, signature, squeeze
from untemplate.page.captions import CaptionFinder, text_before
from untemplate.page.dom import words_around
from untemplate.page.sameness import same_values
from untemplate.rules import Bellwether, Profile, Wrapper
from untemplate.rules.applying import Match, apply_wrapper
from untemplate.schema import Schema

__all__ = [
    "BELLWETHERS",
    "NAMED_LEVELS",
    "Bellwethers",
    "Comparison",
    "Evidence",
    "PagePair",
    "add_bellwethers",
    "choose_bellwethers",
    "compare_pages",
    "finish_wrapper",
    "pair_bellwethers",
    "watchable_pages",
]

BELLWETHERS = 20
"""Pages of a cluster that are watched, of the paper's 10 to 20: only many of them show what breaks on few pages."""

# Pages that bellwethers are chosen from.
MAX_CANDIDATES = 60
# Labeled pages that are always watched: their golden records are certain.
MAX_LABELED_BELLWETHERS = 5
# A value with less than this share of the usual confidence may be wrong: it does not become golden.
MIN_GOLDEN_CONFIDENCE = 0.75
# Captions and names of an attribute that are remembered; others are rare.
MAX_REMEMBERED = 8
# Captions and names are remembered if they are on at least one page in this many.
MAX_PAGES_PER_NAME = 5
# Elements above a value whose names describe it.
NAMED_LEVELS = 3


@dataclass(frozen=True)
class _Sighting:
    """What came out for an attribute of a page, and its surroundings."""

    texts: tuple[str, ...]
    selector: str
    confidence: float
    captions: frozenset[str]
    names: frozenset[str]


_Look = tuple[Page, Mapping[str, _Sighting]]
"""A page, and what came out of it by attribute."""

_Trait = tuple[str, str, float]
"""How an attribute was found on a page: the attribute, the selector, the confidence."""

PagePair = tuple[Bellwether | None, Page]
"""What is remembered of a page, if anything, and the page as it is now."""


@dataclass(frozen=True)
class Bellwethers:
    """The pages chosen to be watched, what is remembered of each, and what is usual for each attribute."""

    pages: list[Page]
    remembered: tuple[Bellwether, ...]
    profiles: dict[str, Profile]


def add_bellwethers(
    learned: LearnedCluster, cluster: Cluster, labels: LabelsByPage, schema: Schema
) -> LearnedCluster:
    """Return a learned cluster with a finished wrapper, and release its pages.

    Lists get no bellwethers: they show other records every day.
    """
    wrapper = learned.wrapper
    if not learned.is_list:
        candidates = watchable_pages(cluster, learned.labeled_pages, learned.sample_pages)
        page_labels = {page.id: labels_of_page(page, labels) for page in learned.labeled_pages}
        wrapper = finish_wrapper(wrapper, candidates, schema, page_labels)
    learned.release_pages()
    return replace(learned, wrapper=wrapper)


def finish_wrapper(wrapper: Wrapper, pages: Iterable[Page], schema: Schema, labels: LabelsByPage) -> Wrapper:
    """Return a wrapper ready for use: with bellwethers, profiles, and tags where reading may stop.

    Args:
        wrapper: new rules.
        pages: candidates for bellwethers, best first; see `watchable_pages`.
        schema: the attributes of the rules.
        labels: correct values of some pages, by page id; other pages are remembered with what the rules find.
    """
    chosen = choose_bellwethers(wrapper, pages, schema, labels)
    return replace(
        wrapper,
        stops=learn_stops(wrapper, chosen.pages, schema),
        bellwethers=chosen.remembered,
        profiles=chosen.profiles,
    )


def watchable_pages(cluster: Cluster, labeled: Sequence[Page], unlabeled: Sequence[Page]) -> Iterator[Page]:
    """Yield candidates for bellwethers: labeled pages first, then learning pages and other pages in turn.

    Learning pages are diverse; other pages reveal overfitted rules.

    Args:
        cluster: all pages of the template.
        labeled: the labeled pages that rules were learned from.
        unlabeled: the unlabeled pages that rules were learned with.
    """
    yield from labeled
    learned = {*labeled, *unlabeled}
    others = [page for page in cluster.pages if page not in learned and is_moderate(page)]
    others = Random(0).sample(others, min(len(others), MAX_CANDIDATES))
    for pair in zip_longest(unlabeled, others):
        yield from (page for page in pair if page is not None)


def choose_bellwethers(
    wrapper: Wrapper, pages: Iterable[Page], schema: Schema, labels: LabelsByPage
) -> Bellwethers:
    """Choose the pages to watch: labeled ones, then those on which the rules work in the most different ways.

    See `finish_wrapper` for the arguments. Pages that cannot be read or show nothing are skipped.
    """
    looks = list(_look_at_pages(wrapper, islice(pages, MAX_CANDIDATES), schema, labels))
    by_attribute: defaultdict[str, list[_Sighting]] = defaultdict(list)
    for _, by_name in looks:
        for name, sighting in by_name.items():
            by_attribute[name].append(sighting)
    usual = {name: _median_confidence(group) for name, group in by_attribute.items()}
    chosen = _choose_diverse(looks, labels, list(usual))
    return Bellwethers(
        [page for page, _ in chosen],
        tuple(_make_bellwether(look, usual, labels) for look in chosen),
        {name: _make_profile(group) for name, group in by_attribute.items()},
    )


def _median_confidence(sightings: Iterable[_Sighting]) -> float:
    return median(sighting.confidence for sighting in sightings)


def _look_at_pages(
    wrapper: Wrapper, pages: Iterable[Page], schema: Schema, labels: LabelsByPage
) -> Iterator[_Look]:
    for page in pages:
        with suppress(PageError):
            sightings = _look_at(wrapper, page, schema)
            if sightings or labels.get(page.id):
                yield page, sightings
        page.release()


def _look_at(wrapper: Wrapper, page: Page, schema: Schema) -> dict[str, _Sighting]:
    """Return what the rules find on a page, with the captions and names around it."""
    finder = CaptionFinder(wrapper.static_texts)
    sightings = {}
    for name, values in apply_wrapper(wrapper, page, schema.attributes).items():
        if values:
            node = values[0].node
            is_shown = node.kind != "data"  # nothing on the page surrounds embedded data
            captions = {finder.caption(node), text_before(node)} - {""} if is_shown else ()
            names = words_around(node.parent, NAMED_LEVELS) if is_shown else ()
            sightings[name] = _Sighting(
                tuple(value.text for value in values),
                values[0].rule,
                _mean_confidence(values),
                frozenset(captions),
                frozenset(names),
            )
    return sightings


def _mean_confidence(values: Sequence[Match]) -> float:
    """Return the mean confidence of values; 0 if there are none."""
    return sum(value.confidence for value in values) / len(values) if values else 0.0


def _choose_diverse(looks: Sequence[_Look], labels: LabelsByPage, attributes: Sequence[str]) -> list[_Look]:
    """Choose the first labeled pages, then one by one the page on which rules work most unlike those chosen before.

    A change that breaks few pages breaks those where a rare selector is used, where the committee is less certain, or
    where there is nothing to find.
    """
    remaining = dict(enumerate(looks))
    labeled = [number for number, (page, _) in remaining.items() if labels.get(page.id)]
    labeled = labeled[:MAX_LABELED_BELLWETHERS]
    traits = [[_trait(name, sightings.get(name)) for name in attributes] for _, sightings in looks]
    counts: Counter[_Trait] = Counter()
    chosen: list[_Look] = []
    while remaining and len(chosen) < BELLWETHERS:
        novelty = {number: _novelty(traits[number], counts) for number in remaining}
        best = labeled.pop(0) if labeled else max(novelty, key=novelty.__getitem__)
        chosen.append(remaining.pop(best))
        counts.update(traits[best])
    return chosen


def _novelty(traits: Iterable[_Trait], counts: Mapping[_Trait, int]) -> float:
    return sum(1 / (1 + counts[trait]) for trait in traits)


def _trait(attribute: str, sighting: _Sighting | None) -> _Trait:
    if sighting is None:
        return attribute, "", 0.0
    return attribute, sighting.selector, round(sighting.confidence, 1)


def _make_bellwether(look: _Look, usual: Mapping[str, float], labels: LabelsByPage) -> Bellwether:
    """Return what to remember of a page. Labels count more than what came out; doubtful values are not golden."""
    page, sightings = look
    page_labels = labels.get(page.id, ())
    labeled = {label.attribute for label in page_labels}
    gaps = {label.attribute for label in page_labels if label.is_gap}
    unsure = []
    golden = {}
    for name, sighting in sightings.items():
        if sighting.confidence < MIN_GOLDEN_CONFIDENCE * usual[name] and name not in labeled:
            unsure.append(name)
        elif name not in gaps:
            golden[name] = sighting.texts
    golden |= _labeled_values(page_labels)
    return Bellwether(page.id, page.url, signature(page.html), golden, tuple(unsure))


def _labeled_values(labels: Iterable[Label]) -> dict[str, tuple[str, ...]]:
    """Return the values that labels give; labels that only have an XPath give none."""
    values: dict[str, tuple[str, ...]] = {}
    for label in labels:
        if label.value is not None:
            values[label.attribute] = (*values.get(label.attribute, ()), squeeze(label.value))
    return values


def _make_profile(sightings: Sequence[_Sighting]) -> Profile:
    """Return what is usual for an attribute: the confidence, and the captions and names around its values."""
    captions: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for sighting in sightings:
        captions.update(sighting.captions)
        names.update(sighting.names)
    agreement = round(sum(sighting.confidence for sighting in sightings) / len(sightings), 3)
    return Profile(agreement, _frequent(captions, len(sightings)), _frequent(names, len(sightings)))


def _frequent(texts: Counter[str], pages: int) -> tuple[str, ...]:
    """Return the most frequent texts first, in an order that is the same in every process."""
    ranked = sorted(texts.items(), key=lambda item: (-item[1], item[0]))[:MAX_REMEMBERED]
    return tuple(text for text, count in ranked if MAX_PAGES_PER_NAME * count >= pages)


@dataclass(frozen=True)
class Comparison:
    """One attribute on one page: what is remembered, and what its rule finds now.

    Attributes:
        page: the page's id.
        golden: the remembered values; empty if there were none, None if nothing is remembered of the page.
        found: the values that the rule finds now.
        is_same: the values found are the remembered ones.
        is_elsewhere: the remembered values are still on the page, but the rule does not find them.
        agreement: the committee's confidence in the values found.
    """

    page: str
    golden: tuple[str, ...] | None
    found: tuple[str, ...] = ()
    is_same: bool = False
    is_elsewhere: bool = False
    agreement: float = 0.0

    @property
    def is_missing(self) -> bool:
        """True if there was a value, and now there is none."""
        return bool(self.golden) and not self.found

    @property
    def is_other(self) -> bool:
        """True if another value is found than is remembered, or one where there was none."""
        return bool(self.found) and self.golden is not None and not self.is_same

    @property
    def is_confirmed(self) -> bool:
        """True if a remembered value comes out again."""
        return self.is_same and bool(self.golden)


@dataclass(frozen=True)
class Evidence:
    """What fresh pages show about the rules of one cluster.

    Attributes:
        wrapper: the rules.
        pages: ids of all pages compared.
        watched: ids of the bellwethers among them; of all pages if there are no bellwethers.
        unlike: ids of watched pages whose structure no signature of the wrapper covers.
        comparisons: by attribute. An attribute without a rule is compared if values of it are remembered.
    """

    wrapper: Wrapper
    pages: tuple[str, ...]
    watched: tuple[str, ...]
    unlike: tuple[str, ...]
    comparisons: dict[str, list[Comparison]]

    @property
    def coverage(self) -> float:
        """The share of watched pages that still have the structure of the cluster."""
        return 1 - len(self.unlike) / len(self.watched) if self.watched else 0.0

    def confirms_a_golden_value(self) -> bool:
        """Return True if any remembered value comes out again."""
        return any(
            comparison.is_confirmed for comparisons in self.comparisons.values() for comparison in comparisons
        )


def pair_bellwethers(wrapper: Wrapper, fresh: Mapping[str, Page]) -> list[PagePair]:
    """Return the wrapper's bellwethers that have a fresh version in an index of pages."""
    pairs: list[PagePair] = []
    for bellwether in wrapper.bellwethers:
        page = fresh.get(bellwether.url) or fresh.get(bellwether.page)
        if page is not None:
            pairs.append((bellwether, page))
    return pairs


def compare_pages(wrapper: Wrapper, pairs: Iterable[PagePair], schema: Schema) -> Evidence:
    """Apply a wrapper to fresh versions of its bellwethers and to other pages, and compare.

    Args:
        wrapper: the rules to check.
        pairs: fresh pages with what is remembered of them; None for pages that are no bellwethers.
        schema: the attributes of the rules.
    """
    pairs = list(pairs)
    pages = [page for _, page in pairs]
    watched = [page for bellwether, page in pairs if bellwether] or pages
    unlike = [page for page in watched if not wrapper.matches_signature(signature(page.html))]
    comparisons: defaultdict[str, list[Comparison]] = defaultdict(list)
    for bellwether, page in pairs:
        for name, comparison in _compare_page(wrapper, bellwether, page, schema).items():
            comparisons[name].append(comparison)
    return Evidence(wrapper, _ids(pages), _ids(watched), _ids(unlike), comparisons)


def _ids(pages: Iterable[Page]) -> tuple[str, ...]:
    return tuple(page.id for page in pages)


def _compare_page(
    wrapper: Wrapper, bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    """Compare all attributes of one page; on a page that cannot be read, nothing is found."""
    try:
        comparisons = _compare_values(wrapper, bellwether, page, schema)
        return _compare_places(comparisons, bellwether, page, schema)
    except PageError:
        return {
            name: Comparison(page.id, bellwether.golden_values(name) if bellwether else None)
            for name in wrapper.rules
        }


def _compare_values(
    wrapper: Wrapper, bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    values_of = apply_wrapper(wrapper, page, schema.attributes)
    golden = bellwether.golden if bellwether else {}
    comparisons = {}
    for name in {**wrapper.rules, **golden}:
        values = values_of.get(name, [])
        remembered = bellwether.golden_values(name) if bellwether else None
        texts = tuple(value.text for value in values)
        is_same = remembered is not None and same_values(remembered, texts, schema.attributes[name].type)
        comparisons[name] = Comparison(
            page.id, remembered, texts, is_same, agreement=_mean_confidence(values)
        )
    return comparisons


def _compare_places(
    comparisons: dict[str, Comparison], bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    """Mark values that are elsewhere on the page. A page without any remembered value is about something else now."""
    if bellwether is None or not any(map(_has_changed, comparisons.values())):
        return comparisons
    present = _still_present(bellwether.golden, page, schema)
    if not present and not any(comparison.is_confirmed for comparison in comparisons.values()):
        return {name: replace(comparison, golden=None) for name, comparison in comparisons.items()}
    marked = {}
    for name, comparison in comparisons.items():
        marked[name] = replace(comparison, is_elsewhere=name in present and not comparison.is_same)
    return marked


def _has_changed(comparison: Comparison) -> bool:
    return not comparison.is_same and comparison.golden is not None


def _still_present(golden: Golden, page: Page, schema: Schema) -> set[str]:
    """Return the attributes all of whose remembered values are somewhere on the page."""
    finder = ValueFinder(page)
    present = set()
    for name, texts in golden.items():
        if all(finder.find(text, schema.attributes[name].type) for text in texts):
            present.add(name)
    return present
