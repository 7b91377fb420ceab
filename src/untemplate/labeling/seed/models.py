"""What seed sites teach about one attribute: a linear model per part, and how its fields appear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from untemplate.errors import MissingExtra
from untemplate.labeling.ground import Bags
from untemplate.labeling.ground.bags import SIZE
from untemplate.labeling.ground.nodes import Bools, Floats, Ints
from untemplate.labeling.seed.examples import Examples
from untemplate.labeling.seed.survey import PARTS, Survey

__all__ = ["AttributeModel", "PartModel", "learn_attribute"]

Hashes = npt.NDArray[np.uint64]

# Inverse strength of the penalty on weights, and the weight of all positive examples to that of all negative ones.
C = 3.0
POSITIVE_WEIGHT = 0.2
# Scores are read relative to those that held-out examples get: 0 is a negative one, 1 a positive one.
LOWEST, HIGHEST = np.float32(-1), np.float32(1.5)
LEAST_SPAN = 0.5
# A label that stands before at least this share of a seed site's examples is remembered.
LABEL_SHARE = 0.05
# The field that a part mistakes most easily, but for so many of them, tells how reliable the part is.
MISTAKEN = 0.99


@dataclass(frozen=True)
class PartModel:
    """A linear model of one part: sparse weights, what held-out examples score, and how reliable it is."""

    indices: Ints
    weights: Floats
    intercept: float
    low: float
    high: float
    reliability: float = 0.0

    def score(self, bags: Bags) -> Floats:
        """Of each bag, 0 if it is like what does not hold the attribute, 1 if like what does."""
        dense = np.zeros(SIZE, np.float32)
        dense[self.indices] = self.weights
        raw = bags.score(dense, self.intercept)
        relative: Floats = (raw - np.float32(self.low)) / np.float32(max(self.high - self.low, LEAST_SPAN))
        return np.clip(relative, LOWEST, HIGHEST)


@dataclass(frozen=True)
class AttributeModel:
    """All that seed sites teach about one attribute."""

    parts: dict[str, PartModel]
    profiles: Floats  # of the attribute's fields, a row each seed site
    values: Hashes  # of its values
    others: Hashes  # of values of anything else
    labels: Hashes  # of its labels


def learn_attribute(seeds: Sequence[tuple[Survey, Examples]]) -> AttributeModel:
    """Learn one attribute from the seed sites that have it."""
    parts = {part: _learn_part(part, seeds) for part in PARTS}
    profiles = [examples.weight @ survey.profile for survey, examples in seeds]
    values = np.unique(np.concatenate([s.value_hashes[s.fields.value[e.positive]] for s, e in seeds]))
    others = np.unique(np.concatenate([s.value_hashes[s.fields.value[e.negative]] for s, e in seeds]))
    labels: list[int] = []
    for survey, examples in seeds:
        numbers = survey.fields.label[examples.positive]
        counts = Counter(code for number in numbers.tolist() for code in survey.label_hashes[number].tolist())
        labels += [code for code, count in counts.items() if count >= LABEL_SHARE * len(numbers)]
    return AttributeModel(
        parts,
        np.array(profiles, np.float32),
        values[values > 0],
        np.setdiff1d(others, values),
        np.unique(np.array(labels, np.uint64)),
    )


def _learn_part(part: str, seeds: Sequence[tuple[Survey, Examples]]) -> PartModel:
    """Learn from all seed sites, and from one half what the other half scores: of the sites if there are several."""
    from scipy.sparse import vstack

    matrix = vstack([survey.parts[part][0].matrix() for survey, _ in seeds], format="csr")
    bag, positive, half, site = [], [], [], []
    first = 0
    for number, (survey, examples) in enumerate(seeds):
        bags, numbers = survey.parts[part]
        used = np.flatnonzero(examples.positive | examples.negative)
        bag.append(numbers[used] + first)
        positive.append(examples.positive[used])
        half.append(survey.ground.page[used] % 2 if len(seeds) == 1 else np.full(len(used), number % 2))
        site.append(np.full(len(used), number))
        first += len(bags)
    rows = _Rows(*(np.concatenate(column) for column in (bag, positive, half, site)))
    held_out: dict[bool, list[float]] = {True: [], False: []}
    for fold in (0, 1):
        train, test = rows.among(rows.half != fold), rows.among(rows.half == fold)
        if train.positive.any() and test.positive.any() and not train.positive.all():
            weights, intercept = _fit(matrix, train)
            scores = matrix @ weights + intercept
            for sign in (True, False):
                held_out[sign] += scores[test.bag[test.positive == sign]].tolist()
    weights, intercept = _fit(matrix, rows)
    scores = matrix @ weights + intercept
    high, low = (
        float(
            np.mean(
                held_out[sign] or scores[rows.bag[rows.positive == sign]]
                if (rows.positive == sign).any()
                else [0.0]
            )
        )
        for sign in (True, False)
    )
    indices = np.flatnonzero(weights).astype(np.int32)
    model = PartModel(indices, weights[indices], intercept, low, high)
    return PartModel(indices, weights[indices], intercept, low, high, _reliability(model, part, seeds))


@dataclass(frozen=True)
class _Rows:
    bag: Ints
    positive: Bools
    half: Ints
    site: Ints

    def among(self, chosen: Bools) -> _Rows:
        return _Rows(self.bag[chosen], self.positive[chosen], self.half[chosen], self.site[chosen])


def _fit(matrix: object, rows: _Rows) -> tuple[Floats, float]:
    """A logistic model. Examples with the same bag count as one that weighs the root of their number."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("models", "training") from error
    keys, counts = np.unique(rows.bag.astype(np.int64) * 2 + rows.positive, return_counts=True)
    bags, positive = keys // 2, keys % 2 == 1
    if positive.all() or not positive.any():
        return np.zeros(SIZE, np.float32), 0.0
    weights = np.sqrt(counts)
    weights[positive] *= POSITIVE_WEIGHT * weights[~positive].sum() / weights[positive].sum()
    model = LogisticRegression(C=C, solver="liblinear", random_state=0)
    model.fit(matrix[bags], positive, sample_weight=weights / weights.mean())  # type: ignore[index]
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])


def _reliability(model: PartModel, part: str, seeds: Sequence[tuple[Survey, Examples]]) -> float:
    """How far below its own examples a part puts the wrong field that it likes best, on the seed sites: 0 to 1."""
    found = []
    for survey, examples in seeds:
        bags, numbers = survey.parts[part]
        fields = survey.fields
        wrong = fields.is_candidate & (fields.mean(examples.positive) == 0)
        if wrong.any():
            means = fields.mean(model.score(bags)[numbers])[wrong]
            found.append(float(np.clip(1 - np.quantile(means, MISTAKEN), 0, 1)))
    return float(np.mean(found)) if found else 0.0
