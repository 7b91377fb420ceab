"""From the tables of an older untemplate to those of this one: named steps, each in a transaction.

A new catalog gets the tables as they are now, and all names. An older one gets the steps whose names it does not
have, in order. A name that is not known here was given by a newer untemplate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, inspect, select

from untemplate.catalog.database import Database
from untemplate.catalog.tables import metadata, migrations
from untemplate.errors import CatalogError

__all__ = ["FIRST", "STEPS", "migrate"]

FIRST = "tables of untemplate 0.1"
"""The name that every catalog has."""

STEPS: Mapping[str, Callable[[Connection], None]] = {}
"""What each later name changes in a catalog that does not have it. A name that was released stays, in its place."""

# Any number will do, as long as all who migrate in PostgreSQL lock the same.
_LOCK = 0x756E74656D706C


def migrate(database: Database, create: bool = True) -> None:
    """Make the tables, or bring those of an older untemplate up to date; several may try at a time."""
    with database.read() as connection:
        is_new = not inspect(connection).has_table(migrations.name)
    if is_new:
        with _turn(database) as connection:
            if not inspect(connection).has_table(migrations.name):
                _make(connection, database.name, create)
    with database.read() as connection:
        applied = _applied(connection)
    if unknown := [name for name in applied if name not in (FIRST, *STEPS)]:
        raise CatalogError(
            f"{database.name}: written by a newer untemplate ({unknown[-1]}); upgrade this one"
        )
    for name in [name for name in STEPS if name not in applied]:
        with _turn(database) as connection:
            if name not in _applied(connection):
                STEPS[name](connection)
                _record(connection, name)


def _make(connection: Connection, where: str, create: bool) -> None:
    if not create:
        raise CatalogError(f"{where}: not a catalog; save rules into one with `untemplate rules import`")
    if others := inspect(connection).get_table_names():
        raise CatalogError(f"{where}: holds other tables, such as {others[0]}; give a place of its own")
    metadata.create_all(connection)
    for name in (FIRST, *STEPS):
        _record(connection, name)


@contextmanager
def _turn(database: Database) -> Iterator[Connection]:
    """A transaction that is the only one to change tables; in SQLite a writer is alone anyway."""
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        yield connection


def _applied(connection: Connection) -> list[str]:
    return list(connection.scalars(select(migrations.c.name).order_by(migrations.c.applied)))


def _record(connection: Connection, name: str) -> None:
    connection.execute(insert(migrations).values(name=name, applied=datetime.now(UTC)))
