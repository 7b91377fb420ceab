"""The method "segments": segment a site's pages, classify their nodes, select segments, correct labels.

Departures: labels inside nodes end with a colon; an attribute of which the schema says `many` may have values that
are not contiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from untemplate.labeling.finding import Finding, labels_of
from untemplate.labeling.label import Label
from untemplate.labeling.methods import LabeledSite, StrictFile, read_model, write_model
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.segments.classifying import FromLabels, NodeClassifier, NodeCRF, learn_nodes
from untemplate.labeling.segments.correcting import NOISE, correct_labels
from untemplate.labeling.segments.crf import CRF
from untemplate.labeling.segments.segmenting import Segmented
from untemplate.labeling.segments.selecting import (
    Measure,
    find_candidates,
    hops_apart,
    segments_apart,
    select_exactly,
    select_nearest,
)
from untemplate.labeling.site_templates import find_on_site
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["CorrectedSeedModel", "SegmentLabeler", "SegmentsModel", "Step", "refine"]

Step = Literal["NODE", "SS", "ED"]

# Who says so, in labels.
SOURCE = "segments"

# An attribute on fewer of its nodes than this share that the classifier itself labelled counts as not found.
MIN_CONFIDENCE = 0.5

FILE = "segments"


@dataclass(frozen=True)
class SegmentsModel:
    """A node classifier that labeled sites taught; site knowledge corrects its labels."""

    nodes: NodeCRF

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.nodes.taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> SegmentsModel:
        """Learn from labeled sites; unlabeled sites are ignored."""
        return cls(learn_nodes(sites, schema))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return SegmentLabeler(schema, self.nodes).find(pages)

    def save(self, folder: Path) -> None:
        """Write `segments.json` and `segments.npz`."""
        crf = self.nodes.crf
        content = {"labels": crf.labels, "features": crf.features, "taught": dict(self.nodes.taught)}
        write_model(folder, FILE, content, {"weights": crf.weights, "transitions": crf.transitions})

    @classmethod
    def load(cls, folder: Path) -> SegmentsModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _SegmentsFile)
        width = len(file.labels)
        weights = arrays.get("weights", np.float32, (len(file.features), width))
        transitions = arrays.get("transitions", np.float32, (width, width))
        return cls(NodeCRF(CRF(file.labels, file.features, weights, transitions), file.taught))


class _SegmentsFile(StrictFile):
    labels: tuple[str, ...]
    features: tuple[str, ...]
    taught: dict[str, int]


@dataclass(frozen=True)
class CorrectedSeedModel:
    """The method "seed" as node classifier: site knowledge corrects what it labels."""

    seed: SeedModel

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.seed.taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> CorrectedSeedModel:
        """Learn as the method "seed" does."""
        return cls(SeedModel.train(sites, schema, unlabeled))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return SegmentLabeler(schema, FromLabels(_SeedLabeler(self.seed, schema))).find(pages)

    def save(self, folder: Path) -> None:
        """Write the files of the method "seed"."""
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> CorrectedSeedModel:
        """Read the files of the method "seed"."""
        return cls(SeedModel.load(folder))


@dataclass(frozen=True)
class _SeedLabeler:
    seed: SeedModel
    schema: Schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        return labels_of(find_on_site(self.seed, pages, self.schema))


@dataclass(frozen=True)
class SegmentLabeler:
    """Labels pages of one site by a node classifier, corrected by what the site repeats; a labeler.

    `step` is how far it goes: the classifier alone, segments selected, labels corrected; `exact` is not to select
    them by the paper's heuristic.
    """

    schema: Schema
    classifier: NodeClassifier
    step: Step = "ED"
    exact: bool = True
    measure: Measure = "segments"

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """The labels of pages of one site; attributes that the site does not seem to have get none."""
        return labels_of(self.find(pages))

    def find(self, pages: Iterable[Page]) -> list[Finding]:
        """Where each attribute of the schema stands on pages of one site, as far as it is known."""
        site = Segmented(pages)
        given = self.classifier.classify(site)
        many = frozenset(name for name, one in self.schema.attributes.items() if one.many)
        refined = refine(site, given, many, self.step, self.exact, self.measure)
        return [self._finding(site, name, given, refined) for name in self.schema.attributes]

    def _finding(self, site: Segmented, name: str, given: Sequence[str], refined: Sequence[str]) -> Finding:
        leaves = [leaf for leaf, label in enumerate(refined) if label == name]
        confidence = sum(given[leaf] == name for leaf in leaves) / max(1, len(leaves))
        rows = list(dict.fromkeys(site.row[leaves].tolist()))
        if not self.schema.attributes[name].many:
            rows = site.table.join_spans(rows)
        places = [(site.table.pages[site.table.page[row]], site.table.nodes[row]) for row in rows]
        share = len(np.unique(site.page[leaves])) / max(1, len(site.table.pages))
        return Finding(name, confidence, places, share, bool(leaves) and confidence >= MIN_CONFIDENCE, SOURCE)


def refine(
    site: Segmented,
    labels: Sequence[str],
    many: frozenset[str] = frozenset(),
    step: Step = "ED",
    exact: bool = True,
    measure: Measure = "segments",
) -> list[str]:
    """The labels of all leaves, corrected up to a step."""
    refined = [*labels]
    if step == "NODE":
        return refined
    found = [(segment.id, {labels[leaf] for leaf in segment.leaves} - {NOISE}) for segment in site.segments]
    distance = hops_apart(site) if measure == "hops" else segments_apart(site)
    selected = (select_exactly if exact else select_nearest)(find_candidates(found), distance)
    for segment in site.segments:
        for leaf in segment.leaves:
            if selected.get(labels[leaf]) != segment.id:
                refined[leaf] = NOISE
    if step == "SS":
        return refined
    for id in set(selected.values()):
        own = [segment for segment in site.segments if segment.id == id]
        nodes = [tuple((refined[leaf], int(site.path[leaf])) for leaf in segment.leaves) for segment in own]
        for segment, corrected in zip(own, correct_labels(nodes, many), strict=True):
            refined[segment.leaves.start : segment.leaves.stop] = corrected
    return refined
