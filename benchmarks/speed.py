"""How long learning a cluster takes, and extracting a page in multiples of parsing it, on SWDE; one core.

python -m benchmarks.speed                  all 40 sites
python -m benchmarks.speed --sites zagat
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from unittest.mock import patch

import lxml.html
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.swde import VERTICALS, Site, chosen_sites, labelling_order, labels_of, schema_of
from untemplate import Page, Rules, learn
from untemplate.extraction import rules as matching
from untemplate.extraction.apply import apply_rule
from untemplate.extraction.output import RecordSink, open_records

SAMPLE = 20
LABELLED = 4
HUGE_NODES = 1_000_000
PARTS = ("parse", "match", "select", "values", "output")


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


@dataclass
class Extraction:
    """Per page the time as a multiple of parsing it, and the seconds that the parts of extraction take."""

    ratios: list[float] = field(default_factory=list)
    parse: float = 0.0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))


def sample_of(site: Site) -> tuple[list[Page], Callable[[], float]]:
    """The pages of a sample, and what learns from them and says how many seconds that took."""
    truth = site.truth()
    order = labelling_order(site)
    pages = [page for page in site.pages() if page.id in order[:SAMPLE]]
    labels = labels_of(order[:LABELLED], truth)

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


def measure_extraction(site: Site, into: Extraction) -> None:
    """Every page of the site: parsed by lxml, extracted from into JSONL, and extracted from part by part."""
    pages, truth = site.pages(), site.truth()
    schema = schema_of(site.vertical)
    rules = learn(pages, labels_of(labelling_order(site)[:LABELLED], truth), schema)
    with TemporaryDirectory() as folder, open_records(Path(folder) / "records.jsonl", schema) as write:
        for page in pages:
            page.release()
            started = process_time()
            lxml.html.document_fromstring(page.html)
            parse = process_time() - started
            started = process_time()
            write(rules.extract_one(page))
            into.ratios.append((process_time() - started) / parse)
            into.parse += parse
            page.release()
            for part, seconds in _parts(rules, page, write).items():
                into.parts[part] += seconds
            page.release()


def _parts(rules: Rules, page: Page, write: RecordSink) -> dict[str, float]:
    """Seconds of each part of one extraction; what is neither parsing nor a rule nor a value is matching."""
    parts = dict.fromkeys(PARTS, 0.0)

    def timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started = process_time()
            try:
                return function(*arguments)
            finally:
                parts[part] += process_time() - started

        return call

    timed("parse", lambda: page.tree)()
    select, values = timed("select", apply_rule), timed("values", matching._value)
    with patch.object(matching, "apply_rule", select), patch.object(matching, "_value", values):
        record = timed("match", rules.extract_one)(page)
    parts["match"] -= parts["select"] + parts["values"]
    timed("output", write)(record)
    return parts


def show_learning(console: Console, learnt: Sequence[Learning], huge: Sequence[HugeLearning]) -> None:
    title = f"Learning a cluster: {SAMPLE} pages, {LABELLED} labelled, CPU seconds"
    table = Table("sites", "attributes", "mean", "median", "max", "slowest", title=title)
    for vertical in sorted({one.site.vertical for one in learnt}):
        _add_learning(table, vertical, [one for one in learnt if one.site.vertical == vertical])
    _add_learning(table, "all", learnt)
    console.print(table)
    title = f"With a page of {HUGE_NODES:,} nodes in the sample, CPU seconds"
    table = Table("site", "without", "with", "difference", "lxml parse of that page", title=title)
    for one in huge:
        cells = (one.without, one.within, one.within - one.without, one.parse)
        table.add_row(f"{one.site.vertical}-{one.site.name}", *(f"{seconds:.2f}" for seconds in cells))
    console.print(table)


def _add_learning(table: Table, name: str, learnt: Sequence[Learning]) -> None:
    seconds = [one.seconds for one in learnt]
    slowest = max(learnt, key=lambda one: one.seconds).site
    attributes = {one.attributes for one in learnt}
    spread = str(min(attributes)) if len(attributes) == 1 else f"{min(attributes)}–{max(attributes)}"
    cells = [f"{value:.2f}" for value in (mean(seconds), median(seconds), max(seconds))]
    table.add_row(f"{name} ({len(learnt)})", spread, *cells, f"{slowest.vertical}-{slowest.name}")


def show_extraction(console: Console, extraction: Extraction) -> None:
    ratios = sorted(extraction.ratios)
    title = f"Extraction of {len(ratios):,} pages, as a multiple of lxml.html.document_fromstring"
    table = Table("mean", "median", "95 % below", "all pages together", title=title)
    together = sum(extraction.parts.values()) / extraction.parse
    high = ratios[int(0.95 * (len(ratios) - 1))]
    table.add_row(*(f"{value:.2f}" for value in (mean(ratios), median(ratios), high, together)))
    console.print(table)
    table = Table("part", "ms a page", "× parsing", "share", title="Where the time goes, all pages together")
    for part in PARTS:
        seconds = extraction.parts[part]
        share = seconds / sum(extraction.parts.values())
        cells = (f"{1000 * seconds / len(ratios):.3f}", f"{seconds / extraction.parse:.2f}", f"{share:.0%}")
        table.add_row(part, *cells)
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=summary)
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as zagat")
    options = parser.parse_args(arguments)
    console, progress = Console(width=None if sys.stdout.isatty() else 140), Console(stderr=True)
    try:
        chosen = chosen_sites(options.vertical, options.sites)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    firsts = {site.vertical: site for site in reversed(chosen)}
    learnt = [measure_learning(site) for site in track(chosen, "learning", console=progress, transient=True)]
    huge = [
        measure_huge_learning(site)
        for site in track(firsts.values(), "huge page", console=progress, transient=True)
    ]
    show_learning(console, learnt, huge)
    extraction = Extraction()
    for site in track(chosen, "extraction", console=progress, transient=True):
        measure_extraction(site, extraction)
    show_extraction(console, extraction)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
