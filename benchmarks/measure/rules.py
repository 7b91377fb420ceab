"""Rules learned from one, two and four labeled pages, on all other pages of 40 SWDE sites; peers beside ours.

python -m benchmarks.measure.rules                      everything, peers included (the first run installs them)
python -m benchmarks.measure.rules --by untemplate -v   ours alone, with what is missed
python -m benchmarks.measure.rules --sites zagat msn    these sites
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from statistics import mean, median
from time import process_time

import lxml.html
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import (
    VERTICALS,
    Score,
    Site,
    chosen_sites,
    labeling_order,
    labels_of,
    schema_of,
    score,
)
from benchmarks.peers import LABELED as PEER_LABELED
from benchmarks.peers import PEERS, PeerFailed, Uninstallable, install, run_peer
from untemplate import Page, Record, learn

OURS = "untemplate"
LABELED = (1, 2, 4)
PROCESSES = 2
GOOD = 0.995
"""An attribute of a site with a lower F1 is listed by -v."""
EXAMPLES = 3


@dataclass(frozen=True)
class Job:
    """One site, one way to extract, so many labeled pages."""

    site: Site
    by: str
    labeled: int


@dataclass
class Outcome:
    """What came of a job."""

    scores: dict[str, Score]
    ratios: list[float]  # per page, time as a multiple of parsing it
    misses: dict[str, list[str]] = field(default_factory=dict)
    failure: str = ""  # why a peer found nothing on the whole site

    @property
    def f1(self) -> float:
        return mean(score.f1 for score in self.scores.values())

    @property
    def precision(self) -> float:
        return mean(score.precision for score in self.scores.values())


Outcomes = dict[Job, Outcome]


def evaluate(job: Job) -> Outcome:
    """Learn from the labeled pages of a site, extract from all others."""
    pages, truth = job.site.pages(), job.site.truth()
    labeled = labeling_order(job.site)[: job.labeled]
    tested = [page for page in pages if page.id not in labeled]
    failure = ""
    if job.by == OURS:
        rules = learn(pages, labels_of(labeled, truth), schema_of(job.site.vertical))
        timed = [_timed(rules.extract([page]), page) for page in tested]
        ratios = [ratio for _, ratio in timed]
        found = {record.page_id: _texts(record) for record, _ in timed}
    else:
        values = {page: {name: true for name, true in truth[page].items() if true} for page in truth}
        examples = {page: values[page] for page in labeled}
        try:
            found, ratios = run_peer(
                job.by, job.site.folder, examples, {page.id: values[page.id] for page in tested}
            )
        except PeerFailed as error:
            found, ratios, failure = {page.id: {} for page in tested}, [], str(error)
    scores = score(lambda page: found[page.id], tested, truth)
    misses = {name: list(_misses(name, found, tested, truth)) for name in scores}
    return Outcome(scores, ratios, misses, failure)


def _timed(records: Iterator[Record], page: Page) -> tuple[Record, float]:
    started = process_time()
    record = next(records)
    extracted = process_time()
    lxml.html.document_fromstring(page.html)
    page.release()
    return record, (extracted - started) / (process_time() - extracted)


def _texts(record: Record) -> dict[str, str | None]:
    return {name: values[0].text for name, values in record.values.items()}


def _misses(
    name: str,
    found: dict[str, dict[str, str | None]],
    tested: Iterable[Page],
    truth: dict[str, dict[str, list[str]]],
) -> Iterator[str]:
    for page in tested:
        text, true = found[page.id].get(name), truth[page.id][name]
        if text not in true if text is not None else true:
            yield f"{page.id}: {_short(text)}, true is {_short(' | '.join(true) or None)}"


def _short(text: str | None) -> str:
    return "nothing" if text is None else repr(text if len(text) <= 60 else f"{text[:59]}…")


def run(jobs: Sequence[Job], console: Console) -> Outcomes:
    """All jobs, in two processes."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(PROCESSES) as pool:
        running = {pool.submit(evaluate, job): job for job in jobs}
        done = track(as_completed(running), "sites", total=len(jobs), console=console, transient=True)
        return {running[future]: future.result() for future in done}


def show(console: Console, outcomes: Outcomes, missing: dict[str, str]) -> None:
    verticals = [v for v in VERTICALS if any(job.site.vertical == v for job in outcomes)]
    table = Table(
        "by", "labeled pages", *verticals, "mean", title="F1 / precision, mean over attributes, then sites"
    )
    for column in ("time, median", "mean"):
        table.add_column(f"{column}\n(× lxml parse)", justify="right")
    ways = sorted({(job.by, job.labeled) for job in outcomes}, key=lambda way: (way[0] != OURS, way))
    for by, labeled in ways:
        own = {job: outcome for job, outcome in outcomes.items() if (job.by, job.labeled) == (by, labeled)}
        figures = []
        for vertical in verticals:
            group = [outcome for job, outcome in own.items() if job.site.vertical == vertical]
            figures.append((mean(o.f1 for o in group), mean(o.precision for o in group)))
        figures.append((mean(f1 for f1, _ in figures), mean(precision for _, precision in figures)))
        ratios = [ratio for outcome in own.values() for ratio in outcome.ratios] or [0.0]
        cells = [f"{f1:.4f} / {precision:.4f}" for f1, precision in figures]
        table.add_row(by, str(labeled), *cells, f"{median(ratios):.2f}", f"{mean(ratios):.2f}")
    for by, reason in missing.items():
        table.add_row(by, "–", f"does not install: {reason}")
    console.print(table)
    for job, outcome in outcomes.items():
        if outcome.failure:
            where = f"{job.by}, {job.labeled} labeled, {job.site.vertical}-{job.site.name}"
            console.print(f"{where}: counted as finding nothing: {outcome.failure}", markup=False)


def show_misses(console: Console, outcomes: Outcomes) -> None:
    """What is below a good score, attribute by attribute, with examples."""
    own = sorted((job.labeled, job.site.vertical, job.site.name, job) for job in outcomes if job.by == OURS)
    for labeled, vertical, site, job in own:
        outcome = outcomes[job]
        for name, tally in outcome.scores.items():
            if tally.f1 < GOOD:
                misses = outcome.misses[name]
                console.print(
                    f"{labeled} labeled, {vertical}-{site} {name}: F1 {tally.f1:.4f}, precision "
                    f"{tally.precision:.4f}, {len(misses)} misses",
                    *(f"\n    {miss}" for miss in misses[:: max(1, len(misses) // EXAMPLES)][:EXAMPLES]),
                    highlight=False,
                    markup=False,
                    soft_wrap=True,
                )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.rules", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as zagat")
    parser.add_argument("--labeled", nargs="+", type=int, default=LABELED, metavar="K", help="labeled pages")
    parser.add_argument("--by", nargs="+", choices=(OURS, *PEERS), default=(OURS, *PEERS), help="only these")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of N pages only one: a quick look")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what our rules miss")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    progress = Console(stderr=True)
    try:
        chosen = chosen_sites(options.vertical, options.sites, options.every)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    uninstallable = {}
    jobs: list[Job] = []
    for by in options.by:
        if by != OURS:
            try:
                install(by)
            except Uninstallable as error:
                uninstallable[by] = str(error)
                continue
        known = options.labeled if by == OURS else [k for k in options.labeled if k in PEER_LABELED]
        jobs += [Job(site, by, labeled) for site in chosen for labeled in known]
    outcomes = run(jobs, progress)
    show(console, outcomes, uninstallable)
    if options.verbose:
        show_misses(console, outcomes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
