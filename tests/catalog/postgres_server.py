"""A PostgreSQL server of our own: real, on a socket in a folder that goes with it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

__all__ = ["programs", "serving", "url_of_new_schema"]

# Where Debian keeps what is not for everyone's path.
DEBIAN = Path("/usr/lib/postgresql")
STARTING = 600  # seconds


def programs() -> Path | None:
    """The folder with initdb and postgres; None if there is none."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    return max(DEBIAN.glob("*/bin"), key=lambda path: float(path.parent.name), default=None)


@contextmanager
def serving(programs: Path) -> Iterator[Path]:
    """A server while in use: the folder of its socket. It refuses to be root, so then it is nobody."""
    person = pwd.getpwnam("nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name)
    as_person = (
        {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    )
    with tempfile.TemporaryDirectory(prefix="untemplate-") as folder:
        data = Path(folder, "data")
        os.chown(folder, person.pw_uid, person.pw_gid)
        make = [
            programs / "initdb",
            "-D",
            data,
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "-N",
        ]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **as_person)
        serve = [programs / "postgres", "-D", data, "-k", folder, "-F", "-c", "listen_addresses="]
        with Path(folder, "log").open("wb") as log:
            server = subprocess.Popen(serve, stdout=log, stderr=log, cwd=folder, **as_person)
        try:
            _wait(Path(folder), server)
            yield Path(folder)
        finally:
            server.terminate()
            server.wait()


def _wait(folder: Path, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTING
    while True:
        try:
            psycopg.connect(host=str(folder), user="tester", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError((folder / "log").read_text()) from None
            time.sleep(0.05)


def url_of_new_schema(folder: Path, name: str) -> str:
    """A place of its own in the server's database."""
    with psycopg.connect(host=str(folder), user="tester", dbname="postgres") as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"postgresql://tester@/postgres?host={quote(str(folder), safe='')}&options=-csearch_path%3D{name}"
