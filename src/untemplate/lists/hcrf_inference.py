"""Exact inference of the HCRF: the junction tree algorithm in log space, with sums and with maxima.

The cliques of the model are triangles of a parent and two adjacent children. In the junction tree they form a
chain per parent, and the chain of each child is attached to it. A `Forest` orders the triangles of many pages
into steps: the triangles of a step depend on earlier steps only, so that a step is a few matrix products,
whatever its size. Collection runs the steps upwards. Distribution runs them downwards again and gives the
marginals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from untemplate.page.arrays import Bools, Doubles, Longs

__all__ = [
    "IMPOSSIBLE",
    "Forest",
    "Marginals",
    "Potentials",
    "Step",
    "best_classes",
    "build_forest",
    "compute_marginals",
]

# Steps with at most this many nodes are multiplied at once, whatever their types; larger ones type by type.
MAX_SMALL_STEP = 32
# The logarithm of the potential of classes that a node cannot have.
IMPOSSIBLE = -1e5


@dataclass(frozen=True, eq=False)
class Step:
    """Nodes that can be computed together once the steps before are done."""

    #: nodes whose triangle with their parent and the sibling before them is computed
    nodes: Longs
    #: inner nodes whose children are all done after that
    ready: Longs
    #: first children, leaves too, that are done after that
    first: Longs


@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes of trees, parents before children, and the steps of inference."""

    #: -1 for roots
    parent: Longs
    #: the sibling before each node; -1 for first children and roots
    before: Longs
    #: the last child of each inner node; -1 for leaves
    last: Longs
    steps: list[Step]

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def is_leaf(self) -> Bools:
        return self.last < 0

    @property
    def first_children(self) -> Longs:
        """The nodes that form a pair with their parent."""
        return np.flatnonzero((self.before < 0) & (self.parent >= 0))

    @property
    def later_children(self) -> Longs:
        """The nodes that form a triangle with their parent and the sibling before them."""
        return np.flatnonzero(self.before >= 0)


def build_forest(parents: Sequence[Longs]) -> Forest:
    """Return the forest of some trees.

    Args:
        parents: per tree, the parent of each node in document order, -1 for the root. No inner node has a
            single child.
    """
    parent = _join_trees(parents)
    before, last = np.full(len(parent), -1), np.full(len(parent), -1)
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            before[node] = last[above]
            last[above] = node
    step, done = _schedule(parent, before)
    is_first = (before < 0) & (parent >= 0)
    groups = zip(
        _nodes_by_step(step, before >= 0),
        _nodes_by_step(done, last >= 0),
        _nodes_by_step(done, is_first),
        strict=True,
    )
    return Forest(parent, before, last, [Step(nodes, ready, first) for nodes, ready, first in groups])


def _join_trees(parents: Sequence[Longs]) -> Longs:
    """Return the parents of all trees, numbered through."""
    joined = [np.zeros(0, np.int64)]
    start = 0
    for tree in parents:
        joined.append(np.where(tree < 0, -1, tree + start))
        start += len(tree)
    return np.concatenate(joined)


def _schedule(parent: Longs, before: Longs) -> tuple[Longs, Longs]:
    """Return the step of each node's triangle, and the step after which everything below a node is done."""
    step, done = np.zeros(len(parent), np.int64), np.zeros(len(parent), np.int64)
    later = np.flatnonzero(before >= 0)
    following, first = np.full(len(parent), -1), np.full(len(parent), -1)
    following[before[later]] = later
    first_children = np.flatnonzero((before < 0) & (parent >= 0))
    first[parent[first_children]] = first_children
    for node in range(len(parent) - 1, -1, -1):
        child = int(first[node])
        if child < 0:
            continue
        turn = int(done[child])
        while (child := int(following[child])) >= 0:
            turn = max(turn, int(done[child])) + 1
            step[child] = turn
        done[node] = turn
    return step, done


def _nodes_by_step(steps: Longs, chosen: Bools) -> list[Longs]:
    """Return the chosen nodes of each step."""
    nodes = np.flatnonzero(chosen)
    nodes = nodes[np.argsort(steps[nodes], kind="stable")]
    return np.split(nodes, np.searchsorted(steps[nodes], np.arange(1, steps.max(initial=0) + 1)))


@dataclass(frozen=True, eq=False)
class Potentials:
    """The logarithms of the potentials of a forest; those of pairs and triangles are shared by all of a type."""

    #: node, class
    vertex: Doubles
    #: of a parent and its first child: type, class of the parent, of the child
    first: Doubles
    #: of a parent and two adjacent children: type, class of the parent, of the left child, of the right child
    triangle: Doubles
    #: per node, the type of the pair or triangle in which it is the (right) child
    types: Longs

    def cast(self, dtype: npt.DTypeLike) -> Potentials:
        """Return the same potentials in another precision."""
        vertex, first, triangle = (
            cast(Doubles, table.astype(dtype)) for table in (self.vertex, self.first, self.triangle)
        )
        return Potentials(vertex, first, triangle, self.types)


