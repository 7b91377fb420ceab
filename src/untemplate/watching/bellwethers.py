"""Bellwethers: a few pages of each cluster, remembered with what came out of them (Vertex IV-B).

The paper names 10 to 20 sample URLs per cluster; their extractions at the time of rule creation are its golden ones.
Departure: how the values stood there is remembered too, so that rules can be repaired when they stand elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lxml import etree

from untemplate.clustering import signature
from untemplate.errors import PageError
from untemplate.extraction import Bellwether, Profile, Wrapper
from untemplate.extraction.apply import Found, apply_rule
from untemplate.extraction.neighbors import Labels as StaticLabels
from untemplate.extraction.neighbors import text_before
from untemplate.labeling import Label
from untemplate.learning import learn_stops
from untemplate.page import Page, squeeze
from untemplate.schema import Schema

__all__ = ["BELLWETHERS", "Labels", "names_around", "remember"]

Labels = Mapping[str, Sequence[Label]]
"""What is known of some pages, by page id."""

BELLWETHERS = 20
"""Pages of a cluster that are watched, of the paper's 10 to 20: what breaks on few pages is seen by many alone."""

# Labels and names of an attribute that are remembered: others are rare.
MAX_REMEMBERED = 8
# Elements above a value whose names speak of it.
NAMED_LEVELS = 3

_NAMES = ("class", "id", "itemprop", "property", "name")
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")


def remember(wrapper: Wrapper, pages: Iterable[Page], schema: Schema, given: Labels) -> Wrapper:
    """The wrapper with the first of these pages as its bellwethers, and where reading such pages may stop.

    What is golden is what came out or, of pages that have labels (by page id), what these say.
    """
    bellwethers: list[Bellwether] = []
    watched: list[Page] = []
    found: defaultdict[str, list[Found]] = defaultdict(list)
    labels: defaultdict[str, Counter[str]] = defaultdict(Counter)
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for page in pages:
        try:
            tree = page.tree
        except PageError:
            continue
        golden: dict[str, tuple[str, ...]] = {}
        before = StaticLabels(wrapper.static_texts)
        for name, rule in wrapper.rules.items():
            places = apply_rule(rule, tree, wrapper, schema.attributes[name])
            if places:
                golden[name] = tuple(place.text for place in places)
                found[name] += places
                node = places[0].node
                labels[name].update({before.of(node), text_before(node)} - {""})
                names[name].update(set(names_around(node.parent)))
        golden |= _labelled(given.get(page.id, ()))
        if golden:
            bellwethers.append(Bellwether(page.id, page.url, signature(page.html), golden))
            watched.append(page)
        page.release()
        if len(bellwethers) == BELLWETHERS:
            break
    profiles = {
        name: Profile(
            round(sum(place.confidence for place in places) / len(places), 3),
            _frequent(labels[name], len(bellwethers)),
            _frequent(names[name], len(bellwethers)),
        )
        for name, places in found.items()
    }
    stops = learn_stops(wrapper, watched, schema)
    return replace(wrapper, stops=stops, bellwethers=tuple(bellwethers), profiles=profiles)


def names_around(element: etree._Element) -> Iterator[str]:
    """The words of classes, ids and microdata of an element and those above it, in lower case."""
    for _ in range(NAMED_LEVELS):
        for name in _NAMES:
            yield from (word.lower() for word in _WORD.findall(element.get(name) or ""))
        element = element.getparent()
        if element is None:
            return


def _labelled(labels: Iterable[Label]) -> dict[str, tuple[str, ...]]:
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
