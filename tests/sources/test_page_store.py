"""Fetched pages in a file: each is fetched once, also by a later run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.web_server import HTML, QUICK, Server
from untemplate import InputError, PageError
from untemplate.sources import PageStore, read_pages


def test_pages_are_fetched_once(server: Server, tmp_path: Path) -> None:
    server.answers["/a"] = (200, HTML, "<p>Caf\xe9".encode("latin-1"))
    server.answers["/b"] = (200, HTML, b"<p>b")
    path = tmp_path / "new" / "pages.jsonl"
    first = PageStore(path, QUICK)
    assert first.page(f"{server.url}/a", "list#1").text == "<p>Café"
    again = PageStore(path, QUICK)
    page = again.page(f"{server.url}/a", "other")
    assert (page.id, page.text, page.fetched) == ("list#1", "<p>Café", first.page(f"{server.url}/a").fetched)
    again.page(f"{server.url}/b")
    assert server.asked["/a"] == server.asked["/b"] == 1
    assert [page.id for page in read_pages(path)] == ["list#1", f"{server.url}/b"]


def test_an_interrupted_line_is_fetched_again(server: Server, tmp_path: Path) -> None:
    for name in "ab":
        server.answers[f"/{name}"] = (200, HTML, b"<p>" + name.encode())
    path = tmp_path / "pages.jsonl"
    store = PageStore(path, QUICK)
    for name in "ab":
        store.page(f"{server.url}/{name}")
    path.write_bytes(path.read_bytes()[:-20])
    assert PageStore(path, QUICK).page(f"{server.url}/b").text == "<p>b"
    assert (server.asked["/a"], server.asked["/b"]) == (1, 2)
    assert [page.text for page in read_pages(path)] == ["<p>a", "<p>b"]


def test_pages_that_cannot_be_fetched_are_not_kept(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    with pytest.raises(PageError, match="HTTP status 404"):
        PageStore(path, QUICK).page(f"{server.url}/missing")
    assert path.read_bytes() == b""
    with pytest.raises(PageError, match="private address"):
        PageStore().page(f"{server.url}/missing")


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used to keep pages"):
        PageStore(tmp_path)
