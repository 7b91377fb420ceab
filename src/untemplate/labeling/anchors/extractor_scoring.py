"""Score combinations of extractors, choose the best one, and learn to score from training sites.

A scorer gets the sum of the features of the extractors, and the mean of the features of their pairs. Both are sums
over attributes and pairs, so all combinations of options are scored at once by adding arrays.

Scorers are learned by one of the paper's four models. Logistic regression is the default: when it was chosen, it was
the best on average over the verticals of SWDE, and over any three of them, so that none chose its own. The paper's
multi-class loss (equation 4) and its ranking by graded F1 are not implemented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args
from warnings import catch_warnings

import numpy as np

from untemplate.errors import MissingExtra
from untemplate.labeling.anchors.extractor_options import (
    FEATURE_SETS,
    PAIR_FEATURES,
    AttributeOptions,
    ChoiceProblem,
    FeatureName,
    FeatureSet,
    Orders,
    make_problem,
)
from untemplate.page.arrays import Bools, Doubles, Ints

__all__ = [
    "MAX_ATTRIBUTES",
    "MIN_RIGHT_F1",
    "SCORERS",
    "BestChoice",
    "ChosenExtractor",
    "NeuralScorer",
    "Scorer",
    "ScorerKind",
    "TrainingVectors",
    "choose_best",
    "choose_extractors",
    "collect_vectors",
    "learn_scorer",
    "make_scorer",
    "options_per_attribute",
]

ScorerKind = Literal["LR", "NN", "SVM", "rank"]
SCORERS: tuple[ScorerKind, ...] = get_args(ScorerKind)
"""Logistic regression, a neural network, a support vector machine, and one that ranks."""

# Combinations of options that are scored at once, at most; and options of an attribute, at most.
MAX_COMBINATIONS = 100_000
MAX_OPTIONS = 15
# Attributes that are chosen at once; more are chosen in blocks, each given the blocks before.
MAX_ATTRIBUTES = 8
# Exponentials of more overflow.
MAX_EXPONENT = 500.0
# Wrong combinations of a training site that are learned from, besides those that are wrong in one attribute only.
# Of 0, 30, 300 and 1,000 the best by 0.01 on SWDE, which is less than one attribute of a site in each vertical.
RANDOM_COMBINATIONS = 30
# An option with at least this part of the best option's F1 is not wrong.
MIN_EQUAL_SHARE = 0.95
# The right option has at least this F1; else none of the options is right.
MIN_RIGHT_F1 = 0.5
# Units of the neural network.
UNITS = 8
# Inverse strength of the penalty on weights. Swept from 0.001 to 0.1 on SWDE, four training sites: the mean over
# verticals is flat within a factor of three. If the other three verticals choose, they take 0.01 for logistic
# regression or, for books, 0.001.
PENALTY: dict[ScorerKind, float] = {"LR": 0.01, "NN": 0.003, "SVM": 0.001, "rank": 0.01}
# Factors of scores before they become probabilities: by themselves they are none. Swept from 0.5 to 30 for the
# likelihood of what is right on SWDE; between half and twice as much there is little difference.
SHARPNESS: dict[ScorerKind, float] = {"LR": 8.0, "NN": 20.0, "SVM": 20.0, "rank": 8.0}


@dataclass(frozen=True)
class Scorer:
    """A linear model with one unit; a variant with several units and an activation subclasses it.

    Attributes:
        features: The features of one extractor.
        weights: Of each feature, for each unit.
        bias: Of each unit.
        out: The weight of each unit.
        sharpness: Factor of scores before they become probabilities.
    """

    features: FeatureSet
    weights: Doubles
    bias: Doubles
    out: Doubles
    sharpness: float

    def score(self, problem: ChoiceProblem) -> Doubles:
        """Return the score of every combination of options: an array with an axis per attribute."""
        total = np.zeros((*problem.shape, len(self.out)))
        for number, columns in enumerate(problem.single):
            total += _expand_axes(columns @ self.weights, (number,), total.ndim)
        for pair, columns in problem.pairs.items():
            total += _expand_axes(columns @ self.weights[-len(PAIR_FEATURES) :], pair, total.ndim)
        total += self.bias
        scores: Doubles = self.activate(total) @ self.out
        return scores

    def activate(self, total: Doubles) -> Doubles:
        """Return what the units put out, given the sums of their inputs."""
        return total

    def confidence(self, scores: Doubles, best: int) -> float:
        """Return the probability of one option: its share of the exponentials of all scores."""
        above = np.minimum(self.sharpness * (scores - scores[best]), MAX_EXPONENT)
        return float(1 / np.exp(above).sum())


def _expand_axes(columns: Doubles, axes: Sequence[int], ndim: int) -> Doubles:
    """Return an array over some axes and the units as one over all axes; the last axis is that of the units."""
    shape = [1] * ndim
    for axis, size in zip((*axes, ndim - 1), columns.shape, strict=True):
        shape[axis] = size
    return columns.reshape(shape)


@dataclass(frozen=True)
class ChosenExtractor:
    """The rows of an attribute's extractor, at most one per page, and the probability that it is right."""

    rows: Ints
    confidence: float


