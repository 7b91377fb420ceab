"""The catalog: sites with their rules in all versions, pages, labels, runs and alarms.

Every method that writes is one transaction. Several processes and threads may use one catalog at a time; those that
write about the same site wait for each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from untemplate.catalog import labels, pages, runs, versions
from untemplate.catalog.database import Database
from untemplate.catalog.migrations import migrate
from untemplate.catalog.rows import read_samples, read_version
from untemplate.catalog.sites import known_site, locked_site, site_names
from untemplate.catalog.stored import GivenLabel, RaisedAlarm, Run, Task, Version
from untemplate.errors import CatalogError
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.watching import Alarm

__all__ = ["DEFAULT", "Catalog"]

DEFAULT = "untemplate.db"
"""Where a catalog is if nobody says where."""


class Catalog:
    """What is remembered between runs, in a SQLite file or a PostgreSQL database."""

    def __init__(self, database: Database) -> None:
        """Use `Catalog.open`, which prepares the database."""
        self._database = database

    @classmethod
    def open(cls, where: str | os.PathLike[str] = DEFAULT, *, create: bool = True) -> Self:
        """Open the catalog in a SQLite file, or by a URL such as `postgresql://user@host/database`.

        One that is not there is made, unless told not to; one of an older untemplate is brought up to date.
        """
        database = Database(where)
        if database.file and not create and not database.file.exists():
            raise CatalogError(f"{database.file}: no catalog there")
        try:
            migrate(database, create)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def close(self) -> None:
        """Let go of the database; who uses the catalog afterwards connects again."""
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
        """Where it is, for people; without a password."""
        return self._database.name

    def sites(self) -> list[str]:
        """The names of all sites, in the order in which they were added."""
        with self._database.read() as connection:
            return site_names(connection)

    # Rules

    def save_rules(
        self,
        site: str,
        rules: Rules,
        reason: str = "learnt",
        note: str = "",
        by: str = "",
        to_label: Mapping[str, Sequence[str]] | None = None,
    ) -> int:
        """Save rules as the newest version of a site, which is added if it is new; the version's number.

        `reason` is one of learnt, healed, imported, rolled back; `to_label` are pages of a cluster that a person
        should label.
        """
        file = json.loads(rules.dumps())
        with self._database.write() as connection:
            site_id = locked_site(connection, site)
            return versions.add_version(connection, site_id, file, reason, note, by, to_label or {})

    def rules(self, site: str, version: int | None = None) -> Rules:
        """The newest rules of a site, or those of a version."""
        with self._database.read() as connection:
            version_id = versions.find_version(connection, known_site(connection, site), site, version)
            file = read_version(connection, version_id)
        return Rules.loads(json.dumps(file), f"rules of {site}")

    def history(self, site: str) -> list[Version]:
        """All versions of a site's rules, the oldest first."""
        with self._database.read() as connection:
            return versions.read_history(connection, known_site(connection, site))

    def rollback(self, site: str, version: int, by: str = "") -> int:
        """Save a version again, as the newest one; its number."""
        with self._database.write() as connection:
            known_site(connection, site)
            site_id = locked_site(connection, site)
            old_id = versions.find_version(connection, site_id, site, version)
            file, to_label = read_version(connection, old_id), read_samples(connection, old_id)
            note = f"to version {version}"
            return versions.add_version(connection, site_id, file, "rolled back", note, by, to_label)

    def tasks(self, site: str) -> list[Task]:
        """What a person should label, according to the newest rules."""
        with self._database.read() as connection:
            newest = versions.find_version(connection, known_site(connection, site), site)
            file, to_label = read_version(connection, newest), read_samples(connection, newest)
        return [
            Task(
                one["cluster"],
                tuple(one["lost"] or file["schema"]["attributes"]),
                tuple(to_label[one["cluster"]]),
            )
            for one in file["wrappers"]
            if one["cluster"] in to_label
        ]

    # Pages

    def save_page(self, site: str, page: Page) -> None:
        """Keep a page as it is now, beside what it was before; the site is added if it is new."""
        self.save_pages(site, [page])

    def save_pages(self, site: str, given: Iterable[Page]) -> None:
        """Keep pages as they are now, all or none of them."""
        with self._database.write() as connection:
            site_id = locked_site(connection, site)
            for page in given:
                pages.write_page(connection, site_id, page)

    def page(self, site: str, id: str, at: datetime | None = None) -> Page:
        """A page as it was last kept, or as it was at some time."""
        with self._database.read() as connection:
            row = pages.find_page(connection, known_site(connection, site), id, at)
            if row is None:
                raise CatalogError(f"no page {id!r} of {site} in the catalog")
            return pages.read_page(connection, row)

    def pages(self, site: str) -> Iterator[Page]:
        """The pages of a site as they were last kept, one after the other."""
        with self._database.read() as connection:
            rows = pages.latest_pages(connection, known_site(connection, site))
        for row in rows:
            with self._database.read() as connection:
                page = pages.read_page(connection, row)
            yield page

    # Labels

    def add_label(self, site: str, label: Label, by: str) -> int:
        """Add a label and who gave it; its id. The site is added if it is new."""
        [id] = self.add_labels(site, [label], by)
        return id

    def add_labels(self, site: str, given: Iterable[Label], by: str) -> list[int]:
        """Add labels, except those that the same person has given already; the ids of all, in their order."""
        with self._database.write() as connection:
            return labels.add_labels(connection, locked_site(connection, site), given, by)

    def remove_label(self, id: int, by: str) -> None:
        """Let a label no longer count; it can be restored."""
        with self._database.write() as connection:
            labels.remove_label(connection, id, by)

    def restore_label(self, id: int, by: str) -> None:
        """Let a removed label count again."""
        with self._database.write() as connection:
            labels.restore_label(connection, id, by)

    def labels(self, site: str, removed: bool = False) -> list[GivenLabel]:
        """The labels of a site in the order in which they were given; with those that were removed if asked for."""
        with self._database.read() as connection:
            return labels.read_labels(connection, known_site(connection, site), removed)

    # Runs and alarms

    def start_run(self, site: str, kind: str) -> int:
        """Remember that a learn, extract, watch or heal begins; its id. The site is added if it is new."""
        with self._database.write() as connection:
            return runs.start_run(connection, locked_site(connection, site), kind)

    def finish_run(self, run: int, figures: Mapping[str, Any]) -> None:
        """Remember that a run is done, and its figures, which are written as JSON."""
        with self._database.write() as connection:
            runs.finish_run(connection, run, figures)

    def runs(self, site: str, kind: str | None = None) -> list[Run]:
        """The runs over a site, or those of a kind, the oldest first."""
        with self._database.read() as connection:
            return runs.read_runs(connection, known_site(connection, site), kind)

    def record_alarms(
        self, site: str, run: int, alarms: Iterable[Alarm], unseen: Collection[str] = ()
    ) -> None:
        """What a watch found: alarms that are new are raised, those not found again are cleared.

        Alarms of `unseen` clusters, which it could not look at, stay.
        """
        with self._database.write() as connection:
            runs.record_alarms(connection, locked_site(connection, site), run, alarms, unseen)

    def alarms(self, site: str, open_only: bool = True) -> list[RaisedAlarm]:
        """The alarms of a site that are open, or all that ever were, the oldest first."""
        with self._database.read() as connection:
            return runs.read_alarms(connection, known_site(connection, site), open_only)
