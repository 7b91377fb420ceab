"""The paper's Naive Bayes over a selector's candidates, for when no XPath is precise (Vertex III-C.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from untemplate.rules.feature import Feature

__all__ = ["Classifier"]


@dataclass(frozen=True, slots=True)
class Classifier:
    """Log odds that a candidate is the value: a prior, and per feature what its presence or absence adds."""

    prior: float
    features: tuple[Feature, ...]
    present: tuple[float, ...]
    absent: tuple[float, ...]

    def probability(self, holds: Callable[[Feature], bool]) -> float:
        """How likely a node is the value, given which features hold there."""
        odds = self.prior
        for feature, present, absent in zip(self.features, self.present, self.absent, strict=True):
            odds += present if holds(feature) else absent
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))
