"""untemplate extract: apply rules to pages and write records."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.catalog_options import open_rules, rules_options
from untemplate.cli.learn import label_by_data, learn_rules_of
from untemplate.cli.shell import (
    count_pages,
    counted,
    examples,
    pages_argument,
    records_option,
    report_skipped,
    say,
    show,
)

if TYPE_CHECKING:
    from untemplate.engines.checkpoint import RunProgress
    from untemplate.engines.worker import PageLimits, Result
    from untemplate.extraction import Rules
    from untemplate.output.quality import Tally
    from untemplate.sources import Pages

__all__ = ["command", "show_tally"]

# Above this share of failed pages the rules are of another site, or the site has changed.
MAX_FAILED_SHARE = 0.5
# Reasons printed at the end.
MAX_REASONS = 10


@click.command(
    epilog=examples(
        "untemplate extract pages/ --rules rules.json -o records.parquet",
        "untemplate extract pages/ --schema recipe -o records.csv --save-rules rules.json",
        "untemplate extract crawl.warc.gz --rules rules.json | jq .name",
        "untemplate extract pages/ --catalog untemplate.db --site books.example -o records.parquet",
        "untemplate extract s3a://crawl/ --rules rules.json -o s3a://out/records.parquet --engine spark",
    )
)
@pages_argument
@rules_options
@click.option(
    "--schema",
    "schema_name",
    help="No rules yet: learn them first from the embedded data of the pages. A TOML file or a ready-made schema.",
)
@click.option(
    "--save-rules",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --schema, keep the rules that were learned in this file.",
)
@records_option
@click.option(
    "--engine",
    default="local",
    show_default=True,
    type=click.Choice(["local", "spark"]),
    help="Where to work: this machine, or Spark.",
)
@click.option(
    "--master",
    metavar="URL",
    show_default="that of spark-submit, or this machine",
    help="Where Spark is, such as yarn or spark://host:7077.",
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
    default=MAX_FAILED_SHARE,
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
    render: bool,
    rules_file: Path | None,
    catalog_name: str | None,
    site: str | None,
    schema_name: str | None,
    save_rules: Path | None,
    output: str,
    engine: str,
    master: str | None,
    workers: int | None,
    unordered: bool,
    page_seconds: float,
    page_memory: int,
    max_failed: float,
) -> None:
    """Extract a record from every page, or from every row of a list page.

    With --schema instead of rules, rules are learned first as untemplate learn does without labels: from what the
    embedded data of the pages say.

    PAGES is any source of pages; see untemplate cluster --help. Every page gets a record; a value that is missing
    has its reason there. A page has failed if it cannot be read, matches no rules, or matches rules that find nothing
    on it; pages of a kind that nobody labeled have not.

    The file appears when it is complete. If the work is interrupted in whatever way, the same command continues it.

    Spark reads Parquet, WARC or JSONL from any file system it knows; interrupted, it begins anew. Its output is a
    folder of parts if the name ends with a slash or has a scheme such as s3a://.
    """
    from untemplate.engines.worker import PageLimits
    from untemplate.sources import read_pages

    if master and engine != "spark":
        raise click.UsageError("--master needs --engine spark.")
    if render and engine == "spark":
        raise click.UsageError("--render needs --engine local.")
    if save_rules and not schema_name:
        raise click.UsageError("--save-rules needs --schema: other rules are kept already.")
    if schema_name and (rules_file or catalog_name or site):
        raise click.UsageError("--schema learns new rules: give it, or --rules, or --catalog and --site.")
    open_source = partial(read_pages, source, url_column=url_column, html_column=html_column, render=render)
    pages: Pages | None = None
    stored, run = None, 0
    if schema_name:
        pages = open_source()
        rules = _learn_first(pages, schema_name, save_rules)
    else:
        with open_rules(rules_file, catalog_name, site) as (rules, stored):
            run = stored.catalog.start_run(stored.site, "extract") if stored else 0
    limits = PageLimits(page_seconds, page_memory << 20)
    done: RunProgress | Result
    if engine == "spark":
        from untemplate.engines import spark

        session = spark.start_session(master or (f"local[{workers}]" if workers else None))
        done = spark.extract_on_spark(
            session, source, rules, output, url_column=url_column, html_column=html_column, limits=limits
        )
    else:
        done = _extract_locally(pages or open_source(), rules, output, workers, not unordered, limits)
    if stored:
        with stored.catalog as catalog:
            catalog.finish_run(run, done.tally.to_dict() | {"skipped": done.skipped.total})
    show_tally(done.tally, rules.schema.attributes)
    report_skipped(done.skipped)
    failed = done.tally.failed_share(done.skipped.total)
    if failed > max_failed:
        say(f"{failed:.0%} of the pages failed, more than {max_failed:.0%}.")
        context.exit(1)


def _learn_first(pages: Pages, schema_name: str, save_rules: Path | None) -> Rules:
    """Learn rules from the embedded data of the pages; say so, and what they are."""
    from untemplate.schema import Schema

    schema = Schema.load(schema_name)
    rules = learn_rules_of(pages, label_by_data(pages, schema), schema).rules
    if save_rules:
        rules.save(save_rules)
        say(f"Rules are in {save_rules}.")
    return rules


def _extract_locally(
    pages: Pages, rules: Rules, output: str, workers: int | None, ordered: bool, limits: PageLimits
) -> RunProgress:
    """Extract on this machine, with a progress bar; say that an interrupted run can be continued."""
    from untemplate.engines.local import extract_to_file

    try:
        with count_pages("Extracting", pages) as count:
            return extract_to_file(
                pages, rules, output, workers=workers, ordered=ordered, limits=limits, tell=say, count=count
            )
    except KeyboardInterrupt:
        if output != "-":
            say("What is done is kept: the same command continues.")
        raise


def show_tally(tally: Tally, attributes: Iterable[str]) -> None:
    """Print how often each attribute was found, and why pages have no values."""
    say(
        f"{counted(tally.records, 'record')}; rules match {tally.pages - tally.unmatched.total():,} of the pages."
    )
    show(
        "Found in",
        ("attribute", "records", "share"),
        [(name, tally.filled[name], _share(tally.filled[name], tally.matched)) for name in attributes],
        err=True,
    )
    if tally.empty:
        say(f"{counted(tally.empty, 'page')} with matching rules that find nothing")
    for reason, count in tally.unmatched.most_common(MAX_REASONS):
        say(f"{counted(count, 'page')}: {reason}")


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else ""
