"""What a source is, told by its content; its name only when that does not tell."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from untemplate.errors import SourceError
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.sources.archive import TarReader, ZipReader, is_tar
from untemplate.sources.fetch import DEFAULT_POLITENESS, Politeness
from untemplate.sources.folder import FileReader, FolderReader
from untemplate.sources.html import SNIFF, is_html
from untemplate.sources.jsonl import JsonlReader
from untemplate.sources.pages import InMemory, Pages, Reader
from untemplate.sources.rows import Columns
from untemplate.sources.stream import open_file, open_stream
from untemplate.sources.urls import UrlReader, read_urls
from untemplate.sources.warc import WarcReader

__all__ = ["read_pages"]

_URL_LINE = re.compile(rb"(?:\s*+(?:#[^\n]*+\n)?+)*+https?://", re.IGNORECASE)
_COMPRESSED = frozenset({".bz2", ".gz", ".xz", ".zst"})
_KNOWN = "a folder of HTML files, a zip or tar archive of them, WARC, Parquet, JSONL, or a text file of URLs"


def read_pages(
    source: str | os.PathLike[str] | Sequence[Page] | Pages,
    *,
    url_column: str = "url",
    html_column: str = "html",
    limits: Limits = DEFAULT_LIMITS,
    politeness: Politeness = DEFAULT_POLITENESS,
) -> Pages:
    """The pages of any source: a folder, an archive, WARC, Parquet, JSONL, an SWDE site, a list of URLs.

    The columns are those of Parquet and JSONL. Pages that are already in memory are taken as they are.
    Raises SourceError when the source cannot be used.
    """
    if isinstance(source, Pages):
        return source
    if not isinstance(source, str | os.PathLike):
        return Pages(f"{len(source)} pages", InMemory(source))
    path = Path(source)
    if not path.exists():
        hint = "; write the URLs into a text file, one a line" if re.match("https?:", str(source)) else ""
        raise SourceError(f"{source}: no such file or folder{hint}")
    reader = _recognize(path, Columns(url_column, html_column), limits, politeness)
    return Pages(os.fspath(source), reader, limits)


def _recognize(path: Path, columns: Columns, limits: Limits, politeness: Politeness) -> Reader:
    if path.is_dir():
        folder = FolderReader(path, limits)
        folder.check()
        return folder
    with open_file(path) as file:
        magic = file.read(4)
    if magic == b"PAR1":
        from untemplate.sources.parquet import (
            ParquetReader,  # pyarrow takes long to import: only who needs it waits
        )

        table = ParquetReader(path, columns, limits)
        table.check()
        return table
    if magic in (b"PK\x03\x04", b"PK\x05\x06"):
        archive = ZipReader(path, limits)
        archive.check()
        return archive
    return _recognize_stream(path, columns, limits, politeness)


def _recognize_stream(path: Path, columns: Columns, limits: Limits, politeness: Politeness) -> Reader:
    with open_stream(path) as stream:
        head = stream.read(SNIFF)
        if not head:
            raise SourceError(f"{path}: {stream.damage or 'the file is empty'}; give {_KNOWN}")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    suffix = suffixes[-1].lower() if suffixes else ""
    if is_tar(head):
        return TarReader(path, limits)
    if head.startswith(b"WARC/"):
        return WarcReader(path, limits)
    if text.startswith(b"{") or suffix in (".jsonl", ".ndjson"):
        return JsonlReader(path, columns, limits)
    if is_html(f"page{suffix}", head):
        return FileReader(path, limits)
    if _URL_LINE.match(text):
        return UrlReader(read_urls(path), limits, politeness)
    if text.startswith(b"["):
        raise SourceError(f"{path}: a JSON array; write one object a line (jq -c '.[]' does it)")
    raise SourceError(f"{path}: not recognized as pages; give {_KNOWN}")
