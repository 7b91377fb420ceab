"""Rules exported to other tools: the share of attributes with the same values as our engine, on all pages of a
site.

python -m benchmarks.measure.exports                      SWDE, parsel and the published semantics of crawl4ai
python -m benchmarks.measure.exports --every 20           a quick look
python -m benchmarks.measure.exports --library            crawl4ai itself, in an environment of its own
python -m benchmarks.measure.exports -v                   list attributes with other values

Rules are learned from two labeled pages. An attribute is the same if its values are equal on every page that our
engine extracts with these rules, white space aside. Where they differ, the export names what it lost, or the
attribute is undeclared. The last column is the share of attributes of which an export says that nothing is lost.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, labeling_order, labels_of, schema_of
from benchmarks.peers import install, run_crawl4ai
from benchmarks.peers.crawl4ai_schema import evaluate_schema
from untemplate import Page, learn
from untemplate.record import Record
from untemplate.rules.exporting import Export, Target, export_wrapper

LABELED = 2
VERDICTS = ("same", "declared", "not exported", "undeclared")
TO_REACH = "to reach: 95 % of the attributes the same, the rest declared"

Values = dict[str, list[str]]


def run_parsel(export: Export, pages: Sequence[Page]) -> list[Values]:
    """Return what the exported code extracts from each page."""
    names: dict[str, Any] = {}
    exec(compile(export.text, "export.py", "exec"), names)
    return [names["extract"](page.text) for page in pages]


def run_published(export: Export, pages: Sequence[Page]) -> list[Values]:
    """Return what the schema means by the published semantics of crawl4ai."""
    schema = json.loads(export.text)
    return [_first_item(evaluate_schema(schema, page.text)) for page in pages]


def run_library(export: Export, pages: Sequence[Page]) -> list[Values]:
    """Return what crawl4ai itself extracts."""
    schema = json.loads(export.text)
    return list(map(_first_item, run_crawl4ai([{"schema": schema, "html": page.text} for page in pages])))


def _first_item(items: Sequence[dict[str, Any]]) -> Values:
    """Return the only record of a page, with its values as lists and their white space squeezed."""
    values: Values = {}
    for name, content in (items[0] if items else {}).items():
        members = [one["value"] for one in content] if isinstance(content, list) else [content]
        values[name] = [" ".join(text.split()) for text in members]
    return values


@dataclass(frozen=True)
class Tool:
    """A tool that rules are exported to, and what runs an export."""

    target: Target
    run: Callable[[Export, Sequence[Page]], list[Values]]


def compare_site(site: Site, tools: Sequence[Tool]) -> Iterator[tuple[Target, bool, str, str]]:
    """Yield for each tool and attribute of a site whether nothing is lost, a verdict, and the first difference."""
    pages = site.pages()
    labels = labels_of(labeling_order(site)[:LABELED], site.truth())
    rules = learn(pages, labels, schema_of(site.vertical))
    records = {page.id: rules.extract_one(page) for page in pages}
    for wrapper in rules.wrappers:
        own = [page for page in pages if records[page.id].cluster == wrapper.cluster]
        if not wrapper.rules or not own or wrapper.lender:
            continue
        for tool in tools:
            export = export_wrapper(wrapper, rules.schema, tool.target)
            found = tool.run(export, own)
            for name in wrapper.rules:
                verdict, words = _judge(name, export, [records[page.id] for page in own], found)
                yield tool.target, export.lost.get(name) == (), verdict, words


def _judge(name: str, export: Export, records: Sequence[Record], found: Sequence[Values]) -> tuple[str, str]:
    if name in export.missing:
        return "not exported", f"{name}: {export.missing[name]}"
    for record, values in zip(records, found, strict=True):
        ours = [value.text for value in record.values.get(name, [])]
        if ours != (values.get(name) or []):
            verdict = "declared" if export.lost[name] else "undeclared"
            return verdict, f"{name} of {record.page_id}: {ours} / {values.get(name)}"
    return "same", name


def main(arguments: Sequence[str]) -> int:
    parser = site_parser("exports", __doc__)
    parser.add_argument("--library", action="store_true", help="run crawl4ai itself")
    parser.add_argument("-v", "--verbose", action="store_true", help="list attributes with other values")
    options = parser.parse_args(arguments)
    console, sites = open_sites(options)
    if options.library:
        install("crawl4ai")
    tools = (Tool("parsel", run_parsel), Tool("crawl4ai", run_library if options.library else run_published))
    verdicts: dict[Target, Counter[str]] = {tool.target: Counter() for tool in tools}
    claimed: Counter[Target] = Counter()
    for site in track(sites, "exports", console=Console(stderr=True), transient=True):
        for target, is_claimed, verdict, words in compare_site(site, tools):
            verdicts[target][verdict] += 1
            claimed[target] += is_claimed
            if options.verbose and verdict != "same":
                console.print(f"{target} {site.folder.name} {verdict}: {words}", markup=False)
    table = Table("tool", "attributes", *VERDICTS, "nothing lost", title=TO_REACH)
    for target, counts in verdicts.items():
        total = counts.total()
        shares = [f"{counts[verdict] / max(1, total):.1%}" for verdict in VERDICTS]
        table.add_row(target, str(total), *shares, f"{claimed[target] / max(1, total):.1%}")
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
