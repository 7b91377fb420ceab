"""Forest: trees of many pages as one, in the order in which their parts can be computed side by side.

The cliques of the model are the triangles of a parent and two adjacent children. In the junction tree they are a
chain for each parent, and each child's own chain hangs on it. Every triangle has a step: all those of one step, on
all pages, depend on earlier steps only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from untemplate.lists.tree import Ints

__all__ = ["Forest", "Step", "plant"]


@dataclass(frozen=True, eq=False)
class Step:
    """What can be computed side by side once the steps before are done."""

    #: nodes whose triangle with their parent and the sibling before them has its turn
    nodes: Ints
    #: inner nodes all of whose children are done, after that
    ready: Ints
    #: the first children among what is ready, leaves too
    first: Ints


@dataclass(frozen=True, eq=False)
class Forest:
    """Nodes of trees, parents before children, and the steps of inference."""

    #: -1 for roots
    parent: Ints
    #: the sibling before each; -1 for first children and roots
    before: Ints
    #: the last child of each inner node; -1 for leaves
    last: Ints
    steps: list[Step]

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        return self.last < 0


def plant(parents: Sequence[Ints]) -> Forest:
    """The forest of trees given by the parent of each node, in document order; no inner node has a single child."""
    starts = np.cumsum([0, *(len(parent) for parent in parents)])
    parent = np.concatenate(
        [np.where(own < 0, -1, own + start) for own, start in zip(parents, starts, strict=False)]
        or [np.zeros(0, np.int64)]
    )
    count = len(parent)
    before, last, first = (np.full(count, -1) for _ in range(3))
    for node, around in enumerate(parent.tolist()):
        if around >= 0:
            before[node] = last[around]
            last[around] = node
            if before[node] < 0:
                first[around] = node
    step, done = np.zeros(count, np.int64), np.zeros(count, np.int64)
    following = np.full(count, -1)
    following[before[before >= 0]] = np.flatnonzero(before >= 0)
    for node in range(count - 1, -1, -1):
        child = int(first[node])
        if child >= 0:
            turn = int(done[child])
            while (child := int(following[child])) >= 0:
                turn = max(turn, int(done[child])) + 1
                step[child] = turn
            done[node] = turn
    is_first = (before < 0) & (parent >= 0)
    return Forest(
        parent,
        before,
        last,
        [
            Step(nodes, ready, firsts)
            for nodes, ready, firsts in zip(
                _by_step(step, before >= 0), _by_step(done, last >= 0), _by_step(done, is_first), strict=True
            )
        ],
    )


def _by_step(steps: Ints, chosen: npt.NDArray[np.bool_]) -> list[Ints]:
    """The chosen nodes of each step."""
    nodes = np.flatnonzero(chosen)
    nodes = nodes[np.argsort(steps[nodes], kind="stable")]
    return np.split(nodes, np.searchsorted(steps[nodes], np.arange(1, steps.max(initial=0) + 1)))
