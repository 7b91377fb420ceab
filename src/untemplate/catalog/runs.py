"""Runs and alarms: which command ran when with which figures, and which alarms watch runs raised and cleared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from untemplate.catalog.site_contents import now
from untemplate.catalog.sql_tables import alarms, runs
from untemplate.errors import CatalogError
from untemplate.watching import Alarm

__all__ = [
    "Run",
    "StoredAlarm",
    "finish_run",
    "load_alarms",
    "load_runs",
    "record_alarms",
    "start_run",
]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command over a site. If `finished` is None, it is still running, or it was interrupted."""

    id: int
    kind: str
    started: datetime
    finished: datetime | None
    figures: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class StoredAlarm(Alarm):
    """An alarm of a watch run, with the time it was raised and the time it was cleared, if it was."""

    id: int
    raised: datetime
    cleared: datetime | None


def start_run(connection: Connection, site_id: int, kind: str) -> int:
    """Add a run that starts now, and return its id."""
    row = {"site_id": site_id, "kind": kind, "started": now()}
    run_id: int = connection.scalars(insert(runs).returning(runs.c.id), row).one()
    return run_id


def finish_run(connection: Connection, run: int, figures: Mapping[str, Any]) -> None:
    """Set the end and the figures of a run; raise CatalogError if it does not exist or has ended before."""
    is_running = (runs.c.id == run) & runs.c.finished.is_(None)
    result = connection.execute(update(runs).where(is_running).values(finished=now(), figures=dict(figures)))
    if not result.rowcount:
        raise CatalogError(f"no run {run} is under way; start one before finishing it")


def load_runs(connection: Connection, site_id: int, kind: str | None) -> list[Run]:
    """Return the runs over a site, the oldest first."""
    query = select(runs).where(runs.c.site_id == site_id).order_by(runs.c.id)
    if kind is not None:
        query = query.where(runs.c.kind == kind)
    return [
        Run(row.id, row.kind, row.started, row.finished, row.figures or {})
        for row in connection.execute(query)
    ]


def record_alarms(
    connection: Connection, site_id: int, run: int, reported: Iterable[Alarm], unchecked: Collection[str]
) -> None:
    """Add the reported alarms that are new, update the open ones, and clear the rest.

    Alarms of `unchecked` clusters are not cleared.
    """
    moment = now()
    not_reported = {alarm.key: alarm for alarm in load_alarms(connection, site_id, open_only=True)}
    for alarm in reported:
        details = {"expected": alarm.expected, "seen": alarm.seen, "pages": list(alarm.pages)}
        if open_alarm := not_reported.pop(alarm.key, None):
            connection.execute(update(alarms).where(alarms.c.id == open_alarm.id).values(details))
        else:
            connection.execute(
                insert(alarms).values(
                    site_id=site_id,
                    run_id=run,
                    cluster=alarm.cluster,
                    test=alarm.test,
                    attribute=alarm.attribute,
                    since=alarm.since or moment,
                    raised=moment,
                    **details,
                )
            )
    passed = [alarm.id for alarm in not_reported.values() if alarm.cluster not in unchecked]
    connection.execute(update(alarms).where(alarms.c.id.in_(passed)).values(cleared=moment))


def load_alarms(connection: Connection, site_id: int, open_only: bool) -> list[StoredAlarm]:
    """Return the alarms of a site, the oldest first."""
    query = select(alarms).where(alarms.c.site_id == site_id).order_by(alarms.c.id)
    if open_only:
        query = query.where(alarms.c.cleared.is_(None))
    return [
        StoredAlarm(
            row.cluster,
            row.test,
            row.attribute,
            row.expected,
            row.seen,
            tuple(row.pages),
            row.since,
            id=row.id,
            raised=row.raised,
            cleared=row.cleared,
        )
        for row in connection.execute(query)
    ]
