"""Learn to score combinations of extractors: the four models of the paper.

Logistic regression is the default: when it was chosen, it was the best on average over the verticals of SWDE, and
over any three of them, so that none chose its own. The paper's multi-class loss (equation 4) and its ranking by
graded F1 are not implemented.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args
from warnings import catch_warnings

import numpy as np

from untemplate.errors import MissingExtra
from untemplate.labeling.anchors.extractor_options import FEATURE_SETS, ChoiceProblem, FeatureName
from untemplate.labeling.anchors.extractor_scoring import Scorer, TrainingVectors, collect_vectors
from untemplate.page.arrays import Doubles

__all__ = ["SCORERS", "NeuralScorer", "ScorerKind", "learn_scorer", "make_scorer"]

ScorerKind = Literal["LR", "NN", "SVM", "rank"]
SCORERS: tuple[ScorerKind, ...] = get_args(ScorerKind)
"""Logistic regression, a neural network, a support vector machine, and one that ranks."""

# Units of the neural network.
UNITS = 8
# Inverse strength of the penalty on weights. Swept from 0.001 to 0.1 on SWDE, four training sites: the mean over
# verticals is flat within a factor of three. If the other three verticals choose, they take 0.01 for logistic
# regression or, for books, 0.001.
PENALTY: dict[ScorerKind, float] = {"LR": 0.01, "NN": 0.003, "SVM": 0.001, "rank": 0.01}
# Factors of scores before they become probabilities: by themselves they are none. Swept from 0.5 to 30 for the
# likelihood of what is right on SWDE; between half and twice as much there is little difference.
SHARPNESS: dict[ScorerKind, float] = {"LR": 8.0, "NN": 20.0, "SVM": 20.0, "rank": 8.0}


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
