"""Rendering: a real Chromium, and servers of this machine whose pages are empty without scripts, or hostile."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import pytest

from tests.sources.web_server import HTML, QUICK, Server, running_web_server, write
from untemplate import InputError, Limits, MissingExtra, PageError, SourceError
from untemplate.browser import find_chromium
from untemplate.sources import Pages, Politeness, fetch, read_pages, render
from untemplate.sources.fetch import Call, Fetcher
from untemplate.sources.render import ResourceLoader

pytest.importorskip("playwright", reason="Playwright is not installed: pip install 'untemplate[render]'")
needs_chromium = pytest.mark.skipif(not find_chromium(), reason="no Chromium: apt-get install chromium")

SCRIPT = {"Content-Type": "text/javascript"}
JSON = {"Content-Type": "application/json"}
PATIENT = Politeness(delay=0.01, retries=1, timeout=20, private=True)
SHORT = Politeness(delay=0.01, retries=0, timeout=3, private=True)

Answer = tuple[int, dict[str, str], bytes]

APP = b"""
fetch("/data" + location.pathname, {headers: {"X-App": "1"}}).then(answer => answer.json()).then(data => {
  document.querySelector("#out").textContent = data.name;
});
"""


def html_page(body: str, **headers: str) -> Answer:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return 200, HTML | names, f"<!DOCTYPE html><title>t</title><p id=out></p>{body}".encode()


def script_page(code: str) -> Answer:
    """A page whose script says `out(text)` to write into the page."""
    out = "const out = text => document.querySelector('#out').textContent += text;"
    return html_page(f"<script>{out} {code}</script>")


def rendered(listing: Path, server: Server, *paths: str, politeness: Politeness = PATIENT) -> Pages:
    return read_pages(write(listing, server, *paths), politeness=politeness, render=True)


def texts(pages: Pages) -> list[str]:
    return [page.tree.findtext(".//p[@id='out']") or "" for page in pages]


@needs_chromium
def test_a_site_that_is_empty_without_scripts(server: Server, listing: Path) -> None:
    server.answers["/app.js"] = (200, SCRIPT, APP)
    names = [f"Crème {number}" for number in range(6)]
    for number, name in enumerate(names):
        server.answers[f"/{number}"] = html_page("<script src=/app.js></script><img src=/i.png>")
        server.answers[f"/data/{number}"] = (200, JSON, f'{{"name": "{name}"}}'.encode())
    paths = [f"/{number}" for number in range(6)]
    assert texts(read_pages(write(listing, server, *paths), politeness=QUICK)) == [""] * 6
    pages = rendered(listing, server, *paths)
    assert texts(pages) == names
    assert texts(pages) == names  # from the temporary file
    assert {server.asked[path] for path in paths} == {2}
    assert {server.asked[f"/data{path}"] for path in paths} == {1}
    assert server.asked["/app.js"] <= 4  # by the first pages together, then never again
    assert not {"/i.png", "/favicon.ico"} & server.asked.keys()
    first = next(iter(pages))
    assert (first.url, first.charset, pages.skipped.total) == (f"{server.url}/0", "utf-8", 0)
    assert first.html.startswith(b"<!DOCTYPE html><html>")
    assert all(agent.startswith(f"{fetch.AGENT}/") for agent in server.agents)


@needs_chromium
def test_pages_lead_elsewhere_and_keep_cookies(server: Server, listing: Path) -> None:
    server.answers |= {
        "/old": (302, {"Location": "/sub/new"}, b""),
        "/sub/new": html_page("<script src=relative.js></script>", Set_Cookie="session=7; Path=/"),
        "/sub/relative.js": (200, SCRIPT, b"location.href = '/last'"),
        "/last": script_page("out(document.cookie); fetch('/api', {method: 'POST', body: 'b'})"),
        "/api": (200, JSON, b"{}"),
        "/hash": script_page("out(location.hash)"),
        "/refresh": html_page("<meta http-equiv=refresh content='0;url=/last'>"),
    }
    pages = rendered(listing, server, "/old", "/refresh", "/hash#!/part")
    assert (texts(pages), pages.skipped.counts) == (["session=7", "", "#!/part"], {})
    assert server.bodies == [b"b", b"b"]
    assert server.cookies["/sub/relative.js"] == "session=7"


@needs_chromium
def test_a_page_that_leads_to_itself_is_given_up(server: Server, listing: Path) -> None:
    server.answers |= {"/loop": script_page("location.reload()"), "/last": script_page("out('there')")}
    pages = rendered(listing, server, "/loop", "/last")
    assert texts(pages) == ["there"]
    assert pages.skipped.counts == {"more than 5 redirects by script": 1}


@needs_chromium
def test_robots_and_failures_cost_one_page(server: Server, listing: Path) -> None:
    server.answers |= {
        "/robots.txt": (200, {}, b"User-agent: *\nDisallow: /secret"),
        "/page": script_page("fetch('/secret/data').then(() => out('loaded'), () => out('refused'))"),
        "/move": script_page("location.href = '/secret'"),
        "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
    }
    pages = rendered(listing, server, "/secret", "/page", "/move", "/image", "/missing")
    assert texts(pages) == ["refused"]
    assert pages.skipped.counts == {"robots.txt forbids it": 2, "not HTML": 1, "HTTP status 404": 1}
    assert not any(path.startswith("/secret") for path in server.asked)


@needs_chromium
def test_delay_between_pages(server: Server, listing: Path) -> None:
    for name in "abc":
        server.answers[f"/{name}"] = script_page("out(1)")
    politeness = Politeness(delay=0.4, timeout=5, private=True)
    assert texts(rendered(listing, server, "/a", "/b", "/c", politeness=politeness)) == ["1"] * 3
    assert server.times[-1] - server.times[0] >= 1.15  # robots.txt and three pages


@needs_chromium
def test_hostile_pages_do_not_stop_the_others(
    server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "ANSWER_SECONDS", 3.0)  # an endless script keeps its core busy all the while
    server.answers |= {
        "/endless": script_page("while (true) {}"),
        "/alert": script_page("for (let i = 0; i < 3; i++) alert(1); if (!confirm('?')) out('done')"),
        "/alerts": script_page("while (true) alert(1)"),
        "/popup": script_page("for (let i = 0; i < 5; i++) window.open('/other'); out('done')"),
        "/download": script_page(
            "const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x']));"
            "a.download = 'x.exe'; document.body.append(a); a.click(); location.href = '/x.zip'"
        ),
        "/x.zip": (200, {"Content-Type": "application/zip"}, b"PK"),
        "/frames": html_page(
            "<iframe src=/other></iframe><object data=/other></object><script>onbeforeunload"
            " = () => 'stay'; document.querySelector('#out').textContent = 'done'</script>"
        ),
        "/poll": script_page("out('done'); setInterval(() => fetch('/data'), 50)"),
        "/worker": script_page("navigator.serviceWorker?.register('/sw.js').catch(() => 0); out('done')"),
        "/replaced": script_page(
            "out('done'); Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'fake'})"
        ),
        "/last": script_page("out('done')"),
    }
    good = ["/alert", "/popup", "/frames", "/poll", "/worker", "/replaced", "/last"]
    pages = rendered(listing, server, "/endless", "/alerts", "/download", *good, politeness=SHORT)
    assert texts(pages) == ["done"] * len(good)
    assert pages.skipped.counts == {"scripts did not end within 3 s": 2, "not HTML": 1}
    assert not {"/other", "/sw.js"} & server.asked.keys()


@needs_chromium
def test_private_addresses_are_refused(
    server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site counts as public; another server of this machine does not, however a page asks for it."""
    monkeypatch.setattr(fetch, "is_public", lambda address: address == "127.0.0.1")
    with (
        running_web_server("127.0.0.2") as private,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets,
    ):
        packets.bind(("127.0.0.2", 0))
        packets.setblocking(False)
        host = f"127.0.0.2:{private.server_port}"
        ways = f"""
            const tries = [fetch("http://{host}/a"), fetch("/away"), import("http://{host}/b.js"),
              fetch("file:///etc/hostname")];
            new WebSocket("ws://{host}/c").onerror = () => 0;
            new EventSource("http://{host}/d");
            navigator.sendBeacon("http://{host}/e", "x");
            new Image().src = "http://{host}/f.png";
            document.head.insertAdjacentHTML("beforeend", `<link rel=preconnect href="http://{host}">
              <link rel=prefetch href="http://{host}/g"><link rel=stylesheet href="http://{host}/h.css">
              <style>@import "http://{host}/i.css"; @font-face {{font-family: f; src: url(http://{host}/j)}}
              p {{font-family: f}}</style>`);
            new Worker(URL.createObjectURL(new Blob(['importScripts("http://{host}/k.js")'])));
            const stun = "stun:127.0.0.2:{packets.getsockname()[1]}";
            const peer = new RTCPeerConnection({{iceServers: [{{urls: stun}}]}});
            peer.createDataChannel("x");
            peer.createOffer().then(offer => peer.setLocalDescription(offer));
            Promise.allSettled(tries).then(all => out(all.map(one => one.status).join()));
        """
        server.answers |= {
            "/ways": script_page(ways),
            "/away": (302, {"Location": f"http://{host}/l"}, b""),
            "/move": script_page(f"location.href = 'http://{host}/m'"),
        }
        politeness = Politeness(delay=0.01, retries=0, timeout=5)
        pages = rendered(listing, server, "/ways", "/away", "/move", politeness=politeness)
        assert texts(pages) == ["rejected,rejected,rejected,rejected"]
        assert pages.skipped.counts == {"robots.txt cannot be read: host is at a private address": 2}
        assert not private.asked
        with pytest.raises(BlockingIOError):
            packets.recv(100)


