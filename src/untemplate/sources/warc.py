"""WARC: the HTML pages among the answers that a crawler recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from untemplate.errors import PageError
from untemplate.page import Limits, Page
from untemplate.sources._fastwarc import ArchiveIterator, WarcRecord, WarcRecordType
from untemplate.sources.body import decode_body, join_chunks
from untemplate.sources.html import HTML_TYPES, is_html
from untemplate.sources.pages import Skipped, StreamReader
from untemplate.sources.stream import CUT_SHORT, Stream

__all__ = ["WarcReader"]


class _CutShortError(Exception):
    pass


@dataclass(frozen=True)
class WarcReader(StreamReader):
    """A WARC file, compressed or not; a page's id is its URL."""

    path: Path
    limits: Limits

    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        records = ArchiveIterator(
            stream, record_types=WarcRecordType.response, parse_http=False, stream_detect=False
        )
        try:
            for record in records:
                url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
                try:
                    page = _page(record, url, self.limits)
                except PageError as error:
                    skipped.add(str(error), url)
                else:
                    if page is not None:
                        yield page
        except (OSError, _CutShortError) as error:  # fastwarc raises OSError for all that is not WARC
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage or error}")
        else:
            if stream.damage:
                skipped.add(CUT_SHORT, f"{self.path}: {stream.damage}")


def _page(record: WarcRecord, url: str, limits: Limits) -> Page | None:
    """The page of a record, None if it is not HTML; PageError when it cannot be read."""
    if not url or "Content-Length" not in record.headers:
        raise _CutShortError("unexpected end of record headers")
    if not record.is_http:
        return None
    try:
        record.parse_http(auto_decode="none")
    except OSError as error:
        raise PageError("HTTP headers cannot be read") from error
    kind = record.http_content_type
    if kind is not None and kind.lower() not in HTML_TYPES:
        return None
    length = record.content_length
    body = record.reader.read(min(length, limits.bytes + 1))
    if len(body) < min(length, limits.bytes + 1):
        raise _CutShortError("unexpected end of record")
    headers = record.http_headers
    if headers.status_code != 200:
        raise PageError(f"HTTP status {headers.status_code or 'missing'}")
    if "chunked" in (headers.get("Transfer-Encoding") or "").lower():
        body = join_chunks(body)
    body = decode_body(body, headers.get("Content-Encoding") or "", limits.bytes + 1)
    if kind is None and not is_html("", body):
        return None
    if not body.strip():
        raise PageError("empty")
    return Page(url, body, fetched=record.record_date, charset=record.http_charset, limits=limits)