def choose_extractors(
    options: Mapping[str, AttributeOptions], orders: Orders, scorer: Scorer
) -> dict[str, ChosenExtractor]:
    """Return the extractors of the best combination of options."""
    chosen: dict[str, ChosenExtractor] = {}
    decided: dict[str, Ints] = {}
    names = list(options)
    for first in range(0, len(names), MAX_ATTRIBUTES):
        block = {name: options[name] for name in names[first : first + MAX_ATTRIBUTES]}
        count = options_per_attribute(len(block))
        problem = make_problem(block, orders, scorer.features, count, decided)
        choice = choose_best(problem, scorer)
        for number, name in enumerate(block):
            best = choice.options[number]
            rows = problem.options[number].rows[best]
            confidence = scorer.confidence(choice.best_scores[number], best)
            chosen[name] = ChosenExtractor(rows[rows >= 0], confidence)
            decided[name] = problem.options[number].leaves[best]
    return chosen


def options_per_attribute(attributes: int) -> int:
    """Return the number of options per attribute that does not make too many combinations."""
    return max(1, min(MAX_OPTIONS, int(MAX_COMBINATIONS ** (1 / attributes) + 1e-9) - 1))


@dataclass(frozen=True)
class BestChoice:
    """The best combination.

    Attributes:
        options: The number of an option for each attribute.
        best_scores: For each attribute, the best score with each of its options; the last is that the site lacks it.
    """

    options: tuple[int, ...]
    best_scores: tuple[Doubles, ...]


def choose_best(problem: ChoiceProblem, scorer: Scorer) -> BestChoice:
    """Return the best of all combinations in which every attribute has an extractor.

    That the site lacks an attribute only makes its extractor less sure. If it could be chosen, sites that look
    unlike the training sites would get no extractors at all.
    """
    if not problem.names:
        return BestChoice((), ())
    scores = scorer.score(problem)
    axes = set(range(scores.ndim))
    best_scores = tuple(scores.max(axis=tuple(axes - {axis})) for axis in sorted(axes))
    complete = scores[(slice(-1),) * scores.ndim]
    best = np.unravel_index(int(np.argmax(complete)), complete.shape)
    return BestChoice(tuple(int(option) for option in best), best_scores)


@dataclass(frozen=True)
class TrainingVectors:
    """Feature vectors of right and wrong combinations, an array per training problem.

    Attributes:
        right: The right combination of each problem, one row.
        wrong: The wrong combinations of each problem. Together they weigh as much as the right one.
    """

    right: list[Doubles]
    wrong: list[Doubles]

    @cached_property
    def features(self) -> Doubles:
        return np.concatenate([*self.right, *self.wrong])

    @cached_property
    def mean(self) -> Doubles:
        mean: Doubles = self.features.mean(axis=0)
        return mean

    @cached_property
    def scale(self) -> Doubles:
        scale: Doubles = self.features.std(axis=0) + 1e-3
        return scale

    @property
    def scaled(self) -> Doubles:
        """The vectors with mean 0 and deviation 1."""
        return (self.features - self.mean) / self.scale

    @property
    def is_right(self) -> Bools:
        return np.arange(len(self.features)) < len(self.right)

    @property
    def sample_weight(self) -> Doubles:
        wrong = [np.full(len(vectors), 1 / len(vectors)) for vectors in self.wrong]
        weight = np.concatenate([np.ones(len(self.right)), *wrong])
        scaled: Doubles = weight * len(weight) / weight.sum()
        return scaled


def collect_vectors(problems: Sequence[ChoiceProblem]) -> TrainingVectors:
    """Return the vectors of right and wrong combinations of all problems that have wrong ones."""
    random = np.random.default_rng(0)
    right, wrong = [], []
    for problem in problems:
        best, worse = _right_and_wrong(problem, random)
        if len(worse):
            right.append(problem.feature_vectors(best))
            wrong.append(problem.feature_vectors(worse))
    return TrainingVectors(right, wrong)


