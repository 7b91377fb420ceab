"""The model of one attribute, and the evidence by it that a field of a new site contains the attribute.

Labeled sites teach a linear model per part and a profile of the attribute's fields. The evidence consists of numbers
that mean the same in every vertical, because a ranker that was trained on other verticals weighs them. So no number
may depend on what the attribute is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from untemplate.errors import MissingExtra
from untemplate.labeling.nodes import Bags
from untemplate.labeling.nodes.fields import Examples
from untemplate.labeling.nodes.node_features import HASHED_FEATURES, Surroundings, without_plural
from untemplate.labeling.seed.site_fields import PARTS, PROFILE, SiteFields
from untemplate.page.arrays import Bools, Doubles, Floats, Hashes, Ints
from untemplate.page.dom import split_name
from untemplate.schema import Attribute

__all__ = [
    "EVIDENCE",
    "NAME_ONLY",
    "SIGNS",
    "AttributeModel",
    "PartModel",
    "gather_evidence",
    "learn_attribute",
    "mean_evidence",
]

# Inverse strength of the penalty on weights, and the weight of all positive examples to that of all negative ones.
C = 3.0
POSITIVE_WEIGHT = 0.2
# Fitting ends here: twice as fast as at the usual 1e-4, and scores differ by 0.001.
TOLERANCE = 0.1
# Scores are relative to those of held-out examples: 0 is that of a negative one, 1 that of a positive one.
MIN_SCORE, MAX_SCORE = np.float32(-1), np.float32(1.5)
MIN_SPAN = 0.5
# A part is as reliable as its distance to the wrong field at this quantile: the worst mistakes do not count.
WRONG_QUANTILE = 0.99


@dataclass(frozen=True)
class PartModel:
    """A linear model of one part of the features.

    Attributes:
        indices: The features with a weight.
        weights: Their weights.
        intercept: The score of a bag without any of these features.
        low: The mean score of held-out rows without the attribute.
        high: The mean score of held-out rows with it.
        reliability: How far wrong fields score below right ones on seed sites, from 0 to 1.
    """

    indices: Ints
    weights: Floats
    intercept: float
    low: float
    high: float
    reliability: float = 0.0

    def score(self, bags: Bags) -> Floats:
        """Return a score for each bag: 0 like rows without the attribute, 1 like rows with it."""
        dense = np.zeros(HASHED_FEATURES, np.float32)
        dense[self.indices] = self.weights
        raw = bags.score(dense, self.intercept)
        relative: Floats = (raw - np.float32(self.low)) / np.float32(max(self.high - self.low, MIN_SPAN))
        return np.clip(relative, MIN_SCORE, MAX_SCORE)


@dataclass(frozen=True)
class AttributeModel:
    """What labeled sites teach about one attribute.

    Attributes:
        parts: A linear model for each part of the features.
        profiles: The profile of the attribute's fields, a row per seed site.
        values: Hashes of its values.
        others: Hashes of the values of anything else.
        stripped: How many texts with a caption inside were labeled without the caption.
        unstripped: How many were labeled with it.
        crossed_out: Whether most of its values are crossed out, such as former prices.
    """

    parts: dict[str, PartModel]
    profiles: Floats
    values: Hashes
    others: Hashes
    stripped: int = 0
    unstripped: int = 0
    crossed_out: bool = False

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
    """Learn one attribute from the labeled sites that have it.

    Args:
        seeds: The sites, each with the rows that contain the attribute and those that do not.
    """
    parts = {part: _learn_part(part, seeds) for part in PARTS}
    profiles = [examples.weight @ site.profile for site, examples in seeds]
    positive = np.concatenate([s.value_hashes[s.fields.value[e.positive]] for s, e in seeds])
    negative = np.concatenate([s.value_hashes[s.fields.value[e.negative]] for s, e in seeds])
    stripped = sum(examples.stripped for _, examples in seeds)
    unstripped = sum(examples.unstripped for _, examples in seeds)
    values, others = _separate_values(positive, negative)
    crossed_out = np.concatenate([site.table.is_crossed_out[e.positive] for site, e in seeds]).mean() > 0.5
    return AttributeModel(
        parts, np.array(profiles, np.float32), values, others, stripped, unstripped, bool(crossed_out)
    )


def _separate_values(positive: Hashes, negative: Hashes) -> tuple[Hashes, Hashes]:
    """Return the values that appear more often as the attribute than as anything else, and all other values.

    Some values, such as `N/A`, appear as both.
    """
    values, value_counts = np.unique(positive[positive > 0], return_counts=True)
    others, other_counts = np.unique(negative[negative > 0], return_counts=True)
    as_other = dict(zip(others.tolist(), other_counts.tolist(), strict=True))
    rivals = np.array([as_other.get(value, 0) for value in values.tolist()], np.int64)
    values = values[value_counts > rivals]
    return values, np.setdiff1d(others, values)


def _learn_part(part: str, seeds: Sequence[tuple[SiteFields, Examples]]) -> PartModel:
    """Learn the model of a part from all seed sites, and measure it on held-out examples.

    For that, two more models learn from one half of the examples each. The other half then shows which scores
    to expect on a new site, and how reliable the part is.
    """
    from scipy.sparse import vstack

    matrix = vstack([site.parts[part][0].matrix() for site, _ in seeds], format="csr")
    rows = _collect_rows(part, seeds)
    fits = _fit_halves(matrix, rows)
    fit = _fit(matrix, rows)
    held_out, is_positive = _score_held_out(matrix, rows, fits)
    scores = _raw_scores(matrix, fit)[rows.bag]
    low = _first_mean(held_out[~is_positive], scores[~rows.positive])
    high = _first_mean(held_out[is_positive], scores[rows.positive])
    model = _part_model(fit, low, high)
    if len(seeds) == 1:
        return replace(model, reliability=_reliability(model, part, *seeds[0]))
    blind = {half: _part_model(half_fit, low, high) for half, half_fit in fits.items()}
    reliabilities = [_reliability(blind.get(n % 2, model), part, *seed) for n, seed in enumerate(seeds)]
    return replace(model, reliability=float(np.mean(reliabilities)))


_Fit = tuple[Floats, float]
"""The weights and the intercept of a linear model."""


def _part_model(fit: _Fit, low: float, high: float) -> PartModel:
    weights, intercept = fit
    indices = np.flatnonzero(weights).astype(np.int32)
    return PartModel(indices, weights[indices], intercept, low, high)


def _raw_scores(matrix: Any, fit: _Fit) -> Floats:
    """Return the score of each bag of a matrix."""
    weights, intercept = fit
    scores: Floats = matrix @ weights + intercept
    return scores


def _first_mean(*choices: npt.NDArray[np.floating]) -> float:
    """Return the mean of the first array that is not empty; 0 if all are."""
    for scores in choices:
        if len(scores):
            return float(np.mean(scores))
    return 0.0


@dataclass(frozen=True)
class _Rows:
    """Examples: the bag of each, whether it contains the attribute, and to which half (0 or 1) it belongs."""

    bag: Ints
    positive: Bools
    half: Ints

    def among(self, chosen: Bools) -> _Rows:
        return _Rows(self.bag[chosen], self.positive[chosen], self.half[chosen])


def _collect_rows(part: str, seeds: Sequence[tuple[SiteFields, Examples]]) -> _Rows:
    """Return the examples of all seed sites. Halves consist of sites, or of the pages of a single site."""
    bag, positive, half = [], [], []
    first = 0
    for number, (site, examples) in enumerate(seeds):
        bags, numbers = site.parts[part]
        used = np.flatnonzero(examples.positive | examples.negative)
        bag.append(numbers[used] + first)
        positive.append(examples.positive[used])
        half.append(site.table.page[used] % 2 if len(seeds) == 1 else np.full(len(used), number % 2))
        first += len(bags)
    return _Rows(np.concatenate(bag), np.concatenate(positive), np.concatenate(half))


def _fit_halves(matrix: Any, rows: _Rows) -> dict[int, _Fit]:
    """Return for each half a model that learned from the other half; none if either has too few examples."""
    fits = {}
    for half in (0, 1):
        train, test = rows.among(rows.half != half), rows.among(rows.half == half)
        if train.positive.any() and test.positive.any() and not train.positive.all():
            fits[half] = _fit(matrix, train)
    return fits


def _score_held_out(matrix: Any, rows: _Rows, fits: Mapping[int, _Fit]) -> tuple[Doubles, Bools]:
    """Return the scores of each half by the model that did not learn from it, and which examples are positive."""
    scores, positive = [np.zeros(0)], [np.zeros(0, np.bool_)]
    for half, fit in fits.items():
        test = rows.among(rows.half == half)
        scores.append(_raw_scores(matrix, fit)[test.bag].astype(np.float64))
        positive.append(test.positive)
    return np.concatenate(scores), np.concatenate(positive)


def _fit(matrix: Any, rows: _Rows) -> _Fit:
    """Fit a logistic model. Examples with the same bag count as one that weighs the root of their number."""
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    keys, counts = np.unique(rows.bag.astype(np.int64) * 2 + rows.positive, return_counts=True)
    bags, positive = keys // 2, keys % 2 == 1
    if positive.all() or not positive.any():
        return np.zeros(HASHED_FEATURES, np.float32), 0.0
    weights = np.sqrt(counts)
    weights[positive] *= POSITIVE_WEIGHT * weights[~positive].sum() / weights[positive].sum()
    model = LogisticRegression(C=C, solver="liblinear", dual=True, tol=TOLERANCE, random_state=0)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # after a hundred rounds it is near enough
        model.fit(matrix[bags], positive, sample_weight=weights / weights.mean())
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])


def _reliability(model: PartModel, part: str, site: SiteFields, examples: Examples) -> float:
    """Return how far the best wrong field scores below the right rows on a site, from 0 to 1."""
    bags, numbers = site.parts[part]
    fields = site.fields
    wrong = fields.is_candidate & (fields.mean(examples.positive) == 0) & (fields.mean(examples.negative) > 0)
    if not wrong.any():
        return 0.0
    scores = model.score(bags)[numbers]
    best_wrong = np.quantile(fields.mean(scores)[wrong], WRONG_QUANTILE)
    return float(np.clip(scores[examples.positive].mean() - best_wrong, 0, 1))


# Nearest class names and ids of a row that are searched for the attribute's own name.
MAX_NAMES = 4

_COMPARED = (*PARTS, "values", "named", "parts", "content")

SIGNS: dict[str, int] = {
    **dict.fromkeys(PARTS, +1),
    **{f"reliable {part}": +1 for part in PARTS},
    "values": +1,  # the share of values that are the attribute's on a seed site
    "other values": -1,  # the share that are something else there
    "named": +1,  # words of the attribute's own name in the caption
    "named mark": +1,  # in class names and ids
    "typed": +1,
    "untyped": -1,
    "prefixed": -1,
    "suffixed": -1,
    "extended": -1,  # another text of the page with the same words around it
    "repeated": -1,  # one of many items in the same place
    "mixed": -1,  # rows of several captions, one of which has a field of its own
    "pure": +1,
    "by slot": 0,
    "by slot and caption": 0,
    "by caption": 0,
    "coverage": +1,
    "title": +1,
    "size": +1,
    "bold": +1,
    "order": 0,
    "from heading": 0,
    **{f"unlike {name}": -1 for name in PROFILE},
    "best clue": +1,
    "parts": +1,
    **{f"{name} below best": +1 for name in _COMPARED},
    **{f"{name} rank": -1 for name in _COMPARED},
}
"""The sign of each number's weight: + speaks for the field, - against it, 0 allows both."""

