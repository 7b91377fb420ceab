"""The time of extraction in multiples of the plain lxml parse of the same pages, peers beside ours; one core.

python -m benchmarks.measure.speed                          all SWDE pages, and peers (the first run installs them)
python -m benchmarks.measure.speed --every 10               of ten pages one
python -m benchmarks.measure.speed --by untemplate          ours and the parsers alone
python -m benchmarks.measure.speed --recipes 4 --by untemplate      today's pages: of four recipe sites one
python -m benchmarks.measure.speed --chart docs/images/speed.svg

Ways take turns on each page, in one order and in the other: what ran before leaves its traces in the caches. The time
of a way is the mean of both orders. Each way takes turns with the parse alone, and, in a column of its own, with all
other ways: then it finds the caches full of what eight others left there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import process_time

import lxml.html
import parsel
from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from benchmarks.data import recipes
from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, labeling_order, labels_of, schema_of
from benchmarks.peers import PEERS, PeerFailed, Uninstallable, install, run_peer
from untemplate import LabelError, Page, Rules, learn
from untemplate.native import describe_core
from untemplate.output.record_files import open_records
from untemplate.page import signature

OURS = "untemplate"
PARSE = "lxml parse"
LABELED = 4
PASSES = 9
"""Each way works so often on a page in each order; the least time counts, as others use the machine."""

MERGING_BYTES = 4096
"""An allocation of this size lets the C library merge the small blocks that were freed before. It follows each way,
outside of its time: otherwise the next way would pay for the tree that lxml freed."""

XPATHS = [
    etree.XPath(path)
    for path in (
        "//h1//text()",
        "//title/text()",
        "//a[@href]/@href",
        '//*[@class="price"]/text()',
        "//table//td/text()",
    )
]
CSS = ("h1", "title", "a[href]", ".price", "table td")
ABSOLUTE_XPATHS = [
    etree.XPath(path)
    for path in (
        "/html/head/title/text()",
        "/html/body/div[1]/div[2]/h1/text()",
        "/html/body/div[2]/div[1]/div[1]/span/text()",
        "/html/body/div[1]/div[1]/a/@href",
        "/html/body/table[1]/tr[1]/td[1]/text()",
    )
]

Way = Callable[[Page], object]
Times = dict[str, float]
"""Way → CPU seconds of a page."""
Ratios = dict[str, list[float]]
"""Way → times as multiples of the parse of the same page."""


@dataclass
class Measured:
    """What was measured on some pages.

    Attributes:
        parse: the CPU seconds of the parse of each page.
        with_parse: the ratios of ways that take turns with the parse alone.
        with_all: the ratios of ways that take turns with all others.
    """

    parse: list[float] = field(default_factory=list)
    with_parse: Ratios = field(default_factory=dict)
    with_all: Ratios = field(default_factory=dict)

    def add_page(self, ways: Mapping[str, Way], page: Page) -> None:
        """Measure all ways on a page."""
        times = measure_both_orders(ways, page)
        self.parse.append(times[PARSE])
        for way in ways:
            pair = measure_both_orders({PARSE: ways[PARSE], way: ways[way]}, page)
            self.with_all.setdefault(way, []).append(times[way] / times[PARSE])
            self.with_parse.setdefault(way, []).append(pair[way] / pair[PARSE])

    def add_site(self, other: Measured) -> None:
        """Append what was measured on the pages of another site."""
        self.parse += other.parse
        for mine, theirs in ((self.with_parse, other.with_parse), (self.with_all, other.with_all)):
            for way, ratios in theirs.items():
                mine.setdefault(way, []).extend(ratios)


def _lxml_and_xpaths(page: Page) -> object:
    tree = lxml.html.document_fromstring(page.html)
    return [xpath(tree) for xpath in XPATHS]


def _lexbor_and_css(page: Page) -> object:
    tree = LexborHTMLParser(page.html)
    return [tree.css(selector) for selector in CSS]


def _lxml_and_absolute_xpaths(page: Page) -> object:
    tree = lxml.html.document_fromstring(page.html)
    return [xpath(tree) for xpath in ABSOLUTE_XPATHS]


def _parsel_and_css(page: Page) -> object:
    selector = parsel.Selector(body=page.html)
    return [selector.css(css).getall() for css in CSS]


PARSERS: dict[str, Way] = {
    PARSE: lambda page: lxml.html.document_fromstring(page.html),
    "lxml parse, five // XPaths": _lxml_and_xpaths,
    "lxml parse, five absolute XPaths": _lxml_and_absolute_xpaths,
    "parsel, five CSS selections": _parsel_and_css,
    "lexbor parse": lambda page: LexborHTMLParser(page.html),
    "lexbor parse, five CSS selections": _lexbor_and_css,
    "signature": lambda page: signature(page.html),
}


def measure_site(site: Site) -> Measured:
    """Return what was measured on every page of a SWDE site."""
    labels = labels_of(labeling_order(site)[:LABELED], site.truth())
    return measure(learn(site.pages(), labels, schema_of(site.vertical)), site.pages())


def measure_recipes(name: str) -> Measured:
    """Return the same for a recipe site, with scripts and without, by rules from one labeled page."""
    measured = Measured()
    for scripts in (True, False):
        site = recipes.read_site(name, scripts)
        if site is None:
            continue
        try:
            rules = learn(site.pages, site.labels(), site.schema)
        except LabelError:
            continue
        measured.add_site(measure(rules, site.pages))
    return measured


def measure(rules: Rules, pages: Sequence[Page]) -> Measured:
    """Measure all ways on some pages: parsers, the signature, and from HTML to a record in a JSONL file."""
    measured = Measured()
    with TemporaryDirectory() as folder, open_records(Path(folder) / "records.jsonl", rules.schema) as write:

        def extract(page: Page) -> None:
            for record in rules.extract([page]):
                write(record)

        for page in pages:
            page.release()
            extract(page)  # what the first page of a process costs is measured by `measure.scale`
            measured.add_page(PARSERS | {OURS: extract}, page)
    return measured


def measure_both_orders(ways: Mapping[str, Way], page: Page) -> Times:
    """Return the time of each way on a page, the mean of both orders."""
    forward, backward = measure_turns(ways, page), measure_turns(dict(reversed(ways.items())), page)
    return {way: (forward[way] + backward[way]) / 2 for way in ways}


def measure_turns(ways: Mapping[str, Way], page: Page) -> Times:
    """Return the least time of each way on a page; all take turns in this order."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(PASSES):
        for way, work in ways.items():
            started = process_time()
            work(page)
            least[way] = min(least[way], process_time() - started)
            bytearray(MERGING_BYTES)
    return least


