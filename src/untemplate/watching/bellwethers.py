"""Bellwethers: a few pages of each cluster, remembered with the values that came out of them (Vertex IV-B).

The paper names 10 to 20 sample URLs per cluster, and what was extracted from them when the rules were made.
Departure: the surroundings of the values are remembered too, so that rules can be repaired when values move.
Later, what the rules find on fresh versions of these pages is compared with what is remembered (`comparing.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from random import Random
from statistics import median

from untemplate.clustering import Cluster
from untemplate.errors import PageError
from untemplate.extraction.matching import WrapperIndex
from untemplate.labeling import Label
from untemplate.learning import LabelsByPage, LearnedCluster, is_moderate, labels_of_page
from untemplate.page import Page, signature, squeeze
from untemplate.page.captions import CaptionFinder, text_before
from untemplate.page.dom import words_around
from untemplate.page.same_values import same_values
from untemplate.rules import Bellwether, Profile, Wrapper
from untemplate.rules.applying import Match, apply_wrapper
from untemplate.schema import Attribute, Schema

__all__ = [
    "BELLWETHERS",
    "MIN_GOLDEN_CONFIDENCE",
    "NAMED_LEVELS",
    "Bellwethers",
    "add_bellwethers",
    "choose_bellwethers",
    "finish_wrapper",
    "mean_confidence",
    "name_watched_pages",
    "watchable_pages",
]

BELLWETHERS = 20
"""Pages of a cluster that are watched, of the paper's 10 to 20: only many of them show what breaks on few pages."""

MIN_GOLDEN_CONFIDENCE = 0.75
"""A value with less than this share of the usual confidence may be wrong: it does not become golden."""

# Pages that bellwethers are chosen from.
MAX_WATCHABLE_PAGES = 60
# Labeled pages that are always watched: their golden records are certain.
MAX_LABELED_BELLWETHERS = 5
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


_PageView = tuple[Page, Mapping[str, _Sighting]]
"""A page, and what came out of it by attribute."""

_Trait = tuple[str, str, float]
"""How an attribute was found on a page: the attribute, the selector, the confidence."""


@dataclass(frozen=True)
class Bellwethers:
    """The pages chosen to be watched, what is remembered of each, and what is usual for each attribute."""

    pages: list[Page]
    remembered: tuple[Bellwether, ...]
    profiles: dict[str, Profile]


def name_watched_pages(wrappers: Iterable[Wrapper]) -> dict[str, str]:
    """Return the templates that a person named, by the ids and URLs of their bellwethers.

    `cluster` keeps these pages together if it gets these names.
    """
    names: dict[str, str] = {}
    for wrapper in wrappers:
        if wrapper.named:
            for bellwether in wrapper.bellwethers:
                names |= dict.fromkeys(filter(None, (bellwether.page, bellwether.url)), wrapper.cluster)
    return names


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
    """Return a wrapper ready for use: with bellwethers and profiles.

    Args:
        wrapper: new rules.
        pages: candidates for bellwethers, best first; see `watchable_pages`.
        schema: the attributes of the rules.
        labels: correct values of some pages, by page id; other pages are remembered with what the rules find.
    """
    chosen = choose_bellwethers(wrapper, pages, schema, labels)
    return replace(
        wrapper,
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
    others = Random(0).sample(others, min(len(others), MAX_WATCHABLE_PAGES))
    for pair in zip_longest(unlabeled, others):
        yield from (page for page in pair if page is not None)


def choose_bellwethers(
    wrapper: Wrapper,
    pages: Iterable[Page],
    schema: Schema,
    labels: LabelsByPage,
    preferred: Collection[str] = (),
) -> Bellwethers:
    """Choose the pages to watch: labeled ones, then those on which the rules work in the most different ways.

    See `finish_wrapper` for the arguments. Pages that cannot be read, that show nothing, or to which extraction would
    not apply the rules are skipped.

    Args:
        preferred: ids of pages to choose before all others, such as those that were watched so far.
    """
    views = list(_view_pages(wrapper, islice(pages, MAX_WATCHABLE_PAGES), schema, labels))
    by_attribute: defaultdict[str, list[_Sighting]] = defaultdict(list)
    for _, by_name in views:
        for name, sighting in by_name.items():
            by_attribute[name].append(sighting)
    usual = {name: _median_confidence(group) for name, group in by_attribute.items()}
    labeled = [page.id for page, _ in views if labels.get(page.id)][:MAX_LABELED_BELLWETHERS]
    chosen = _choose_diverse(views, {*labeled, *preferred}, list(usual))
    return Bellwethers(
        [page for page, _ in chosen],
        tuple(_make_bellwether(view, usual, labels, schema) for view in chosen),
        {name: _make_profile(group) for name, group in by_attribute.items()},
    )


def _median_confidence(sightings: Iterable[_Sighting]) -> float:
    return median(sighting.confidence for sighting in sightings)


def _view_pages(
    wrapper: Wrapper, pages: Iterable[Page], schema: Schema, labels: LabelsByPage
) -> Iterator[_PageView]:
    index = WrapperIndex([wrapper])
    for page in pages:
        with page.temporarily_parsed(), suppress(PageError):
            sightings = _view_page(wrapper, page, schema)
            is_extracted = bool(sightings) and index.match(page).has_candidates
            if is_extracted or labels.get(page.id):
                yield page, sightings


def _view_page(wrapper: Wrapper, page: Page, schema: Schema) -> dict[str, _Sighting]:
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
                mean_confidence(values),
                frozenset(captions),
                frozenset(names),
            )
    return sightings


