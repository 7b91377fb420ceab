"""The catalog: the sites, and for each site all versions of its rules, its pages, labels, runs and alarms."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import update

from untemplate.catalog import rule_versions, runs, site_contents
from untemplate.catalog.database import Database, migrate
from untemplate.catalog.live_rules import list_site_rules, pack_crawl_rules
from untemplate.catalog.rule_versions import PagesToLabel, Version
from untemplate.catalog.runs import Round, Run, StoredAlarm
from untemplate.catalog.site_claims import SiteClaims, open_claims
from untemplate.catalog.site_contents import StoredLabel, find_site, list_sites, lock_site
from untemplate.catalog.site_status import SiteStatus, read_statuses
from untemplate.catalog.sql_tables import sites
from untemplate.errors import CatalogError
from untemplate.extraction import CrawlRules, Rules
from untemplate.labeling import Label
from untemplate.output.quality import CrawlTally
from untemplate.page import Page
from untemplate.watching import Alarm, Report, judge_crawl

__all__ = ["DEFAULT_CATALOG", "Catalog"]

DEFAULT_CATALOG = "untemplate.db"
"""The file that `Catalog.open` uses if no location is given."""


class Catalog:
    """Everything that untemplate stores between runs, in a SQLite file or a PostgreSQL database.

    Open one with `Catalog.open`, and use it in a `with` statement or call `close`. The first method that writes about
    a site adds the site. Every method that writes is one transaction: it happens completely or not at all. Several
    processes and threads may use one catalog at a time; writers of the same site wait for each other.

    All methods raise `CatalogError` if the database cannot be used. Methods that read also raise it if the site, or
    the version, page, label or run that they are given, is not in the catalog.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> import untemplate as ut
        >>> folder = TemporaryDirectory()
        >>> with ut.Catalog.open(f"{folder.name}/untemplate.db") as catalog:
        ...     version = catalog.save_rules("books.example", ut.Rules(ut.Schema.load("book"), ()))
        ...     ids = catalog.add_labels("books.example", [ut.Label("1.html", "title", "Emma")], by="Ada")
        ...     print(version, catalog.sites(), catalog.rules("books.example").schema.name)
        ...     print([stored.label.value for stored in catalog.labels("books.example")])
        1 ['books.example'] book
        ['Emma']
        >>> folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        """Wrap a database whose tables are up to date; call `Catalog.open` instead, which prepares them."""
        self._database = database

    @classmethod
    def open(cls, location: str | os.PathLike[str] = DEFAULT_CATALOG, *, create: bool = True) -> Self:
        """Open a catalog, and upgrade it if an older untemplate wrote it.

        Args:
            location: The path of a SQLite file, or a URL such as `postgresql://user@host/database`.
            create: Create the catalog if there is none at the location.

        Raises:
            CatalogError: The location has no catalog and `create` is False, contains other data, was written by a
                newer untemplate, or cannot be reached.
            MissingExtra: The location is in PostgreSQL, and its driver is not installed.
        """
        database = Database(location)
        if database.file and not create and not database.file.exists():
            raise CatalogError(f"{database.file}: no such catalog; create one with `untemplate rules import`")
        try:
            migrate(database, create)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def close(self) -> None:
        """Close the connections to the database. A catalog that is used again connects again."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Catalog({self.name!r})"

    @property
    def name(self) -> str:
        """The location of the catalog as messages show it, without a password."""
        return self._database.name

    def sites(self) -> list[str]:
        """Return the names of all sites in the order in which they were added."""
        with self._database.read() as connection:
            return list_sites(connection)

    def statuses(self) -> list[SiteStatus]:
        """Return how every site is doing, the worst first. This takes a second for hundreds of sites."""
        with self._database.read() as connection:
            return read_statuses(connection)

    def set_watch_hours(self, site: str, hours: float | None) -> None:
        """Set how often a site is watched by `watch --due`; None for once a day."""
        with self._database.write() as connection:
            find_site(connection, site)
            connection.execute(
                update(sites).where(sites.c.id == lock_site(connection, site)).values(watch_hours=hours)
            )

    # Rules

    def save_rules(
        self,
        site: str,
        rules: Rules,
        reason: str = "learned",
        note: str = "",
        by: str = "",
        to_label: Mapping[str, Sequence[str]] | None = None,
        based_on: int | None = None,
    ) -> int:
        """Save rules as the newest version of a site, and return the number of the version.

        Args:
            site: The name of the site, such as its host.
            rules: The rules to save. Earlier versions stay as they are.
            reason: Why there is a new version: learned, healed, watched, imported or rolled back. Healing and
                watching keep the pages to label of clusters that still have no rules, or not all.
            note: A note for people who read the history.
            by: The person who saves them.
            to_label: For each cluster, the pages that a person should label.
            based_on: The version that these rules were made from; 0 if the site had none. Then nothing is saved if
                somebody else has saved a version since.

        Raises:
            CatalogError: The name of the site is empty or too long.
            VersionConflict: The newest version is another one than `based_on`.
        """
        file = json.loads(rules.dumps())
        with self._database.write() as connection:
            site_id = lock_site(connection, site)
            if based_on is not None:
                rule_versions.check_newest(connection, site_id, site, based_on)
            to_label = dict(to_label or {})
            if reason in ("healed", "watched"):
                to_label = rule_versions.read_unlabeled(connection, site_id, rules) | to_label
            return rule_versions.add_version(connection, site_id, file, reason, note, by, to_label)

    def save_version(
        self,
        site: str,
        rules: Rules,
        pages: Iterable[Page],
        reason: str,
        note: str = "",
        by: str = "",
        to_label: Mapping[str, Sequence[str]] | None = None,
        labels: Iterable[Label] = (),
        based_on: int | None = None,
    ) -> int:
        """Save rules with those pages that are watched, labeled by a person, or to be labeled.

        Other arguments, the returned number and the exceptions are those of `save_rules`.
        """
        wanted = {bellwether.page for bellwether in rules.bellwethers}
        wanted.update(*(to_label or {}).values())
        wanted.update(label.page for label in labels if label.source == "person")
        self.save_pages(site, (page for page in pages if page.is_named_in(wanted)))
        return self.save_rules(site, rules, reason, note, by, to_label, based_on)

    def rules_text(self, site: str) -> str:
        """Return the newest rules of a site as the text of a rules file."""
        with self._database.read() as connection:
            version_id = rule_versions.find_version(connection, find_site(connection, site), site)
            return json.dumps(rule_versions.read_rules_file(connection, version_id))

    def bellwether_urls(self) -> dict[str, list[str]]:
        """Return the URLs of the watched pages of each site, by its newest rules."""
        with self._database.read() as connection:
            return rule_versions.read_bellwether_urls(connection)

    def newest_version(self, site: str) -> int:
        """Return the number of the newest rules of a site; 0 if it has none."""
        with self._database.read() as connection:
            return rule_versions.newest_number(connection, find_site(connection, site))

    def rules(self, site: str, version: int | None = None) -> Rules:
        """Return the newest rules of a site, or those of a version."""
        with self._database.read() as connection:
            version_id = rule_versions.find_version(connection, find_site(connection, site), site, version)
            file = rule_versions.read_rules_file(connection, version_id)
        return Rules.loads(json.dumps(file), f"rules of {site}")

    def site_rules(self) -> CrawlRules:
        """Return the newest rules of all sites, for a crawl of many sites. `LiveRules` also notices new versions."""
        with self._database.read() as connection:
            return list_site_rules(connection, self.rules)

    def packed_rules(self) -> CrawlRules:
        """Return the newest rules of all sites in a form that worker processes and Spark can receive."""
        with self._database.read() as connection:
            return pack_crawl_rules(connection)

    def history(self, site: str) -> list[Version]:
        """Return all versions of the rules of a site, the oldest first."""
        with self._database.read() as connection:
            return rule_versions.read_history(connection, find_site(connection, site))

    def rollback(self, site: str, version: int, by: str = "") -> int:
        """Save a version again as the newest one, and return the new number. No version is lost."""
        with self._database.write() as connection:
            find_site(connection, site)
            site_id = lock_site(connection, site)
            old_id = rule_versions.find_version(connection, site_id, site, version)
            file = rule_versions.read_rules_file(connection, old_id)
            to_label = rule_versions.read_samples(connection, old_id)
            note = f"to version {version}"
            return rule_versions.add_version(connection, site_id, file, "rolled back", note, by, to_label)

    def pages_to_label(self, site: str) -> list[PagesToLabel]:
        """Return the pages that a person should label, by cluster, as stored with the newest rules."""
        with self._database.read() as connection:
            newest = rule_versions.find_version(connection, find_site(connection, site), site)
            return rule_versions.read_pages_to_label(connection, newest)

    # Pages

    def save_page(self, site: str, page: Page) -> None:
        """Store the current state of a page. Earlier states stay available."""
        self.save_pages(site, [page])

    def save_pages(self, site: str, pages: Iterable[Page]) -> None:
        """Store the current states of pages, all or none of them."""
        with self._database.write() as connection:
            site_id = lock_site(connection, site)
            for page in pages:
                site_contents.write_page(connection, site_id, page)

    def page(self, site: str, id: str, at: datetime | None = None) -> Page:
        """Return a page in its last stored state, or in its state at a time."""
        with self._database.read() as connection:
            row = site_contents.find_page(connection, find_site(connection, site), id, at)
            if row is None:
                raise CatalogError(f"no page {id!r} of {site} in the catalog")
            return site_contents.read_page(connection, row)

    def pages(self, site: str) -> Iterator[Page]:
        """Iterate over the pages of a site in their last stored states."""
        with self._database.read() as connection:
            rows = site_contents.latest_pages(connection, find_site(connection, site))
        for row in rows:
            with self._database.read() as connection:
                page = site_contents.read_page(connection, row)
            yield page

    # Labels

    def add_labels(self, site: str, labels: Iterable[Label], by: str) -> list[int]:
        """Add labels of a person, and return their ids in the same order.

        A label that the same person has added already is not added again; its old id is returned.
        """
        with self._database.write() as connection:
            return site_contents.add_labels(connection, lock_site(connection, site), labels, by)

    def remove_label(self, id: int, by: str) -> None:
        """Mark a label as removed. It stays in the catalog, and `restore_label` brings it back."""
        with self._database.write() as connection:
            site_contents.remove_label(connection, id, by)

    def restore_label(self, id: int, by: str) -> None:
        """Bring back a removed label."""
        with self._database.write() as connection:
            site_contents.restore_label(connection, id, by)

    def rename_attributes(self, site: str, new_names: Mapping[str, str]) -> None:
        """Give attributes of the labels of a site new names. The names in older rules stay."""
        with self._database.write() as connection:
            site_id = site_contents.find_site(connection, site)
            site_contents.rename_attributes(connection, site_id, new_names)

    def labels(self, site: str, removed: bool = False) -> list[StoredLabel]:
        """Return the labels of a site in the order in which they were added, optionally with the removed ones."""
        with self._database.read() as connection:
            return site_contents.load_labels(connection, find_site(connection, site), removed)

    # Runs and alarms

    def start_run(self, site: str, kind: str) -> int:
        """Record the start of a learn, extract, watch, heal or annotate run, and return the id of the run."""
        with self._database.write() as connection:
            return runs.start_run(connection, lock_site(connection, site), kind)

    def finish_run(self, run: int, figures: Mapping[str, Any]) -> None:
        """Record the end of a run, with figures that JSON can express."""
        with self._database.write() as connection:
            runs.finish_run(connection, run, figures)

    def finish_crawl(
        self, site: str, crawl: CrawlTally, run: int | None = None, skipped: int = 0
    ) -> list[Alarm]:
        """Record what came out of a crawl of a site, and return the alarms: figures that dropped against history.

        Args:
            site: The site.
            crawl: The counts of its records.
            run: The extract run that counted them; a new one by default.
            skipped: Pages that could not be read.
        """
        with self._database.write() as connection:
            site_id = lock_site(connection, site)
            run = runs.start_run(connection, site_id, runs.CRAWL) if run is None else run
            alarms = judge_crawl(crawl, runs.load_crawls(connection, site_id))
            runs.record_alarms(connection, site_id, run, alarms, ())
            counts = crawl.total().to_dict() | {"clusters": crawl.to_dict(), "skipped": skipped}
            runs.finish_run(connection, run, counts | {"alarms": len(alarms)})
        return alarms

    def finish_watch(
        self, site: str, report: Report, version: int, run: int | None = None, **figures: object
    ) -> None:
        """Record what watching found: figures, alarms, and today's values of attributes that may change.

        Open alarms of clusters that the report says nothing about stay open.

        Args:
            site: The site.
            report: What watching found.
            version: The version of the rules that were watched.
            run: The watch run; a new one by default.
            figures: Further figures of the run.
        """
        watched = {cluster.cluster for cluster in report.clusters}
        new_values = {cluster.cluster: cluster.new_values for cluster in report.clusters}
        with self._database.write() as connection:
            site_id = lock_site(connection, site)
            run = runs.start_run(connection, site_id, "watch") if run is None else run
            version_id = rule_versions.find_version(connection, site_id, site, version)
            unchecked = rule_versions.read_cluster_names(connection, version_id) - watched
            runs.record_alarms(connection, site_id, run, report.alarms, unchecked)
            rule_versions.update_goldens(connection, version_id, new_values)
            runs.finish_run(connection, run, report.to_dict() | figures)

    def finish_heal(self, site: str, run: int, figures: Mapping[str, Any]) -> None:
        """Record the end of a heal run, and clear the alarms that it answered.

        Args:
            site: The site.
            run: The heal run.
            figures: What healing reported, as `Healed.to_dict` returns it.
        """
        with self._database.write() as connection:
            runs.clear_repaired(connection, lock_site(connection, site), figures)
            runs.finish_run(connection, run, figures)

    def start_round(self, kind: str) -> Round:
        """Start a round over all sites, or continue the one that was interrupted within the last day.

        Args:
            kind: watch or heal.

        Returns:
            The round, with the sites that it has done already.
        """
        with self._database.write() as connection:
            return runs.start_round(connection, kind)

    def finish_round(self, round: Round) -> None:
        """Record that a round is complete, if no other process still works on it; the next one starts anew."""
        with self._database.write() as connection:
            runs.finish_round(connection, round)

    def claims(self, kind: str) -> AbstractContextManager[SiteClaims]:
        """Return a context in which this process can claim sites, so that no other watches or heals them meanwhile.

        Args:
            kind: watch or heal.
        """
        return open_claims(self._database, kind)

    @contextmanager
    def claim(self, site: str, kind: str) -> Iterator[None]:
        """Keep other processes away from a site in a `with` block.

        Raises:
            CatalogError: Another process works on the site.
        """
        with self.claims(kind) as site_claims:
            if reason := site_claims.take(site):
                raise CatalogError(f"{site}: {reason}; try again when it is done")
            yield

    def runs(self, site: str, kind: str | None = None) -> list[Run]:
        """Return the runs over a site, or only those of a kind, the oldest first."""
        with self._database.read() as connection:
            return runs.load_runs(connection, find_site(connection, site), kind)

    def record_alarms(
        self, site: str, run: int, alarms: Iterable[Alarm], unchecked: Collection[str] = ()
    ) -> None:
        """Update the open alarms of a site with the alarms of a watch run.

        Alarms that are new are raised. Open alarms that the run did not report again are cleared, except those of
        `unchecked` clusters: the run had no pages of them.
        """
        with self._database.write() as connection:
            runs.record_alarms(connection, lock_site(connection, site), run, alarms, unchecked)

    def alarms(self, site: str, open_only: bool = True) -> list[StoredAlarm]:
        """Return the open alarms of a site, or all alarms that it ever had, the oldest first."""
        with self._database.read() as connection:
            return runs.load_alarms(connection, find_site(connection, site), open_only)
