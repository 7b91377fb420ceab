"""Pages that scripts make: the system's Chromium shows each page, and we take what its scripts made of it.

A few tabs work at the same time, but pages are fetched one after the other, as politely as without a browser.
Chromium has no network. Every request of a page comes to `Tab.answer`, which loads scripts, style sheets and data
with our own `Fetcher`: public addresses only, robots.txt, limits. So we connect to exactly the address that was
checked, even after a redirect. Needs the extra `render`.
"""

from __future__ import annotations

import asyncio
import base64
import threading
import weakref
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from untemplate.browser import MAX_CLOSING_SECONDS, close_browser, require_chromium, start_chromium
from untemplate.errors import PageError, UntemplateError
from untemplate.page import squeeze
from untemplate.sources.fetch import USER_AGENT, Answer, Call, FetchedPage, Fetcher, Politeness

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright, Request, Route
    from playwright.async_api import Page as BrowserPage

__all__ = ["Renderer", "ResourceLoader", "Tab"]

# Pages that are rendered at the same time. Each takes a few hundred megabytes and, with a delay of one second between
# pages of a host, most of the time of a tab is waiting.
TABS = 4
# How often a page may lead to another one by script: as often as by HTTP.
MAX_MOVES = 5
# Requests that one page may make for scripts, style sheets and data. Real pages make 20 to 200.
MAX_REQUESTS = 500
# Requests of all pages together that wait for servers at the same time: what a browser allows for one host is 6.
LOADING_THREADS = 8
# Seconds that a server has for a script or for data.
LOADING_SECONDS = 10.0
# Bytes of scripts and style sheets that are kept, so that pages of a site load them only once.
MAX_CACHED_BYTES = 64 << 20
# Seconds after the page was loaded in which its scripts may load more.
SETTLING_SECONDS = 5.0
# Seconds in which a tab must answer when it is asked for its page; one with an endless script does not.
ANSWER_SECONDS = 5.0
# Seconds in which the request of a navigation that interrupted another one must reach us.
MOVING_SECONDS = 2.0

_LOADED_TYPES = frozenset({"script", "stylesheet", "xhr", "fetch"})
_CACHED_TYPES = frozenset({"script", "stylesheet"})
# Pages often remove images that cannot be loaded, so all images are this one, which is transparent.
_PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
# Headers that belong to the connection of the browser and not to ours, or the other way round.
_OWN_REQUEST_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "cookie", "host", "user-agent"}
)
_OWN_ANSWER_HEADERS = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "transfer-encoding"}
)
# In a world of its own, where scripts of the page cannot have replaced anything.
_READ_PAGE = """(limit => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  const root = document.documentElement;
  return (type + (root ? root.outerHTML : "")).slice(0, limit);
})"""


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


