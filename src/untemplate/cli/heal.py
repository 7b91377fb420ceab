"""untemplate heal: keep the rules that still work on a changed site, and repair the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
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
    show_changes,
)
from untemplate.cli.fleet_runs import FleetOptions, check_all_sites, fleet_options, heal_fleet
from untemplate.cli.model_options import ModelOptions, model_options
from untemplate.cli.shell import counted, examples, json_option, printable, progress, say, show, show_json
from untemplate.errors import SourceError

if TYPE_CHECKING:
    from untemplate.extraction import Rules
    from untemplate.rules.in_words import RuleChange
    from untemplate.sources import Pages
    from untemplate.watching import Healed, Refusal

__all__ = ["command", "show_healed"]


@click.command(
    epilog=examples(
        "untemplate heal fresh/ --rules rules.json -o healed.json",
        "untemplate heal fresh/ --catalog untemplate.db --site books.example",
        "untemplate heal --all --catalog untemplate.db",
        "untemplate heal fresh/ --rules rules.json --llm MODEL -o healed.json",
    )
)
@fresh_pages_argument
@rules_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The rules file to write; with a catalog it is not needed.",
)
@model_options
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
    output: Path | None,
    model: ModelOptions,
    all_sites: bool,
    due_only: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Repair rules that a change of the site broke, from what is remembered of its pages.

    PAGES are fresh pages of the site, from any source; the more, the better. Without PAGES, the watched pages are
    fetched by their URLs. With a catalog, the healed rules become the newest version.

    With --llm, a language model is asked about attributes that what is remembered could not heal. A rule from its
    answers passes the same tests as every other. Costs are estimated before asking, and --max-cost is the limit of
    the whole run: what is above it is not asked.

    With --all, all sites with open alarms are healed; with --due, those with alarms since the last attempt. If that
    is interrupted, the same command continues it. PAGES may then be a crawl of many sites.

    Exit code 1: something could not be healed, and needs a person.
    """
    if all_sites or due_only:
        check_all_sites(rules_file, site)
        _check_workers(model, workers)
        fleet = FleetOptions(source, url_column, html_column, catalog_name, due_only, workers, as_json)
        context.exit(int(_heal_all(fleet, model)))
    if rules_file and not output:
        raise click.UsageError("Missing option '-o': where to write the healed rules.")
    with (
        open_rules(rules_file, catalog_name, site) as (rules, stored),
        fresh_pages(source, url_column, html_column, render, rules) as pages,
    ):
        if stored:
            healed, changes = _heal_in_catalog(rules, pages, stored, model)
        else:
            healed, changes = _heal_rules(rules, pages, model)
    _report_healed(healed, changes, output, as_json)
    context.exit(int(bool(healed.lost)))


def _check_workers(model: ModelOptions, workers: int | None) -> None:
    if model.model and workers and workers > 1:
        raise click.UsageError("--llm works in one process, which counts the costs: leave out --workers.")


def _report_healed(healed: Healed, changes: Sequence[RuleChange], output: Path | None, as_json: bool) -> None:
    """Save the healed rules if there is a file for them, and show what changed."""
    if output:
        healed.rules.save(output)
    if as_json:
        show_json(_healed_as_json(healed, changes))
    else:
        show_healed(healed)
        show_changes(changes)
    if output:
        say(f"Healed rules are in {output}.")


def _heal_all(fleet: FleetOptions, model: ModelOptions) -> bool:
    """Heal all sites, with the help of a model if one is named; return True if there are findings."""
    if not model.model:
        return heal_fleet(fleet)
    healer = model.make_healer()
    has_findings = heal_fleet(fleet, healer)
    healer.report()
    return has_findings


def show_healed(healed: Healed) -> None:
    """Print what was repaired, refused and lost, and the pages that a person should label."""
    if not healed.healed and not healed.lost and not healed.refused:
        say("All rules hold.")
    if healed.healed:
        rows = [(repair.cluster, repair.attribute, repair.how) for repair in healed.healed]
        show("Healed", ("cluster", "attribute", "how"), rows)
    if healed.refused:
        show("Refused", ("cluster", "attribute", "why", "before", "after"), map(_refusal_row, healed.refused))
    if healed.lost:
        rows = [(loss.cluster, loss.attribute, loss.why) for loss in healed.lost]
        show("Lost", ("cluster", "attribute", "why"), rows)
    _show_pages_to_label(healed)
    counts = healed.counts
    say(
        f"Rules reused for {counts.reused} of {counted(counts.clusters, 'cluster')}, "
        f"{counts.reused_pages:,} of {counted(counts.pages, 'page')}; "
        f"{counts.relearned} learned again, {counts.refused} refused, {counts.lost} lost."
    )
    if counts.replaced:
        say(f"{counted(counts.replaced, 'watched page')} replaced, because they show no record any more.")


def _show_pages_to_label(healed: Healed) -> None:
    """Name the pages that a person should label; not those of new lists or help pages, which hardly anybody wants."""
    for cluster, pages in healed.to_label.items():
        if healed.kinds.get(cluster, "detail") == "detail":
            click.echo(printable(f"Cluster {cluster} needs a person: label {', '.join(pages)}."))


def _refusal_row(refusal: Refusal) -> tuple[str, ...]:
    """Return the cells of a refused change, with the first value that it would have lost or changed."""
    cells = (refusal.cluster, refusal.attribute or "", refusal.why)
    if not refusal.differences:
        return (*cells, "", "")
    first = refusal.differences[0]
    return (*cells, ", ".join(first.before), ", ".join(first.after) or "nothing")


def _heal_rules(rules: Rules, pages: Pages, model: ModelOptions) -> tuple[Healed, list[RuleChange]]:
    """Heal, with the help of a model if one is named, and compare the rules before and after."""
    from untemplate.rules.in_words import compare_rules
    from untemplate.watching import heal_site

    healer = model.make_healer() if model.model else None
    read = progress(pages, "Reading pages", pages.total)
    healed = heal_site(rules, read, healer(rules.schema) if healer else None)
    if healer:
        healer.report()
    if not healed.reused and not healed.healed and not healed.lost and not healed.refused:
        raise SourceError(f"{pages.source}: {UNKNOWN_PAGES}")
    return healed, compare_rules(rules, healed.rules)


def _heal_in_catalog(
    rules: Rules, pages: Pages, stored: CatalogSite, model: ModelOptions
) -> tuple[Healed, list[RuleChange]]:
    """Heal as a run of the catalog, and save the healed rules as the newest version if anything changed."""
    with stored.catalog.claim(stored.site, "heal"):
        run = stored.catalog.start_run(stored.site, "heal")
        healed, changes = _heal_rules(rules, pages, model)
        figures = _healed_as_json(healed, changes)
        if changes or healed.counts.replaced:
            note = f"{len(healed.healed)} healed, {len(healed.refused)} refused, {len(healed.lost)} lost"
            figures["version"] = stored.store_version(healed.rules, pages, "healed", note, healed.to_label)
            say(f"Version {figures['version']} of {stored.site} is in {stored.catalog.name}.")
        stored.catalog.finish_heal(stored.site, run, figures)
    return healed, changes


def _healed_as_json(healed: Healed, changes: Sequence[RuleChange]) -> dict[str, Any]:
    return healed.to_dict() | {"changes": [asdict(change) for change in changes]}
