"""The model of the method "anchors": what labeled sites taught, and the extractors it chooses on a new site.

Departures from the paper: weights are shared by all attributes, so a few training sites are enough. What the method
"seed" knows about a field is a feature. Plain texts have XPaths besides offsets, by classifiers that the training
sites taught. A site may lack an attribute, which makes its extractor less sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from untemplate.labeling.anchors.anchors_training import learn_lessons
from untemplate.labeling.anchors.extractor_options import FEATURES, PAIR_FEATURES, Orders, find_options
from untemplate.labeling.anchors.extractor_scoring import (
    ChosenExtractor,
    Scorer,
    choose_extractors,
    learn_scorer,
)
from untemplate.labeling.finding import Finding
from untemplate.labeling.methods import LabeledSite, StrictFile, read_model, write_model
from untemplate.labeling.seed.field_evidence import EVIDENCE, gather_evidence
from untemplate.labeling.seed.ranking import Rankers, load_rankers
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.labeling.seed.solution import find_other_fields, join_fields
from untemplate.labeling.site_templates import find_in_rounds
from untemplate.page import Page
from untemplate.page.arrays import Ints
from untemplate.schema import Schema

__all__ = ["AnchorsModel"]

SOURCE = FILE = "anchors"


@dataclass(frozen=True)
class AnchorsModel:
    """What labeled sites taught: models of attributes, where to search candidates, and how to score them.

    Attributes:
        seed: Models of the attributes.
        thresholds: By attribute, the share of pages on which an XPath must be annotated.
        orders: For two attributes, the share of pages on which the first comes first.
        scorer: Scores combinations of extractors.
    """

    seed: SeedModel
    thresholds: Mapping[str, float]
    orders: Orders
    scorer: Scorer

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.seed.taught

    @classmethod
    def train(
        cls,
        sites: Sequence[LabeledSite],
        schema: Schema,
        unlabeled: Sequence[Sequence[Page]] = (),
        rankers: Rankers | None = None,
    ) -> AnchorsModel:
        """Learn from two labeled sites or more; unlabeled sites are ignored."""
        lessons = learn_lessons(sites, schema, rankers or load_rankers())
        scorer = learn_scorer(lessons.make_problems(FEATURES), FEATURES)
        return cls(lessons.seed, lessons.thresholds, lessons.orders, scorer)

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_in_rounds(self._find_once, pages, schema)

    def _find_once(self, pages: Sequence[Page], schema: Schema) -> Iterator[Finding]:
        site = SiteFields(pages, schema)
        options = find_options(site, schema, self.seed.attributes, self.seed.rankers, self.thresholds)
        for name, extractor in choose_extractors(options, self.orders, self.scorer).items():
            rows, confidence = self._with_other_fields(site, schema, name, extractor)
            yield replace(self.seed.make_finding(site, schema, name, rows, confidence), source=SOURCE)

    def _with_other_fields(
        self, site: SiteFields, schema: Schema, name: str, extractor: ChosenExtractor
    ) -> tuple[Ints, float]:
        """Add fields with the attribute on pages where the extractor finds nothing."""
        attribute, model, rankers = schema.attributes[name], self.seed.attributes[name], self.seed.rankers
        fields = site.candidates(attribute, model.spans_nodes)
        evidence = gather_evidence(site, fields, attribute, model)
        score = rankers.score(evidence, EVIDENCE)
        other_fields = find_other_fields(site, fields, evidence, score, extractor.rows, rankers)
        return join_fields([(extractor.rows, extractor.confidence), *other_fields])

    def save(self, folder: Path) -> None:
        """Write `anchors.json`, `anchors.npz` and the files of the method "seed"."""
        content = {
            "model": "LR",
            "features": "ours",
            "thresholds": dict(self.thresholds),
            "orders": [[*pair, share] for pair, share in self.orders.items()],
        }
        arrays = {"weights": self.scorer.weights, "bias": self.scorer.bias, "out": self.scorer.out}
        write_model(folder, FILE, content, arrays)
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> AnchorsModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _AnchorsFile)
        weights = arrays.get("weights", np.float64, (len(FEATURES.names) + 1 + len(PAIR_FEATURES), 1))
        bias, out = (arrays.get(name, np.float64, (1,)) for name in ("bias", "out"))
        orders = {(first, second): share for first, second, share in file.orders}
        return cls(SeedModel.load(folder), file.thresholds, orders, Scorer(FEATURES, weights, bias, out))


class _AnchorsFile(StrictFile):
    """The content of `anchors.json`. Earlier versions could store other models and features."""

    model: Literal["LR"]
    features: Literal["ours"]
    thresholds: dict[str, float]
    orders: list[tuple[str, str, float]]
