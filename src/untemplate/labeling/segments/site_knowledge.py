"""Site knowledge: correct labels by what the pages of a site share.

Select_Segment: each attribute of a site is in segments with one id, near the segments of the other attributes.
Correct_Labels: segments with the same id are aligned, and each node gets the label of most nodes aligned with it.

Departures from the paper: ids compete by their expected support instead of the paper's β; the best selection is
searched by branch and bound instead of by its heuristic; attributes that the schema calls `many` may have values that
are not contiguous. `segmenting` names others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, takewhile

import numpy as np
import numpy.typing as npt

from untemplate.labeling.segments.node_crf import LeafScores
from untemplate.labeling.segments.segmenting import NOISE, SegmentedSite
from untemplate.page.arrays import Doubles, Floats, Ints, Numbered

__all__ = [
    "Distance",
    "RefinedLabels",
    "align_segments",
    "average_distance",
    "correct_labels",
    "correct_selected",
    "expected_support",
    "refine_labels",
    "segments_apart",
    "select_best",
    "select_nearest",
    "supported_candidates",
    "total_distance",
]

# An attribute is searched if it is expected on this share of the pages, in segments of the id with most support.
MIN_SUPPORT = 0.05
# Ids with less support than this share of the best one's are no candidates. The best of 0.7 to 1 on any three of four
# verticals of SWDE, with a MIN_SUPPORT of 0.05, 0.1 or 0.2.
MIN_SHARE_OF_BEST = 0.9
# A leaf with a smaller chance gets no label by itself.
MIN_LEAF_CHANCE = 0.02
# Choices that the search for the best selection tries at most; then it returns the best so far.
MAX_CHOICES = 20_000
# Longer segments keep their labels: alignment takes quadratic time and memory.
MAX_ALIGNED_NODES = 400
# More than any alignment costs.
_INFINITE = 10_000

Distance = Callable[[int, int], float]
"""The distance between the segments of two ids."""
Candidates = Mapping[int, Collection[str]]
"""The attributes that may be in the segments of each id."""
SegmentNodes = tuple[tuple[str, Hashable], ...]
"""The nodes of a segment, each its label and its path."""


@dataclass(frozen=True)
class RefinedLabels:
    """The labels of all leaves after correction.

    Attributes:
        labels: The attribute of each leaf, or noise.
        confidence: Of each attribute that is found, the share of the pages that are expected to have it where it was
            found, by the chances of the classifier.
    """

    labels: list[str]
    confidence: Mapping[str, float]


def refine_labels(
    site: SegmentedSite, scores: LeafScores, many: frozenset[str] = frozenset()
) -> RefinedLabels:
    """Return the labels of all leaves, corrected by site knowledge.

    Args:
        site: The pages of one site.
        scores: How a node classifier judges the leaves.
        many: Attributes that may have several values on a page.
    """
    scores = _silence_captions(site, scores)
    support = expected_support(site, scores)
    selected = select_best(supported_candidates(support), segments_apart(site))
    labels = correct_selected(site, _label_segments(site, scores, selected, many), selected, many)
    return RefinedLabels(labels, {name: support[name][id] for name, id in selected.items()})


def _silence_captions(site: SegmentedSite, scores: LeafScores) -> LeafScores:
    """Return the scores without chances for static text, text that ends with a colon, and mere punctuation."""
    is_value = np.array([_may_be_value(text) for text in site.texts], np.bool_)
    allowed = ~site.is_static & is_value[site.text] if len(site) else site.is_static
    return replace(scores, chances=np.where(allowed[:, None], scores.chances, 0).astype(np.float32))


def _may_be_value(text: str) -> bool:
    return not text.endswith(":") and any(map(str.isalnum, text))


Support = Mapping[str, Mapping[int, float]]
"""Of each attribute, the share of the pages that are expected to have it in their segment of each id."""


def expected_support(site: SegmentedSite, scores: LeafScores) -> Support:
    """Return the support of all ids: a segment counts with the chance of its most likely leaf."""
    sums: dict[int, Floats] = {}
    for segment in site.segments:
        if segment.leaves:
            chances = scores.chances[segment.leaves.start : segment.leaves.stop].max(axis=0)
            sums[segment.id] = sums[segment.id] + chances if segment.id in sums else chances
    pages = max(1, len(site.table.pages))
    support: dict[str, dict[int, float]] = {}
    for number, name in enumerate(scores.names):
        if name != NOISE:
            support[name] = {id: float(chances[number]) / pages for id, chances in sums.items()}
    return support


def supported_candidates(support: Support) -> dict[int, frozenset[str]]:
    """Return the attributes that may be in the segments of each id: those with nearly the most support there."""
    candidates: dict[int, set[str]] = {}
    for name, ids in support.items():
        most = max(ids.values(), default=0.0)
        for id, share in ids.items():
            if most >= MIN_SUPPORT and share >= MIN_SHARE_OF_BEST * most:
                candidates.setdefault(id, set()).add(name)
    return {id: frozenset(names) for id, names in candidates.items()}


def select_nearest(candidates: Candidates, distance: Distance) -> dict[str, int]:
    """Select for each attribute the id that is nearest to all candidates of all attributes: the paper's heuristic."""
    ids = [id for id, names in candidates.items() if names]
    weight = {id: sum(distance(id, other) * len(candidates[other]) for other in ids) for id in ids}
    nearest: dict[str, int] = {}
    for id in ids:
        for name in sorted(candidates[id]):
            if name not in nearest or weight[id] < weight[nearest[name]]:
                nearest[name] = id
    return nearest


