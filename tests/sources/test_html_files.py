"""Folders and archives: which files are pages, their ids and URLs, and what is skipped."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.sources.containers import tar_bytes
from untemplate import Limits, PageError, SourceError
from untemplate.sources import read_pages

FILES = {
    "b.html": b"<html><p>b",
    "a/z.htm": b"<html><p>z",
    "a.html": b"<html><p>a",
    "A/index.php?id=1": b"<!-- cms -->\n<?xml version='1.0'?><!DOCTYPE html><p>php",
    "a/plain.html": b"no tag at all",
    "style.css": b"p { }",
    "logo.svg": b"<svg><a/></svg>",
    ".git/x.html": b"<html>",
    "__MACOSX/a.html": b"\0\5\x16",
    "notes.txt": b"",
    "empty.html": b" \n",
    "image.html": b"\x89PNG\r\n\x1a\n\0\0",
}
PAGES = ["A/index.php?id=1", "a.html", "a/plain.html", "a/z.htm", "b.html"]


def write(kind: str, target: Path, files: dict[str, bytes]) -> Path:
    if kind == "folder":
        for name, content in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)
    elif kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        target.write_bytes(gzip.compress(tar_bytes(list(files.items()))))
    return target


every_kind = pytest.mark.parametrize("kind", ["folder", "zip", "tar"])


@every_kind
def test_which_files_are_pages(kind: str, tmp_path: Path) -> None:
    pages = read_pages(write(kind, tmp_path / "source", FILES))
    assert sorted(page.id for page in pages) == PAGES
    assert pages.skipped.counts == {"empty": 1, "not HTML": 1}
    assert str(pages.skipped) in (
        "1 × empty (empty.html); 1 × not HTML (image.html)",
        "1 × not HTML (image.html); 1 × empty (empty.html)",
    )


def test_a_folder_is_sorted_by_path(tmp_path: Path) -> None:
    assert [page.id for page in read_pages(write("folder", tmp_path, FILES))] == PAGES


@every_kind
def test_url_of_a_page(kind: str, tmp_path: Path) -> None:
    canonical = b'<link rel="alternate canonical" href=http://x.com/c?a=1&amp;b=2>'
    files = {
        "pages.csv": b"\xef\xbb\xbfurl,path\nhttp://x.com/listed,listed.html\n",
        "listed.html": b'<base href="http://x.com/base">',
        "base.html": b'<html><base href="http://x.com/base">' + canonical,
        "saved.html": b'<!-- saved -->\n<base href="http://x.com/saved/">' + canonical,
        "site.html": b'<html><base href="http://x.com/">' + canonical,
        "relative.html": b'<html><base href="/">',
        "comment.html": b'<html><!-- <base href="http://x.com/no"> --><script>"<base href=\'http://x.com/no\'>"',
        "body.html": b"<html><body>" + canonical,
    }
    pages = read_pages(write(kind, tmp_path / "source", files))
    assert {page.id: page.url for page in pages} == {
        "listed.html": "http://x.com/listed",
        "base.html": "http://x.com/base",
        "saved.html": "http://x.com/saved/",
        "site.html": "http://x.com/c?a=1&b=2",
        "relative.html": "relative.html",
        "comment.html": "comment.html",
        "body.html": "body.html",
    }


@every_kind
def test_pages_csv_in_the_folder_that_was_packed(kind: str, tmp_path: Path) -> None:
    files = {"site/pages.csv": b"path,url\na.html,http://x.com/a\n", "site/a.html": b"<html>"}
    (page,) = read_pages(write(kind, tmp_path / "source", files))
    assert (page.id, page.url) == ("site/a.html", "http://x.com/a")


@every_kind
@pytest.mark.parametrize("table", [b"file,url\n", b"", b'path,url\n"a'])
def test_pages_csv_that_is_none(kind: str, table: bytes, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"pages\.csv"):
        list(read_pages(write(kind, tmp_path / "source", {"pages.csv": table, "a.html": b"<html>"})))


@every_kind
def test_swde(kind: str, tmp_path: Path) -> None:
    page = b'\xef\xbb\xbf<base href="http://x.com/%d/"/>\n<!DOCTYPE html>'
    one = {f"book/book-a.b(200)/{n:04}.htm": page % n for n in range(3)}
    two = one | {"book/book-c(200)/0000.htm": page % 9}
    pages = list(read_pages(write(kind, tmp_path / "one", one)))
    assert [page.id for page in pages] == ["0000.htm", "0001.htm", "0002.htm"]
    assert [page.url for page in pages] == [f"http://x.com/{n}/" for n in range(3)]
    assert [page.id for page in read_pages(write(kind, tmp_path / "two", two))] == list(two)


def test_real_swde_site(real_pages: list[Path]) -> None:
    for path in real_pages[::10]:
        pages = list(read_pages(path.parent))
        assert len(pages) == 200
        assert pages[0].id == path.name
        assert len({page.url for page in pages}) > 190
        assert all(page.url.startswith("http") for page in pages)


@every_kind
def test_a_bomb_costs_its_limit(kind: str, tmp_path: Path) -> None:
    source = write(kind, tmp_path / "source", {"a.html": b"<html>" + b"x" * 1_000_000})
    (page,) = read_pages(source, limits=Limits(bytes=10_000))
    assert len(page.html) == 10_001
    with pytest.raises(PageError, match="larger than 10,000 bytes"):
        page.nodes  # noqa: B018


def test_folder_without_pages(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no HTML files in this folder$"):
        read_pages(tmp_path)
    (tmp_path / "part-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceError, match=r"no HTML files in this folder; give .*part-0\.parquet itself"):
        read_pages(tmp_path)


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


def test_a_damaged_lzma_member_of_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("bad.html", b"<p>" + bytes(range(256)) * 20)
        archive.writestr("good.html", b"<p>x")
    data = bytearray(path.read_bytes())
    data[60:90] = b"\xff" * 30
    path.write_bytes(data)
    pages = read_pages(path)
    assert [page.id for page in pages] == ["good.html"]
    assert pages.skipped.counts == {"cannot be read": 1}


def test_a_zip_whose_members_overlap(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0.html", b"<p>x")
        first = archive.infolist()[0]
        for number in range(1, 50):  # the directory says so, the file is there once
            other = zipfile.ZipInfo(f"{number}.html")
            other.CRC, other.compress_size, other.file_size = first.CRC, first.compress_size, first.file_size
            other.header_offset = first.header_offset
            archive.filelist.append(other)
    with pytest.raises(SourceError, match="its files overlap"):
        list(read_pages(path))


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_tar_with_a_huge_name(kind: bytes, tmp_path: Path) -> None:
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = kind, 3 << 30
    path = tmp_path / "a.tar"
    path.write_bytes(
        tar_bytes([("a.html", b"<p>x")])[:1024] + header.tobuf(tarfile.GNU_FORMAT) + b"x" * 10_000
    )
    pages = read_pages(path)
    assert [page.html for page in pages] == [b"<p>x"]
    assert "3,221,225,472 bytes" in str(pages.skipped.examples)
