"""What is reported on sites nobody labeled: attributes that a site lacks, and how often sure answers are right.

python -m benchmarks.measure.silence                        one seed site, two of ten in turn, every fourth page
python -m benchmarks.measure.silence --vertical auto --turns 10

An attribute is taken off a site that has it: every text with a true value is removed, and the caption before it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean

from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, Truth, chosen_sites, clean, labels_of, schema_of
from benchmarks.measure.seed import train_seed, turns
from benchmarks.train.rankers import held_out
from untemplate import Finding, Knowledge, Page, static_text
from untemplate.page import Node

# A finding is right if at least this share of its values are true.
MIN_RIGHT_SHARE = 0.9
# A finding with at least this confidence is a sure answer.
SURE = 0.8


@dataclass
class Silence:
    """What was reported in one vertical.

    Attributes:
        lacking: for each attribute that was taken off a site, whether it was reported all the same.
        right: for each attribute whose best place is right, whether it was reported.
        sure: for each value with a high confidence, whether it is true.
    """

    lacking: list[bool] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    sure: list[bool] = field(default_factory=list)

    def row(self) -> list[str]:
        """Return the three shares as they are printed."""
        return [
            f"{mean(values):.3f} of {len(values)}" if values else "–"
            for values in (self.lacking, self.right, self.sure)
        ]


def take_off(pages: Sequence[Page], truth: Truth, attribute: str) -> list[Page]:
    """Return copies of pages without an attribute: no text with one of its true values, and no caption before it."""
    static = static_text(pages, 0.5)
    return [_without_values(page, truth[page.id].get(attribute, []), static) for page in pages]


def _without_values(page: Page, values: Sequence[str], static: frozenset[tuple[str, str]]) -> Page:
    copy = replace_html(page, page.html)
    previous: Node | None = None
    removed: list[Node] = []
    for node in filter(_is_text, copy.nodes):
        if any(value in clean(node.text) for value in values):
            removed.append(node)
            if previous is not None and (previous.path, previous.text) in static:
                removed.append(previous)
        previous = node
    for node in removed:
        if node.kind == "tail":
            node.element.tail = None
        else:
            node.element.text = None
    return replace_html(page, etree.tostring(copy.tree, encoding="utf-8", method="html"))


def _is_text(node: Node) -> bool:
    return node.is_text


def replace_html(page: Page, html: bytes | str) -> Page:
    """Return a page with the same address and another content."""
    return Page(url=page.url, html=html, id=page.id)


def judge_vertical(vertical: str, sites: Sequence[Site], count: int) -> Iterator[Silence]:
    """Yield what is reported on each site but the seed, for some seed sites in turn."""
    by_name = {site.name: site for site in sites}
    trained: dict[str, Knowledge] = {}
    for (name,) in turns(list(by_name), 1, count):
        pages, truth = by_name[name].pages(), by_name[name].truth()
        labels = labels_of([page.id for page in pages], truth)
        trained[name] = train_seed([(pages, labels)], schema_of(vertical), held_out(vertical))
    for site in sites:
        pages, truth = site.pages(), site.truth()
        models = [knowledge for name, knowledge in trained.items() if name != site.name]
        yield judge_site(models, pages, truth)


def judge_site(models: Sequence[Knowledge], pages: Sequence[Page], truth: Truth) -> Silence:
    """Return what each model reports on a site as it is, and on the site without each of its attributes."""
    silence = Silence()
    attributes = {name for values in truth.values() for name, true in values.items() if true}
    for knowledge in models:
        for finding in knowledge.find(pages):
            if finding.attribute in attributes:
                _add_answer(silence, finding, truth)
    for attribute in sorted(attributes):
        rest = take_off(pages, truth, attribute)
        for knowledge in models:
            if knowledge.seed_sites(attribute):
                found = {finding.attribute for finding in knowledge.find(rest) if finding.found}
                silence.lacking.append(attribute in found)
    return silence


def _add_answer(silence: Silence, finding: Finding, truth: Truth) -> None:
    hits = [clean(node.text) in truth[page.id].get(finding.attribute, []) for page, node in finding.places]
    if hits and mean(hits) >= MIN_RIGHT_SHARE:
        silence.right.append(finding.found)
    if finding.found and finding.confidence >= SURE:
        silence.sure += hits


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.silence", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--turns", type=int, default=2, metavar="N", help="seed sites, of 10")
    parser.add_argument("--every", type=int, default=4, metavar="N", help="of N pages only one")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("vertical", "lacking, reported", "right, reported", f"right, of values above {SURE}")
    total = Silence()
    for vertical in options.vertical:
        try:
            sites = chosen_sites([vertical], (), options.every)
        except FileNotFoundError as missing:
            console.print(f"skipped: {missing}")
            return 0
        judged = Silence()
        found = judge_vertical(vertical, sites, options.turns)
        for silence in track(found, vertical, len(sites), console=Console(stderr=True), transient=True):
            for whole in (judged, total):
                whole.lacking += silence.lacking
                whole.right += silence.right
                whole.sure += silence.sure
        table.add_row(vertical, *judged.row())
    table.add_row("all", *total.row())
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
