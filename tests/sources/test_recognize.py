"""What a source is, and what is said of one that is none."""

from __future__ import annotations

import gzip
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Page, SourceError
from untemplate.sources import read_pages


def test_one_file(tmp_path: Path) -> None:
    html = b'<!DOCTYPE html><link rel=canonical href="http://x.com/a">'
    for name, content in [("a.html", html), ("a", html), ("a.html.gz", gzip.compress(html))]:
        (tmp_path / name).write_bytes(content)
        (page,) = read_pages(tmp_path / name)
        assert (page.id, page.url, page.html) == (name, "http://x.com/a", html)


def test_utf16(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes('<html><base href="http://x.com/é">'.encode("utf-16"))
    (page,) = read_pages(tmp_path / "a")
    assert page.url == "http://x.com/é"


def test_pages_in_memory() -> None:
    given_pages = [Page("http://x/1", "<p>"), Page("http://x/2", "<p>")]
    pages = read_pages(given_pages)
    assert list(pages) == given_pages
    assert read_pages(pages) is pages
    assert pages.total == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\x1f\x8b", "ended before"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"\x28\xb5\x2f\xfdxxxxxxx", "a folder of HTML files"),
        (b"PK\x03\x04xxx", "not a whole zip archive"),
        (b"PAR1xxxxx", "not a whole Parquet file"),
        (b'[{"url": 1}]', "one object a line"),
        (b"\x00\x01\x02", "not recognized as pages"),
        (b"hello", "not recognized as pages"),
    ],
)
def test_unusable(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        read_pages(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no such file or folder$"):
        read_pages(tmp_path / "nothing")
    with pytest.raises(SourceError, match="write the URLs into a text file"):
        read_pages("https://example.com/")


STARTS = [b"", b"WARC/1.0\r\n", b"{", b"PK\x03\x04", b"\x1f\x8b\x08\0", b"BZh9"]


@given(start=st.sampled_from(STARTS), rest=st.binary(max_size=2000))
@settings(max_examples=80, deadline=None)
def test_any_bytes_are_pages_or_a_source_error(start: bytes, rest: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source"
        path.write_bytes(start + rest)
        with suppress(SourceError):
            list(read_pages(path))
