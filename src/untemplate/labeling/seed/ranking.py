"""A ranker of fields: which of a site's fields holds an attribute, given the evidence for each.

A conditional logit: the chance of a field is its share of the exponentials of all fields' scores. Weights are bound
to the sign that makes sense, which keeps a ranker trained on few verticals from learning their peculiarities.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from untemplate.page.arrays import Doubles, Floats

__all__ = ["Rankers", "RankingExample", "fit_chooser", "fit_judge", "load_rankers", "softmax"]

FILE = "rankers.json"


@dataclass(frozen=True)
class Rankers:
    """Weights that know no vertical: of evidence for a field, of attributes together, and of the best field's chance
    to be right. They come with the package, trained on the made-up web by `python -m benchmarks.train.rankers`.
    """

    evidence: dict[str, float]
    joint: dict[str, float]
    judge: dict[str, float]

    def score(self, columns: Floats, names: Iterable[str]) -> Doubles:
        """The score of each candidate field by its own evidence."""
        return _weighed(columns, [self.evidence[name] for name in names])

    def score_jointly(self, columns: Floats, names: Iterable[str]) -> Doubles:
        """The score of each candidate field in view of the other attributes."""
        return _weighed(columns, [self.joint[name] for name in names])

    def confidence(self, columns: Floats, names: Sequence[str]) -> float:
        """The chance that the best field is right."""
        score = float(_weighed(columns, [self.judge[name] for name in names])) + self.judge["intercept"]
        return float(1 / (1 + np.exp(-score)))


def _weighed(columns: Floats, weights: Sequence[float]) -> Doubles:
    scores: Doubles = columns.astype(np.float64) @ np.array(weights)
    return scores


@cache
def load_rankers() -> Rankers:
    """Return the rankers that come with the package."""
    text = (resources.files("untemplate.labeling.seed") / FILE).read_text("utf-8")
    return Rankers(**json.loads(text))


@dataclass(frozen=True)
class RankingExample:
    """A training example of a ranker: the evidence for some fields, and which of them are right."""

    evidence: Floats
    right: npt.NDArray[np.bool_]
    weight: float = 1.0


def softmax(scores: Doubles) -> Doubles:
    """Return scores as probabilities that sum to 1."""
    raised: Doubles = np.exp(scores - scores.max(initial=-np.inf))
    total: Doubles = raised / raised.sum()
    return total


def fit_chooser(choices: Sequence[RankingExample], signs: dict[str, int], penalty: float) -> dict[str, float]:
    """The weights under which the right fields are most likely to be chosen, less a penalty on their squares."""
    right = np.concatenate([choice.right for choice in choices])
    sizes = np.array([len(choice.right) for choice in choices])
    starts, owner = np.concatenate([[0], np.cumsum(sizes)[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    scaled, scale, _ = _scaled(np.concatenate([choice.evidence for choice in choices]))

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        scores = scaled @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        total = np.add.reduceat(raised, starts)
        hit = np.maximum(np.add.reduceat(raised * right, starts), 1e-300)
        gradient = scaled.T @ (raised / total[owner] - raised * right / hit[owner]) + penalty * weights
        return float(np.log(total / hit).sum() + penalty / 2 * (weights @ weights)), gradient

    return dict(zip(signs, (_minimum(loss, list(signs.values())) / scale).tolist(), strict=True))


def fit_judge(choices: Sequence[RankingExample], signs: dict[str, int], penalty: float) -> dict[str, float]:
    """The weights and the intercept under which right fields are told from wrong ones, each by itself."""
    right = np.concatenate([choice.right for choice in choices]).astype(np.float64)
    weight = np.concatenate([np.full(len(choice.right), choice.weight) for choice in choices])
    scaled, scale, middle = _scaled(np.concatenate([choice.evidence for choice in choices]))
    extended = np.column_stack([scaled, np.ones(len(scaled))])
    free = np.array([penalty] * len(signs) + [0.0])

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        scores = extended @ weights
        gradient = extended.T @ (weight * (1 / (1 + np.exp(-scores)) - right)) + free * weights
        value = weight @ (np.logaddexp(0, scores) - right * scores) + (free * weights * weights).sum() / 2
        return float(value), gradient

    found = _minimum(loss, [*signs.values(), 0])
    weights = found[:-1] / scale
    return {
        **dict(zip(signs, weights.tolist(), strict=True)),
        "intercept": float(found[-1] - weights @ middle),
    }


def _scaled(evidence: Floats) -> tuple[Doubles, Doubles, Doubles]:
    doubles = evidence.astype(np.float64)
    middle, scale = doubles.mean(axis=0), doubles.std(axis=0) + 1e-3
    return (doubles - middle) / scale, scale, middle


def _minimum(loss: Callable[[Doubles], tuple[float, Doubles]], signs: Sequence[int]) -> Doubles:
    """Where a loss is least, each weight having its sign: + or −, 0 may have either."""
    from scipy.optimize import minimize

    bounds = [(0, None) if sign > 0 else (None, 0) if sign < 0 else (None, None) for sign in signs]
    start = np.zeros(len(signs))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    weights: Doubles = found.x
    return weights
