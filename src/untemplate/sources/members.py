"""Pages that are files, in a folder or an archive: their ids, their URLs, and which files are pages."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import IO, NamedTuple

from untemplate.errors import SourceError
from untemplate.page import Limits, Page
from untemplate.sources.html import SNIFF, has_html_suffix, is_html, page_url
from untemplate.sources.pages import Skipped
from untemplate.sources.stream import read_up_to

__all__ = ["Member", "is_hidden", "is_url_table", "read_members", "read_urls", "swde_site"]

#: `<vertical>-<site>(<pages>)/<page>.htm`, the layout of the SWDE data set
_SWDE_PAGE = re.compile(r"((?:[^/]+/)*[a-z]+-[^/()]+\(\d+\)/)\d+\.html?")
_UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)


class Member(NamedTuple):
    """A file of a folder or an archive: its relative POSIX path, and how to open it."""

    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def is_hidden(name: str) -> bool:
    """Whether a path is one of the files that systems leave behind, such as `.DS_Store` or `__MACOSX/`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def is_url_table(name: str) -> bool:
    """Whether a path is that of `pages.csv`, at the top or in the one folder that an archive was made of."""
    folder, _, file = name.rpartition("/")
    return file == "pages.csv" and "/" not in folder


def swde_site(names: Iterable[str]) -> str:
    """The folder of the one SWDE site that all these files are pages of; empty if they are not."""
    site = ""
    for name in names:
        match = _SWDE_PAGE.fullmatch(name)
        if match is None or site not in ("", match[1]):
            return ""
        site = match[1]
    return site


def read_members(
    members: Iterable[Member],
    source: str,
    site: str,
    limits: Limits,
    skipped: Skipped,
    known_urls: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Page]:
    """The pages among the files; `site` is the SWDE folder that is left out of their ids, if there is one."""
    urls = dict(known_urls)
    started = False
    for name, open_member in members:
        try:
            with open_member() as file:
                if is_url_table(name):
                    if started:
                        skipped.add("pages.csv comes after pages in the archive: put it first", name)
                    urls |= read_urls(file, name, source, limits)
                    continue
                html = file.read(SNIFF)
                if not is_html(name, html):
                    if has_html_suffix(name):
                        skipped.add("not HTML", name)
                    continue
                # one byte more than allowed, so that a page over the limit can be told from one at it
                html += read_up_to(file, limits.bytes + 1 - len(html))
        except _UNREADABLE as error:
            skipped.add("cannot be read", f"{name}: {error}")
            continue
        if not html.strip():
            skipped.add("empty", name)
            continue
        started = True
        id = name.removeprefix(site)
        yield Page(url=urls.get(name) or page_url(html) or id, html=html, id=id, limits=limits)


def read_urls(file: IO[bytes], name: str, source: str, limits: Limits) -> dict[str, str]:
    """The URLs of files by their paths, as `pages.csv` gives them."""
    folder = name.removesuffix("pages.csv")
    text = read_up_to(file, limits.bytes).decode("utf-8-sig", "replace")
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if not {"path", "url"} <= set(rows.fieldnames or ()):
            raise SourceError(f"{source}: {name} needs the columns path,url in its first line")
        return {folder + row["path"]: row["url"] for row in rows if row["path"] and row["url"]}
    except csv.Error as error:
        raise SourceError(f"{source}: {name} is not readable as CSV: {error}") from error
