"""Runs both servers, the pages' and the frames', on this machine only."""

from __future__ import annotations

import asyncio
import getpass
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from time import sleep

from untemplate.catalog import Catalog
from untemplate.errors import InputError, MissingExtra
from untemplate.web.sites import Desk

try:
    import uvicorn

    from untemplate.web.app import make_app
    from untemplate.web.frame import frame_app
    from untemplate.web.guard import Guard, hosts
except ImportError as error:
    raise MissingExtra("web", "The web interface") from error

__all__ = ["Running", "run", "running"]

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Running:
    """A server that runs."""

    url: str  # with the token
    origin: str
    token: str
    desk: Desk


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Servers:
    """Both servers over one desk, on ports that are taken when this is made."""

    def __init__(self, catalog: Catalog, port: int) -> None:
        token, secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._sockets = (_listen(port), _listen(0))
        own, other = (taken.getsockname()[1] for taken in self._sockets)
        origin, frame = f"http://{HOST}:{own}", f"http://{HOST}:{other}"
        desk = Desk(catalog, getpass.getuser(), f"{frame}/{secret}")
        self.running = Running(f"{origin}/?token={token}", origin, token, desk)
        apps = (
            Guard(make_app(desk), token, hosts(own), frame),
            frame_app(desk, secret, origin),
        )
        self._servers = [
            _Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1))
            for app in apps
        ]

    async def serve(self) -> None:
        pairs = zip(self._servers, self._sockets, strict=True)
        try:
            await asyncio.gather(*(server.serve(sockets=[taken]) for server, taken in pairs))
        finally:
            self.running.desk.jobs.close()

    @property
    def started(self) -> bool:
        return all(server.started for server in self._servers)

    def stop(self) -> None:
        self.running.desk.changes.close()
        for server in self._servers:
            server.should_exit = True


def run(catalog: Catalog, port: int, tell: Callable[[str], None]) -> None:
    """Serve until interrupted; `tell` is given the address when it can be opened."""
    servers = _Servers(catalog, port)

    async def serve() -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows: the interrupt ends us without it
                asyncio.get_running_loop().add_signal_handler(one, servers.stop)
        task = asyncio.create_task(servers.serve())
        while not servers.started and not task.done():
            await asyncio.sleep(0.01)
        tell(servers.running.url)
        await task

    asyncio.run(serve())


@contextmanager
def running(catalog: Catalog) -> Iterator[Running]:
    """Serve in a thread while the block runs, on any free ports."""
    servers = _Servers(catalog, 0)
    thread = Thread(target=lambda: asyncio.run(servers.serve()), daemon=True)
    thread.start()
    while not servers.started:
        sleep(0.01)
    try:
        yield servers.running
    finally:
        servers.stop()
        thread.join()


def _listen(port: int) -> socket.socket:
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((HOST, port))
    except OSError as error:
        taken.close()
        raise InputError(f"port {port} cannot be used: {error.strerror}; give another --port") from error
    return taken
