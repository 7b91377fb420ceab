"""Records into a file, its format named by its ending: JSONL, CSV or Parquet.

Records are written as they come, in constant memory, and the file appears under its name only when complete.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from untemplate.atomic_file import complete_file
from untemplate.errors import InputError
from untemplate.record import Record
from untemplate.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BATCH",
    "RecordSink",
    "arrow_row",
    "arrow_schema",
    "column_name",
    "csv_header",
    "csv_lines",
    "jsonl_lines",
    "open_records",
    "record_format",
    "record_row",
    "write_records",
]

_json = json.JSONEncoder(ensure_ascii=False).encode

RecordSink = Callable[[Record], None]

# Columns that every record has; an attribute of such a name gets an underscore at its end.
RESERVED = ("url", "page", "cluster", "row", "data", "missing")

# Rows of a Parquet row group: big enough to compress well, small enough for articles of some 10 kB each.
BATCH = 5_000


def write_records(records: Iterable[Record], path: str | Path, schema: Schema) -> int:
    """Write all records to a `.jsonl`, `.csv` or `.parquet` file, or as JSONL to standard output for "-"."""
    count = 0
    with open_records(path, schema) as write:
        for record in records:
            write(record)
            count += 1
    return count


@contextmanager
def open_records(path: str | Path, schema: Schema) -> Iterator[RecordSink]:
    """A function that writes one record to the file; the file appears when the block ends without error."""
    if str(path) == "-":
        yield _jsonl_sink(sys.stdout, schema)
        sys.stdout.flush()
        return
    sink = _SINKS[record_format(path)]
    with complete_file(path) as part, sink(part, schema) as write:
        yield write


def record_format(path: str | Path) -> str:
    """The format that the ending of the name asks for, such as `.csv`; InputError if there is no such."""
    ending = Path(path).suffix.lower()
    if ending not in _SINKS:
        raise InputError(f"{path}: cannot tell the format; end the name in {', '.join(_SINKS)}, or give -")
    return ending


@contextmanager
def _jsonl(path: Path, schema: Schema) -> Iterator[RecordSink]:
    with path.open("w", encoding="utf-8") as out:
        yield _jsonl_sink(out, schema)


def _jsonl_sink(out: TextIO, schema: Schema) -> RecordSink:
    def write(record: Record) -> None:
        out.write(_json(record_row(record, schema)) + "\n")

    return write


@contextmanager
def _csv(path: Path, schema: Schema) -> Iterator[RecordSink]:
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write(csv_header(schema))

        def write(record: Record) -> None:
            out.write(csv_lines([arrow_row(record, schema)]))

        yield write


@contextmanager
def _parquet(path: Path, schema: Schema) -> Iterator[RecordSink]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = arrow_schema(schema)
    batch: list[dict[str, Any]] = []

    with pq.ParquetWriter(path, columns, compression="zstd") as writer:

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(batch, columns))
            batch.clear()

        def write(record: Record) -> None:
            batch.append(arrow_row(record, schema))
            if len(batch) == BATCH:
                flush()

        yield write
        flush()


_SINKS: dict[str, Callable[[Path, Schema], AbstractContextManager[RecordSink]]] = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
}


def jsonl_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows of an Arrow table as lines of JSON."""
    return "".join(
        _json({**row, "data": json.loads(row["data"]), "missing": dict(row["missing"])}) + "\n"
        for row in rows
    )


def csv_header(schema: Schema) -> str:
    """The first line of a CSV file of records."""
    return _csv_text([_columns(schema)])


def csv_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows of an Arrow table as lines of CSV: lists and reasons are JSON."""
    plain = ({**row, "missing": dict(row["missing"])} for row in rows)
    return _csv_text(
        [_json(cell) if isinstance(cell, list | dict) else cell for cell in row.values()] for row in plain
    )


def _csv_text(rows: Iterable[Iterable[Any]]) -> str:
    text = StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def column_name(attribute: str) -> str:
    """The column of an attribute."""
    return f"{attribute}_" if attribute in RESERVED else attribute


def _columns(schema: Schema) -> list[str]:
    row = ["row"] if schema.rows else []
    return ["url", "page", "cluster", *row, *map(column_name, schema.attributes), "data", "missing"]


def record_row(record: Record, schema: Schema) -> dict[str, Any]:
    """The record as a row of any record file: column to plain value, as JSON knows them."""
    row: dict[str, Any] = {
        "url": _writable(record.url),
        "page": _writable(record.page_id),
        "cluster": record.cluster,
    }
    if schema.rows:
        row["row"] = record.position
    data: dict[str, Any] = {}
    for name, attribute in schema.attributes.items():
        values = record.values.get(name, [])
        texts = [_writable(value.text) for value in values]
        row[column_name(name)] = texts if attribute.many else texts[0] if texts else None
        typed = [value.data for value in values]
        if any(one is not None and one != value.text for one, value in zip(typed, values, strict=True)):
            data[name] = _plain(typed if attribute.many else typed[0])
    return row | {"data": data, "missing": {name: str(reason) for name, reason in record.missing.items()}}


def arrow_row(record: Record, schema: Schema) -> dict[str, Any]:
    """The record as a row of an Arrow table: typed data are JSON in a text, reasons are a map."""
    row = record_row(record, schema)
    return row | {"data": _json(row["data"]), "missing": list(row["missing"].items())}


def arrow_schema(schema: Schema) -> pa.Schema:
    """The columns that records have in Parquet and in Arrow record batches."""
    import pyarrow as pa

    types = {name: pa.string() for name in _columns(schema)}
    types |= {column_name(a.name): pa.list_(pa.string()) for a in schema.attributes.values() if a.many}
    types["missing"] = pa.map_(pa.string(), pa.string())
    if schema.rows:
        types["row"] = pa.int32()
    return pa.schema(list(types.items()))


def _writable(text: str) -> str:
    """Without lone surrogates, which file names may hold and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    """Typed data as JSON: dates and times in ISO form, decimals as numbers, else fields or text."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
