"""Runs and alarms: which command ran when with which figures, and which alarms watch runs raised and cleared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, Text, func, insert, select, type_coerce, update

from untemplate.catalog.site_claims import has_live_claims
from untemplate.catalog.site_contents import now
from untemplate.catalog.sql_tables import alarms, rounds, runs, sites, versions
from untemplate.errors import CatalogError
from untemplate.output.quality import CrawlTally
from untemplate.watching import SITE, Alarm

__all__ = [
    "PastRun",
    "Round",
    "Run",
    "StoredAlarm",
    "clear_repaired",
    "finish_round",
    "finish_run",
    "last_runs",
    "load_alarms",
    "load_crawls",
    "load_runs",
    "record_alarms",
    "start_round",
    "start_run",
]


CRAWL = "extract"
"""The kind of runs that count what came out of a crawl."""

# An interrupted round that is older is not continued.
MAX_ROUND_AGE = timedelta(days=1)
# Crawls that a new one is compared with: about a month of daily ones.
RECENT_CRAWLS = 30


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command over a site. If `finished` is None, it is still running, or it was interrupted."""

    id: int
    kind: str
    started: datetime
    finished: datetime | None
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of a command over all sites; `done` are the sites that it had done before it was interrupted."""

    id: int
    kind: str
    started: datetime
    done: frozenset[str] = frozenset()


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


def start_round(connection: Connection, kind: str) -> Round:
    """Return the last round of a kind if it is recent and not finished, else a new one."""
    moment = now()
    # Two schedulers wait for each other here. A round cannot be locked before there is one, so they lock a site.
    connection.execute(select(sites.c.id).order_by(sites.c.id).limit(1).with_for_update())
    query = select(rounds).where(rounds.c.kind == kind).order_by(rounds.c.id.desc()).limit(1)
    last = connection.execute(query).first()
    if last is not None and last.finished is None and moment - last.started < MAX_ROUND_AGE:
        is_done = (runs.c.kind == kind) & (runs.c.started >= last.started) & runs.c.finished.is_not(None)
        done = connection.scalars(
            select(sites.c.name).join(runs, runs.c.site_id == sites.c.id).where(is_done)
        )
        return Round(last.id, kind, last.started, frozenset(done))
    row = {"kind": kind, "started": moment}
    return Round(connection.scalars(insert(rounds).returning(rounds.c.id), row).one(), kind, moment)


def finish_round(connection: Connection, round: Round) -> None:
    """Set the end of a round, unless another process still works on its sites: that one will end it."""
    if has_live_claims(connection, round.kind):
        return
    connection.execute(update(rounds).where(rounds.c.id == round.id).values(finished=now()))


@dataclass(frozen=True)
class PastRun:
    """A finished run. Its figures are read from JSON when they are needed: those of many clusters are long."""

    site_id: int
    kind: str
    finished: datetime
    text: str

    @cached_property
    def figures(self) -> dict[str, Any]:
        """What the run counted."""
        try:
            figures = json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise CatalogError(f"the catalog is damaged: figures of a run: {error}") from error
        return figures if isinstance(figures, dict) else {}


def last_runs(connection: Connection, kinds: Collection[str], count: int) -> list[PastRun]:
    """Return up to `count` finished runs of each of these kinds over each site, the newest first."""
    newest_first = func.row_number().over(
        partition_by=(runs.c.site_id, runs.c.kind), order_by=runs.c.id.desc()
    )
    # Runs that were interrupted have no figures; a few more are numbered in case there are some.
    numbered = select(runs.c.id, newest_first.label("rank")).where(runs.c.kind.in_(kinds)).subquery()
    recent = select(numbered.c.id).where(numbered.c.rank <= 2 * count)
    figures = func.coalesce(type_coerce(runs.c.figures, Text), "{}")
    columns = select(runs.c.site_id, runs.c.kind, runs.c.finished, figures)
    query = columns.where(runs.c.id.in_(recent), runs.c.finished.is_not(None)).order_by(runs.c.id.desc())
    seen: Counter[tuple[int, str]] = Counter()
    chosen = []
    for row in connection.execute(query):
        seen[row.site_id, row.kind] += 1
        if seen[row.site_id, row.kind] <= count:
            chosen.append(PastRun(*row))
    return chosen


def record_alarms(
    connection: Connection, site_id: int, run: int, reported: Iterable[Alarm], unchecked: Collection[str]
) -> None:
    """Add the reported alarms that are new, update the open ones, and clear the rest.

    Alarms of `unchecked` clusters are not cleared. A crawl says nothing about the alarms of watched pages, and
    watched pages say nothing about those of a crawl.
    """
    moment = now()
    not_reported = {alarm.key: alarm for alarm in _comparable_alarms(connection, site_id, run)}
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


def clear_repaired(connection: Connection, site_id: int, figures: Mapping[str, Any]) -> None:
    """Clear the alarms that a heal answered: nobody has to look at them unless they are raised again.

    An alarm about an attribute is answered if its rule was learned again; one about the structure of pages if rules
    of the cluster were, and none was lost or refused; one about the crawl if that holds for the site.

    Args:
        connection: the transaction.
        site_id: the site.
        figures: what the heal reported.
    """
    healed = {(repair["cluster"], repair["attribute"]) for repair in figures["healed"]}
    repaired = {cluster for cluster, _ in healed}
    incomplete = {change["cluster"] for change in (*figures["lost"], *figures["refused"])}
    answered = healed | {(cluster, None) for cluster in repaired - incomplete}
    is_complete = bool(repaired) and not incomplete
    cleared = [
        alarm.id
        for alarm in load_alarms(connection, site_id, open_only=True)
        if (alarm.cluster, alarm.attribute) in answered or (is_complete and alarm.cluster == SITE)
    ]
    connection.execute(update(alarms).where(alarms.c.id.in_(cleared)).values(cleared=now()))


def _comparable_alarms(connection: Connection, site_id: int, run: int) -> list[StoredAlarm]:
    """Return the open alarms that a run may clear: those of crawls for an extract run, else those of other runs."""
    is_open = (alarms.c.site_id == site_id) & alarms.c.cleared.is_(None)
    is_crawl = connection.scalar(select(runs.c.kind).where(runs.c.id == run)) == CRAWL
    same_kind = runs.c.kind == CRAWL if is_crawl else runs.c.kind != CRAWL
    query = select(alarms).join(runs, runs.c.id == alarms.c.run_id).where(is_open, same_kind)
    return _stored_alarms(connection, query.order_by(alarms.c.id))


def load_alarms(connection: Connection, site_id: int, open_only: bool) -> list[StoredAlarm]:
    """Return the alarms of a site, the oldest first."""
    query = select(alarms).where(alarms.c.site_id == site_id).order_by(alarms.c.id)
    if open_only:
        query = query.where(alarms.c.cleared.is_(None))
    return _stored_alarms(connection, query)


def load_crawls(connection: Connection, site_id: int) -> list[CrawlTally]:
    """Return the tallies of recent crawls of a site without alarms: what a new crawl is compared with.

    A crawl with alarms would make the drop look usual. If all recent crawls have alarms, nobody minded, and there is
    nothing to compare with.
    """
    is_crawl = (runs.c.site_id == site_id) & (runs.c.kind == CRAWL) & runs.c.finished.is_not(None)
    query = select(runs.c.started, runs.c.figures).where(is_crawl).order_by(runs.c.id.desc())
    changed = _last_change(connection, site_id)
    crawls = []
    for started, figures in connection.execute(query.limit(RECENT_CRAWLS)):
        if "clusters" in figures and not figures.get("alarms"):
            tally = CrawlTally.from_dict(figures["clusters"])
            crawls.append(tally.without_confidence() if changed and started < changed else tally)
    return crawls


def _last_change(connection: Connection, site_id: int) -> datetime | None:
    """Return when rules of a site were changed last; replaced bellwethers are no change."""
    is_change = (versions.c.site_id == site_id) & (versions.c.reason != "watched")
    changed: datetime | None = connection.scalar(select(func.max(versions.c.saved)).where(is_change))
    return changed


def _stored_alarms(connection: Connection, query: Select[Any]) -> list[StoredAlarm]:
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
