"""Exact inference on a forest: the junction tree algorithm in log space, with sums and with maxima.

Collection goes up the steps of the forest; distribution goes down them again and gives the marginals. A label of the
parent and one of the child index every message, so that a step is a few products of matrices, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from untemplate.labeling.records.hcrf.forest import Forest
from untemplate.labeling.records.tree import Floats, Ints

__all__ = ["NEVER", "Marginals", "Potentials", "best_labels", "marginals"]

# The logarithm of what cannot be.
NEVER = -1e5
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Potentials:
    """Logarithms of potentials; those of pairs and triangles are shared by all of a type."""

    #: node, label
    vertex: Floats
    #: of a parent and its first child: type, label of the parent, of the child
    first: Floats
    #: of a parent and two adjacent children: type, label of the parent, of the left one, of the right one
    triangle: Floats
    #: of each node the type of the pair or triangle in which it is the (right) child
    types: Ints


class Marginals(NamedTuple):
    """What a model expects of a forest."""

    log_partition: float
    #: node, label: probabilities
    vertex: Floats
    #: expected numbers of first children and of triangles, shaped as their potentials
    first: Floats
    triangle: Floats


def marginals(forest: Forest, potentials: Potentials) -> Marginals:
    """The logarithm of the partition function, and the probabilities of labels."""
    sums = _Sums(forest, potentials)
    sums.collect()
    return sums.distribute()


class _Sums:
    """Messages of sums; `pairs` are of parents and children, `inside` of all below a node."""

    def __init__(self, forest: Forest, potentials: Potentials) -> None:
        self.forest, self.potentials = forest, potentials
        count, labels = potentials.vertex.shape
        self.inside = potentials.vertex.copy()
        self.pairs = np.zeros((count, labels, labels))
        #: of each triangle what its left pair was scaled with, and the sum over it
        self.shifted = np.zeros((count, labels, labels))
        self.sums = np.ones((count, labels, labels))
        self.shift = potentials.triangle.max(axis=(1, 2, 3))
        self.factors = np.exp(potentials.triangle - self.shift[:, None, None, None])

    def collect(self) -> None:
        forest, types = self.forest, self.potentials.types
        for step in forest.steps:
            left = self.pairs[forest.before[step.nodes]]
            highest = left.max(axis=2, keepdims=True)
            self.shifted[step.nodes] = np.exp(left - highest)
            for kind, nodes in _by_type(types, step.nodes):
                product = self.shifted[nodes].transpose(1, 0, 2) @ self.factors[kind]
                self.sums[nodes] = np.maximum(product.transpose(1, 0, 2), _TINY)
            self.pairs[step.nodes] = (
                np.log(self.sums[step.nodes])
                + highest
                + self.shift[types[step.nodes]][:, None, None]
                + self.inside[step.nodes][:, None, :]
            )
            self.inside[step.ready] += _log_sum(self.pairs[forest.last[step.ready]])
            self.pairs[step.first] = (
                self.potentials.first[types[step.first]] + self.inside[step.first][:, None, :]
            )

    def distribute(self) -> Marginals:
        forest, types = self.forest, self.potentials.types
        roots = forest.parent < 0
        totals = _log_sum(self.inside[roots])
        vertex = np.zeros_like(self.inside)
        vertex[roots] = np.exp(self.inside[roots] - totals[:, None])
        pairs = np.zeros_like(self.pairs)
        first, triangle = np.zeros_like(self.potentials.first), np.zeros_like(self.potentials.triangle)
        for step in reversed(forest.steps):
            vertex[step.first] = pairs[step.first].sum(axis=1)
            np.add.at(first, types[step.first], pairs[step.first])
            last = self.pairs[forest.last[step.ready]]
            shares = np.exp(last - _log_sum(last)[:, :, None])
            pairs[forest.last[step.ready]] = vertex[step.ready][:, :, None] * shares
            vertex[step.nodes] = pairs[step.nodes].sum(axis=1)
            for kind, nodes in _by_type(types, step.nodes):
                ratio = (pairs[nodes] / self.sums[nodes]).transpose(1, 0, 2)
                left = self.shifted[nodes]
                back = (ratio @ self.factors[kind].transpose(0, 2, 1)).transpose(1, 0, 2)
                pairs[forest.before[nodes]] = left * back
                triangle[kind] += left.transpose(1, 2, 0) @ ratio * self.factors[kind]
        return Marginals(float(totals.sum()), vertex, first, triangle)


def best_labels(forest: Forest, potentials: Potentials) -> Ints:
    """The most likely labels of all nodes together."""
    count, labels = potentials.vertex.shape
    types = potentials.types
    inside = potentials.vertex.copy()
    pairs = np.zeros((count, labels, labels))
    choice = np.zeros((count, labels, labels), np.int8)
    for step in forest.steps:
        if len(step.nodes):
            left = pairs[forest.before[step.nodes]][:, :, :, None] + potentials.triangle[types[step.nodes]]
            choice[step.nodes] = left.argmax(axis=2)
            pairs[step.nodes] = left.max(axis=2) + inside[step.nodes][:, None, :]
        inside[step.ready] += pairs[forest.last[step.ready]].max(axis=2)
        pairs[step.first] = potentials.first[types[step.first]] + inside[step.first][:, None, :]
    found: Ints = inside.argmax(axis=1)
    for step in reversed(forest.steps):
        last = forest.last[step.ready]
        found[last] = pairs[last, found[step.ready]].argmax(axis=1)
        found[forest.before[step.nodes]] = choice[
            step.nodes, found[forest.parent[step.nodes]], found[step.nodes]
        ]
    return found


def _by_type(types: Ints, nodes: Ints) -> list[tuple[int, Ints]]:
    return [(int(kind), nodes[types[nodes] == kind]) for kind in np.unique(types[nodes])]


def _log_sum(values: Floats) -> Floats:
    """The logarithm of the sum of exponentials over the last axis."""
    highest = values.max(axis=-1)
    logs: Floats = highest + np.log(np.exp(values - highest[..., None]).sum(axis=-1))
    return logs
