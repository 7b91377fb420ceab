"""Pages that scripts make: the system's Chromium shows each page, and we take what its scripts made of it.

A few tabs work at the same time, but pages are fetched one after the other, as politely as without a browser. `Tab`
says what a page may do. Needs the extra `render`.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from untemplate.browser import MAX_CLOSING_SECONDS, close_browser, require_chromium, start_chromium
from untemplate.errors import PageError, UntemplateError
from untemplate.page import squeeze
from untemplate.sources.fetch import USER_AGENT, FetchedPage, Fetcher, Politeness
from untemplate.sources.tab import ResourceLoader, Tab

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright
    from playwright.async_api import Page as BrowserPage

__all__ = ["Renderer"]

# Pages that are rendered at the same time. Each takes a few hundred megabytes and, with a delay of one second between
# pages of a host, most of the time of a tab is waiting.
TABS = 4
# How often a page may lead to another one by script: as often as by HTTP.
MAX_MOVES = 5
_WIDTH, _HEIGHT = 1280, 1024
_MAX_REASON = 120


class Renderer:
    """Renders pages in Chromium, which is started with the first page and closed by `close`."""

    def __init__(self, fetcher: Fetcher, politeness: Politeness, limit: int) -> None:
        """Check that pages can be rendered.

        Args:
            fetcher: Fetches the pages.
            politeness: How long a page may take.
            limit: The maximum size of a page in bytes. One more byte is read, to recognize pages that are too big.

        Raises:
            MissingExtra: Playwright is not installed.
            InputError: There is no Chromium.
        """
        self._executable = require_chromium("Rendering of pages")
        self._fetcher = fetcher
        self._seconds = politeness.timeout
        self._limit = limit
        self._started: dict[str, Future[FetchedPage]] = {}
        self._worker: _RenderThread | None = None

    def render(self, url: str, later: Sequence[str] = ()) -> FetchedPage:
        """Return a page as its scripts made it.

        Args:
            url: The address of the page.
            later: Addresses that will be asked for next; the first of them are rendered meanwhile.

        Raises:
            PageError: The page cannot or must not be fetched or rendered; the message is the reason.
            InputError: Chromium does not start.
        """
        for address in (url, *later[: TABS - 1]):
            if address not in self._started:
                self._started[address] = self._open_worker().submit(address)
        return self._started.pop(url).result()

    def _open_worker(self) -> _RenderThread:
        if self._worker is None:
            self._worker = _RenderThread(self._executable, self._fetcher, self._seconds, self._limit)
            weakref.finalize(self, self._worker.stop)
        return self._worker

    def close(self) -> None:
        """Close Chromium. Pages that nobody waited for are lost; the next page starts it again."""
        self._started.clear()
        if self._worker is not None:
            self._worker.stop()
            self._worker = None


class _RenderThread:
    """A thread with an event loop, in which Playwright drives Chromium."""

    def __init__(self, executable: str, fetcher: Fetcher, seconds: float, limit: int) -> None:
        self._executable = executable
        self._fetcher = fetcher
        self._seconds = seconds
        self._limit = limit
        self._loader = ResourceLoader(fetcher, limit)
        # One thread: pages are fetched one after the other, with the delay that their host wants.
        self._fetching = ThreadPoolExecutor(1, "untemplate-fetching")
        self._tabs = asyncio.Semaphore(TABS)
        self._opening = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="untemplate-browser", daemon=True)
        self._thread.start()

    def submit(self, url: str) -> Future[FetchedPage]:
        return self._run(self._render(url))

    def _run(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """Close Chromium and end the thread. May be called again, but not by the thread itself."""
        if self._loop.is_closed() or threading.current_thread() is self._thread:
            return
        self._loader.close()
        self._fetching.shutdown(wait=False, cancel_futures=True)
        with suppress(Exception):  # whatever is wrong with the browser, it is abandoned
            self._run(self._leave()).result(2 * MAX_CLOSING_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(MAX_CLOSING_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    async def _leave(self) -> None:
        """Cancel what is still running, then close the browser."""
        running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await close_browser(self._browser)
        if self._playwright is not None:
            await self._playwright.stop()

    async def _render(self, url: str) -> FetchedPage:
        """Render a page; PageError if that fails, which concerns this page only."""
        from playwright.async_api import Error

        async with self._tabs:
            document = await self._fetch(url)
            browser = await self._open_browser()
            try:
                return await self._show(browser, document)
            except TimeoutError as error:
                raise PageError(f"scripts did not end within {self._seconds:g} s") from error
            except UntemplateError:
                raise
            except Error as error:
                raise PageError(f"Chromium failed: {squeeze(error.message)[:_MAX_REASON]}") from error

    async def _fetch(self, url: str) -> FetchedPage:
        return await self._loop.run_in_executor(self._fetching, self._fetcher.fetch, url)

    async def _open_browser(self) -> Browser:
        """Return the browser, started anew if it is not running (any more)."""
        from playwright.async_api import async_playwright

        async with self._opening:
            if self._playwright is None:
                self._playwright = await async_playwright().start()
            if self._browser is None or not self._browser.is_connected():
                self._browser = await start_chromium(self._playwright, self._executable)
            return self._browser

    async def _show(self, browser: Browser, document: FetchedPage) -> FetchedPage:
        """Show a page, and those that its scripts lead to, in a context without any history or cookies."""
        context = await browser.new_context(
            viewport={"width": _WIDTH, "height": _HEIGHT},
            user_agent=USER_AGENT,
            service_workers="block",
            accept_downloads=False,
        )
        try:
            page = await context.new_page()
            tab = Tab(page, self._loader)
            await context.route("**/*", tab.answer)
            await context.route_web_socket("**/*", lambda socket: socket.close())
            context.on("page", _close_popup)
            for _ in range(MAX_MOVES + 1):
                next_url = await tab.show(document, self._seconds)
                if next_url is None:
                    html = await tab.read(self._limit + 1)
                    return replace(document, html=html, charset="utf-8")
                document = await self._fetch(next_url)
            raise PageError(f"more than {MAX_MOVES} redirects by script")
        finally:
            await self._close(context)

    async def _close(self, context: BrowserContext) -> None:
        """Close a context; if it hangs, the whole browser is replaced."""
        from playwright.async_api import Error

        try:
            await asyncio.wait_for(context.close(), MAX_CLOSING_SECONDS)
        except (TimeoutError, Error):
            browser, self._browser = self._browser, None
            await close_browser(browser)


async def _close_popup(popup: BrowserPage) -> None:
    from playwright.async_api import Error

    with suppress(Error):
        await popup.close()
