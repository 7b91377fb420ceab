"""Pages by their URLs: a list in a text file, fetched or rendered when they are read for the first time.

The pages of many sites are fetched at once: hosts in parallel, each as politely as alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Event

import zstandard

from untemplate.errors import PageError
from untemplate.input_files import limited_lines
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.sources.fetch import DEFAULT_POLITENESS, FetchedPage, Fetcher, Politeness
from untemplate.sources.page_source import Pages, Skipped, SourcePart
from untemplate.sources.render import Renderer
from untemplate.sources.stream import open_stream

__all__ = ["UrlReader", "fetch_groups", "fetch_pages", "read_url_list"]

# Pages that wait on the disk are compressed: thousands of them may wait at a time.
FAST_LEVEL = 1
_MAX_URL_BYTES = 64 << 10
# Takes the place of a line that is longer.
_TOO_LONG = "a line that is too long for a URL"
# URLs per part: at a page a second, records should come, and be safe, every few seconds.
_PART_URLS = 8

MAX_THREADS = 256
"""Sites that are fetched at the same time. A thread waits most of the time, and each needs two open files."""


def fetch_pages(
    urls: Iterable[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    politeness: Politeness = DEFAULT_POLITENESS,
    render: bool = False,
) -> Pages:
    """Return the pages of these URLs; each is fetched when it is read for the first time.

    Args:
        urls: Addresses of web pages.
        limits: The size limits of each page.
        politeness: How to fetch.
        render: True to run the pages' scripts in Chromium, and return what they made.

    Raises:
        MissingExtra: `render` needs the extra of that name.
        InputError: `render` needs Chromium.
    """
    reader = UrlReader(urls, limits, politeness, render)
    return Pages(f"{reader.total:,} URLs", reader)


def read_url_list(path: Path) -> list[str]:
    """Read the URLs in a text file, one a line.

    Empty lines and comments that begin with # are ignored. A line that is too long is replaced by a text that says
    so, which is skipped as no web address when the pages are read.
    """
    urls = []
    with open_stream(path) as stream:
        for line in limited_lines(stream, _MAX_URL_BYTES):
            url = _TOO_LONG if line is None else line.decode("utf-8-sig", "replace").strip()
            if url and not url.startswith("#"):
                urls.append(url)
    return urls


@dataclass(frozen=True, slots=True)
class _StoredPage:
    """The position of a fetched page in the temporary file."""

    start: int
    length: int
    charset: str | None
    fetched: datetime


class UrlReader:
    """Fetches pages in the order of the list, each once, however often the pages are read.

    Fetched pages wait in a temporary file for the next pass; the file is deleted with the reader.
    """

    def __init__(
        self,
        urls: Iterable[str],
        limits: Limits,
        politeness: Politeness,
        render: bool = False,
        fetcher: Fetcher | None = None,
    ) -> None:
        """Choose the pages. Readers that run at the same time must share a fetcher, to be polite together."""
        self._limits = limits
        self._urls = list(dict.fromkeys(urls))
        self._fetcher = fetcher or Fetcher(politeness, limits.bytes)
        self._renderer = Renderer(self._fetcher, politeness, limits.bytes) if render else None
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 — closed when the reader is gone
        self._stored: dict[str, _StoredPage | PageError] = {}

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
        self._close_renderer()

    def _close_renderer(self) -> None:
        if renderer := getattr(self, "_renderer", None):
            renderer.close()

    @property
    def total(self) -> int:
        return len(self._urls)

    @property
    def is_rendered(self) -> bool:
        return self._renderer is not None

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return self.read_urls(self._urls, skipped)

    def parts(self, size: int, skipped: Skipped) -> Iterator[SourcePart]:
        """Split into parts of a few URLs. Not portable: only this process remembers when it last asked a server."""
        part_size = min(size, _PART_URLS)
        for start in range(0, len(self._urls), part_size):
            urls = self._urls[start : start + part_size]
            yield SourcePart(_UrlPart(self, urls), portable=False)

    def read_urls(self, urls: Iterable[str], skipped: Skipped) -> Iterator[Page]:
        """Yield the pages of some of the URLs; those that were fetched before come from the temporary file."""
        urls = list(urls)
        for position, url in enumerate(urls):
            if url not in self._stored:
                self._stored[url] = self._fetch_and_store(url, urls[position + 1 :])
            stored = self._stored[url]
            if isinstance(stored, PageError):
                skipped.add(str(stored), url)
                continue
            self._file.seek(stored.start)
            html = zstandard.decompress(self._file.read(stored.length))
            yield Page(url, html, fetched=stored.fetched, charset=stored.charset, limits=self._limits)

    def _fetch_and_store(self, url: str, later: Sequence[str]) -> _StoredPage | PageError:
        """Fetch a page into the temporary file; return its position, or why it could not be fetched.

        Args:
            url: The address of the page.
            later: The addresses that will be asked for next; some may be stored already.
        """
        try:
            page = self._fetch(url, later)
        except PageError as error:
            return error
        finally:
            if len(self._stored) == len(self._urls) - 1:  # this was the last one
                self._close_renderer()
        start = self._file.seek(0, 2)
        data = zstandard.compress(page.html, FAST_LEVEL)
        self._file.write(data)
        return _StoredPage(start, len(data), page.charset, page.time)

    def _fetch(self, url: str, later: Sequence[str]) -> FetchedPage:
        if self._renderer is None:
            return self._fetcher.fetch(url)
        return self._renderer.render(url, [other for other in later if other not in self._stored])


@dataclass(frozen=True)
class _UrlPart:
    """Some URLs of a reader."""

    reader: UrlReader
    urls: list[str]

    @property
    def total(self) -> int:
        return len(self.urls)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return self.reader.read_urls(self.urls, skipped)


def fetch_groups(
    groups: Mapping[str, Sequence[str]],
    *,
    limits: Limits = DEFAULT_LIMITS,
    politeness: Politeness = DEFAULT_POLITENESS,
    is_wanted: Callable[[str], bool] = lambda group: True,
) -> Iterator[tuple[str, Pages]]:
    """Fetch groups of URLs in parallel; yield the name and the pages of each group when all of them are fetched.

    All groups share one memory of hosts, so a host that occurs in several of them gets one request at a time, with
    the delay between them. Fetched pages wait in a temporary file for each group.

    Args:
        groups: The URLs of each group, such as the bellwethers of each site.
        limits: The size limits of each page.
        politeness: How to fetch.
        is_wanted: Asked before the first request of a group, in the thread that fetches it; if False, the group is
            left out.
    """
    fetcher = Fetcher(politeness, limits.bytes)
    stop = Event()
    threads = ThreadPoolExecutor(min(MAX_THREADS, max(1, len(groups))), "fetch")
    readers = {name: UrlReader(urls, limits, politeness, fetcher=fetcher) for name, urls in groups.items()}
    name_of = {
        threads.submit(_fetch_group, reader, stop, partial(is_wanted, name)): name
        for name, reader in readers.items()
    }
    try:
        for done in as_completed(name_of):
            name = name_of[done]
            reader = readers.pop(name)
            if done.result():
                yield name, Pages(f"{reader.total:,} URLs of {name}", reader, limits)
    finally:
        stop.set()
        threads.shutdown(cancel_futures=True)


def _fetch_group(reader: UrlReader, stop: Event, is_wanted: Callable[[], bool]) -> bool:
    """Fetch all pages of a reader into its temporary file; return False if they are not wanted any more."""
    if stop.is_set() or not is_wanted():
        return False
    for _ in reader.read(Skipped()):
        if stop.is_set():
            break
    return True