EVIDENCE = tuple(SIGNS)

# Larger ranks count as this one.
MAX_RANK = 30


def gather_evidence(
    site: SiteFields, candidates: Ints, attribute: Attribute, model: AttributeModel
) -> Floats:
    """Return the evidence that each candidate field contains an attribute; `EVIDENCE` names the columns.

    Args:
        site: The fields of a new site.
        candidates: The fields to compare.
        attribute: The attribute; its name and type are evidence too.
        model: What seed sites taught about it.
    """
    columns = {
        **_part_evidence(site, model),
        **_value_evidence(site, model),
        **_name_evidence(site, attribute),
        **_type_evidence(site, attribute),
        **_profile_evidence(site, model),
        **site.forms,
    }
    columns = {name: column[candidates] for name, column in columns.items()}
    columns["content"] = (columns["words"] + columns["shape"]) * np.float32(0.5)
    columns["best clue"] = np.maximum(columns["content"], columns["caption"])
    columns["parts"] = np.sum([columns[part] for part in PARTS], axis=0)
    for name in _COMPARED:
        columns |= _compare_fields(name, columns[name])
    return np.column_stack([columns[name] for name in EVIDENCE]).astype(np.float32)


def mean_evidence(
    site: SiteFields, candidates: Ints, attribute: Attribute, models: Sequence[AttributeModel]
) -> Floats:
    """Return the evidence for each candidate field, the mean over what several sites taught by themselves."""
    evidence = [gather_evidence(site, candidates, attribute, model) for model in models]
    mean: Floats = np.mean(np.array(evidence), axis=0, dtype=np.float32)
    return mean


