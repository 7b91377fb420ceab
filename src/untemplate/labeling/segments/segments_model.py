"""The models of the method "segments": segment the pages of a site, classify their nodes, correct the labels.

Departures from the paper: see `segmenting` and `site_knowledge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from untemplate.labeling.finding import Finding, labels_of
from untemplate.labeling.label import Label
from untemplate.labeling.methods import LabeledSite, StrictFile, read_model, write_model
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.segments.node_crf import (
    CRF,
    LabelerClassifier,
    NodeClassifier,
    NodeCRF,
    train_node_crf,
)
from untemplate.labeling.segments.segmenting import SegmentedSite
from untemplate.labeling.segments.site_knowledge import refine_labels
from untemplate.labeling.site_templates import find_on_site
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["CorrectedSeedModel", "SegmentsModel", "find_by_segments", "make_findings", "many_valued"]

# Who says so, in labels.
SOURCE = "segments"

# An attribute counts as not found if the classifier itself gave it to a smaller share of its nodes.
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
        return cls(train_node_crf(sites, schema))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_by_segments(pages, self.nodes, schema)

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
        return find_by_segments(pages, LabelerClassifier(_SeedLabeler(self.seed, schema)), schema)

    def save(self, folder: Path) -> None:
        """Write the files of the method "seed"."""
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> CorrectedSeedModel:
        """Read the files of the method "seed"."""
        return cls(SeedModel.load(folder))


@dataclass(frozen=True)
class _SeedLabeler:
    """The method "seed" as a labeler of whole sites."""

    seed: SeedModel
    schema: Schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        return labels_of(find_on_site(self.seed, pages, self.schema))


def find_by_segments(pages: Iterable[Page], classifier: NodeClassifier, schema: Schema) -> list[Finding]:
    """Return where the attributes are on pages of one site: a node classifier, corrected by site knowledge."""
    site = SegmentedSite(pages)
    classified = classifier.classify(site)
    refined = refine_labels(site, classified, many_valued(schema))
    return make_findings(site, schema, classified, refined)


def many_valued(schema: Schema) -> frozenset[str]:
    """Return the names of the attributes that may have several values."""
    return frozenset(name for name, attribute in schema.attributes.items() if attribute.many)


def make_findings(
    site: SegmentedSite, schema: Schema, classified: Sequence[str], refined: Sequence[str]
) -> list[Finding]:
    """Return a finding for each attribute of the schema.

    Args:
        site: The pages.
        schema: The attributes.
        classified: The attribute of each leaf as the node classifier judged. Where it agrees, the finding is surer.
        refined: The attribute of each leaf after correction.
    """
    return [_make_finding(site, schema, name, classified, refined) for name in schema.attributes]


def _make_finding(
    site: SegmentedSite, schema: Schema, name: str, classified: Sequence[str], refined: Sequence[str]
) -> Finding:
    leaves = [leaf for leaf, label in enumerate(refined) if label == name]
    confidence = sum(classified[leaf] == name for leaf in leaves) / max(1, len(leaves))
    rows = list(dict.fromkeys(site.row[leaves].tolist()))
    if not schema.attributes[name].many:
        rows = site.table.join_spans(rows)
    places = [(site.table.pages[site.table.page[row]], site.table.nodes[row]) for row in rows]
    coverage = len(np.unique(site.page[leaves])) / max(1, len(site.table.pages))
    is_found = bool(leaves) and confidence >= MIN_CONFIDENCE
    return Finding(name, confidence, places, coverage, is_found, SOURCE)
