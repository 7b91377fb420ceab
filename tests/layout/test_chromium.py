"""Boxes from the system's Chromium: exact, safe from what pages do, and close to the estimate."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from benchmarks.measure.layout import compare, texts
from untemplate import InputError, MissingExtra, Page
from untemplate.browser import find_chromium
from untemplate.demo import make_site
from untemplate.layout import ChromiumLayout, EstimatedLayout
from untemplate.layout.chromium import MAX_ELEMENTS, marked_html, read_boxes
from untemplate.sources.assets import NO_ASSETS, FolderAssets

pytest.importorskip("playwright", reason="Playwright is not installed: pip install 'untemplate[render]'")
needs_chromium = pytest.mark.skipif(not find_chromium(), reason="no Chromium: apt-get install chromium")

HTML = """<!DOCTYPE html><body style="margin: 0"><style>.far {position: absolute; left: 700px; top: 50px}</style>
<h1>Name</h1><p>one <b>two</b><!-- parts texts -->three</p><img src="i.png" width="30" height="20">
<div class="far">far</div><p style="display: none">hidden</p><noscript>no script</noscript></body>"""


@pytest.fixture
def requested() -> Iterator[list[str]]:
    """A server of this machine, and what it was asked for; the first is where it is."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        paths.append(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield paths
        server.shutdown()
        thread.join()


@needs_chromium
def test_boxes_come_back_to_the_nodes_of_the_page(requested: list[str]) -> None:
    server = requested[0]
    loading = f"""<img src="{server}/a"><link rel=stylesheet href="{server}/b"><style>@import "{server}/c";
    p {{background: url({server}/d)}}</style><iframe src="{server}/e"></iframe><script src="{server}/f"></script>
    <meta http-equiv=refresh content="0;url={server}/g"><body background="{server}/h" onload="document.body.remove()">
    <script>document.write('<h1>written</h1>')</script><p style="background: url({server}/i)">x</p>"""
    broken = "<table>moved<tr><td>cell</td></tr>too</table><b><p>1<b>2</b></p>"
    pages = [Page(html=html) for html in (HTML, loading, broken, "")]
    first, second, third, bad = ChromiumLayout().boxes(pages)

    boxes = {node.text: first.node(node) for node in pages[0].nodes if node.is_text}
    assert boxes["far"][:2] == (700, 50)
    assert boxes["Name"].x == boxes["one"].x == 0
    assert boxes["one"].x < boxes["two"].x < boxes["three"].x
    assert boxes["hidden"] == (0, 0, 0, 0)
    assert boxes["no script"].height > 0
    looks = {
        element.tag: (first.font_size[row], first.font_weight[row]) for element, row in first.numbers.items()
    }
    assert looks["h1"] == (32, 700)
    assert first.element(pages[0].tree.find(".//img"))[2:] == (30, 20)
    assert [text for text in boxes if not first.visible[first.numbers[_parent(pages[0], text)]]] == ["hidden"]

    assert requested == [server]
    assert second.node(pages[1].nodes[-1]).height > 0
    assert second.visible[second.numbers[pages[1].tree.find(".//p")]]

    assert third.reason is None
    assert all(third.node(node).height > 0 for node in pages[2].nodes)
    assert bad.reason == "page is empty"


def _parent(page: Page, text: str) -> etree._Element:
    return next(node.parent for node in page.nodes if node.text == text)


@needs_chromium
def test_a_page_that_takes_too_long_costs_a_reason_only() -> None:
    slow = Page(html="<div style='column-count: 50'>" * 8 + "<p>x</p>" * 20_000)
    quick = Page(html="<p>x</p>")
    boxes = ChromiumLayout(timeout=0.05).boxes([slow, quick, slow])
    assert boxes[0].reason == boxes[2].reason == "Chromium took too long: a page may take 0.05 seconds"
    assert len(boxes[0].nodes) == 20_000


@needs_chromium
def test_it_can_be_used_where_a_loop_is_running() -> None:
    async def inside() -> None:
        (boxes,) = ChromiumLayout().boxes([Page(html="<p>x")])
        assert boxes.node(boxes.page.nodes[0]).height > 0

    asyncio.run(inside())


def is_in_drawing(element: etree._Element) -> bool:
    """Return True for frames and parts of drawings, of which the estimate knows nothing."""
    return element.tag == "iframe" or any(parent.tag == "svg" for parent in element.iterancestors())


