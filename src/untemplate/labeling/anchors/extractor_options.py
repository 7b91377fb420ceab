"""The options of a site: candidate extractors of each attribute, their features, and the choice among them.

A feature describes one extractor, or the extractors of two attributes together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Literal

import numpy as np

from untemplate.labeling.anchors.extractors import (
    OFFSET,
    WINDOW,
    Extractors,
    LeafSequence,
    annotate_site,
    choose_xpaths,
)
from untemplate.labeling.seed.attribute_model import EVIDENCE, NAME_ONLY, AttributeModel, gather_evidence
from untemplate.labeling.seed.field_ranking import Rankers
from untemplate.labeling.seed.site_fields import PROFILE, SiteFields
from untemplate.page.arrays import Bools, Doubles, Floats, Ints, group_rows
from untemplate.schema import Attribute, Hints, Schema

__all__ = [
    "FEATURE_SETS",
    "PAIR_FEATURES",
    "AttributeOptions",
    "ChoiceProblem",
    "FeatureName",
    "FeatureSet",
    "Orders",
    "find_options",
    "make_problem",
    "pair_features",
]

# XPaths of an anchor from which offsets start, the most often annotated first; the paper finds about 2.
MAX_ANCHOR_XPATHS = 3
# Extractors with the same node on this share of their pages are duplicates.
MIN_DUPLICATE_SHARE = 0.9
# Threshold of algorithm 1 for an attribute that training sites say nothing about.
DEFAULT_THRESHOLD = 0.1

F1 = "F1"

PAPER_FEATURES = (
    *("annotated", "words", "shape", "values"),  # content: annotated nodes, and scores of the texts by models
    "caption",  # context: the score of the caption
    "unlike length",
    "coverage",  # the share of pages extracted
    "items",  # nodes of a page in the same slot, logarithmic
    "exceptions",
    "distinct",  # content variance: the share of different texts
    "agreement",  # the share of nodes in the most frequent slot
)
"""The features that the paper lists."""

_MORE_FEATURES = (
    *("evidence", "evidence below best"),  # the score of a field by the rankers of the method "seed"
    *("names", "topic", "named", "named mark", "title", "best clue", "other values", "typed", "untyped"),
    *("parts", "parts below best", "parts rank", "caption below best", "content below best"),
    *("from heading", "size", "pure", "by offset"),
    *(f"unlike {name}" for name in PROFILE if name != "length"),
)

PAIR_FEATURES = ("distance", "near", "same", "unlike order")
"""Of two extractors: leaves between their nodes, logarithmic; the share of pages on which they are within the
window, and on the same leaf; the difference to training sites in the share of pages where the first comes first."""

Orders = Mapping[tuple[str, str], float]
"""For two attributes, the share of pages on which the first comes first."""


@dataclass(frozen=True)
class FeatureSet:
    """Features of one extractor.

    Attributes:
        names: The features.
        likely: The features whose sum preselects the extractors that are scored in combination.
    """

    names: tuple[str, ...]
    likely: tuple[str, ...]


FeatureName = Literal["ours", "paper"]
FEATURE_SETS: dict[FeatureName, FeatureSet] = {
    "ours": FeatureSet((*PAPER_FEATURES, *_MORE_FEATURES), ("evidence",)),
    "paper": FeatureSet(PAPER_FEATURES, ("annotated", "words", "shape", "values", "caption")),
}
"""The features that the paper lists; and ours: these, and what the method "seed" knows about a field."""


@dataclass(frozen=True)
class AttributeOptions:
    """The candidate extractors of one attribute.

    Attributes:
        columns: Their features by name.
        rows: The row of each extractor on every page, −1 if it has none.
        leaves: The leaf of each extractor on every page, −1 if it has none.
    """

    columns: dict[str, Floats]
    rows: Ints
    leaves: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def f1(self) -> Floats:
        """The F1 of each extractor, on training sites."""
        return self.columns[F1]

    def with_f1(self, f1: Floats) -> AttributeOptions:
        """Return the same options with their F1."""
        return replace(self, columns=self.columns | {F1: f1})

    def select(self, numbers: Ints) -> AttributeOptions:
        """Return some of the options."""
        columns = {name: column[numbers] for name, column in self.columns.items()}
        return AttributeOptions(columns, self.rows[numbers], self.leaves[numbers])


def find_options(
    site: SiteFields,
    schema: Schema,
    models: Mapping[str, AttributeModel],
    rankers: Rankers,
    thresholds: Mapping[str, float] | None = None,
) -> dict[str, AttributeOptions]:
    """Return the candidate extractors of each attribute that has a model.

    Anchors have XPaths by algorithm 1. The annotator of a plain text attribute is a classifier at best, so its
    candidates include offsets from the XPaths of all attributes, or of those that the schema's hints name.

    Args:
        site: The pages.
        schema: The attributes and hints.
        models: What seed sites taught about each attribute.
        rankers: Score fields, as the method "seed" does.
        thresholds: By attribute, the share of pages on which an XPath must be annotated.
    """
    marks = annotate_site(site, schema, models)
    xpaths = _find_xpaths(site, schema, models, marks, thresholds or {})
    anchors = {name: fields[:MAX_ANCHOR_XPATHS].tolist() for name, fields in xpaths.items()}
    leaves = LeafSequence(site.table)
    extractors = Extractors(site.fields, leaves, sorted(set(chain.from_iterable(anchors.values()))))
    extended = site.with_fields(extractors)
    options = {}
    for name, attribute in schema.attributes.items():
        if name not in models:
            continue
        candidates = xpaths.get(name, np.zeros(0, np.int32))
        if attribute.type == "text":
            allowed = extended.candidates(attribute)
            near = _near_anchors(extractors, anchors, schema.hints.get(name, Hints()))
            candidates = np.concatenate([candidates, allowed[np.isin(allowed, near)]])
        if len(candidates):
            marked = marks.get(name, np.zeros(len(site.table), np.bool_))
            columns = _extractor_features(
                extended, extractors, attribute, models[name], rankers, marked, candidates
            )
            options[name] = AttributeOptions(columns, *_locate_extractors(extractors, leaves, candidates))
    return options


def _find_xpaths(
    site: SiteFields,
    schema: Schema,
    models: Mapping[str, AttributeModel],
    marks: Mapping[str, Bools],
    thresholds: Mapping[str, float],
) -> dict[str, Ints]:
    """Return the XPaths of each annotated attribute."""
    xpaths: dict[str, Ints] = {}
    for name, marked in marks.items():
        candidates = site.candidates(schema.attributes[name], models.get(name, NAME_ONLY).spans_nodes)
        share = thresholds.get(name, DEFAULT_THRESHOLD)
        xpaths[name] = choose_xpaths(site.fields, marked, candidates, share)
    return xpaths


def _near_anchors(extractors: Extractors, anchors: Mapping[str, Sequence[int]], hints: Hints) -> list[int]:
    """Return the extractors at offsets from anchors near which, and on the side where, an attribute may be."""
    near = _anchors_of(hints.near or anchors, anchors)
    earlier, later = _anchors_of(hints.after, anchors), _anchors_of(hints.before, anchors)
    chosen = []
    for number in np.flatnonzero(extractors.grouping == OFFSET).tolist():
        anchor, offset = extractors.origins[number]
        wrong_side = earlier if offset < 0 else later
        if anchor in near and anchor not in wrong_side:
            chosen.append(number)
    return chosen


def _anchors_of(names: Iterable[str], anchors: Mapping[str, Sequence[int]]) -> set[int]:
    return set(chain.from_iterable(anchors.get(name, ()) for name in names))


def _locate_extractors(extractors: Extractors, leaves: LeafSequence, numbers: Ints) -> tuple[Ints, Ints]:
    """Return the row and the leaf of each of these extractors on every page, −1 if it has none."""
    table = extractors.table
    located = np.full((len(numbers), len(table.pages)), -1, np.int32)
    for at, number in enumerate(numbers.tolist()):
        rows = extractors.rows_of(number)
        located[at, table.page[rows]] = rows
    return located, np.where(located >= 0, leaves.of[located], -1).astype(np.int32)


def _extractor_features(
    site: SiteFields,
    extractors: Extractors,
    attribute: Attribute,
    model: AttributeModel,
    rankers: Rankers,
    marks: Bools,
    candidates: Ints,
) -> dict[str, Floats]:
    """Return the features of candidate extractors by name; the fields of `site` are the extractors."""
    evidence = gather_evidence(site, candidates, attribute, model)
    score = rankers.score(evidence, EVIDENCE).astype(np.float32)
    return {
        **dict(zip(EVIDENCE, evidence.T, strict=True)),
        "annotated": extractors.mean(marks)[candidates],
        "items": np.log(np.maximum(1, extractors.mean(_count_same_slot(site))[candidates])),
        "exceptions": extractors.exceptions[candidates],
        "distinct": site.profile[candidates, PROFILE.index("distinct")],
        "agreement": _slot_agreement(extractors)[candidates],
        "by offset": (extractors.grouping[candidates] == OFFSET).astype(np.float32),
        "evidence": score,
        "evidence below best": score - score.max(initial=-np.inf),
    }


def _count_same_slot(site: SiteFields) -> Ints:
    """Return for each row the number of rows of its page in the same slot."""
    kind = group_rows(site.table.page, site.table.slot)
    return np.bincount(kind)[kind].astype(np.int32)


def _slot_agreement(extractors: Extractors) -> Floats:
    """Return for each extractor the share of its nodes in its most frequent slot."""
    kind = group_rows(extractors.field, extractors.table.slot[extractors.row])
    counts = np.bincount(kind)
    most = np.zeros(len(extractors), np.float32)
    np.maximum.at(most, extractors.field, counts[kind].astype(np.float32))
    return (most / np.maximum(1, extractors.size)).astype(np.float32)


def pair_features(first: Ints, second: Ints, order: float) -> Doubles:
    """Return the features of each extractor of one attribute with each of another, in the order of `PAIR_FEATURES`.

    Args:
        first: The leaf of each extractor of the first attribute on every page, −1 if it has none.
        second: The same for the second attribute.
        order: The share of pages of training sites on which the first attribute comes first.
    """
    one, other = first[:, None, :].astype(np.int64), second[None, :, :].astype(np.int64)
    both = (one >= 0) & (other >= 0)
    count = np.maximum(1, both.sum(axis=2))
    apart = np.where(both, np.abs(one - other), 0)
    shares = [
        np.log1p(apart).sum(axis=2),
        (both & (apart <= WINDOW)).sum(axis=2),
        (both & (apart == 0)).sum(axis=2),
    ]
    ahead = (both & (one < other)).sum(axis=2) / count
    unlike = np.where(both.any(axis=2), np.abs(ahead - order), 0)
    return np.stack([*(share / count for share in shares), unlike], axis=2)


@dataclass(frozen=True)
class ChoiceProblem:
    """Attributes and their options; the last option of each is that the site lacks the attribute.

    Attributes:
        names: The attributes.
        options: Their extractors.
        single: Of each attribute, the features of its options: of one extractor, whether it is the last option, and
            of pairs with attributes that are decided already.
        pairs: The `PAIR_FEATURES` of two attributes' options, by the numbers of the attributes.
    """

    names: tuple[str, ...]
    options: tuple[AttributeOptions, ...]
    single: tuple[Doubles, ...]
    pairs: Mapping[tuple[int, int], Doubles]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of options of each attribute."""
        return tuple(len(columns) for columns in self.single)

    def feature_vectors(self, choices: Ints) -> Doubles:
        """Return the features of combinations: a row each, with the number of an option for each attribute."""
        single = [columns[choices[:, number]] for number, columns in enumerate(self.single)]
        features: Doubles = np.sum(single, axis=0)
        for (one, other), columns in self.pairs.items():
            features[:, -len(PAIR_FEATURES) :] += columns[choices[:, one], choices[:, other]]
        return features


