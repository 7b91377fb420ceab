"""Site-level features of candidate extractors: of each by itself, and of those of two attributes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from untemplate.labeling.anchors.candidates import OFFSET, WINDOW, Extractors
from untemplate.labeling.seed.attribute_model import AttributeModel
from untemplate.labeling.seed.field_evidence import EVIDENCE, gather_evidence
from untemplate.labeling.seed.ranking import Rankers
from untemplate.labeling.seed.site_fields import PROFILE, SiteFields
from untemplate.page.arrays import Bools, Doubles, Floats, Ints, group_rows
from untemplate.schema import Attribute

__all__ = ["FEATURES", "PAIR", "FeatureSet", "Features", "measure", "measure_pair"]

Features = Literal["paper", "ours"]

_PAPER = (
    *("annotated", "words", "shape", "values"),  # content: annotated nodes, and what models say of the texts
    "caption",  # context: what the text before says
    "unlike length",
    "coverage",  # the share of pages extracted
    "items",  # nodes a page at the same place, logarithmic
    "exceptions",
    "distinct",  # content variance: the share of different texts
    "agreement",  # the share of nodes that have the same place
)
_BESIDES = (
    *("evidence", "evidence below best"),  # what the rankers of seed labelling make of a field
    *("names", "topic", "named", "named mark", "title", "best clue", "other values", "typed", "untyped"),
    *("parts", "parts below best", "parts rank", "caption below best", "content below best"),
    *("from heading", "size", "pure", "by offset"),
    *(f"unlike {name}" for name in PROFILE if name != "length"),
)


@dataclass(frozen=True)
class FeatureSet:
    """Features of one extractor; the sum of some tells which of them are looked at together with others."""

    names: tuple[str, ...]
    likely: tuple[str, ...]


FEATURES: dict[Features, FeatureSet] = {
    "paper": FeatureSet(_PAPER, ("annotated", "words", "shape", "values", "caption")),
    "ours": FeatureSet((*_PAPER, *_BESIDES), ("evidence",)),
}
"""The features that the paper lists, and ours: more of what seed labelling knows of a field."""

PAIR = ("distance", "near", "same", "unlike order")
"""Of two extractors: leaves between their nodes, logarithmic; the share of pages on which they stand within the
window, and on the same leaf; how far from training sites the share is on which the first stands first."""


def measure(
    site: SiteFields,
    attribute: Attribute,
    model: AttributeModel,
    rankers: Rankers,
    marks: Bools,
    candidates: Ints,
) -> dict[str, Floats]:
    """The features of candidate extractors, a column each; `site.fields` are extractors."""
    extractors = site.fields
    assert isinstance(extractors, Extractors)
    evidence = gather_evidence(site, candidates, attribute, model)
    columns = dict(zip(EVIDENCE, evidence.T, strict=True))
    score = rankers.score(evidence, EVIDENCE).astype(np.float32)
    by_profile = site.profile[candidates, PROFILE.index("distinct")]
    return {
        **columns,
        "annotated": extractors.mean(marks)[candidates],
        "items": np.log(np.maximum(1, extractors.mean(_alike(site))[candidates])),
        "exceptions": extractors.exceptions[candidates],
        "distinct": by_profile,
        "agreement": _agreement(extractors)[candidates],
        "by offset": (extractors.grouping[candidates] == OFFSET).astype(np.float32),
        "evidence": score,
        "evidence below best": score - score.max(initial=-np.inf),
    }


def _alike(site: SiteFields) -> Ints:
    """Of each row, how many of its page have the same place."""
    kind = group_rows(site.table.page, site.table.slot)
    return np.bincount(kind)[kind].astype(np.int32)


def _agreement(extractors: Extractors) -> Floats:
    kind = group_rows(extractors.field, extractors.table.slot[extractors.row])
    counts = np.bincount(kind)
    most = np.zeros(len(extractors), np.float32)
    np.maximum.at(most, extractors.field, counts[kind].astype(np.float32))
    return (most / np.maximum(1, extractors.size)).astype(np.float32)


def measure_pair(first: Ints, second: Ints, order: float) -> Doubles:
    """The features of two attributes' extractors, a matrix of them as `PAIR` names them.

    Each is given by its leaf on every page, −1 where it has none; `order` is the share of pages on which the first
    attribute stands first on training sites.
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