class Marginals(NamedTuple):
    """The expectations of a model on a forest."""

    log_partition: float
    #: node, class: probabilities
    vertex: Doubles
    #: expected numbers of first children and of triangles, shaped as their potentials
    first: Doubles
    triangle: Doubles


def compute_marginals(forest: Forest, potentials: Potentials) -> Marginals:
    """Return the logarithm of the partition function, and the probabilities of classes."""
    messages = _Messages(forest, potentials)
    messages.collect()
    return messages.distribute()


class _Messages:
    """The sum messages of the junction tree, indexed by a class of the parent and one of the child."""

    def __init__(self, forest: Forest, potentials: Potentials) -> None:
        self.forest, self.potentials = forest, potentials
        count, classes = potentials.vertex.shape
        #: per node, of everything below it; and of its pair with the parent and everything before and below
        self.inside = potentials.vertex.copy()
        self.pairs = np.zeros((count, classes, classes), self.inside.dtype)
        #: per triangle, the scaled exponentials of its left pair, and their sums
        self.scaled = np.zeros_like(self.pairs)
        self.sums = np.ones_like(self.pairs)
        self.shift = potentials.triangle.max(axis=(1, 2, 3))
        self.factors = np.exp(potentials.triangle - self.shift[:, None, None, None])

    def collect(self) -> None:
        """Compute the messages from the leaves up to the roots."""
        forest, types = self.forest, self.potentials.types
        tiny = np.finfo(self.pairs.dtype).tiny
        for step in forest.steps:
            left = self.pairs[forest.before[step.nodes]]
            highest = left.max(axis=2, keepdims=True)
            self.scaled[step.nodes] = np.exp(left - highest)
            product = _multiply(self.scaled[step.nodes], self.factors, types[step.nodes])
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
        """Compute the marginals from the roots down to the leaves."""
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
            pairs[forest.before[step.nodes]] = self.scaled[step.nodes] * back
        first, triangle = self._expected_counts(pairs, ratios)
        return Marginals(float(totals.sum(dtype=np.float64)), vertex, first, triangle)

    def _expected_counts(self, pairs: Doubles, ratios: Doubles) -> tuple[Doubles, Doubles]:
        """Sum the marginals of pairs and triangles by type."""
        types = self.potentials.types
        first, triangle = np.zeros_like(self.potentials.first), np.zeros_like(self.potentials.triangle)
        for kind, nodes in _split_by_type(types, self.forest.first_children):
            first[kind] = pairs[nodes].sum(axis=0)
        for kind, nodes in _split_by_type(types, self.forest.later_children):
            joint = self.scaled[nodes].transpose(1, 2, 0) @ ratios[nodes].transpose(1, 0, 2)
            triangle[kind] = joint * self.factors[kind]
        return first, triangle


def best_classes(forest: Forest, potentials: Potentials) -> Longs:
    """Return the most likely classes of all nodes together."""
    count, classes = potentials.vertex.shape
    types = potentials.types
    inside = potentials.vertex.copy()
    pairs = np.zeros((count, classes, classes))
    choice = np.zeros((count, classes, classes), np.int8)
    for step in forest.steps:
        if len(step.nodes):
            left = pairs[forest.before[step.nodes]][:, :, :, None] + potentials.triangle[types[step.nodes]]
            choice[step.nodes] = left.argmax(axis=2)
            pairs[step.nodes] = left.max(axis=2) + inside[step.nodes][:, None, :]
        inside[step.ready] += pairs[forest.last[step.ready]].max(axis=2)
        pairs[step.first] = potentials.first[types[step.first]] + inside[step.first][:, None, :]
    best: Longs = inside.argmax(axis=1)
    for step in reversed(forest.steps):
        last = forest.last[step.ready]
        best[last] = pairs[last, best[step.ready]].argmax(axis=1)
        parents = best[forest.parent[step.nodes]]
        best[forest.before[step.nodes]] = choice[step.nodes, parents, best[step.nodes]]
    return best


def _multiply(left: Doubles, factors: Doubles, types: Longs) -> Doubles:
    """Multiply each node's matrix, row by row, with the factors of its type."""
    if len(left) <= MAX_SMALL_STEP:
        single: Doubles = (left[:, :, None, :] @ factors[types])[:, :, 0, :]
        return single
    product = np.empty_like(left)
    for kind, nodes in _split_by_type(types, np.arange(len(left))):
        product[nodes] = (left[nodes].transpose(1, 0, 2) @ factors[kind]).transpose(1, 0, 2)
    return product


def _split_by_type(types: Longs, nodes: Longs) -> list[tuple[int, Longs]]:
    return [(int(kind), nodes[types[nodes] == kind]) for kind in np.unique(types[nodes])]


def _log_sum(values: Doubles) -> Doubles:
    """Return the logarithm of the sum of exponentials over the last axis."""
    highest = values.max(axis=-1)
    logs: Doubles = highest + np.log(np.exp(values - highest[..., None]).sum(axis=-1))
    return logs
