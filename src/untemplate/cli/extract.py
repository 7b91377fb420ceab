"""untemplate extract: apply rules to pages and write records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.catalog_options import DEFAULT_CATALOG, open_catalog, open_rules, rules_options
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
from untemplate.errors import RulesError
from untemplate.record import MAX_DOUBTFUL_CONFIDENCE

if TYPE_CHECKING:
    from untemplate.engines.checkpoint import RunProgress
    from untemplate.engines.worker import PageLimits, Result
    from untemplate.extraction import CrawlRules, Rules
    from untemplate.output.quality import Tally
    from untemplate.sources import Pages
    from untemplate.watching import Alarm

__all__ = ["command", "show_tally"]

# Above this share of failed pages the rules are of another site, or the site has changed.
MAX_FAILED_SHARE = 0.5
# Endings of record files; another name is that of a folder.
RECORD_SUFFIXES = (".jsonl", ".csv", ".parquet")
# Reasons printed at the end.
MAX_REASONS = 10


@click.command(
    epilog=examples(
        "untemplate extract pages/ --rules rules.json -o records.parquet",
        "untemplate extract pages/ --schema recipe -o records.csv --save-rules rules.json",
        "untemplate extract crawl.warc.gz --rules rules.json | jq .name",
        "untemplate extract pages/ --rules rules.json -o records.csv --confidence --min-confidence 0.8",
        "untemplate extract pages/ --rules rules.json -o records.parquet --typed",
        "untemplate extract pages/ --catalog untemplate.db --site books.example -o records.parquet",
        "untemplate extract crawl.warc.gz --catalog untemplate.db -o records/ --format parquet",
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
    "--format",
    "table_format",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="For a crawl of many sites into a folder: what its files are.  [default: jsonl]",
)
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
    "--typed",
    is_flag=True,
    help="Add to CSV and Parquet what each value means: price.amount and price.currency, ISO dates, E.164 phone "
    "numbers …; JSONL always says it.",
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
    table_format: str | None,
    engine: str,
    master: str | None,
    workers: int | None,
    unordered: bool,
    page_seconds: float,
    page_memory: int,
    max_failed: float,
    confidence: bool,
    typed: bool,
    min_confidence: float,
) -> None:
    """Extract a record from every page, or from every row of a list page.

    With --schema instead of rules, rules are learned first as untemplate learn does without labels: from what the
    embedded data of the pages say.

    PAGES is any source of pages; see untemplate cluster --help. Every page gets a record; a value that is missing
    has its reason there. A page has failed if it cannot be read, matches no rules, or matches rules that find nothing
    on it; pages of a kind that nobody labeled have not.

    With a catalog, no --site and a folder for -o, PAGES may be a crawl of many sites and schemas: each page goes to
    the newest rules of its host, and the folder gets a file a schema. The counts of each site are kept in the
    catalog; a drop against its earlier crawls is an alarm.

    The file appears when it is complete. If the work is interrupted in whatever way, the same command continues it.

    Spark reads Parquet, WARC or JSONL from any file system it knows; interrupted, it begins anew. Its output is a
    folder of parts if the name ends with a slash or has a scheme such as s3a://.

    Exit code 1: too many pages failed, or there are alarms.
    """
    from untemplate.engines.worker import PageLimits
    from untemplate.sources import read_pages

    origin = _RulesOrigin(rules_file, catalog_name, site, schema_name, save_rules)
    is_crawl = origin.is_catalog and is_table_folder(output)
    _check_engine(engine, master, render)
    origin.check()
    _check_format(table_format, is_crawl)
    work = _Extraction(
        open_source=partial(
            read_pages, source, url_column=url_column, html_column=html_column, render=render
        ),
        source=source,
        columns={"url_column": url_column, "html_column": html_column},
        output=output,
        engine=engine,
        master=master,
        workers=workers,
        ordered=not unordered,
        limits=PageLimits(page_seconds, page_memory << 20),
        values={"confidence": confidence, "typed": typed, "min_confidence": min_confidence},
    )
    if is_crawl:
        format = f".{table_format or 'jsonl'}"
        failed, has_alarms = extract_catalog(work, catalog_name or DEFAULT_CATALOG, format)
    else:
        failed, has_alarms = _extract_site(work, origin)
    has_failed = failed > max_failed
    if has_failed:
        say(f"{failed:.0%} of the pages failed, more than {max_failed:.0%}.")
    if has_alarms or has_failed:
        context.exit(1)


@dataclass(frozen=True)
class _RulesOrigin:
    """What the options say about where the rules come from."""

    rules_file: Path | None
    catalog_name: str | None
    site: str | None
    schema_name: str | None
    save_rules: Path | None

    @property
    def is_catalog(self) -> bool:
        """True if the rules are those of all sites of a catalog."""
        return not (self.rules_file or self.site or self.schema_name)

    def check(self) -> None:
        """Raise if it is not clear where the rules come from."""
        has_rules = bool(self.rules_file or self.catalog_name or self.site)
        if self.save_rules and not self.schema_name:
            raise click.UsageError("--save-rules needs --schema: other rules are kept already.")
        if self.schema_name and has_rules:
            raise click.UsageError("--schema learns new rules: give it, or --rules, or --catalog and --site.")


def _check_engine(engine: str, master: str | None, render: bool) -> None:
    """Raise if an option does not fit the engine."""
    if master and engine != "spark":
        raise click.UsageError("--master needs --engine spark.")
    if render and engine == "spark":
        raise click.UsageError("--render needs --engine local.")


def _check_format(table_format: str | None, is_crawl: bool) -> None:
    """Raise if there is a format for files of a crawl, and no crawl."""
    if table_format and not is_crawl:
        raise click.UsageError("--format needs a catalog, no --site, and a folder for -o.")


def is_table_folder(output: str) -> bool:
    """Return True if an output is a folder for a file a schema, and not the file of one site."""
    return output != "-" and Path(output.rstrip("/")).suffix.lower() not in RECORD_SUFFIXES


@dataclass(frozen=True)
class _Extraction:
    """What the options say about where pages come from, where records go, and how they are made."""

    open_source: Callable[[], Pages]
    source: str
    columns: dict[str, Any]
    output: str
    engine: str
    master: str | None
    workers: int | None
    ordered: bool
    limits: PageLimits
    values: dict[str, Any]

    def run(
        self, rules: Rules | CrawlRules, pages: Pages | None = None, format: str = ""
    ) -> RunProgress | Result:
        """Extract with the engine that was chosen; into a folder of files if there is a format."""
        if self.engine == "local":
            return self._run_locally(pages or self.open_source(), rules, format)
        from untemplate.engines import spark
        from untemplate.extraction import CrawlRules

        session = spark.start_session(self.master or (f"local[{self.workers}]" if self.workers else None))
        if isinstance(rules, CrawlRules):
            return spark.extract_crawl(
                session,
                self.source,
                rules,
                self.output,
                format=format,
                limits=self.limits,
                **self.columns,
                **self.values,
            )
        return spark.extract_on_spark(
            session, self.source, rules, self.output, limits=self.limits, **self.columns, **self.values
        )

    def _run_locally(self, pages: Pages, rules: Rules | CrawlRules, format: str) -> RunProgress:
        """Extract on this machine, with a progress bar; say that an interrupted run can be continued."""
        from untemplate.engines.local import extract_to_file

        try:
            with count_pages("Extracting", pages) as count:
                return extract_to_file(
                    pages,
                    rules,
                    self.output,
                    format=format,
                    workers=self.workers,
                    ordered=self.ordered,
                    limits=self.limits,
                    **self.values,
                    tell=say,
                    count=count,
                )
        except KeyboardInterrupt:
            if self.output != "-":
                say("What is done is kept: the same command continues.")
            raise


def _extract_site(work: _Extraction, origin: _RulesOrigin) -> tuple[float, bool]:
    """Extract one site; return the share of failed pages, and whether there are alarms."""
    pages: Pages | None = None
    stored, run = None, 0
    if origin.schema_name:
        pages = work.open_source()
        rules = _learn_first(pages, origin.schema_name, origin.save_rules)
    else:
        with open_rules(origin.rules_file, origin.catalog_name, origin.site) as (rules, stored):
            run = stored.catalog.start_run(stored.site, "extract") if stored else 0
    done = work.run(rules, pages)
    alarms: list[Alarm] = []
    if stored:
        with stored.catalog as catalog:
            alarms = catalog.finish_crawl(stored.site, done.crawls[""], run, done.skipped.total)
    show_tally(done.tally, rules.schema.attributes)
    report_skipped(done.skipped)
    show_crawl_alarms({stored.site: alarms} if stored else {})
    return done.tally.failed_share(done.skipped.total), bool(alarms)


def _learn_first(pages: Pages, schema_name: str, save_rules: Path | None) -> Rules:
    """Learn rules from the embedded data of the pages; say so, and what they are."""
    from untemplate.cli.learn import label_by_data, learn_rules_of
    from untemplate.schema import Schema

    schema = Schema.load(schema_name)
    rules = learn_rules_of(pages, label_by_data(pages, schema), schema).rules
    if save_rules:
        rules.save(save_rules)
        say(f"Rules are in {save_rules}.")
    return rules


def extract_catalog(work: _Extraction, catalog_name: str, format: str) -> tuple[float, bool]:
    """Extract a crawl of all sites of a catalog, and keep the counts of each.

    Returns:
        The share of failed pages, and whether there are alarms. Pages of unknown hosts have not failed.
    """
    from untemplate.engines.worker import UNKNOWN_HOST

    with open_catalog(catalog_name) as catalog:
        rules = catalog.packed_rules()
        if not rules.sites:
            raise RulesError(f"{catalog.name}: has no rules yet")
        done = work.run(rules, format=format)
        alarms = {site: catalog.finish_crawl(site, crawl) for site, crawl in sorted(done.crawls.items())}
    rows = []
    for site, crawl in sorted(done.crawls.items()):
        tally = crawl.total()
        matched = tally.pages - tally.unmatched.total()
        rows.append(
            (
                site,
                tally.pages,
                matched,
                tally.records,
                _share(tally.filled.total(), _cells(tally, rules, site)),
            )
        )
    show("Sites", ("site", "pages", "matched", "records", "values"), rows, err=True)
    report_skipped(done.skipped)
    show_crawl_alarms(alarms)
    skipped = done.skipped.total - done.skipped.counts[UNKNOWN_HOST]
    return done.tally.failed_share(skipped), any(alarms.values())


def _cells(tally: Tally, rules: CrawlRules, site: str) -> int:
    """Return how many values the records of a site could have."""
    return tally.matched * len(rules.sites[site].schema.attributes)


def show_crawl_alarms(alarms: Mapping[str, Sequence[Alarm]]) -> None:
    """Print what dropped against the earlier crawls of each site."""
    rows = []
    for site, raised in alarms.items():
        for alarm in raised:
            rows.append((site, alarm.cluster, alarm.attribute or "", alarm.test, alarm.expected, alarm.seen))
    if rows:
        columns = ("site", "cluster", "attribute", "test", "expected", "seen")
        show(counted(len(rows), "alarm"), columns, rows, err=True)


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
