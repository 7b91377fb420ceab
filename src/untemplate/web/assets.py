"""Images, stylesheets and fonts that came with the pages: files beside them, or records of the same WARC.

An asset's key is its path in the folder, or its URL in the archive. Nothing else can be asked for.
"""

from __future__ import annotations

import mimetypes
import posixpath
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.sources.stream import open_stream
from untemplate.sources.warc import WarcRecord, decode_record_body, parse_http_headers, read_responses

__all__ = ["Asset", "Assets", "FolderAssets", "NoAssets", "WarcAssets", "find_assets"]

MAX_BYTES = 8 << 20
"""A bigger file is not shown."""

MAX_TOTAL = 256 << 20
"""Bytes of an archive's assets that are kept in memory; the first ones, since a page's come after it."""

_TYPES = (
    "image/",
    "font/",
    "text/css",
    "application/font-",
    "application/x-font-",
    "application/vnd.ms-fontobject",
)


class Asset(NamedTuple):
    """A file that a page is shown with."""

    type: str
    content: bytes


class Assets(Protocol):
    """Where the assets of a source are."""

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        """The key of what a page, or its stylesheet with the key `base`, refers to; None if it did not come along."""

    def read(self, key: str) -> Asset | None:
        """The asset of a key; None if there is none."""


def find_assets(source: str | None) -> Assets:
    """The assets of a source of pages, where it has any."""
    path = Path(source) if source else None
    if path is not None and path.is_dir():
        return FolderAssets(path)
    if path is not None and path.is_file():
        with open_stream(path) as stream:
            if stream.read(5) == b"WARC/":
                return WarcAssets(path)
    return NoAssets()


class NoAssets:
    """A source that holds HTML only."""

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        return None

    def read(self, key: str) -> Asset | None:
        return None


class FolderAssets:
    """Files beside the pages, as browsers and mirroring programs save them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        return next((key for key in _paths(page, base, reference) if self._file(key)), None)

    def read(self, key: str) -> Asset | None:
        path = self._file(key)
        return Asset(_type(key), path.read_bytes()) if path else None

    def _file(self, key: str) -> Path | None:
        """The file of a key, if it is one to show and inside the folder, also when links are followed."""
        if "\0" in key or not _type(key).startswith(_TYPES):
            return None
        try:
            path = (self._folder / key).resolve()
            fits = path.is_relative_to(self._folder) and path.is_file() and path.stat().st_size <= MAX_BYTES
        except OSError:
            return None
        return path if fits else None


class WarcAssets:
    """Answers of the same WARC that are no pages; read once, when the first is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        url = urldefrag(urljoin(base or page.url, reference)).url
        return url if url in self._assets else None

    def read(self, key: str) -> Asset | None:
        return self._assets.get(key)

    @cached_property
    def _assets(self) -> dict[str, Asset]:
        found: dict[str, Asset] = {}
        total = 0
        for url, asset in self._read():
            total += len(asset.content)
            if total > MAX_TOTAL:
                break
            found.setdefault(url, asset)
        return found

    def _read(self) -> Iterator[tuple[str, Asset]]:
        with open_stream(self._path) as stream:
            try:
                for url, record in read_responses(stream):
                    try:
                        asset = _asset(record)
                    except PageError:
                        continue
                    if url and asset:
                        yield url, asset
            except OSError:  # the rest of the file is damaged
                return


def _asset(record: WarcRecord) -> Asset | None:
    if not record.is_http:
        return None
    parse_http_headers(record)
    kind = (record.http_content_type or "").lower()
    headers = record.http_headers
    if headers.status_code != 200 or not kind.startswith(_TYPES) or record.content_length > MAX_BYTES:
        return None
    body = record.reader.read(record.content_length)
    return Asset(kind, decode_record_body(record, body, MAX_BYTES))


def _paths(page: Page, base: str | None, reference: str) -> Iterator[str]:
    """Where in a folder a file may be that a page refers to: beside it, from the top, or below its host."""
    parts = urlsplit(reference)
    if parts.scheme not in ("", "http", "https"):
        return
    path = unquote(parts.path)
    host = parts.netloc or urlsplit(page.url).netloc
    if parts.netloc or path.startswith("/"):
        found = [path.lstrip("/"), f"{host}/{path.lstrip('/')}"]
    else:
        found = [posixpath.join(posixpath.dirname(page.id if base is None else base), path)]
    for candidate in found:
        normal = posixpath.normpath(candidate)
        if path and not normal.startswith(("../", "/")):
            yield normal


def _type(key: str) -> str:
    return mimetypes.guess_type(key)[0] or ""
