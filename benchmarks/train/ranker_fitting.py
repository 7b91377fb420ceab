"""Fit the weights of rankers: those of a choice among fields, and those of a judgment of one field.

`benchmarks.train.rankers` makes the rankers of the package with it; the package itself only applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from untemplate.page.arrays import Bools, Doubles, Floats


@dataclass(frozen=True)
class RankingExample:
    """A training example of a ranker: the evidence for some fields, and which of them are right."""

    evidence: Floats
    right: Bools
    weight: float = 1.0


def fit_chooser(choices: Sequence[RankingExample], signs: dict[str, int], penalty: float) -> dict[str, float]:
    """Return the weights under which the right fields are most likely to be chosen.

    Args:
        choices: Fields among which one is chosen, and which of them are right.
        signs: The sign of each weight, by the name of its column.
        penalty: Strength of the penalty on the squares of the weights.
    """
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

    return dict(zip(signs, (_minimize_loss(loss, list(signs.values())) / scale).tolist(), strict=True))


def fit_judge(choices: Sequence[RankingExample], signs: dict[str, int], penalty: float) -> dict[str, float]:
    """Return the weights and the intercept that separate right fields from wrong ones, each by itself.

    Args:
        choices: Fields, and which of them are right.
        signs: The sign of each weight, by the name of its column.
        penalty: Strength of the penalty on the squares of the weights; the intercept has none.
    """
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

    fitted = _minimize_loss(loss, [*signs.values(), 0])
    weights = fitted[:-1] / scale
    intercept = float(fitted[-1] - weights @ middle)
    return {**dict(zip(signs, weights.tolist(), strict=True)), "intercept": intercept}


def _scaled(evidence: Floats) -> tuple[Doubles, Doubles, Doubles]:
    """Return the columns with mean 0 and deviation 1, their deviations and their means."""
    doubles = evidence.astype(np.float64)
    middle, scale = doubles.mean(axis=0), doubles.std(axis=0) + 1e-3
    return (doubles - middle) / scale, scale, middle


# The bounds of a weight by its sign; 0 allows both.
_BOUNDS = {+1: (0, None), -1: (None, 0), 0: (None, None)}


def _minimize_loss(loss: Callable[[Doubles], tuple[float, Doubles]], signs: Sequence[int]) -> Doubles:
    """Return the weights with these signs for which a loss is least; the loss returns its gradient too."""
    bounds = [_BOUNDS[sign] for sign in signs]
    start = np.zeros(len(signs))
    result = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    weights: Doubles = result.x
    return weights
