"""The learner's constants, swept one at a time on made-up sites: `python -m benchmarks.measure.constants`.

The learner was developed looking at misses on SWDE; its constants are checked on sites that nobody has looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from multiprocessing import Pool

from rich.console import Console
from rich.progress import track
from rich.table import Table

from untemplate import learn, sample
from untemplate.demo import VERTICALS, make_site

# module of untemplate.learning, constant, values to try; the one in force is marked in the table
SWEEPS: tuple[tuple[str, str, tuple[float, ...]], ...] = (
    ("sample_table", "STATIC_SHARE", (0.5, 0.65, 0.8, 0.95)),
    ("variants", "MIN_KEPT_SUPPORT", (0.5, 0.8, 0.95)),
    ("variants", "MAX_DISTANCE", (2, 4, 6)),
    ("variants", "WORTH_REFINED", (0.5, 0.75, 1.0)),
    ("variants", "WORTH_UNCAPTIONED", (0.25, 0.5, 0.75)),
    ("variants", "WORTH_FIRST", (0.25, 0.5, 0.75)),
    ("variants", "WORTH_COUNTED", (0.1, 0.2, 0.4)),
    ("variants", "WORTH_GENERAL", (0.25, 0.5, 0.75)),
    ("variants", "WORTH_UNANCHORED", (0.25, 0.5, 0.75)),
    ("variants", "FULL_VARIETY_SHARE", (0.25, 0.5, 0.75)),
    ("selectors", "MIN_AGREEMENT", (0.75, 0.9, 1.0)),
    ("search", "AMBIGUOUS_SHARE", (0.0, 0.1, 0.2)),
    ("search", "BEAM", (30, 60, 120)),
)
PAGES = 60
LABELED = 3
"""Pages labeled of each made-up site: its templates share them."""

Setting = tuple[str, str, float]
Job = tuple[Setting | None, str, int]


def accuracy(job: Job) -> tuple[Setting | None, float]:
    """The share of (page, attribute) pairs of one site that come out as they are, gaps included."""
    setting, vertical, seed = job
    if setting:
        module, name, value = setting
        target = import_module(f"untemplate.learning.{module}")
        before = getattr(target, name)
        setattr(target, name, value)
    try:
        return setting, _accuracy(vertical, seed)
    finally:
        if setting:
            setattr(target, name, before)


def _accuracy(vertical: str, seed: int) -> float:
    site = make_site(vertical, seed, PAGES)
    chosen = {page.id for page in sample([page for page in site.pages if page.id in site.truth])[:LABELED]}
    rules = learn(site.pages, [label for label in site.labels if label.page in chosen], site.schema)
    right = total = 0
    for record in rules.extract(page for page in site.pages if page.id in site.truth):
        if record.page_id in chosen:
            continue
        for name, true in site.truth[record.page_id].items():
            texts = [value.text for value in record.values.get(name, [])]
            total += 1
            right += texts == true if site.schema.attributes[name].many else texts[:1] == true[:1]
    return right / total


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.constants", description=__doc__)
    parser.add_argument("--sites", type=int, default=4, help="made-up sites of each vertical (default 4)")
    parser.add_argument("--first-seed", type=int, default=1000, help="seed of the first (default 1000)")
    options = parser.parse_args(arguments)
    settings: list[Setting | None] = [None]
    settings += [(module, name, value) for module, name, values in SWEEPS for value in values]
    seeds = range(options.first_seed, options.first_seed + options.sites)
    jobs: list[Job] = [(setting, v, seed) for setting in settings for v in VERTICALS for seed in seeds]
    found: dict[Setting | None, list[float]] = {}
    with Pool(2) as pool:
        results = pool.imap_unordered(accuracy, jobs, chunksize=4)
        for setting, value in track(results, "Learning", len(jobs), console=Console(stderr=True)):
            found.setdefault(setting, []).append(value)
    means = {setting: sum(values) / len(values) for setting, values in found.items()}
    table = Table(title=f"Share of right values on {len(VERTICALS) * len(seeds)} made-up sites")
    for heading in ("constant", "value", "right", "in force"):
        table.add_column(heading)
    for module, name, values in SWEEPS:
        now = getattr(import_module(f"untemplate.learning.{module}"), name)
        for value in values:
            row = means[module, name, value]
            table.add_row(f"{module}.{name}", str(value), f"{row:.4f}", "←" if value == now else "")
        table.add_section()
    console = Console()
    console.print(table)
    console.print(f"All as they are: {means[None]:.4f}")


if __name__ == "__main__":
    main()
