"""Writes the same pages in every way that `read_pages` can read: id, URL and HTML of each."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard


class Written(NamedTuple):
    id: str
    url: str
    html: bytes


Pages = Sequence[Written]
DATE = "2021-03-04T05:06:07Z"


def url_table(pages: Pages) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerows([("path", "url"), *((page.id, page.url) for page in pages)])
    return text.getvalue().encode()


def write_folder(target: Path, pages: Pages) -> None:
    for name, content in [("pages.csv", url_table(pages)), *((page.id, page.html) for page in pages)]:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_zip(target: Path, pages: Pages) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in pages:
            archive.writestr(page.id, page.html)
        archive.writestr("pages.csv", url_table(pages))


def tar_bytes(files: Sequence[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def pages_tar(pages: Pages) -> bytes:
    return tar_bytes([("./pages.csv", url_table(pages)), *((f"./{page.id}", page.html) for page in pages)])


def warc_record(
    url: str, html: bytes, headers: str = "Content-Type: text/html", status: str = "200 OK"
) -> bytes:
    http = f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + html
    return (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: {DATE}\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    ).encode() + (http + b"\r\n\r\n")


def warc_bytes(pages: Pages) -> bytes:
    return b"".join(warc_record(page.url, page.html) for page in pages)


def warc_gz_bytes(pages: Pages) -> bytes:
    return b"".join(gzip.compress(warc_record(page.url, page.html)) for page in pages)


def write_parquet(target: Path, pages: Pages, html_type: pa.DataType | None = None) -> None:
    columns = {
        "id": pa.array([page.id for page in pages]),
        "url": pa.array([page.url for page in pages]),
        "html": pa.array([page.html for page in pages], html_type or pa.binary()),
    }
    pq.write_table(pa.table(columns), target, row_group_size=50)


def jsonl_bytes(pages: Pages) -> bytes:
    rows = ({"id": page.id, "url": page.url, "html": page.html.decode()} for page in pages)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def compressed(
    make: Callable[[Pages], bytes], compress: Callable[[bytes], bytes] = bytes
) -> Callable[[Path, Pages], None]:
    return lambda target, pages: target.write_bytes(compress(make(pages))) and None


def zstd(content: bytes) -> bytes:
    """Two frames, as parallel compressors write them."""
    half = len(content) // 2
    compressor = zstandard.ZstdCompressor()
    return compressor.compress(content[:half]) + compressor.compress(content[half:])


#: containers that hold bytes, whatever they are
BINARY: dict[str, Callable[[Path, Pages], None]] = {
    "folder": write_folder,
    "pages.zip": write_zip,
    "pages.tar": compressed(pages_tar),
    "pages.tar.gz": compressed(pages_tar, gzip.compress),
    "pages.tar.bz2": compressed(pages_tar, bz2.compress),
    "pages.tar.xz": compressed(pages_tar, lzma.compress),
    "pages.tar.zst": compressed(pages_tar, zstd),
    "pages.warc": compressed(warc_bytes),
    "pages.warc.gz": compressed(warc_gz_bytes),
    "pages.warc.zst": compressed(warc_bytes, zstd),
    "pages.parquet": write_parquet,
}
#: containers that hold text
TEXT: dict[str, Callable[[Path, Pages], None]] = {
    "text.parquet": lambda target, pages: write_parquet(target, pages, pa.string()),
    "pages.jsonl": compressed(jsonl_bytes),
    "pages.jsonl.gz": compressed(jsonl_bytes, gzip.compress),
    "pages.jsonl.zst": compressed(jsonl_bytes, zstd),
}
EVERY = BINARY | TEXT
