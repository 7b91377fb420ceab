"""Fetching, against a real server on this machine."""

from __future__ import annotations

import gzip
import shutil
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from untemplate import Limits, PageError, SourceError
from untemplate.sources import Politeness, Skipped, fetch, read_pages
from untemplate.sources.fetch import AGENT, allowed_addresses, is_public

HTML = {"Content-Type": "text/html; charset=windows-1252"}
QUICK = Politeness(delay=0.01, retries=2, timeout=2, private=True)


class Server(ThreadingHTTPServer):
    """Answers from `answers` (path → status, headers, body), and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: Counter[str] = Counter()
        self.times: list[float] = []
        self.agents: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.asked[self.path] += 1
        server.times.append(time.monotonic())
        server.agents.add(self.headers["User-Agent"])
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


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def listing(tmp_path: Path, server: Server) -> Path:
    return tmp_path / "urls.txt"


def write(listing: Path, server: Server, *paths: str) -> Path:
    listing.write_text("# my pages\n\n" + "".join(f"{server.url}{path}\n" for path in paths))
    return listing


def test_pages_with_charset_and_time(server: Server, listing: Path) -> None:
    server.answers["/a?b=ü".replace("ü", "%C3%BC")] = (200, HTML, b"<p>caf\xe9")
    pages = read_pages(write(listing, server, "/a?b=ü", "/missing", "/a?b=ü"), politeness=QUICK)
    (page,) = pages
    assert page.url == page.id == f"{server.url}/a?b=ü"
    assert page.text == "<p>café"
    assert page.charset == "windows-1252"
    assert page.fetched is not None
    assert page.fetched.tzinfo is not None
    assert pages.skipped.counts == {"HTTP status 404": 1}
    assert pages.total == 2
    assert all(agent.startswith(f"{AGENT}/") for agent in server.agents)


def test_fetched_once_however_often_read(server: Server, listing: Path) -> None:
    for name in "abc":
        server.answers[f"/{name}"] = (200, HTML, name.encode() * 5000)
    pages = read_pages(write(listing, server, "/a", "/missing", "/b", "/c"), politeness=QUICK)
    next(iter(pages))
    first = [page.html for page in pages]
    assert first == [page.html for page in pages]
    assert first == [b"a" * 5000, b"b" * 5000, b"c" * 5000]
    assert pages.skipped.total == 1
    assert set(server.asked.values()) == {1}


def test_parts_are_fetched_when_they_are_read(server: Server, listing: Path) -> None:
    paths = [f"/{n}" for n in range(20)]
    for path in paths:
        server.answers[path] = (200, HTML, b"<p>" + path.encode())
    pages = read_pages(write(listing, server, *paths), politeness=QUICK)
    parts = list(pages.parts(100) or ())
    assert [part.portable for part in parts] == [False] * 3
    found = [page.html for part in parts[1:] for page in part.reader.read(Skipped())]
    assert found == [b"<p>" + path.encode() for path in paths[8:]]
    assert set(server.asked) == {"/robots.txt", *paths[8:]}


def test_robots(server: Server, listing: Path) -> None:
    server.answers["/robots.txt"] = (
        200,
        {"Content-Type": "text/plain"},
        b"User-agent: *\nDisallow: /*secret$",
    )
    server.answers["/open"] = server.answers["/my-secret"] = (200, HTML, b"<p>")
    server.answers["/moved"] = (302, {"Location": "/my-secret"}, b"")
    pages = read_pages(write(listing, server, "/open", "/my-secret", "/moved"), politeness=QUICK)
    assert [page.url for page in pages] == [f"{server.url}/open"]
    assert pages.skipped.counts == {"robots.txt forbids it": 2}
    assert "/my-secret" not in server.asked
    assert server.asked["/robots.txt"] == 1


def test_robots_that_cannot_be_read_forbids_all(server: Server, listing: Path) -> None:
    server.answers |= {"/robots.txt": (500, {}, b""), "/a": (200, HTML, b"<p>")}
    with pytest.raises(SourceError, match=r"robots\.txt cannot be read: HTTP status 500"):
        list(read_pages(write(listing, server, "/a"), politeness=QUICK))
    assert server.asked == {"/robots.txt": 3}


def test_robots_delay(server: Server, listing: Path) -> None:
    server.answers |= {
        "/robots.txt": (200, {}, b"User-agent: *\nCrawl-delay: 0.3"),
        "/a": (200, HTML, b"<p>"),
    }
    list(read_pages(write(listing, server, "/a", "/b"), politeness=QUICK))
    assert all(
        later - earlier >= 0.29 for earlier, later in zip(server.times, server.times[1:], strict=False)
    )


def test_robots_that_asks_too_much(server: Server, listing: Path) -> None:
    server.answers["/robots.txt"] = (200, {}, b"User-agent: untemplate\nCrawl-delay: 86400")
    with pytest.raises(SourceError, match="asks to wait longer"):
        list(read_pages(write(listing, server, "/a"), politeness=QUICK))


def test_delay(server: Server, listing: Path) -> None:
    server.answers["/a"] = (200, HTML, b"<p>")
    politeness = Politeness(delay=0.2, timeout=2, private=True)
    list(read_pages(write(listing, server, "/a", "/b", "/c"), politeness=politeness))
    assert len(server.times) == 4
    assert server.times[-1] - server.times[0] >= 0.59


def test_retries(server: Server, listing: Path) -> None:
    server.answers |= {"/moody": (200, HTML, b"<p>now"), "/down": (503, {}, b"")}
    pages = read_pages(write(listing, server, "/moody", "/down"), politeness=QUICK)
    assert [page.html for page in pages] == [b"<p>now"]
    assert server.asked["/down"] == 3
    assert pages.skipped.counts == {"HTTP status 503": 1}


def test_a_wait_that_is_too_long_is_not_made(server: Server, listing: Path) -> None:
    server.answers |= {"/a": (200, HTML, b"<p>"), "/busy": (429, {"Retry-After": "3600"}, b"")}
    list(read_pages(write(listing, server, "/a", "/busy"), politeness=QUICK))
    assert server.asked["/busy"] == 1


def test_redirects(server: Server, listing: Path) -> None:
    server.answers |= {
        "/old": (301, {"Location": "new"}, b""),
        "/new": (200, HTML, b"<p>new"),
        "/loop": (302, {"Location": "/loop"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    }
    pages = read_pages(write(listing, server, "/old", "/loop", "/file"), politeness=QUICK)
    assert [(page.url, page.html) for page in pages] == [(f"{server.url}/old", b"<p>new")]
    assert pages.skipped.counts == {"more than 5 redirects": 1, "not a web address": 1}


def test_limits(server: Server, listing: Path) -> None:
    body = gzip.compress(b"<p>" + b"x" * 1_000_000)
    server.answers |= {
        "/big": (200, HTML, b"<p>" + b"x" * 1_000_000),
        "/bomb": (200, HTML | {"Content-Encoding": "gzip"}, body),
        "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
        "/cut": (200, HTML | {"Content-Length": "1000"}, b"<p>"),
    }
    limits = Limits(bytes=50_000)
    paths = ("/big", "/bomb", "/image", "/cut")
    pages = read_pages(write(listing, server, *paths), politeness=QUICK, limits=limits)
    assert [len(page.html) for page in pages] == [50_001, 50_001]
    assert pages.skipped.counts == {"not HTML": 1, "answer is cut short": 1}


def test_a_server_that_drips_is_left(server: Server, listing: Path) -> None:
    server.answers["/a"] = (200, HTML, b"<p>")
    politeness = Politeness(delay=0.01, retries=0, timeout=0.5, private=True)
    pages = read_pages(write(listing, server, "/a", "/drip"), politeness=politeness)
    started = time.monotonic()
    assert len(list(pages)) == 1
    assert time.monotonic() - started < 3
    assert pages.skipped.counts == {"no answer within 0.5 s": 1}


def test_private_addresses_are_refused(server: Server, listing: Path) -> None:
    with pytest.raises(SourceError, match="host is at a private address"):
        list(read_pages(write(listing, server, "/a"), politeness=Politeness(delay=0, retries=0)))
    assert not server.asked


def test_a_name_is_no_way_around() -> None:
    with pytest.raises(PageError, match="private address"):
        allowed_addresses("localhost", 80, private=False)


def test_the_checked_address_is_the_one_connected_to(
    server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that gives a private address the second time is not asked a second time."""
    asked = []

    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(fetch, "getaddrinfo", resolve)
    server.answers["/a"] = (200, HTML, b"<p>a")
    listing.write_text(f"http://shop.test:{server.server_port}/a")
    pages = read_pages(listing, politeness=QUICK)
    assert [page.html for page in pages] == [b"<p>a"]
    assert asked == ["shop.test", "shop.test"]  # for robots.txt, and for the page


def test_an_address_that_does_not_answer_is_not_the_last(
    server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = [
        (2, 1, 6, "", ("127.0.0.2", server.server_port)),
        (2, 1, 6, "", ("127.0.0.1", server.server_port)),
    ]
    monkeypatch.setattr(fetch, "getaddrinfo", lambda *_, **__: addresses)
    server.answers["/a"] = (200, HTML, b"<p>a")
    listing.write_text(f"http://shop.test:{server.server_port}/a")
    assert len(list(read_pages(listing, politeness=QUICK))) == 1


def test_a_certificate_of_somebody_else_is_refused(server: Server, listing: Path, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", "/CN=shop.test", "-days", "1", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    listing.write_text(f"{server.url.replace('http', 'https')}/a")
    with pytest.raises(SourceError, match="certificate is not valid"):
        list(read_pages(listing, politeness=QUICK))
    assert not server.asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public
