"""WARC: what its records say about a page, what is skipped, and how bodies are decoded."""

from __future__ import annotations

import gzip
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.containers import warc_record
from untemplate import PageError
from untemplate.sources import read_pages
from untemplate.sources.warc import decode_body, join_chunks

HTML = "Content-Type: text/html"
GZIP = f"{HTML}\r\nContent-Encoding: gzip"
CHUNKED = f"{HTML}\r\nTransfer-Encoding: chunked"


def test_warc_charset_and_date(tmp_path: Path) -> None:
    record = warc_record("http://x.com/", b"<p>caf\xe9", "Content-Type: text/html; charset=windows-1252")
    (tmp_path / "a.warc").write_bytes(record)
    (page,) = read_pages(tmp_path / "a.warc")
    assert page.fetched == datetime(2021, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert page.text == "<p>café"
    assert page.id == page.url == "http://x.com/"


def test_warc_records(tmp_path: Path) -> None:
    body = b"<p>" + b"x" * 1000
    records = {
        "plain": warc_record("http://x/1", body),
        "gzip": warc_record("http://x/2", gzip.compress(body), GZIP),
        "joined": warc_record("http://x/3", body, CHUNKED),
        "chunked": warc_record(
            "http://x/4",
            b"3\r\n<p>\r\n3e8;a=b\r\n%s\r\n0\r\n\r\n" % body[3:],
            CHUNKED,
        ),
        "unpacked": warc_record("http://x/5", body, GZIP),
        "no type": warc_record("http://x/6", body, "X: y"),
        "image": warc_record("http://x/image", body, "Content-Type: image/png"),
        "no type, no HTML": warc_record("http://x/image", b"\x89PNG", "X: y"),
        "missing": warc_record("http://x/missing", body, status="404 Not Found"),
        "empty": warc_record("http://x/empty", b""),
        "damaged": warc_record("http://x/damaged", b"\x1f\x8b" + b"x" * 99, GZIP),
        "long": warc_record("http://x/long", body, f"{HTML}\r\nX: {'y' * 100_000}"),
        "request": warc_record("http://x/request", body).replace(b"Type: response", b"Type: request"),
        "dns": warc_record("dns:x", b"").replace(b"application/http; msgtype=response", b"text/dns"),
        "last": warc_record("http://x/7", body),
    }
    (tmp_path / "a.warc.gz").write_bytes(b"".join(map(gzip.compress, records.values())))
    pages = read_pages(tmp_path / "a.warc.gz")
    assert [(page.url, page.html) for page in pages] == [(f"http://x/{n}", body) for n in range(1, 8)]
    assert pages.skipped.counts == {
        "HTTP status 404": 1,
        "empty": 1,
        "body cannot be decompressed": 1,
        "HTTP headers cannot be read": 1,
    }


def test_warc_with_junk_inside(tmp_path: Path) -> None:
    records = [warc_record(f"http://x/{n}", b"<p>") for n in range(3)]
    (tmp_path / "a.warc").write_bytes(records[0] + records[1] + b"junk\n" * 50 + records[2])
    pages = read_pages(tmp_path / "a.warc")
    assert len(list(pages)) == 2
    assert pages.skipped.total == 1


@given(st.binary(max_size=300))
def test_bodies_never_fail_otherwise(body: bytes) -> None:
    join_chunks(body)
    for encoding in ("gzip", "deflate", "zstd", "br", "gzip, br"):
        try:
            assert len(decode_body(body, encoding, 100)) <= max(100, len(body))
        except PageError:
            continue


def test_bodies_are_decompressed_within_the_limit() -> None:
    body = b"x" * 1_000_000
    raw = zlib.compressobj(wbits=-15)
    for encoding, packed in [
        ("gzip", gzip.compress(body)),
        ("deflate", zlib.compress(body)),
        ("deflate", raw.compress(body) + raw.flush()),
        ("zstd", zstandard.ZstdCompressor().compress(body)),
        ("identity, gzip", gzip.compress(body)),
    ]:
        assert decode_body(packed, encoding, 1000) == body[:1000]
        assert decode_body(packed, encoding, 2_000_000) == body
    with pytest.raises(PageError, match="unknown content encoding"):
        decode_body(b"", "compress", 1)
