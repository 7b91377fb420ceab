"""Templates found in mixtures of SWDE sites and on made-up sites, by the paper's algorithm and ours; speed.

python -m benchmarks.measure.clustering             accuracy and speed
python -m benchmarks.measure.clustering --made-up   accuracy on made-up sites alone, without SWDE
python -m benchmarks.measure.clustering --choose    how the constants were chosen
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from math import comb, log
from typing import Any, NamedTuple
from unittest.mock import patch

import lxml.html
from rich.console import Console
from rich.table import Table

from benchmarks.data.swde import VERTICALS, sites
from untemplate import Page
from untemplate.clustering import cluster, cluster_vectors
from untemplate.clustering.clusters import assign_vectors
from untemplate.demo import VERTICALS as MADE_UP_VERTICALS
from untemplate.demo import make_site
from untemplate.page import signature

PAPER_THRESHOLD = 20
SPEED_PAGES = 20_000
SIMILARITIES = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
AGREEMENTS = (2, 3, 4, 5, 6)

# Made-up sites: constants are chosen on the first seeds and reported on the others.
CHOICE_SEEDS = range(10)
REPORT_SEEDS = range(600, 610)
MADE_UP_PAGES = 100

Mixture = list[tuple[Page, str]]
"""pages, each with its true template"""


class Scores(NamedTuple):
    precision: float
    recall: float
    f1: float
    homogeneity: float
    completeness: float


def score(found: Sequence[Hashable], true: Sequence[Hashable]) -> Scores:
    """How well found clusters agree with true ones: over pairs of pages, and as shares of entropy."""
    both, clusters, templates = Counter(zip(found, true, strict=True)), Counter(found), Counter(true)
    together = _pairs(both)
    precision = together / (_pairs(clusters) or 1)
    recall = together / (_pairs(templates) or 1)
    mutual = _entropy(clusters) + _entropy(templates) - _entropy(both)
    return Scores(
        precision,
        recall,
        2 * precision * recall / ((precision + recall) or 1),
        mutual / _entropy(templates) if len(templates) > 1 else 1.0,
        mutual / _entropy(clusters) if len(clusters) > 1 else 1.0,
    )


def _pairs(counts: Counter[Any]) -> int:
    return sum(comb(count, 2) for count in counts.values())


def _entropy(counts: Counter[Any]) -> float:
    total = counts.total()
    return -sum(count / total * log(count / total) for count in counts.values())


def paper(pages: Sequence[Page]) -> list[Hashable]:
    """Algorithm 1 alone; a page that no signature covers is on its own."""
    vectors = [signature(page.html) for page in pages]
    threshold = min(PAPER_THRESHOLD, max(1, len(pages) // 100))
    owners = assign_vectors(vectors, cluster_vectors(vectors, threshold))
    return [owners[vector] or number for number, vector in enumerate(vectors)]


def ours(pages: Sequence[Page]) -> list[Hashable]:
    owners = {id(page): found.id for found in cluster(pages) for page in found.pages}
    return [owners.get(id(page), number) for number, page in enumerate(pages)]


def swde_mixture(vertical: str) -> Mixture:
    return [(page, f"{vertical}-{site.name}") for site in sites(vertical) for page in site.pages()]


def made_up_mixtures(seeds: Sequence[int]) -> list[Mixture]:
    made = [make_site(vertical, seed, MADE_UP_PAGES) for vertical in MADE_UP_VERTICALS for seed in seeds]
    return [[(page, site.templates[page.id]) for page in site.pages] for site in made]


def evaluate(find: Callable[[Sequence[Page]], list[Hashable]], mixture: Mixture) -> Scores:
    pages, templates = zip(*mixture, strict=True)
    return score(find(pages), templates)


def average(scores: Sequence[Scores]) -> Scores:
    return Scores(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def worst(scores: Sequence[Scores]) -> Scores:
    return Scores(*(min(column) for column in zip(*scores, strict=True)))


def show_accuracy(console: Console, mixtures: dict[str, list[Mixture]]) -> None:
    table = Table("site", "templates", "pages", "by", *Scores._fields, title="Page pairs and entropy")
    for name, group in mixtures.items():
        templates = sum(len({template for _, template in mixture}) for mixture in group)
        for by, find in (("Vertex Algorithm 1", paper), ("untemplate", ours)):
            scores = [evaluate(find, mixture) for mixture in group]
            summaries = {name: average(scores)} | (
                {f"{name}, worst": worst(scores)} if len(group) > 1 else {}
            )
            for row, summary in summaries.items():
                cells = [f"{value:.4f}" for value in summary]
                table.add_row(row, str(templates), f"{sum(map(len, group)):,}", by, *cells)
    console.print(table)


def show_speed(console: Console, mixture: Mixture) -> None:
    pages = [Page(page.url, page.html) for page, _ in mixture]
    pages = [Page(page.url, page.html) for page in (pages * (SPEED_PAGES // len(pages) + 1))[:SPEED_PAGES]]
    started = time.process_time()
    for page in pages:
        signature(page.html)
    signatures = time.process_time() - started
    started = time.process_time()
    cluster(pages)
    clustering = time.process_time() - started
    started = time.process_time()
    for page in pages:
        lxml.html.document_fromstring(page.html)
    parsing = time.process_time() - started
    title = f"Speed on {SPEED_PAGES:,} pages (the {len(mixture):,} of SWDE, repeated)"
    table = Table("what", "CPU seconds", "ms a page", "× parsing", title=title)
    for what, seconds in {
        "signatures alone": signatures,
        "cluster(), signatures included": clustering,
        "lxml.html.document_fromstring": parsing,
    }.items():
        per_page = 1000 * seconds / SPEED_PAGES
        table.add_row(what, f"{seconds:.1f}", f"{per_page:.2f}", f"{seconds / parsing:.2f}")
    console.print(table)


def show_choice(console: Console, constant: str, values: Sequence[float]) -> None:
    """Leave out one group at a time: the middle of the values best on the others, scored on that one."""
    groups = {f"SWDE {vertical}": [swde_mixture(vertical)] for vertical in VERTICALS}
    groups["made-up"] = made_up_mixtures(CHOICE_SEEDS)
    f1: dict[str, dict[float, float]] = {name: {} for name in groups}
    for name, group in groups.items():
        for value in values:
            with patch(f"untemplate.clustering.clusters.{constant}", value):
                f1[name][value] = average([evaluate(ours, mixture) for mixture in group]).f1
    table = Table(
        "left out", *map(str, values), "chosen on the others", "F1 on it", title=f"{constant}: pair F1"
    )
    for left_out in groups:
        others = {value: sum(f1[name][value] for name in groups if name != left_out) for value in values}
        best = [value for value in values if others[value] >= max(others.values()) - 1e-9]
        chosen = best[(len(best) - 1) // 2]
        cells = [f"{f1[left_out][value]:.4f}" for value in values]
        table.add_row(left_out, *cells, str(chosen), f"{f1[left_out][chosen]:.4f}")
    console.print(table)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.clustering", description=__doc__)
    parser.add_argument("--choose", action="store_true", help="sweep the two constants instead")
    parser.add_argument("--made-up", action="store_true", help="accuracy on made-up sites alone")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    if options.choose:
        show_choice(console, "MIN_SIMILARITY", SIMILARITIES)
        show_choice(console, "MIN_AGREEMENT", AGREEMENTS)
        return
    made_up = {"made-up, 60 sites": made_up_mixtures(REPORT_SEEDS)}
    if options.made_up:
        show_accuracy(console, made_up)
        return
    verticals = {vertical: swde_mixture(vertical) for vertical in VERTICALS}
    everything = [pair for mixture in verticals.values() for pair in mixture]
    mixtures = {f"SWDE {vertical}, 10 sites": [mixture] for vertical, mixture in verticals.items()}
    mixtures["SWDE, all 40 sites"] = [everything]
    show_accuracy(console, mixtures | made_up)
    show_speed(console, everything)


if __name__ == "__main__":
    main(sys.argv[1:])
