"""Recognize what a source is by its content; by its name only if the content does not decide."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untemplate.errors import SourceError
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.sources.html_files import FileReader, FolderReader, TarReader, ZipReader, is_tar
from untemplate.sources.html_sniffing import SNIFF, is_html
from untemplate.sources.page_source import InMemory, Pages, Reader
from untemplate.sources.stream import COMPRESSED_SUFFIXES, open_file, open_stream

if TYPE_CHECKING:
    from untemplate.sources.fetch import Politeness
    from untemplate.sources.page_rows import JsonlReader, ParquetReader

__all__ = ["as_page", "as_pages", "read_pages", "source_name"]

_URL_LINE = re.compile(rb"(?:\s*+(?:#[^\n]*+\n)?+)*+https?://", re.IGNORECASE)
_KNOWN = "a folder of HTML files, a zip or tar archive of them, WARC, Parquet, JSONL, or a text file of URLs"


def as_pages(pages: Iterable[Page] | Page | str | os.PathLike[str]) -> Iterable[Page]:
    """Return pages that may be given as pages, as one page, as the HTML of one, or as the path of a source.

    Raises:
        SourceError: the path is no source of pages.
        TypeError: it is something else; the message says what to pass.
    """
    if isinstance(pages, str) and pages.lstrip().startswith("<"):
        return [Page(pages, id="page")]
    if isinstance(pages, str | os.PathLike):
        return read_pages(pages)
    if isinstance(pages, Page):
        return [pages]
    if not isinstance(pages, Iterable):
        raise TypeError(
            f"expected pages, or the path of a source such as a folder, not {type(pages).__name__}"
        )
    if isinstance(pages, Sequence):
        for page in pages:
            if not isinstance(page, Page):
                raise TypeError(
                    f"expected pages, not a list of {type(page).__name__}: make each with Page, or pass one source"
                )
    return pages


def as_page(page: Page | str | os.PathLike[str]) -> Page:
    """Return a page that may be given as a page, as its HTML, or as the path of its file.

    Raises:
        SourceError: the path is no source of pages, or one of several pages.
        TypeError: it is something else; the message says what to pass.
    """
    if isinstance(page, Page):
        return page
    if not isinstance(page, str | os.PathLike):
        raise TypeError(f"expected a page, its HTML or the path of its file, not {type(page).__name__}")
    if isinstance(page, os.PathLike) or not page.lstrip().startswith("<"):
        path = Path(page)
        if not path.is_file():
            raise SourceError(f"{path}: there is no such file; give a page, its HTML or the path of its file")
        return Page(path.name, path.read_bytes(), id=path.name)
    return Page(page, id="page")


def read_pages(
    source: str | os.PathLike[str] | Sequence[Page] | Pages,
    *,
    url_column: str = "url",
    html_column: str = "html",
    limits: Limits = DEFAULT_LIMITS,
    politeness: Politeness | None = None,
    render: bool = False,
) -> Pages:
    """Return the pages of any source. They are read, or fetched, when somebody iterates over them.

    Args:
        source: A folder or an archive of HTML files, WARC, Parquet, JSONL, an SWDE site, or a text file of URLs.
            Pages in memory are used as they are.
        url_column: The column of Parquet or JSONL with the URL of a page.
        html_column: The column with its HTML.
        limits: The size limits of each page.
        politeness: How to fetch the pages of URLs; those of `Politeness()` by default.
        render: True to run the scripts of pages that are fetched, in the system's Chromium, and to return what they
            made. Only for a text file of URLs; needs the extra `render`.

    Raises:
        SourceError: The source cannot be used.
        MissingExtra: `render` needs the extra of that name.
        InputError: `render` needs Chromium.

    Example:
        >>> import untemplate as ut
        >>> pages = ut.read_pages([ut.Page("http://example.com/1", "<p>One")])
        >>> [page.url for page in pages]
        ['http://example.com/1']
    """
    if isinstance(source, Pages):
        return source
    if not isinstance(source, str | os.PathLike):
        return Pages(f"{len(source)} pages", InMemory(source))
    path = Path(source)
    if not path.exists():
        hint = "; write the URLs into a text file, one a line" if re.match("https?:", str(source)) else ""
        raise SourceError(f"{source}: no such file or folder{hint}")
    recognizer = _Recognizer(path, url_column, html_column, limits, politeness, render)
    reader = recognizer.find_reader()
    if render and not recognizer.has_urls:
        raise SourceError(f"{source}: only pages of a text file of URLs can be rendered; leave out --render")
    return Pages(os.fspath(source), reader, limits)


def source_name(source: str | os.PathLike[str]) -> str:
    """Return a name for the site of a source whose pages have no URLs: that of its folder or file, without endings.

    Example:
        >>> source_name("crawls/my-shop.warc.gz")
        'my-shop'
    """
    return re.split(r"[.(]", Path(source).resolve().name)[0] or "site"


class _Recognizer:
    """Selects the reader of a file or folder; `has_urls` is then True if it fetches pages."""

    def __init__(
        self,
        path: Path,
        url_column: str,
        html_column: str,
        limits: Limits,
        politeness: Politeness | None,
        render: bool,
    ) -> None:
        self._path = path
        self._columns = (url_column, html_column)
        self._limits = limits
        self._politeness = politeness
        self._render = render
        self.has_urls = False

    def find_reader(self) -> Reader:
        """Return the reader of the source; SourceError if there is none, or if the source is damaged."""
        if self._path.is_dir():
            return _checked(FolderReader(self._path, self._limits))
        with open_file(self._path) as file:
            magic = file.read(4)
        if magic == b"PAR1":
            return _checked(self._parquet_reader())
        if magic in (b"PK\x03\x04", b"PK\x05\x06"):
            return _checked(ZipReader(self._path, self._limits))
        return self._find_stream_reader()

    def _find_stream_reader(self) -> Reader:
        """Return the reader of a file that may be compressed.

        The first bytes of archives are certain, so they come first. A line with a URL is the weakest sign.

        Raises:
            SourceError: The file is empty, or nothing that contains pages.
        """
        head = self._read_head()
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        suffix = self._inner_suffix()
        if is_tar(head):
            return TarReader(self._path, self._limits)
        if head.startswith(b"WARC/"):
            return self._warc_reader()
        if text.startswith(b"{") or suffix in (".jsonl", ".ndjson"):
            return self._jsonl_reader()
        if is_html(f"page{suffix}", head):
            return FileReader(self._path, self._limits)
        if _URL_LINE.match(text):
            return self._url_reader()
        if text.startswith(b"["):
            raise SourceError(f"{self._path}: a JSON array; write one object a line (jq -c '.[]' does it)")
        raise SourceError(f"{self._path}: not recognized as pages; give {_KNOWN}")

    def _read_head(self) -> bytes:
        with open_stream(self._path) as stream:
            head = stream.read(SNIFF)
            if not head:
                problem = stream.damage or "the file is empty"
                raise SourceError(f"{self._path}: {problem}; give {_KNOWN}")
        return head

    def _inner_suffix(self) -> str:
        """Return the last suffix of the name, not counting that of a compression."""
        for suffix in reversed(self._path.suffixes):
            if suffix.lower() not in COMPRESSED_SUFFIXES:
                return suffix.lower()
        return ""

    # Libraries for archives, for rows and for the network take long to import: only their sources wait for them
    def _jsonl_reader(self) -> JsonlReader:
        from untemplate.sources.page_rows import JsonlReader, PageColumns

        return JsonlReader(self._path, PageColumns(*self._columns), self._limits)

    def _warc_reader(self) -> Reader:
        from untemplate.sources.warc import WarcReader

        return WarcReader(self._path, self._limits)

    def _url_reader(self) -> Reader:
        from untemplate.sources.fetch import DEFAULT_POLITENESS
        from untemplate.sources.url_list import UrlReader, read_url_list

        self.has_urls = True
        politeness = self._politeness or DEFAULT_POLITENESS
        return UrlReader(read_url_list(self._path), self._limits, politeness, self._render)

    def _parquet_reader(self) -> ParquetReader:
        from untemplate.sources.page_rows import PageColumns, ParquetReader

        return ParquetReader(self._path, PageColumns(*self._columns), self._limits)


def _checked(reader: FolderReader | ZipReader | ParquetReader) -> Reader:
    reader.check()
    return reader