def select_best(candidates: Candidates, distance: Distance) -> dict[str, int]:
    """Select the ids with the smallest total distance; those of the heuristic if none are better."""
    nearest = select_nearest(candidates, distance)
    if not nearest:
        return {}
    return _SelectionSearch(candidates, nearest, distance).find_best()


class _SelectionSearch:
    """Branch and bound over the ids of all attributes, those with few choices first."""

    def __init__(self, candidates: Candidates, start: Mapping[str, int], distance: Distance) -> None:
        self._choices = {name: [id for id, names in candidates.items() if name in names] for name in start}
        self._order = sorted(start, key=lambda name: len(self._choices[name]))
        # of each two attributes, the distances between all their choices
        self._between: dict[tuple[str, str], Doubles] = {}
        for first, second in combinations(self._order, 2):
            rows = [[distance(e, f) for f in self._choices[second]] for e in self._choices[first]]
            self._between[first, second] = np.array(rows)
        self._best = dict(start)
        self._least = total_distance(start, distance)
        self._tried = 0

    def find_best(self) -> dict[str, int]:
        self._extend([], 0.0, [np.zeros(len(self._choices[name])) for name in self._order])
        return {name: self._best[name] for name in self._choices}

    def _extend(self, chosen: list[int], cost: float, added: list[Doubles]) -> None:
        """Try the choices of the next attribute; `added` is what each choice of all attributes left would cost."""
        if not added:
            self._best = {
                name: self._choices[name][number] for name, number in zip(self._order, chosen, strict=True)
            }
            self._least = cost
            return
        name, *remaining = self._order[len(chosen) :]
        for number in np.argsort(added[0], kind="stable").tolist():
            self._tried += 1
            if self._tried > MAX_CHOICES:
                return
            new_cost = cost + float(added[0][number])
            new_added = [
                left + self._between[name, other][number]
                for left, other in zip(added[1:], remaining, strict=True)
            ]
            bound = new_cost + sum(float(left.min()) for left in new_added)
            if bound < self._least - 1e-9:
                self._extend([*chosen, number], new_cost, new_added)


def total_distance(selected: Mapping[str, int], distance: Distance) -> float:
    """Return the sum of the distances between the segments of each two attributes: the measure of a selection."""
    ids = list(selected.values())
    return sum(distance(later, earlier) for earlier, later in combinations(ids, 2))


def segments_apart(site: SegmentedSite) -> Distance:
    """Return the distance in segments, averaged over all pages."""
    positions: list[dict[int, int]] = [{} for _ in site.table.pages]
    for segment in site.segments:
        on_page = positions[segment.page]
        on_page[segment.id] = len(on_page)
    return average_distance(positions, lambda one, other: abs(one - other))


