"""Rows of list pages by other libraries: a function each, HTML to rows of texts. Imports nothing of untemplate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import Any

from benchmarks.peers.listing import key, text_of
from benchmarks.peers.reading import clean

__all__ = ["READERS", "ReadRows"]

ReadRows = Callable[[str, Sequence[Sequence[str]]], list[list[str]]]
"""HTML, and the cells of the first two records for peers that learn from examples, to rows of texts."""


def read_with_libextract(html: str, examples: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the children of the element that it ranks first."""
    from libextract.api import extract

    best = next(iter(extract(html.encode("utf-8"), count=1)), None)
    return [] if best is None else [[text_of(child)] for child in best if text_of(child)]


def read_with_pandas(html: str, examples: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows of the table with the most cells."""
    import pandas

    try:
        tables = pandas.read_html(StringIO(html))
    except ValueError:  # no tables
        return []
    largest = max(tables, key=lambda table: table.size)
    rows = largest.fillna("").astype(str).to_numpy().tolist()
    return [[text for text in row if text] for row in rows]


def read_with_extruct(html: str, examples: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the items of the most frequent type in the embedded data."""
    import extruct

    data = extruct.extract(html, syntaxes=["json-ld", "microdata", "rdfa"], errors="ignore", uniform=True)
    items = [item for source in data.values() for top in source for item in _items(top)]
    types = Counter(str(item["@type"]) for item in items)
    usual = types.most_common(1)[0][0] if types else ""
    return [list(_texts(item)) for item in items if str(item["@type"]) == usual]


def _items(data: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects with a type, the outer ones first."""
    if isinstance(data, dict):
        if "@type" in data:
            yield data
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            yield from _items(part)


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield clean(data)
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _texts(part)


def read_with_autoscraper(html: str, examples: Sequence[Sequence[str]]) -> list[list[str]]:
    """Learn from two records, and put its columns together: those with the usual number of texts, in order."""
    from autoscraper import AutoScraper

    scraper = AutoScraper()
    wanted = {
        str(number): list(cells) for number, cells in enumerate(zip(*examples, strict=False)) if all(cells)
    }
    if not wanted:
        return []
    scraper.build(html=html, wanted_dict=wanted)
    columns = scraper.get_result_similar(html=html, grouped=True, keep_order=True, unique=False).values()
    lengths = Counter(len(column) for column in columns if len(column) > 1)
    if not lengths:
        return []
    usual = max(lengths, key=lambda length: (lengths[length], length))
    rows = zip(*(column for column in columns if len(column) == usual), strict=True)
    return [list({key(text): clean(text) for text in row}.values()) for row in rows]


READERS: dict[str, ReadRows] = {
    "libextract": read_with_libextract,
    "pandas.read_html": read_with_pandas,
    "extruct": read_with_extruct,
    "AutoScraper": read_with_autoscraper,
}
