"""untemplate watch: check whether the rules of a site still work on its pages of today."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

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
from untemplate.cli.fleet_runs import FleetOptions, check_all_sites, fleet_options, set_interval, watch_fleet
from untemplate.cli.shell import counted, examples, json_option, progress, say, show, show_json
from untemplate.errors import RulesError, SourceError

if TYPE_CHECKING:
    from untemplate.extraction import Rules
    from untemplate.sources import Pages
    from untemplate.watching import Alarm, ClusterReport, Report

__all__ = ["command", "show_report"]

# Pages of an alarm that the table names.
MAX_NAMED_PAGES = 3
# Tests whose names are words of the paper, in plain words.
PLAIN_TESTS = {"shingle": "structure", "bellwethers": "missing pages"}


@click.command(
    epilog=examples(
        "untemplate watch fresh/ --rules rules.json",
        "untemplate watch --catalog untemplate.db --site books.example",
        "untemplate watch fresh/ --site books.example --plot coverage.png",
        "untemplate watch --all --catalog untemplate.db",
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
    help="Share of the watched pages that must fail a test for an alarm.",
)
@click.option(
    "--every",
    "hours",
    type=click.FloatRange(min=0, min_open=True),
    metavar="HOURS",
    help="Keep in the catalog how often the site is watched with --due.  [default: 24]",
)
@fleet_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str | None,
    url_column: str,
    html_column: str,
    render: bool,
    rules_file: Path | None,
    catalog_name: str | None,
    site: str | None,
    plot: Path | None,
    broken_share: float | None,
    hours: float | None,
    all_sites: bool,
    due_only: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Notice that a site changed: compare fresh pages with what is remembered of them.

    PAGES are fresh versions of the pages that the rules were learned on, from any source; without PAGES, the
    watched pages are fetched by their URLs.

    With --all, all sites of the catalog are watched, hosts in parallel; with --due, those that were not watched
    within their interval. If that is interrupted, the same command continues it. PAGES may then be a crawl of many
    sites.

    Exit code 1: there are alarms, or a site cannot be watched.
    """
    if hours:
        set_interval(catalog_name, site, hours)
    if all_sites or due_only:
        check_all_sites(rules_file, site)
        fleet = FleetOptions(source, url_column, html_column, catalog_name, due_only, workers, as_json)
        context.exit(int(watch_fleet(fleet)))
    if plot:
        _check_plot(rules_file)
    with open_rules(rules_file, catalog_name, site) as (rules, stored):
        with fresh_pages(source, url_column, html_column, render, rules) as pages:
            watch_pages = partial(_watch_pages, rules, pages, broken_share, source is None)
            report = _watch_in_catalog(watch_pages, rules, pages, stored) if stored else watch_pages()
        if stored and plot:
            _draw_runs(stored, plot)
    if as_json:
        show_json(report.to_dict())
    else:
        show_report(report)
    if report.alarms:
        context.exit(1)


def _check_plot(rules_file: Path | None) -> None:
    """Raise if no catalog is used, or at once if the extra that draws is missing."""
    if rules_file:
        raise click.UsageError("--plot shows earlier runs too, which only a catalog knows: give --catalog.")
    import_module("untemplate.cli.drawing")


def _draw_runs(stored: CatalogSite, plot: Path) -> None:
    """Draw coverage and fill over all runs of a site."""
    from untemplate.cli.drawing import draw_coverage

    draw_coverage(stored.catalog.runs(stored.site, "watch"), stored.site, plot)
    say(f"The chart is in {plot}.")


def _watch_pages(
    rules: Rules,
    pages: Pages,
    broken_share: float | None,
    is_request: bool,
    history: Sequence[Report] = (),
) -> Report:
    """Watch with a progress bar; raise if the rules or the pages give nothing to compare."""
    from untemplate.watching import watch

    if not rules.bellwethers:
        raise RulesError("the rules remember no pages to compare with: learn them anew")
    fresh = progress(pages, "Reading pages", pages.total)
    report = watch(rules, fresh, broken_share=broken_share, history=history, is_request=is_request)
    if not report.clusters:
        raise SourceError(f"{pages.source}: {UNKNOWN_PAGES}")
    return report


def _watch_in_catalog(
    watch_pages: Callable[..., Report], rules: Rules, pages: Pages, stored: CatalogSite
) -> Report:
    """Watch as a run of the catalog, which knows earlier alarms, records new ones and replaces bellwethers."""
    from untemplate.watching import Report

    catalog, site = stored.catalog, stored.site
    with catalog.claim(site, "watch"):
        run = catalog.start_run(site, "watch")
        report = watch_pages([Report([*catalog.alarms(site)])])
        version = _replace_missing_pages(rules, pages, report, stored)
        catalog.finish_watch(site, report, version, run)
    return report


def _replace_missing_pages(rules: Rules, pages: Pages, report: Report, stored: CatalogSite) -> int:
    """Save the rules with other bellwethers for those that are gone, if any; return the newest version."""
    from untemplate.watching import renew_missing

    renewed, replaced = renew_missing(rules, pages, report)
    if not replaced:
        return stored.version
    note = f"{counted(replaced, 'watched page')} replaced"
    version = stored.store_version(renewed, pages, "watched", note)
    say(f"{note}: not delivered, or without a record.")
    return version


def show_report(report: Report) -> None:
    """Print a table of each cluster's figures, and one of the alarms."""
    attributes = list(dict.fromkeys(chain.from_iterable(figures.fill for figures in report.clusters)))
    show(
        "Coverage and fill",
        ("cluster", "pages", "missing", "coverage", *attributes),
        [_figures_row(figures, attributes) for figures in report.clusters],
    )
    if not report.alarms:
        say("No alarms.")
        return
    show(
        counted(len(report.alarms), "alarm"),
        ("cluster", "attribute", "test", "expected", "seen", "pages", "since"),
        [_alarm_row(alarm) for alarm in report.alarms],
    )


def _figures_row(figures: ClusterReport, attributes: Sequence[str]) -> list[object]:
    """Return the cells of a cluster: pages, missing bellwethers, coverage, and the fill rate of each attribute."""
    fill = [f"{figures.fill[name]:.0%}" if name in figures.fill else "" for name in attributes]
    return [figures.cluster, figures.pages, len(figures.missing), f"{figures.coverage:.0%}", *fill]


def _alarm_row(alarm: Alarm) -> list[object]:
    """Return the cells of an alarm, with the names of its first pages."""
    pages = ", ".join(alarm.pages[:MAX_NAMED_PAGES])
    if len(alarm.pages) > MAX_NAMED_PAGES:
        pages += f", … {len(alarm.pages)}"
    since = shown(alarm.since) if alarm.since else ""
    test = PLAIN_TESTS.get(alarm.test, alarm.test)
    return [alarm.cluster, alarm.attribute or "", test, alarm.expected, alarm.seen, pages, since]
