"""learn, watch and heal for all sites of a catalog: the options, the round that continues, and a summary to mail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from untemplate.cli.catalog_options import DEFAULT_CATALOG, open_catalog, user
from untemplate.cli.shell import counted, open_pages, progress, say, show, show_json

if TYPE_CHECKING:
    from untemplate.catalog import Catalog, SiteOutcome
    from untemplate.catalog.site_rounds import SitePages
    from untemplate.engines.crawl_learning import LearnedSite, SiteLabeler
    from untemplate.labeling import Label, Labeler
    from untemplate.schema import Schema
    from untemplate.sources import Pages

__all__ = [
    "FleetOptions",
    "check_all_sites",
    "fleet_options",
    "heal_fleet",
    "learn_fleet",
    "set_interval",
    "watch_fleet",
]

Command = TypeVar("Command", bound=Callable[..., Any])

# Alarms of a site that the summary names; status and --json have all of them.
MAX_NAMED_ALARMS = 3


class FleetOptions(NamedTuple):
    """What the options of a command say about a round over all sites."""

    source: str | None
    url_column: str
    html_column: str
    catalog_name: str | None
    due_only: bool
    workers: int | None
    as_json: bool


def fleet_options(command: Command) -> Command:
    """Add the options for a round over all sites of a catalog."""
    for decorate in (
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            show_default="all cores",
            help="With --all or --due, processes that work side by side.",
        ),
        click.option(
            "--due", "due_only", is_flag=True, help="Only those sites of the catalog that it is time for."
        ),
        click.option("--all", "all_sites", is_flag=True, help="All sites of the catalog, hosts in parallel."),
    ):
        command = decorate(command)
    return command


def check_all_sites(rules_file: Path | None, site: str | None) -> None:
    """Raise if other options name the rules of one site."""
    if rules_file or site:
        raise click.UsageError(
            "--all and --due are for all sites of a catalog: give neither --rules nor --site."
        )


def set_interval(catalog_name: str | None, site: str | None, hours: float) -> None:
    """Keep in the catalog how often a site is due, or each of them."""
    with open_catalog(catalog_name or DEFAULT_CATALOG) as catalog:
        for name in [site] if site else catalog.sites():
            catalog.set_watch_hours(name, hours)


def learn_fleet(
    pages: Pages,
    labels: Sequence[Label],
    schema: Schema,
    catalog_name: str,
    labeler: SiteLabeler,
    as_json: bool,
) -> bool:
    """Learn the sites of a crawl into a catalog; print a line a site, and return True if there are findings."""
    from untemplate.engines.crawl_learning import learn_crawl

    with open_catalog(catalog_name, create=True) as catalog:
        read = progress(pages, "Reading pages", pages.total)
        outcomes = list(learn_crawl(catalog, read, labels, schema, by=user(), labeler=labeler))
        learned = [outcome for outcome in outcomes if outcome.version]
        if as_json:
            show_json({"sites": [_learned_as_json(outcome) for outcome in outcomes]})
        else:
            click.echo(f"Learned {len(learned)} of {counted(len(outcomes), 'site')} into {catalog.name}.")
            show("Sites", ("site", "version", "what"), [_learned_row(outcome) for outcome in outcomes])
    return any(outcome.has_findings for outcome in outcomes)


def _learned_row(outcome: LearnedSite) -> tuple[str, str, str]:
    """Return a site, its version, and its clusters and problems in a line."""
    if outcome.learned is None:
        return outcome.site, "", outcome.problem or ""
    learned = outcome.learned
    parts = [f"{counted(len(learned.reports), 'cluster')} with labels"]
    if learned.borrowed:
        parts.append(f"{len(learned.borrowed)} with borrowed rules")
    if learned.needs_labels:
        parts.append(f"no rules for {', '.join(learned.needs_labels)}")
    if unlearned := learned.attributes_to_check:
        parts.append(f"check the labels of {', '.join(unlearned)}")
    return outcome.site, str(outcome.version), "; ".join(parts)


def _learned_as_json(outcome: LearnedSite) -> dict[str, Any]:
    report = outcome.learned.to_dict() if outcome.learned else {}
    return {"site": outcome.site, "version": outcome.version, "problem": outcome.problem} | report


def watch_fleet(options: FleetOptions) -> bool:
    """Watch all sites, or those that are due; print a summary, and return True if there are findings."""
    from untemplate.catalog import sites_to_watch, watch_sites

    with _round(options, "watch", sites_to_watch) as (catalog, sites, pages, since):
        work = watch_sites(catalog, sites, pages, by=user(), workers=options.workers, since=since)
        outcomes = list(progress(work, "Watching", len(sites)))
    return _report_round(outcomes, options, "Watched")


def heal_fleet(options: FleetOptions, make_labeler: Callable[[Schema], Labeler] | None = None) -> bool:
    """Heal all sites with alarms, or those with new ones; print a summary, and return True if there are findings.

    A labeler is asked about what cannot be healed otherwise.
    """
    from untemplate.catalog import heal_sites, sites_to_heal

    with _round(options, "heal", sites_to_heal) as (catalog, sites, pages, since):
        work = heal_sites(
            catalog,
            sites,
            pages,
            by=user(),
            workers=options.workers,
            since=since,
            make_labeler=make_labeler,
        )
        outcomes = list(progress(work, "Healing", len(sites)))
    return _report_round(outcomes, options, "Healed")


@contextmanager
def _round(
    options: FleetOptions, kind: str, choose: Callable[[Catalog, bool], list[str]]
) -> Iterator[tuple[Catalog, list[str], SitePages | None, datetime]]:
    """Yield the catalog, the sites that are left to do, their pages (None to fetch them), and when the round started.

    A round over all sites that was interrupted continues. Sites that are due need no memory of the round.
    """
    from untemplate.catalog import split_by_site

    with open_catalog(options.catalog_name or DEFAULT_CATALOG) as catalog:
        since = datetime.now(UTC)
        chosen = choose(catalog, options.due_only)
        current = None if options.due_only else catalog.start_round(kind)
        done = current.done if current else frozenset()
        since = current.started if current else since
        if done:
            say(f"Continuing the round that was interrupted: {counted(len(done), 'site')} done.")
        sites = [site for site in chosen if site not in done]
        if options.source is None:
            yield catalog, sites, None, since
        else:
            with open_pages(options.source, options.url_column, options.html_column, False) as pages:
                yield catalog, sites, split_by_site(catalog, pages, sites), since
        if current:
            catalog.finish_round(current)


def _report_round(outcomes: list[SiteOutcome], options: FleetOptions, verb: str) -> bool:
    """Print the summary of a round: what a person should look at comes first."""
    outcomes.sort(key=lambda outcome: (not outcome.has_findings, -len(outcome.alarms), outcome.site))
    if options.as_json:
        show_json({"sites": [_outcome_as_json(outcome) for outcome in outcomes]})
    else:
        _show_outcomes(outcomes, verb)
    return any(outcome.has_findings for outcome in outcomes)


def _show_outcomes(outcomes: Sequence[SiteOutcome], verb: str) -> None:
    """Print how many sites were done, and a table of those with findings or with new rules."""
    left_out = sum(bool(outcome.left_out) for outcome in outcomes)
    found = sum(outcome.has_findings for outcome in outcomes)
    click.echo(f"{verb} {counted(len(outcomes) - left_out, 'site')}; {counted(found, 'site')} with findings.")
    if left_out:
        click.echo(f"Left {counted(left_out, 'site')} to other processes that work on them.")
    to_look_at = [outcome for outcome in outcomes if outcome.has_findings or outcome.version]
    if to_look_at:
        rows = [(outcome.site, _describe_outcome(outcome)) for outcome in to_look_at]
        show("Look at", ("site", "what"), rows)


def _describe_outcome(outcome: SiteOutcome) -> str:
    """Return in one line what happened to a site."""
    if outcome.problem:
        return outcome.problem
    parts = list(_name_alarms(outcome))
    if outcome.version is not None:
        parts.append(f"version {outcome.version} saved: {len(outcome.figures['healed'])} healed")
    if lost := outcome.figures.get("lost"):
        parts.append(f"needs a person: {_name_losses(lost)} lost")
    if refused := outcome.figures.get("refused"):
        parts.append(f"{counted(len(refused), 'repair')} refused, because they would have done harm")
    return "; ".join(parts)


def _name_alarms(outcome: SiteOutcome) -> Iterable[str]:
    for alarm in outcome.alarms[:MAX_NAMED_ALARMS]:
        yield str(alarm)
    if len(outcome.alarms) > MAX_NAMED_ALARMS:
        yield counted(len(outcome.alarms) - MAX_NAMED_ALARMS, "more alarm")


def _name_losses(losses: list[dict[str, Any]]) -> str:
    return ", ".join(f"{loss['attribute']} of {loss['cluster']}" for loss in losses)


def _outcome_as_json(outcome: SiteOutcome) -> dict[str, Any]:
    return {
        "site": outcome.site,
        "problem": outcome.problem,
        "left_out": outcome.left_out,
        "version": outcome.version,
        "alarms": [alarm.to_dict() for alarm in outcome.alarms],
        "figures": dict(outcome.figures),
    }
