"""Scored site-level extractors: a row each model as in the paper's table 2, each site labeled by four others (SWDE).

python -m benchmarks.measure.anchors                                  books and restaurants, as in the paper
python -m benchmarks.measure.anchors --vertical auto nbaplayer        other verticals
python -m benchmarks.measure.anchors --model rank --features ours -v  one model, with what is missed
python -m benchmarks.measure.anchors --window                         the paper's figure 1 only
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Score, Site, chosen_sites, labels_of, schema_of
from benchmarks.train.rankers import held_out
from untemplate.labeling.anchors.anchors_model import (
    AttributeModels,
    Lessons,
    TrainingSite,
    learn_attribute_models,
    make_lessons,
)
from untemplate.labeling.anchors.extractor_options import (
    FEATURE_SETS,
    FeatureName,
    find_options,
)
from untemplate.labeling.anchors.extractor_scoring import (
    SCORERS,
    ChosenExtractor,
    ScorerKind,
    choose_extractors,
    learn_scorer,
)
from untemplate.labeling.anchors.extractors import LeafSequence
from untemplate.labeling.nodes import NodeTable
from untemplate.schema import Schema

TRAINED = 4
"""Sites to learn from, those after the tested one."""
WINDOWS = (1, 2, 3, 5, 7, 10, 15, 20, 30)
"""LeafSequence from an anchor within which other attributes are counted."""
ANSWERED = (0.9, 0.7)
"""Shares of the attributes that are answered, the surest, when precision is measured."""
GOOD = 0.9
"""An attribute with a lower F1 is listed by -v."""


class Target:
    """A site as training sees it, and its truth."""

    def __init__(self, site: Site, schema: Schema) -> None:
        self.name = site.name
        pages, self.truth = site.pages(), site.truth()
        self.seed = TrainingSite(pages, labels_of([page.id for page in pages], self.truth), schema)
        self.table: NodeTable = self.seed.sample.site.table

    def score(self, chosen: dict[str, ChosenExtractor], schema: Schema) -> dict[str, Score]:
        """Page hits of the extractors' nodes, attributes without any true value left out."""
        scores = {}
        for name in schema.attributes:
            true = [self.truth[page.id].get(name, []) for page in self.table.pages]
            rows = chosen[name].rows.tolist() if name in chosen else []
            hits = sum(self.table.nodes[row].text in true[self.table.page[row]] for row in rows)
            scores[name] = Score(hits, len(rows), sum(map(bool, true)))
        return {name: score for name, score in scores.items() if score.true}


@dataclass(frozen=True)
class Run:
    """A model with some features that learned four sites of a vertical, tested on another."""

    vertical: str
    features: FeatureName
    model: ScorerKind
    target: str


@dataclass
class Outcomes:
    """Scores and confidences by attribute of each run; CPU seconds of training and labeling, of what is timed."""

    scores: dict[Run, dict[str, Score]] = field(default_factory=dict)
    confidence: dict[Run, dict[str, float]] = field(default_factory=dict)
    candidates: list[float] = field(default_factory=list)
    training: list[float] = field(default_factory=list)
    deciding: list[float] = field(default_factory=list)


class Teacher:
    """Teaches what sites of a vertical know; models are remembered by the sites that they learned from."""

    def __init__(self, vertical: str) -> None:
        self.schema, self.rankers = schema_of(vertical), held_out(vertical)
        self._models: dict[tuple[str, ...], AttributeModels] = {}

    def models(self, targets: Sequence[Target]) -> AttributeModels:
        key = tuple(sorted(target.name for target in targets))
        if key not in self._models:
            self._models[key] = learn_attribute_models([target.seed for target in targets], self.schema)
        return self._models[key]

    def teach(self, seeds: Sequence[Target]) -> Lessons:
        blind = [self.models([other for other in seeds if other is not seed]) for seed in seeds]
        sites = [seed.seed for seed in seeds]
        return make_lessons(sites, self.models(seeds), blind, self.schema, self.rankers)


def evaluate(
    vertical: str,
    targets: Sequence[Target],
    features: Sequence[FeatureName],
    models: Sequence[ScorerKind],
    outcomes: Outcomes,
) -> Iterator[str]:
    """Each site labeled by what the four after it taught."""
    schema = schema_of(vertical)
    teacher = Teacher(vertical)
    for number, target in enumerate(targets):
        seeds = [targets[(number + turn) % len(targets)] for turn in range(1, TRAINED + 1)]
        lessons = teacher.teach(seeds)
        started = process_time()
        options = find_options(
            target.seed.sample.site, schema, lessons.seed.attributes, teacher.rankers, lessons.thresholds
        )
        outcomes.candidates.append(process_time() - started)
        for names in features:
            for model in models:
                started = process_time()
                scorer = learn_scorer(lessons.make_problems(names), names, model)
                learned = process_time()
                chosen = choose_extractors(options, lessons.orders, scorer)
                outcomes.deciding.append(process_time() - learned)
                outcomes.training.append(learned - started)
                run = Run(vertical, names, model, target.name)
                outcomes.scores[run] = target.score(chosen, schema)
                outcomes.confidence[run] = {name: one.confidence for name, one in chosen.items()}
        yield target.name


