"""What an agent may touch: pages below some folders or at some hosts, and files of one working folder.

Agents read pages of strangers, so what they ask for may be what a page told them to ask for. Every path is resolved
before it is compared, with its symbolic links. Names of what an agent keeps are plain words, so they cannot leave the
working folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from untemplate.errors import InputError, SourceError
from untemplate.page import Page
from untemplate.sources import Pages, Skipped, read_pages
from untemplate.sources.fetch import Politeness

__all__ = ["MAX_PAGES", "Sandbox"]

MAX_PAGES = 2_000
"""Pages of a source that are kept in memory for templates and learning; extraction reads all of them."""

# Sources that a list shows.
MAX_LISTED = 100

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_URL_LIST = "urls.txt"


class Sandbox:
    """The folders, hosts and files of one server.

    Args:
        folders: where sources of pages are.
        work: the folder for rules, labels and records; it is made if needed.
        hosts: hosts whose pages may be fetched.

    Raises:
        InputError: a folder does not exist, or the working folder cannot be made.
    """

    def __init__(self, folders: Sequence[Path], work: Path, hosts: Iterable[str] = ()) -> None:
        for folder in folders:
            if not folder.exists():
                raise InputError(f"{folder}: no such file or folder")
        try:
            work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{work}: cannot be made: {error.strerror}") from error
        self.work = work.resolve()
        self.hosts = frozenset(host.lower() for host in hosts)
        self._roots = [folder.resolve() for folder in folders]

    def list_sources(self) -> list[str]:
        """Return the folders and files that may be sources, as names for `read_source`."""
        names: list[str] = []
        for root in self._roots:
            names.append(str(root))
            if root.is_dir():
                names += sorted(str(entry) for entry in root.iterdir() if not entry.name.startswith("."))
        return [name for name in names if not _is_page(name)][:MAX_LISTED]

    def read_source(self, source: str) -> Pages:
        """Return the pages of a source.

        Args:
            source: a path below one of the folders, or the address of a page at an allowed host.

        Raises:
            SourceError: there is no such source, or it is not allowed.
        """
        politeness = Politeness(hosts=self.hosts)
        if re.match("https?://", source, re.IGNORECASE):
            return read_pages(self._write_url(source), politeness=politeness)
        path = self.find_source(source)
        pages = read_pages(path, politeness=politeness)
        return Pages(pages.source, _Inside(pages, path, self)) if path.is_dir() else pages

    def find_source(self, source: str) -> Path:
        """Return the path of a source below one of the folders.

        Raises:
            SourceError: there is no such source, or it is not allowed.
        """
        for root in self._roots:
            try:
                path = (root / source).resolve(strict=True)
            except (OSError, ValueError, RuntimeError):  # not there, a name no system has, links in a circle
                continue
            if self.is_inside(path):
                return path
        raise SourceError(f"{_shorten_path(source)}: no such source below the folders of this server")

    def is_inside(self, path: Path) -> bool:
        """Return True if a resolved path is below one of the folders, or of the working folder."""
        return any(path.is_relative_to(root) for root in (*self._roots, self.work))

    def file_of(self, name: str, ending: str) -> Path:
        """Return the path of a file of the working folder.

        Raises:
            InputError: the name is not made of letters, digits, - and _.
        """
        if not _NAME.fullmatch(name):
            raise InputError(f"{_shorten_path(name)}: not a name: use up to 60 letters, digits, - and _")
        return self.work / f"{name}.{ending}"

    def _write_url(self, url: str) -> Path:
        """Return a list with one URL, for pages that are fetched.

        Raises:
            SourceError: the host is not allowed.
        """
        host = urlsplit(url).hostname or ""
        if host not in self.hosts:
            raise SourceError(f"{_shorten_path(url)}: this server may not fetch from {host or 'there'}")
        path = self.work / _URL_LIST
        path.write_text(url.split()[0] + "\n", "utf-8")
        return path


class _Inside:
    """Reads a folder without files that are links to somewhere outside of the sandbox."""

    def __init__(self, pages: Pages, folder: Path, sandbox: Sandbox) -> None:
        self._pages, self._folder, self._sandbox = pages, folder, sandbox

    @property
    def total(self) -> int | None:
        return self._pages.total

    def read(self, skipped: Skipped) -> Iterator[Page]:
        for page in self._pages:
            if self._sandbox.is_inside((self._folder / page.id).resolve()):
                yield page
            else:
                skipped.add("a link to outside of the folders", page.id)
        skipped.update(self._pages.skipped)


def _is_page(name: str) -> bool:
    return name.endswith((".html", ".htm", "pages.csv"))


def _shorten_path(text: str) -> str:
    """Return a text of an agent in one short line, for messages."""
    line = " ".join("".join(char if char.isprintable() else "?" for char in text).split())
    return line if len(line) <= 80 else f"{line[:79]}…"
