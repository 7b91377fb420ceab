"""From page to page of a list, and from its rows to their pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sources.web_server import HTML, QUICK, Server, running_web_server
from untemplate import InputError, follow_lists, follow_rows
from untemplate.sources import PageStore, Skipped


@pytest.fixture
def server() -> Iterator[Server]:
    with running_web_server() as server:
        yield server


def list_html(start: int, following: str) -> bytes:
    items = "".join(
        f"<li><h3><a href='/tea/{n}'>Tea {n}</a></h3><p>from hill {n * n}</p></li>"
        for n in range(start, start + 6)
    )
    return f"<h1>Teas</h1><ul>{items}</ul><a href='{following}'>Next</a>".encode()


@pytest.mark.parametrize("end", ["/teas/0", "http://other.example/", "/missing", "/teas/2", "/copy"])
def test_lists_end(server: Server, end: str) -> None:
    server.answers["/teas/0"] = (200, HTML, list_html(0, "/teas/1"))
    server.answers["/teas/1"] = (200, HTML, list_html(6, "/teas/2"))
    server.answers["/teas/2"] = (200, HTML, list_html(12, end))
    server.answers["/copy"] = (200, HTML, list_html(12, "/teas/4"))
    skipped = Skipped()
    found = list(follow_lists([f"{server.url}/teas/0"], 9, store=PageStore(None, QUICK), skipped=skipped))
    assert [page.url.rpartition("/")[2] for page, _ in found] == ["0", "1", "2"]
    assert [row.values["title"] for _, rows in found for row in rows] == [f"Tea {n}" for n in range(18)]
    assert skipped.total == (end == "/missing")


def test_pages_of_rows_know_their_rows(server: Server) -> None:
    server.answers["/teas/0"] = (200, HTML, list_html(0, "/teas/1"))
    for number in (0, 1, 4):
        server.answers[f"/tea/{number}"] = (200, HTML, f"<h1>Tea {number}</h1>".encode())
    store, skipped = PageStore(None, QUICK), Skipped()
    lists = list(follow_lists([f"{server.url}/teas/0"], store=store))
    pages = list(follow_rows([*lists, *lists], store=store, skipped=skipped))
    assert [page.id for page in pages] == [f"{server.url}/teas/0#{row}" for row in (1, 2, 5)]
    assert skipped.counts == {"HTTP status 404": 3}
    with pytest.raises(
        InputError, match="no row has an address in a column 'title'; the columns are url, title"
    ):
        list(follow_rows(lists, "title", store=store))
