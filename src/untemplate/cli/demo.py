"""untemplate demo: the whole flow on a made-up site, whose truth is known."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.cluster import show_clusters
from untemplate.cli.sample import show_samples
from untemplate.cli.shell import examples, progress, say

if TYPE_CHECKING:
    from untemplate.clustering import Clustering
    from untemplate.demo import Site

__all__ = ["command"]

# Pages to label that are shown of each template.
SHOWN = 3


@click.command(epilog=examples("untemplate demo", "untemplate demo --vertical book --seed 7 -o site/"))
@click.option("--vertical", default="restaurant", show_default=True, help="What the site is about.")
@click.option("--seed", default=2, show_default=True, help="Another seed, another site.")
@click.option(
    "--pages",
    "count",
    default=300,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many pages it has.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write its pages and their truth into this folder.",
)
def command(vertical: str, seed: int, count: int, output: Path | None) -> None:
    """Show on a made-up site what untemplate does, step by step."""
    site = _make(vertical, seed, count)
    say(f"A made-up {site.vertical} site of {len(site.pages):,} pages: {_kinds(site)}.")
    if output:
        _write(site, output)

    _headline("1. Which pages were made from the same template? (untemplate cluster)")
    clustering = _cluster(site)
    show_clusters(clustering)
    say(f"Against the truth: F1 of page pairs {_agreement(clustering, site):.3f}.")

    _headline(f"2. Which pages are worth labelling? The first {SHOWN} of each template. (untemplate sample)")
    _sample(clustering)


def _headline(text: str) -> None:
    sys.stdout.flush()
    say()
    say(text)


def _make(vertical: str, seed: int, count: int) -> Site:
    from untemplate.demo import make_site

    try:
        return make_site(vertical, seed, count)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error


def _write(site: Site, folder: Path) -> None:
    from untemplate.demo import write_site

    write_site(site, folder)
    say(f"Its pages and their truth are in {folder}.")


def _cluster(site: Site) -> Clustering:
    from untemplate.clustering import cluster

    return cluster(progress(site.pages, "Reading pages", len(site.pages)))


def _sample(clustering: Clustering) -> None:
    from untemplate.sampling import sample

    samples = [(one, sample(one, SHOWN)) for one in progress(clustering, "Choosing pages", len(clustering))]
    for cluster, chosen in samples:
        show_samples(cluster, chosen)


def _kinds(site: Site) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in Counter(site.templates.values()).most_common())


def _agreement(clustering: Clustering, site: Site) -> float:
    """F1 of page pairs: those put together against those made from one template."""
    found = {page.id: cluster.id for cluster in clustering for page in cluster.pages}
    # A page that fits nowhere is alone.
    both = [(found.get(page, page), template) for page, template in site.templates.items()]
    hits = _pairs(both)
    total = _pairs(cluster for cluster, _ in both) + _pairs(template for _, template in both)
    return 2 * hits / total if total else 1.0


def _pairs(names: Iterable[object]) -> int:
    return sum(comb(count, 2) for count in Counter(names).values())
