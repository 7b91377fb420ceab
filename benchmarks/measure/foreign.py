"""Pages of foreign sites: how many get a record from rules that are not theirs, and what such a page costs.

python -m benchmarks.measure.foreign

The rules of ten SWDE sites are each given 100 pages of other sites of the same vertical, the hardest ones: what they
show has the same attributes. Bare pages have no URL, so only their markup can say that they are foreign. Rules that
were learned on a few pages know little about the markup of their site.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

import lxml.html
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, labeling_order, labels_of, schema_of, sites
from untemplate import Page, Rules, learn

EVERY_SITE = 4
"""Of so many sites, the rules of one are learned."""

FOREIGN_PAGES = 100
LABELED = 4
ROUNDS = 2


@dataclass(frozen=True)
class Case:
    """How rules are learned, and what foreign pages look like.

    Attributes:
        name: what the table calls it.
        learned_pages: the number of pages to learn from; None for all of the site.
        learned_urls: whether these have URLs.
        foreign_urls: whether foreign pages have URLs.
    """

    name: str
    learned_pages: int | None
    learned_urls: bool
    foreign_urls: bool


CASES = (
    Case("all with URLs", None, True, True),
    Case("rules with URLs, bare foreign pages", None, True, False),
    Case("all bare", None, False, False),
    Case("all with URLs, rules of 4 pages", LABELED, True, True),
    Case("rules of 4 pages with URLs, bare foreign pages", LABELED, True, False),
    Case("all bare, rules of 4 pages", LABELED, False, False),
)


@dataclass(frozen=True)
class Cost:
    """What rules did with foreign pages: the share that got a record, and CPU time.

    Attributes:
        records: the share of foreign pages with any value.
        own_records: the share of the site's own pages with any value.
        foreign: CPU time a foreign page, as a ratio to parsing it.
        own: CPU time an own page, as a ratio to parsing it.
    """

    records: float
    own_records: float
    foreign: float
    own: float


def copy_pages(pages: Iterable[Page], with_urls: bool) -> list[Page]:
    """Return pages that nothing is known about yet, with their URLs or without."""
    return [Page(page.url if with_urls else "", page.html, page.id) for page in pages]


def learn_rules(site: Site, case: Case) -> Rules:
    """Learn the rules of a site from four labeled pages and as many others as the case allows."""
    order = labeling_order(site)
    wanted = set(order[: case.learned_pages])
    pages = copy_pages((page for page in site.pages() if page.id in wanted), case.learned_urls)
    return learn(pages, labels_of(order[:LABELED], site.truth()), schema_of(site.vertical))


def foreign_pages(site: Site) -> list[Page]:
    """Return pages of all other sites of the vertical, about the same number of each."""
    pages: list[Page] = []
    for other in sites(site.vertical):
        if other.name != site.name:
            pages += other.pages()
    step = len(pages) / FOREIGN_PAGES
    return [pages[int(number * step)] for number in range(FOREIGN_PAGES)]


def parse_pages(pages: Iterable[Page]) -> None:
    for page in pages:
        lxml.html.document_fromstring(page.html)


def measure_seconds(work: Callable[[list[Page]], object], pages: Sequence[Page], with_urls: bool) -> float:
    """Return the CPU time of work on copies of pages, the best of several rounds."""
    seconds: list[float] = []
    for _ in range(ROUNDS):
        copies = copy_pages(pages, with_urls)
        started = time.process_time()
        work(copies)
        seconds.append(time.process_time() - started)
    return min(seconds)


def extract_all(rules: Rules) -> Callable[[Iterable[Page]], list[bool]]:
    """Return a function that extracts pages and says which got a value."""
    return lambda pages: [any(record.values.values()) for record in rules.extract(pages)]


def measure(site: Site, case: Case, foreign: Sequence[Page]) -> Cost:
    """Extract foreign pages and the site's own with the rules of a site."""
    rules = learn_rules(site, case)
    extract = extract_all(rules)
    own = site.pages()[:: max(1, len(site.files()) // FOREIGN_PAGES)]
    return Cost(
        records=mean(extract(copy_pages(foreign, case.foreign_urls))),
        own_records=mean(extract(copy_pages(own, case.learned_urls))),
        foreign=measure_seconds(extract, foreign, case.foreign_urls)
        / measure_seconds(parse_pages, foreign, True),
        own=measure_seconds(extract, own, case.learned_urls) / measure_seconds(parse_pages, own, True),
    )


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.foreign", description=summary)
    parser.add_argument("--every", type=int, default=EVERY_SITE, help="of so many sites, the rules of one")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        chosen = [site for vertical in VERTICALS for site in sites(vertical)][:: options.every]
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    costs: dict[Case, list[Cost]] = {case: [] for case in CASES}
    for site in track(chosen, "sites", console=Console(stderr=True), transient=True):
        foreign = foreign_pages(site)
        for case, measured in costs.items():
            measured.append(measure(site, case, foreign))
    table = Table(
        "pages", "foreign with a record", "worst site", "own with a record", "foreign ÷ parse", "own ÷ parse"
    )
    table.title = (
        f"Rules of {len(chosen)} sites, each with {FOREIGN_PAGES} pages of other sites of its vertical"
    )
    for case, measured in costs.items():
        table.add_row(
            case.name,
            f"{mean(cost.records for cost in measured):.1%}",
            f"{max(cost.records for cost in measured):.1%}",
            f"{mean(cost.own_records for cost in measured):.1%}",
            f"{mean(cost.foreign for cost in measured):.2f}",
            f"{mean(cost.own for cost in measured):.2f}",
        )
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
