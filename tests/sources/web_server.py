"""A real server of this machine, for tests that fetch pages."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from untemplate.sources import Politeness

HTML = {"Content-Type": "text/html; charset=windows-1252"}
QUICK = Politeness(delay=0.01, retries=2, timeout=30, private=True)


class Server(ThreadingHTTPServer):
    """Answers from `answers` (path → status, headers, body), and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, address: str) -> None:
        super().__init__((address, 0), Handler)
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: Counter[str] = Counter()
        self.times: list[float] = []
        self.agents: set[str] = set()
        self.cookies: dict[str, str | None] = {}  # by path
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.do_GET()

    def do_GET(self) -> None:
        server = self.server
        server.asked[self.path] += 1
        server.times.append(time.monotonic())
        server.agents.add(self.headers["User-Agent"])
        server.cookies[self.path] = self.headers["Cookie"]
        if self.path == "/drip":
            self.drip()
            return
        if self.path == "/moody" and server.asked[self.path] < 3:
            self.answer(503, {"Retry-After": "0"}, b"later")
            return
        self.answer(*server.answers.get(self.path, (404, HTML, b"none")))

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def drip(self) -> None:
        try:
            for _ in range(100):
                self.wfile.write(b"H")
                time.sleep(0.1)
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running_web_server(address: str = "127.0.0.1") -> Iterator[Server]:
    """Run a server until the block ends."""
    with Server(address) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def write(listing: Path, server: Server, *paths: str) -> Path:
    """Write a list of URLs of the server."""
    listing.write_text("# my pages\n\n" + "".join(f"{server.url}{path}\n" for path in paths))
    return listing
