"""Models that score site-level extractors, learnt from those of training sites; and the search for the best.

A model sees the sum of its extractors' features and the mean of their pairs'. What its units take in is a sum over
attributes and pairs, so that all combinations of options are scored at once by adding arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args
from warnings import catch_warnings

import numpy as np

from untemplate.errors import MissingExtra
from untemplate.labeling.anchors.features import PAIR
from untemplate.labeling.anchors.problem import Problem
from untemplate.page.arrays import Doubles, Ints

__all__ = ["GOOD", "MODELS", "Scorer", "ScorerKind", "Solved", "learn_scorer", "solve"]

ScorerKind = Literal["LR", "NN", "SVM", "rank"]
MODELS: tuple[ScorerKind, ...] = get_args(ScorerKind)

# Units of the neural network.
UNITS = 8
# Inverse strength of the penalty on weights, by model. Swept from 0.001 to 0.1 on SWDE, four training sites: the mean
# over verticals is flat within a factor of three. If the other three choose, LR takes 0.01 or, for books, 0.001.
C: dict[ScorerKind, float] = {"LR": 0.01, "NN": 0.003, "SVM": 0.001, "rank": 0.01}
# Wrong extractors of a training site that are learnt from, besides those that are wrong in one attribute only. Of 0,
# 30, 300 and 1,000 the best by 0.01 on SWDE, which is less than one attribute of a site in each vertical.
SAMPLED = 30
# An option nearly as good as the right one is not wrong.
AS_GOOD = 0.95
# The right option has at least this F1; else the site does not have the attribute, as far as options go.
GOOD = 0.5


@dataclass(frozen=True)
class Scorer:
    """One layer of units and what they count for; a linear model is a single unit that passes on what it takes in."""

    model: ScorerKind
    weights: Doubles  # of each feature, for each unit
    bias: Doubles  # of each unit
    out: Doubles  # of each unit

    def score(self, problem: Problem) -> Doubles:
        """The score of every combination of options, an axis each attribute."""
        total = np.zeros((*problem.shape, len(self.out)))
        for number, columns in enumerate(problem.single):
            total += _spread(columns @ self.weights, (number,), total.ndim)
        for pair, columns in problem.pairs.items():
            total += _spread(columns @ self.weights[-len(PAIR) :], pair, total.ndim)
        total += self.bias
        scores: Doubles = (np.tanh(total) if self.model == "NN" else total) @ self.out
        return scores


def _spread(columns: Doubles, axes: Sequence[int], ndim: int) -> Doubles:
    """An array over some axes with all the others, the last being that of units."""
    shape = [1] * ndim
    for axis, size in zip((*axes, ndim - 1), columns.shape, strict=True):
        shape[axis] = size
    return columns.reshape(shape)


@dataclass(frozen=True)
class Solved:
    """The best site-level extractor: an option for each attribute, and what each of its options scores at best, the
    last being that the site does not have it."""

    chosen: tuple[int, ...]
    marginals: tuple[Doubles, ...]


def solve(problem: Problem, scorer: Scorer) -> Solved:
    """The best of all combinations in which every attribute has an extractor.

    That there is none counts for how sure an attribute is. If it could be chosen, whole sites that look unlike the
    training sites would get nothing.
    """
    if not problem.names:
        return Solved((), ())
    scores = scorer.score(problem)
    axes = range(scores.ndim)
    marginals = tuple(scores.max(axis=tuple(axis for axis in axes if axis != own)) for own in axes)
    there = scores[(slice(-1),) * scores.ndim]
    chosen = np.unravel_index(int(np.argmax(there)), there.shape)
    return Solved(tuple(int(one) for one in chosen), marginals)


def learn_scorer(problems: Sequence[Problem], model: ScorerKind) -> Scorer:
    """Learn from (sub-)sites: the right extractor of each against wrong ones, which weigh as much all together."""
    random = np.random.default_rng(0)
    right, wrong = [], []
    for problem in problems:
        best, others = _compared(problem, random)
        if len(others):
            right.append(problem.features_of(best))
            wrong.append(problem.features_of(others))
    features = np.concatenate([*right, *wrong])
    scale = features.std(axis=0) + 1e-3
    try:
        if model == "rank":
            pairs = np.concatenate([one - others for one, others in zip(right, wrong, strict=True)]) / scale
            coefficients = _fit_ranking(pairs)
            return Scorer(model, (coefficients / scale)[:, None], np.zeros(1), np.ones(1))
        target = np.arange(len(features)) < len(right)
        weight = np.concatenate([np.ones(len(right)), *(np.full(len(one), 1 / len(one)) for one in wrong)])
        middle = features.mean(axis=0)
        weights, bias, out = _fit_classifier(
            (features - middle) / scale, target, weight * len(weight) / weight.sum(), model
        )
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    weights = weights / scale[:, None]
    return Scorer(model, weights, bias - middle @ weights, out)


def _compared(problem: Problem, random: np.random.Generator) -> tuple[Ints, Ints]:
    """The right extractor of a site, and wrong ones: all that differ in one attribute, and others as they come."""
    quality = [np.append(one.f1, 0) for one in problem.options]
    best = np.array([np.argmax(one) if one.max() >= GOOD else len(one) - 1 for one in quality], np.int32)
    choices = [best]
    for number, size in enumerate(problem.shape):
        for option in range(size):
            choices.append(best.copy())
            choices[-1][number] = option
    sampled = np.column_stack([random.integers(0, size, SAMPLED) for size in problem.shape])
    others = np.concatenate([np.array(choices), sampled]).astype(np.int32)
    bad = np.zeros(len(others), np.bool_)
    for number, found in enumerate(quality):
        own = others[:, number]
        is_worse = (found < AS_GOOD * found[best[number]]) | (found[best[number]] == 0)
        bad |= (own != best[number]) & is_worse[own]
    return best[None], others[bad]


def _fit_ranking(differences: Doubles) -> Doubles:
    """A support vector machine for which every difference of a right and a wrong extractor is positive."""
    from sklearn.svm import LinearSVC

    sign = np.where(np.arange(len(differences)) % 2, 1, -1)
    machine = LinearSVC(C=C["rank"], fit_intercept=False, max_iter=5000, random_state=0)
    with _unconverged():
        machine.fit(differences * sign[:, None], sign)
    coefficients: Doubles = machine.coef_[0]
    return coefficients


def _fit_classifier(
    features: Doubles, target: np.ndarray, weight: Doubles, model: ScorerKind
) -> tuple[Doubles, Doubles, Doubles]:
    """Weights of units, their bias, and what they count for."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import LinearSVC

    with _unconverged():
        if model == "NN":
            network = MLPClassifier(
                (UNITS,), "tanh", solver="lbfgs", alpha=1 / C[model], max_iter=500, random_state=0
            )
            network.fit(features, target, sample_weight=weight)
            return network.coefs_[0], network.intercepts_[0], network.coefs_[1][:, 0]
        machine = (
            LogisticRegression(C=C[model], max_iter=2000)
            if model == "LR"
            else LinearSVC(C=C[model], max_iter=5000, random_state=0)
        )
        machine.fit(features, target, sample_weight=weight)
    return machine.coef_[0][:, None], np.zeros(1), np.ones(1)


def _unconverged() -> catch_warnings:
    """Fitting that ends before the last digit is good enough."""
    return catch_warnings(action="ignore")
