"""The core that every engine calls: a batch of pages in, a batch of records for each table out, all Arrow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from untemplate.extraction import PageExtractor, PageRecords
from untemplate.output.record_rows import arrow_row, arrow_schema
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze
from untemplate.record import Record
from untemplate.schema import Schema
from untemplate.sources.page_source import Skipped
from untemplate.watching import CrawlTally

__all__ = [
    "PAGE_COLUMNS",
    "UNKNOWN_HOST",
    "ExtractedBatch",
    "batch_pages",
    "extract_batch",
    "page_batch",
    "refuse_batch",
]

UNKNOWN_HOST = "its host is that of no site in the catalog"
"""Why a page of a crawl has no record."""

PAGE_COLUMNS = pa.schema(
    {"url": pa.string(), "html": pa.large_binary(), "id": pa.string(), "charset": pa.string()}
)
"""The columns of a batch of pages; HTML may also be text, `id` and `charset` may be missing."""

# Maximum size of a batch. A batch costs 0.3 ms by itself, which does not matter beside the millisecond of each page.
BATCH_PAGES = 64
BATCH_BYTES = 4 << 20


@dataclass
class ExtractedBatch:
    """What came out of a batch of pages.

    Attributes:
        tables: The records of each table, as Arrow.
        crawls: The counts of each site.
        unknown: Pages whose host is that of no site.
    """

    tables: dict[str, pa.RecordBatch]
    crawls: dict[str, CrawlTally]
    unknown: Skipped


def extract_batch(
    batch: pa.RecordBatch,
    extractor: PageExtractor,
    limits: Limits = DEFAULT_LIMITS,
    before_page: Callable[[], object] = lambda: None,
    min_confidence: float = 0.0,
) -> ExtractedBatch:
    """Return the records of a batch of pages, in its order. No page can make this fail.

    Args:
        batch: Pages with the columns `PAGE_COLUMNS`; other columns are ignored.
        extractor: The rules of one site or of many.
        limits: The size limits of each page.
        before_page: Called before each page, by engines that limit the time of a page.
        min_confidence: Leave out values of a lower confidence; their record says so.
    """

    def extract_page(page: Page) -> PageRecords | None:
        before_page()
        try:
            found = extractor.extract_page(page)
            return found and found.without_doubtful(min_confidence)
        except MemoryError:
            return extractor.refuse_page(page, "page needs too much memory")
        except Exception as error:  # one page must not end the run, and its record says what happened
            return extractor.refuse_page(page, f"{type(error).__name__}: {squeeze(str(error))}")

    return _collect_records(batch, extractor, extract_page, limits)


def refuse_batch(batch: pa.RecordBatch, extractor: PageExtractor, reason: str) -> ExtractedBatch:
    """Return a record for each page of the batch that says why the page cannot be read; the page is not parsed."""
    return _collect_records(batch, extractor, lambda page: extractor.refuse_page(page, reason))


def _collect_records(
    batch: pa.RecordBatch,
    extractor: PageExtractor,
    extract_page: Callable[[Page], PageRecords | None],
    limits: Limits = DEFAULT_LIMITS,
) -> ExtractedBatch:
    """Count the records of all pages, and put them into their tables."""
    records: dict[str, list[Record]] = defaultdict(list)
    crawls: dict[str, CrawlTally] = defaultdict(CrawlTally)
    unknown = Skipped()
    for page in _unpack_pages(batch, limits):
        found = extract_page(page)
        if found is None:
            unknown.add(UNKNOWN_HOST, page.url or page.id)
            continue
        for record in found.records:
            crawls[found.site].add(record)
            if found.site and record.cluster is not None:
                record.cluster = f"{found.site}/{record.cluster}"
        records[found.table] += found.records
    tables = {table: _record_batch(rows, extractor.schemas[table]) for table, rows in records.items()}
    return ExtractedBatch(tables, dict(crawls), unknown)


def batch_pages(pages: Iterable[Page]) -> Iterator[pa.RecordBatch]:
    """Yield pages in batches of limited size."""
    waiting: list[Page] = []
    size = 0
    for page in pages:
        waiting.append(page)
        size += len(page.html)
        if len(waiting) == BATCH_PAGES or size >= BATCH_BYTES:
            yield page_batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield page_batch(waiting)


def page_batch(pages: Iterable[Page]) -> pa.RecordBatch:
    """Return pages as one batch.

    Characters of names that are not Unicode are replaced, because no record file could contain them.
    """
    rows = [(_to_unicode(page.url), page.html, _to_unicode(page.id), page.charset) for page in pages]
    columns = [[row[index] for row in rows] for index in range(len(PAGE_COLUMNS))]
    arrays = [pa.array(column, type) for column, type in zip(columns, PAGE_COLUMNS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PAGE_COLUMNS)


def _unpack_pages(batch: pa.RecordBatch, limits: Limits = DEFAULT_LIMITS) -> Iterator[Page]:
    """Yield the pages of a batch, one in memory at a time."""
    empty = pa.nulls(batch.num_rows)
    names = batch.schema.names
    columns = [batch[name] if name in names else empty for name in PAGE_COLUMNS.names]
    for row in zip(*columns, strict=True):
        url, html, id, charset = (value.as_py() for value in row)
        yield Page(url or "", html or b"", id or "", charset=charset, limits=limits)


def _record_batch(records: Iterable[Record], schema: Schema) -> pa.RecordBatch:
    rows = [arrow_row(record, schema) for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(schema))


def _to_unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
