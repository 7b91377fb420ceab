"""The same pages come out the same, whatever they are kept in."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.containers import BINARY, EVERY, TEXT, Written, compressed, pages_tar, warc_bytes
from untemplate.sources import read_pages
from untemplate.sources.stream import CUT_SHORT


def written(bodies: list[bytes]) -> list[Written]:
    return [
        Written(
            f"{n % 3}/page {n:04}.html", f"http://example.com/é/{n}?a=1&b=2,3", b"<html><p>%d " % n + body
        )
        for n, body in sorted(enumerate(bodies), key=lambda item: (item[0] % 3, item[0]))
    ]


def ids(name: str, pages: list[Written]) -> list[str]:
    return [page.url if ".warc" in name else page.id for page in pages]


PAGES = written([f"Müller \U0001f600 {n}".encode() for n in range(7)])


@pytest.mark.parametrize("name", EVERY)
def test_same_pages(name: str, tmp_path: Path) -> None:
    EVERY[name](tmp_path / name, PAGES)
    pages = read_pages(tmp_path / name)
    assert [(page.url, page.html) for page in pages] == [(page.url, page.html) for page in PAGES]
    assert [page.id for page in pages] == ids(name, PAGES)
    assert [page.text for page in pages] == [page.html.decode() for page in PAGES]
    assert not pages.skipped
    assert pages.source == str(tmp_path / name)
    assert pages.total in (None, len(PAGES))


@pytest.mark.parametrize("name", EVERY)
def test_recognized_without_its_name(name: str, tmp_path: Path) -> None:
    EVERY[name](tmp_path / "pages", PAGES)
    assert [page.html for page in read_pages(tmp_path / "pages")] == [page.html for page in PAGES]


@pytest.mark.parametrize("name", EVERY)
def test_iterations_do_not_disturb_each_other(name: str, tmp_path: Path) -> None:
    EVERY[name](tmp_path / name, PAGES)
    pages = read_pages(str(tmp_path / name))
    first = next(iter(pages))
    pairs = list(zip(pages, pages, strict=True))
    assert first.html == PAGES[0].html
    assert [(one.id, two.id) for one, two in pairs] == [(id, id) for id in ids(name, PAGES)]


@pytest.mark.parametrize("name", BINARY)
@given(bodies=st.lists(st.binary(max_size=200), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_any_bytes(name: str, bodies: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        BINARY[name](Path(folder) / name, written(bodies))
        pages = list(read_pages(Path(folder) / name))
        assert [(page.url, page.html) for page in pages] == [
            (page.url, page.html) for page in written(bodies)
        ]


@pytest.mark.parametrize("name", TEXT)
@given(texts=st.lists(st.text(max_size=200), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_any_text(name: str, texts: list[str]) -> None:
    bodies = [text.encode("utf-8", "replace") for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        TEXT[name](Path(folder) / name, written(bodies))
        pages = list(read_pages(Path(folder) / name))
        assert [(page.url, page.html) for page in pages] == [
            (page.url, page.html) for page in written(bodies)
        ]


MEASURE = """
import sys, tracemalloc
from untemplate.sources import read_pages
pages = read_pages(sys.argv[1])
next(iter(pages))  # imports and caches are not the question
tracemalloc.start()
print(sum(1 for _ in pages), tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.parametrize("name", ["folder", "pages.zip", "pages.tar.gz", "pages.warc.gz", "pages.jsonl.zst"])
def test_constant_memory(name: str, tmp_path: Path) -> None:
    """Two thousand pages, 40 MB of them, in a few megabytes; measured where no other test's threads are."""
    body = b"<p>" + b"x" * 20_000
    EVERY[name](tmp_path / name, written([body] * 2000))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, tmp_path / name], check=True, capture_output=True, text=True
    )
    count, peak = map(int, done.stdout.split())
    assert count == 2000
    assert peak < 8 << 20


def test_parquet_in_constant_memory(tmp_path: Path) -> None:
    """pyarrow's memory is its own: what it holds at any time is a fraction of the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    html = [b"<p>%d" % n + os.urandom(20_000) for n in range(4000)]
    pq.write_table(pa.table({"html": html}), tmp_path / "p.parquet", use_dictionary=False)
    before = pa.total_allocated_bytes()
    held = max(pa.total_allocated_bytes() - before for _ in read_pages(tmp_path / "p.parquet"))
    assert held < 32 << 20


@pytest.mark.parametrize(("name", "make"), [("a.tar.gz", pages_tar), ("a.warc.gz", warc_bytes)])
@given(share=st.floats(0.2, 0.999))
@settings(max_examples=15, deadline=None)
def test_a_file_cut_anywhere_gives_what_is_readable(name: str, make, share: float) -> None:  # type: ignore[no-untyped-def]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        bodies = [bytes((n * k) % 251 for k in range(3000)) for n in range(30)]
        compressed(make, gzip.compress)(path, written(bodies))
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        pages = read_pages(path)
        read = [page.html for page in pages]
        assert read == [page.html for page in written(bodies)][: len(read)]
        assert pages.skipped.counts[CUT_SHORT] == 1 or len(read) == len(bodies)


@pytest.mark.parametrize("name", ["pages.warc.gz", "pages.jsonl.zst", "pages.tar"])
def test_the_total_of_a_stream_is_estimated_on_the_way(name: str, tmp_path: Path) -> None:
    bodies = [random.Random(n).randbytes(30_000).hex().encode() for n in range(200)]
    EVERY[name](tmp_path / name, written(bodies))
    pages = read_pages(tmp_path / name)
    assert pages.total is None
    totals = [pages.total for _ in pages]
    assert all(150 <= total <= 250 for total in totals[100:] if total)
    assert pages.total == totals[-1] == 200
