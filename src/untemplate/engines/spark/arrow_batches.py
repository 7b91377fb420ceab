"""Pages and records as Arrow batches, which Spark moves between its processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from untemplate.engines.worker import ExtractedPages, Result
from untemplate.extraction import PageExtractor
from untemplate.output.record_files import FORMATS
from untemplate.output.record_rows import BATCH_COLUMNS, record_batch
from untemplate.page import Page

__all__ = ["PAGE_COLUMNS", "RecordTables", "page_batch"]

PAGE_COLUMNS = pa.schema(
    {"url": pa.string(), "html": pa.large_binary(), "id": pa.string(), "charset": pa.string()}
)
"""The columns of a batch of pages."""


def page_batch(pages: Iterable[Page]) -> pa.RecordBatch:
    """Return pages as one batch.

    Characters of names that are not Unicode are replaced, because no record file could contain them.
    """
    rows = [(_to_unicode(page.url), page.html, _to_unicode(page.id), page.charset) for page in pages]
    columns = [[row[index] for row in rows] for index in range(len(PAGE_COLUMNS))]
    arrays = [pa.array(column, type) for column, type in zip(columns, PAGE_COLUMNS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PAGE_COLUMNS)


def _to_unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True)
class RecordTables:
    """The records of some pages as Arrow.

    Attributes:
        tables: The records of each table.
        counts: What was counted, without records.
    """

    tables: dict[str, pa.RecordBatch]
    counts: Result

    @classmethod
    def from_pages(cls, extracted: ExtractedPages, extractor: PageExtractor) -> RecordTables:
        """Return the records that were extracted in this process."""
        counts = Result()
        counts.count(extracted)
        tables = {
            table: record_batch(records, extractor.schemas[table])
            for table, records in extracted.records.items()
        }
        return cls(tables, counts)

    @classmethod
    def from_worker(cls, result: Result, extractor: PageExtractor) -> RecordTables:
        """Return the records that a worker process sent in the format of Parquet files."""
        tables = {}
        for table, records in result.records.items():
            header = FORMATS[".parquet"].header(extractor.schemas[table], BATCH_COLUMNS)
            stream = pa.ipc.open_stream(header + records)
            [tables[table]] = stream.read_all().combine_chunks().to_batches()
        result.records.clear()
        return cls(tables, result)
