"""Exact inference on a forest: the junction tree algorithm in log space, with sums and with maxima.

Collection goes up the steps of the forest; distribution goes down them again and gives the marginals. A label of the
parent and one of the child index every message, so that a step is a few products of matrices, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from untemplate.lists.hcrf.forest import Forest
from untemplate.lists.tree import Floats, Ints

__all__ = ["NEVER", "Marginals", "Potentials", "best_labels", "marginals"]

# So few nodes of a step are multiplied at once, whatever their types; more type by type.
FEW = 32
# The logarithm of what cannot be.
NEVER = -1e5


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

    def halved(self) -> Potentials:
        """The same in single precision: twice as fast, and enough to train with."""
        vertex, first, triangle = (
            cast(Floats, table.astype(np.float32)) for table in (self.vertex, self.first, self.triangle)
        )
        return Potentials(vertex, first, triangle, self.types)


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
        self.pairs = np.zeros((count, labels, labels), self.inside.dtype)
        #: of each triangle the exponentials of its left pair, scaled, and their sums
        self.shifted = np.zeros_like(self.pairs)
        self.sums = np.ones_like(self.pairs)
        self.shift = potentials.triangle.max(axis=(1, 2, 3))
        self.factors = np.exp(potentials.triangle - self.shift[:, None, None, None])

    def collect(self) -> None:
        forest, types = self.forest, self.potentials.types
        tiny = np.finfo(self.pairs.dtype).tiny
        for step in forest.steps:
            left = self.pairs[forest.before[step.nodes]]
            highest = left.max(axis=2, keepdims=True)
            self.shifted[step.nodes] = np.exp(left - highest)
            product = _multiply(self.shifted[step.nodes], self.factors, types[step.nodes])
            self.sums[step.nodes] = np.maximum(product, tiny)
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
        ratios = np.zeros_like(self.pairs)
        backward = self.factors.transpose(0, 1, 3, 2)
        for step in reversed(forest.steps):
            vertex[step.first] = pairs[step.first].sum(axis=1)
            last = self.pairs[forest.last[step.ready]]
            shares = np.exp(last - _log_sum(last)[:, :, None])
            pairs[forest.last[step.ready]] = vertex[step.ready][:, :, None] * shares
            vertex[step.nodes] = pairs[step.nodes].sum(axis=1)
            ratios[step.nodes] = pairs[step.nodes] / self.sums[step.nodes]
            back = _multiply(ratios[step.nodes], backward, types[step.nodes])
            pairs[forest.before[step.nodes]] = self.shifted[step.nodes] * back
        first, triangle = np.zeros_like(self.potentials.first), np.zeros_like(self.potentials.triangle)
        for kind, nodes in _by_type(types, np.flatnonzero((forest.before < 0) & (forest.parent >= 0))):
            first[kind] = pairs[nodes].sum(axis=0)
        for kind, nodes in _by_type(types, np.flatnonzero(forest.before >= 0)):
            joint = self.shifted[nodes].transpose(1, 2, 0) @ ratios[nodes].transpose(1, 0, 2)
            triangle[kind] = joint * self.factors[kind]
        return Marginals(float(totals.sum(dtype=np.float64)), vertex, first, triangle)


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


def _multiply(left: Floats, factors: Floats, types: Ints) -> Floats:
    """The product of each node's matrix, row by row, with the factors of its type."""
    if len(left) <= FEW:
        single: Floats = (left[:, :, None, :] @ factors[types])[:, :, 0, :]
        return single
    product = np.empty_like(left)
    for kind, nodes in _by_type(types, np.arange(len(left))):
        product[nodes] = (left[nodes].transpose(1, 0, 2) @ factors[kind]).transpose(1, 0, 2)
    return product


def _by_type(types: Ints, nodes: Ints) -> list[tuple[int, Ints]]:
    return [(int(kind), nodes[types[nodes] == kind]) for kind in np.unique(types[nodes])]


def _log_sum(values: Floats) -> Floats:
    """The logarithm of the sum of exponentials over the last axis."""
    highest = values.max(axis=-1)
    logs: Floats = highest + np.log(np.exp(values - highest[..., None]).sum(axis=-1))
    return logs
