"""Records on their way to a file: as text, or as Arrow messages that become Parquet at the end.

What is encoded can simply be appended, so a file may be continued at the end of any batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from untemplate.output import record_files
from untemplate.schema import Schema

__all__ = ["encode", "finish", "header"]


def header(format: str, schema: Schema) -> bytes:
    """What stands before the first batch."""
    if format == ".parquet":
        return bytes(record_files.arrow_schema(schema).serialize())
    return record_files.csv_header(schema).encode() if format == ".csv" else b""


def encode(batch: pa.RecordBatch, format: str) -> bytes:
    """A batch of records as what is appended for it."""
    if format == ".parquet":
        return bytes(batch.serialize())
    lines = record_files.csv_lines if format == ".csv" else record_files.jsonl_lines
    return lines(batch.to_pylist()).encode()


def finish(appended: Path, format: str) -> Path:
    """The file that what was appended makes: itself, or a new one beside it."""
    if format != ".parquet":
        return appended
    whole = appended.with_suffix(format)
    with (
        pa.OSFile(str(appended)) as file,
        pa.ipc.open_stream(file) as stream,
        pq.ParquetWriter(whole, stream.schema, compression="zstd") as writer,
    ):
        for group in _row_groups(stream):
            writer.write_table(group)
    return whole


def _row_groups(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows in row groups of the usual size; as when records are written one by one, the last may be empty."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= record_files.BATCH:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, record_files.BATCH).combine_chunks()
            waiting = table.slice(record_files.BATCH).to_batches()
            rows -= record_files.BATCH
    yield pa.Table.from_batches(waiting, batches.schema).combine_chunks()
