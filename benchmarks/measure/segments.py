"""Site knowledge: the rows CRF, NODE, SS and ED of the paper's table 1, each site labeled by the others, on SWDE.

python -m benchmarks.measure.segments                           restaurants, as in the paper
python -m benchmarks.measure.segments --vertical book auto      other verticals
python -m benchmarks.measure.segments --row NODE SS ED -v       without the slow baseline, with what is missed
python -m benchmarks.measure.segments --trained 4               from four sites instead of all others
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean
from time import process_time
from typing import Literal

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, chosen_sites, labels_of, schema_of
from untemplate.labeling.label import Finding
from untemplate.labeling.segments.node_crf import (
    CRF,
    LeafScores,
    NodeClassifier,
    WordSequence,
    leaf_classes,
    leaf_words,
    learn_crf,
    learn_node_crf,
    mean_chances,
)
from untemplate.labeling.segments.segmenting import NOISE, SegmentedSite
from untemplate.labeling.segments.segments_model import make_findings, many_valued
from untemplate.labeling.segments.site_knowledge import (
    Distance,
    RefinedLabels,
    average_distance,
    correct_selected,
    refine_labels,
    segments_apart,
    select_best,
    select_nearest,
)
from untemplate.page import Page
from untemplate.page.arrays import Floats
from untemplate.schema import Schema

PAGES = 50
"""Pages of each site, to learn from and to label; the paper learns from 71 to 100 of each."""
GOOD = 0.9
"""An attribute with a lower F1 is listed by -v."""


Step = Literal["NODE", "SS", "ED"]
"""The classifier alone, segments selected, labels corrected."""


@dataclass(frozen=True)
class Row:
    """A row of the table: how labels are made.

    Attributes:
        step: The last step that is done.
        exact: Select segments by branch and bound, not by the paper's heuristic.
        hops: Measure distances in steps through the tree, not in segments.
        whole: Classify the words of whole pages, not those of each node.
        ours: Learn from captions too, and select segments by their expected support: the method "segments".
    """

    step: Step = "NODE"
    exact: bool = False
    hops: bool = False
    whole: bool = False
    ours: bool = False


ROWS = {
    "CRF": Row(whole=True),
    "NODE": Row(),
    "SS": Row("SS"),
    "ED": Row("ED"),
    "ED, hops": Row("ED", hops=True),
    "ED, exact": Row("ED", exact=True),
    "ours": Row("ED", ours=True),
}

BETA = 0.5
"""An attribute may be in segments with an id if it is in more than this share of them: the paper's β."""


def refine(
    site: SegmentedSite, scores: LeafScores, row: Row, many: frozenset[str] = frozenset()
) -> RefinedLabels:
    """Return the labels of all leaves after the steps of a row, each attribute as sure as its classifier was."""
    if row.ours:
        return refine_labels(site, scores, many)
    labels = scores.labels
    if row.step != "NODE":
        distance = hops_apart(site) if row.hops else segments_apart(site)
        select = select_best if row.exact else select_nearest
        selected = select(find_site_candidates(site, labels), distance)
        labels = keep_selected(site, labels, selected)
        labels = labels if row.step == "SS" else correct_selected(site, labels, selected, many)
    return RefinedLabels(labels, mean_confidence(scores, labels))


def mean_confidence(scores: LeafScores, labels: Sequence[str]) -> dict[str, float]:
    """The mean chance of each attribute where it is labeled."""
    chances: dict[str, list[float]] = {}
    for leaf, label in enumerate(labels):
        if label != NOISE:
            chances.setdefault(label, []).append(float(scores.chances[leaf, scores.names.index(label)]))
    return {name: mean(own) for name, own in chances.items()}


def find_site_candidates(site: SegmentedSite, labels: Sequence[str]) -> dict[int, frozenset[str]]:
    """The attributes that may be in the segments of each id, as in the paper."""
    return frequent_attributes(
        (segment.id, {labels[leaf] for leaf in segment.leaves} - {NOISE}) for segment in site.segments
    )


def frequent_attributes(
    segments: Iterable[tuple[int, Collection[str]]], beta: float = BETA
) -> dict[int, frozenset[str]]:
    """For each id the attributes in more than a share `beta` of its segments."""
    support: Counter[int] = Counter()
    counts: dict[int, Counter[str]] = {}
    for id, names in segments:
        support[id] += 1
        counts.setdefault(id, Counter()).update(set(names))
    return {id: more_than(name_counts, beta * support[id]) for id, name_counts in counts.items()}