@needs_chromium
def test_limits(server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MAX_REQUESTS", 3)
    many = """Promise.allSettled([1, 2, 3, 4, 5].map(n => fetch("/data?" + n)))
        .then(all => out(all.map(one => one.status)))"""
    server.answers |= {
        "/grow": script_page("out('x'.repeat(200000))"),
        "/many": script_page(many),
        "/slow": html_page("<script src=/drip></script><script>out.textContent = 'done'</script>"),
    }
    urls = write(listing, server, "/grow", "/many", "/slow")
    monkeypatch.setattr(render, "LOADING_SECONDS", 3.0)
    grown, *others = read_pages(urls, politeness=PATIENT, render=True, limits=Limits(bytes=50_000))
    assert len(grown.html) == 50_001
    assert [page.tree.findtext(".//p") for page in others] == [
        "fulfilled,fulfilled,fulfilled,rejected,rejected",
        "done",
    ]


@needs_chromium
def test_chromium_ends_with_the_pages(server: Server, listing: Path) -> None:
    server.answers |= {"/a": script_page("out(1)"), "/b": script_page("out(2)")}
    pages = rendered(listing, server, "/a", "/b")
    reader = pages._reader
    assert next(iter(pages)).url.endswith("/a")
    worker = reader._renderer._worker  # type: ignore[attr-defined]
    assert worker._thread.is_alive()
    del pages, reader
    assert not worker._thread.is_alive()


@needs_chromium
def test_a_browser_that_dies_is_started_again(server: Server, listing: Path) -> None:
    server.answers |= {f"/{number}": script_page("out(1)") for number in range(8)}
    pages = rendered(listing, server, *(f"/{number}" for number in range(8)))
    stream = iter(pages)
    next(stream)
    worker = pages._reader._renderer._worker  # type: ignore[attr-defined]
    worker._run(worker._browser.close()).result(10)
    assert len(list(stream)) >= 3
    assert all(reason.startswith("Chromium failed") for reason in pages.skipped.counts)


def test_only_urls_are_rendered(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>a")
    with pytest.raises(SourceError, match="only pages of a text file of URLs can be rendered"):
        read_pages(tmp_path, render=True)


def test_without_chromium_it_says_what_to_install(listing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing.write_text("http://shop.example/")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="apt-get install chromium"):
        read_pages(listing, render=True)


def test_without_playwright_it_names_the_extra(listing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing.write_text("http://shop.example/")
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(MissingExtra, match=r"untemplate\[render\]"):
        read_pages(listing, render=True)


def load(loader: ResourceLoader, url: str, cached: bool = True) -> bytes:
    return asyncio.run(loader.load(url, Call(), cached))[1]


def test_scripts_are_loaded_once_while_there_is_room(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MAX_CACHED_BYTES", 250)
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
