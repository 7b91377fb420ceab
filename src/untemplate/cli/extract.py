"""untemplate extract: apply rules to pages and write records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
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
from untemplate.record import MAX_DOUBTFUL_CONFIDENCE

if TYPE_CHECKING:
    from untemplate.engines.checkpoint import RunProgress
    from untemplate.engines.worker import PageLimits, Result
    from untemplate.extraction import Rules
    from untemplate.output.quality import Tally
    from untemplate.sources import Pages

    _Done = RunProgress | Result

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
        "untemplate extract pages/ --rules rules.json -o records.csv --confidence --min-confidence 0.8",
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
@click.option(
    "--confidence", is_flag=True, help="Add to CSV and Parquet how sure each value is; JSONL always says it."
)
@click.option(
    "--min-confidence",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Leave out values that are less sure; the record says so.",
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
    confidence: bool,
    min_confidence: float,
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

    _check_engine(engine, master, render)
    _check_rules(schema_name, save_rules, bool(rules_file or catalog_name or site))
    options = _ExtractOptions(
        _PageOptions(source, url_column, html_column, render),
        output,
        workers,
        not unordered,
        PageLimits(page_seconds, page_memory << 20),
        confidence,
        min_confidence,
    )
    extract = partial(_extract_on_spark, master=master) if engine == "spark" else _extract_locally
    if schema_name:
        rules = _learn_first(options.pages.opened, schema_name, save_rules)
        done = extract(options, rules)
    else:
        rules, done = _extract_with_known(rules_file, catalog_name, site, partial(extract, options))
    show_tally(done.tally, rules.schema.attributes)
    report_skipped(done.skipped)
    failed = done.tally.failed_share(done.skipped.total)
    if failed > max_failed:
        say(f"{failed:.0%} of the pages failed, more than {max_failed:.0%}.")
        context.exit(1)


@dataclass(frozen=True)
class _PageOptions:
    """The pages that the command line names."""

    source: str
    url_column: str
    html_column: str
    render: bool

    @cached_property
    def opened(self) -> Pages:
        """The pages as this machine reads them."""
        from untemplate.sources import read_pages

        return read_pages(
            self.source, url_column=self.url_column, html_column=self.html_column, render=self.render
        )


@dataclass(frozen=True)
class _ExtractOptions:
    """What is to be extracted, whatever the rules are."""

    pages: _PageOptions
    output: str
    workers: int | None
    ordered: bool
    limits: PageLimits
    confidence: bool
    min_confidence: float


def _check_engine(engine: str, master: str | None, render: bool) -> None:
    """Raise if an option does not fit the engine."""
    if master and engine != "spark":
        raise click.UsageError("--master needs --engine spark.")
    if render and engine == "spark":
        raise click.UsageError("--render needs --engine local.")


def _check_rules(schema_name: str | None, save_rules: Path | None, has_rules: bool) -> None:
    """Raise if it is not clear where the rules come from."""
    if save_rules and not schema_name:
        raise click.UsageError("--save-rules needs --schema: other rules are kept already.")
    if schema_name and has_rules:
        raise click.UsageError("--schema learns new rules: give it, or --rules, or --catalog and --site.")


def _extract_with_known(
    rules_file: Path | None, catalog_name: str | None, site: str | None, extract: Callable[[Rules], _Done]
) -> tuple[Rules, _Done]:
    """Extract with the rules of a file, or with those of a site as a run of its catalog."""
    with open_rules(rules_file, catalog_name, site) as (rules, stored):
        run = stored.catalog.start_run(stored.site, "extract") if stored else 0
    done = extract(rules)
    if stored:
        with stored.catalog as catalog:
            catalog.finish_run(run, done.tally.to_dict() | {"skipped": done.skipped.total})
    return rules, done


def _learn_first(pages: Pages, schema_name: str, save_rules: Path | None) -> Rules:
    """Learn rules from the embedded data of the pages; say so, and what they are."""
    from untemplate.schema import Schema

    schema = Schema.load(schema_name)
    rules = learn_rules_of(pages, label_by_data(pages, schema), schema).rules
    if save_rules:
        rules.save(save_rules)
        say(f"Rules are in {save_rules}.")
    return rules


def _extract_locally(options: _ExtractOptions, rules: Rules) -> RunProgress:
    """Extract on this machine, with a progress bar; say that an interrupted run can be continued."""
    from untemplate.engines.local import extract_to_file

    pages = options.pages.opened
    try:
        with count_pages("Extracting", pages) as count:
            return extract_to_file(
                pages,
                rules,
                options.output,
                workers=options.workers,
                ordered=options.ordered,
                limits=options.limits,
                confidence=options.confidence,
                min_confidence=options.min_confidence,
                tell=say,
                count=count,
            )
    except KeyboardInterrupt:
        if options.output != "-":
            say("What is done is kept: the same command continues.")
        raise


def _extract_on_spark(options: _ExtractOptions, rules: Rules, master: str | None) -> Result:
    """Extract on Spark: where it is, or with this many processes of this machine."""
    from untemplate.engines import spark

    session = spark.start_session(master or (f"local[{options.workers}]" if options.workers else None))
    return spark.extract_on_spark(
        session,
        options.pages.source,
        rules,
        options.output,
        url_column=options.pages.url_column,
        html_column=options.pages.html_column,
        limits=options.limits,
        confidence=options.confidence,
        min_confidence=options.min_confidence,
    )


def show_tally(tally: Tally, attributes: Iterable[str]) -> None:
    """Print how often each attribute was found, and why pages have no values."""
    say(
        f"{counted(tally.records, 'record')}; rules match {tally.pages - tally.unmatched.total():,} of the pages."
    )
    columns = ("attribute", "records", "share", "doubtful", "dropped")
    width = len(columns) if tally.dropped else len(columns) - 1
    show("Found in", columns[:width], [_counts_of(tally, name)[:width] for name in attributes], err=True)
    if doubtful := tally.doubtful.total():
        say(f"{counted(doubtful, 'value')} doubtful: confidence of {MAX_DOUBTFUL_CONFIDENCE} or less.")
    if dropped := tally.dropped.total():
        say(f"{counted(dropped, 'value')} dropped: less sure than --min-confidence.")
    if tally.empty:
        say(f"{counted(tally.empty, 'page')} with matching rules that find nothing")
    for reason, count in tally.unmatched.most_common(MAX_REASONS):
        say(f"{counted(count, 'page')}: {reason}")


def _counts_of(tally: Tally, attribute: str) -> tuple[str, int, str, int, int]:
    """Return in how many records an attribute was found, in which share of them, is doubtful, and was dropped."""
    filled = tally.filled[attribute]
    share = _share(filled, tally.matched)
    return attribute, filled, share, tally.doubtful[attribute], tally.dropped[attribute]


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else ""
