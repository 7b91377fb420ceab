"""The database of a catalog: a SQLite file by its path, or PostgreSQL by its URL, and the upgrades of its tables.

An upgrade is a named migration in a transaction. A new catalog gets the current tables and the names of all
migrations. An older catalog runs the migrations whose names it lacks, in order. A name that is not listed here was
written by a newer untemplate.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError

from untemplate.catalog.sql_tables import claims, metadata, migrations, rounds, runs
from untemplate.errors import CatalogError, MissingExtra
from untemplate.input_files import shorten
from untemplate.page import squeeze

__all__ = ["FIRST_MIGRATION", "MIGRATIONS", "Database", "migrate"]

FIRST_MIGRATION = "tables of untemplate 0.1"
"""The name that every catalog has."""


def _add_rounds(connection: Connection) -> None:
    """Add what commands over all sites need: how often to watch each, when they ran, and a quick way to last runs."""
    connection.exec_driver_sql("ALTER TABLE sites ADD COLUMN watch_hours FLOAT")
    rounds.create(connection)
    for index in runs.indexes:
        index.create(connection, checkfirst=True)


MIGRATIONS: Mapping[str, Callable[[Connection], None]] = {
    "rounds over all sites": _add_rounds,
    "claims of sites": claims.create,
}
"""Later migrations by name, in order. The name of a released migration never changes."""

# Seconds that a writer waits for another writer: longer than any of our transactions takes.
MAX_WAIT = 60

# An arbitrary number: all processes that migrate a PostgreSQL catalog must lock the same one.
_MIGRATION_LOCK = 0x756E74656D706C

_URL = re.compile(r"\w[\w+]*://")


class Database:
    """A database with transactions: a read sees one consistent state, a write happens completely or not at all."""

    def __init__(self, location: str | os.PathLike[str]) -> None:
        """Connect lazily to a SQLite file by its path, or to a URL such as `postgresql://user@host/database`."""
        text = os.fspath(location)
        #: the file of a SQLite database
        self.file = None if _URL.match(text) else Path(text)
        if self.file:
            #: the location as messages show it, without a password
            self.name = text
            self._engine = _sqlite_engine(text)
        else:
            url = _postgres_url(text)
            self.name = _without_password(url)
            self._engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
        self._read_options = {} if self.file else {"isolation_level": "REPEATABLE READ"}

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        damage = (ValueError, TypeError, LookupError)  # what is read is not what we write
        with self._named_errors(damage), self._engine.connect() as connection:
            yield connection.execution_options(**self._read_options)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that may write. An exception undoes all of it."""
        with self._named_errors((ValueError, TypeError)), self._engine.connect() as connection:
            connection = connection.execution_options(writes=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections; a later transaction connects again."""
        self._engine.dispose()

    @contextmanager
    def _named_errors(self, damage: tuple[type[Exception], ...]) -> Iterator[None]:
        """Turn errors of the driver, and those of damaged rows, into a CatalogError that names the database."""
        try:
            yield
        except (DBAPIError, OverflowError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise CatalogError(f"{self.name}: the catalog cannot be used: {squeeze(str(cause))}") from error
        except damage as error:
            reason = shorten(f"{type(error).__name__}: {error}")
            raise CatalogError(
                f"{self.name}: the catalog is damaged ({reason}); restore a copy of it"
            ) from error


def _postgres_url(text: str) -> URL:
    """Return the URL of a PostgreSQL database; raise CatalogError if it is something else."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # whose message would show the password
        raise CatalogError("not the URL of a catalog; expected postgresql://user@host/database") from None
    if url.drivername not in ("postgresql", "postgres"):
        raise CatalogError(
            f"{_without_password(url)}: a catalog is a SQLite file, or at postgresql://user@host/database"
        )
    if find_spec("psycopg") is None:
        raise MissingExtra("postgres", "Support for PostgreSQL")
    return url


def _without_password(url: URL) -> str:
    return url.set(query={}).render_as_string()


def _sqlite_engine(path: str) -> Engine:
    """Return an engine for a SQLite file, set up for several readers and a writer at a time."""
    if not path:
        raise CatalogError("the catalog needs a file name, such as untemplate.db")
    url = URL.create("sqlite", database=path)
    engine = create_engine(url, connect_args={"timeout": MAX_WAIT, "isolation_level": None})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")  # readers and a writer do not wait for each other
        # A commit is on the disk when it returns. Commits are few, and some contain a person's labels.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer locks at once: a transaction that starts as a reader could not wait for another writer.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def migrate(database: Database, create: bool = True) -> None:
    """Create the tables, or upgrade those of an older untemplate. Several processes may try this at a time.

    Raises:
        CatalogError: The database is empty and `create` is False, contains other tables, or was written by a newer
            untemplate.
    """
    with database.read() as connection:
        is_new = not inspect(connection).has_table(migrations.name)
    if is_new:
        with _migration_lock(database) as connection:
            if not inspect(connection).has_table(migrations.name):
                _create_tables(connection, database.name, create)
    with database.read() as connection:
        applied = _applied_migrations(connection)
    if unknown := [name for name in applied if name not in (FIRST_MIGRATION, *MIGRATIONS)]:
        raise CatalogError(
            f"{database.name}: written by a newer untemplate ({unknown[-1]}); upgrade this one"
        )
    for name in MIGRATIONS:
        if name not in applied:
            _apply_migration(database, name)


def _create_tables(connection: Connection, location: str, create: bool) -> None:
    """Create the tables in an empty database; raise CatalogError if it is not empty or `create` is False."""
    if not create:
        raise CatalogError(f"{location}: not a catalog; save rules into one with `untemplate rules import`")
    if other_tables := inspect(connection).get_table_names():
        raise CatalogError(
            f"{location}: contains other tables, such as {other_tables[0]}; choose another place for the catalog"
        )
    metadata.create_all(connection)
    for name in (FIRST_MIGRATION, *MIGRATIONS):
        _record_migration(connection, name)


def _apply_migration(database: Database, name: str) -> None:
    """Run a migration, unless another process has done so in the meantime."""
    with _migration_lock(database) as connection:
        if name not in _applied_migrations(connection):
            MIGRATIONS[name](connection)
            _record_migration(connection, name)


@contextmanager
def _migration_lock(database: Database) -> Iterator[Connection]:
    """Open a transaction that no other migration runs beside. SQLite has a single writer anyway."""
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        yield connection


def _applied_migrations(connection: Connection) -> list[str]:
    return list(connection.scalars(select(migrations.c.name).order_by(migrations.c.applied)))


def _record_migration(connection: Connection, name: str) -> None:
    connection.execute(insert(migrations).values(name=name, applied=datetime.now(UTC)))
