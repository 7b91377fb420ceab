"""JSONL and Parquet: what their rows say about a page, and what is skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from untemplate import Limits, SourceError
from untemplate.sources import read_pages


def jsonl(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_jsonl_lines(tmp_path: Path) -> None:
    rows = [
        {"url": "http://x/1", "html": "<p>1"},
        {"page": "two", "url": "http://x/2", "html": "<p>2"},
        {"html": '<base href="http://x/3">'},
        {"html": "<p>4", "id": 7},
        "",
        {"html": "<p>6", "url": None},
        "not JSON",
        "[" * 100_000,
        [1],
        {"url": "http://x/no"},
        {"url": "http://x/no", "html": 5},
        {"url": "http://x/no", "html": ""},
        {"html": "\ud800"},
    ]
    pages = read_pages(jsonl(tmp_path / "a.jsonl", *rows))
    assert [(page.id, page.url) for page in pages] == [
        ("http://x/1", "http://x/1"),
        ("two", "http://x/2"),
        ("http://x/3", "http://x/3"),
        ("7", "7"),
        ("6", "6"),
        ("13", "13"),
    ]
    assert pages.skipped.counts["line is not JSON"] == 2
    assert pages.skipped.examples["line is not JSON"] == ["line 7", "line 8"]
    assert pages.skipped.total == 6


def test_jsonl_line_over_the_limit(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"html": "<p>1"}, {"html": "x" * 100_000}, {"html": "<p>3"})
    pages = read_pages(path, limits=Limits(bytes=1000))
    assert [page.id for page in pages] == ["1", "3"]
    assert pages.skipped.counts == {"line is too long": 1}


def test_columns_of_other_names(tmp_path: Path) -> None:
    row = {"address": "http://x/1", "body": "<p>1"}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    for path in (tmp_path / "a.parquet", jsonl(tmp_path / "a.jsonl", row)):
        (page,) = read_pages(path, url_column="address", html_column="body")
        assert (page.url, page.id, page.html) == ("http://x/1", "http://x/1", b"<p>1")
    with pytest.raises(SourceError, match=r"no column 'html', only address, body; .* html_column"):
        read_pages(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="no column 'adress'"):
        read_pages(tmp_path / "a.parquet", url_column="adress", html_column="body")
    with pytest.raises(SourceError, match=r"no 'html'.* html_column \(line 1\)"):
        list(read_pages(tmp_path / "a.jsonl"))


def test_parquet_types(tmp_path: Path) -> None:
    html = ["<p>é", None, ""]
    for type in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        plain = pa.array(html, type)
        for column in (plain, plain.dictionary_encode()):
            pq.write_table(pa.table({"html": column}), tmp_path / "a.parquet")
            pages = read_pages(tmp_path / "a.parquet")
            assert [(page.id, page.text) for page in pages] == [("1", "<p>é")]
            assert pages.skipped.total == 2
            assert pages.total == 3


def test_parquet_cut_short(tmp_path: Path) -> None:
    pq.write_table(pa.table({"html": ["<p>"]}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:-10])
    with pytest.raises(SourceError, match="not a whole Parquet file"):
        read_pages(tmp_path / "a.parquet")
