"""Figures 6 and 7 of "From One Tree to a Forest": how alike sites are, and what tells their nodes apart (SWDE).

python -m benchmarks.measure.paper_figures                     all sites of four verticals
python -m benchmarks.measure.paper_figures --vertical book --every 4    a quick look
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import mean

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, chosen_sites, labels_of, schema_of
from untemplate.labeling.nodes import Fields
from untemplate.labeling.nodes.fields import locate_examples
from untemplate.labeling.seed.paper_site import PaperSite, first_boxes, mean_distance
from untemplate.page.arrays import group_rows
from untemplate.schema import Schema

PAGES = 50
"""Pages of each site."""
KEYS = ("path", "path and preceding text", "path, preceding text, prefix and suffix")

Distances = dict[tuple[str, str], float]
"""Of two attributes, their mean distance on screen in widths of the window."""


def read_site(site: Site) -> PaperSite:
    pages = site.pages()
    return PaperSite(pages[:: max(1, len(pages) // PAGES)][:PAGES])


def layout(site: PaperSite, labels_from: Site, schema: Schema) -> Distances:
    """Figure 6: the layout matrix of a site, above its diagonal."""
    labels = labels_of([page.id for page in site.table.pages], labels_from.truth())
    fields = Fields(site.table)
    boxes = {}
    for name, attribute in schema.attributes.items():
        examples = locate_examples(fields, labels, attribute)
        if examples is not None:
            boxes[name] = first_boxes(site, np.flatnonzero(examples.positive))
    return {pair: mean_distance(boxes[pair[0]], boxes[pair[1]]) for pair in combinations(boxes, 2)}


def nodes_alike(site: PaperSite) -> Iterator[float]:
    """Figure 7: the mean number of nodes on a page with the same key, of each kind of key."""
    table, context = site.table, site.context
    rows = np.flatnonzero(site.eligible)
    columns = [table.path, context.preceding, context.prefix, context.suffix]
    for count in (1, 2, 4):
        keys = group_rows(table.page[rows], *(column[rows] for column in columns[:count]))
        yield float(np.bincount(keys)[keys].mean()) if len(rows) else 0.0


def show(
    console: Console, vertical: str, layouts: dict[str, Distances], alike: dict[str, list[float]]
) -> None:
    pairs = list(dict.fromkeys(pair for own in layouts.values() for pair in own))
    figure6 = Table("site", *("\n".join(pair) for pair in pairs), title=f"Figure 6, {vertical}: distances")
    for name, own in layouts.items():
        figure6.add_row(name, *(f"{own[pair]:.2f}" if pair in own else "" for pair in pairs))
    console.print(figure6)
    figure7 = Table("nodes of a page with the same", vertical, title="Figure 7, mean over nodes and sites")
    for number, key in enumerate(KEYS):
        figure7.add_row(key, f"{mean(own[number] for own in alike.values()):.2f}")
    console.print(figure7)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.paper_figures", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of N pages only one: a quick look")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    for vertical in options.vertical:
        try:
            sites = chosen_sites([vertical], (), options.every)
        except FileNotFoundError as missing:
            console.print(f"skipped: {missing}")
            return 0
        layouts: dict[str, Distances] = {}
        alike: dict[str, list[float]] = {}
        with Progress(console=Console(stderr=True), transient=True) as bar:
            for site in bar.track(sites, description=vertical):
                read = read_site(site)
                layouts[site.name] = layout(read, site, schema_of(vertical))
                alike[site.name] = list(nodes_alike(read))
        show(console, vertical, layouts, alike)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
