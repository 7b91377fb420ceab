"""What is to be decided on a site: one extractor, or none, for each attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from untemplate.labeling.anchors.annotators import annotate
from untemplate.labeling.anchors.candidates import OFFSET, XPATHS, Extractors, choose_xpaths
from untemplate.labeling.anchors.features import PAIR, FeatureSet, measure, measure_pair
from untemplate.labeling.anchors.leaves import Leaves
from untemplate.labeling.seed.attribute_model import NAME_ONLY, AttributeModel
from untemplate.labeling.seed.ranking import Rankers
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.page.arrays import Doubles, Floats, Ints
from untemplate.schema import Hints, Schema

__all__ = ["Options", "Orders", "Problem", "find_options", "pose", "prune"]

# Extractors with the same node on this share of their pages are one, told twice.
ALIKE = 0.9
# Threshold of algorithm 1 for an attribute that training sites do not tell about.
UNKNOWN = 0.1

F1 = "F1"

Orders = Mapping[tuple[str, str], float]
"""Of two attributes, the share of pages on which the first stands first."""


@dataclass(frozen=True)
class Options:
    """The candidate extractors of one attribute: their features, and of each its row and leaf on every page."""

    columns: dict[str, Floats]
    rows: Ints
    leaves: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def f1(self) -> Floats:
        """How right each is, where that is known."""
        return self.columns[F1]

    def judged(self, f1: Floats) -> Options:
        """The same with how right each is."""
        return replace(self, columns=self.columns | {F1: f1})

    def among(self, chosen: Ints) -> Options:
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return Options(columns, self.rows[chosen], self.leaves[chosen])


def find_options(
    site: SiteFields,
    schema: Schema,
    models: Mapping[str, AttributeModel],
    rankers: Rankers,
    thresholds: Mapping[str, float] | None = None,
) -> dict[str, Options]:
    """The candidate extractors of each attribute that has a model.

    Anchors have XPaths by algorithm 1. An attribute of plain text, whose annotator is a classifier at best, is
    looked for at offsets from the XPaths of all attributes besides, or of those that the schema's hints name.
    """
    thresholds = thresholds or {}
    marks = annotate(site, schema, models)
    base, leaves = site.fields, Leaves(site.table)
    xpaths: dict[str, Ints] = {}
    for name, marked in marks.items():
        own = site.candidates(schema.attributes[name], models.get(name, NAME_ONLY).spans_nodes)
        xpaths[name] = choose_xpaths(base, marked, own, thresholds.get(name, UNKNOWN))
    anchors = {name: found[:XPATHS].tolist() for name, found in xpaths.items()}
    extractors = Extractors(base, leaves, sorted({one for found in anchors.values() for one in found}))
    extended = site.with_fields(extractors)
    options = {}
    for name, attribute in schema.attributes.items():
        if name not in models:
            continue
        found = xpaths.get(name, np.zeros(0, np.int32))
        if attribute.type == "text":
            own = extended.candidates(attribute)
            near = _offsets(extractors, anchors, schema.hints.get(name, Hints()))
            found = np.concatenate([found, own[np.isin(own, near)]])
        if len(found):
            marked = marks.get(name, np.zeros(len(site.table), np.bool_))
            columns = measure(extended, attribute, models[name], rankers, marked, found)
            options[name] = Options(columns, *_placed(extractors, leaves, found))
    return options


def _offsets(extractors: Extractors, anchors: Mapping[str, Sequence[int]], hints: Hints) -> list[int]:
    """The extractors at offsets from anchors near which an attribute may stand, on the side where it may."""
    near = hints.near or (*anchors,)
    allowed = {one for name in near for one in anchors.get(name, ())}
    behind = {one for name in hints.after for one in anchors.get(name, ())}
    return [
        number
        for number, (anchor, offset) in enumerate(extractors.origins)
        if extractors.grouping[number] == OFFSET
        and anchor in allowed
        and (offset > 0 or anchor not in behind)
    ]


def _placed(extractors: Extractors, leaves: Leaves, numbers: Ints) -> tuple[Ints, Ints]:
    table = extractors.table
    rows = np.full((len(numbers), len(table.pages)), -1, np.int32)
    for at, number in enumerate(numbers.tolist()):
        own = extractors.rows_of(number)
        rows[at, table.page[own]] = own
    return rows, np.where(rows >= 0, leaves.of[rows], -1).astype(np.int32)


def prune(options: Options, features: FeatureSet, count: int) -> Ints:
    """The most likely options by themselves, without those that are nearly the same as a likelier one."""
    likely = np.sum([options.columns[name] for name in features.likely], axis=0)
    kept: list[int] = []
    for one in np.argsort(-likely, kind="stable").tolist():
        if len(kept) == count:
            break
        own = options.rows[one]
        pages = (own >= 0).sum()
        others = options.rows[kept]
        same = ((others == own) & (own >= 0)).sum(axis=1)
        if not (same >= ALIKE * np.maximum(pages, (others >= 0).sum(axis=1))).any():
            kept.append(one)
    return np.array(kept, np.int32)


@dataclass(frozen=True)
class Problem:
    """Attributes and the features of their options; the last option of each is that the site does not have it."""

    names: tuple[str, ...]
    options: tuple[Options, ...]
    single: tuple[Doubles, ...]
    #: of the first and the second attribute, by their numbers; as `PAIR` names them
    pairs: Mapping[tuple[int, int], Doubles]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many options each attribute has."""
        return tuple(len(columns) for columns in self.single)

    def features_of(self, choices: Ints) -> Doubles:
        """The feature vectors of site-level extractors: a row each, an option for each attribute."""
        features: Doubles = np.sum([own[choices[:, one]] for one, own in enumerate(self.single)], axis=0)
        for (one, other), found in self.pairs.items():
            features[:, -len(PAIR) :] += found[choices[:, one], choices[:, other]]
        return features


def pose(
    options: Mapping[str, Options],
    orders: Orders,
    features: FeatureSet,
    count: int,
    given: Mapping[str, Ints] | None = None,
) -> Problem:
    """The problem of choosing among the likeliest options; `given` are the leaves of attributes already decided."""
    names, given = tuple(options), given or {}
    kept = tuple(one.among(prune(one, features, count)) for one in options.values())
    others = max(1, len(names) + len(given) - 1)

    def pair(first: str, second: str, one: Ints, other: Ints) -> Doubles:
        return measure_pair(one, other, orders.get((first, second), 0.5)) / others

    single = []
    for name, one in zip(names, kept, strict=True):
        columns = np.zeros((len(one) + 1, len(features.names) + 1 + len(PAIR)))
        columns[:-1, : len(features.names)] = np.column_stack([one.columns[each] for each in features.names])
        columns[-1, len(features.names)] = 1
        for other, leaves in given.items():
            columns[:-1, -len(PAIR) :] += pair(other, name, leaves[None], one.leaves)[0]
        single.append(columns)
    pairs = {
        (one, other): np.pad(
            pair(names[one], names[other], kept[one].leaves, kept[other].leaves), ((0, 1), (0, 1), (0, 0))
        )
        for one, other in combinations(range(len(names)), 2)
    }
    return Problem(names, kept, tuple(single), pairs)