def make_problem(
    options: Mapping[str, AttributeOptions],
    orders: Orders,
    features: FeatureSet,
    count: int,
    decided: Mapping[str, Ints] | None = None,
) -> ChoiceProblem:
    """Return the problem of choosing an extractor for each attribute.

    Args:
        options: The options of each attribute.
        orders: The usual orders of attributes.
        features: The features of one extractor.
        count: The number of options per attribute, the most likely ones.
        decided: The leaf on every page of attributes that are decided already.
    """
    names, decided = tuple(options), decided or {}
    kept = tuple(own.select(_preselect(own, features, count)) for own in options.values())
    other_attributes = max(1, len(names) + len(decided) - 1)

    def mean_pair_features(first: str, second: str, one: Ints, other: Ints) -> Doubles:
        return pair_features(one, other, orders.get((first, second), 0.5)) / other_attributes

    width = len(features.names)
    single = []
    for name, own in zip(names, kept, strict=True):
        columns = np.zeros((len(own) + 1, width + 1 + len(PAIR_FEATURES)))
        columns[:-1, :width] = np.column_stack([own.columns[feature] for feature in features.names])
        columns[-1, width] = 1
        for other, leaves in decided.items():
            columns[:-1, -len(PAIR_FEATURES) :] += mean_pair_features(other, name, leaves[None], own.leaves)[
                0
            ]
        single.append(columns)
    pairs = {}
    for one, two in combinations(range(len(names)), 2):
        columns = mean_pair_features(names[one], names[two], kept[one].leaves, kept[two].leaves)
        pairs[one, two] = np.pad(columns, ((0, 1), (0, 1), (0, 0)))
    return ChoiceProblem(names, kept, tuple(single), pairs)


def _preselect(options: AttributeOptions, features: FeatureSet, count: int) -> Ints:
    """Return the most likely options, without duplicates of likelier ones."""
    likely = np.sum([options.columns[name] for name in features.likely], axis=0)
    kept: list[int] = []
    for number in np.argsort(-likely, kind="stable").tolist():
        if len(kept) == count:
            break
        if not _is_duplicate(options.rows[number], options.rows[kept]):
            kept.append(number)
    return np.array(kept, np.int32)


def _is_duplicate(rows: Ints, kept: Ints) -> bool:
    """Return True if an extractor has nearly the same nodes as one of those that are kept."""
    pages = (rows >= 0).sum()
    same = ((kept == rows) & (rows >= 0)).sum(axis=1)
    return bool((same >= MIN_DUPLICATE_SHARE * np.maximum(pages, (kept >= 0).sum(axis=1))).any())