class ResourceLoader:
    """Loads what pages need besides their HTML; scripts and style sheets only once for all pages."""

    def __init__(self, fetcher: Fetcher, limit: int) -> None:
        """Choose how to load.

        Args:
            fetcher: Checks addresses and robots.txt, and makes the requests.
            limit: The maximum number of bytes of all that one page loads.
        """
        self.limit = limit
        self._fetcher = fetcher
        self._threads = ThreadPoolExecutor(LOADING_THREADS, "untemplate-loading")
        self._cache: OrderedDict[str, tuple[Answer, bytes]] = OrderedDict()
        self._cached_bytes = 0
        self._lock = Lock()

    async def load(self, url: str, call: Call, cached: bool) -> tuple[Answer, bytes]:
        """Return what is at a URL, and its body without compression; PageError if it must not or cannot be loaded."""
        if cached and url in self._cache:
            return self._cache[url]
        answer, body = await asyncio.get_running_loop().run_in_executor(self._threads, self._load, url, call)
        if cached and answer.status == 200:
            self._keep(url, answer, body)
        return answer, body

    def _load(self, url: str, call: Call) -> tuple[Answer, bytes]:
        answer = self._fetcher.load(url, call, self.limit, LOADING_SECONDS)
        return answer, answer.decode(self.limit)

    def _keep(self, url: str, answer: Answer, body: bytes) -> None:
        """Remember an answer; the oldest ones make room."""
        with self._lock:
            if url not in self._cache:
                self._cache[url] = (answer, body)
                self._cached_bytes += len(body)
            while self._cached_bytes > MAX_CACHED_BYTES:
                _, (_, oldest) = self._cache.popitem(last=False)
                self._cached_bytes -= len(oldest)

    def close(self) -> None:
        """Let go of the threads; those that wait for a server end when it answers or is too late."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Tab:
    """A tab that shows one page; `answer` decides about each of its requests."""

    def __init__(self, page: BrowserPage, loader: ResourceLoader) -> None:
        """Take an empty tab, whose context sends all requests to `answer`."""
        self._page = page
        self._loader = loader
        self._document: FetchedPage | None = None  # waits for the tab to ask for it
        self._next_url: str | None = None  # where a script of the page wants to go
        self._moves = asyncio.Event()  # set with the next URL
        self._requests = 0
        self._bytes = 0

    async def show(self, document: FetchedPage, seconds: float) -> str | None:
        """Show a page that was fetched, and wait until its scripts are done.

        Args:
            document: The page.
            seconds: How long it may take. A page that still loads something then is used as it is.

        Returns:
            The URL that the page leads to, if it does: its script or a `refresh` may do that. None if it stays.
        """
        from playwright.async_api import Error

        self._document, self._next_url = document, None
        self._moves.clear()
        try:
            await self._page.goto(document.url, wait_until="load", timeout=1000 * seconds)
            await self._page.wait_for_load_state("networkidle", timeout=1000 * SETTLING_SECONDS)
        except Error as error:
            if not _is_timeout(error) and not await self._is_moving():
                raise
        return self._next_url

    async def _is_moving(self) -> bool:
        """Return True if the page leads to another URL.

        A navigation that another one interrupts may fail before the request of the other one reaches us.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._moves.wait(), MOVING_SECONDS)
        return self._moves.is_set()

    async def read(self, limit: int) -> bytes:
        """Return the page as its scripts made it, in UTF-8, at most `limit` bytes.

        Raises:
            TimeoutError: The tab does not answer.
        """
        html = await asyncio.wait_for(self._read_text(limit), ANSWER_SECONDS)
        return html.encode("utf-8", "replace")[:limit]

    async def _read_text(self, limit: int) -> str:
        session = await self._page.context.new_cdp_session(self._page)
        tree = await session.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame})
        answer = await session.send(
            "Runtime.evaluate",
            {
                "expression": f"{_READ_PAGE}({limit})",
                "contextId": world["executionContextId"],
                "returnByValue": True,
            },
        )
        return str(answer["result"].get("value", ""))

    async def answer(self, route: Route) -> None:
        """Answer a request of the page, or refuse it."""
        from playwright.async_api import Error

        request = route.request
        # An error here means that the tab was closed in the meantime.
        with suppress(Error):
            if request.is_navigation_request():
                await self._answer_navigation(route)
            elif request.resource_type == "image":
                await route.fulfill(status=200, content_type="image/gif", body=_PIXEL)
            elif request.resource_type in _LOADED_TYPES:
                await self._answer_resource(route)
            else:
                await route.abort()

    async def _answer_navigation(self, route: Route) -> None:
        """Answer with the page to show. If a script goes elsewhere, remember where; frames stay empty."""
        if not self._is_main_frame(route.request):
            await route.abort()
        elif self._document is not None:
            document, self._document = self._document, None
            await route.fulfill(status=200, headers=_document_headers(document), body=document.html)
        else:
            if route.request.method == "GET":
                self._next_url = route.request.url
                self._moves.set()
            await route.abort()

    def _is_main_frame(self, request: Request) -> bool:
        from playwright.async_api import Error

        try:
            return request.frame == self._page.main_frame
        except Error:  # of a window that does not exist yet
            return False

    async def _answer_resource(self, route: Route) -> None:
        request = route.request
        self._requests += 1
        if self._requests > MAX_REQUESTS or self._bytes > self._loader.limit:
            await route.abort()
            return
        call = Call(request.method, await self._request_headers(request), request.post_data_buffer)
        is_cached = request.resource_type in _CACHED_TYPES and request.method == "GET"
        try:
            answer, body = await self._loader.load(request.url, call, is_cached)
        except PageError:
            await route.abort()
            return
        self._bytes += len(body)
        await route.fulfill(status=answer.status, headers=_answer_headers(answer), body=body)

    async def _request_headers(self, request: Request) -> dict[str, str]:
        """Return the headers of a request that we pass on, with the cookies of the tab."""
        headers = {name: value for name, value in request.headers.items() if name not in _OWN_REQUEST_HEADERS}
        cookies = await self._page.context.cookies(request.url)
        if cookies:
            headers["cookie"] = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)
        return headers


def _document_headers(document: FetchedPage) -> dict[str, str]:
    charset = f"; charset={document.charset}" if document.charset else ""
    headers = {"content-type": f"text/html{charset}"}
    if document.cookies:
        headers["set-cookie"] = "\n".join(document.cookies)
    return headers


def _answer_headers(answer: Answer) -> dict[str, str]:
    """Return the headers of an answer that the page gets."""
    headers = {
        name.lower(): value
        for name, value in answer.headers.items()
        if name.lower() not in _OWN_ANSWER_HEADERS
    }
    if cookies := answer.headers.get_all("Set-Cookie"):
        headers["set-cookie"] = "\n".join(cookies)
    return headers


def _is_timeout(error: Exception) -> bool:
    from playwright.async_api import TimeoutError as PlaywrightTimeout

    return isinstance(error, PlaywrightTimeout)
