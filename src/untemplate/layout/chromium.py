"""ChromiumLayout: boxes measured by the system's Chromium, without scripts and without the network."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lxml import etree

from untemplate.errors import InputError, MissingExtra, PageError
from untemplate.layout.boxes import IMAGE, VIEWPORT, Boxes
from untemplate.page import Page, squeeze

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

__all__ = ["ChromiumLayout", "find_chromium"]

# Attribute with the number of each element: Chromium repairs broken markup in its own way.
MARK = "data-ut"
# Chromium would need gigabytes for more.
MAX_ELEMENTS = 100_000
# Seconds that the browser may take to open, and to close before we abandon it.
MAX_OPENING_SECONDS = 60.0
MAX_CLOSING_SECONDS = 5.0

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
# Attributes that would load something. Links stay, since they look different.
_LOADING = ("src", "srcset", "srcdoc", "data", "background", "poster", "http-equiv", "autofocus")
_PLACEHOLDER = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' "
    f"width='{IMAGE[0]:.0f}' height='{IMAGE[1]:.0f}'/%3E"
)
# Characters by which a text is recognized.
TEXT_KEY_LENGTH = 30


def find_chromium() -> str | None:
    """Return the path of the system's Chromium; None if it is not installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@dataclass(frozen=True)
class ChromiumLayout:
    """Measures boxes in the system's Chromium: exact, but some thirty times slower than the estimate.

    Nothing is loaded: style sheets inside the page count, remote ones do not, and images have the size that the page
    gives. Needs the extra `render`.

    Args:
        executable: path of Chromium; by default the system's.
        timeout: seconds that a page may take.
    """

    executable: str | None = None
    timeout: float = 30.0

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Return one Boxes a page; a page that Chromium cannot lay out gets a reason.

        Raises:
            MissingExtra: Playwright is not installed.
            InputError: there is no Chromium, or it does not start.
        """
        try:
            import playwright.async_api  # noqa: F401
        except ImportError as error:
            raise MissingExtra("render", "Layout by Chromium") from error
        executable = self.executable or find_chromium()
        if executable is None:
            raise InputError("Chromium not found. Install it (apt-get install chromium) or pass executable=")
        if not pages:
            return []
        # A thread of its own: an event loop may be running in this one already.
        with ThreadPoolExecutor(1) as thread:
            work = _measure_pages(executable, pages, self.timeout)
            return thread.submit(asyncio.run, work).result()


async def _measure_pages(executable: str, pages: Sequence[Page], timeout: float) -> list[Boxes]:
    """Lay out pages one after the other, in a browser that is replaced if it fails or hangs."""
    from playwright.async_api import Error, async_playwright

    results: list[Boxes] = []
    browser: Browser | None = None
    async with async_playwright() as playwright:
        for page in pages:
            try:
                html = marked_html(page)
                if browser is None:
                    browser = await asyncio.wait_for(_start(playwright, executable), MAX_OPENING_SECONDS)
                measured = await asyncio.wait_for(_measure(browser, html), timeout)
                results.append(read_boxes(page, measured))
                continue
            except PageError as error:
                results.append(Boxes.blank(page, str(error)))
                continue
            except TimeoutError:
                reason = f"Chromium took too long: a page may take {timeout:g} seconds"
            except Error as error:
                reason = f"Chromium failed: {squeeze(error.message)[:200]}"
            results.append(Boxes.blank(page, reason))
            await _leave(browser)
            browser = None
        await _leave(browser)
    return results


async def _start(playwright: Playwright, executable: str) -> Browser:
    """Start the browser with one tab, in which no script runs and nothing is loaded."""
    from playwright.async_api import Error

    try:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to use it as root
            args=list(_ARGUMENTS),
        )
    except Error as error:
        raise InputError(f"{executable} does not start: {squeeze(error.message)[:200]}") from error
    context = await browser.new_context(
        viewport={"width": VIEWPORT, "height": 1024},
        java_script_enabled=False,
        offline=True,
        service_workers="block",
        accept_downloads=False,
    )
    await context.route("**/*", lambda route: route.abort())
    await context.new_page()
    return browser


async def _measure(browser: Browser, html: str) -> Any:
    """Return what measure.js reports about a page."""
    tab = browser.contexts[0].pages[0]
    await tab.set_content(html, timeout=0)
    script = (files("untemplate.layout") / "measure.js").read_text("utf-8")
    return json.loads(await tab.evaluate(script, MARK))


async def _leave(browser: Browser | None) -> None:
    """Close the browser; abandon it if it hangs."""
    from playwright.async_api import Error

    if browser is not None:
        with suppress(TimeoutError, Error):
            await asyncio.wait_for(browser.close(), MAX_CLOSING_SECONDS)


def marked_html(page: Page) -> str:
    """Return the page as we parsed it, with a number on each element and without anything that loads."""
    root = page.tree
    count = int(root.xpath("count(//*)"))
    if count > MAX_ELEMENTS:
        raise PageError(f"page has {count:,} elements, more than Chromium is given ({MAX_ELEMENTS:,})")
    doctype = root.getroottree().docinfo.doctype
    root = deepcopy(root)
    for number, element in enumerate(root.iter(etree.Element)):
        _remove_loading(element)
        element.set(MARK, str(number))
    for comment in root.iter(etree.Comment, etree.ProcessingInstruction):
        comment.text = ""  # the empty comment stays, since it separates texts
    return str(etree.tostring(root, method="html", encoding="unicode", doctype=doctype or None))


def _remove_loading(element: etree._Element) -> None:
    """Remove whatever would load or run something."""
    for name in _LOADING:
        element.attrib.pop(name, None)
    if element.tag in ("base", "link"):
        element.attrib.pop("href", None)
    elif element.tag == "img" or (element.tag == "input" and element.get("type", "").lower() == "image"):
        element.set("src", _PLACEHOLDER)
    elif element.tag == "script":
        element.text = None


def read_boxes(page: Page, measured: Any) -> Boxes:
    """Return the boxes of a page.

    Args:
        page: the page that `marked_html` was made from.
        measured: what measure.js reported about it.
    """
    boxes = Boxes.blank(page)
    for number, *place, size, weight, shown in measured["elements"]:
        if not boxes.visible[number]:  # broken markup makes browsers repeat an element: the first one counts
            boxes.elements[number] = place
            boxes.font_size[number] = size
            boxes.font_weight[number] = weight
            boxes.visible[number] = bool(shown)
    places: defaultdict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for start, number, *place in reversed(measured["texts"]):
        places[_text_key(start), number].append(place)
    boxes.nodes[:] = boxes.elements[boxes.node_elements]
    for row, (node, number) in enumerate(zip(page.nodes, boxes.node_elements.tolist(), strict=True)):
        # A text that the browser moved elsewhere, such as out of a table, keeps the box of its element.
        if node.is_text and (same := places[_text_key(node.text), number]):
            boxes.nodes[row] = same.pop()
    return boxes


def _text_key(text: str) -> str:
    """Return the start of a text without white space, by which we find it again."""
    return "".join(text.split()).replace("\ufeff", "")[:TEXT_KEY_LENGTH]
