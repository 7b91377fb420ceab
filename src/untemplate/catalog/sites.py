"""Sites: whatever is remembered belongs to one."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, Insert, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from untemplate.catalog.tables import MAX_NAME, sites
from untemplate.errors import CatalogError

__all__ = ["insert_once", "known_site", "locked_site", "now", "site_names"]


def now() -> datetime:
    return datetime.now(UTC)


def site_names(connection: Connection) -> list[str]:
    """The sites, in the order in which they were added."""
    return list(connection.scalars(select(sites.c.name).order_by(sites.c.id)))


def known_site(connection: Connection, name: str) -> int:
    """The id of a site that is there."""
    found: int | None = connection.scalar(select(sites.c.id).where(sites.c.name == name))
    if found is None:
        others = site_names(connection)
        there = ", ".join(others[:5]) + (", …" if len(others) > 5 else "") if others else "none yet"
        raise CatalogError(f"no site {name!r} in the catalog; there is {there}")
    return found


def locked_site(connection: Connection, name: str) -> int:
    """The id of a site, which is added if needed; others who write about it wait until we are done."""
    if not name.strip() or len(name) > MAX_NAME:
        raise CatalogError(f"the name of a site has 1 to {MAX_NAME} characters, not {name[:30]!r}")
    connection.execute(insert_once(connection, sites).values(name=name, added=now()))
    query = select(sites.c.id).where(sites.c.name == name).with_for_update()
    found: int = connection.scalars(query).one()
    return found


def insert_once(connection: Connection, table: Table) -> Insert:
    """An insert that does nothing where the row is there already."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing()
