"""Parquet: a page a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from untemplate.errors import PageError, SourceError
from untemplate.page import Limits, Page
from untemplate.sources.pages import Part, Skipped
from untemplate.sources.rows import ID_COLUMNS, Columns, row_page
from untemplate.sources.stream import CUT_SHORT

__all__ = ["ParquetReader"]

# Rows of a Parquet file in memory at a time: pages are big, and more rows are not faster.
_BATCH = 32
# Rows of a row group up to which it is read as a whole by one process; most files of pages have smaller ones.
_MAX_GROUP = 2_000


@dataclass(frozen=True)
class ParquetReader:
    """A Parquet file, or some of its row groups; HTML may be text or bytes."""

    path: Path
    columns: Columns
    limits: Limits
    groups: range | None = None
    rows_before: int = 0

    @property
    def total(self) -> int:
        with self._open() as table:
            return int(table.metadata.num_rows)

    def check(self) -> None:
        """SourceError when it is no Parquet file after all, or lacks a column."""
        with self._open() as table:
            names = table.schema_arrow.names
        for name, needed in ((self.columns.html, True), (self.columns.url, self.columns.url != Columns.url)):
            if needed and name not in names:
                raise SourceError(
                    f"{self.path}: no column {name!r}, only {', '.join(names)}; "
                    "name the columns with url_column and html_column"
                )

    def parts(self, size: int, skipped: Skipped) -> Iterator[Part] | None:
        """Row groups of at least so many rows together; None if there are row groups too big for that."""
        with self._open() as table:
            rows = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
        return self._parts(rows, size) if max(rows, default=0) <= _MAX_GROUP else None

    def _parts(self, rows: list[int], size: int) -> Iterator[Part]:
        start, before = 0, 0
        for end in range(1, len(rows) + 1):
            count = sum(rows[start:end])
            if count >= size or end == len(rows):
                yield Part(replace(self, groups=range(start, end), rows_before=before))
                start, before = end, before + count

    def read(self, skipped: Skipped) -> Iterator[Page]:
        number = self.rows_before
        with self._open() as table:
            wanted = {self.columns.url, self.columns.html, *ID_COLUMNS}
            schema = table.schema_arrow
            names = [name for name in schema.names if name in wanted]
            charset = "utf-8" if _is_text(schema.field(self.columns.html).type) else None
            try:
                batches = table.iter_batches(_BATCH, self.groups, columns=names, use_threads=False)
                for batch in batches:
                    for row in _with_bytes(batch, self.columns.html).to_pylist():
                        number += 1
                        try:
                            yield row_page(row, number, self.columns, self.limits, charset)
                        except PageError as error:
                            skipped.add(str(error), f"row {number}")
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                skipped.add(CUT_SHORT, f"{self.path}, after row {number}: {error}")

    def _open(self) -> pq.ParquetFile:
        try:
            # with a buffer and nothing read ahead, memory does not grow with the size of row groups
            return pq.ParquetFile(self.path, buffer_size=1 << 20, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise SourceError(f"{self.path}: not a whole Parquet file ({reason}); write it again") from error


def _is_text(type: pa.DataType) -> bool:
    if pa.types.is_dictionary(type):
        type = type.value_type
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type))


def _with_bytes(batch: pa.RecordBatch, html: str) -> pa.RecordBatch:
    """HTML that is text taken as the bytes it is: not decoded here, nor lost when it is not valid UTF-8."""
    index = batch.schema.get_field_index(html)
    column = batch.column(index)
    if not _is_text(column.type):
        return batch
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return batch.set_column(index, html, column.cast(pa.large_binary()))
