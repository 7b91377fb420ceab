"""HTML files: a folder of them, a zip or tar archive of them, or one of them.

Folders and archives are streams of `Member` files. `read_members` selects the pages among them and gives each its id
and its URL.
"""

from __future__ import annotations

import csv
import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, BinaryIO, NamedTuple, cast

from untemplate.errors import SourceError
from untemplate.page import Limits, Page
from untemplate.sources.html_sniffing import has_html_suffix, is_html, page_url
from untemplate.sources.page_source import Skipped, SourcePart, StreamReader
from untemplate.sources.stream import CUT_SHORT, PIECE_BYTES, Stream, open_file, open_stream, read_up_to

__all__ = [
    "FileReader",
    "FolderReader",
    "Member",
    "TarReader",
    "ZipReader",
    "is_system_file",
    "is_tar",
    "is_url_table",
    "read_members",
    "swde_site",
]

_OTHER_SOURCES = frozenset(
    {".bz2", ".gz", ".jsonl", ".ndjson", ".parquet", ".tar", ".tgz", ".warc", ".xz", ".zip", ".zst"}
)
#: `<vertical>-<site>(<pages>)/<page>.htm`, the layout of the SWDE data set
_SWDE_PAGE = re.compile(r"((?:[^/]+/)*[a-z]+-[^/()]+\(\d+\)/)\d+\.html?")
SMALL_FILE_BYTES = 1 << 20
"""Files up to this size are read at once, larger ones only if they begin as HTML does."""

_UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_NO_URLS: Mapping[str, str] = MappingProxyType({})


class Member(NamedTuple):
    """A file of a folder or an archive: its relative POSIX path, and how to open it."""

    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def is_system_file(name: str) -> bool:
    """Return True for files that operating systems leave behind, such as `.DS_Store` or `__MACOSX/…`.

    Other hidden files, and all files in hidden folders such as `.git`, count too.
    """
    if name.startswith(".") or "/." in name:
        return True
    return "__MACOSX" in name and "__MACOSX" in name.split("/")


def is_url_table(name: str) -> bool:
    """Return True for the path of `pages.csv`, at the top or in the one folder that was packed into an archive."""
    folder, _, file = name.rpartition("/")
    return file == "pages.csv" and "/" not in folder


def swde_site(names: Iterable[str]) -> str:
    """Return the folder of the SWDE site whose pages these files are; empty if they are anything else.

    Reads no further than the first file that is no SWDE page.
    """
    site = ""
    for name in names:
        match = _SWDE_PAGE.fullmatch(name)
        if match is None or site not in ("", match[1]):
            return ""
        site = match[1]
    return site


def _find_swde_site(names: Iterator[str]) -> tuple[str, Iterator[str]]:
    """Return what `swde_site` returns, and all names again: a big folder takes long to list."""
    seen: list[str] = []

    def remember() -> Iterator[str]:
        for name in names:
            seen.append(name)
            yield name

    return swde_site(remember()), chain(seen, names)


def read_members(
    members: Iterable[Member],
    source: str,
    site: str,
    limits: Limits,
    skipped: Skipped,
    table_urls: Mapping[str, str] = _NO_URLS,
) -> Iterator[Page]:
    """Yield the pages among files.

    Args:
        members: The files; `pages.csv` has to come before the pages.
        source: The folder or archive, for messages.
        site: The SWDE folder to remove from the ids; empty for none.
        limits: The size limits of each page.
        skipped: Counts the pages that cannot be read.
        table_urls: The URLs by path that are known before any `pages.csv` is read.

    Raises:
        SourceError: `pages.csv` cannot be used.
    """
    urls = dict(table_urls)
    started = False
    for member in members:
        try:
            if is_url_table(member.name):
                if started:
                    skipped.add("pages.csv comes after pages in the archive: put it first", member.name)
                urls |= _read_url_table(member, source, limits)
                continue
            html = _read_html(member, limits)
        except _UNREADABLE as error:
            skipped.add("cannot be read", f"{member.name}: {error}")
            continue
        if html is None:
            if has_html_suffix(member.name):
                skipped.add("not HTML", member.name)
        elif not html or html.isspace():
            skipped.add("empty", member.name)
        else:
            started = True
            id = member.name.removeprefix(site)
            yield Page(url=urls.get(member.name) or page_url(html) or id, html=html, id=id, limits=limits)


