"""How good the pages are that an editor sees first: weighted greedy, plain greedy and random, on SWDE.

python -m benchmarks.measure.sampling
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from random import Random
from statistics import mean
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, Truth, sites
from untemplate.sampling.page_selection import XPathTable, greedy_cover, read_xpath_table

RANDOM_ORDERS = 20
HEAVY_SHARE = 0.95
"""Share of the weight of all XPaths: what is left are oddities of single pages."""

SAMPLE_SIZES = (1, 2, 3, 5, 10, 20)

Order = list[int]
"""rows of pages, in the order in which they are shown"""


def orders(xpaths: XPathTable) -> dict[str, list[Order]]:
    """Each way to choose, with the orders it gives: one, or several for the random one."""
    pages = list(range(len(xpaths.pages)))
    shuffled = [Random(seed).sample(pages, len(pages)) for seed in range(RANDOM_ORDERS)]
    return {
        "weighted greedy": [greedy_cover(xpaths.present, xpaths.weights, len(pages))],
        "greedy": [greedy_cover(xpaths.present, np.ones(xpaths.present.shape[1]), len(pages))],
        "random": shuffled,
    }


def attributes_on_first(order: Order, xpaths: XPathTable, truth: Truth) -> float:
    """The share of the site's attributes that the first page has."""
    attributes = {name for values in truth.values() for name, found in values.items() if found}
    first = truth[xpaths.pages[order[0]].id]
    return sum(bool(first.get(name)) for name in attributes) / len(attributes)


def pages_to_cover(order: Order, xpaths: XPathTable, share: float = 1.0) -> int:
    """How many pages of the order show this share of the weight of all XPaths; with 1, all XPaths."""
    weights = xpaths.weights if share < 1 else np.ones(xpaths.present.shape[1])
    seen = np.logical_or.accumulate(xpaths.present[order], axis=0) @ weights
    return int(np.searchsorted(seen, share * weights.sum() - 1e-6)) + 1


def shares_covered(order: Order, xpaths: XPathTable) -> list[float]:
    """The shares of all XPaths that samples of growing size show."""
    seen = np.logical_or.accumulate(xpaths.present[order], axis=0).mean(axis=1)
    return [float(seen[min(size, len(order)) - 1]) for size in SAMPLE_SIZES]


class Measured(NamedTuple):
    """Figures of one way to choose on one site, means over its orders."""

    attributes_on_first: float
    pages_for_all: float
    pages_for_heavy: float
    covered: list[float]


def measure(site: Site) -> dict[str, Measured]:
    xpaths, truth = read_xpath_table(site.pages()), site.truth()
    return {
        by: Measured(
            mean(attributes_on_first(order, xpaths, truth) for order in chosen),
            mean(pages_to_cover(order, xpaths) for order in chosen),
            mean(pages_to_cover(order, xpaths, HEAVY_SHARE) for order in chosen),
            average_columns([shares_covered(order, xpaths) for order in chosen]),
        )
        for by, chosen in orders(xpaths).items()
    }


def average_columns(rows: Sequence[Sequence[float]]) -> list[float]:
    return [mean(column) for column in zip(*rows, strict=True)]


def groups(console: Console) -> Iterator[tuple[str, list[dict[str, Measured]]]]:
    everything: list[dict[str, Measured]] = []
    for vertical in VERTICALS:
        found = [measure(site) for site in track(sites(vertical), vertical, console=console, transient=True)]
        everything += found
        yield vertical, found
    yield "all", everything


def main(arguments: Sequence[str]) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks.measure.sampling", description=__doc__).parse_args(
        arguments
    )
    console = Console(width=None if sys.stdout.isatty() else 140)
    table = Table(
        "vertical",
        "sites",
        "by",
        "attributes on the first page",
        "pages to cover all XPaths",
        f"pages to cover {HEAVY_SHARE:.0%} of the weight",
        title="Pages worth labeling, mean over sites of 200 pages",
    )
    coverage = Table("vertical", "by", *map(str, SAMPLE_SIZES))
    coverage.title = "Share of all XPaths that samples of this many pages show, mean over sites"
    for name, measured in groups(Console(stderr=True)):
        for by in measured[0]:
            figures = average_columns([site[by][:3] for site in measured])
            covered = average_columns([site[by].covered for site in measured])
            cells = (f"{figures[0]:.1%}", f"{figures[1]:.1f}", f"{figures[2]:.1f}")
            table.add_row(name, str(len(measured)), by, *cells)
            coverage.add_row(name, by, *(f"{share:.1%}" for share in covered))
    console.print(table)
    console.print(coverage)


if __name__ == "__main__":
    main(sys.argv[1:])
