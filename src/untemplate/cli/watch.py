"""untemplate watch: do the rules of a site still hold on its pages as they are now?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.catalog_options import (
    UNKNOWN_PAGES,
    CatalogSite,
    fresh_pages,
    fresh_pages_argument,
    open_rules,
    rules_options,
    shown,
)
from untemplate.cli.shell import counted, examples, json_option, progress, say, show, show_json
from untemplate.errors import RulesError, SourceError

if TYPE_CHECKING:
    from untemplate.extraction import Rules
    from untemplate.sources import Pages
    from untemplate.watching import Report

__all__ = ["command", "show_report"]

# Pages of an alarm that are named.
SHOWN = 3


@click.command(
    epilog=examples(
        "untemplate watch fresh/ --rules rules.json",
        "untemplate watch --catalog untemplate.db --site books.example",
        "untemplate watch fresh/ --site books.example --plot coverage.png",
    )
)
@fresh_pages_argument
@rules_options
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw coverage and fill over all runs that the catalog knows: .png, .svg or .pdf.",
)
@click.option(
    "--broken-share",
    type=click.FloatRange(0, 1),
    show_default="more than half for the look of pages, any for values",
    help="Share of bellwethers that must fail a test for an alarm.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str | None,
    url_column: str,
    html_column: str,
    rules_file: Path | None,
    where: str | None,
    site: str | None,
    plot: Path | None,
    broken_share: float | None,
    as_json: bool,
) -> None:
    """Notice that a site changed: compare fresh pages with what is remembered of them.

    PAGES are fresh versions of the pages that the rules were learnt on, from any source; without PAGES, the
    bellwethers are fetched by their URLs.

    Exit code 1: there are alarms.
    """
    if plot and rules_file:
        raise click.UsageError("--plot shows earlier runs too, which only a catalog knows: give --catalog.")
    if plot:
        from untemplate.cli.chart import draw_coverage  # which says at once what to install
    with open_rules(rules_file, where, site) as (rules, stored):
        with fresh_pages(source, url_column, html_column, rules) as pages:
            look = partial(_watch, rules, pages, broken_share)
            report = _watch_and_store(look, rules, stored) if stored else look()
        if stored and plot:
            draw_coverage(stored.catalog.runs(stored.site, "watch"), stored.site, plot)
            say(f"The chart is in {plot}.")
    if as_json:
        show_json(_figures(report))
    else:
        show_report(report)
    if report.alarms:
        context.exit(1)


def _watch(rules: Rules, pages: Pages, broken_share: float | None, history: Sequence[Report] = ()) -> Report:
    from untemplate.watching import watch

    if not any(wrapper.bellwethers for wrapper in rules.wrappers):
        raise RulesError("the rules remember no bellwethers: learn them anew")
    fresh = progress(pages, "Reading pages", pages.total)
    report = watch(rules, fresh, broken_share=broken_share, history=history)
    if not report.clusters:
        raise SourceError(f"{pages.source}: {UNKNOWN_PAGES}")
    return report


def _watch_and_store(look: Callable[..., Report], rules: Rules, stored: CatalogSite) -> Report:
    from untemplate.watching import Report

    catalog, site = stored.catalog, stored.site
    run = catalog.start_run(site, "watch")
    report = look([Report([*catalog.alarms(site)])])
    seen = {figures.cluster for figures in report.clusters}
    unseen = {wrapper.cluster for wrapper in rules.wrappers} - seen
    catalog.record_alarms(site, run, report.alarms, unseen)
    catalog.finish_run(run, _figures(report))
    return report


def show_report(report: Report) -> None:
    """A table of each cluster's figures, and of the alarms."""
    attributes = list(dict.fromkeys(name for one in report.clusters for name in one.fill))
    show(
        "Coverage and fill",
        ("cluster", "pages", "coverage", *attributes),
        (
            (
                one.cluster,
                one.pages,
                f"{one.coverage:.0%}",
                *(f"{one.fill[name]:.0%}" if name in one.fill else "" for name in attributes),
            )
            for one in report.clusters
        ),
    )
    if not report.alarms:
        say("No alarms.")
        return
    show(
        counted(len(report.alarms), "alarm"),
        ("cluster", "attribute", "test", "expected", "seen", "pages", "since"),
        (
            (
                alarm.cluster,
                alarm.attribute or "",
                alarm.test,
                alarm.expected,
                alarm.seen,
                ", ".join(alarm.pages[:SHOWN])
                + (f", … {len(alarm.pages)}" if len(alarm.pages) > SHOWN else ""),
                shown(alarm.since) if alarm.since else "",
            )
            for alarm in report.alarms
        ),
    )


def _figures(report: Report) -> dict[str, Any]:
    """The report as JSON."""
    alarms = [asdict(alarm) | {"since": alarm.since and alarm.since.isoformat()} for alarm in report.alarms]
    return {"clusters": [asdict(one) for one in report.clusters], "alarms": alarms}
