"""Sites nobody labeled: labels by knowledge of one, three and five seed sites, to rules, to records, on SWDE.

python -m benchmarks.measure.seed                          everything: both methods, every step of the paper's
python -m benchmarks.measure.seed --method untemplate --k 1    ours, one seed site
python -m benchmarks.measure.seed --method paper --chart seed.svg    the paper's three steps, and their chart
python -m benchmarks.measure.seed --turns 10 -v            every site as seed, with what is missed
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, pstdev
from time import process_time
from typing import Generic, TypeVar
from unittest.mock import patch

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.data.made_up import MadeUp
from benchmarks.data.swde import VERTICALS, Score, Site, chosen_sites, labels_of, schema_of, score
from benchmarks.train.rankers import held_out
from untemplate import Knowledge, Label, Page, learn, train
from untemplate.labeling.label import Finding
from untemplate.labeling.label import labels_of as as_labels
from untemplate.labeling.seed import paper_model, seed_model
from untemplate.labeling.seed.field_ranking import Rankers
from untemplate.labeling.seed.paper_model import (
    Adapted,
    PaperModel,
    adapt_fields,
    adapt_jointly,
    adapt_pages,
    make_paper_findings,
    merge_solutions,
)
from untemplate.labeling.seed.paper_site import PaperSite, SeedSite
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.labeling.site_templates import pages_of_labeled_templates
from untemplate.schema import Schema

Step = Callable[[PaperSite, SeedSite], Adapted]

METHODS: dict[str, Step | None] = {
    "untemplate": None,
    "untemplate, together": None,
    "paper: PL": adapt_pages,
    "paper: PL+IP": adapt_fields,
    "paper: PL+IP+IA": adapt_jointly,
}
OURS = "untemplate"
PAPER = "paper"
"""Stands for the three steps of the paper's method."""
TOGETHER = "untemplate, together"
"""Labels all sites that are no seeds at once: each teaches the others."""
SEEDS = (1, 3, 5)
TURNS = 2
"""Of the ten sites of a vertical so many are the first seed site, evenly spread."""
LABELED = 50
"""Pages of the new site that are labeled; all others are tested."""
MAX_EVERY = 3
"""A site has 200 pages: if fewer were read, none would be left to test."""
GOOD = 0.95
"""An attribute with a lower F1 is listed by -v."""

Scores = dict[str, Score]


@dataclass(frozen=True)
class Run:
    """A method that learned some sites of a vertical, tested on another."""

    method: str
    vertical: str
    seeds: tuple[str, ...]
    target: str


@dataclass(frozen=True)
class PaperSteps(PaperModel):
    """The paper's method up to one of its steps."""

    step: Step

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        site = paper_model.PaperSite(pages)
        return make_paper_findings(site, merge_solutions([self.step(site, seed) for seed in self.seeds]))


def up_to(knowledge: Knowledge, step: Step) -> Knowledge:
    """Knowledge trained by the paper's method that goes only up to a step."""
    assert isinstance(knowledge.model, PaperModel)
    return Knowledge(knowledge.schema, PaperSteps(knowledge.model.seeds, step))


def train_seed(
    sites: Sequence[tuple[Sequence[Page], Sequence[Label]]],
    schema: Schema,
    rankers: Rankers,
) -> Knowledge:
    """Train the method "seed" with rankers that saw other verticals only."""
    labeled = [(pages_of_labeled_templates(pages, labels), labels) for pages, labels in sites]
    return Knowledge(schema, SeedModel.train(labeled, schema, rankers=rankers))


BuiltSite = TypeVar("BuiltSite")


class RememberedSites(Generic[BuiltSite]):
    """Prepares the same pages once: all turns of seed sites and all methods search the same sites."""

    def __init__(self, build: Callable[..., BuiltSite]) -> None:
        self._build = build
        self._sites: dict[tuple[object, ...], BuiltSite] = {}

    def __call__(self, pages: Iterable[Page], *schema: Schema, **options: bool) -> BuiltSite:
        known_pages = list(pages)
        key = (*options.values(), *map(id, known_pages))
        if key not in self._sites:
            self._sites[key] = self._build(known_pages, *schema, **options)
        return self._sites[key]

    def __len__(self) -> int:
        return len(self._sites)


@dataclass
class Outcomes:
    """F1 per attribute of each run, and CPU seconds of training and labeling sites that were not searched before."""

    scores: dict[Run, Scores] = field(default_factory=dict)
    training: dict[str, list[float]] = field(default_factory=dict)
    labeling: dict[str, list[float]] = field(default_factory=dict)


