"""The flow of the paper: segment a site's pages, classify their nodes, select segments, correct labels.

Departures: labels inside nodes end with a colon; an attribute of which the schema says `many` may have values that
are not contiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from untemplate.labeling.finding import Finding, labels_of
from untemplate.labeling.label import Label
from untemplate.labeling.segments.classifying import NodeClassifier
from untemplate.labeling.segments.correcting import NOISE, correct_labels
from untemplate.labeling.segments.segmenting import Segmented
from untemplate.labeling.segments.selecting import (
    Measure,
    find_candidates,
    hops_apart,
    segments_apart,
    select_exactly,
    select_nearest,
)
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["SegmentLabeler", "Step", "refine"]

Step = Literal["NODE", "SS", "ED"]

# Who says so, in labels.
SOURCE = "segments"

# An attribute on fewer of its nodes than this share that the classifier itself labelled counts as not found.
MIN_CONFIDENCE = 0.5


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
            rows = site.ground.join(rows)
        places = [(site.ground.pages[site.ground.page[row]], site.ground.rows[row]) for row in rows]
        share = len(np.unique(site.page[leaves])) / max(1, len(site.ground.pages))
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
