"""What labeled sites teach about one attribute: a linear model per part, and a profile of its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from warnings import catch_warnings, simplefilter

import numpy as np

from untemplate.errors import MissingExtra
from untemplate.labeling.nodes import Bags
from untemplate.labeling.nodes.bags import SIZE
from untemplate.labeling.nodes.examples import Examples
from untemplate.labeling.seed.site_fields import PARTS, PROFILE, SiteFields
from untemplate.page.arrays import Bools, Floats, Hashes, Ints

__all__ = ["NAME_ONLY", "AttributeModel", "PartModel", "learn_attribute"]


# Inverse strength of the penalty on weights, and the weight of all positive examples to that of all negative ones.
C = 3.0
POSITIVE_WEIGHT = 0.2
# Fitting ends here: twice as fast as at the usual 1e-4, and scores differ by 0.001.
TOLERANCE = 0.1
# Scores are read relative to those that held-out examples get: 0 is a negative one, 1 a positive one.
LOWEST, HIGHEST = np.float32(-1), np.float32(1.5)
LEAST_SPAN = 0.5
# The field that a part mistakes most easily, but for so many of them, tells how reliable the part is.
MISTAKEN = 0.99


@dataclass(frozen=True)
class PartModel:
    """A linear model of one part: sparse weights, the scores of held-out examples, and its reliability."""

    indices: Ints
    weights: Floats
    intercept: float
    low: float
    high: float
    reliability: float = 0.0

    def score(self, bags: Bags) -> Floats:
        """Return a score for each bag: 0 like rows without the attribute, 1 like rows with it."""
        dense = np.zeros(SIZE, np.float32)
        dense[self.indices] = self.weights
        raw = bags.score(dense, self.intercept)
        relative: Floats = (raw - np.float32(self.low)) / np.float32(max(self.high - self.low, LEAST_SPAN))
        return np.clip(relative, LOWEST, HIGHEST)


@dataclass(frozen=True)
class AttributeModel:
    """What labeled sites teach about one attribute."""

    parts: dict[str, PartModel]
    profiles: Floats  # of the attribute's fields, a row each seed site
    values: Hashes  # of its values
    others: Hashes  # of values of anything else
    stripped: int = 0  # texts of labeled sites with a caption in them that are labeled without it
    unstripped: int = 0  # and with it

    @property
    def spans_nodes(self) -> bool:
        """Whether most of its values span several text nodes on some labeled site."""
        return bool(self.profiles[:, PROFILE.index("spans nodes")].max(initial=0) > 0.5)


_NOTHING = PartModel(np.zeros(0, np.int32), np.zeros(0, np.float32), 0.0, 0.0, 1.0)
NAME_ONLY = AttributeModel(
    dict.fromkeys(PARTS, _NOTHING),
    np.zeros((0, len(PROFILE)), np.float32),
    values=np.zeros(0, np.uint64),
    others=np.zeros(0, np.uint64),
)
"""The model of an attribute that no labeled site has: only its name and type are known."""


def learn_attribute(seeds: Sequence[tuple[SiteFields, Examples]]) -> AttributeModel:
    """Learn one attribute from the labeled sites that have it."""
    parts = {part: _learn_part(part, seeds) for part in PARTS}
    profiles = [examples.weight @ site.profile for site, examples in seeds]
    positive = np.concatenate([s.value_hashes[s.fields.value[e.positive]] for s, e in seeds])
    negative = np.concatenate([s.value_hashes[s.fields.value[e.negative]] for s, e in seeds])
    stripped = sum(examples.stripped for _, examples in seeds)
    unstripped = sum(examples.unstripped for _, examples in seeds)
    values, others = _told_apart(positive, negative)
    return AttributeModel(parts, np.array(profiles, np.float32), values, others, stripped, unstripped)


def _told_apart(positive: Hashes, negative: Hashes) -> tuple[Hashes, Hashes]:
    """The values that are the attribute's more often than anything else's, and all others; `N/A` may be either."""
    values, ours = np.unique(positive[positive > 0], return_counts=True)
    others, theirs = np.unique(negative[negative > 0], return_counts=True)
    counts = dict(zip(others.tolist(), theirs.tolist(), strict=True))
    rarer = np.array([counts.get(value, 0) for value in values.tolist()], np.int64)
    values = values[ours > rarer]
    return values, np.setdiff1d(others, values)


def _learn_part(part: str, seeds: Sequence[tuple[SiteFields, Examples]]) -> PartModel:
    """Learn from all seed sites, and from one half what the other half scores: of the sites if there are several."""
    from scipy.sparse import vstack

    matrix = vstack([site.parts[part][0].matrix() for site, _ in seeds], format="csr")
    bag, positive, half = [], [], []
    first = 0
    for number, (site, examples) in enumerate(seeds):
        bags, numbers = site.parts[part]
        used = np.flatnonzero(examples.positive | examples.negative)
        bag.append(numbers[used] + first)
        positive.append(examples.positive[used])
        half.append(site.table.page[used] % 2 if len(seeds) == 1 else np.full(len(used), number % 2))
        first += len(bags)
    rows = _Rows(*(np.concatenate(column) for column in (bag, positive, half)))
    held_out: dict[bool, list[float]] = {True: [], False: []}
    fitted = {}
    for fold in (0, 1):
        train, test = rows.among(rows.half != fold), rows.among(rows.half == fold)
        if train.positive.any() and test.positive.any() and not train.positive.all():
            weights, intercept = fitted[fold] = _fit(matrix, train)
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
    model = _part_model(weights, intercept, low, high)
    if len(seeds) == 1:
        return replace(model, reliability=_reliability(model, part, *seeds[0]))
    blind = {fold: _part_model(*fit, low, high) for fold, fit in fitted.items()}
    found = [_reliability(blind.get(n % 2, model), part, *seed) for n, seed in enumerate(seeds)]
    return replace(model, reliability=float(np.mean(found)))


def _part_model(weights: Floats, intercept: float, low: float, high: float) -> PartModel:
    indices = np.flatnonzero(weights).astype(np.int32)
    return PartModel(indices, weights[indices], intercept, low, high)


@dataclass(frozen=True)
class _Rows:
    bag: Ints
    positive: Bools
    half: Ints

    def among(self, chosen: Bools) -> _Rows:
        return _Rows(self.bag[chosen], self.positive[chosen], self.half[chosen])


def _fit(matrix: object, rows: _Rows) -> tuple[Floats, float]:
    """A logistic model. Examples with the same bag count as one that weighs the root of their number."""
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    keys, counts = np.unique(rows.bag.astype(np.int64) * 2 + rows.positive, return_counts=True)
    bags, positive = keys // 2, keys % 2 == 1
    if positive.all() or not positive.any():
        return np.zeros(SIZE, np.float32), 0.0
    weights = np.sqrt(counts)
    weights[positive] *= POSITIVE_WEIGHT * weights[~positive].sum() / weights[positive].sum()
    model = LogisticRegression(C=C, solver="liblinear", dual=True, tol=TOLERANCE, random_state=0)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # after a hundred rounds it is near enough
        model.fit(matrix[bags], positive, sample_weight=weights / weights.mean())  # type: ignore[index]
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])


def _reliability(model: PartModel, part: str, site: SiteFields, examples: Examples) -> float:
    """Return how far the best wrong field scores below the right rows on a site, from 0 to 1."""
    bags, numbers = site.parts[part]
    fields = site.fields
    wrong = fields.is_candidate & (fields.mean(examples.positive) == 0) & (fields.mean(examples.negative) > 0)
    if not wrong.any():
        return 0.0
    scores = model.score(bags)[numbers]
    likest = np.quantile(fields.mean(scores)[wrong], MISTAKEN)
    return float(np.clip(scores[examples.positive].mean() - likest, 0, 1))
