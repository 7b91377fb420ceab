"""Archives that are damaged, or not in the usual order."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.sources.containers import tar_bytes
from tests.sources.test_folder import write
from untemplate import SourceError
from untemplate.sources import read_pages


def test_pages_csv_too_late_in_a_tar_is_said(tmp_path: Path) -> None:
    files = {"a.html": b"<html>", "pages.csv": b"path,url\na.html,http://x.com/a\n"}
    pages = read_pages(write("tar", tmp_path / "a.tgz", files))
    assert [page.url for page in pages] == ["a.html"]
    assert pages.skipped.counts == {"pages.csv comes after pages in the archive: put it first": 1}


def test_damaged_member_of_a_zip(tmp_path: Path) -> None:
    path = write("zip", tmp_path / "a.zip", {"a.html": b"<html>aaaaaaaa", "b.html": b"<html>b"})
    path.write_bytes(path.read_bytes().replace(b"aaaaaaaa", b"aaaabaaa"))
    pages = read_pages(path)
    assert [page.id for page in pages] == ["b.html"]
    assert pages.skipped.counts == {"cannot be read": 1}


def test_tar_without_its_end(tmp_path: Path) -> None:
    whole = tar_bytes([("a.html", b"<html>a"), ("b.html", b"<html>b")])
    path = tmp_path / "a.tar"
    for length, pages_left in [(2048, 2), (1600, 2), (1540, 1), (1300, 1), (1024, 1)]:
        path.write_bytes(whole[:length])
        pages = read_pages(path)
        assert len(list(pages)) == pages_left
        assert pages.skipped.total == 1, length


def test_links_in_a_tar_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("link.html")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(SourceError, match="no pages"):
        list(read_pages(tmp_path / "a.tar"))
