"""The versions of a site's rules: only ever added, numbered from 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, select

from untemplate.catalog.rows import read_rules, write_rules
from untemplate.catalog.sites import now
from untemplate.catalog.stored import Task, Version
from untemplate.catalog.tables import clusters, rules, samples, versions
from untemplate.errors import CatalogError
from untemplate.extraction import Rules

__all__ = ["add_version", "find_version", "read_history", "read_tasks"]


def add_version(
    connection: Connection,
    site_id: int,
    saved: Rules,
    reason: str,
    note: str,
    by: str,
    to_label: Mapping[str, Sequence[str]],
) -> int:
    """Write rules as the newest version of a site; the version's number."""
    number = _newest(connection, site_id) + 1
    row = {"site_id": site_id, "number": number, "reason": reason, "note": note, "by": by, "saved": now()}
    write_rules(connection, row, saved, to_label)
    return number


def find_version(connection: Connection, site_id: int, site: str, number: int | None) -> tuple[int, Rules]:
    """The row of a version and its rules; None is the newest."""
    newest = _newest(connection, site_id)
    if not newest:
        raise CatalogError(f"{site}: has no rules in the catalog yet")
    number = newest if number is None else number
    query = select(versions.c.id).where(versions.c.site_id == site_id, versions.c.number == number)
    version_id = connection.scalar(query)
    if version_id is None:
        raise CatalogError(f"{site}: has no version {number} of its rules; there are 1 to {newest}")
    return version_id, read_rules(connection, version_id, f"version {number} of {site}")


def read_history(connection: Connection, site_id: int) -> list[Version]:
    """All versions of a site's rules, the oldest first."""
    query = (
        select(
            versions,
            func.count(clusters.c.id.distinct()).label("cluster_count"),
            func.count(rules.c.id).label("rule_count"),
        )
        .outerjoin(clusters, clusters.c.version_id == versions.c.id)
        .outerjoin(rules, rules.c.cluster_id == clusters.c.id)
        .where(versions.c.site_id == site_id)
        .group_by(versions.c.id)
        .order_by(versions.c.number)
    )
    return [
        Version(row.number, row.reason, row.note, row.by, row.saved, row.cluster_count, row.rule_count)
        for row in connection.execute(query)
    ]


def read_tasks(connection: Connection, version_id: int, saved: Rules) -> list[Task]:
    """The clusters of a version of which a person should label pages, and for which attributes."""
    query = (
        select(clusters.c.name, samples.c.page)
        .join(samples)
        .where(clusters.c.version_id == version_id)
        .order_by(samples.c.id)
    )
    to_label: dict[str, list[str]] = {}
    for row in connection.execute(query):
        to_label.setdefault(row.name, []).append(row.page)
    return [
        Task(
            wrapper.cluster, wrapper.lost or tuple(saved.schema.attributes), tuple(to_label[wrapper.cluster])
        )
        for wrapper in saved.wrappers
        if wrapper.cluster in to_label
    ]


def _newest(connection: Connection, site_id: int) -> int:
    """The number of the newest version; 0 where there is none."""
    return connection.scalar(select(func.max(versions.c.number)).where(versions.c.site_id == site_id)) or 0
