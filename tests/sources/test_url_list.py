"""Lists of URLs: each page is fetched once, when somebody reads it."""

from __future__ import annotations

from pathlib import Path

from tests.sources.web_server import HTML, QUICK, Server, write
from untemplate.sources import Skipped, fetch_pages, read_pages


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


def test_urls_in_memory(server: Server) -> None:
    server.answers["/a"] = (200, HTML, b"<p>a")
    pages = fetch_pages([f"{server.url}/a", f"{server.url}/a"], politeness=QUICK)
    assert pages.source == "1 URLs"
    assert [page.html for page in pages] == [b"<p>a"]
