"""What pages load besides their HTML; `test_render.py` has the rest, in a real browser."""

from __future__ import annotations

import asyncio

import pytest

from tests.sources.web_server import QUICK, Server
from untemplate import PageError
from untemplate.sources import tab
from untemplate.sources.fetch import Call, Fetcher
from untemplate.sources.tab import ResourceLoader


def load(loader: ResourceLoader, url: str, cached: bool = True) -> bytes:
    return asyncio.run(loader.load(url, Call(), cached))[1]


def test_scripts_are_loaded_once_while_there_is_room(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab, "MAX_CACHED_BYTES", 250)
    server.answers = {f"/{name}.js": (200, {}, name.encode() * 100) for name in "abc"}
    loader = ResourceLoader(Fetcher(QUICK, 1000), 1000)
    for name in "aabbcca":
        assert load(loader, f"{server.url}/{name}.js") == name.encode() * 100
    loader.close()
    assert server.asked == {"/robots.txt": 1, "/a.js": 2, "/b.js": 1, "/c.js": 1}


def test_data_is_loaded_each_time_and_within_the_limit(server: Server) -> None:
    server.answers["/data"] = (200, {}, b"x" * 5000)
    loader = ResourceLoader(Fetcher(QUICK, 1000), 1000)
    assert [load(loader, f"{server.url}/data", cached=False) for _ in range(2)] == [b"x" * 1000] * 2
    assert server.asked["/data"] == 2
    with pytest.raises(PageError, match="not a web address"):
        load(loader, "file:///etc/hostname")
    loader.close()


def test_redirects_turn_a_post_into_a_get_as_in_browsers(server: Server) -> None:
    server.answers |= {
        "/form": (303, {"Location": "/done"}, b""),
        "/again": (307, {"Location": "/done"}, b""),
        "/done": (200, {}, b"ok"),
    }
    fetcher = Fetcher(QUICK, 1000)
    for path in ("/form", "/again"):
        assert fetcher.load(f"{server.url}{path}", Call("POST", {}, b"x"), 100, 5).body == b"ok"
    assert server.bodies == [b"x", b"x", b"x"]
