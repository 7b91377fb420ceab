"""Select_Segment: each attribute of a site stands in segments of one id, near those of the other attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from lxml import etree

from untemplate.labeling.segments.segmenting import Segmented

__all__ = [
    "BETA",
    "Distance",
    "find_candidates",
    "hops_apart",
    "segments_apart",
    "select_exactly",
    "select_nearest",
    "total_distance",
]

# An attribute may stand in segments of an id if it is found in more than this share of them: the paper's β.
BETA = 0.5
# Choices that the exact search looks at, at most: then the best so far is taken.
MAX_CHOICES = 20_000

Distance = Callable[[int, int], float]
Measure = Literal["segments", "hops"]
Candidates = Mapping[int, Collection[str]]


def find_candidates(
    segments: Iterable[tuple[int, Collection[str]]], beta: float = BETA
) -> dict[int, frozenset[str]]:
    """Of each id, the attributes in more than a share `beta` of its segments; a segment is its id and labels."""
    support: Counter[int] = Counter()
    found: dict[int, Counter[str]] = {}
    for id, labels in segments:
        support[id] += 1
        found.setdefault(id, Counter()).update(set(labels))
    return {
        id: frozenset(name for name, count in counts.items() if count > beta * support[id])
        for id, counts in found.items()
    }


def select_nearest(candidates: Candidates, distance: Distance) -> dict[str, int]:
    """The paper's heuristic: of each attribute's candidates the one that is nearest to all candidates of all."""
    ids = [id for id, names in candidates.items() if names]
    weight = {e: sum(distance(e, f) * len(candidates[f]) for f in ids) for e in ids}
    names = dict.fromkeys(name for id in ids for name in sorted(candidates[id]))
    return {
        name: min((id for id in ids if name in candidates[id]), key=lambda id: weight[id]) for name in names
    }


def select_exactly(candidates: Candidates, distance: Distance) -> dict[str, int]:
    """The selection with the smallest total distance, the heuristic's if none is better: branch and bound."""
    best = select_nearest(candidates, distance)
    least = total_distance(best, distance)
    choices = {name: [id for id, names in candidates.items() if name in names] for name in best}
    order = sorted(best, key=lambda name: len(choices[name]))
    # Of each two attributes, the distances between all their choices.
    between = {
        (one, other): np.array([[distance(e, f) for f in choices[other]] for e in choices[one]])
        for number, one in enumerate(order)
        for other in order[number + 1 :]
    }
    looked_at = 0

    def extend(chosen: list[int], cost: float, added: list[npt.NDArray[np.float64]]) -> None:
        """Go through the choices of the next attribute; `added` is what those of all that are left would cost."""
        nonlocal best, least, looked_at
        if not added:
            best = {name: choices[name][number] for name, number in zip(order, chosen, strict=True)}
            least = cost
            return
        name, *others = order[len(chosen) :]
        for number in np.argsort(added[0], kind="stable").tolist():
            looked_at += 1
            if looked_at > MAX_CHOICES:
                return
            own = cost + float(added[0][number])
            rest = [
                left + between[name, other][number] for left, other in zip(added[1:], others, strict=True)
            ]
            if own + sum(float(left.min()) for left in rest) < least - 1e-9:
                extend([*chosen, number], own, rest)

    extend([], 0.0, [np.zeros(len(choices[name])) for name in order])
    return {name: best[name] for name in choices}


def total_distance(selected: Mapping[str, int], distance: Distance) -> float:
    """The sum of the distances between the segments of each two attributes: what a selection is judged by."""
    ids = list(selected.values())
    return sum(distance(e, f) for number, e in enumerate(ids) for f in ids[:number])


def segments_apart(site: Segmented) -> Distance:
    """How many segments further the segments of one id stand than those of another, on average over all pages."""
    positions: list[dict[int, int]] = [{} for _ in site.table.pages]
    for segment in site.segments:
        own = positions[segment.page]
        own[segment.id] = len(own)
    return _average(positions, lambda one, other: abs(one - other))


def hops_apart(site: Segmented) -> Distance:
    """How many steps through the tree part the first nodes of the segments of two ids, on average over all pages."""
    chains: list[dict[int, list[Hashable]]] = [{} for _ in site.table.pages]
    for segment in site.segments:
        if not segment.leaves:
            continue
        node = site.table.nodes[site.row[segment.leaves[0]]]
        above: list[etree._Element] = [*node.parent.iterancestors()]
        chains[segment.page][segment.id] = [*reversed(above), node.parent, node]

    return _average(chains, _hops)


def _hops(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a is not b:
            break
        shared += 1
    return len(one) + len(other) - 2 * shared


def _average(pages: Sequence[Mapping[int, object]], between: Callable[..., float]) -> Distance:
    """The mean over pages that have both; ids that never meet are as far apart as a page has segments."""
    far = float(max(map(len, pages), default=0))
    known: dict[tuple[int, int], float] = {}

    def distance(e: int, f: int) -> float:
        if e == f:
            return 0.0
        key = (min(e, f), max(e, f))
        if key not in known:
            both = [between(page[e], page[f]) for page in pages if e in page and f in page]
            known[key] = sum(both) / len(both) if both else far
        return known[key]

    return distance