class Target:
    """A site to be labeled; what rules make of the same labels is remembered, since many seeds say the same."""

    def __init__(self, site: Site | MadeUp, labels_only: bool = False) -> None:
        self.site = site
        self.labels_only = labels_only
        self.pages = site.pages()
        self.truth = site.truth()
        step = max(1, len(self.pages) // LABELED)
        self.labeled = self.pages[::step][:LABELED]
        known = {page.id for page in self.labeled}
        self.tested = [page for page in self.pages if page.id not in known]
        self._scores: dict[frozenset[tuple[str, str, str | None]], Scores] = {}

    def score(self, labels: Sequence[Label]) -> Scores:
        """Labels to rules to records, scored on the pages that were not labeled; or the labels themselves."""
        if self.labels_only:
            values: dict[str, dict[str, str | None]] = {}
            for label in labels:
                values.setdefault(label.page, {}).setdefault(label.attribute, label.value)
            return score(lambda page: values.get(page.id, {}), self.labeled, self.truth)
        key = frozenset((label.page, label.attribute, label.xpath) for label in labels)
        if key not in self._scores:
            rules = learn(self.pages, labels, schema_of(self.site.vertical)) if labels else None

            def extract(page: Page) -> dict[str, str | None]:
                record = next(rules.extract([page])) if rules else None
                return {name: record[name] for name in record.values} if record else {}

            self._scores[key] = score(extract, self.tested, self.truth)
            for page in self.pages:
                page.release()
        return self._scores[key]


def turns(names: Sequence[str], k: int, count: int) -> list[tuple[str, ...]]:
    """Each site in turn and the k - 1 that follow it; of all turns so many, evenly spread."""
    every = [tuple(names[(first + n) % len(names)] for n in range(k)) for first in range(len(names))]
    return [every[number * len(every) // count] for number in range(min(count, len(every)))]


def evaluate(
    vertical: str,
    sites: Sequence[Site],
    methods: Sequence[str],
    ks: Sequence[int],
    count: int,
    outcomes: Outcomes,
    labels_only: bool = False,
) -> Iterator[Run]:
    """Every method with every turn of seed sites, on all other sites of a vertical."""
    targets = {site.name: Target(site, labels_only) for site in sites}
    ours, papers = RememberedSites(SiteFields), RememberedSites(PaperSite)

    def count_built() -> int:
        return len(ours) + len(papers)

    with patch.object(seed_model, "SiteFields", ours), patch.object(paper_model, "PaperSite", papers):
        for k in ks:
            for seeds in turns(list(targets), k, count):
                yield from evaluate_turn(vertical, targets, seeds, methods, outcomes, count_built)
                for target in targets.values():
                    for page in target.pages:
                        page.release()


def evaluate_turn(
    vertical: str,
    targets: Mapping[str, Target],
    seeds: tuple[str, ...],
    methods: Sequence[str],
    outcomes: Outcomes,
    count_built: Callable[[], int],
) -> Iterator[Run]:
    """Every method with some seed sites, on all other sites of a vertical.

    Only sites that were not searched before count for the CPU time; `count_built` returns how many were.
    """
    schema = schema_of(vertical)
    seed_sites = [
        (targets[name].pages, labels_of([page.id for page in targets[name].pages], targets[name].truth))
        for name in seeds
    ]
    others = [target for name, target in targets.items() if name not in seeds]
    knowledge: dict[str, Knowledge] = {}
    for method in methods:
        step = METHODS[method]
        kind = PAPER if step else OURS
        if kind not in knowledge:
            started, built = process_time(), count_built()
            knowledge[kind] = (
                train(seed_sites, schema, PAPER)
                if step
                else train_seed(seed_sites, schema, held_out(vertical))
            )
            if count_built() == built + len(seeds):
                outcomes.training.setdefault(kind, []).append((process_time() - started) / len(seeds))
        known = up_to(knowledge[kind], step) if step else knowledge[kind]
        label = label_together if method == TOGETHER else label_alone
        started, built = process_time(), count_built()
        for target, labels in zip(others, label(known, others), strict=True):
            if count_built() > built:
                outcomes.labeling.setdefault(method, []).append(process_time() - started)
            run = Run(method, vertical, seeds, target.site.name)
            outcomes.scores[run] = target.score(labels)
            yield run
            started, built = process_time(), count_built()


def label_alone(knowledge: Knowledge, targets: Sequence[Target]) -> Iterator[list[Label]]:
    """Yield the labels of each site, which is labeled as if there were no other."""
    for target in targets:
        yield knowledge.label(target.labeled)


def label_together(knowledge: Knowledge, targets: Sequence[Target]) -> Iterator[list[Label]]:
    """Yield the labels of each site; all of them teach each other."""
    for findings in knowledge.find_together([target.labeled for target in targets]):
        yield as_labels(findings)


def f1_of(scores: Mapping[Run, Scores], method: str, vertical: str, k: int) -> float | None:
    """Mean over attributes, then over runs."""
    own = [
        mean(tally.f1 for tally in found.values())
        for run, found in scores.items()
        if (run.method, run.vertical, len(run.seeds)) == (method, vertical, k)
    ]
    return mean(own) if own else None


def show(console: Console, outcomes: Outcomes, verticals: Sequence[str], ks: Sequence[int], of: str) -> None:
    table = Table("method", "seed sites", *verticals, "mean", title=f"F1 of page hits, {of}")
    for method in METHODS:
        for k in ks:
            figures = [f1_of(outcomes.scores, method, vertical, k) for vertical in verticals]
            known = [figure for figure in figures if figure is not None]
            if known:
                table.add_row(method, str(k), *(f"{figure:.3f}" for figure in known), f"{mean(known):.3f}")
    console.print(table)
    console.print(_by_attribute(outcomes, ks))
    for method, seconds in outcomes.training.items():
        console.print(f"CPU seconds of training a seed site, {method}: mean {mean(seconds):.1f}")
    for method, seconds in outcomes.labeling.items():
        console.print(
            f"CPU seconds of labeling {LABELED} pages of a site, {method}: mean {mean(seconds):.1f}"
        )


def _by_attribute(outcomes: Outcomes, ks: Sequence[int]) -> Table:
    methods = [method for method in METHODS if any(run.method == method for run in outcomes.scores)]
    columns = [(method, k) for method in methods for k in ks]
    table = Table("attribute", *(f"{method}\n{k}" for method, k in columns), title="F1 by attribute")
    found: dict[str, dict[tuple[str, int], list[float]]] = {}
    for run, scores in outcomes.scores.items():
        for name, tally in scores.items():
            own = found.setdefault(f"{run.vertical} {name}", {})
            own.setdefault((run.method, len(run.seeds)), []).append(tally.f1)
    for name, own in found.items():
        table.add_row(name, *(_mean_and_deviation(own.get(column, ())) for column in columns))
    return table


def _mean_and_deviation(figures: Sequence[float]) -> str:
    """As in the paper's table 2: over all turns of seed sites and all other sites."""
    return f"{mean(figures):.2f} ± {pstdev(figures):.2f}" if figures else ""


def show_misses(console: Console, outcomes: Outcomes) -> None:
    """Attributes of sites that are often not found."""
    missed: dict[tuple[str, int, str, str, str], list[float]] = {}
    for run, scores in outcomes.scores.items():
        for name, tally in scores.items():
            key = (run.method, len(run.seeds), run.vertical, run.target, name)
            missed.setdefault(key, []).append(tally.f1)
    for key, found in sorted(missed.items(), key=lambda item: mean(item[1])):
        if mean(found) < GOOD:
            method, k, vertical, target, name = key
            console.print(
                f"{method}, {k} seeds, {vertical}-{target} {name}: F1 {mean(found):.3f}", highlight=False
            )


def draw(outcomes: Outcomes, verticals: Sequence[str], k: int, path: Path) -> None:
    """A chart as in the paper's figure 8: F1 by vertical, a bar each method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    methods = [method for method in METHODS if any(run.method == method for run in outcomes.scores)]
    methods.sort(key=lambda method: METHODS[method] is None)
    for number, method in enumerate(methods):
        heights = [f1_of(outcomes.scores, method, vertical, k) or 0.0 for vertical in verticals]
        axes.bar([x + 0.2 * number for x in range(len(verticals))], heights, 0.18, label=method)
    axes.set_xticks([x + 0.1 * (len(methods) - 1) for x in range(len(verticals))], list(verticals))
    axes.set_ylim(0, 1)
    axes.set_ylabel("F1")
    axes.legend(ncols=len(methods), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.seed", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument(
        "--method", nargs="+", choices=[*METHODS, PAPER], default=list(METHODS), help="only these"
    )
    parser.add_argument("--k", nargs="+", type=int, default=SEEDS, metavar="K", help="seed sites")
    parser.add_argument("--turns", type=int, default=TURNS, metavar="N", help="turns of seed sites, of 10")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of N pages only one: a quick look")
    parser.add_argument(
        "--labels-only", action="store_true", help="score labels, not what rules make of them: a quick look"
    )
    parser.add_argument("--chart", type=Path, help="where to draw F1 by vertical with the fewest seed sites")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is missed")
    options = parser.parse_args(arguments)
    if options.every > MAX_EVERY and not options.labels_only:
        parser.error(
            f"--every {options.every} leaves no pages to test; use at most {MAX_EVERY}, or --labels-only"
        )
    methods = [one for one in METHODS if one in options.method or (METHODS[one] and PAPER in options.method)]
    console = Console(width=None if sys.stdout.isatty() else 160)
    outcomes = Outcomes()
    try:
        sites = {vertical: chosen_sites([vertical], (), options.every) for vertical in options.vertical}
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    with Progress(console=Console(stderr=True), transient=True) as bar:
        for vertical, own in sites.items():
            total = sum(len(turns(own, k, options.turns)) * (len(own) - k) for k in options.k)
            task = bar.add_task(vertical, total=total * len(methods))
            for _ in evaluate(
                vertical, own, methods, options.k, options.turns, outcomes, options.labels_only
            ):
                bar.advance(task)
    of = "labels only" if options.labels_only else "end to end"
    show(console, outcomes, options.vertical, options.k, of)
    if options.verbose:
        show_misses(console, outcomes)
    if options.chart:
        draw(outcomes, options.vertical, min(options.k), options.chart)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
