"""Parts of a source: together they are the source, each read for itself, also by another process."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sources.containers import EVERY, Written
from untemplate import Page, read_pages
from untemplate.sources import Skipped
from untemplate.sources.page_source import Pages

WRITTEN = [
    Written(f"{n % 3}/{n:03}.html", f"http://example.com/{n}", b"<html><p>%d" % n)
    for n in sorted(range(50), key=lambda n: (n % 3, n))
]


def facts(page: Page) -> tuple[str, str, bytes, str | None]:
    return page.id, page.url, page.html, page.charset


def read_parts(pages: Pages, size: int) -> list[list[Page]]:
    """The pages of each part, as another process reads them, the last part first."""
    parts = pages.parts(size)
    assert parts is not None
    found = [
        list(pickle.loads(pickle.dumps(part.reader)).read(Skipped()))
        for part in reversed(list(parts))
        if part.portable
    ]
    return found[::-1]


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_the_files_of_a_folder(size: int, tmp_path: Path) -> None:
    EVERY["folder"](tmp_path / "folder", WRITTEN)
    pages = read_pages(tmp_path / "folder")
    parts = read_parts(pages, size)
    assert [facts(page) for part in parts for page in part] == [facts(page) for page in pages]
    assert [len(part) for part in parts[:-1]] == [size] * (len(parts) - 1)


def test_an_swde_site_leaves_its_folder_out_of_the_ids(tmp_path: Path) -> None:
    folder = tmp_path / "all" / "book-shop(3)"
    folder.mkdir(parents=True)
    for n in range(3):
        (folder / f"000{n}.htm").write_bytes(b'<base href="http://shop/%d"/><p>%d' % (n, n))
    assert [part[0].id for part in read_parts(read_pages(tmp_path / "all"), 1)] == [
        "0000.htm",
        "0001.htm",
        "0002.htm",
    ]


@pytest.mark.parametrize(("group", "size"), [(1, 4), (5, 4), (5, 12), (50, 4)])
def test_the_row_groups_of_a_table(group: int, size: int, tmp_path: Path) -> None:
    table = pa.table({"html": [page.html for page in WRITTEN]})  # ids are the numbers of the rows
    pq.write_table(table, tmp_path / "pages.parquet", row_group_size=group)
    pages = read_pages(tmp_path / "pages.parquet")
    parts = read_parts(pages, size)
    assert [facts(page) for part in parts for page in part] == [facts(page) for page in pages]
    assert all(len(part) >= size for part in parts[:-1])
    assert all(len(part) < size + group for part in parts)


def test_row_groups_that_are_too_big_for_one_process(tmp_path: Path) -> None:
    pq.write_table(pa.table({"html": ["<p>x"] * 2001}), tmp_path / "pages.parquet")
    assert read_pages(tmp_path / "pages.parquet").parts(100) is None


@pytest.mark.parametrize("name", ["pages.warc.gz", "pages.jsonl", "pages.tar", "pages.zip"])
def test_streams_have_no_parts(name: str, tmp_path: Path) -> None:
    EVERY[name](tmp_path / name, WRITTEN)
    assert read_pages(tmp_path / name).parts(100) is None


def test_what_parts_skip_adds_up() -> None:
    whole = Skipped()
    for part in range(3):
        skipped = Skipped()
        for n in range(2):
            skipped.add("empty", f"{part}.{n}")
        whole.update(skipped)
    assert str(whole) == "6 × empty (0.0, 0.1, 1.0, …)"
