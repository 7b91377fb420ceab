"""Zip and tar archives of HTML files."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import IO, cast

from untemplate.errors import SourceError
from untemplate.page import Limits, Page
from untemplate.sources.folder import Member, is_system_file, is_url_table, read_members, swde_site
from untemplate.sources.page_source import Skipped, StreamReader
from untemplate.sources.stream import CUT_SHORT, Stream, open_file, open_stream

__all__ = ["TarReader", "ZipReader", "is_tar"]

_BLOCK_BYTES = tarfile.BLOCKSIZE
# A hostile header may be damaged in ways for which tarfile has no error of its own.
_BAD_TAR = (tarfile.TarError, ValueError, RecursionError)


@dataclass(frozen=True)
class ZipReader:
    """Reads a zip archive; pages in the order of its directory."""

    path: Path
    limits: Limits

    @cached_property
    def total(self) -> int:
        with self._open() as archive:
            return sum(not is_url_table(name) for name, _ in _zip_files(archive))

    def check(self) -> None:
        """Raise SourceError if it is not a complete zip archive."""
        with self._open():
            pass

    def read(self, skipped: Skipped) -> Iterator[Page]:
        with self._open() as archive:
            files = sorted(_zip_files(archive), key=lambda file: not is_url_table(file[0]))
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


def _zip_files(archive: zipfile.ZipFile) -> list[tuple[str, zipfile.ZipInfo]]:
    """List the files of an archive, without folders and system files, by clean path."""
    files = [(_clean_path(info.filename), info) for info in archive.infolist() if not info.is_dir()]
    return [(name, info) for name, info in files if not is_system_file(name)]


@dataclass(frozen=True)
class TarReader(StreamReader):
    """Reads a tar archive, compressed or not; pages in the order of the archive."""

    path: Path
    limits: Limits

    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        try:
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                yield from read_members(_tar_members(tar), str(self.path), self._site, self.limits, skipped)
        except _BAD_TAR as error:
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage or error}")

    @cached_property
    def _site(self) -> str:
        """The folder of the SWDE site, if it is one; reads no further than the first file that is no SWDE page."""
        with open_stream(self.path) as stream:
            try:
                with tarfile.open(fileobj=stream, mode="r|") as tar:
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
    """Return a path with slashes only and without empty steps."""
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
