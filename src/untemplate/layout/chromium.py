"""ChromiumLayout: boxes measured by the system's Chromium, without scripts and without the network."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lxml import etree

from untemplate.errors import InputError, MissingExtra, PageError
from untemplate.layout.boxes import IMAGE, VIEWPORT, Boxes
from untemplate.page import Page, squeeze

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright
    from playwright.async_api import Page as Tab

__all__ = ["ChromiumLayout", "find_chromium"]

# Attribute with the number of each element: Chromium repairs broken markup in its own way.
MARK = "data-ut"
# Chromium would need gigabytes for more.
MAX_ELEMENTS = 100_000
# Seconds that a tab or the browser may take to open, and to close before we abandon it.
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
    """Measures boxes in the system's Chromium: exact, but some twenty times slower than the estimate.

    Nothing is loaded: style sheets inside the page count, remote ones do not, and images have the size that the page
    gives. Needs the extra `render`.

    Args:
        executable: path of Chromium; by default the system's.
        tabs: number of pages that are laid out at the same time.
        timeout: seconds that a page may take.
    """

    executable: str | None = None
    tabs: int = 2
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
        return _run(lambda: _Session(executable, self.tabs, self.timeout).boxes(pages)) if pages else []


def _run(work: Callable[[], Any]) -> Any:
    """Run a coroutine to its end, in a thread of its own if an event loop is running already."""

    def run() -> Any:
        return asyncio.run(work())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


class _Session:
    """One run of Chromium. Tabs share a queue of pages, and a tab that fails is replaced."""

    def __init__(self, executable: str, tabs: int, timeout: float) -> None:
        self._executable = executable
        self._tabs = tabs
        self._timeout = timeout
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()

    async def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Lay out all pages."""
        from playwright.async_api import async_playwright

        results: dict[int, Boxes] = {}
        async with async_playwright() as playwright:
            queue = iter(enumerate(pages))
            tabs = min(self._tabs, len(pages))
            try:
                await asyncio.gather(*(self._work(playwright, queue, results) for _ in range(tabs)))
            finally:
                await _leave(self._browser)
        return [results[number] for number in range(len(pages))]

    async def _work(
        self, playwright: Playwright, queue: Iterator[tuple[int, Page]], results: dict[int, Boxes]
    ) -> None:
        """Lay out pages from the queue in one tab, until none is left."""
        from playwright.async_api import Error

        context: BrowserContext | None = None
        for number, page in queue:
            try:
                html = marked_html(page)
                if context is None:
                    context = await asyncio.wait_for(self._open(playwright), MAX_OPENING_SECONDS)
                tab = context.pages[0]
                measured = await asyncio.wait_for(_measure(tab, html), self._timeout)
                results[number] = read_boxes(page, measured)
                continue
            except PageError as error:
                results[number] = Boxes.blank(page, str(error))
                continue
            except TimeoutError:
                if context is None:
                    self._browser = None  # it hangs; the next page gets another
                reason = f"Chromium took too long: a page may take {self._timeout:g} seconds"
            except Error as error:
                reason = f"Chromium failed: {squeeze(error.message)[:200]}"
            results[number] = Boxes.blank(page, reason)
            await _leave(context)
            context = None
        await _leave(context)

    async def _open(self, playwright: Playwright) -> BrowserContext:
        """Return a context with one empty tab, in which no script runs and nothing is loaded."""
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self._start(playwright)
        context = await self._browser.new_context(
            viewport={"width": VIEWPORT, "height": 1024},
            java_script_enabled=False,
            offline=True,
            service_workers="block",
            accept_downloads=False,
        )
        await context.route("**/*", lambda route: route.abort())
        await context.new_page()
        return context

    async def _start(self, playwright: Playwright) -> Browser:
        """Start the browser; raises InputError if it does not start."""
        from playwright.async_api import Error

        try:
            return await playwright.chromium.launch(
                executable_path=self._executable,
                chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to use it as root
                args=list(_ARGUMENTS),
            )
        except Error as error:
            raise InputError(f"{self._executable} does not start: {squeeze(error.message)[:200]}") from error


async def _measure(tab: Tab, html: str) -> Any:
    """Return what measure.js reports about a page."""
    await tab.set_content(html, timeout=0)
    return json.loads(await tab.evaluate(_script(), MARK))


async def _leave(opened: Browser | BrowserContext | None) -> None:
    """Close a tab or the browser; abandon it if it hangs."""
    from playwright.async_api import Error

    if opened is not None:
        try:
            await asyncio.wait_for(opened.close(), MAX_CLOSING_SECONDS)
        except (TimeoutError, Error):
            return


@cache
def _script() -> str:
    """Return measure.js, which runs in the page."""
    return (files("untemplate.layout") / "measure.js").read_text("utf-8")


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
        if boxes.visible[number]:  # broken markup makes browsers repeat an element
            place = _surround(boxes.elements[number].tolist(), place)
        boxes.elements[number] = place
        boxes.font_size[number] = size
        boxes.font_weight[number] = weight
        boxes.visible[number] |= bool(shown)
    places: dict[tuple[str, int], deque[list[float]]] = defaultdict(deque)
    moved: dict[str, deque[list[float]]] = defaultdict(deque)
    for start, number, *place in measured["texts"]:
        places[_text_key(start), number].append(place)
    left = []
    for row, node in enumerate(page.nodes):
        if not node.is_text:
            boxes.nodes[row] = boxes.elements[boxes.node_elements[row]]
        elif same := places.get((_text_key(node.text), int(boxes.node_elements[row]))):
            boxes.nodes[row] = same.popleft()
        else:
            left.append((row, node))
    for (key, _), rest in places.items():
        moved[key] += rest
    for row, node in left:  # texts that the browser moved elsewhere, such as out of a table
        same = moved.get(_text_key(node.text))
        boxes.nodes[row] = same.popleft() if same else boxes.elements[boxes.node_elements[row]]
    return boxes


def _text_key(text: str) -> str:
    """Return the start of a text without white space, by which we find it again."""
    return "".join(text.split()).replace("\ufeff", "")[:TEXT_KEY_LENGTH]


def _surround(first: list[float], second: list[float]) -> list[float]:
    """Return the smallest box around two boxes."""
    x, y = min(first[0], second[0]), min(first[1], second[1])
    right = max(first[0] + first[2], second[0] + second[2])
    bottom = max(first[1] + first[3], second[1] + second[3])
    return [x, y, right - x, bottom - y]