def _read_html(member: Member, limits: Limits) -> bytes | None:
    """Read a page; None if it is not HTML. One byte over the limit is read, to recognize pages that are too big."""
    with member.open() as file:
        asked = min(_first_bytes(file), limits.bytes + 1)
        start = file.read(asked)
        if not is_html(member.name, start):
            return None
        if len(start) < asked and isinstance(file, io.FileIO):  # of files in folders, only the end is short
            return start
        return read_up_to(file, limits.bytes + 1 - len(start), start)


def _first_bytes(file: IO[bytes]) -> int:
    """Return how many bytes of a file to read first: all of it, if it is known to be small."""
    if isinstance(file, io.FileIO):
        size = os.fstat(file.fileno()).st_size + 1
        return size if size <= SMALL_FILE_BYTES else PIECE_BYTES
    return PIECE_BYTES


def _read_url_table(table: Member, source: str, limits: Limits) -> dict[str, str]:
    """Read `pages.csv`: the URLs of files by their paths.

    Args:
        table: The file; its paths are relative to its folder.
        source: The folder or archive, for messages.
        limits: No more than the bytes of a page are read.

    Raises:
        SourceError: The file is no CSV, or lacks a column.
    """
    folder = table.name.removesuffix("pages.csv")
    with table.open() as file:
        text = read_up_to(file, limits.bytes).decode("utf-8-sig", "replace")
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if not {"path", "url"} <= set(rows.fieldnames or ()):
            raise SourceError(f"{source}: {table.name} needs the columns path,url in its first line")
        return {folder + row["path"]: row["url"] for row in rows if row["path"] and row["url"]}
    except csv.Error as error:
        raise SourceError(f"{source}: {table.name} is not readable as CSV: {error}") from error


@dataclass(frozen=True)
class FolderReader:
    """Reads a folder and its subfolders; files in the order of their paths."""

    path: Path
    limits: Limits

    @property
    def total(self) -> int:
        """The number of files, which may include some that are no pages."""
        return sum(not is_url_table(name) for name in self._names(Skipped()))

    def check(self) -> None:
        """Raise SourceError if there is no HTML file; the message suggests another source found in the folder."""
        skipped = Skipped()
        pages = read_members(self._members(skipped), str(self.path), "", self.limits, skipped)
        if next(pages, None) or skipped:
            return
        suggestion = ""
        for name in self._names(Skipped()):
            if Path(name).suffix.lower() in _OTHER_SOURCES:
                suggestion = f"; give {self.path / name} itself"
                break
        raise SourceError(f"{self.path}: no HTML files in this folder{suggestion}")

    def read(self, skipped: Skipped) -> Iterator[Page]:
        site = swde_site(self._names(Skipped()))
        return read_members(self._members(skipped), str(self.path), site, self.limits, skipped)

    def parts(self, size: int, skipped: Skipped) -> Iterator[SourcePart]:
        """Split into parts of `size` files.

        The URLs of `pages.csv` are read here, once, and each part gets those of its files.
        """
        site, names = _find_swde_site(self._names(skipped))
        urls = self._read_url_tables(skipped)
        page_names = (name for name in names if not is_url_table(name))
        while part := tuple(islice(page_names, size)):
            table_urls = {name: urls[name] for name in part if name in urls}
            yield SourcePart(_FolderPart(self.path, part, site, table_urls, self.limits))

    def _read_url_tables(self, skipped: Skipped) -> dict[str, str]:
        """Read the URLs of all `pages.csv` by path; a table that cannot be read is counted as skipped."""
        urls: dict[str, str] = {}
        for table in self._url_tables():
            try:
                urls |= _read_url_table(table, str(self.path), self.limits)
            except OSError as error:
                skipped.add("cannot be read", f"{table.name}: {error}")
        return urls

    def _members(self, skipped: Skipped) -> Iterator[Member]:
        """Yield the URL tables, then the other files: URLs have to be known before the pages come."""
        yield from self._url_tables()
        for name in self._names(skipped):
            if not is_url_table(name):
                yield _folder_member(self.path, name)

    def _url_tables(self) -> list[Member]:
        """List `pages.csv` at the top and in the folders below it, as `is_url_table` recognizes them."""
        tables = sorted({*self.path.glob("pages.csv"), *self.path.glob("*/pages.csv")})
        names = [path.relative_to(self.path).as_posix() for path in tables]
        return [_folder_member(self.path, name) for name in names if not is_system_file(name)]

    def _names(self, skipped: Skipped) -> Iterator[str]:
        """Yield the relative paths of all files, depth first, with one sorted listing per level in memory."""
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
        """List the files and, with a slash at the end, the folders in a folder, sorted by their whole paths.

        The slash makes the order that of the paths of all files: `a/z` comes after `a.html`, because `.` is less.
        """
        try:
            with os.scandir(self.path / folder) as entries:
                names = [_entry_name(entry) for entry in entries]
        except OSError as error:
            skipped.add("cannot be read", f"{self.path / folder}: {error.strerror or error}")
            return []
        return sorted([folder + name for name in names if name])