@needs_chromium
def test_the_estimate_agrees() -> None:
    """Floors on made-up sites, whose looks vary; `python -m benchmarks.measure.layout` measures real ones.

    The estimate knows what is hidden, fonts and what is above what. It does not know what is left of what.
    """
    pages = [page for seed in range(4) for page in make_site("restaurant", seed, pages=3).pages]
    pairs = list(zip(EstimatedLayout().boxes(pages), ChromiumLayout().boxes(pages), strict=True))
    measures = [compare(texts(estimated), texts(real)) for estimated, real in pairs]
    assert all(found is not None for found in measures)
    y_order, _, above = np.mean([found for found in measures if found is not None], axis=0)[:3]
    assert y_order > 0.98
    assert above > 0.94
    for estimated, real in pairs:
        has_no_text = np.array(
            [is_in_drawing(element) for element in estimated.page.tree.iter(etree.Element)]
        )
        assert np.array_equal(estimated.visible | has_no_text, real.visible | has_no_text)
        assert estimated.font_size == pytest.approx(real.font_size, abs=0.1)
        assert np.array_equal(estimated.font_weight, real.font_weight)


def test_no_pages_need_no_browser() -> None:
    assert ChromiumLayout("/nowhere/chromium").boxes([]) == []


def test_a_browser_that_does_not_start_is_named() -> None:
    with pytest.raises(InputError, match="/nowhere/chromium"):
        ChromiumLayout("/nowhere/chromium").boxes([Page(html="<p>x")])


def test_without_chromium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="install"):
        ChromiumLayout().boxes([Page(html="<p>x")])


def test_without_playwright_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(MissingExtra, match=r"untemplate\[render\]"):
        ChromiumLayout().boxes([Page(html="<p>x")])


def test_marked_html_leaves_the_page_as_it_is() -> None:
    page = Page(html=HTML)
    before = etree.tostring(page.tree)
    html = marked_html(page, NO_ASSETS)
    assert etree.tostring(page.tree) == before
    marks = [element.get("data-ut") for element in Page(html=html).tree.iter("*")]
    assert marks == [str(number) for number in range(len(marks))]
    assert "i.png" not in html
    assert html.startswith("<!DOCTYPE html>")


def test_chromium_gets_the_style_sheets_that_came_with_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("p {display: none} </style><p>not text</p>")
    html = "<link rel=stylesheet href=a.css><link rel=icon href=i.ico><style>b {color: red}</style><p>x</p>"
    page = Page(html=html, id="page.html")
    marked = marked_html(page, FolderAssets(tmp_path))
    assert "p {display: none}" in marked
    assert "b {color: red}" in marked
    assert "i.ico" not in marked
    assert [node.text for node in Page(html=marked).nodes if node.is_text] == ["x"]


@needs_chromium
def test_chromium_hides_what_saved_style_sheets_hide(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("p {display: none}")
    page = Page(html="<link rel=stylesheet href=a.css><p>x</p><b>y</b>", id="page.html")
    for layout in (ChromiumLayout(assets=FolderAssets(tmp_path)), EstimatedLayout(FolderAssets(tmp_path))):
        (boxes,) = layout.boxes([page])
        hidden, shown = (boxes.numbers[page.tree.find(f".//{tag}")] for tag in "pb")
        assert boxes.visible[[hidden, shown]].tolist() == [False, True]


def test_a_page_with_too_many_elements_is_not_given_to_chromium() -> None:
    page = Page(html="<p>" * (MAX_ELEMENTS + 1))
    (boxes,) = ChromiumLayout("/nowhere/chromium").boxes([page])
    assert boxes.reason is not None
    assert "more than Chromium is given" in boxes.reason


def test_what_is_for_screen_readers_is_not_visible() -> None:
    page = Page(html="<body><p>shown</p><p>one pixel</p><p>far left</p><p>above</p></body>")
    places = {"body": (0, 0, 900, 900), "p": (0, 0, 300, 20)}
    clipped = {3: (5, 5, 1, 1), 4: (-9999, 5, 300, 20), 5: (0, -80, 300, 80)}
    numbered = enumerate(page.tree.iter(etree.Element))
    elements = [
        (number, *clipped.get(number, places.get(element.tag, (0, 0, 0, 0))), 16, 400, 1)
        for number, element in numbered
    ]
    boxes = read_boxes(page, {"elements": elements, "texts": []})
    assert [bool(boxes.visible[boxes.numbers[paragraph]]) for paragraph in page.tree.iter("p")] == [
        *(True, False, False, False)
    ]
