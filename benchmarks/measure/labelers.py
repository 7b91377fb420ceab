"""All labelers side by side: each site of SWDE labeled by what four others taught, to rules, to records.

python -m benchmarks.measure.labelers                             all of them, all verticals
python -m benchmarks.measure.labelers --vertical book --every 2   a quick look
python -m benchmarks.measure.labelers --labeler seed "segments, ED" -v    two of them, with what is missed
python -m benchmarks.measure.labelers --made-up                   whole made-up sites, their list pages and all
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from statistics import mean
from time import process_time
from typing import Protocol

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.data import made_up
from benchmarks.data.made_up import MadeUp, made_up_sites
from benchmarks.data.swde import VERTICALS, Score, Site, chosen_sites, labels_of, schema_of
from benchmarks.measure.seed import GOOD, Target, train_seed
from benchmarks.measure.segments import PageCRF, Row, StepLabeler
from benchmarks.train.rankers import held_out
from untemplate import Knowledge, Label, Page, Schema, train
from untemplate.labeling.anchors import AnchorsModel
from untemplate.labeling.anchors.anchors_model import Lessons, learn_lessons
from untemplate.labeling.anchors.extractor_scoring import ScorerKind
from untemplate.labeling.label import Finding
from untemplate.labeling.label import labels_of as labels_found
from untemplate.labeling.seed.field_ranking import Rankers, load_rankers
from untemplate.labeling.segments.node_crf import (
    LabelerClassifier,
    NodeClassifier,
    leaf_classes,
    train_node_crf,
)
from untemplate.labeling.segments.segmenting import SegmentedSite

TRAINED = 4
"""Sites to learn from, as many pages of each as are labeled of the new site."""
ANSWERED = (0.9, 0.7)
"""Precision is told where a labeler answers these shares of the attributes, those it is surest of."""


class Finder(Protocol):
    def find(self, pages: Iterable[Page]) -> list[Finding]: ...


@dataclass
class Training:
    """Some labeled sites of a vertical, and what they teach each method, learned once."""

    vertical: str
    sites: Sequence[tuple[Sequence[Page], Sequence[Label]]]
    rankers: Rankers
    _known: dict[str, Knowledge] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        return schema_of(self.vertical)

    def knowledge(self, method: str) -> Knowledge:
        if method not in self._known:
            self._known[method] = train(self.sites, self.schema, method)
        return self._known[method]

    @cached_property
    def seed(self) -> Knowledge:
        return train_seed(self.sites, self.schema, self.rankers)

    def scored(self, kind: ScorerKind) -> Knowledge:
        return Knowledge(self.schema, AnchorsModel.from_lessons(self.lessons, ranker=kind))

    @cached_property
    def lessons(self) -> Lessons:
        return learn_lessons(self.sites, self.schema, self.rankers)

    @cached_property
    def nodes(self) -> NodeClassifier:
        return train_node_crf(self.sites, self.schema, captions=False)

    def whole_pages(self) -> NodeClassifier:
        sites = [(SegmentedSite(pages), labels) for pages, labels in self.sites]
        return PageCRF.learn((site, leaf_classes(site, labels, self.schema)) for site, labels in sites)


LABELERS: dict[str, Callable[[Training], Finder]] = {
    "seed, paper": lambda sites: sites.knowledge("paper"),
    "seed": lambda sites: sites.seed,
    "segments, CRF": lambda sites: StepLabeler(sites.schema, sites.whole_pages(), Row("NODE")),
    "segments, NODE": lambda sites: StepLabeler(sites.schema, sites.nodes, Row("NODE")),
    "segments, SS": lambda sites: StepLabeler(sites.schema, sites.nodes, Row("SS")),
    "segments, ED": lambda sites: StepLabeler(sites.schema, sites.nodes, Row("ED")),
    "segments": lambda sites: sites.knowledge("segments"),
    "seed+segments": lambda sites: StepLabeler(sites.schema, LabelerClassifier(sites.seed), Row(ours=True)),
    "anchors, LR": lambda sites: sites.scored("LR"),
    "anchors, NN": lambda sites: sites.scored("NN"),
    "anchors, SVM": lambda sites: sites.scored("SVM"),
    "anchors, rank": lambda sites: sites.scored("rank"),
    "HCRF": lambda sites: sites.knowledge("hcrf"),
}


@dataclass(frozen=True)
class Answer:
    """What a labeler made of one attribute of a site, and how sure it was; 0 if it did not answer."""

    confidence: float
    score: Score


Answers = dict[tuple[str, str, str, str], Answer]
"""By vertical, labeler, site and attribute."""


def evaluate(
    vertical: str,
    targets: Sequence[Target],
    labelers: Sequence[str],
    answers: Answers,
    seconds: Mapping[str, list[float]],
    tested: int,
    rankers: Rankers,
) -> Iterator[str]:
    """So many sites, evenly spread, each labeled by what the four after it taught."""
    seeds = [(one.labeled, labels_of(records_among(one), one.truth)) for one in targets]
    for turn in range(min(tested, len(targets))):
        number = turn * len(targets) // tested
        target = targets[number]
        sites = [seeds[(number + n) % len(targets)] for n in range(1, TRAINED + 1)]
        training = Training(vertical, sites, rankers)
        for name in labelers:
            labeler = LABELERS[name](training)
            started = process_time()
            findings = labeler.find(target.labeled)
            seconds[name].append(process_time() - started)
            sure = {one.attribute: one.confidence for one in findings if one.found}
            for attribute, tally in target.score(labels_found(findings)).items():
                answers[vertical, name, target.site.name, attribute] = Answer(sure.get(attribute, 0.0), tally)
            yield name


def records_among(target: Target) -> list[str]:
    """The pages to be labeled that have any value."""
    return [page.id for page in target.labeled if any(target.truth[page.id].values())]


def precision_at(answers: Sequence[Answer], share: float) -> float | None:
    """Mean precision of the surest answers, such a share of all; None if fewer are answered."""
    surest = sorted(answers, key=lambda answer: -answer.confidence)[: ceil(share * len(answers))]
    return mean(one.score.precision for one in surest) if surest[-1].confidence > 0 else None


def show(console: Console, answers: Answers, verticals: Sequence[str], seconds: Mapping[str, float]) -> None:
    table = Table("labeler", "vertical", "precision", "recall", "F1", title="End to end, four training sites")
    for share in ANSWERED:
        table.add_column(f"precision,\n{share:.0%} answered")
    table.add_column("CPU s\na site")
    for name in dict.fromkeys(key[1] for key in answers):
        rows = {v: [a for key, a in answers.items() if key[:2] == (v, name)] for v in verticals}
        for vertical, own in rows.items():
            table.add_row(name, vertical, *_figures([own]))
        table.add_row(name, "mean", *_figures(list(rows.values())), f"{seconds[name]:.1f}", end_section=True)
    console.print(table)


def _figures(verticals: Sequence[Sequence[Answer]]) -> Iterator[str]:
    for measure in ("precision", "recall", "f1"):
        yield f"{mean(mean(getattr(one.score, measure) for one in own) for own in verticals):.3f}"
    for share in ANSWERED:
        found = precision_at([one for own in verticals for one in own], share)
        yield "" if found is None else f"{found:.3f}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.labelers", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--made-up", action="store_true", help="whole made-up sites, not those of SWDE")
    parser.add_argument("--vertical", nargs="+", help="only these")
    parser.add_argument("--labeler", nargs="+", choices=LABELERS, default=list(LABELERS), help="only these")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of N pages only one: a quick look")
    parser.add_argument("--tested", type=int, default=10, metavar="N", help="sites to be labeled, of 10")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is missed")
    options = parser.parse_args(arguments)
    known = made_up.VERTICALS if options.made_up else VERTICALS
    verticals = options.vertical or list(known)
    if unknown := set(verticals).difference(known):
        parser.error(f"no vertical {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    answers: Answers = {}
    seconds: dict[str, list[float]] = {name: [] for name in options.labeler}
    for vertical in verticals:
        sites: Sequence[Site | MadeUp]
        if options.made_up:
            sites, rankers = made_up_sites(vertical), load_rankers()
        else:
            try:
                sites, rankers = chosen_sites([vertical], (), options.every), held_out(vertical)
            except FileNotFoundError as missing:
                console.print(f"skipped: {missing}")
                return 0
        with Progress(console=Console(stderr=True), transient=True) as bar:
            targets = [Target(site) for site in bar.track(sites, description="reading")]
            total = min(options.tested, len(targets)) * len(options.labeler)
            task = bar.add_task(vertical, total=total)
            for _ in evaluate(vertical, targets, options.labeler, answers, seconds, options.tested, rankers):
                bar.advance(task)
    show(console, answers, verticals, {name: mean(own) for name, own in seconds.items()})
    if options.verbose:
        for (vertical, name, site, attribute), answer in answers.items():
            if answer.score.f1 < GOOD:
                console.print(
                    f"{name}, {vertical}-{site} {attribute}: F1 {answer.score.f1:.3f}", highlight=False
                )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
