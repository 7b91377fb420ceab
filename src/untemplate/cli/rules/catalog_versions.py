"""Subcommands of `untemplate rules` that work on a catalog: import, export, history and rollback."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.catalog_options import (
    DEFAULT_CATALOG,
    catalog_option,
    open_catalog,
    show_changes,
    shown,
    site_name,
    user,
)
from untemplate.cli.shell import examples, json_option, rules_argument, say, show, show_json

if TYPE_CHECKING:
    from untemplate.catalog import Catalog, Version

__all__ = ["export_command", "history_command", "import_command", "rollback_command"]

_site_argument = click.argument("site")


@click.command(
    "import", epilog=examples("untemplate rules import rules.json --catalog untemplate.db --note 'from Ada'")
)
@rules_argument
@catalog_option("Where to save them.", DEFAULT_CATALOG)
@click.option("--site", help="The name of the site; the host of its pages if not given.")
@click.option("--note", default="", help="A note for the history.")
def import_command(rules_file: Path, catalog_name: str, site: str | None, note: str) -> None:
    """Save the rules of a file as the newest version of a site."""
    from untemplate.extraction import Rules

    rules = Rules.load(rules_file)
    urls = [watched.url for wrapper in rules.wrappers for watched in wrapper.bellwethers]
    name = site_name(site, [*urls, *(wrapper.url_pattern for wrapper in rules.wrappers)])
    with open_catalog(catalog_name, create=True) as catalog:
        version = catalog.save_rules(name, rules, "imported", note, user())
    say(f"Version {version} of {name} is in {catalog_name}.")


@click.command("export", epilog=examples("untemplate rules export books.example -o rules.json"))
@_site_argument
@catalog_option("Where they are.", DEFAULT_CATALOG)
@click.option("--version", type=click.IntRange(min=1), show_default="the newest", help="Which version.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    show_default="standard output",
    help="The rules file to write.",
)
def export_command(site: str, catalog_name: str, version: int | None, output: Path | None) -> None:
    """Write the rules of a site into a file."""
    with open_catalog(catalog_name) as catalog:
        rules = catalog.rules(site, version)
    if output:
        rules.save(output)
    else:
        click.echo(rules.dumps(), nl=False)


@click.command(
    "history", epilog=examples("untemplate rules history", "untemplate rules history books.example -v")
)
@click.argument("site", required=False)
@catalog_option("Where they are.", DEFAULT_CATALOG)
@click.option("-v", "--verbose", is_flag=True, help="Show how each version differs from the one before.")
@json_option
def history_command(site: str | None, catalog_name: str, verbose: bool, as_json: bool) -> None:
    """List the versions of a site's rules; without SITE, the sites."""
    with open_catalog(catalog_name) as catalog:
        if site is None:
            _show_sites(catalog, as_json)
        else:
            _show_versions(catalog, site, verbose, as_json)


def _show_sites(catalog: Catalog, as_json: bool) -> None:
    """List all sites of the catalog, with their versions and open alarms."""
    sites = [_describe_site(catalog, name) for name in catalog.sites()]
    if as_json:
        show_json([site | {"saved": site["saved"] and site["saved"].isoformat()} for site in sites])
        return
    rows = []
    for site in sites:
        saved = shown(site["saved"]) if site["saved"] else ""
        rows.append((site["site"], site["versions"], saved, site["alarms"]))
    show(f"Sites in {catalog.name}", ("site", "versions", "newest saved", "open alarms"), rows)


def _describe_site(catalog: Catalog, name: str) -> dict[str, Any]:
    history = catalog.history(name)
    saved = history[-1].saved if history else None
    return {"site": name, "versions": len(history), "saved": saved, "alarms": len(catalog.alarms(name))}


def _show_versions(catalog: Catalog, site: str, verbose: bool, as_json: bool) -> None:
    """List the versions of one site; with `verbose`, also how each differs from the one before."""
    from untemplate.rules.in_words import compare_rules

    history = catalog.history(site)
    if as_json:
        show_json([asdict(version) | {"saved": version.saved.isoformat()} for version in history])
        return
    show(
        f"Versions of the rules of {site}",
        ("version", "saved", "reason", "by", "clusters", "rules", "note"),
        [_version_row(version) for version in history],
    )
    if verbose:
        for before, after in pairwise(history):
            click.echo(f"From version {before.number} to {after.number}")
            changes = compare_rules(catalog.rules(site, before.number), catalog.rules(site, after.number))
            show_changes(changes)


def _version_row(version: Version) -> tuple[object, ...]:
    saved = shown(version.saved)
    return (
        *(version.number, saved, version.reason, version.by),
        *(version.clusters, version.rules, version.note),
    )


@click.command("rollback", epilog=examples("untemplate rules rollback books.example 3"))
@_site_argument
@click.argument("version", type=click.IntRange(min=1))
@catalog_option("Where they are.", DEFAULT_CATALOG)
def rollback_command(site: str, version: int, catalog_name: str) -> None:
    """Make an earlier VERSION the newest one of a site's rules; none is lost."""
    with open_catalog(catalog_name) as catalog:
        number = catalog.rollback(site, version, user())
    say(f"Version {number} of {site} is version {version} again.")
