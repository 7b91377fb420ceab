"""Training: the weights that make known labels most likely, with a Gaussian prior, by L-BFGS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from untemplate.lists.hcrf.features import COMMON_SLOTS, SLOTS, TELLING_SLOTS, Observed
from untemplate.lists.hcrf.forest import plant
from untemplate.lists.hcrf.inference import marginals
from untemplate.lists.hcrf.labels import Labels
from untemplate.lists.hcrf.model import Hcrf, Weights
from untemplate.lists.tree import Floats, Ints

__all__ = ["ANY_PAGES", "ONE_VERTICAL", "Objective", "Prior", "train"]

# How many steps L-BFGS may take: 300 were four times as slow for 0.007 more of F1 on one fold, with another prior.
STEPS = 60


class Prior(NamedTuple):
    """The variance of weights in general, of those of words, and of those of features that say what a leaf is."""

    variance: float
    of_words: float
    of_telling: float


# Of 0.02 to 1, 0.002 to 0.2 and 4 to 20 those with the best kinds on two of five folds over the sites of `lists`.
ANY_PAGES = Prior(0.05, 0.02, 20.0)
# Sites of one vertical share more words. Of 0.02 and 20, 0.2 and 5, 0.3 and 5 the best on four sites each of auto and
# restaurant of SWDE; on made-up lists better than 0.02 and 20 too.
ONE_VERTICAL = Prior(0.05, 0.2, 5.0)


class Objective:
    """The negative logarithm of how likely labels are, and its slope, as functions of all weights in one vector."""

    def __init__(
        self,
        labels: Labels,
        pages: Sequence[Observed],
        truth: Sequence[Ints],
        prior: Prior = ANY_PAGES,
        is_exact: bool = False,
    ) -> None:
        from scipy.sparse import csr_matrix

        self._labels, self._pages, self._is_exact = labels, pages, is_exact
        self._forest = plant([page.parent for page in pages])
        slots = np.concatenate([page.slots for page in pages])
        counts = np.concatenate([page.counts for page in pages])
        starts = np.concatenate([[0], np.cumsum(counts)])
        self._features = csr_matrix((np.ones(len(slots)), slots, starts), shape=(len(counts), SLOTS))
        self._like = Weights.zeros(len(labels))
        precision = Weights(*(np.full(part.shape, 1 / prior.variance) for part in self._like))
        precision.vertex[:TELLING_SLOTS] = 1 / prior.of_telling
        precision.vertex[COMMON_SLOTS:] = 1 / prior.of_words
        self._precision = self.flatten(precision)
        self._seen = self.flatten(self._count(np.concatenate(truth)))

    def _count(self, truth: Ints) -> Weights:
        """How often each weight counts for the true labels."""
        forest, types = self._forest, np.concatenate([page.types for page in self._pages])
        vertex = np.zeros((len(truth), len(self._labels)))
        vertex[np.arange(len(truth)), truth] = 1
        first, triangle = (np.zeros_like(table) for table in self._like.tables())
        firsts = np.flatnonzero((forest.before < 0) & (forest.parent >= 0))
        np.add.at(first, (types[firsts], truth[forest.parent[firsts]], truth[firsts]), 1)
        others = np.flatnonzero(forest.before >= 0)
        places = truth[forest.parent[others]], truth[forest.before[others]], truth[others]
        np.add.at(triangle, (types[others], *places), 1)
        return Weights(self._features.T @ vertex, *self._like.gather(first, triangle))

    def flatten(self, weights: Weights) -> Floats:
        return np.concatenate([part.ravel() for part in weights])

    def unflatten(self, vector: Floats) -> Weights:
        ends = np.cumsum([part.size for part in self._like])
        parts = np.split(vector, ends[:-1])
        return Weights(*(own.reshape(part.shape) for own, part in zip(parts, self._like, strict=True)))

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        model = Hcrf(self._labels, self.unflatten(vector))
        potentials = model.with_vertex(self._forest, self._pages, self._features @ model.weights.vertex)
        expected = marginals(self._forest, potentials if self._is_exact else potentials.halved())
        counts = Weights(
            self._features.T @ expected.vertex, *self._like.gather(expected.first, expected.triangle)
        )
        loss = expected.log_partition - self._seen @ vector + vector @ (self._precision * vector) / 2
        return float(loss), self.flatten(counts) - self._seen + self._precision * vector


def train(labels: Labels, pages: Sequence[Observed], truth: Sequence[Ints], prior: Prior = ANY_PAGES) -> Hcrf:
    """The model under which the true labels of these pages are most likely."""
    from scipy.optimize import minimize

    objective = Objective(labels, pages, truth, prior)
    start = objective.flatten(Weights.zeros(len(labels)))
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return Hcrf(labels, objective.unflatten(found.x))