def _part_evidence(site: SiteFields, model: AttributeModel) -> dict[str, Floats]:
    """Return the mean score of each field's rows by the model of each part, alone and times its reliability."""
    columns: dict[str, Floats] = {}
    for part in PARTS:
        bags, numbers = site.parts[part]
        columns[part] = site.fields.mean(model.parts[part].score(bags)[numbers])
        columns[f"reliable {part}"] = columns[part] * np.float32(model.parts[part].reliability)
    return columns


def _value_evidence(site: SiteFields, model: AttributeModel) -> dict[str, Floats]:
    """Return the share of each field's values that seed sites have, as the attribute and as anything else."""
    fields, hashes = site.fields, site.value_hashes
    return {
        "values": fields.mean(np.isin(hashes, model.values)[fields.value]),
        "other values": fields.mean(np.isin(hashes, model.others)[fields.value]),
    }


def _type_evidence(site: SiteFields, attribute: Attribute) -> dict[str, Floats]:
    """Return how much of each field's values has the attribute's type, and how much has not."""
    if attribute.type == "text":
        nothing = np.zeros(len(site.fields), np.float32)
        return {"typed": nothing, "untyped": nothing}
    typed = site.typed(attribute.type)
    return {"typed": typed, "untyped": 1 - typed}


def _profile_evidence(site: SiteFields, model: AttributeModel) -> dict[str, Floats]:
    """Return the distance of each field's profile from the most similar seed site, and a part of the profile."""
    columns: dict[str, Floats] = {}
    for number, name in enumerate(PROFILE):
        column = site.profile[:, number]
        distance = np.abs(column[:, None] - model.profiles[None, :, number])
        columns[f"unlike {name}"] = distance.min(axis=1) if distance.size else np.zeros_like(column)
        if name in SIGNS:
            columns[name] = column
    return columns


