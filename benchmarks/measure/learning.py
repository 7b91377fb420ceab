"""How long learning a cluster takes on SWDE, also with a page of a million nodes; one core.

python -m benchmarks.measure.learning                  all 40 sites
python -m benchmarks.measure.learning --sites zagat
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from time import process_time

import lxml.html
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, labeling_order, labels_of, schema_of
from untemplate import Page, learn

SAMPLE = 20
LABELED = 4
HUGE_NODES = 1_000_000


@dataclass(frozen=True)
class Learning:
    """Seconds of learning the rules of one cluster."""

    site: Site
    attributes: int
    seconds: float


@dataclass(frozen=True)
class HugeLearning:
    """Seconds of learning without and with a page of a million nodes, and of parsing that page."""

    site: Site
    without: float
    within: float
    parse: float


def sample_of(site: Site) -> tuple[list[Page], Callable[[], float]]:
    """The pages of a sample, and what learns from them and says how many seconds that took."""
    truth = site.truth()
    order = labeling_order(site)
    pages = [page for page in site.pages() if page.id in order[:SAMPLE]]
    labels = labels_of(order[:LABELED], truth)

    def learning() -> float:
        for page in pages:
            page.release()
        started = process_time()
        learn(pages, labels, schema_of(site.vertical))
        return process_time() - started

    return pages, learning


def measure_learning(site: Site) -> Learning:
    _, learning = sample_of(site)
    attributes = {name for values in site.truth().values() for name, found in values.items() if found}
    return Learning(site, len(attributes), learning())


def measure_huge_learning(site: Site) -> HugeLearning:
    pages, learning = sample_of(site)
    without = learning()
    huge = huge_page(pages[-1])
    started = process_time()
    lxml.html.document_fromstring(huge.html)
    parse = process_time() - started
    pages.append(huge)
    return HugeLearning(site, without, learning(), parse)


def huge_page(like: Page) -> Page:
    """A page of the same template, whose content is repeated until it has a million nodes."""
    tree = lxml.html.document_fromstring(like.html)
    body = tree.find("body")
    content = list(body)
    count = max(1, int(body.xpath("count(.//node())")))
    inner = b"".join(lxml.html.tostring(element, encoding="utf-8") for element in content)
    for element in content:
        body.remove(element)
    start, end = lxml.html.tostring(tree, encoding="utf-8").rsplit(b"</body>", 1)
    html = start + inner * (HUGE_NODES // count + 1) + b"</body>" + end
    return Page(like.url, html, "huge.htm")


def show_learning(console: Console, learned: Sequence[Learning], huge: Sequence[HugeLearning]) -> None:
    title = f"Learning a cluster: {SAMPLE} pages, {LABELED} labeled, CPU seconds"
    table = Table("sites", "attributes", "mean", "median", "max", "slowest", title=title)
    for vertical in sorted({one.site.vertical for one in learned}):
        _add_learning(table, vertical, [one for one in learned if one.site.vertical == vertical])
    _add_learning(table, "all", learned)
    console.print(table)
    title = f"With a page of {HUGE_NODES:,} nodes in the sample, CPU seconds"
    table = Table("site", "without", "with", "difference", "lxml parse of that page", title=title)
    for one in huge:
        cells = (one.without, one.within, one.within - one.without, one.parse)
        table.add_row(f"{one.site.vertical}-{one.site.name}", *(f"{seconds:.2f}" for seconds in cells))
    console.print(table)


def _add_learning(table: Table, name: str, learned: Sequence[Learning]) -> None:
    seconds = [one.seconds for one in learned]
    slowest = max(learned, key=lambda one: one.seconds).site
    attributes = {one.attributes for one in learned}
    spread = str(min(attributes)) if len(attributes) == 1 else f"{min(attributes)}–{max(attributes)}"
    cells = [f"{value:.2f}" for value in (mean(seconds), median(seconds), max(seconds))]
    table.add_row(f"{name} ({len(learned)})", spread, *cells, f"{slowest.vertical}-{slowest.name}")


def main(arguments: Sequence[str]) -> int:
    console, chosen = open_sites(site_parser("learning", __doc__).parse_args(arguments))
    progress = Console(stderr=True)
    firsts = {site.vertical: site for site in reversed(chosen)}
    learned = [measure_learning(site) for site in track(chosen, "learning", console=progress, transient=True)]
    huge = [
        measure_huge_learning(site)
        for site in track(firsts.values(), "huge page", console=progress, transient=True)
    ]
    show_learning(console, learned, huge)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