def _entry_name(entry: os.DirEntry[str]) -> str:
    """Return the name of a file, or of a folder with a slash; empty for anything else.

    Links to folders are not followed, because they may lead back to where we come from.
    """
    if is_system_file(entry.name):
        return ""
    if entry.is_dir(follow_symlinks=False):
        return f"{entry.name}/"
    return entry.name if entry.is_file() else ""


def _folder_member(folder: Path, name: str) -> Member:
    return Member(name, partial(_open_binary, f"{folder}/{name}"))


def _open_binary(path: str) -> BinaryIO:
    """Open a file without a buffer, as it is read in a few large pieces."""
    return cast("BinaryIO", io.FileIO(path))


@dataclass(frozen=True)
class _FolderPart:
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
        members = (_folder_member(self.path, name) for name in self.names)
        return read_members(members, str(self.path), self.site, self.limits, skipped, self.urls)


@dataclass(frozen=True)
class FileReader:
    """Reads one HTML file, compressed or not; its name is its id."""

    path: Path
    limits: Limits

    @property
    def total(self) -> int:
        return 1

    def read(self, skipped: Skipped) -> Iterator[Page]:
        """Yield the page. Of a damaged file, the readable part is the page."""
        with open_stream(self.path) as stream:
            html = read_up_to(stream, self.limits.bytes + 1)
            if stream.damage:
                skipped.add(CUT_SHORT, f"{self.path}: {stream.damage}")
        id = self.path.name
        yield Page(url=page_url(html) or id, html=html, id=id, limits=self.limits)


_BLOCK_BYTES = tarfile.BLOCKSIZE
# Bytes of a long name or another extended field of a tar header.
_MAX_TAR_FIELD = 1 << 20
# The header in front of each file of a zip archive, without the file's name.
_ZIP_HEADER_BYTES = 30
# A hostile header may be damaged in ways for which tarfile has no error of its own.
_BAD_TAR = (tarfile.TarError, ValueError, RecursionError)