def _compare_fields(name: str, column: Floats) -> dict[str, Floats]:
    """Return how far each candidate is below the best one, and its rank."""
    better = len(column) - np.searchsorted(np.sort(column), column, side="right")
    return {
        f"{name} below best": column - column.max(initial=-np.inf),
        f"{name} rank": (np.minimum(MAX_RANK, better) / MAX_RANK).astype(np.float32),
    }


def _name_evidence(site: SiteFields, attribute: Attribute) -> dict[str, Floats]:
    """Return the share of the words of the attribute's name in captions and in class names, per field.

    Its other names count only as a whole: parts of them, such as `vehicle` or `by`, are part of other names too.
    """
    table, fields = site.table, site.fields
    names = [_stems_of(split_name(name)) for name in attribute.names]
    in_captions = np.array([_share_in_captions(names, captions) for captions in fields.captions])
    in_names = np.array([_share_in_names(names, around) for around in table.surroundings])
    return {
        "named": fields.mean(in_captions[fields.caption]),
        "named mark": fields.mean(in_names[table.around]),
    }


def _share_in_captions(names: Sequence[frozenset[str]], captions: Sequence[str]) -> float:
    """Return how far captions name an attribute.

    Words besides another name of it count against that name: `ISBN-10` is no `isbn` if the attribute is `isbn_13`.
    """
    name, *other_names = names
    stems = [_stems_of(split_name(caption)) for caption in captions]
    shares = [_named_share([name], frozenset().union(*stems))]
    for caption in filter(None, stems):
        shares += [len(other) / len(caption) for other in other_names if other and other <= caption]
    return max(shares)


def _share_in_names(names: Sequence[frozenset[str]], around: Surroundings) -> float:
    """Return how far class names, ids and the address of a link name an attribute."""
    in_names = _named_share(names, _stems_of(around.names[:MAX_NAMES]))
    return max(in_names, _named_share(names, _stems_of(around.address)))


def _named_share(names: Sequence[frozenset[str]], stems: frozenset[str]) -> float:
    """Return the share of the words of the first name that are among these words; 1 if all of another name are."""
    name, *other_names = names
    if any(other and other <= stems for other in other_names):
        return 1.0
    return len(name & stems) / max(1, len(name))


def _stems_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(without_plural, words))
