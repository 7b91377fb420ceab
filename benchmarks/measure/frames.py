"""How much of a page is the frame that all pages of its site share: on whole real sites and on made-up ones.

python -m benchmarks.measure.frames

The frame of a site consists of the tag runs on at least 90 % of its pages. Its share of a page is the share of the
page's distinct tag runs that belong to it. The table has quartiles over sites of the mean over a site's pages, for
detail pages and for all others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.data.whole_sites import SETS, whole_sites
from untemplate import Page
from untemplate.demo import VERTICALS, make_site
from untemplate.page.tag_arrays import read_tags
from untemplate.page.traits import run_table

# The share of a site's pages that a tag run of the frame is on.
MIN_FRAME_PAGES = 0.9
# Made-up sites that were not looked at when the generator was adjusted (those from 1000 were, once).
MADE_UP_SEEDS = range(1100, 1110)
MADE_UP_PAGES = 100

Pages = list[tuple[Page, bool]]
"""the pages of a site, each with whether it is a detail page"""


class FrameSize(NamedTuple):
    """How big the frame of a site is."""

    frame_runs: int
    page_runs: float
    detail_share: float
    other_share: float


def measure_frame(pages: Pages) -> FrameSize:
    """Return how many tag runs the frame of a site has, and which share of its pages' tag runs they are."""
    tables = np.array([run_table(read_tags(page.html)) for page, _ in pages])
    is_frame = tables.mean(axis=0) >= MIN_FRAME_PAGES
    sizes = tables.sum(axis=1)
    shares = tables[:, is_frame].sum(axis=1) / np.maximum(1, sizes)
    is_detail = np.array([detail for _, detail in pages])
    return FrameSize(
        int(is_frame.sum()), median(sizes.tolist()), shares[is_detail].mean(), shares[~is_detail].mean()
    )


def real_sites(family: str) -> Iterator[Pages]:
    """Yield the sites of a set that have pages of both kinds."""
    for site in whole_sites(family):
        pages = [(page, site.is_main(page)) for page in site.pages]
        if len({detail for _, detail in pages}) == 2:
            yield pages


def made_up_sites() -> Iterator[Pages]:
    for seed in MADE_UP_SEEDS:
        for vertical in VERTICALS:
            site = make_site(vertical, seed, MADE_UP_PAGES)
            yield [(page, page.id in site.truth) for page in site.pages]


def quartiles(values: Iterable[float], write: Callable[[float], str]) -> str:
    return " ".join(write(value) for value in np.quantile(list(values), (0.25, 0.5, 0.75)))


def show_frames(console: Console) -> None:
    groups: dict[str, list[FrameSize]] = {}
    for family in SETS:
        try:
            groups[family] = list(map(measure_frame, real_sites(family)))
        except FileNotFoundError as error:
            console.print(f"skipped {family}: {error}")
    if len(groups) > 1:
        groups["all real sites"] = [size for sizes in groups.values() for size in sizes]
    groups["made-up"] = list(map(measure_frame, made_up_sites()))
    title = "Quartiles over sites: runs of the frame, runs of a page, and the frame's share of a page"
    table = Table(
        "sites", "", "frame", "page", "share of detail pages", "share of others", "means", title=title
    )
    for name, sizes in groups.items():
        frame, page, detail, other = zip(*sizes, strict=True)
        counts = [quartiles(values, "{:.0f}".format) for values in (frame, page)]
        shares = [quartiles(values, "{:.2f}".format) for values in (detail, other)]
        table.add_row(name, str(len(sizes)), *counts, *shares, f"{mean(detail):.2f}, {mean(other):.2f}")
    console.print(table)


def main() -> None:
    show_frames(Console(width=None if sys.stdout.isatty() else 140))


if __name__ == "__main__":
    main()
