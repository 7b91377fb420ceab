"""WARC: the HTML pages among the HTTP responses that a crawler recorded, and the decoding of their bodies."""

from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

from untemplate.errors import PageError
from untemplate.page import Limits, Page
from untemplate.sources.html_sniffing import HTML_TYPES, is_html
from untemplate.sources.page_source import Skipped, StreamReader
from untemplate.sources.stream import CUT_SHORT, Stream

with warnings.catch_warnings():  # version 1.1 of fastwarc warns about itself
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.stream_io import BrotliReader
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

__all__ = [
    "WarcReader",
    "WarcRecord",
    "decode_body",
    "decode_record_body",
    "join_chunks",
    "parse_http_headers",
    "read_responses",
]

#: content encodings that change nothing
_NO_ENCODINGS = ("", "identity", "none", "utf-8")


class _CutShortError(Exception):
    """The file ends within a record."""


@dataclass(frozen=True)
class WarcReader(StreamReader):
    """Reads a WARC file, compressed or not; a page's id is its URL."""

    path: Path
    limits: Limits

    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        """Yield the pages up to the end or the first damage; damage and unreadable pages count as skipped."""
        try:
            for url, record in read_responses(stream):
                try:
                    page = _record_page(record, url, self.limits)
                except PageError as error:
                    skipped.add(str(error), url)
                    continue
                if page is not None:
                    yield page
        except (OSError, _CutShortError) as error:  # fastwarc raises OSError for anything that is not WARC
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage or error}")
            return
        if stream.damage:
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage}")


def read_responses(stream: Stream) -> Iterator[tuple[str, WarcRecord]]:
    """Yield each recorded response with its URL, which is empty if the record is damaged.

    Raises:
        OSError: From here on, the file is not WARC.
    """
    records = ArchiveIterator(
        stream, record_types=WarcRecordType.response, parse_http=False, stream_detect=False
    )
    for record in records:
        yield (record.headers.get("WARC-Target-URI") or "").strip("<>"), record


def _record_page(record: WarcRecord, url: str, limits: Limits) -> Page | None:
    """Return the page of a record; None if it is not HTML.

    Args:
        record: The record of a response.
        url: Its URL; empty if the record is damaged.
        limits: The size limits of the page. One byte more is read, to recognize pages that are too big.

    Raises:
        PageError: The page cannot be read.
        _CutShortError: The file ends here.
    """
    if not url or "Content-Length" not in record.headers:
        raise _CutShortError("unexpected end of record headers")
    if not record.is_http:
        return None
    parse_http_headers(record)
    if not _may_be_html(record):
        return None
    body = _read_raw_body(record, limits.bytes + 1)
    status = record.http_headers.status_code
    if status != 200:
        raise PageError(f"HTTP status {status or 'missing'}")
    html = decode_record_body(record, body, limits.bytes + 1)
    if record.http_content_type is None and not is_html("", html):
        return None
    if not html.strip():
        raise PageError("empty")
    return Page(url, html, fetched=record.record_date, charset=record.http_charset, limits=limits)


def _may_be_html(record: WarcRecord) -> bool:
    """Return False if the content type excludes HTML. Without one, the content will decide."""
    content_type = record.http_content_type
    return content_type is None or content_type.lower() in HTML_TYPES


def parse_http_headers(record: WarcRecord) -> None:
    """Let a record parse its HTTP headers, which it does not by itself.

    Raises:
        PageError: They cannot be read.
    """
    try:
        record.parse_http(auto_decode="none")
    except OSError as error:
        raise PageError("HTTP headers cannot be read") from error


def _read_raw_body(record: WarcRecord, limit: int) -> bytes:
    """Read the body as it was sent, up to the limit; _CutShortError if the file ends before."""
    size = min(record.content_length, limit)
    body = bytes(record.reader.read(size))
    if len(body) < size:
        raise _CutShortError("unexpected end of record")
    return body


def decode_record_body(record: WarcRecord, body: bytes, limit: int) -> bytes:
    """Undo the encodings that the HTTP headers of a record name.

    Args:
        record: The record, after `parse_http_headers`.
        body: Its body as it was sent.
        limit: The maximum number of bytes to return; see `decode_body`.

    Raises:
        PageError: The body cannot be decoded.
    """
    headers = record.http_headers
    if "chunked" in (headers.get("Transfer-Encoding") or "").lower():
        body = join_chunks(body)
    return decode_body(body, headers.get("Content-Encoding") or "", limit)


def join_chunks(body: bytes) -> bytes:
    """Undo `Transfer-Encoding: chunked`.

    A body that is not chunked is returned unchanged: many crawlers join the chunks and keep the header.
    """
    joined = io.BytesIO()
    position = 0
    while True:
        line_end = body.find(b"\n", position, position + 1024)
        size = _chunk_size(body[position:line_end]) if line_end >= 0 else None
        if size is None:
            return joined.getvalue() if position else body
        if size == 0:
            return joined.getvalue()
        start = line_end + 1
        joined.write(body[start : start + size])
        position = body.find(b"\n", start + size) + 1
        if not position:
            return joined.getvalue()


def _chunk_size(line: bytes) -> int | None:
    """Parse the first line of a chunk: its size in hexadecimal digits, then maybe extensions."""
    try:
        size = int(line.partition(b";")[0], 16)
    except ValueError:
        return None
    return size if size >= 0 else None


def decode_body(body: bytes, encoding: str, limit: int) -> bytes:
    """Undo a `Content-Encoding`, up to `limit` bytes.

    A body that is not compressed is returned unchanged: some crawlers decompress it and keep the header.

    Args:
        body: The body as it was sent.
        encoding: The value of the header; it may name several encodings.
        limit: No more than this many bytes are decompressed, so a small body cannot fill the memory.

    Raises:
        PageError: The encoding is unknown, or the body is damaged.
    """
    for name in reversed(encoding.lower().replace(" ", "").split(",")):
        if name in _NO_ENCODINGS:
            continue
        if name not in _DECODERS:
            raise PageError("unknown content encoding")
        try:
            body = _DECODERS[name](body, limit)
        except (zlib.error, zstandard.ZstdError, OSError, EOFError) as error:
            raise PageError("body cannot be decompressed") from error
    return body


def _decode_gzip(body: bytes, limit: int) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    return zlib.decompressobj(wbits=31).decompress(body, limit)


def _decode_deflate(body: bytes, limit: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(body, limit)
    except zlib.error:  # many servers leave out the zlib header
        return zlib.decompressobj(wbits=-15).decompress(body, limit)


def _decode_zstd(body: bytes, limit: int) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(body).read(limit)


def _decode_brotli(body: bytes, limit: int) -> bytes:
    return bytes(BrotliReader(io.BytesIO(body)).read(limit))


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _decode_gzip,
    "x-gzip": _decode_gzip,
    "deflate": _decode_deflate,
    "zstd": _decode_zstd,
    "br": _decode_brotli,
}
