"""A folder of HTML files, or one such file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from untemplate.errors import SourceError
from untemplate.page import Limits, Page
from untemplate.sources.html import page_url
from untemplate.sources.members import Member, is_hidden, is_url_table, read_members, read_urls, swde_site
from untemplate.sources.pages import Part, Skipped
from untemplate.sources.stream import CUT_SHORT, open_stream, read_up_to

__all__ = ["FileReader", "FolderReader"]

_OTHER_SOURCES = frozenset(
    {".bz2", ".gz", ".jsonl", ".ndjson", ".parquet", ".tar", ".tgz", ".warc", ".xz", ".zip", ".zst"}
)


@dataclass(frozen=True)
class FolderReader:
    """A folder, with the folders in it; its files in the order of their paths."""

    path: Path
    limits: Limits

    @property
    def total(self) -> int:
        return sum(not is_url_table(name) for name in self._names(Skipped()))

    def check(self) -> None:
        """SourceError when there is no HTML file, with what to give instead if that can be guessed."""
        skipped = Skipped()
        if next(self.read(skipped), None) or skipped:
            return
        other = next(
            (name for name in self._names(Skipped()) if Path(name).suffix.lower() in _OTHER_SOURCES), None
        )
        instead = f"; give {self.path / other} itself" if other else ""
        raise SourceError(f"{self.path}: no HTML files in this folder{instead}")

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return read_members(
            self._members(skipped), str(self.path), swde_site(self._names(Skipped())), self.limits, skipped
        )

    def parts(self, size: int, skipped: Skipped) -> Iterator[Part]:
        """So many files each."""
        site = swde_site(self._names(Skipped()))
        urls: dict[str, str] = {}
        for name, open_table in self._url_tables():
            try:
                with open_table() as file:
                    urls |= read_urls(file, name, str(self.path), self.limits)
            except OSError as error:
                skipped.add("cannot be read", f"{name}: {error}")
        names = (name for name in self._names(skipped) if not is_url_table(name))
        while some := tuple(islice(names, size)):
            known_urls = {name: urls[name] for name in some if name in urls}
            yield Part(_SomeFiles(self.path, some, site, known_urls, self.limits))

    def _members(self, skipped: Skipped) -> Iterator[Member]:
        yield from self._url_tables()
        for name in self._names(skipped):
            if not is_url_table(name):
                yield Member(name, partial(_open, self.path / name))

    def _url_tables(self) -> list[Member]:
        tables = sorted({*self.path.glob("pages.csv"), *self.path.glob("*/pages.csv")})
        names = (path.relative_to(self.path).as_posix() for path in tables)
        return [Member(name, partial(_open, self.path / name)) for name in names if not is_hidden(name)]

    def _names(self, skipped: Skipped) -> Iterator[str]:
        folders = [iter(self._sorted_names("", skipped))]
        while folders:
            for name in folders[-1]:
                if name.endswith("/"):
                    folders.append(iter(self._sorted_names(name, skipped)))
                    break
                yield name
            else:
                folders.pop()

    def _sorted_names(self, folder: str, skipped: Skipped) -> list[str]:
        """The files and, with a slash at the end, folders in a folder: sorted as their whole paths are."""
        try:
            with os.scandir(self.path / folder) as entries:
                return sorted(
                    f"{folder}{entry.name}/"
                    if entry.is_dir(follow_symlinks=False)
                    else f"{folder}{entry.name}"
                    for entry in entries
                    if not is_hidden(entry.name) and (entry.is_dir(follow_symlinks=False) or entry.is_file())
                )
        except OSError as error:
            skipped.add("cannot be read", f"{self.path / folder}: {error.strerror or error}")
            return []


@dataclass(frozen=True)
class _SomeFiles:
    """Some files of a folder, with the URLs that `pages.csv` gives them."""

    path: Path
    names: tuple[str, ...]
    site: str
    urls: Mapping[str, str]
    limits: Limits

    @property
    def total(self) -> int:
        return len(self.names)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        members = (Member(name, partial(_open, self.path / name)) for name in self.names)
        return read_members(members, str(self.path), self.site, self.limits, skipped, self.urls)


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


@dataclass(frozen=True)
class FileReader:
    """One HTML file, compressed or not; its name is its id."""

    path: Path
    limits: Limits

    @property
    def total(self) -> int:
        return 1

    def read(self, skipped: Skipped) -> Iterator[Page]:
        with open_stream(self.path) as stream:
            html = read_up_to(stream, self.limits.bytes + 1)
            if stream.damage:
                skipped.add(CUT_SHORT, f"{self.path}: {stream.damage}")
        id = self.path.name
        yield Page(url=page_url(html) or id, html=html, id=id, limits=self.limits)
