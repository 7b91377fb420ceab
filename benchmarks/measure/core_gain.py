"""What the native core gains in each stage: CPU time with it and without it, on pages of SWDE; one core.

python -m benchmarks.measure.core_gain                    the first pages of ten sites
python -m benchmarks.measure.core_gain --sites 4 --rounds 5

With and without take turns, each in a process of its own. The least time of all rounds counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import process_time

from rich.console import Console
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, chosen_sites, labeling_order, labels_of, schema_of
from untemplate import Page, cluster, find_records, learn, sample
from untemplate.native import describe_core

PAGES = 20
LABELED = 4
PROGRAM = (
    "import sys; sys.modules.update({name: None for name in sys.argv[2:]});"
    "from benchmarks.measure.core_gain import measure; print(measure(int(sys.argv[1])))"
)


def measure(site_count: int) -> str:
    """Return the seconds of each stage as JSON."""
    sites = chosen_sites(VERTICALS, ())
    seconds: dict[str, float] = {}
    for site in sites[:: max(1, len(sites) // site_count)][:site_count]:
        for stage, spent in _measure_site(site).items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    return json.dumps(seconds)


def _measure_site(site: Site) -> dict[str, float]:
    """Return the seconds of each stage on the first pages of a site."""
    pages, schema = site.pages()[:PAGES], schema_of(site.vertical)
    own = {page.id for page in pages}
    labels = labels_of([page for page in labeling_order(site) if page in own][:LABELED], site.truth())
    rules = learn(pages, labels, schema)
    stages: dict[str, Callable[[], object]] = {
        "cluster": lambda: cluster(pages),
        "sample": lambda: sample(pages, LABELED),
        "find_records": lambda: [find_records(page) for page in pages],
        "tables of nodes": lambda: [page.nodes for page in pages],
        "learn": lambda: learn(pages, labels, schema),
        "extract": lambda: list(rules.extract(pages)),
    }
    return {stage: _time(work, pages) for stage, work in stages.items()}


def _time(work: Callable[[], object], pages: Sequence[Page]) -> float:
    for page in pages:
        page.release()
    started = process_time()
    work()
    return process_time() - started


def _run(site_count: int, *missing: str) -> dict[str, float]:
    command = [sys.executable, "-c", PROGRAM, str(site_count), *missing]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds: dict[str, float] = json.loads(found.stdout)
    return seconds


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.core_gain", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sites", type=int, default=10, help="so many sites of SWDE")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    least: dict[str, tuple[float, float]] = {}
    for _round in range(options.rounds):
        ours, plain = _run(options.sites), _run(options.sites, "untemplate.native.core")
        for stage, seconds in ours.items():
            before = least.get(stage, (seconds, plain[stage]))
            least[stage] = (min(seconds, before[0]), min(plain[stage], before[1]))
    table = Table("stage", "with the core", "without", "with ÷ without", title=describe_core())
    for stage, (ours_least, plain_least) in least.items():
        count = options.sites * PAGES
        cells = [f"{1000 * seconds / count:.2f} ms a page" for seconds in (ours_least, plain_least)]
        table.add_row(stage, *cells, f"{ours_least / plain_least:.2f}")
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