def average_distance(pages: Sequence[Mapping[int, object]], between: Callable[..., float]) -> Distance:
    """Return a distance averaged over the pages that have both ids.

    Ids that never meet are as far apart as a page has segments.

    Args:
        pages: For each page, the position of each id.
        between: The distance between two positions.
    """
    far = float(max(map(len, pages), default=0))
    distances: dict[tuple[int, int], float] = {}

    def distance(e: int, f: int) -> float:
        if e == f:
            return 0.0
        key = (min(e, f), max(e, f))
        if key not in distances:
            on_pages = [between(page[e], page[f]) for page in pages if e in page and f in page]
            distances[key] = sum(on_pages) / len(on_pages) if on_pages else far
        return distances[key]

    return distance


def _label_segments(
    site: SegmentedSite, scores: LeafScores, selected: Mapping[str, int], many: frozenset[str]
) -> list[str]:
    """Label the most likely leaf of each selected segment, and other leaves that are most likely the attribute.

    The others have to adjoin it, such as the second line of an address, unless the attribute may have many values.
    """
    labels, likely = [NOISE] * len(site), scores.labels
    attributes: dict[int, list[str]] = {}
    # The attribute with the highest chances comes last, so that it wins if two choose the same leaf.
    for name in sorted(selected, key=lambda name: float(_column(scores, name).sum())):
        attributes.setdefault(selected[name], []).append(name)
    for segment in site.segments:
        for name in attributes.get(segment.id, ()):
            for leaf in _choose_leaves(segment.leaves, _column(scores, name), likely, name, name in many):
                labels[leaf] = name
    return labels


def _column(scores: LeafScores, name: str) -> Floats:
    chances: Floats = scores.chances[:, scores.names.index(name)]
    return chances


def _choose_leaves(leaves: range, chances: Floats, likely: Sequence[str], name: str, many: bool) -> list[int]:
    """Return the leaves of a segment that get an attribute."""
    if not leaves:
        return []
    best = leaves.start + int(chances[leaves.start : leaves.stop].argmax())
    if chances[best] < MIN_LEAF_CHANCE:
        return []
    others = {leaf for leaf in leaves if likely[leaf] == name and chances[leaf] > 0} | {best}
    if many:
        return sorted(others)
    before = takewhile(others.__contains__, range(best - 1, leaves.start - 1, -1))
    after = takewhile(others.__contains__, range(best, leaves.stop))
    return sorted([*before, *after])


def correct_selected(
    site: SegmentedSite,
    labels: Sequence[str],
    selected: Mapping[str, int],
    many: frozenset[str] = frozenset(),
) -> list[str]:
    """Return the labels of all leaves after Correct_Labels on the segments of each selected id."""
    corrected = [*labels]
    for id in set(selected.values()):
        segments = [segment for segment in site.segments if segment.id == id]
        nodes = [_segment_nodes(site, labels, segment.leaves) for segment in segments]
        for segment, segment_labels in zip(segments, correct_labels(nodes, many), strict=True):
            corrected[segment.leaves.start : segment.leaves.stop] = segment_labels
    return corrected


def _segment_nodes(site: SegmentedSite, labels: Sequence[str], leaves: range) -> SegmentNodes:
    return tuple((labels[leaf], int(site.path[leaf])) for leaf in leaves)


def correct_labels(segments: Sequence[SegmentNodes], many: frozenset[str] = frozenset()) -> list[list[str]]:
    """Return the labels of the nodes of each segment after a vote of the nodes aligned with them.

    Only the contiguous nodes around the one with the best support keep an attribute, unless it is in `many`. Equal
    segments are aligned once.
    """
    counts = Counter(segments)
    voters = {segment: count for segment, count in counts.items() if len(segment) <= MAX_ALIGNED_NODES}
    corrected: dict[SegmentNodes, list[str]] = {}
    for segment in counts:
        labels = [label for label, _ in segment]
        support = [1] * len(labels)
        if segment in voters and len(voters) > 1:
            labels, support = _vote(segment, voters)
        corrected[segment] = _keep_contiguous(labels, support, many)
    return [list(corrected[segment]) for segment in segments]