def more_than(counts: Counter[str], limit: float) -> frozenset[str]:
    return frozenset(name for name, count in counts.items() if count > limit)


def keep_selected(site: SegmentedSite, labels: Sequence[str], selected: Mapping[str, int]) -> list[str]:
    """The labels inside the selected segments of their attributes; all others become noise."""
    kept = [*labels]
    for segment in site.segments:
        for leaf in segment.leaves:
            if selected.get(labels[leaf]) != segment.id:
                kept[leaf] = NOISE
    return kept


def hops_apart(site: SegmentedSite) -> Distance:
    """Return the distance in steps through the tree between the first nodes of segments, averaged over all pages."""
    chains: list[dict[int, list[Hashable]]] = [{} for _ in site.table.pages]
    for segment in site.segments:
        if segment.leaves:
            node = site.table.nodes[site.row[segment.leaves[0]]]
            ancestors: list[Hashable] = [*node.parent.iterancestors()]
            chains[segment.page][segment.id] = [*reversed(ancestors), node.parent, node]
    return average_distance(chains, _hops)


def _hops(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a is not b:
            break
        shared += 1
    return len(one) + len(other) - 2 * shared


@dataclass(frozen=True)
class StepLabeler:
    """Finds attributes by a node classifier and the steps of a row."""

    schema: Schema
    classifier: NodeClassifier
    row: Row

    def find(self, pages: Iterable[Page]) -> list[Finding]:
        site = SegmentedSite(pages)
        refined = refine(site, self.classifier.classify(site), self.row, many_valued(self.schema))
        return make_findings(site, self.schema, refined)


@dataclass
class Tally:
    """Labeled nodes and those of them that are right; pages with the attribute and those with a right node."""

    labeled: int = 0
    right: int = 0
    pages: int = 0
    found: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.labeled if self.labeled else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.pages

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


class Target:
    """Some pages of a site, segmented, with what is true of each leaf."""

    def __init__(self, site: Site, schema: Schema) -> None:
        self.name = site.name
        pages, self.truth = site.pages(), site.truth()
        chosen = pages[:: max(1, len(pages) // PAGES)][:PAGES]
        started = process_time()
        self.segmented = SegmentedSite(chosen)
        self.seconds = process_time() - started
        self.labels = leaf_classes(
            self.segmented, labels_of([page.id for page in chosen], self.truth), schema
        )

    def score(self, labels: Sequence[str], schema: Schema) -> dict[str, Tally]:
        """A label is right if the text of its node is one of the attribute's true values."""
        site, table = self.segmented, self.segmented.table
        tallies = {name: Tally() for name in schema.attributes}
        for name, tally in tallies.items():
            true = [self.truth[page.id].get(name, []) for page in table.pages]
            tally.pages = sum(map(bool, true))
            leaves = [leaf for leaf, label in enumerate(labels) if label == name]
            right = [leaf for leaf in leaves if table.nodes[site.row[leaf]].text in true[site.page[leaf]]]
            tally.labeled, tally.right = len(leaves), len(right)
            tally.found = len({int(site.page[leaf]) for leaf in right})
        return {name: tally for name, tally in tallies.items() if tally.pages}


@dataclass
class Outcomes:
    """Tallies of each row by site and attribute; CPU seconds to learn from sites, and to label one."""

    tallies: dict[tuple[str, str, str], dict[str, Tally]] = field(default_factory=dict)
    training: list[float] = field(default_factory=list)
    labeling: list[float] = field(default_factory=list)
    differ: int = 0
    compared: int = 0


@dataclass(frozen=True)
class PageCRF:
    """The paper's baseline: a CRF on the words of whole pages, whatever is static in them too; a node classifier."""

    crf: CRF

    @classmethod
    def learn(cls, sites: Iterable[tuple[SegmentedSite, Sequence[str | None]]]) -> PageCRF:
        sequences: list[tuple[WordSequence, list[str]]] = []
        for site, labels in sites:
            for leaves in site.page_leaves():
                words = [leaf_words(site, leaf) for leaf in leaves]
                own = [labels[leaf] or NOISE for leaf in leaves]
                sequences.append(
                    (
                        [word for each in words for word in each],
                        [label for each, label in zip(words, own, strict=True) for _ in each],
                    )
                )
        return cls(learn_crf(sequences))

    def classify(self, site: SegmentedSite) -> LeafScores:
        """The mean chances of each leaf's words."""
        pages = [[leaf_words(site, leaf) for leaf in leaves] for leaves in site.page_leaves()]
        marginals = self.crf.marginals([[word for words in own for word in words] for own in pages])
        chances: list[Floats] = []
        for own, found in zip(pages, marginals, strict=True):
            bounds = np.cumsum([0, *map(len, own)]).tolist()
            chances += (found[start:stop] for start, stop in pairwise(bounds))
        return LeafScores(self.crf.labels, mean_chances(self.crf, chances))


def evaluate(
    vertical: str, targets: Sequence[Target], rows: Sequence[str], trained: int, outcomes: Outcomes
) -> Iterator[str]:
    """Each site labeled by what those after it taught."""
    schema = schema_of(vertical)
    many = many_valued(schema)
    for number, target in enumerate(targets):
        seeds = [*targets[number + 1 :], *targets[:number]][:trained]
        given: dict[tuple[bool, bool], tuple[LeafScores, float]] = {}
        refined: dict[str, list[str]] = {}
        for name in rows:
            row = ROWS[name]
            kind = (row.whole, row.ours)
            if kind not in given:
                given[kind] = classify(row, seeds, target, outcomes)
            scores, seconds = given[kind]
            started = process_time()
            refined[name] = refine(target.segmented, scores, row, many).labels
            if name == "ours":
                outcomes.labeling.append(target.seconds + seconds + process_time() - started)
            outcomes.tallies[vertical, name, target.name] = target.score(refined[name], schema)
        if {"ED", "ED, exact"} <= refined.keys():
            outcomes.compared += 1
            outcomes.differ += refined["ED"] != refined["ED, exact"]
        yield target.name


def classify(
    row: Row, seeds: Sequence[Target], target: Target, outcomes: Outcomes
) -> tuple[LeafScores, float]:
    """The scores of a target before any correction, and the seconds that they took."""
    started = process_time()
    sites = [(seed.segmented, seed.labels) for seed in seeds]
    learned = PageCRF.learn(sites) if row.whole else learn_node_crf(sites, row.ours)
    if row.ours:
        outcomes.training.append(process_time() - started)
    started = process_time()
    return learned.classify(target.segmented), process_time() - started


def show(console: Console, outcomes: Outcomes, vertical: str, rows: Sequence[str]) -> None:
    table = Table(vertical, "attribute", *rows, title="Labels of a new site, mean over sites")
    own = {key[1:]: found for key, found in outcomes.tallies.items() if key[0] == vertical}
    names = list(dict.fromkeys(name for found in own.values() for name in found))
    for measure in ("precision", "recall", "f1"):
        for name in (*names, "overall"):
            wanted = names if name == "overall" else [name]
            table.add_row(
                measure if name == names[0] else "",
                name,
                *(f"{average(own, row, wanted, measure):.3f}" for row in rows),
                end_section=name == "overall",
            )
    console.print(table)


def average(
    tallies: Mapping[tuple[str, str], dict[str, Tally]], row: str, names: Sequence[str], measure: str
) -> float:
    return mean(
        getattr(found[name], measure)
        for (own, _), found in tallies.items()
        for name in names
        if own == row and name in found
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.segments", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=["restaurant"], help="only these")
    parser.add_argument("--row", nargs="+", choices=ROWS, default=list(ROWS), help="only these")
    parser.add_argument("--trained", type=int, default=9, help="sites to learn from (default: 9, all others)")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is missed")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    outcomes = Outcomes()
    for vertical in options.vertical:
        try:
            sites = chosen_sites([vertical], ())
        except FileNotFoundError as missing:
            console.print(f"skipped: {missing}")
            return 0
        with Progress(console=Console(stderr=True), transient=True) as bar:
            targets = [Target(site, schema_of(vertical)) for site in bar.track(sites, description="reading")]
            task = bar.add_task(vertical, total=len(targets))
            for _ in evaluate(vertical, targets, options.row, options.trained, outcomes):
                bar.advance(task)
        show(console, outcomes, vertical, options.row)
    if outcomes.compared:
        console.print(f"The exact selection differs on {outcomes.differ} of {outcomes.compared} sites.")
    if outcomes.labeling:
        console.print(
            f"CPU seconds, mean: training {mean(outcomes.training):.1f}, "
            f"labeling {mean(outcomes.labeling):.2f} a site of {PAGES} pages"
        )
    if options.verbose:
        for (vertical, row, site), found in outcomes.tallies.items():
            for name, tally in found.items():
                if row == options.row[-1] and tally.f1 < GOOD:
                    console.print(f"{row}, {vertical}-{site} {name}: F1 {tally.f1:.3f}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
