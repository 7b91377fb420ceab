"""Runs: what was done when, with which figures; and the alarms that they raised and cleared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from untemplate.catalog.sites import now
from untemplate.catalog.stored import RaisedAlarm, Run
from untemplate.catalog.tables import alarms, runs
from untemplate.errors import CatalogError
from untemplate.watching import Alarm

__all__ = ["finish_run", "read_alarms", "read_runs", "record_alarms", "start_run"]


def start_run(connection: Connection, site_id: int, kind: str) -> int:
    row = {"site_id": site_id, "kind": kind, "started": now()}
    run: int = connection.scalars(insert(runs).returning(runs.c.id), row).one()
    return run


def finish_run(connection: Connection, run: int, figures: Mapping[str, Any]) -> None:
    under_way = (runs.c.id == run) & runs.c.finished.is_(None)
    done = connection.execute(update(runs).where(under_way).values(finished=now(), figures=dict(figures)))
    if not done.rowcount:
        raise CatalogError(f"no run {run} is under way")


def read_runs(connection: Connection, site_id: int, kind: str | None) -> list[Run]:
    """The runs over a site, the oldest first."""
    query = select(runs).where(runs.c.site_id == site_id).order_by(runs.c.id)
    if kind is not None:
        query = query.where(runs.c.kind == kind)
    return [
        Run(row.id, row.kind, row.started, row.finished, row.figures or {})
        for row in connection.execute(query)
    ]


def record_alarms(
    connection: Connection, site_id: int, run: int, found: Iterable[Alarm], unseen: Collection[str]
) -> None:
    """Raise the alarms that are new, keep those that are still there, clear the others but of unseen clusters."""
    moment = now()
    still = {alarm.key: alarm for alarm in read_alarms(connection, site_id, open_only=True)}
    for alarm in found:
        details = {"expected": alarm.expected, "seen": alarm.seen, "pages": list(alarm.pages)}
        if known := still.pop(alarm.key, None):
            connection.execute(update(alarms).where(alarms.c.id == known.id).values(details))
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
    gone = [alarm.id for alarm in still.values() if alarm.cluster not in unseen]
    connection.execute(update(alarms).where(alarms.c.id.in_(gone)).values(cleared=moment))


def read_alarms(connection: Connection, site_id: int, open_only: bool) -> list[RaisedAlarm]:
    """The alarms of a site, the oldest first."""
    query = select(alarms).where(alarms.c.site_id == site_id).order_by(alarms.c.id)
    if open_only:
        query = query.where(alarms.c.cleared.is_(None))
    return [
        RaisedAlarm(
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
