"""untemplate extract: pages and rules to records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.shell import count_pages, examples, pages_argument, say, show

if TYPE_CHECKING:
    from untemplate.engines.tally import Tally

__all__ = ["command", "show_tally"]

# More pages failed than not: the rules are not of this site, or the site is not what it was.
MAX_FAILED = 0.5

# Reasons told at the end.
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
    "--workers",
    type=click.IntRange(min=1),
    show_default="all cores",
    help="Processes that work side by side.",
)
@click.option("--unordered", is_flag=True, help="Records as they are done, not in the order of the pages.")
@click.option(
    "--page-seconds",
    default=30.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Time that one page may take.",
)
@click.option(
    "--page-memory",
    default=1024,
    show_default=True,
    type=click.IntRange(min=256),
    metavar="MB",
    help="Memory that the worker of a page may use.",
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
    workers: int | None,
    unordered: bool,
    page_seconds: float,
    page_memory: int,
    max_failed: float,
) -> None:
    """Extract a record from every page.

    PAGES is any source of pages; see untemplate cluster --help. Every page gets a record; a value that is missing
    has its reason there. A page has failed if it cannot be read, matches no rules, or matches rules that find nothing
    on it; pages of a kind that nobody labelled have not.

    The file appears when it is complete. If the work is interrupted in whatever way, the same command continues it.
    """
    from untemplate.engines.local import extract
    from untemplate.engines.worker import PageLimits
    from untemplate.extraction import Rules
    from untemplate.sources import read_pages

    rules = Rules.load(rules_file)
    pages = read_pages(source, url_column=url_column, html_column=html_column)
    with count_pages("Extracting", pages) as count:
        done = extract(
            pages,
            rules,
            output,
            workers=workers,
            ordered=not unordered,
            limits=PageLimits(page_seconds, page_memory << 20),
            tell=say,
            count=count,
        )
    show_tally(done.tally, rules.schema.attributes)
    if done.skipped:
        say(f"{done.skipped.total:,} pages skipped: {done.skipped}")
    failed = done.tally.failed_share(done.skipped.total)
    if failed > max_failed:
        say(f"{failed:.0%} of the pages failed, more than {max_failed:.0%}.")
        context.exit(1)


def show_tally(tally: Tally, attributes: Iterable[str]) -> None:
    """Tell the user how often each attribute came out, and why pages have no values."""
    say(f"{tally.records:,} records; rules match {tally.matched:,} of the pages.")
    show(
        "Found on",
        ("attribute", "pages", "share"),
        (
            (name, tally.filled[name], f"{tally.filled[name] / tally.matched:.1%}" if tally.matched else "")
            for name in attributes
        ),
        err=True,
    )
    if tally.empty:
        say(f"{tally.empty:,} pages match rules that find nothing on them")
    for reason, count in tally.unmatched.most_common(REASONS):
        say(f"{count:,} pages: {reason}")
