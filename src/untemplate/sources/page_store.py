"""Fetched pages that are kept in a file, so that an interrupted crawl goes on where it stopped."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from untemplate.errors import InputError
from untemplate.input_files import FileLimits, check_json_size, limited_lines
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.sources.fetch import DEFAULT_POLITENESS, Fetcher, Politeness

__all__ = ["PageStore"]

# A line has four values.
_LINE_LIMITS = FileLimits(bytes=1 << 30, values=1000)


class PageStore:
    """Fetches pages by their addresses, each once: pages that a file keeps are not fetched again.

    The file is JSON lines with `id`, `url`, `html` and `fetched`, a source of pages for all commands. Pages that
    could not be fetched are not kept, so the next run tries them again.

    Args:
        path: the file; it is created if it does not exist. None to keep nothing.
        politeness: how to fetch.
        limits: the size limits of each page.
        fetcher: fetches pages. Stores that are used together share one, to be polite together.

    Raises:
        InputError: the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path | None = None,
        politeness: Politeness = DEFAULT_POLITENESS,
        limits: Limits = DEFAULT_LIMITS,
        fetcher: Fetcher | None = None,
    ) -> None:
        self._path, self._limits = path, limits
        self.fetcher = fetcher or Fetcher(politeness, limits.bytes)
        #: URL -> where its line begins
        self._starts: dict[str, int] = {}
        if path is not None:
            try:
                self._read_kept(path)
            except OSError as error:
                raise InputError(
                    f"{path}: cannot be used to keep pages: {error.strerror or error}"
                ) from error

    def _read_kept(self, path: Path) -> None:
        """Read where the pages of the file are. A last line that an interrupted run left incomplete is removed."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            start = 0
            # escapes make text longer, as in other JSON lines
            for line in limited_lines(file, 2 * self._limits.bytes):
                if line is not None and not line.endswith(b"\n"):
                    break
                if line is not None and (url := _url_of(line)) is not None:
                    self._starts.setdefault(url, start)
                start = file.tell()
            file.truncate(start)

    def page(self, url: str, id: str = "") -> Page:
        """Return the page at an address, from the file if it is kept there.

        Args:
            url: the address.
            id: the name that a page gets if it is fetched now; its address by default.

        Raises:
            PageError: the page cannot or must not be fetched; the message is the reason.
        """
        if self._path is not None and url in self._starts:
            return self._read_page(self._path, self._starts[url])
        fetched = self.fetcher.fetch(url)
        page = Page(url, fetched.html, id, fetched=fetched.time, charset=fetched.charset, limits=self._limits)
        if self._path is not None:
            self._append(self._path, page)
        return page

    def _read_page(self, path: Path, start: int) -> Page:
        with path.open("rb") as file:
            file.seek(start)
            row = json.loads(file.readline())
        fetched = datetime.fromisoformat(row["fetched"])
        return Page(row["url"], row["html"], row["id"], fetched=fetched, limits=self._limits)

    def _append(self, path: Path, page: Page) -> None:
        fetched = page.fetched.isoformat() if page.fetched else ""
        row = {"id": page.id, "url": page.url, "html": page.text, "fetched": fetched}
        with path.open("ab") as file:
            self._starts[page.url] = file.tell()
            file.write(json.dumps(row).encode("ascii") + b"\n")


def _url_of(line: bytes) -> str | None:
    """Return the URL of a line; None if the line is no page."""
    try:
        check_json_size(line, _LINE_LIMITS)
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_page = isinstance(row, dict) and {"id", "url", "html", "fetched"} <= row.keys()
    return str(row["url"]) if is_page else None
