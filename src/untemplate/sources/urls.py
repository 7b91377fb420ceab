"""A text file of URLs: each is fetched once, however often the pages are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from untemplate.errors import PageError
from untemplate.page import Limits, Page
from untemplate.sources.fetch import Fetcher, Politeness
from untemplate.sources.pages import Skipped
from untemplate.sources.stream import open_stream

__all__ = ["UrlReader"]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where a fetched page is kept; its servers are not asked again for another pass over the pages."""

    start: int
    length: int
    charset: str | None
    fetched: datetime


class UrlReader:
    """Pages fetched in the order listed, and kept in a temporary file that goes with the reader."""

    def __init__(self, path: Path, limits: Limits, politeness: Politeness) -> None:
        self._limits = limits
        with open_stream(path) as stream:
            lines = [line.decode("utf-8-sig", "replace").strip() for line in stream]
        self._urls = list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
        self._fetcher = Fetcher(politeness, limits.bytes)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 — closed when the reader is gone
        self._kept: list[_Kept | PageError] = []

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    @property
    def total(self) -> int:
        return len(self._urls)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        for index, url in enumerate(self._urls):
            if index == len(self._kept):
                self._kept.append(self._fetch(url))
            kept = self._kept[index]
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
