"""The body of an HTTP answer as the server meant it: chunks joined, compression undone, within a limit."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable

import zstandard

from untemplate.errors import PageError
from untemplate.sources._fastwarc import BrotliReader

__all__ = ["decode_body", "join_chunks"]


def join_chunks(body: bytes) -> bytes:
    """Undo `Transfer-Encoding: chunked`; a body that is not chunked is returned as it is.

    Many crawlers join the chunks and keep the header.
    """
    joined = io.BytesIO()
    position = 0
    while True:
        end = body.find(b"\n", position, position + 1024)
        try:
            size = int(body[position:end].partition(b";")[0], 16) if end >= 0 else -1
        except ValueError:
            size = -1
        if size < 0:
            return joined.getvalue() if position else body
        if size == 0:
            return joined.getvalue()
        joined.write(body[end + 1 : end + 1 + size])
        position = body.find(b"\n", end + 1 + size) + 1
        if not position:
            return joined.getvalue()


def decode_body(body: bytes, encoding: str, limit: int) -> bytes:
    """Undo a `Content-Encoding`, up to `limit` bytes; PageError when it is unknown or the body is damaged.

    A body that was decompressed already, header kept, is returned as it is.
    """
    for name in reversed(encoding.lower().replace(" ", "").split(",")):
        if name in ("", "identity", "none", "utf-8"):
            continue
        if name not in _DECODERS:
            raise PageError("unknown content encoding")
        try:
            body = _DECODERS[name](body, limit)
        except (zlib.error, zstandard.ZstdError, OSError, EOFError) as error:
            raise PageError("body cannot be decompressed") from error
    return body


def _gunzip(body: bytes, limit: int) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    return zlib.decompressobj(wbits=31).decompress(body, limit)


def _inflate(body: bytes, limit: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(body, limit)
    except zlib.error:  # many servers leave out the zlib header
        return zlib.decompressobj(wbits=-15).decompress(body, limit)


def _unzstd(body: bytes, limit: int) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(body).read(limit)


def _unbrotli(body: bytes, limit: int) -> bytes:
    return bytes(BrotliReader(io.BytesIO(body)).read(limit))


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "zstd": _unzstd,
    "br": _unbrotli,
}
