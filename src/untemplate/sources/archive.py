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
from untemplate.sources.members import Member, is_hidden, is_url_table, read_members, swde_site
from untemplate.sources.pages import Skipped, StreamReader
from untemplate.sources.stream import CUT_SHORT, Stream, open_file, open_stream

__all__ = ["TarReader", "ZipReader", "is_tar"]

_BLOCK = tarfile.BLOCKSIZE
# A hostile header may be damaged in ways that tarfile has no error of its own for.
_BAD_TAR = (tarfile.TarError, ValueError, RecursionError)


@dataclass(frozen=True)
class ZipReader:
    """A zip archive; pages in the order in which they are listed."""

    path: Path
    limits: Limits

    @cached_property
    def total(self) -> int:
        with self._open() as archive:
            return sum(not is_url_table(name) for name, _ in _files(archive))

    def check(self) -> None:
        """SourceError when it is no zip archive after all."""
        with self._open():
            pass

    def read(self, skipped: Skipped) -> Iterator[Page]:
        with self._open() as archive:
            files = sorted(_files(archive), key=lambda file: not is_url_table(file[0]))
            members = (Member(name, partial(archive.open, info)) for name, info in files)
            site = swde_site(name for name, _ in files)
            yield from read_members(members, str(self.path), site, self.limits, skipped)

    @contextmanager
    def _open(self) -> Iterator[zipfile.ZipFile]:
        with open_file(self.path) as file:
            try:
                archive = zipfile.ZipFile(file)
            except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
                raise SourceError(
                    f"{self.path}: not a whole zip archive ({error}); fetch it again"
                ) from error
            with archive:
                yield archive


def _files(archive: zipfile.ZipFile) -> list[tuple[str, zipfile.ZipInfo]]:
    files = ((_clean(info.filename), info) for info in archive.infolist() if not info.is_dir())
    return [(name, info) for name, info in files if not is_hidden(name)]


@dataclass(frozen=True)
class TarReader(StreamReader):
    """A tar archive, compressed or not; pages in the order in which they stand in it."""

    path: Path
    limits: Limits

    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        try:
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                yield from read_members(_members(tar), str(self.path), self._site, self.limits, skipped)
        except _BAD_TAR as error:
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage or error}")

    @cached_property
    def _site(self) -> str:
        # reads no further than the first file that is not an SWDE page
        with open_stream(self.path) as stream:
            try:
                with tarfile.open(fileobj=stream, mode="r|") as tar:
                    return swde_site(member.name for member in _members(tar))
            except _BAD_TAR:
                return ""


def is_tar(head: bytes) -> bool:
    """Whether the first block of a file is the header of a tar archive, by its checksum."""
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


def _members(tar: tarfile.TarFile) -> Iterator[Member]:
    while info := tar.next():
        # forgotten at once, or memory would grow with the archive
        tar.members.clear()  # type: ignore[attr-defined]
        name = _clean(info.name)
        if info.isreg() and not is_hidden(name):
            yield Member(name, partial(_extract, tar, info))
    # tarfile takes any end for the end: the second of the two empty blocks there tells a true one
    if cast("IO[bytes]", tar.fileobj).read(_BLOCK) != bytes(_BLOCK):
        raise tarfile.ReadError("unexpected end of archive")


def _extract(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return cast("IO[bytes]", tar.extractfile(info))


def _clean(name: str) -> str:
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
