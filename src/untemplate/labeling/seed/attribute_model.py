"""The model of one attribute, and the evidence by it that a field of a new site contains the attribute.

Labeled sites teach a linear model per part and a profile of the attribute's fields. The evidence consists of numbers
that mean the same in every vertical, because a ranker that was trained on other verticals weighs them. So no number
may depend on what the attribute is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from warnings import catch_warnings, simplefilter

import numpy as np

from untemplate.errors import MissingExtra
from untemplate.labeling.nodes import Bags
from untemplate.labeling.nodes.bags import SIZE
from untemplate.labeling.nodes.fields import Examples
from untemplate.labeling.seed.site_fields import PARTS, PROFILE, SiteFields
from untemplate.page.arrays import Bools, Floats, Hashes, Ints
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
]

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


# Names nearest to a row that are searched for the attribute's own name.
NAMES = 4

_COMPARED = (*PARTS, "values", "named", "parts", "content")

SIGNS: dict[str, int] = {
    **dict.fromkeys(PARTS, +1),
    **{f"reliable {part}": +1 for part in PARTS},
    "values": +1,  # the share of values that are the attribute's on a seed site
    "other values": -1,  # the share that are something else there
    "named": +1,  # words of the attribute's own name in the label
    "named mark": +1,  # in class names and ids
    "typed": +1,
    "untyped": -1,
    "prefixed": -1,
    "suffixed": -1,
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

# Ranks from here on are alike.
MAX_RANK = 30


def gather_evidence(
    site: SiteFields, candidates: Ints, attribute: Attribute, model: AttributeModel
) -> Floats:
    """Return the evidence for each candidate field; `EVIDENCE` names the columns."""
    fields = site.fields
    columns: dict[str, Floats] = {}
    for part in PARTS:
        bags, numbers = site.parts[part]
        columns[part] = fields.mean(model.parts[part].score(bags)[numbers])
        columns[f"reliable {part}"] = columns[part] * np.float32(model.parts[part].reliability)
    hashes = site.value_hashes
    columns["values"] = fields.mean(np.isin(hashes, model.values)[fields.value])
    columns["other values"] = fields.mean(np.isin(hashes, model.others)[fields.value])
    columns |= _naming(site, attribute)
    typed = site.typed(attribute.type) if attribute.type != "text" else None
    columns["typed"] = typed if typed is not None else np.zeros(len(fields), np.float32)
    columns["untyped"] = 1 - typed if typed is not None else np.zeros(len(fields), np.float32)
    columns |= site.forms
    for number, name in enumerate(PROFILE):
        own = site.profile[:, number]
        unlike = np.abs(own[:, None] - model.profiles[None, :, number])
        columns[f"unlike {name}"] = unlike.min(axis=1) if unlike.size else np.zeros_like(own)
        if name in SIGNS:
            columns[name] = own
    content = (columns["words"] + columns["shape"]) / 2
    columns["best clue"] = np.maximum(content, columns["caption"])
    columns["parts"] = np.sum([columns[part] for part in PARTS], axis=0)
    columns = {name: column[candidates] for name, column in columns.items()}
    for name in _COMPARED:
        column = content[candidates] if name == "content" else columns[name]
        columns[f"{name} below best"] = column - column.max(initial=-np.inf)
        better = len(column) - np.searchsorted(np.sort(column), column, side="right")
        columns[f"{name} rank"] = (np.minimum(MAX_RANK, better) / MAX_RANK).astype(np.float32)
    return np.column_stack([columns[name] for name in EVIDENCE]).astype(np.float32)


def _naming(site: SiteFields, attribute: Attribute) -> dict[str, Floats]:
    """Return the share of the words of the attribute's name that are in captions and in class names, per field."""
    table, fields = site.table, site.fields
    words = frozenset(map(_stem, split_name(attribute.name)))

    def share(others: Iterable[str]) -> float:
        return len(words.intersection(map(_stem, others))) / max(1, len(words))

    labels = np.array([share(w for label in labels for w in split_name(label)) for labels in fields.captions])
    marks = np.array([share(around.names[:NAMES]) for around in table.surroundings])
    return {
        "named": fields.mean(labels[fields.caption]),
        "named mark": fields.mean(marks[table.around]),
    }


def _stem(word: str) -> str:
    """Return a word without the s of the plural: `Engines` name an engine."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
