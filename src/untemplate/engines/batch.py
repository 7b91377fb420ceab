"""The core that every engine calls: a batch of pages in, a batch of their records out, both Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from untemplate.extraction import Rules
from untemplate.output.record_rows import arrow_row, arrow_schema
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze
from untemplate.record import Reason, Record
from untemplate.schema import Schema

__all__ = ["PAGE_COLUMNS", "extract_batch", "page_batch", "unreadable_batch"]

PAGE_COLUMNS = pa.schema(
    {"url": pa.string(), "html": pa.large_binary(), "id": pa.string(), "charset": pa.string()}
)
"""The columns of a batch of pages; HTML may also be text, `id` and `charset` may be missing."""


def extract_batch(
    batch: pa.RecordBatch,
    rules: Rules,
    limits: Limits = DEFAULT_LIMITS,
    before_page: Callable[[], object] = lambda: None,
) -> pa.RecordBatch:
    """The records of each page of the batch, in its order, whatever the pages are; other columns are left out.

    `before_page` is called before each page, by engines that limit the time for one.
    """
    records: list[Record] = []
    for page in _pages(batch, limits):
        before_page()
        try:
            records += rules.extract_page(page)
        except MemoryError:
            records.append(_unreadable(page, rules.schema, "page needs too much memory"))
        except Exception as error:  # one page must not end the run, and its record says what happened
            reason = f"{type(error).__name__}: {squeeze(str(error))}"
            records.append(_unreadable(page, rules.schema, reason))
    return _record_batch(records, rules.schema)


def unreadable_batch(batch: pa.RecordBatch, schema: Schema, reason: str) -> pa.RecordBatch:
    """The records that say of each page of the batch why it cannot be read; nobody looks at the pages."""
    return _record_batch((_unreadable(page, schema, reason) for page in _pages(batch)), schema)


def page_batch(pages: Iterable[Page]) -> pa.RecordBatch:
    """Pages as a batch. A name that is no Unicode loses what is not: no record file could hold it."""
    rows = [(_unicode(page.url), page.html, _unicode(page.id), page.charset) for page in pages]
    columns = [[row[index] for row in rows] for index in range(len(PAGE_COLUMNS))]
    arrays = [pa.array(column, type) for column, type in zip(columns, PAGE_COLUMNS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PAGE_COLUMNS)


def _pages(batch: pa.RecordBatch, limits: Limits = DEFAULT_LIMITS) -> Iterator[Page]:
    """The pages of a batch, one in memory at a time."""
    empty = pa.nulls(batch.num_rows)
    names = batch.schema.names
    columns = [batch[name] if name in names else empty for name in PAGE_COLUMNS.names]
    for url, html, id, charset in zip(*columns, strict=True):
        yield Page(
            url.as_py() or "", html.as_py() or b"", id.as_py() or "", charset=charset.as_py(), limits=limits
        )


def _record_batch(records: Iterable[Record], schema: Schema) -> pa.RecordBatch:
    rows = [arrow_row(record, schema) for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(schema))


def _unreadable(page: Page, schema: Schema, reason: str) -> Record:
    missing = dict.fromkeys(schema.attributes, f"{Reason.UNREADABLE}: {reason}")
    return Record(page.url, page.id, None, {}, missing)


def _unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
