"""Claims: which process works on a site right now, so that no other fetches or heals it at the same time.

A claim is a row of the catalog, renewed every minute. A process that is killed stops renewing: others take its claims
over after ten minutes, and at once if they run on the same computer and see that it is gone. Clocks of servers that
share a catalog may differ by a few minutes.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, delete, insert, select, update

from untemplate.catalog.database import Database
from untemplate.catalog.site_contents import find_site, lock_site, now
from untemplate.catalog.sql_tables import claims, runs
from untemplate.errors import CatalogError

__all__ = ["SiteClaims", "has_live_claims", "open_claims"]

# Seconds between two renewals. A claim that missed ten of them is of a process that was killed.
RENEWAL_SECONDS = 60.0
MAX_AGE = timedelta(seconds=10 * RENEWAL_SECONDS)


class SiteClaims:
    """The sites that a process works on, for one run of watch or heal. Use `Catalog.claims` to get one."""

    def __init__(self, database: Database, kind: str) -> None:
        """Start without any site.

        Args:
            database: The database of the catalog.
            kind: What is done with the sites: watch or heal.
        """
        self.kind = kind
        self._database = database
        self._token = uuid4().hex
        self._lock = Lock()  # hundreds of threads may claim at once: one connection is enough

    def take(self, site: str, since: datetime | None = None) -> str | None:
        """Claim a site; return None if that worked, or why somebody else has or had it.

        Args:
            site: The name of the site.
            since: Leave the site alone if another process has finished a run of this kind that started since then.
        """
        with self._lock, self._database.write() as connection:
            find_site(connection, site)
            site_id = lock_site(connection, site)
            row = connection.execute(select(claims).where(claims.c.site_id == site_id)).first()
            if row is not None and row.token != self._token and _is_alive(row):
                return f"{row.holder} has been working on it since {row.taken:%H:%M} UTC"
            if since is not None and self._is_done(connection, site_id, since):
                return "another process has done it"
            connection.execute(delete(claims).where(claims.c.site_id == site_id))
            moment = now()
            connection.execute(
                insert(claims).values(
                    site_id=site_id,
                    token=self._token,
                    kind=self.kind,
                    holder=f"process {os.getpid()} on {socket.gethostname()}",
                    computer=_this_computer(),
                    process=os.getpid(),
                    taken=moment,
                    renewed=moment,
                )
            )
        return None

    def _is_done(self, connection: Connection, site_id: int, since: datetime) -> bool:
        is_run = (runs.c.site_id == site_id) & (runs.c.kind == self.kind)
        is_done = (runs.c.started >= since) & runs.c.finished.is_not(None)
        return connection.scalar(select(runs.c.id).where(is_run, is_done).limit(1)) is not None

    def release(self, site: str) -> None:
        """Give a site back. Nothing happens if somebody else has taken it over."""
        with self._database.write() as connection:
            site_id = find_site(connection, site)
            is_mine = (claims.c.site_id == site_id) & (claims.c.token == self._token)
            connection.execute(delete(claims).where(is_mine))

    def release_all(self) -> None:
        """Give all sites back."""
        with self._database.write() as connection:
            connection.execute(delete(claims).where(claims.c.token == self._token))

    def renew(self) -> None:
        """Say that this process is still alive."""
        with self._database.write() as connection:
            connection.execute(update(claims).where(claims.c.token == self._token).values(renewed=now()))


@contextmanager
def open_claims(database: Database, kind: str) -> Iterator[SiteClaims]:
    """Yield claims that are renewed in the background, and given back at the end."""
    site_claims = SiteClaims(database, kind)
    stop = Event()
    heartbeat = Thread(target=_renew_until, args=(site_claims, stop), daemon=True)
    heartbeat.start()
    try:
        yield site_claims
    finally:
        stop.set()
        heartbeat.join()
        site_claims.release_all()


def _renew_until(site_claims: SiteClaims, stop: Event) -> None:
    while not stop.wait(RENEWAL_SECONDS):
        with suppress(CatalogError):  # the database may be back before the claims are too old
            site_claims.renew()


def has_live_claims(connection: Connection, kind: str) -> bool:
    """Return True if any process is still at work on sites of a round."""
    return any(_is_alive(row) for row in connection.execute(select(claims).where(claims.c.kind == kind)))


def _is_alive(claim: Row[Any]) -> bool:
    """Return True if the process with a claim may still work: it renewed it lately, and is not known to be gone."""
    if now() - claim.renewed > MAX_AGE:
        return False
    return claim.computer != _this_computer() or _runs_here(claim.process)


def _this_computer() -> str:
    """Return what tells computers, and containers, apart: several may have the same host name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _runs_here(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # a process of another user
    return True
