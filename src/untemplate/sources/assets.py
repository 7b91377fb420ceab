"""Images, style sheets and fonts that came with the pages: files beside them, or records of the same WARC.

The key of an asset is its path in the folder, or its URL in the archive. The server sends nothing else.
"""

from __future__ import annotations

import mimetypes
import posixpath
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from lxml import etree

from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.sources.html_sniffing import has_html_suffix
from untemplate.sources.stream import open_stream
from untemplate.sources.warc import WarcRecord, decode_record_body, parse_http_headers, read_responses
from untemplate.value_types import absolute_url

__all__ = [
    "NO_ASSETS",
    "Asset",
    "Assets",
    "FolderAssets",
    "NoAssets",
    "WarcAssets",
    "find_assets",
    "find_saved_files",
    "page_styles",
]

MAX_BYTES = 8 << 20
"""Bytes of an asset; bigger files are not shown."""

MAX_TOTAL_BYTES = 256 << 20
"""Bytes of an archive's assets that are kept in memory. The first ones are kept: assets follow their page."""

MAX_STYLES = 1 << 20
"""Characters of a page's style sheets that are read."""

_SHOWN_TYPES = (
    "image/",
    "font/",
    "text/css",
    "application/font-",
    "application/x-font-",
    "application/vnd.ms-fontobject",
)


class Asset(NamedTuple):
    """A file that a page needs to look right."""

    type: str
    content: bytes


class Assets(Protocol):
    """The assets of a source of pages."""

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        """Return the key of an asset that a page needs; None if it did not come with the pages.

        Args:
            page: The page.
            base: The key of the style sheet that contains the reference; None if the page itself does.
            reference: The reference, relative or absolute.
        """

    def read(self, key: str) -> Asset | None:
        """Return the asset of a key; None if there is none."""


def find_assets(source: str | None) -> Assets:
    """Return the assets of a folder or a WARC file; those of other sources are empty."""
    if not source:
        return NoAssets()
    path = Path(source)
    if path.is_dir():
        return FolderAssets(path)
    return WarcAssets(path) if _is_warc(path) else NoAssets()


def find_saved_files(source: str) -> Assets:
    """Return the files beside the pages of a folder, or beside a single page; other sources have none."""
    path = Path(source)
    if path.is_dir():
        return FolderAssets(path)
    return FolderAssets(path.parent) if path.is_file() and has_html_suffix(path.name) else NO_ASSETS


def _is_warc(path: Path) -> bool:
    """Return True if a file, compressed or not, starts like a WARC archive."""
    if not path.is_file():
        return False
    with open_stream(path) as stream:
        return stream.read(5) == b"WARC/"


def page_styles(page: Page, assets: Assets) -> Iterator[tuple[etree._Element, str]]:
    """Yield the style sheets of a page in its order: the `style` or `link` element of each, and its text.

    Those in `noscript` are for browsers without scripts: they often hide what a script would fill.

    Args:
        page: The page.
        assets: Where linked style sheets are, if they came with the pages. No other is loaded.
    """
    left = MAX_STYLES
    for element in page.tree.iter("style", "link"):
        css = _linked_styles(page, element, assets) if element.tag == "link" else element.text or ""
        is_for_people = next(element.iterancestors("noscript"), None) is None
        if css and is_for_people and left > 0:
            yield element, css[:left]
            left -= len(css)


def _linked_styles(page: Page, link: etree._Element, assets: Assets) -> str:
    """Return the style sheet that a link names; empty if it did not come with the page."""
    words = link.get("rel", "").lower().split()
    if "stylesheet" not in words or "alternate" in words:
        return ""
    key = assets.key(page, None, link.get("href", "").strip())
    asset = assets.read(key) if key else None
    if asset is None or not asset.type.startswith("text/css"):
        return ""
    return asset.content[:MAX_STYLES].decode("utf-8", "replace")


class NoAssets:
    """The assets of a source that contains HTML only."""

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        return None

    def read(self, key: str) -> Asset | None:
        return None


NO_ASSETS: Assets = NoAssets()


class FolderAssets:
    """Files beside the pages, where browsers and mirroring programs save them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        return next((key for key in _candidate_paths(page, base, reference) if self._file(key)), None)

    def read(self, key: str) -> Asset | None:
        path = self._file(key)
        return Asset(_media_type(key), path.read_bytes()) if path else None

    def _file(self, key: str) -> Path | None:
        """Return the file of a key, or None if it must not be sent.

        A file is sent if it has a type to show, is small enough and, with links followed, is inside the folder.
        """
        if "\0" in key or not _media_type(key).startswith(_SHOWN_TYPES):
            return None
        try:
            path = (self._folder / key).resolve()
            is_inside = path.is_relative_to(self._folder)
            is_small = path.is_file() and path.stat().st_size <= MAX_BYTES
        except OSError:
            return None
        return path if is_inside and is_small else None


class WarcAssets:
    """Responses of the same WARC that are no pages. They are read once, on first use."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def key(self, page: Page, base: str | None, reference: str) -> str | None:
        url = absolute_url(reference, base or page.url) or ""
        address = url.partition("#")[0]
        return address if address in self._assets else None

    def read(self, key: str) -> Asset | None:
        return self._assets.get(key)

    @cached_property
    def _assets(self) -> dict[str, Asset]:
        """The assets of the archive by URL; of several with one URL the first."""
        assets: dict[str, Asset] = {}
        total = 0
        for url, asset in self._read_records():
            total += len(asset.content)
            if total > MAX_TOTAL_BYTES:
                break
            assets.setdefault(url, asset)
        return assets

    def _read_records(self) -> Iterator[tuple[str, Asset]]:
        """Yield the URL and the content of each asset, up to the first damaged record."""
        with open_stream(self._path) as stream:
            try:
                for url, record in read_responses(stream):
                    try:
                        asset = _asset_of_record(record)
                    except PageError:
                        continue
                    if url and asset:
                        yield url, asset
            except OSError:  # the rest of the file is damaged
                return


def _asset_of_record(record: WarcRecord) -> Asset | None:
    """Return the asset in a WARC record; None if it is something else, failed, or is too big.

    Raises:
        PageError: The record is damaged.
    """
    if not record.is_http:
        return None
    parse_http_headers(record)
    kind = (record.http_content_type or "").lower()
    headers = record.http_headers
    if headers.status_code != 200 or not kind.startswith(_SHOWN_TYPES) or record.content_length > MAX_BYTES:
        return None
    body = record.reader.read(record.content_length)
    return Asset(kind, decode_record_body(record, body, MAX_BYTES))


def _candidate_paths(page: Page, base: str | None, reference: str) -> Iterator[str]:
    """Yield the paths where a referenced file may be: beside the page, from the top, or below the host.

    Args:
        page: The page that needs the file.
        base: The path of the style sheet that contains the reference; None if the page itself does.
        reference: The reference, relative or absolute.
    """
    try:
        parts = urlsplit(reference)
        page_host = urlsplit(page.url).netloc
    except ValueError:  # such as http://[
        return
    if parts.scheme not in ("", "http", "https"):
        return
    path = unquote(parts.path)
    host = parts.netloc or page_host
    if parts.netloc or path.startswith("/"):
        candidates = [path.lstrip("/"), f"{host}/{path.lstrip('/')}"]
    else:
        candidates = [posixpath.join(posixpath.dirname(page.id if base is None else base), path)]
    for candidate in candidates:
        normal = posixpath.normpath(candidate)
        if path and not normal.startswith(("../", "/")):
            yield normal


def _media_type(key: str) -> str:
    return mimetypes.guess_type(key)[0] or ""
