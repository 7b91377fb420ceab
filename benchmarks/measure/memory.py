"""Memory of `cluster` and `learn` on streams of pages that are much longer than what they keep.

python -m benchmarks.measure.memory                                  both, 30,000 and 100,000 pages of 60 KB
python -m benchmarks.measure.memory --only cluster --pages 5000 30000

The pages are those of four SWDE bookshops as one site. Each comes again and again, every time with other markup and
another URL, so that about half of the signatures differ. Pages are made one at a time, and the stream
keeps none. Each run is a process of its own; its peak memory is what the system counted for it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain, cycle
from random import Random
from typing import NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import Site, chosen_sites, labeling_order, labels_of, schema_of
from benchmarks.measure.scale import peak_memory
from untemplate import Label, Page, cluster, learn

VERTICAL = "book"
SITES = ("abebooks", "barnesandnoble", "deepdiscount", "waterstones")
PAGES = (30_000, 100_000)
LABELED = 4

MAX_ADDED_BLOCKS = 8
"""Blocks of markup that are added to a page at most. With 8, there are 1,844 different signatures in 4,000 pages."""

TAGS = ("div", "p", "ul", "li", "span", "b", "table", "tr", "td", "h3")


class Run(NamedTuple):
    """One run: what came out, peak memory in MB, and CPU seconds."""

    result: str
    memory: float
    seconds: float


def stream_pages(sites: Sequence[Site], count: int) -> Iterator[Page]:
    """Yield this many pages of all sites in turn. The first time a page comes it is unchanged and has its id."""
    in_turn = chain.from_iterable(zip(*(site.files() for site in sites), strict=True))
    files = list(zip(cycle(sites), in_turn, strict=False))
    for number in range(count):
        site, path = files[number % len(files)]
        html, name = path.read_bytes(), page_name(site, path.name)
        if number >= len(files):
            html, name = vary_markup(html, Random(number)), f"{number}-{name}"
        yield Page(f"http://books.example/{site.name}/{number}.html", html, name)


def page_name(site: Site, file: str) -> str:
    """Return the id of a page among those of all sites."""
    return f"{site.name}/{file}"


def vary_markup(html: bytes, random: Random) -> bytes:
    """Return a page with some blocks of tags and numbers added at random places between its tags."""
    parts = [html]
    for _ in range(random.randrange(1, MAX_ADDED_BLOCKS + 1)):
        rest = parts.pop()
        place = rest.find(b"><", random.randrange(len(rest))) + 1
        parts += [rest[:place], make_block(random), rest[place:]]
    return b"".join(parts)


def make_block(random: Random) -> bytes:
    """Return a few nested elements in random order around a random number."""
    tags = random.choices(TAGS, k=random.randrange(3, 9))
    opening = "".join(f"<{tag}>" for tag in tags)
    closing = "".join(f"</{tag}>" for tag in reversed(tags))
    return f"{opening}{random.random()}{closing}".encode()


def labels_of_sites(sites: Sequence[Site]) -> list[Label]:
    """Return the labels of some pages of each site."""
    labels: list[Label] = []
    for site in sites:
        for label in labels_of(labeling_order(site)[:LABELED], site.truth()):
            labels.append(Label(page_name(site, label.page), label.attribute, label.value))
    return labels


def work(what: str, count: int) -> str:
    """Cluster a stream, or learn from it; return what came out."""
    sites = chosen_sites([VERTICAL], SITES)
    if what == "cluster":
        clusters = cluster(stream_pages(sites, count))
        kept = sum(len(found.pages) for found in clusters)
        return f"{len(clusters)} clusters, {kept:,} pages kept, {len(clusters.unassigned):,} unassigned"
    rules = learn(stream_pages(sites, count), labels_of_sites(sites), schema_of(VERTICAL))
    with_rules = [wrapper for wrapper in rules.wrappers if wrapper.rules]
    return f"{len(with_rules)} wrappers with rules, of {len(rules.wrappers)}"


def run(what: str, count: int) -> Run:
    """Do the work in a new process."""
    command = [sys.executable, "-m", "benchmarks.measure.memory", "--run", what, "--pages", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result, memory, seconds = done.stdout.strip().splitlines()[-1].split("\t")
    return Run(result, float(memory), float(seconds))


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.memory", description=summary)
    parser.add_argument("--pages", type=int, nargs="+", default=PAGES, help="lengths of the stream")
    parser.add_argument("--only", nargs="+", choices=("cluster", "learn"), default=("cluster", "learn"))
    parser.add_argument("--run", choices=("cluster", "learn"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        result = work(options.run, options.pages[0])
        print(result, peak_memory("self"), time.process_time(), sep="\t")
        return 0
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        sites = chosen_sites([VERTICAL], SITES)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    sizes = [len(page.html) for page in stream_pages(sites, 2000)]
    table = Table("what", "pages", "peak memory, MB", "CPU seconds", "result")
    table.title = f"Memory on a stream of pages of {sum(sizes) / len(sizes) / 1000:.0f} KB"
    runs = [(what, count) for what in options.only for count in options.pages]
    for what, count in track(runs, "", console=Console(stderr=True), transient=True):
        done = run(what, count)
        table.add_row(what, f"{count:,}", f"{done.memory:,.0f}", f"{done.seconds:.0f}", done.result)
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
