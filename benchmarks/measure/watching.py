"""What watching costs beside parsing the pages, and what the share of broken bellwethers is worth.

python -m benchmarks.measure.watching                both
python -m benchmarks.measure.watching --sites 6      fewer redesigned sites

Cost: 1,000 clusters with their bellwethers; each is one of a few templates under another address. Share: redesigns
of made-up sites with seeds from 300 on, as in `benchmarks.measure.redesigns`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from time import process_time

import lxml.html
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import swde
from benchmarks.measure.redesigns import breaks, judge, learn_site, redesigns, sites
from untemplate import Page, Rules, learn, watch
from untemplate.demo import make_site

FIRST_SEED = 300
PAGES = 100  # of a site, to learn from
LABELED = 4
TEMPLATES = 10
KINDS = ((True, "break a value"), (False, "break none"))
SHARES = (None, 0.1, 0.25, 0.5, 0.75, 0.9)

Watched = tuple[Rules, list[Page]]
"""Rules, and fresh pages to watch them with."""


def refreshed(vertical: str = "restaurant") -> Iterator[Watched]:
    """Made-up sites, and their pages at a later time: same look, some values new."""
    for seed in range(FIRST_SEED, FIRST_SEED + TEMPLATES):
        site = make_site(vertical, seed, PAGES)
        yield learn_site(site), site.redesign(0.0, seed).pages


def unchanged(vertical: str = "book") -> Iterator[Watched]:
    """Sites of SWDE, and their pages as they were."""
    for site in swde.sites(vertical)[:TEMPLATES]:
        pages = site.pages()[:PAGES]
        labels = swde.labels_of([page.id for page in pages[:LABELED]], site.truth())
        yield learn(pages, labels, swde.schema_of(vertical)), pages


def multiply(watched: Sequence[Watched], count: int) -> Watched:
    """One set of rules with so many clusters, each a template under another address, and its bellwethers."""
    wrappers, fresh = [], []
    with_rules = [(one, pages) for rules, pages in watched for one in rules.wrappers if one.rules]
    for number in range(count):
        wrapper, pages = with_rules[number % len(with_rules)]
        bellwethers = [
            replace(known, page=f"{number}/{known.page}", url=f"http://{number}.example/{known.page}")
            for known in wrapper.bellwethers
        ]
        by_id = {page.id: page for page in pages}
        fresh += [
            Page(html=by_id[known.page].html, url=copy.url, id=copy.page)
            for known, copy in zip(wrapper.bellwethers, bellwethers, strict=True)
        ]
        pattern = f"http://{number}.example/*"
        copied = replace(wrapper, cluster=f"c{number}", url_pattern=pattern, bellwethers=tuple(bellwethers))
        wrappers.append(copied)
    return Rules(watched[0][0].schema, tuple(wrappers)), fresh


def show_cost(console: Console, name: str, watched: Iterator[Watched], count: int) -> None:
    rules, pages = multiply(list(watched), count)
    size = sum(len(page.html) for page in pages) / len(pages) / 1000
    title = f"{name}: {count:,} clusters, {len(pages):,} pages of {size:.0f} KB, CPU time"
    table = Table("", "seconds", "ms a page", "× parsing", title=title)
    works = {
        "lxml parse": lambda: _parse(pages),
        "extract": lambda: Counter(record.cluster for record in rules.extract(pages)),
        "watch": lambda: watch(rules, pages),
    }
    parsing = 0.0
    for what, work in works.items():
        seconds = _seconds(work)
        parsing = parsing or seconds
        ms = 1000 * seconds / len(pages)
        table.add_row(what, f"{seconds:.1f}", f"{ms:.2f}", f"{seconds / parsing:.2f}")
    console.print(table)


def _parse(pages: Iterable[Page]) -> None:
    for page in pages:
        lxml.html.document_fromstring(page.html)


def _seconds(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin


def show_shares(console: Console, count: int) -> None:
    """How many redesigns and harmless refreshes raise an alarm, by the share of bellwethers that must break."""
    alarmed: Counter[tuple[bool, float | None]] = Counter()
    counts: Counter[bool] = Counter()
    chosen = sites(count, FIRST_SEED)
    for site in track(chosen, "sites", count, console=Console(stderr=True), transient=True):
        rules = learn_site(site)
        before, _ = judge(rules, site)
        for _, later in redesigns(site):
            breaking = breaks(before, judge(rules, later)[0])
            counts[breaking] += 1
            for share in SHARES:
                alarmed[breaking, share] += bool(watch(rules, later.pages, broken_share=share).alarms)
    title = f"Alarms by the share of bellwethers that must break: {count} made-up sites"
    table = Table(
        "broken share", *(f"{counts[kind]} redesigns that {what}" for kind, what in KINDS), title=title
    )
    for share in SHARES:
        cells = (f"{alarmed[kind, share] / max(1, counts[kind]):.1%}" for kind, _ in KINDS)
        table.add_row("the paper's" if share is None else f"{share:g}", *cells)
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.watching", description=summary)
    parser.add_argument("--clusters", type=int, default=1_000, help="how many clusters are watched")
    parser.add_argument("--sites", type=int, default=20, help="how many redesigned sites")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    show_cost(console, "Made-up sites, refreshed", refreshed(), options.clusters)
    try:
        show_cost(console, "SWDE, unchanged", unchanged(), options.clusters)
    except FileNotFoundError as missing:
        console.print(f"SWDE skipped: {missing}")
    show_shares(console, options.sites)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
