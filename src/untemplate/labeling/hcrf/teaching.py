"""Lessons of detail pages: labels of seed sites become labelled blocks, and these a model."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from untemplate.labeling.hcrf.details import Detail, read_details
from untemplate.labeling.hcrf.places import Place
from untemplate.labeling.label import Label
from untemplate.lists.block_classes import BlockClasses, attributes_inside, true_classes
from untemplate.lists.hcrf import ONE_VERTICAL, Hcrf, train_hcrf
from untemplate.page import Page, nodes_at, squeeze
from untemplate.schema import Schema

__all__ = ["Lesson", "learn_details", "teach"]

# Pages of a seed site that are read together. So many of all sites teach, but of each site some at least: more of a
# template teach little.
READ, ALL, SOME = 12, 27, 3
# A value is in a leaf that says little more: it is at least this share of its letters.
MOSTLY = 0.5
# A text that is a label's value here and there by chance teaches nothing: of the leaves of its place that are on
# labelled pages at least this share must hold the attribute.
CONSISTENT = 0.5


@dataclass(frozen=True, eq=False)
class Lesson:
    """A detail page whose leaves are labelled."""

    detail: Detail
    values: dict[int, str]

    @cached_property
    def sets(self) -> list[frozenset[str]]:
        return attributes_inside(self.detail.scene.vision, self.values)

    @property
    def record(self) -> int:
        """The smallest block that holds all values."""
        vision = self.detail.scene.vision
        return max(
            (b for b in range(len(vision)) if vision.children[b] and self.sets[b] == self.sets[0]), default=0
        )


def teach(pages: Sequence[Page], labels: Iterable[Label], schema: Schema) -> list[Lesson]:
    """The lessons of a seed site, of pages spread over it: those on which most attributes are found come first."""
    given: dict[str, list[Label]] = {}
    for label in labels:
        if label.record is None and label.attribute in schema.attributes and not label.is_gap:
            given.setdefault(label.page, []).append(label)
    own = [
        [*given.get(page.id, ()), *(given.get(page.url, ()) if page.url != page.id else ())] for page in pages
    ]
    known = {id(page): found for page, found in zip(pages, own, strict=True) if found}
    labelled = [page for page in pages if id(page) in known]
    others = [page for page in pages if id(page) not in known]
    chosen = _spread(labelled, READ)
    details = read_details([*chosen, *_spread(others, READ - len(chosen))])
    located = [(detail, _locate(detail, known.get(id(detail.page), ()))) for detail in details]
    taught = _consistent([(detail, values) for detail, values in located if values])
    lessons = [Lesson(detail, values) for detail, values in taught if values]
    return sorted(lessons, key=lambda one: -len(one.sets[0]))


def _spread(pages: Sequence[Page], count: int) -> list[Page]:
    """So many of the pages at most, evenly spread."""
    return [pages[n * len(pages) // count] for n in range(count)] if len(pages) > count else [*pages]


def _locate(detail: Detail, labels: Iterable[Label]) -> dict[int, str]:
    """The leaves that labels mean: the pinned ones, all with the same text, else the shortest around it."""
    found: dict[int, str] = {}
    texts = {leaf: detail.scene.texts[leaf] for leaf in detail.places.values()}
    for label in labels:
        if label.xpath is not None:
            leaves = _pinned(detail, label.xpath)
        else:
            value = squeeze(html.unescape(label.value or ""))
            leaves = [leaf for leaf, text in texts.items() if text == value]
            if not leaves:
                around = [(len(text), leaf) for leaf, text in texts.items() if value in text]
                leaves = [leaf for size, leaf in sorted(around)[:1] if len(value) >= MOSTLY * size]
        for leaf in leaves:
            found.setdefault(leaf, label.attribute)
    return found


def _pinned(detail: Detail, xpath: str) -> list[int]:
    """The leaves of the nodes that an XPath selects, or of the first text in elements."""
    found: list[int] = []
    for element, kind in nodes_at(detail.page.tree, xpath):
        if kind == "element":
            inside = set(element.iter())
            found += [leaf for leaf, node in detail.nodes.items() if node.parent in inside][:1]
        else:
            own = ((leaf, node) for leaf, node in detail.nodes.items() if node.kind == kind)
            found += [leaf for leaf, node in own if node.element is element]
    return found


def _consistent(located: Sequence[tuple[Detail, dict[int, str]]]) -> list[tuple[Detail, dict[int, str]]]:
    """What was located, without places that say a value here and there by chance."""
    total: Counter[Place] = Counter()
    held: Counter[tuple[Place, str]] = Counter()
    for detail, values in located:
        total.update(detail.places.keys())
        held.update((place, values[leaf]) for place, leaf in detail.places.items() if leaf in values)
    return [
        (
            detail,
            {
                leaf: name
                for place, leaf in detail.places.items()
                if (name := values.get(leaf)) and held[place, name] >= CONSISTENT * total[place]
            },
        )
        for detail, values in located
    ]


def learn_details(sites: Sequence[Sequence[Lesson]], schema: Schema) -> Hcrf:
    """A model of a vertical's detail pages, from the lessons of sites."""
    lessons = [one for own in sites for one in own[: max(SOME, ALL // len(sites))]]
    names = [name for name in schema.attributes if any(name in one.sets[0] for one in lessons)]
    seen: list[frozenset[str]] = []
    for one in lessons:
        vision, record = one.detail.scene.vision, one.record
        inside = range(record + 1, int(vision.end[record]))
        seen += [one.sets[block] for block in inside if vision.children[block]]
    labels = BlockClasses.choose(names, seen)
    truth = [
        true_classes(labels, one.detail.scene.profile, one.detail.scene.vision, [one.record], one.values)
        for one in lessons
    ]
    observed = [one.detail.observed for one in lessons]
    return train_hcrf(labels, observed, truth, ONE_VERTICAL)