def mean_confidence(values: Sequence[Match]) -> float:
    """Return the mean confidence of values; 0 if there are none."""
    return sum(value.confidence for value in values) / len(values) if values else 0.0


def _choose_diverse(
    views: Sequence[_PageView], preferred: Collection[str], attributes: Sequence[str]
) -> list[_PageView]:
    """Choose the preferred pages, then one by one the page on which rules work most unlike those chosen before.

    A change that breaks few pages breaks those where a rare selector is used, where the committee is less certain, or
    where there is nothing to find.
    """
    remaining = dict(enumerate(views))
    first = [number for number, (page, _) in remaining.items() if page.id in preferred]
    traits = [[_trait(name, sightings.get(name)) for name in attributes] for _, sightings in views]
    counts: Counter[_Trait] = Counter()
    chosen: list[_PageView] = []
    while remaining and len(chosen) < BELLWETHERS:
        novelty = {number: _novelty(traits[number], counts) for number in remaining}
        best = first.pop(0) if first else max(novelty, key=novelty.__getitem__)
        chosen.append(remaining.pop(best))
        counts.update(traits[best])
    return chosen


def _novelty(traits: Iterable[_Trait], counts: Mapping[_Trait, int]) -> float:
    return sum(1 / (1 + counts[trait]) for trait in traits)


def _trait(attribute: str, sighting: _Sighting | None) -> _Trait:
    if sighting is None:
        return attribute, "", 0.0
    return attribute, sighting.selector, round(sighting.confidence, 1)


def _make_bellwether(
    view: _PageView, usual: Mapping[str, float], labels: LabelsByPage, schema: Schema
) -> Bellwether:
    """Return what to remember of a page: what came out, without values that are doubtful.

    A value is doubtful if the committee says so, or if the page is labeled with another one. That the rule does not
    fit its labels is a finding of `learn`; later it would look like a change of the site.
    """
    page, sightings = view
    labeled = _labeled_values(labels.get(page.id, ()))
    golden = {}
    unsure = []
    for name in {**sightings, **labeled}:
        sighting = sightings.get(name)
        texts = sighting.texts if sighting else ()
        if name in labeled:
            is_doubtful = not _fits_labels(texts, labeled[name], schema.attributes[name])
        else:
            is_doubtful = sighting is None or sighting.confidence < MIN_GOLDEN_CONFIDENCE * usual[name]
        if texts and is_doubtful:
            unsure.append(name)
        elif texts:
            golden[name] = texts
    return Bellwether(page.id, page.url, signature(page.html), golden, tuple(unsure))


def _fits_labels(texts: Sequence[str], labeled: Sequence[str], attribute: Attribute) -> bool:
    """Return True if the values found are those labeled; of a single value, labels may give several versions."""
    if attribute.many or not labeled:
        return same_values(labeled, texts, attribute.type)
    return any(same_values((version,), texts, attribute.type) for version in labeled)


def _labeled_values(labels: Iterable[Label]) -> dict[str, tuple[str, ...]]:
    """Return the values that labels give, none for gaps; labels that only have an XPath say nothing."""
    values: dict[str, tuple[str, ...]] = {}
    for label in labels:
        if label.value is not None:
            values[label.attribute] = (*values.get(label.attribute, ()), squeeze(label.value))
        elif label.is_gap:
            values.setdefault(label.attribute, ())
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
