"""The models of the method "segments": a node classifier, or the method "seed", corrected by site knowledge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from untemplate.labeling.label import Finding, Label, labels_of
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
from untemplate.labeling.segments.site_knowledge import RefinedLabels, refine_labels
from untemplate.labeling.site_templates import find_on_site
from untemplate.page import Node, Page
from untemplate.schema import Schema

__all__ = [
    "CorrectedSeedModel",
    "SegmentsModel",
    "find_by_segments",
    "make_findings",
    "many_valued",
]

# Who says so, in labels.
SOURCE = "segments"

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
        cls,
        sites: Sequence[LabeledSite],
        schema: Schema,
        unlabeled: Sequence[Sequence[Page]] = (),
        features: Literal["ours", "paper"] = "ours",
    ) -> SegmentsModel:
        """Learn from labeled sites; the paper's features leave out captions. The registry refuses unlabeled sites."""
        return cls(train_node_crf(sites, schema, captions=features == "ours"))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        strip = {name for name in schema.attributes if self.nodes.strips_captions(name)}
        return find_by_segments(pages, self.nodes, schema, strip)

    def save(self, folder: Path) -> None:
        """Write `segments.json` and `segments.npz`."""
        crf = self.nodes.crf
        nodes = {"taught": dict(self.nodes.taught), "stripped": dict(self.nodes.stripped)}
        content = {"labels": crf.labels, "features": crf.features, **nodes}
        write_model(folder, FILE, content, {"weights": crf.weights, "transitions": crf.transitions})

    @classmethod
    def load(cls, folder: Path) -> SegmentsModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _SegmentsFile)
        width = len(file.labels)
        weights = arrays.get("weights", np.float32, (len(file.features), width))
        transitions = arrays.get("transitions", np.float32, (width, width))
        crf = CRF(file.labels, file.features, weights, transitions)
        return cls(NodeCRF(crf, file.taught, file.stripped))


class _SegmentsFile(StrictFile):
    labels: tuple[str, ...]
    features: tuple[str, ...]
    taught: dict[str, int]
    stripped: dict[str, int]


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
        strip = {name for name in schema.attributes if self.seed.strips_captions(name)}
        return find_by_segments(pages, LabelerClassifier(_SeedLabeler(self.seed, schema)), schema, strip)

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


def find_by_segments(
    pages: Iterable[Page], classifier: NodeClassifier, schema: Schema, strip: Collection[str] = ()
) -> list[Finding]:
    """Return where the attributes are on pages of one site: a node classifier, corrected by site knowledge.

    Args:
        pages: The pages.
        classifier: Judges the leaves of the pages.
        schema: The attributes.
        strip: The attributes whose values exclude static text at the start of their node.
    """
    site = SegmentedSite(pages)
    refined = refine_labels(site, classifier.classify(site), many_valued(schema))
    return make_findings(site, schema, refined, strip)


def many_valued(schema: Schema) -> frozenset[str]:
    """Return the names of the attributes that may have several values."""
    return frozenset(name for name, attribute in schema.attributes.items() if attribute.many)


def make_findings(
    site: SegmentedSite, schema: Schema, refined: RefinedLabels, strip: Collection[str] = ()
) -> list[Finding]:
    """Return a finding for each attribute of the schema; `strip` as in `find_by_segments`."""
    findings = []
    for name in schema.attributes:
        leaves = [leaf for leaf, label in enumerate(refined.labels) if label == name]
        places = _places(site, leaves, schema.attributes[name].many, name in strip)
        coverage = len(np.unique(site.page[leaves])) / max(1, len(site.table.pages))
        confidence = refined.confidence.get(name, 0.0) if leaves else 0.0
        findings.append(Finding(name, confidence, places, coverage, bool(leaves), SOURCE))
    return findings


def _places(site: SegmentedSite, leaves: Sequence[int], many: bool, strip: bool) -> list[tuple[Page, Node]]:
    """Return the nodes of leaves with their pages; leaves that are all texts of an element are one value."""
    table = site.table
    texts = {int(site.row[leaf]): site.texts[site.text[leaf]] for leaf in leaves}
    rows = list(texts) if many else table.join_spans(list(texts))
    places = []
    for row in rows:
        node = table.nodes[row]
        is_part = strip and row in texts and texts[row] != node.text
        places.append((table.pages[table.page[row]], node.with_text(texts[row]) if is_part else node))
    return places
