"""Pages by their URLs: each is fetched once, however often the pages are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from untemplate.errors import PageError
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.sources.fetch import DEFAULT_POLITENESS, Fetcher, Politeness
from untemplate.sources.pages import Pages, Part, Skipped
from untemplate.sources.stream import open_stream

__all__ = ["UrlReader", "fetch_pages", "read_urls"]


# URLs of a part: at a page a second, records should come, and be safe, every few seconds.
_PART = 8


def fetch_pages(
    urls: Iterable[str], *, limits: Limits = DEFAULT_LIMITS, politeness: Politeness = DEFAULT_POLITENESS
) -> Pages:
    """The pages of these URLs, fetched as they are read."""
    reader = UrlReader(urls, limits, politeness)
    return Pages(f"{reader.total:,} URLs", reader)


def read_urls(path: Path) -> list[str]:
    """The URLs in a text file, one a line; lines that begin with # are comments."""
    with open_stream(path) as stream:
        lines = [line.decode("utf-8-sig", "replace").strip() for line in stream]
    return [line for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where a fetched page is kept; its servers are not asked again for another pass over the pages."""

    start: int
    length: int
    charset: str | None
    fetched: datetime


class UrlReader:
    """Pages fetched in the order listed, and kept in a temporary file that goes with the reader."""

    def __init__(self, urls: Iterable[str], limits: Limits, politeness: Politeness) -> None:
        self._limits = limits
        self._urls = list(dict.fromkeys(urls))
        self._fetcher = Fetcher(politeness, limits.bytes)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 — closed when the reader is gone
        self._kept: dict[str, _Kept | PageError] = {}

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    @property
    def total(self) -> int:
        return len(self._urls)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return self.read_some(self._urls, skipped)

    def parts(self, size: int, skipped: Skipped) -> Iterator[Part]:
        """A few URLs each, not portable: only one process knows how long ago a server was last asked."""
        some = min(size, _PART)
        for start in range(0, len(self._urls), some):
            yield Part(_SomeUrls(self, self._urls[start : start + some]), portable=False)

    def read_some(self, urls: Iterable[str], skipped: Skipped) -> Iterator[Page]:
        """The pages of these URLs, fetched unless they were before."""
        for url in urls:
            if url not in self._kept:
                self._kept[url] = self._fetch(url)
            kept = self._kept[url]
            if isinstance(kept, PageError):
                skipped.add(str(kept), url)
                continue
            self._file.seek(kept.start)
            html = self._file.read(kept.length)
            yield Page(url, html, fetched=kept.fetched, charset=kept.charset, limits=self._limits)

    def _fetch(self, url: str) -> _Kept | PageError:
        try:
            page = self._fetcher.fetch(url)
        except PageError as error:
            return error
        start = self._file.seek(0, 2)
        self._file.write(page.html)
        return _Kept(start, len(page.html), page.charset, page.time)


@dataclass(frozen=True)
class _SomeUrls:
    reader: UrlReader
    urls: list[str]

    @property
    def total(self) -> int:
        return len(self.urls)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return self.reader.read_some(self.urls, skipped)