@dataclass(frozen=True)
class ZipReader:
    """Reads a zip archive; pages in the order of its directory."""

    path: Path
    limits: Limits

    @cached_property
    def total(self) -> int:
        """The number of files, which may include some that are no pages."""
        with self._open() as archive:
            return sum(not is_url_table(name) for name, _ in _zip_files(archive))

    def check(self) -> None:
        """Raise SourceError if it is not a complete zip archive."""
        with self._open():
            pass

    def read(self, skipped: Skipped) -> Iterator[Page]:
        """Yield the pages of the archive; `pages.csv` is read first, wherever it is."""
        with self._open() as archive:
            files = sorted(_zip_files(archive), key=lambda file: not is_url_table(file[0]))
            if _has_overlaps(archive):
                skipped.add("its files overlap, as in a zip bomb: nothing of it is read", str(self.path))
                return
            members = (Member(name, partial(archive.open, info)) for name, info in files)
            site = swde_site(name for name, _ in files)
            yield from read_members(members, str(self.path), site, self.limits, skipped)

    @contextmanager
    def _open(self) -> Iterator[zipfile.ZipFile]:
        with open_file(self.path) as file:
            try:
                archive = zipfile.ZipFile(file)
            except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
                message = f"{self.path}: not a whole zip archive ({error}); fetch it again"
                raise SourceError(message) from error
            with archive:
                yield archive


def _has_overlaps(archive: zipfile.ZipFile) -> bool:
    """Return True if files of an archive share bytes: a small archive may then unpack to any size."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.header_offset < end:
            return True
        end = info.header_offset + _ZIP_HEADER_BYTES + info.compress_size
    return False


def _zip_files(archive: zipfile.ZipFile) -> list[tuple[str, zipfile.ZipInfo]]:
    """List the files of an archive, without folders and system files, by clean path."""
    files = []
    for info in archive.infolist():
        name = _clean_path(info.filename)
        if not info.is_dir() and not is_system_file(name):
            files.append((name, info))
    return files


class _LimitedTarInfo(tarfile.TarInfo):
    """A header that refuses names and other fields of any size: tarfile reads them into memory."""

    def _check_size(self) -> None:
        if self.size > _MAX_TAR_FIELD:
            raise tarfile.ReadError(f"a header of {self.size:,} bytes")

    def _proc_gnulong(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        self._check_size()
        return super()._proc_gnulong(tar)  # type: ignore[misc, no-any-return]

    def _proc_pax(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        self._check_size()
        return super()._proc_pax(tar)  # type: ignore[misc, no-any-return]


@dataclass(frozen=True)
class TarReader(StreamReader):
    """Reads a tar archive, compressed or not; pages in the order of the archive."""

    path: Path
    limits: Limits

    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        """Yield the pages up to the end or the first damage, which counts as skipped."""
        try:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_LimitedTarInfo) as tar:
                yield from read_members(_tar_members(tar), str(self.path), self._site, self.limits, skipped)
        except _BAD_TAR as error:
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage or error}")

    @cached_property
    def _site(self) -> str:
        """The folder of the SWDE site, if it is one."""
        with open_stream(self.path) as stream:
            try:
                with tarfile.open(fileobj=stream, mode="r|", tarinfo=_LimitedTarInfo) as tar:
                    return swde_site(member.name for member in _tar_members(tar))
            except _BAD_TAR:
                return ""


def is_tar(head: bytes) -> bool:
    """Return True if the first block of a file is the header of a tar archive; its checksum decides."""
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK_BYTES], "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


def _tar_members(tar: tarfile.TarFile) -> Iterator[Member]:
    """Yield the regular files of an archive.

    Raises:
        tarfile.ReadError: The archive is cut short. tarfile accepts any end; a complete archive ends with two empty
            blocks, of which tarfile reads one.
    """
    while info := tar.next():
        # forgotten at once, or memory would grow with the archive
        tar.members.clear()  # type: ignore[attr-defined]
        name = _clean_path(info.name)
        if info.isreg() and not is_system_file(name):
            yield Member(name, partial(_open_tar_file, tar, info))
    if cast("IO[bytes]", tar.fileobj).read(_BLOCK_BYTES) != bytes(_BLOCK_BYTES):
        raise tarfile.ReadError("unexpected end of archive")


def _open_tar_file(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return cast("IO[bytes]", tar.extractfile(info))


def _clean_path(name: str) -> str:
    """Return a path with slashes only and without empty steps.

    Archives made on Windows may contain backslashes, and many begin each path with `./`.
    """
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