def _vote(segment: SegmentNodes, voters: Mapping[SegmentNodes, int]) -> tuple[list[str], list[int]]:
    """Return for each node the label with most votes of the nodes aligned with it, and the number of these votes."""
    partners = align_segments(segment, list(voters))
    labels: list[str] = []
    support: list[int] = []
    for at, (label, _) in enumerate(segment):
        votes: Counter[str] = Counter({label: 0})
        for (voter, weight), partner in zip(voters.items(), partners[:, at].tolist(), strict=True):
            if partner >= 0:
                votes[voter[partner][0]] += weight
        winner, count = votes.most_common(1)[0]
        labels.append(winner)
        support.append(count)
    return labels, support


def _keep_contiguous(labels: list[str], support: list[int], many: frozenset[str]) -> list[str]:
    """Keep of each attribute the run of nodes with the highest support; its other nodes become noise."""
    runs: dict[str, list[range]] = {}
    for run in _label_runs(labels):
        label = labels[run.start]
        if label != NOISE and label not in many:
            runs.setdefault(label, []).append(run)
    kept = [*labels]
    for label_runs in runs.values():
        best = max(label_runs, key=lambda run: max(support[run.start : run.stop]))
        for run in label_runs:
            if run is not best:
                kept[run.start : run.stop] = [NOISE] * len(run)
    return kept


def _label_runs(labels: Sequence[str]) -> list[range]:
    """Return the longest ranges of equal labels."""
    starts = [at for at in range(len(labels)) if at == 0 or labels[at] != labels[at - 1]]
    return [range(start, stop) for start, stop in pairwise([*starts, len(labels)])]


def align_segments(segment: SegmentNodes, others: Sequence[SegmentNodes]) -> Ints:
    """Align a segment with others: return for each other (row) and node (column) the matched node, −1 if none.

    The alignment is a minimum sequence of edit operations: nodes are deleted, inserted, or matched at the cost of one
    if their labels differ; nodes with different paths never match. Of sequences with equal cost, the paper's: match
    rather than insert, insert rather than delete.
    """
    labels, paths = Numbered[str](), Numbered[Hashable]()
    length = max((len(other) for other in others), default=1) or 1
    # Backwards, so that the padding at the end is never reached from the start.
    own_label = np.array([labels[label] for label, _ in reversed(segment)], np.int32)
    own_path = np.array([paths[path] for _, path in reversed(segment)], np.int32)
    other_label = np.full((len(others), length), -1, np.int32)
    other_path = np.full((len(others), length), -1, np.int32)
    for number, other in enumerate(others):
        other_label[number, : len(other)] = [labels[label] for label, _ in reversed(other)]
        other_path[number, : len(other)] = [paths[path] for _, path in reversed(other)]
    step = np.arange(length + 1, dtype=np.int16)
    costs: list[npt.NDArray[np.int16]] = [np.broadcast_to(step, (len(others), length + 1))]
    matching: list[npt.NDArray[np.int16]] = []
    for number, (label, path) in enumerate(zip(own_label, own_path, strict=True), 1):
        match = np.where(other_path == path, other_label != label, _INFINITE).astype(np.int16)
        cost = np.empty((len(others), length + 1), np.int16)
        cost[:, 0] = number
        cost[:, 1:] = np.minimum(costs[-1][:, :-1] + match, costs[-1][:, 1:] + 1)
        costs.append(np.minimum.accumulate(cost - step, axis=1) + step)
        matching.append(match)
    return _trace_alignment(costs, matching, np.array([len(other) for other in others], np.int32))


def _trace_alignment(
    costs: Sequence[npt.NDArray[np.int16]], matching: Sequence[npt.NDArray[np.int16]], lengths: Ints
) -> Ints:
    """Follow the operations from the first nodes to the last, of all pairs at once."""
    number = len(matching)
    partners = np.full((len(lengths), number), -1, np.int32)
    every = np.arange(len(lengths))
    left = lengths.copy()
    for at in range(number, 0, -1):
        active = np.ones(len(lengths), np.bool_)
        while active.any():
            some = left > 0
            before = np.maximum(left - 1, 0)
            cost = costs[at][every, left]
            matched = active & some & (cost == costs[at - 1][every, before] + matching[at - 1][every, before])
            partners[matched, number - at] = (lengths - left)[matched]
            inserted = active & ~matched & some & (cost == costs[at][every, before] + 1)
            left = np.where(matched | inserted, left - 1, left)
            active = inserted
    return partners
