"""The HCRF: a hierarchical conditional random field over the blocks of a page, and its training.

Zhu et al., "Simultaneous Record Detection and Attribute Labeling in Web Data Extraction" (KDD 2006). Training
finds the weights that make the true classes most likely, with a Gaussian prior, by L-BFGS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.lists.hcrf_blocks import (
    COMMON_SLOTS_END,
    PAIR_KINDS,
    SIMILARITY_BITS,
    SLOTS,
    STRONG_SLOTS_END,
    TRIANGLE_TYPES,
    BlockClasses,
    ObservedBlocks,
)
from untemplate.lists.hcrf_inference import (
    IMPOSSIBLE,
    Forest,
    Marginals,
    Potentials,
    best_classes,
    build_forest,
    compute_marginals,
)
from untemplate.page.arrays import Doubles, Longs

__all__ = ["ANY_PAGES", "ONE_VERTICAL", "Hcrf", "Objective", "Prior", "Weights", "train_hcrf"]

# Iterations of L-BFGS: 300 were four times as slow for 0.007 more F1 on one fold, with another prior.
MAX_ITERATIONS = 60
# Single precision is twice as fast, and enough to train with.
TRAINING_PRECISION = np.float32


class Weights(NamedTuple):
    """The weights of a model by clique; the last axes are classes."""

    #: slot of a feature, class
    vertex: Doubles
    #: whether the child is an inner block, class of the parent, of the child
    down: Doubles
    #: kind of neighbors or bit of their similarity, class of the left one, of the right one
    across: Doubles
    #: kind of neighbors, class of the parent, of the left one, of the right one
    triangle: Doubles

    @classmethod
    def zeros(cls, classes: int) -> Weights:
        """Return the weights of a model that knows nothing."""
        pair = (classes, classes)
        return cls(
            np.zeros((SLOTS, classes)),
            np.zeros((2, *pair)),
            np.zeros((PAIR_KINDS + SIMILARITY_BITS, *pair)),
            np.zeros((PAIR_KINDS, classes, *pair)),
        )

    def rounded(self) -> dict[str, npt.NDArray[np.float16]]:
        """Return the weights by name in half precision, which is enough for files."""
        return {name: part.astype(np.float16) for name, part in self._asdict().items()}

    def tables(self) -> tuple[Doubles, Doubles]:
        """Return the potentials of first children and of triangles, by type."""
        kinds = [min(kind, PAIR_KINDS - 1) for kind in range(TRIANGLE_TYPES)]
        flat = self.across.reshape(PAIR_KINDS + SIMILARITY_BITS, -1)
        across = np.stack([bits @ flat for bits in _across_weights()])
        across = across.reshape(TRIANGLE_TYPES, *self.across.shape[1:])
        down = self.down[[kind & 1 for kind in kinds]]
        return self.down, self.triangle[kinds] + across[:, None, :, :] + down[:, :, None, :]

    def gather(self, first: Doubles, triangle: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Sum counts by type over the types that share a weight: the transpose of `tables`."""
        down, joint = first.copy(), np.zeros_like(self.triangle)
        across = np.tensordot(_across_weights().T, triangle.sum(axis=1), 1)
        for number, counts in enumerate(triangle):
            kind = min(number, PAIR_KINDS - 1)
            down[kind & 1] += counts.sum(axis=1)
            joint[kind] += counts
        return down, across, joint


def _across_weights() -> Doubles:
    """Return 1 for the weights across that each triangle type uses: its kind, and its bits of similarity."""
    uses = np.zeros((TRIANGLE_TYPES, PAIR_KINDS + SIMILARITY_BITS))
    for number in range(TRIANGLE_TYPES):
        uses[number, min(number, PAIR_KINDS - 1)] = 1
        for bit in range(SIMILARITY_BITS):
            uses[number, PAIR_KINDS + bit] = max(number - PAIR_KINDS + 1, 0) >> bit & 1
    return uses


