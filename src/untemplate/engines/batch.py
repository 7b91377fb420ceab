"""The core that every engine calls: a batch of pages in, a batch of their records out, both Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from untemplate.extraction import Rules
from untemplate.output.record_rows import arrow_row, arrow_schema
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze
from untemplate.record import Reason, Record
from untemplate.schema import Schema

__all__ = ["PAGE_COLUMNS", "batch_pages", "extract_batch", "page_batch", "unreadable_batch"]

PAGE_COLUMNS = pa.schema(
    {"url": pa.string(), "html": pa.large_binary(), "id": pa.string(), "charset": pa.string()}
)
"""The columns of a batch of pages; HTML may also be text, `id` and `charset` may be missing."""

# Maximum size of a batch. A batch costs 0.3 ms by itself, which does not matter beside the millisecond of each page.
BATCH_PAGES = 64
BATCH_BYTES = 4 << 20


def extract_batch(
    batch: pa.RecordBatch,
    rules: Rules,
    limits: Limits = DEFAULT_LIMITS,
    before_page: Callable[[], object] = lambda: None,
    min_confidence: float = 0.0,
) -> pa.RecordBatch:
    """Return the records of a batch of pages, in its order. No page can make this fail.

    Args:
        batch: Pages with the columns `PAGE_COLUMNS`; other columns are ignored.
        rules: The rules to apply.
        limits: The size limits of each page.
        before_page: Called before each page, by engines that limit the time of a page.
        min_confidence: Values of a lower confidence are left out; their record says so.
    """
    records: list[Record] = []
    for page in _unpack_pages(batch, limits):
        before_page()
        try:
            records += [record.without_doubtful(min_confidence) for record in rules.extract_page(page)]
        except MemoryError:
            records.append(_unreadable_record(page, rules.schema, "page needs too much memory"))
        except Exception as error:  # one page must not end the run, and its record says what happened
            reason = f"{type(error).__name__}: {squeeze(str(error))}"
            records.append(_unreadable_record(page, rules.schema, reason))
    return _record_batch(records, rules.schema)


def unreadable_batch(batch: pa.RecordBatch, schema: Schema, reason: str) -> pa.RecordBatch:
    """Return a record for each page of the batch that says why the page cannot be read; the page is not parsed."""
    records = [_unreadable_record(page, schema, reason) for page in _unpack_pages(batch)]
    return _record_batch(records, schema)


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


def _unreadable_record(page: Page, schema: Schema, reason: str) -> Record:
    missing = dict.fromkeys(schema.attributes, f"{Reason.UNREADABLE}: {reason}")
    return Record(page.url, page.id, None, {}, missing)


def _to_unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