def measure_peer(peer: str, site: Site) -> list[float]:
    """Ratios of a peer on the pages of a site, learned from one labeled page; none if it fails."""
    truth = site.truth()
    values = {page: {name: true for name, true in truth[page].items() if true} for page in truth}
    labeled = labeling_order(site)[0]
    tested = {page.id: values[page.id] for page in site.pages() if page.id != labeled}
    try:
        return run_peer(peer, site.folder, {labeled: values[labeled]}, tested)[1]
    except PeerFailed:
        return []


def show(console: Console, measured: Measured, failed: Sequence[str]) -> None:
    parse = mean(measured.parse)
    title = f"{len(measured.parse):,} pages, CPU time as a multiple of lxml.html.document_fromstring, "
    title += f"{1000 * parse:.2f} ms a page; {describe_core()}"
    table = Table("way", "mean", "median", "95 % below", "mean in turns with all", "pages/s", title=title)
    for way, ratios in measured.with_parse.items():
        high = sorted(ratios)[int(0.95 * (len(ratios) - 1))]
        cells = [f"{value:.2f}" for value in (mean(ratios), median(ratios), high)]
        among = measured.with_all.get(way)
        table.add_row(
            way, *cells, f"{mean(among):.2f}" if among else "", f"{1 / (mean(ratios) * parse):,.0f}"
        )
    console.print(table)
    for line in failed:
        console.print(line, markup=False)


def draw(path: Path, ratios: Ratios, parse: float) -> None:
    """A bar of throughput for each way."""
    from matplotlib.figure import Figure

    ways = sorted(ratios, key=lambda way: mean(ratios[way]))
    rates = [1 / (mean(ratios[way]) * parse) for way in ways]
    figure = Figure(figsize=(8, 0.35 * len(ways) + 1), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(ways, rates, color=["tab:orange" if way == OURS else "tab:blue" for way in ways])
    axes.bar_label(bars, [f"{rate:,.0f}" for rate in rates], padding=3)
    axes.invert_yaxis()
    axes.set_xlabel("pages a second, one core")
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(arguments: Sequence[str]) -> int:
    parser = site_parser("speed", __doc__)
    parser.add_argument("--by", nargs="+", choices=(OURS, *PEERS), default=(OURS, *PEERS), help="only these")
    parser.add_argument("--recipes", type=int, metavar="N", help="instead of SWDE, of N recipe sites one")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the throughput too: .svg or .png")
    options = parser.parse_args(arguments)
    console, chosen = open_sites(options)
    sites: list[Callable[[], Measured]] = [partial(measure_site, site) for site in chosen]
    if options.recipes:
        sites = [partial(measure_recipes, name) for name in recipes.site_names()[:: options.recipes]]
    progress = Console(stderr=True)
    measured = Measured()
    failed: list[str] = []
    peers = [peer for peer in PEERS if peer in options.by and not options.recipes]
    for peer in list(peers):
        try:
            install(peer)
        except Uninstallable as error:
            failed.append(f"{peer}: does not install: {error}")
            peers.remove(peer)
    for measure_one in track(sites, "sites", console=progress, transient=True):
        measured.add_site(measure_one())
    for peer in peers:
        for site in chosen:
            found = measure_peer(peer, site)
            measured.with_parse.setdefault(peer, []).extend(found)
            if not found:
                failed.append(f"{peer}: fails on {site.vertical}-{site.name}, which is left out")
    show(console, measured, failed)
    if options.chart:
        draw(options.chart, measured.with_parse, mean(measured.parse))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