@dataclass(frozen=True, eq=False)
class Hcrf:
    """A trained model, which classifies the blocks of pages.

    `find_records(page, model=...)` names the columns of a list with it. `list_model()` returns the shipped one;
    `train(sites, schema, method="hcrf")` makes one for a schema.
    """

    classes: BlockClasses
    weights: Weights

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names that the model gives to values."""
        return self.classes.attributes

    def potentials(self, forest: Forest, pages: Sequence[ObservedBlocks]) -> Potentials:
        """Return the potentials of each clique."""
        slots = np.concatenate([page.slots for page in pages])
        counts = np.concatenate([page.counts for page in pages])
        vertex = np.add.reduceat(self.weights.vertex[slots], np.cumsum(counts) - counts)
        return self.with_vertex(forest, pages, vertex)

    def with_vertex(self, forest: Forest, pages: Sequence[ObservedBlocks], vertex: Doubles) -> Potentials:
        """Return the potentials of each clique, given those of the features of each block."""
        allowed = self.classes.allowed(forest.is_leaf)
        types = np.concatenate([page.types for page in pages])
        return Potentials(np.where(allowed > 0, vertex, IMPOSSIBLE), *self.weights.tables(), types)

    def best(self, page: ObservedBlocks) -> Longs:
        """Return the numbers of the most likely classes of all blocks of a page together."""
        forest = build_forest([page.parent])
        return best_classes(forest, self.potentials(forest, [page]))

    def marginals(self, *pages: ObservedBlocks) -> Marginals:
        """Return the probability of each class of each block, page after page; parts of pages are possible."""
        forest = build_forest([page.parent for page in pages])
        return compute_marginals(forest, self.potentials(forest, pages))

    def save(self, path: Path) -> None:
        """Write the model as plain NumPy arrays."""
        np.savez_compressed(
            path,
            **self.weights.rounded(),  # type: ignore[arg-type]
            attributes=np.array(self.classes.attributes, np.str_),
            combinations=np.array([",".join(names) for names in self.classes.combinations], np.str_),
        )

    @classmethod
    def load(cls, path: Path) -> Hcrf:
        """Return a model that was saved."""
        with np.load(path, allow_pickle=False) as arrays:
            combinations = [tuple(names.split(",")) for names in arrays["combinations"].tolist()]
            classes = BlockClasses(tuple(arrays["attributes"].tolist()), tuple(combinations))
            weights = Weights(*(arrays[name].astype(np.float64) for name in Weights._fields))
        return cls(classes, weights)


class Prior(NamedTuple):
    """The variances of the weights: in general, of features with words of a page, and of strong features."""

    general: float
    words: float
    strong: float


# Of 0.02 to 1, 0.002 to 0.2 and 4 to 20 those with the best F1 on two of five folds over the sites of `lists`.
ANY_PAGES = Prior(0.05, 0.02, 20.0)
# Sites of one vertical share more words. Of 0.02 and 20, 0.2 and 5, 0.3 and 5 the best on four sites each of auto and
# restaurant of SWDE; also better than 0.02 and 20 on made-up lists.
ONE_VERTICAL = Prior(0.05, 0.2, 5.0)


class Objective:
    """The negative log-likelihood of the true classes and its gradient, as functions of the weights in one vector.

    Weights of features that no page has are left out: they stay 0, and there are far more of them than others.
    """

    def __init__(
        self,
        classes: BlockClasses,
        pages: Sequence[ObservedBlocks],
        truth: Sequence[Longs],
        prior: Prior = ANY_PAGES,
    ) -> None:
        from scipy.sparse import csr_matrix

        self._classes, self._pages = classes, pages
        self._forest = build_forest([page.parent for page in pages])
        slots = np.concatenate([page.slots for page in pages])
        counts = np.concatenate([page.counts for page in pages])
        starts = np.concatenate([[0], np.cumsum(counts)])
        self._used, columns = np.unique(slots, return_inverse=True)
        shape = (len(counts), len(self._used))
        self._features = csr_matrix((np.ones(len(slots)), columns, starts), shape=shape)
        every = Weights.zeros(len(classes))
        self._zeros = every._replace(vertex=every.vertex[self._used])
        precision = Weights(*(np.full(part.shape, 1 / prior.general) for part in self._zeros))
        precision.vertex[self._used < STRONG_SLOTS_END] = 1 / prior.strong
        precision.vertex[self._used >= COMMON_SLOTS_END] = 1 / prior.words
        self._precision = self.flatten(precision)
        self._true_counts = self.flatten(self._count(np.concatenate(truth)))

    def _count(self, truth: Longs) -> Weights:
        """Count how often each weight is used with the true classes."""
        forest, types = self._forest, np.concatenate([page.types for page in self._pages])
        vertex = np.zeros((len(truth), len(self._classes)))
        vertex[np.arange(len(truth)), truth] = 1
        first, triangle = (np.zeros_like(table) for table in self._zeros.tables())
        nodes = forest.first_children
        np.add.at(first, (types[nodes], truth[forest.parent[nodes]], truth[nodes]), 1)
        nodes = forest.later_children
        cliques = truth[forest.parent[nodes]], truth[forest.before[nodes]], truth[nodes]
        np.add.at(triangle, (types[nodes], *cliques), 1)
        return Weights(self._features.T @ vertex, *self._zeros.gather(first, triangle))

    @property
    def start(self) -> Doubles:
        """The vector of a model that knows nothing."""
        return self.flatten(self._zeros)

    def flatten(self, weights: Weights) -> Doubles:
        """Return weights in one vector."""
        return np.concatenate([part.ravel() for part in weights])

    def all_weights(self, vector: Doubles) -> Weights:
        """Return the weights of a vector, and 0 for all features that no page has."""
        weights = self._unflatten(vector)
        vertex = Weights.zeros(len(self._classes)).vertex
        vertex[self._used] = weights.vertex
        return weights._replace(vertex=vertex)

    def _unflatten(self, vector: Doubles) -> Weights:
        """Return the weights of a vector."""
        ends = np.cumsum([part.size for part in self._zeros])
        parts = zip(np.split(vector, ends[:-1]), self._zeros, strict=True)
        return Weights(*(part.reshape(like.shape) for part, like in parts))

    def __call__(self, vector: Doubles) -> tuple[float, Doubles]:
        model = Hcrf(self._classes, self._unflatten(vector))
        potentials = model.with_vertex(self._forest, self._pages, self._features @ model.weights.vertex)
        expected = compute_marginals(self._forest, potentials.cast(TRAINING_PRECISION))
        cliques = self._zeros.gather(expected.first, expected.triangle)
        expected_counts = self.flatten(Weights(self._features.T @ expected.vertex, *cliques))
        penalty = vector @ (self._precision * vector) / 2
        loss = expected.log_partition - self._true_counts @ vector + penalty
        return float(loss), expected_counts - self._true_counts + self._precision * vector


def train_hcrf(
    classes: BlockClasses, pages: Sequence[ObservedBlocks], truth: Sequence[Longs], prior: Prior = ANY_PAGES
) -> Hcrf:
    """Return the model under which the true classes of these pages are most likely.

    Args:
        classes: the classes of the model.
        pages: pages, or records alone.
        truth: the numbers of the true classes of each page's blocks, as from `true_classes`.
        prior: the variances of the weights.
    """
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    objective = Objective(classes, pages, truth, prior)
    options = {"maxiter": MAX_ITERATIONS}
    # L-BFGS adds up vectors that are too short for threads: with them it took five to ten times the CPU time.
    with threadpool_limits(1, user_api="blas"):
        result = minimize(objective, objective.start, jac=True, method="L-BFGS-B", options=options)
    return Hcrf(classes, objective.all_weights(result.x))
