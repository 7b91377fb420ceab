"""The versions of a site's rules: only ever added, numbered from 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, select

from untemplate.catalog.rows import File, write_version
from untemplate.catalog.sites import now
from untemplate.catalog.stored import Version
from untemplate.catalog.tables import clusters, rules, versions
from untemplate.errors import CatalogError

__all__ = ["add_version", "find_version", "read_history"]


def add_version(
    connection: Connection,
    site_id: int,
    file: File,
    reason: str,
    note: str,
    by: str,
    to_label: Mapping[str, Sequence[str]],
) -> int:
    """Write a rules file as the newest version of a site; the version's number."""
    number = _newest(connection, site_id) + 1
    row = {"site_id": site_id, "number": number, "reason": reason, "note": note, "by": by, "saved": now()}
    write_version(connection, row, file, to_label)
    return number


def find_version(connection: Connection, site_id: int, site: str, number: int | None = None) -> int:
    """The row of a version; None is the newest."""
    newest = _newest(connection, site_id)
    if not newest:
        raise CatalogError(f"{site}: has no rules in the catalog yet")
    wanted = newest if number is None else number
    query = select(versions.c.id).where(versions.c.site_id == site_id, versions.c.number == wanted)
    version_id: int | None = connection.scalar(query)
    if version_id is None:
        raise CatalogError(f"{site}: has no version {number} of its rules; there are 1 to {newest}")
    return version_id


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


def _newest(connection: Connection, site_id: int) -> int:
    """The number of the newest version; 0 where there is none."""
    return connection.scalar(select(func.max(versions.c.number)).where(versions.c.site_id == site_id)) or 0
