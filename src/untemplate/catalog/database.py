"""Opening a catalog's database: a SQLite file by its path, PostgreSQL by its URL, from then on the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from untemplate.errors import CatalogError, MissingExtra
from untemplate.page import squeeze

__all__ = ["Database"]

# Seconds that a writer waits for another: longer than any of our transactions takes.
BUSY = 60

_URL = re.compile(r"\w[\w+]*://")


class Database:
    """A database in which every read sees one moment, and every write happens whole or not at all."""

    def __init__(self, where: str | os.PathLike[str]) -> None:
        """`where` is the path of a SQLite file, or a URL such as `postgresql://user@host/database`."""
        text = os.fspath(where)
        #: the file of a SQLite database
        self.file = None if _URL.match(text) else Path(text)
        if self.file:
            #: what errors call it; passwords are left out
            self.name = text
            self._engine = _sqlite_engine(text)
        else:
            url = _postgres_url(text)
            self.name = _shown(url)
            self._engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
        self._reading = {} if self.file else {"isolation_level": "REPEATABLE READ"}

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self._named_errors(), self._engine.connect() as connection:
            yield connection.execution_options(**self._reading)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write; an error undoes all of it."""
        with self._named_errors(), self._engine.connect() as connection:
            connection = connection.execution_options(writes=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, OverflowError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise CatalogError(f"{self.name}: the catalog cannot be used: {squeeze(str(cause))}") from error


def _postgres_url(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # which would tell the password
        raise CatalogError("not the URL of a catalog; expected postgresql://user@host/database") from None
    if url.drivername not in ("postgresql", "postgres"):
        raise CatalogError(
            f"{_shown(url)}: a catalog is a SQLite file, or at postgresql://user@host/database"
        )
    if find_spec("psycopg") is None:
        raise MissingExtra("postgres", "A catalog in PostgreSQL")
    return url


def _shown(url: URL) -> str:
    return url.set(query={}).render_as_string()


def _sqlite_engine(path: str) -> Engine:
    if not path:
        raise CatalogError("the catalog needs a file name, such as untemplate.db")
    url = URL.create("sqlite", database=path)
    engine = create_engine(url, connect_args={"timeout": BUSY, "isolation_level": None})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")  # readers and a writer do not wait for each other
        # A commit is on the disk when it is reported: there are few of them, and a person's labels may be among them.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes its turn at once: one that has read first could not wait for another.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
