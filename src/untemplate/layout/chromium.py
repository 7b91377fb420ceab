"""ChromiumLayout: boxes as the system's Chromium lays pages out, without scripts and without the network."""

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

# Marks each element of the page with its number, since Chromium's tree is not always the parser's.
MARK = "data-ut"
# More would take Chromium gigabytes.
MAX_ELEMENTS = 100_000
# Seconds that a tab or the browser may take to open, and to close before it is left behind.
OPENING = 60.0
CLOSING = 5.0

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
# Attributes that would load something; links stay, for they look like links.
_LOADING = ("src", "srcset", "srcdoc", "data", "background", "poster", "http-equiv", "autofocus")
_PLACEHOLDER = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' "
    f"width='{IMAGE[0]:.0f}' height='{IMAGE[1]:.0f}'/%3E"
)
_SAME_TEXT = 30  # characters by which a text is found again


def find_chromium() -> str | None:
    """The path of the system's Chromium, if it is installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@dataclass(frozen=True)
class ChromiumLayout:
    """Measures boxes in the system's Chromium: exact, but some twenty times slower than the estimate.

    Style sheets inside the page count; nothing is loaded, so remote ones do not, and images are as large as the page
    says. `tabs` pages are laid out side by side; a page may take `timeout` seconds. Needs the extra `render`.
    """

    executable: str | None = None
    tabs: int = 2
    timeout: float = 30.0

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """One Boxes a page; a page that Chromium cannot lay out gets a reason."""
        try:
            import playwright.async_api  # noqa: F401
        except ImportError as error:
            raise MissingExtra("render", "Layout by Chromium") from error
        executable = self.executable or find_chromium()
        if executable is None:
            raise InputError("no Chromium found: install it (apt-get install chromium) or say where it is")
        return _run(lambda: _Session(executable, self.tabs, self.timeout).boxes(pages)) if pages else []


def _run(work: Callable[[], Any]) -> Any:
    """Run a coroutine to its end, also where a loop is running already."""

    def run() -> Any:
        return asyncio.run(work())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


class _Session:
    """One run of Chromium; tabs take pages from one queue, and a tab that fails is replaced."""

    def __init__(self, executable: str, tabs: int, timeout: float) -> None:
        self._executable = executable
        self._tabs = tabs
        self._timeout = timeout
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()

    async def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
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
        from playwright.async_api import Error

        context: BrowserContext | None = None
        for number, page in queue:
            try:
                html = marked_html(page)
                if context is None:
                    context = await asyncio.wait_for(self._open(playwright), OPENING)
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
        """A context with one empty tab, in which no script runs and nothing is loaded."""
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
    await tab.set_content(html, timeout=0)
    return json.loads(await tab.evaluate(_script(), MARK))


async def _leave(opened: Browser | BrowserContext | None) -> None:
    """Close a tab or the browser, unless it hangs."""
    from playwright.async_api import Error

    if opened is not None:
        try:
            await asyncio.wait_for(opened.close(), CLOSING)
        except (TimeoutError, Error):
            return


@cache
def _script() -> str:
    return (files("untemplate.layout") / "measure.js").read_text("utf-8")


def marked_html(page: Page) -> str:
    """The page as it was parsed, each element marked with its number, without anything that loads."""
    root = page.tree
    count = int(root.xpath("count(//*)"))
    if count > MAX_ELEMENTS:
        raise PageError(f"page has {count:,} elements, more than Chromium is given ({MAX_ELEMENTS:,})")
    doctype = root.getroottree().docinfo.doctype
    root = deepcopy(root)
    for number, element in enumerate(root.iter(etree.Element)):
        for name in _LOADING:
            element.attrib.pop(name, None)
        if element.tag in ("base", "link"):
            element.attrib.pop("href", None)
        elif element.tag == "img" or (element.tag == "input" and element.get("type", "").lower() == "image"):
            element.set("src", _PLACEHOLDER)
        elif element.tag == "script":
            element.text = None
        element.set(MARK, str(number))
    for comment in root.iter(etree.Comment, etree.ProcessingInstruction):
        comment.text = ""  # it stays, since it parts texts
    return str(etree.tostring(root, method="html", encoding="unicode", doctype=doctype or None))


def read_boxes(page: Page, measured: Any) -> Boxes:
    """Boxes from what measure.js returns."""
    boxes = Boxes.blank(page)
    for number, *place, size, weight, shown in measured["elements"]:
        if boxes.visible[number]:  # broken markup makes browsers repeat an element
            place = _around(boxes.elements[number].tolist(), place)
        boxes.elements[number] = place
        boxes.font_size[number] = size
        boxes.font_weight[number] = weight
        boxes.visible[number] |= bool(shown)
    places: dict[tuple[str, int], deque[list[float]]] = defaultdict(deque)
    moved: dict[str, deque[list[float]]] = defaultdict(deque)
    for start, number, *place in measured["texts"]:
        places[_key(start), number].append(place)
    left = []
    for row, node in enumerate(page.nodes):
        if not node.is_text:
            boxes.nodes[row] = boxes.elements[boxes.node_elements[row]]
        elif same := places.get((_key(node.text), int(boxes.node_elements[row]))):
            boxes.nodes[row] = same.popleft()
        else:
            left.append((row, node))
    for (key, _), rest in places.items():
        moved[key] += rest
    for row, node in left:  # texts that the browser moved elsewhere, such as out of a table
        same = moved.get(_key(node.text))
        boxes.nodes[row] = same.popleft() if same else boxes.elements[boxes.node_elements[row]]
    return boxes


def _key(text: str) -> str:
    return "".join(text.split()).replace("\ufeff", "")[:_SAME_TEXT]


def _around(one: list[float], other: list[float]) -> list[float]:
    """The smallest box around two."""
    x, y = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    return [x, y, right - x, max(one[1] + one[3], other[1] + other[3]) - y]
