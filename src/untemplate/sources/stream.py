"""The decompressed bytes of a file. Of a damaged file, the readable part."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard
from zlib_ng import zlib_ng

from untemplate.errors import SourceError

__all__ = [
    "COMPRESSED_SUFFIXES",
    "CUT_SHORT",
    "PIECE_BYTES",
    "Stream",
    "SupportsRead",
    "open_file",
    "open_stream",
    "read_up_to",
]

PIECE_BYTES = 1 << 16
"""Bytes that are read at once. For bigger pieces, the system maps new memory each time."""

#: why pages were skipped at the end of a damaged file
CUT_SHORT = "the file is cut short or damaged: the rest of it is missing"
#: suffixes of files that `open_stream` decompresses; it recognizes them by content, not by these
COMPRESSED_SUFFIXES = frozenset({".bz2", ".gz", ".xz", ".zst"})

# The types of zlib-ng call its error an instance.
_DAMAGE: tuple[type[Exception], ...] = (
    *(EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError),
    zlib_ng.error,  # type: ignore[assignment]
)


class SupportsRead(Protocol):
    """Anything with bytes to read."""

    def read(self, size: int, /) -> bytes: ...


class _Decompressed(Protocol):
    def read1(self, size: int = -1, /) -> bytes: ...


class _Gzip:
    """Decompresses gzip more than twice as fast as Python does, which takes over where the file is damaged.

    Python returns everything that comes before the damage.
    """

    def __init__(self, file: BinaryIO) -> None:
        from zlib_ng.gzip_ng import GzipNGFile  # here, as few sources need it

        self._file = file
        self._content: gzip.GzipFile = GzipNGFile(fileobj=file)  # type: ignore[no-untyped-call]
        self._is_damaged = False
        self._position = 0

    def read1(self, size: int = -1, /) -> bytes:
        if not self._is_damaged:
            try:
                data = self._content.read1(size)
                self._position += len(data)
                return data
            except _DAMAGE:
                self._start_again()
        return self._content.read1(size)

    def _start_again(self) -> None:
        """Let Python decompress the file up to where we are."""
        self._is_damaged = True
        self._file.seek(0)
        self._content = gzip.GzipFile(fileobj=self._file)
        while self._position and (data := self._content.read1(min(self._position, PIECE_BYTES))):
            self._position -= len(data)


def _open_zstd(file: BinaryIO) -> _Decompressed:
    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)


#: what opens a compressed file, by the first bytes of the file
_DECOMPRESSORS: dict[bytes, Callable[[BinaryIO], _Decompressed]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": lambda file: bz2.BZ2File(file),
    b"\xfd7zXZ\0": lambda file: lzma.LZMAFile(file),  # noqa: SIM115 — closed with its stream
    b"\x28\xb5\x2f\xfd": _open_zstd,
}


class Stream(io.BufferedReader):
    """A decompressed file that ends where its readable part ends. If that is too early, `damage` says why."""

    def __init__(self, file: BinaryIO, content: _Decompressed) -> None:
        self._source = _RawStream(file, content)
        super().__init__(self._source, 1 << 16)

    @property
    def damage(self) -> str | None:
        return self._source.damage

    @property
    def share(self) -> float:
        """The share of the file that was read so far."""
        return self._source.share


class _RawStream(io.RawIOBase):
    """The unbuffered bytes of a `Stream`."""

    def __init__(self, file: BinaryIO, content: _Decompressed) -> None:
        self._file = file
        self._content = content
        self._position = 0
        self.damage: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer with what is decompressed so far, which `read` would lose to an error that comes later."""
        if self.damage is not None:
            return 0
        try:
            data = self._content.read1(len(buffer))
        except _DAMAGE as error:
            self.damage = str(error) or type(error).__name__
            return 0
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    @property
    def share(self) -> float:
        """The share of the compressed bytes that was read; 1 for an empty file."""
        size = os.fstat(self._file.fileno()).st_size
        return self._file.tell() / size if size else 1.0

    def close(self) -> None:
        self._file.close()
        super().close()


def read_up_to(file: SupportsRead, size: int, start: bytes = b"") -> bytes:
    """Read at most `size` bytes, in pieces: a big size alone costs no memory. What was read before may be given."""
    pieces = [start]
    while size > 0 and (piece := file.read(min(size, PIECE_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def open_file(path: Path) -> io.BufferedReader:
    """Open a file for reading.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        return path.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error


def open_stream(path: Path) -> Stream:
    """Open a file for reading and decompress it by its first bytes: gzip, bzip2, xz, Zstandard, or not at all.

    Raises:
        SourceError: The file cannot be read.
    """
    file = open_file(path)
    magic = file.read(8)
    file.seek(0)
    for prefix, decompress in _DECOMPRESSORS.items():
        if magic.startswith(prefix):
            return Stream(file, decompress(file))
    return Stream(file, file)
