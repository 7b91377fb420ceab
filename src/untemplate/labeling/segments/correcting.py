"""Correct_Labels: segments of one id are aligned, and each node takes the label that most of its kind have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from untemplate.page.arrays import Ints, Numbered

__all__ = ["NOISE", "align", "correct_labels"]

# The label of what holds no attribute.
NOISE = ""
# Longer segments keep their labels: aligning takes time and memory by the square.
MAX_NODES = 400
# More than any alignment costs.
_INFINITE = 10_000

Sequences = Sequence[tuple[tuple[str, Hashable], ...]]
"""Segments, each its nodes' labels and paths."""


def correct_labels(segments: Sequences, many: frozenset[str] = frozenset()) -> list[list[str]]:
    """The labels of each segment's nodes after a vote of the nodes aligned with them.

    Of an attribute only the contiguous nodes around the one with the best support are kept, but for those in `many`,
    which may have several values. Segments that are alike are aligned once.
    """
    counts = Counter(segments)
    short = [segment for segment in counts if len(segment) <= MAX_NODES]
    weights = np.array([counts[segment] for segment in short], np.int64)
    corrected: dict[tuple[tuple[str, Hashable], ...], list[str]] = {}
    for segment in counts:
        labels = [label for label, _ in segment]
        support = [1] * len(labels)
        if len(segment) <= MAX_NODES and len(short) > 1:
            partners = align(segment, short)
            for at, own in enumerate(labels):
                votes: Counter[str] = Counter({own: 0})
                for other, weight, partner in zip(
                    short, weights.tolist(), partners[:, at].tolist(), strict=True
                ):
                    if partner >= 0:
                        votes[other[partner][0]] += weight
                labels[at], support[at] = votes.most_common(1)[0]
        corrected[segment] = _contiguous(labels, support, many)
    return [list(corrected[segment]) for segment in segments]


def _contiguous(labels: list[str], support: list[int], many: frozenset[str]) -> list[str]:
    """Of each attribute only the nodes in a row with the one of the highest support; the others are noise."""
    runs: dict[str, list[list[int]]] = {}
    for at, label in enumerate(labels):
        if label == NOISE or label in many:
            continue
        own = runs.setdefault(label, [])
        if own and own[-1][-1] == at - 1:
            own[-1].append(at)
        else:
            own.append([at])
    kept = [*labels]
    for own in runs.values():
        best = max(own, key=lambda run: max(support[at] for at in run))
        for run in own:
            if run is not best:
                for at in run:
                    kept[at] = NOISE
    return kept


def align(own: tuple[tuple[str, Hashable], ...], others: Sequences) -> Ints:
    """Of each other segment (a row) and node of its own (a column): the other's node matched with it, −1 if deleted.

    They come from a minimum sequence of edit operations: nodes are deleted, inserted, or matched at the cost of one
    if their labels differ; those of different paths never match. Of sequences alike in cost, the paper's: match
    rather than insert, insert rather than delete.
    """
    labels, paths = Numbered[str](), Numbered[Hashable]()
    length = max((len(other) for other in others), default=1) or 1
    # Backwards, so that what is padded at the end is never reached from the start.
    own_label = np.array([labels[label] for label, _ in reversed(own)], np.int32)
    own_path = np.array([paths[path] for _, path in reversed(own)], np.int32)
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
    return _trace(costs, matching, np.array([len(other) for other in others], np.int32))


def _trace(
    costs: Sequence[npt.NDArray[np.int16]], matching: Sequence[npt.NDArray[np.int16]], lengths: Ints
) -> Ints:
    """The operations from the first nodes to the last, of all pairs at once."""
    number = len(matching)
    partners = np.full((len(lengths), number), -1, np.int32)
    every = np.arange(len(lengths))
    left = lengths.copy()
    for at in range(number, 0, -1):
        active = np.ones(len(lengths), np.bool_)
        while active.any():
            some = left > 0
            before = np.maximum(left - 1, 0)
            here = costs[at][every, left]
            matched = active & some & (here == costs[at - 1][every, before] + matching[at - 1][every, before])
            partners[matched, number - at] = (lengths - left)[matched]
            inserted = active & ~matched & some & (here == costs[at][every, before] + 1)
            left = np.where(matched | inserted, left - 1, left)
            active = inserted
    return partners