def show(console: Console, outcomes: Outcomes, vertical: str) -> None:
    """A row each model: F1 by attribute and on average, and precision of the surest answers."""
    runs = {run: found for run, found in outcomes.scores.items() if run.vertical == vertical}
    names = list(dict.fromkeys(name for found in runs.values() for name in found))
    shares = [f"precision\nof {share:.0%}" for share in ANSWERED]
    table = Table("features", "model", *names, "average", *shares, title=f"{vertical}: F1, mean over sites")
    for features, model in dict.fromkeys((run.features, run.model) for run in runs):
        own = {run: found for run, found in runs.items() if (run.features, run.model) == (features, model)}
        by_name = [mean(found[name].f1 for found in own.values() if name in found) for name in names]
        average = mean(mean(score.f1 for score in found.values()) for found in own.values())
        surest = sorted(
            (
                (outcomes.confidence[run].get(name, 0.0), score.precision)
                for run, found in own.items()
                for name, score in found.items()
            ),
            reverse=True,
        )
        precision = [mean(each for _, each in surest[: round(share * len(surest))]) for share in ANSWERED]
        table.add_row(features, model, *(f"{one:.3f}" for one in (*by_name, average, *precision)))
    console.print(table)


def show_windows(console: Console, vertical: str, targets: Sequence[Target]) -> None:
    """The paper's figure 1: the share of values of plain text within so many leaves of a typed attribute's."""
    schema = schema_of(vertical)
    anchors = [name for name, one in schema.attributes.items() if one.type != "text"]
    table = Table("attribute", *map(str, WINDOWS), title=f"{vertical}: within so many leaves of an anchor")
    for name, attribute in schema.attributes.items():
        if attribute.type == "text":
            apart = np.concatenate([_leaves_apart(target, name, anchors) for target in targets])
            if len(apart):
                table.add_row(name, *(f"{np.mean(apart <= window):.2f}" for window in WINDOWS))
    if anchors:
        console.print(table)


def _leaves_apart(
    target: Target, name: str, anchors: Sequence[str]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of each page with an attribute and an anchor, the leaves between the nearest two."""
    examples, leaves = target.seed.sample.examples, LeafSequence(target.table)
    known = [examples[anchor].positive for anchor in anchors if anchor in examples]
    found = []
    if known and name in examples:
        for page in range(len(target.table.pages)):
            rows = np.flatnonzero(target.table.page == page)
            own = leaves.of[rows[examples[name].positive[rows]]]
            others = leaves.of[rows[np.any(known, axis=0)[rows]]]
            if len(own) and len(others):
                found.append(float(np.abs(own[:, None] - others[None]).min()))
    return np.array(found)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.anchors", description=(__doc__ or "").partition("\n")[0]
    )
    default = ["book", "restaurant"]
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=default, help="only these")
    parser.add_argument(
        "--features", nargs="+", choices=FEATURE_SETS, default=list(FEATURE_SETS), help="only these"
    )
    parser.add_argument("--model", nargs="+", choices=SCORERS, default=list(SCORERS), help="only these")
    parser.add_argument("--window", action="store_true", help="only what stands near anchors")
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
            show_windows(console, vertical, targets)
            if options.window:
                continue
            task = bar.add_task(vertical, total=len(targets))
            for _ in evaluate(vertical, targets, options.features, options.model, outcomes):
                bar.advance(task)
        show(console, outcomes, vertical)
    if outcomes.deciding:
        console.print(
            f"CPU seconds, mean: learning a model {mean(outcomes.training):.2f}, candidates and features of a new "
            f"site {mean(outcomes.candidates):.2f}, deciding {mean(outcomes.deciding):.3f}"
        )
    if options.verbose:
        for run, found in outcomes.scores.items():
            for name, score in found.items():
                if score.f1 < GOOD:
                    console.print(
                        f"{run.features} {run.model}, {run.vertical}-{run.target} {name}: F1 {score.f1:.3f}, "
                        f"confidence {outcomes.confidence[run].get(name, 0):.2f}",
                        highlight=False,
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
