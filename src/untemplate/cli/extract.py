"""untemplate extract: pages and rules to records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.shell import examples, open_pages, pages_argument, progress, say, show

if TYPE_CHECKING:
    from untemplate.record import Record

__all__ = ["Tally", "command"]

# More pages failed than not: the rules are not of this site, or the site is not what it was.
MAX_FAILED = 0.5

# Reasons told at the end: those of unreadable pages may be as many as these pages.
REASONS = 10


@click.command(
    epilog=examples(
        "untemplate extract pages/ --rules rules.json -o records.parquet",
        "untemplate extract crawl.warc.gz --rules rules.json | jq .name",
    )
)
@pages_argument
@click.option(
    "--rules",
    "rules_file",
    required=True,
    type=click.Path(path_type=Path),
    help="Rules, as untemplate learn writes them.",
)
@click.option(
    "-o",
    "--output",
    default="-",
    show_default="JSONL to standard output",
    type=click.Path(path_type=Path),
    help="The file to write: .jsonl, .csv or .parquet.",
)
@click.option(
    "--max-failed",
    default=MAX_FAILED,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of failed pages above which the exit code is 1.",
)
@click.pass_context
def command(
    context: click.Context,
    source: str,
    url_column: str,
    html_column: str,
    rules_file: Path,
    output: Path,
    max_failed: float,
) -> None:
    """Extract a record from every page.

    PAGES is any source of pages; see untemplate cluster --help. Every page gets a record; a value that is missing
    has its reason there. A page has failed if it cannot be read, matches no rules, or matches rules that find nothing
    on it; pages of a kind that nobody labelled have not.
    """
    from untemplate.extraction import Rules, open_records

    rules = Rules.load(rules_file)
    tally = Tally()
    with open_pages(source, url_column, html_column) as pages:
        with open_records(output, rules.schema) as write:
            for record in tally.count(rules.extract(progress(pages, "Extracting", pages.total))):
                write(record)
        tally.skipped = pages.skipped.total
        tally.show(rules.schema.attributes)
    if tally.failed_share > max_failed:
        say(f"{tally.failed_share:.0%} of the pages failed, more than {max_failed:.0%}.")
        context.exit(1)


@dataclass
class Tally:
    """What came out of many pages, in numbers."""

    records: int = 0
    matched: int = 0
    empty: int = 0  # matched, but no rule found anything
    skipped: int = 0  # by the source
    filled: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)  # by reason

    def count(self, records: Iterable[Record]) -> Iterator[Record]:
        """Pass records on, and count them."""
        from untemplate.record import Reason

        for record in records:
            self.records += 1
            self.filled.update(record.values.keys())
            reason = next(iter(record.missing.values()), "")
            if record.cluster is None or reason == Reason.NEEDS_LABELS:
                self.unmatched[reason] += 1
            else:
                self.matched += 1
                self.empty += not record.values
            yield record

    @property
    def failed_share(self) -> float:
        """The share of pages out of which nothing came although something should have."""
        from untemplate.record import Reason

        failed = self.empty + self.skipped + self.unmatched.total() - self.unmatched[Reason.NEEDS_LABELS]
        total = self.records + self.skipped
        return failed / total if total else 0.0

    def show(self, attributes: Iterable[str]) -> None:
        """Tell the user: how often each attribute came out, and why pages have no values."""
        say(f"{self.records:,} records; rules match {self.matched:,} of the pages.")
        show(
            "Found on",
            ("attribute", "pages", "share"),
            (
                (name, self.filled[name], f"{self.filled[name] / self.matched:.1%}" if self.matched else "")
                for name in attributes
            ),
            err=True,
        )
        if self.empty:
            say(f"{self.empty:,} pages match rules that find nothing on them")
        for reason, count in self.unmatched.most_common(REASONS):
            say(f"{count:,} pages: {reason}")
