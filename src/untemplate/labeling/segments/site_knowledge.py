"""Site knowledge and the models of the method "segments": correct labels by what the pages of a site share.

Select_Segment: each attribute of a site is in segments with one id, near the segments of the other attributes.
Correct_Labels: segments with the same id are aligned, and each node gets the label of most nodes aligned with it.

Departures from the paper: we search the best selection by branch and bound instead of the paper's heuristic, and
attributes that the schema calls `many` may have values that are not contiguous. `segmenting` names others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from untemplate.labeling.label import Finding, Label, labels_of
from untemplate.labeling.methods import LabeledSite, StrictFile, read_model, write_model
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.segments.node_crf import (
    CRF,
    LabelerClassifier,
    NodeClassifier,
    NodeCRF,
    train_node_crf,
)
from untemplate.labeling.segments.segmenting import NOISE, SegmentedSite
from untemplate.labeling.site_templates import find_on_site
from untemplate.page import Page
from untemplate.page.arrays import Doubles, Ints, Numbered
from untemplate.schema import Schema

__all__ = [
    "BETA",
    "CorrectedSeedModel",
    "Distance",
    "SegmentsModel",
    "align_segments",
    "average_distance",
    "correct_labels",
    "correct_selected",
    "find_by_segments",
    "find_site_candidates",
    "frequent_attributes",
    "keep_selected",
    "make_findings",
    "many_valued",
    "refine_labels",
    "segments_apart",
    "select_best",
    "select_nearest",
    "total_distance",
]

# An attribute may be in segments with an id if it is in more than this share of them: the paper's β.
BETA = 0.5
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


def refine_labels(
    site: SegmentedSite, labels: Sequence[str], many: frozenset[str] = frozenset()
) -> list[str]:
    """Return the labels of all leaves, corrected by site knowledge.

    Args:
        site: The pages of one site.
        labels: The attribute of each leaf, or noise, as a node classifier judges.
        many: Attributes that may have several values on a page.
    """
    selected = select_best(find_site_candidates(site, labels), segments_apart(site))
    return correct_selected(site, keep_selected(site, labels, selected), selected, many)


def find_site_candidates(site: SegmentedSite, labels: Sequence[str]) -> dict[int, frozenset[str]]:
    """Return the attributes that may be in the segments of each id, given the labels of all leaves."""
    segments = [
        (segment.id, {labels[leaf] for leaf in segment.leaves} - {NOISE}) for segment in site.segments
    ]
    return frequent_attributes(segments)


def frequent_attributes(
    segments: Iterable[tuple[int, Collection[str]]], beta: float = BETA
) -> dict[int, frozenset[str]]:
    """Return for each id the attributes in more than a share `beta` of its segments.

    Args:
        segments: Each segment as its id and its attributes.
        beta: The share.
    """
    support: Counter[int] = Counter()
    counts: dict[int, Counter[str]] = {}
    for id, names in segments:
        support[id] += 1
        counts.setdefault(id, Counter()).update(set(names))
    return {id: _more_than(name_counts, beta * support[id]) for id, name_counts in counts.items()}


def _more_than(counts: Counter[str], limit: float) -> frozenset[str]:
    return frozenset(name for name, count in counts.items() if count > limit)


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


def keep_selected(site: SegmentedSite, labels: Sequence[str], selected: Mapping[str, int]) -> list[str]:
    """Return the labels inside the selected segments of their attributes; all others become noise."""
    kept = [*labels]
    for segment in site.segments:
        for leaf in segment.leaves:
            if selected.get(labels[leaf]) != segment.id:
                kept[leaf] = NOISE
    return kept


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


# Who says so, in labels.
SOURCE = "segments"

# An attribute counts as not found if the classifier itself gave it to a smaller share of its nodes.
MIN_CONFIDENCE = 0.5

FILE = "segments"


@dataclass(frozen=True)
class SegmentsModel:
    """A node classifier that labeled sites taught; site knowledge corrects its labels."""

    nodes: NodeCRF

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.nodes.taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> SegmentsModel:
        """Learn from labeled sites; unlabeled sites are ignored."""
        return cls(train_node_crf(sites, schema))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_by_segments(pages, self.nodes, schema)

    def save(self, folder: Path) -> None:
        """Write `segments.json` and `segments.npz`."""
        crf = self.nodes.crf
        content = {"labels": crf.labels, "features": crf.features, "taught": dict(self.nodes.taught)}
        write_model(folder, FILE, content, {"weights": crf.weights, "transitions": crf.transitions})

    @classmethod
    def load(cls, folder: Path) -> SegmentsModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _SegmentsFile)
        width = len(file.labels)
        weights = arrays.get("weights", np.float32, (len(file.features), width))
        transitions = arrays.get("transitions", np.float32, (width, width))
        return cls(NodeCRF(CRF(file.labels, file.features, weights, transitions), file.taught))


class _SegmentsFile(StrictFile):
    labels: tuple[str, ...]
    features: tuple[str, ...]
    taught: dict[str, int]


@dataclass(frozen=True)
class CorrectedSeedModel:
    """The method "seed" as node classifier: site knowledge corrects what it labels."""

    seed: SeedModel

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.seed.taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> CorrectedSeedModel:
        """Learn as the method "seed" does."""
        return cls(SeedModel.train(sites, schema, unlabeled))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_by_segments(pages, LabelerClassifier(_SeedLabeler(self.seed, schema)), schema)

    def save(self, folder: Path) -> None:
        """Write the files of the method "seed"."""
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> CorrectedSeedModel:
        """Read the files of the method "seed"."""
        return cls(SeedModel.load(folder))


@dataclass(frozen=True)
class _SeedLabeler:
    """The method "seed" as a labeler of whole sites."""

    seed: SeedModel
    schema: Schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        return labels_of(find_on_site(self.seed, pages, self.schema))


def find_by_segments(pages: Iterable[Page], classifier: NodeClassifier, schema: Schema) -> list[Finding]:
    """Return where the attributes are on pages of one site: a node classifier, corrected by site knowledge."""
    site = SegmentedSite(pages)
    classified = classifier.classify(site)
    refined = refine_labels(site, classified, many_valued(schema))
    return make_findings(site, schema, classified, refined)


def many_valued(schema: Schema) -> frozenset[str]:
    """Return the names of the attributes that may have several values."""
    return frozenset(name for name, attribute in schema.attributes.items() if attribute.many)


def make_findings(
    site: SegmentedSite, schema: Schema, classified: Sequence[str], refined: Sequence[str]
) -> list[Finding]:
    """Return a finding for each attribute of the schema.

    Args:
        site: The pages.
        schema: The attributes.
        classified: The attribute of each leaf as the node classifier judged. Where it agrees, the finding is surer.
        refined: The attribute of each leaf after correction.
    """
    return [_make_finding(site, schema, name, classified, refined) for name in schema.attributes]


def _make_finding(
    site: SegmentedSite, schema: Schema, name: str, classified: Sequence[str], refined: Sequence[str]
) -> Finding:
    leaves = [leaf for leaf, label in enumerate(refined) if label == name]
    confidence = sum(classified[leaf] == name for leaf in leaves) / max(1, len(leaves))
    rows = list(dict.fromkeys(site.row[leaves].tolist()))
    if not schema.attributes[name].many:
        rows = site.table.join_spans(rows)
    places = [(site.table.pages[site.table.page[row]], site.table.nodes[row]) for row in rows]
    coverage = len(np.unique(site.page[leaves])) / max(1, len(site.table.pages))
    is_found = bool(leaves) and confidence >= MIN_CONFIDENCE
    return Finding(name, confidence, places, coverage, is_found, SOURCE)
