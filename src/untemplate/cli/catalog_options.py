"""What commands that use a catalog share: their options, the site they work on, its rules and its fresh pages."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click

from untemplate.cli.shell import open_pages, pages_argument, printable, report_skipped
from untemplate.errors import RulesError

if TYPE_CHECKING:
    from untemplate.catalog import Catalog
    from untemplate.extraction import Rules
    from untemplate.labeling import Label
    from untemplate.page import Page
    from untemplate.rules.in_words import RuleChange
    from untemplate.sources import Pages

__all__ = [
    "DEFAULT_CATALOG",
    "UNKNOWN_PAGES",
    "CatalogSite",
    "catalog_option",
    "first_host",
    "fresh_pages",
    "fresh_pages_argument",
    "open_catalog",
    "open_rules",
    "rules_options",
    "show_changes",
    "shown",
    "site_name",
    "site_option",
    "user",
]

Command = TypeVar("Command", bound=Callable[..., Any])

# As in untemplate.catalog, which takes long to import.
DEFAULT_CATALOG = "untemplate.db"

UNKNOWN_PAGES = (
    "none of its pages is one that the rules know; give fresh versions of those they were learned on"
)


def catalog_option(text: str, default: str | None = None) -> Callable[[Command], Command]:
    """The option that names the catalog; the text says what for."""
    return click.option(
        "--catalog",
        "catalog_name",
        metavar="PLACE",
        default=default,
        show_default=default is not None,
        help=f"{text} A SQLite file, or postgresql://user@host/database.",
    )


def fresh_pages_argument(command: Command) -> Command:
    """A source of pages that may be left out: then the bellwethers are fetched."""
    return pages_argument(command, required=False)


site_option = click.option("--site", help="The name of the site in the catalog.")


def rules_options(command: Command) -> Command:
    """Rules from a file, or from a catalog."""
    for decorate in (
        site_option,
        catalog_option(f"Where rules and history are kept; {DEFAULT_CATALOG} unless --rules is given."),
        click.option(
            "--rules",
            "rules_file",
            type=click.Path(path_type=Path),
            help="Rules from a file, nothing kept.",
        ),
    ):
        command = decorate(command)
    return command


@dataclass(frozen=True)
class CatalogSite:
    """A site of a catalog, as a command uses it; `version` is the newest one when the command read the rules."""

    catalog: Catalog
    site: str
    version: int

    def store_version(
        self,
        rules: Rules,
        pages: Iterable[Page],
        reason: str,
        note: str = "",
        to_label: Mapping[str, Sequence[str]] | None = None,
        labels: Iterable[Label] = (),
    ) -> int:
        """Save a version of the rules, and those pages that are watched, labeled by a person, or to be labeled."""
        return self.catalog.save_version(
            self.site, rules, pages, reason, note, user(), to_label, labels, self.version
        )


def user() -> str:
    """Who runs the command, if the system knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def site_name(given: str | None, urls: Iterable[str]) -> str:
    """The name that was given, or else the host of the first URL that has one."""
    name = given or first_host(urls)
    if name is None:
        raise click.UsageError("The pages have no URLs that would name the site: give --site.")
    return name


def first_host(urls: Iterable[str]) -> str | None:
    """The host of the first URL that has one."""
    return next(filter(None, map(_host, urls)), None)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


@contextmanager
def open_catalog(catalog_name: str, create: bool = False) -> Iterator[Catalog]:
    """A catalog while a command uses it; one that is only read must be there."""
    from untemplate.catalog import Catalog

    with Catalog.open(catalog_name, create=create) as catalog:
        yield catalog


@contextmanager
def open_rules(
    rules_file: Path | None, catalog_name: str | None, site: str | None
) -> Iterator[tuple[Rules, CatalogSite | None]]:
    """Yield the rules of a file; or the newest rules of a site in a catalog, and the site to store more about it."""
    from untemplate.extraction import Rules

    if rules_file and (catalog_name or site):
        raise click.UsageError(
            "Rules come from a file or from a catalog: give --rules, or --catalog and --site."
        )
    if rules_file:
        yield Rules.load(rules_file), None
        return
    if not catalog_name and not Path(DEFAULT_CATALOG).exists():
        raise click.UsageError("Needs rules: give --rules, or --catalog and --site.")
    with open_catalog(catalog_name or DEFAULT_CATALOG) as catalog:
        name = site or _only_site(catalog)
        stored = CatalogSite(catalog, name, catalog.newest_version(name))
        yield catalog.rules(name, stored.version), stored


def _only_site(catalog: Catalog) -> str:
    names = catalog.sites()
    if len(names) != 1:
        raise click.UsageError(
            f"{catalog.name} has {len(names)} sites: give --site; untemplate rules history lists them."
        )
    return names[0]


@contextmanager
def fresh_pages(
    source: str | None, url_column: str, html_column: str, render: bool, rules: Rules
) -> Iterator[Pages]:
    """The pages of a source; without one, the bellwethers are fetched."""
    if source is not None:
        with open_pages(source, url_column, html_column, render) as pages:
            yield pages
        return
    from untemplate.sources import fetch_pages

    known = [bellwether.url for bellwether in rules.bellwethers]
    urls = [url for url in known if url.startswith(("http://", "https://"))]
    if not urls:
        raise RulesError("the rules know no pages that could be fetched: give fresh PAGES")
    pages = fetch_pages(urls, render=render)
    yield pages
    report_skipped(pages.skipped)


def shown(moment: datetime) -> str:
    """A moment for people: in their time zone, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def show_changes(changes: Sequence[RuleChange]) -> None:
    """Print how rules changed: - what there was, + what there is."""
    cluster: str | None = None
    for change in changes:
        if change.cluster and change.cluster != cluster:
            click.echo(f"Cluster {printable(change.cluster)}")
        cluster = change.cluster
        subject = change.attribute or "pages"
        click.echo(f"  {printable(subject if change.cluster else f'schema, {subject}')}")
        for mark, words in (("-", change.before), ("+", change.after)):
            if words:
                click.echo(f"    {mark} {printable(words)}")
