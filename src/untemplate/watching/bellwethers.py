"""Bellwethers: a few pages of each cluster, remembered with what came out of them (Vertex IV-B).

The paper names 10 to 20 sample URLs per cluster; their extractions at the time of rule creation are its golden ones.
Departure: how the values stood there is remembered too, so that rules can be repaired when they stand elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.learning import learn_stops
from untemplate.page import Page, signature, squeeze
from untemplate.page.captions import CaptionFinder, text_before
from untemplate.rules import Bellwether, Profile, Wrapper
from untemplate.rules.applying import apply_wrapper
from untemplate.schema import Schema

__all__ = ["BELLWETHERS", "POOL", "Labels", "names_around", "remember"]

Labels = Mapping[str, Sequence[Label]]
"""What is known of some pages, by page id."""

BELLWETHERS = 20
"""Pages of a cluster that are watched, of the paper's 10 to 20: what breaks on few pages is seen by many alone."""

# The pages these are chosen from.
POOL = 60
# Of the labelled pages, so many are watched in any case: their golden records are sure.
WATCHED_LABELLED = 5
# A value that the committee is less sure of than this share of the usual may be wrong: it is not golden.
SURE_SHARE = 0.75
# Labels and names of an attribute that are remembered: others are rare.
MAX_REMEMBERED = 8
# Elements above a value whose names speak of it.
NAMED_LEVELS = 3

_NAMES = ("class", "id", "itemprop", "property", "name")
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")


@dataclass(frozen=True)
class _Seen:
    """What came out for an attribute of a page, and how it stood there."""

    texts: tuple[str, ...]
    selector: str
    confidence: float
    labels: frozenset[str]
    names: frozenset[str]


_Look = tuple[Page, Mapping[str, _Seen]]
"""A page, and what came out of it by attribute."""


def remember(wrapper: Wrapper, pages: Iterable[Page], schema: Schema, given: Labels) -> Wrapper:
    """The wrapper with some of these pages as its bellwethers: labelled ones, then those that differ most.

    It also learns where reading such pages may stop. What is golden is what came out or, of pages that have labels
    (by page id), what these say.
    """
    looks: list[_Look] = []
    for page in islice(pages, POOL):
        with suppress(PageError):
            look = (page, _look(wrapper, page, schema))
            if look[1] or given.get(page.id):
                looks.append(look)
        page.release()
    by_attribute: defaultdict[str, list[_Seen]] = defaultdict(list)
    for _, seen in looks:
        for name, one in seen.items():
            by_attribute[name].append(one)
    usual = {name: median(one.confidence for one in found) for name, found in by_attribute.items()}
    chosen = _diverse(looks, given, list(usual))
    return replace(
        wrapper,
        stops=learn_stops(wrapper, [page for page, _ in chosen], schema),
        bellwethers=tuple(_bellwether(look, usual, given) for look in chosen),
        profiles={name: _profile(found) for name, found in by_attribute.items()},
    )


def _look(wrapper: Wrapper, page: Page, schema: Schema) -> dict[str, _Seen]:
    before = CaptionFinder(wrapper.static_texts)
    seen = {}
    for name, places in apply_wrapper(wrapper, page, schema.attributes).items():
        if places:
            node = places[0].node
            seen[name] = _Seen(
                tuple(place.text for place in places),
                places[0].rule,
                sum(place.confidence for place in places) / len(places),
                frozenset((before.caption(node), text_before(node))) - {""},
                frozenset(names_around(node.parent)),
            )
    return seen


def _diverse(looks: Sequence[_Look], given: Labels, attributes: Sequence[str]) -> list[_Look]:
    """The first labelled pages, then by turns the page on which rules work most unlike on those chosen before.

    What breaks on few pages breaks where a selector is used that others do not need, where the committee is less
    sure, or where there is nothing to find.
    """
    left = dict(enumerate(looks))
    labelled = [index for index, (page, _) in left.items() if given.get(page.id)][:WATCHED_LABELLED]
    chosen: list[_Look] = []
    ways = [[_way(name, seen.get(name)) for name in attributes] for _, seen in looks]
    counts: Counter[tuple[str, str, float]] = Counter()
    while left and len(chosen) < BELLWETHERS:
        new = {index: sum(1 / (1 + counts[way]) for way in ways[index]) for index in left}
        best = labelled.pop(0) if labelled else max(left, key=lambda index: new[index])
        chosen.append(left.pop(best))
        counts.update(ways[best])
    return chosen


def _way(attribute: str, seen: _Seen | None) -> tuple[str, str, float]:
    """How an attribute was found, if it was."""
    return (attribute, seen.selector, round(seen.confidence, 1)) if seen else (attribute, "", 0.0)


def _bellwether(look: _Look, usual: Mapping[str, float], given: Labels) -> Bellwether:
    page, seen = look
    labels = given.get(page.id, ())
    labelled = {label.attribute for label in labels}
    unsure = [name for name, one in seen.items() if one.confidence < SURE_SHARE * usual[name]]
    unsure = [name for name in unsure if name not in labelled]
    gaps = {label.attribute for label in labels if label.is_gap}
    golden = {name: one.texts for name, one in seen.items() if name not in gaps and name not in unsure}
    golden |= _values(labels)
    return Bellwether(page.id, page.url, signature(page.html), golden, tuple(unsure))


def _profile(found: Sequence[_Seen]) -> Profile:
    return Profile(
        round(sum(one.confidence for one in found) / len(found), 3),
        _frequent(Counter(text for one in found for text in one.labels), len(found)),
        _frequent(Counter(name for one in found for name in one.names), len(found)),
    )


def names_around(element: etree._Element) -> Iterator[str]:
    """The words of classes, ids and microdata of an element and those above it, in lower case."""
    for _ in range(NAMED_LEVELS):
        for name in _NAMES:
            yield from (word.lower() for word in _WORD.findall(element.get(name) or ""))
        element = element.getparent()
        if element is None:
            return


def _values(labels: Iterable[Label]) -> dict[str, tuple[str, ...]]:
    """The values that labels give; those that only point to a place give none."""
    values: dict[str, tuple[str, ...]] = {}
    for label in labels:
        if label.value is not None:
            values[label.attribute] = (*values.get(label.attribute, ()), squeeze(label.value))
    return values


def _frequent(texts: Counter[str], pages: int) -> tuple[str, ...]:
    """Those on at least a fifth of the pages, the most frequent first, the same ones in every process."""
    ranked = sorted(texts.items(), key=lambda item: (-item[1], item[0]))[:MAX_REMEMBERED]
    return tuple(text for text, count in ranked if 5 * count >= pages)
