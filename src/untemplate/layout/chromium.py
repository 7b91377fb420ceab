"""ChromiumLayout: boxes measured by the system's Chromium, without scripts and without the network."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lxml import etree

from untemplate.browser import close_browser, require_chromium, start_offline_tab
from untemplate.errors import PageError
from untemplate.layout.boxes import IMAGE, VIEWPORT, Boxes
from untemplate.page import Page, squeeze
from untemplate.sources.assets import NO_ASSETS, Assets, page_styles

if TYPE_CHECKING:
    from playwright.async_api import Browser

__all__ = ["ChromiumLayout"]

# Attribute with the number of each element: Chromium repairs broken markup in its own way.
MARK = "data-ut"
# Chromium would need gigabytes for more.
MAX_ELEMENTS = 100_000
# Attributes that would load something. Links stay, since they look different.
_LOADING = ("src", "srcset", "srcdoc", "data", "background", "poster", "http-equiv", "autofocus")
_PLACEHOLDER = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' "
    f"width='{IMAGE[0]:.0f}' height='{IMAGE[1]:.0f}'/%3E"
)
# Characters by which a text is recognized.
TEXT_KEY_LENGTH = 30


@dataclass(frozen=True)
class ChromiumLayout:
    """Measures boxes in the system's Chromium: exact, but some thirty times slower than the estimate.

    Nothing is loaded: style sheets that came with the page count, remote ones do not, and images have the size that
    the page gives. Needs the extra `render`.

    Args:
        executable: path of Chromium; by default the system's.
        timeout: seconds that a page may take.
        assets: the style sheets that were saved beside the pages; by default only those inside a page are used.
    """

    executable: str | None = None
    timeout: float = 30.0
    assets: Assets = NO_ASSETS

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Return one Boxes a page; a page that Chromium cannot lay out gets a reason.

        Raises:
            MissingExtra: Playwright is not installed.
            InputError: there is no Chromium, or it does not start.
        """
        executable = require_chromium("Layout by Chromium", self.executable)
        if not pages:
            return []
        # A thread of its own: an event loop may be running in this one already.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, _measure_pages(self, executable, pages)).result()


async def _measure_pages(layout: ChromiumLayout, executable: str, pages: Sequence[Page]) -> list[Boxes]:
    """Lay out pages one after the other, in a browser that is replaced if it fails or hangs."""
    from playwright.async_api import Error, async_playwright

    results: list[Boxes] = []
    browser: Browser | None = None
    async with async_playwright() as playwright:
        for page in pages:
            try:
                html = marked_html(page, layout.assets)
                browser = browser or await start_offline_tab(playwright, executable, VIEWPORT)
                measured = await asyncio.wait_for(_measure(browser, html), layout.timeout)
                results.append(read_boxes(page, measured))
            except PageError as error:
                results.append(Boxes.blank(page, str(error)))
            except (TimeoutError, Error) as error:
                slow = f"took too long: a page may take {layout.timeout:g} seconds"
                reason = slow if isinstance(error, TimeoutError) else f"failed: {squeeze(str(error))[:200]}"
                results.append(Boxes.blank(page, f"Chromium {reason}"))
                await close_browser(browser)
                browser = None
        await close_browser(browser)
    return results


async def _measure(browser: Browser, html: str) -> Any:
    """Return what measure.js reports about a page."""
    tab = browser.contexts[0].pages[0]
    await tab.set_content(html, timeout=0)
    script = (files("untemplate.layout") / "measure.js").read_text("utf-8")
    return json.loads(await tab.evaluate(script, MARK))


def marked_html(page: Page, assets: Assets) -> str:
    """Return the page as we parsed it, with a number on each element and without anything that loads.

    Linked style sheets that came with the page are in place of their links.
    """
    root = page.tree
    count = int(root.xpath("count(//*)"))
    if count > MAX_ELEMENTS:
        raise PageError(f"page has {count:,} elements, more than Chromium is given ({MAX_ELEMENTS:,})")
    styles = dict(page_styles(page, assets))
    copied = deepcopy(root)
    elements = zip(root.iter(etree.Element), copied.iter(etree.Element), strict=True)
    for number, (original, element) in enumerate(elements):
        if original.tag == "style" or original in styles:
            element.tag, element.text = "style", styles.get(original, "").replace("</", "<\\/")
        _remove_loading(element)
        element.set(MARK, str(number))
    for comment in copied.iter(etree.Comment, etree.ProcessingInstruction):
        comment.text = ""  # the empty comment stays, since it separates texts
    doctype = root.getroottree().docinfo.doctype or None
    return str(etree.tostring(copied, method="html", encoding="unicode", doctype=doctype))


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
    """Return the boxes of a page from what measure.js reported about its marked HTML."""
    boxes = Boxes.blank(page)
    for number, *place, size, weight, shown in measured["elements"]:
        if not boxes.visible[number]:  # broken markup makes browsers repeat an element: the first one counts
            boxes.elements[number], boxes.visible[number] = place, bool(shown) and not _is_clipped(*place)
            boxes.font_size[number], boxes.font_weight[number] = size, weight
    places: defaultdict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for start, number, *place in reversed(measured["texts"]):
        places[_text_key(start), number].append(place)
    boxes.nodes[:] = boxes.elements[boxes.node_elements]
    for row, (node, number) in enumerate(zip(page.nodes, boxes.node_elements.tolist(), strict=True)):
        # A text that the browser moved elsewhere, such as out of a table, keeps the box of its element.
        if node.is_text and (same := places[_text_key(node.text), number]):
            boxes.nodes[row] = same.pop()
    return boxes


def _is_clipped(x: float, y: float, width: float, height: float) -> bool:
    """Return True for elements of one pixel, or left of the screen or above it: they are for screen readers."""
    is_dot = 0 < width <= 1 and 0 < height <= 1
    return is_dot or (width > 0 and height > 0 and (x + width <= 0 or y + height <= 0))


def _text_key(text: str) -> str:
    """Return the start of a text without white space, by which we find it again."""
    return "".join(text.split()).replace("\ufeff", "")[:TEXT_KEY_LENGTH]
