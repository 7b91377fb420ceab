"""Lists of URLs: each page is fetched once, when somebody reads it; many hosts at once, each as politely as alone."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.sources.web_server import HTML, QUICK, Server, running_web_server, write
from untemplate import SourceError
from untemplate.sources import Politeness, Skipped, fetch_groups, fetch_pages, read_pages

DELAYED = Politeness(delay=0.1, retries=0, timeout=5, private=True)


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


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "urls.txt.gz"
    path.write_bytes(gzip.compress(b"http://a.example/" + b"a" * 10_000_000))
    with pytest.raises(SourceError, match=r"1 × not a web address \(a line that is too long for a URL"):
        list(read_pages(path, politeness=QUICK))


def test_urls_in_memory(server: Server) -> None:
    server.answers["/a"] = (200, HTML, b"<p>a")
    pages = fetch_pages([f"{server.url}/a", f"{server.url}/a"], politeness=QUICK)
    assert pages.source == "1 URLs"
    assert [page.html for page in pages] == [b"<p>a"]


def test_hosts_are_fetched_in_parallel_and_politely() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(running_web_server(f"127.0.0.{number}")) for number in range(2, 8)]
        for server in servers:
            server.answers = {f"/{n}": (200, HTML, b"<p>page %d" % n) for n in range(4)}
        groups = {server.url: [f"{server.url}/{n}" for n in range(4)] for server in servers}
        found = {name: list(pages) for name, pages in fetch_groups(groups, politeness=DELAYED)}
    assert {name: [page.url for page in pages] for name, pages in found.items()} == groups
    assert found[servers[0].url][3].html == b"<p>page 3"
    for server in servers:  # robots.txt, then the pages
        pauses = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
        assert len(pauses) == 4
        assert min(pauses) >= 0.095
    # In parallel: no host waits for another to be finished.
    first_ends = min(server.times[-1] for server in servers)
    assert all(server.times[0] < first_ends for server in servers)


def test_a_host_of_several_groups_gets_one_request_at_a_time() -> None:
    with running_web_server() as server:
        server.answers = {f"/{n}": (200, HTML, b"<p>x") for n in range(4)}
        groups = {
            name: [f"{server.url}/{n}" for n in numbers] for name, numbers in (("a", (0, 1)), ("b", (2, 3)))
        }
        assert sorted(name for name, _ in fetch_groups(groups, politeness=DELAYED)) == ["a", "b"]
        pauses = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
    assert len(pauses) == 4
    assert min(pauses) >= 0.095


def test_a_group_without_pages_says_why() -> None:
    with running_web_server() as server:
        [(name, pages)] = fetch_groups({"gone": [f"{server.url}/gone"]}, politeness=QUICK)
        assert name == "gone"
        with pytest.raises(SourceError, match="HTTP status 404"):
            list(pages)


def test_nothing_to_fetch() -> None:
    assert list(fetch_groups({})) == []


def test_who_stops_early_waits_for_no_host() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(running_web_server(f"127.0.0.{number}")) for number in (2, 3)]
        for server in servers:
            server.answers = {f"/{n}": (200, HTML, b"<p>x") for n in range(50)}
        groups = {"short": [f"{servers[0].url}/0"], "long": [f"{servers[1].url}/{n}" for n in range(50)]}
        fetching = fetch_groups(groups, politeness=DELAYED)
        assert next(fetching)[0] == "short"
        fetching.close()
        assert servers[1].asked.total() < 10