def _right_and_wrong(problem: ChoiceProblem, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the right combination, and wrong ones: all that differ in one attribute, and some random ones."""
    f1 = [np.append(options.f1, 0) for options in problem.options]
    right = np.array([_right_option(values) for values in f1], np.int32)
    combinations = [right]
    for number, size in enumerate(problem.shape):
        for option in range(size):
            combinations.append(right.copy())
            combinations[-1][number] = option
    sampled = np.column_stack([random.integers(0, size, RANDOM_COMBINATIONS) for size in problem.shape])
    tried = np.concatenate([np.array(combinations), sampled]).astype(np.int32)
    is_wrong = np.zeros(len(tried), np.bool_)
    for number, values in enumerate(f1):
        best = values[right[number]]
        is_worse = (values < MIN_EQUAL_SHARE * best) | (best == 0)
        chosen = tried[:, number]
        is_wrong |= (chosen != right[number]) & is_worse[chosen]
    return right[None], tried[is_wrong]


def _right_option(f1: Doubles) -> int:
    """Return the option with the best F1; the last one, "the site lacks it", if none is good enough."""
    return int(np.argmax(f1)) if f1.max() >= MIN_RIGHT_F1 else len(f1) - 1


class NeuralScorer(Scorer):
    """A scorer with one hidden layer."""

    def activate(self, total: Doubles) -> Doubles:
        return np.tanh(total)


def make_scorer(
    kind: ScorerKind, features: FeatureName, weights: Doubles, bias: Doubles, out: Doubles
) -> Scorer:
    """Return the scorer of a kind with these weights."""
    model = NeuralScorer if kind == "NN" else Scorer
    return model(FEATURE_SETS[features], weights, bias, out, SHARPNESS[kind])


def learn_scorer(
    problems: Sequence[ChoiceProblem], features: FeatureName = "ours", kind: ScorerKind = "LR"
) -> Scorer:
    """Learn a scorer from problems whose options have their F1.

    Args:
        problems: The problems, made with the same features.
        features: The features of one extractor.
        kind: The model.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    vectors = collect_vectors(problems)
    try:
        with catch_warnings(action="ignore"):  # to end before the last digit is good enough
            weights, bias, out = _LEARNERS[kind](vectors)
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    return make_scorer(kind, features, weights, bias, out)


def _learn_regression(vectors: TrainingVectors) -> tuple[Doubles, Doubles, Doubles]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=PENALTY["LR"], max_iter=2000)
    model.fit(vectors.scaled, vectors.is_right, sample_weight=vectors.sample_weight)
    weights = model.coef_[0][:, None] / vectors.scale[:, None]
    return weights, -(vectors.mean @ weights), np.ones(1)


def _learn_machine(vectors: TrainingVectors) -> tuple[Doubles, Doubles, Doubles]:
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=PENALTY["SVM"], max_iter=5000, random_state=0)
    machine.fit(vectors.scaled, vectors.is_right, sample_weight=vectors.sample_weight)
    weights = machine.coef_[0][:, None] / vectors.scale[:, None]
    return weights, -(vectors.mean @ weights), np.ones(1)


def _learn_ranking(vectors: TrainingVectors) -> tuple[Doubles, Doubles, Doubles]:
    """A support vector machine for which every difference of a right and a wrong combination is positive."""
    from sklearn.svm import LinearSVC

    pairs = [right - wrong for right, wrong in zip(vectors.right, vectors.wrong, strict=True)]
    differences = np.concatenate(pairs) / vectors.scale
    sign = np.where(np.arange(len(differences)) % 2, 1, -1)
    machine = LinearSVC(C=PENALTY["rank"], fit_intercept=False, max_iter=5000, random_state=0)
    machine.fit(differences * sign[:, None], sign)
    return (machine.coef_[0] / vectors.scale)[:, None], np.zeros(1), np.ones(1)


def _learn_network(vectors: TrainingVectors) -> tuple[Doubles, Doubles, Doubles]:
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        (UNITS,), "tanh", solver="lbfgs", alpha=1 / PENALTY["NN"], max_iter=500, random_state=0
    )
    network.fit(vectors.scaled, vectors.is_right, sample_weight=vectors.sample_weight)
    weights = network.coefs_[0] / vectors.scale[:, None]
    return weights, network.intercepts_[0] - vectors.mean @ weights, network.coefs_[1][:, 0]


_LEARNERS = {"LR": _learn_regression, "NN": _learn_network, "SVM": _learn_machine, "rank": _learn_ranking}
