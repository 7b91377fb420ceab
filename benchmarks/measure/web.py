"""From a click to refreshed predictions in the browser, and how responsive a page of 5 MB is.

python -m benchmarks.measure.web                    20 sample pages of 100 KB, 5 attributes; then one page of 5 MB
python -m benchmarks.measure.web --intake 5000      so many pages in a folder: how long until a person can label them

Pages are those of a made-up site, filled up with reviews to the size and the density of real ones: the pages of the
SWDE sites have about 1,000 nodes in 100 KB. Times are taken in the browser: from the click in the page's frame until
the records of all sample pages are drawn anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from playwright.sync_api import Frame, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from untemplate.browser import find_chromium
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.demo import Site, make_site, write_site
from untemplate.page import Page as SourcePage
from untemplate.sources import read_pages
from untemplate.web import RunningServer, add_site, running_server
from untemplate.web.workspace import Workspace

USUAL = 100_000
HUGE = 5_000_000
LABELED_PAGES = 3
FLAGS = ("--disable-gpu", "--no-first-run", "--disable-background-networking")
REVIEW = (
    "the place was lovely and quiet, the food took a long wait, friendly staff, small tables with an old view; we "
    "would bring friends next time. I really liked the actors, a slow second half but a great ending for the price"
)

# The time of the last click in a frame, and when our document has drawn the answer to it.
CLICKED = """() => addEventListener("click", (event) => {
    window.clicked = performance.timeOrigin + event.timeStamp;
}, true)"""
COMPLETED = """() => {
    window.completed = [];
    const now = () => performance.timeOrigin + performance.now();
    new MutationObserver(() => requestAnimationFrame(() => completed.push(now())))
        .observe(document.querySelector(".annotate"), {attributes: true, attributeFilter: ["data-completed"]});
}"""
# The longest time that a document did not draw, from now on.
STALLS = """() => {
    let last = performance.now();
    window.stall = 0;
    const step = (now) => {
        window.stall = Math.max(window.stall, now - last);
        last = now;
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
}"""
FIND = """value => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let best = null;
    while (walker.nextNode()) {
        const node = walker.currentNode, start = node.data.indexOf(value);
        if (start < 0 || (best && best.node.data.trim().length <= node.data.trim().length)) continue;
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, start + value.length);
        if (range.getBoundingClientRect().width > 1) best = {node, range};
    }
    const box = best.range.getBoundingClientRect();
    if (box.top < 0 || box.bottom > innerHeight) scrollTo(0, scrollY + box.top - innerHeight / 2);
    const {left, right, top, bottom} = best.range.getBoundingClientRect();
    return {left, right, middle: (top + bottom) / 2};
}"""


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.web", description=summary)
    parser.add_argument("--intake", type=int, help="only add a site of so many pages")
    options = parser.parse_args(arguments)
    if options.intake:
        _report_intake(options.intake)
        return 0
    # People have a window, and a browser that gives the page a process of its own.
    executable = shutil.which("chromium") or find_chromium()
    if executable is None:
        print("skipped: no Chromium; scripts/system-packages installs it")
        return 0
    site = make_site("movie", seed=3, pages=80)
    pages = [_filled(page, USUAL) for page in site.pages if page.id in site.truth]
    pages.append(_filled(pages.pop(), HUGE))
    with (
        TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        Catalog.open(Path(folder) / "c.db") as catalog,
    ):
        source = read_pages(pages)
        add_site(catalog, "site", cluster(source), site.schema, source, {})
        browser = playwright.chromium.launch(
            executable_path=executable, args=FLAGS, chromium_sandbox=os.geteuid() != 0
        )
        with running_server(catalog) as server:
            window = browser.new_page(viewport={"width": 1280, "height": 800})
            person = _Person(window, server, site)
            _report_usual(person, catalog)
            _report_huge(person, pages[-1])
        browser.close()
    return 0


def _report_intake(count: int) -> None:
    """Print how long it takes to add a folder of pages, and to open the first template."""
    site = make_site("movie", seed=3, pages=count)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_site(site, folder / "site")
        size = sum(len(page.html) for page in site.pages) / len(site.pages)
        with Catalog.open(folder / "c.db") as catalog:
            start, cpu = perf_counter(), process_time()
            source = read_pages(folder / "site")
            add_site(catalog, "site", cluster(source), site.schema, source, {})
            added = perf_counter() - start
            opened = Workspace(catalog, "me", "").site("site")
            opened.session(next(iter(opened.pages)))
            ready, work = perf_counter() - start, process_time() - cpu
    print(
        f"{len(site.pages):,} pages of {size / 1000:.0f} KB: added after {added:.1f} s, ready to label after "
        f"{ready:.1f} s; {work:.1f} s of CPU time; to reach: 15 s for 5,000 pages"
    )


def _filled(page: SourcePage, size: int) -> SourcePage:
    """The page, with reviews before its end until it is so large."""
    rng, words = Random(page.id), REVIEW.split()
    blocks, length = [], len(page.html)
    while length < size:
        text = " ".join(rng.choices(words, k=28))
        block = f'<div class="rv"><b>{rng.choice(words)} {rng.randrange(9999)}</b><p>{text}</p></div>\n'
        blocks.append(block)
        length += len(block)
    filler = "".join(blocks).encode()
    head, body, tail = page.html.rpartition(b"</body>")
    return SourcePage(page.url, head + filler + body + tail, page.id, charset=page.charset)


class _Person:
    """Labels pages with their truth, and takes the times."""

    def __init__(self, window: Page, server: RunningServer, site: Site) -> None:
        self.window = window
        self.server = server
        self.site = site
        self.work: list[float] = []  # seconds of CPU time of this process, where the server runs, per label
        window.goto(server.url)

    def open(self, page: str) -> float:
        """Show a page; the seconds that took."""
        start = self.window.evaluate("performance.now()")
        known = self.window.locator(".annotate")
        before = int(known.get_attribute("data-completed") or 0) if known.count() else 0
        self.window.evaluate(
            "page => { location.hash = `#/annotate?page=${encodeURIComponent(page)}` }", page
        )
        self.window.wait_for_function(
            "before => Number(document.querySelector('.annotate')?.dataset.completed) > before",
            arg=before,
            timeout=120_000,
        )
        took: float = self.window.evaluate("start => performance.now() - start", start)
        self.frame.evaluate(CLICKED)
        if not before:
            self.window.evaluate(COMPLETED)
        return took / 1000

    @property
    def frame(self) -> Frame:
        [frame] = [frame for frame in self.window.frames if frame.parent_frame]
        return frame

    def label(self, attribute: str, value: str) -> float:
        """Seconds from the click, or the end of the drag, until all records are drawn anew."""
        self.window.locator(".chip .name").filter(has_text=attribute).click()
        box = self.frame.evaluate(FIND, value)
        held = self.window.locator(".frame iframe").bounding_box()
        assert held
        mouse, y = self.window.mouse, held["y"] + box["middle"]
        mouse.move(held["x"] + box["left"] + 0.5, y)
        mouse.down()
        mouse.move(held["x"] + box["right"] - 0.5, y, steps=2)
        self.frame.evaluate("window.clicked = null")
        before = process_time()
        mouse.up()
        self.frame.wait_for_function("window.clicked", timeout=60_000)
        start: float = self.frame.evaluate("window.clicked")
        later = "start => completed.find((moment) => moment > start)"
        self.window.wait_for_function(later, arg=start, timeout=60_000)
        end: float = self.window.evaluate(later, start)
        self.work.append(process_time() - before)
        self.window.wait_for_timeout(400)  # the person looks at it
        return (end - start) / 1000


def _report_usual(person: _Person, catalog: Catalog) -> None:
    [cluster] = person.server.workspace.site("site").pages.values()
    person.open(cluster[0])
    person.window.wait_for_timeout(3000)  # a person looks at the page first, and the session warms up
    sizes = [len(page.html) for page in catalog.pages("site")]
    times: dict[int, dict[str, list[float]]] = {}
    for number, page in enumerate(cluster[:LABELED_PAGES], 1):
        if number > 1:
            person.open(page)
        rows = times.setdefault(number, {})
        for attribute, values in person.site.truth[page].items():
            for value in values:
                rows.setdefault(attribute, []).append(person.label(attribute, value))
    every = [seconds for rows in times.values() for group in rows.values() for seconds in group]
    table = Table(
        title=f"From click to refreshed predictions: {min(len(sizes), 20)} sample pages "
        f"of {median(sizes) / 1000:.0f} KB, {len(person.site.schema.attributes)} attributes; ms"
    )
    table.add_column("attribute")
    for number in times:
        table.add_column(f"page {number}", justify="right")
    for name in person.site.schema.attributes:
        shown = [
            ", ".join(f"{seconds * 1000:.0f}" for seconds in rows.get(name, [])) for rows in times.values()
        ]
        table.add_row(name, *shown)
    Console().print(table)
    slow = sorted(every)[round(0.9 * (len(every) - 1))]
    print(
        f"{len(every)} labels: median {median(every) * 1000:.0f} ms, 90% within {slow * 1000:.0f} ms, "
        f"slowest {max(every) * 1000:.0f} ms; to reach: 300 ms. CPU time of the server for "
        f"one: median {median(person.work) * 1000:.0f} ms, "
        f"most {max(person.work) * 1000:.0f} ms"
    )


def _report_huge(person: _Person, page: SourcePage) -> None:
    window = person.window
    window.evaluate(STALLS)
    shown = person.open(page.id)
    ours = window.evaluate("window.stall")
    frame, box = person.frame, window.locator(".frame iframe").bounding_box()
    assert box
    window.wait_for_timeout(1000)
    frame.evaluate(STALLS)
    for step in range(60):
        window.mouse.move(box["x"] + 40 + 10 * step, box["y"] + 20 + 5 * step)
        window.wait_for_timeout(16)
    [title] = person.site.truth[page.id]["title"]
    hovering = frame.evaluate("window.stall")
    labels = [person.label("title", title) for _ in range(2)]
    ours = max(ours, window.evaluate("window.stall"))
    print(
        f"A page of {len(page.html) / 1e6:.1f} MB: shown after {shown:.2f} s; the longest pause of our document "
        f"{ours:.0f} ms, of the page while pointing at it {hovering:.0f} ms; the first label on it took "
        f"{labels[0]:.2f} s, the next {labels[1]:.2f} s"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
