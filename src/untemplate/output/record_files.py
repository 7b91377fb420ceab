"""Write records to files: JSONL, CSV or Parquet, chosen by the ending of the file's name.

Records are written as they come, in constant memory, and a file appears under its name only when it is complete.

`FORMATS` is the one table of formats. To add a format, write a subclass of OutputFormat and add it there: the Python
API, the commands and the engines then know it.
"""

from __future__ import annotations

import csv
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from untemplate.atomic_file import complete_file
from untemplate.errors import InputError
from untemplate.output.record_rows import (
    ExtraColumns,
    arrow_row,
    arrow_schema,
    column_names,
    encode_json,
    nest_confidence,
    record_batch,
    record_row,
    select_columns,
)
from untemplate.record import Record
from untemplate.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from untemplate.lists import Rows
    from untemplate.page import Page

__all__ = [
    "FORMATS",
    "OutputFormat",
    "RecordSink",
    "TextFormat",
    "open_records",
    "record_format",
    "write_records",
    "write_rows",
]

RecordSink = Callable[[Record], None]
"""A function that writes one record."""

# Rows of a Parquet row group: enough to compress well, few enough for articles of some 10 kB each.
ROW_GROUP_SIZE = 5_000


def write_records(
    records: Iterable[Record],
    path: str | Path,
    schema: Schema,
    *,
    confidence: bool = False,
    typed: bool = False,
) -> int:
    """Write records to a file, one row each, and return how many there were.

    A file has the columns `url`, `page` and `cluster`, one for each attribute, `data` with typed values, and
    `missing` with the reason for each missing value. Records of list pages also have `row`, their position on the
    page. JSONL also has `confidence` with how sure each value is.

    Args:
        records: the records, for example from `Rules.extract`. They are written as they come.
        path: a file whose name ends in `.jsonl`, `.csv` or `.parquet`, or `-` for JSONL on standard output.
        schema: the schema of the records, which determines the columns.
        confidence: add to CSV and Parquet how sure each value is, such as a column `price.confidence` beside `price`.
        typed: add to CSV and Parquet what each value means, such as `price.amount` and `price.currency` beside
            `price`, `published.date` and `phone.e164`.

    Raises:
        InputError: the name has another ending, or the file cannot be written.

    Example:
        >>> from untemplate import Attribute, Record, Schema, Value, write_records
        >>> schema = Schema("shop", {"name": Attribute("name"), "price": Attribute("price")})
        >>> values = {"name": [Value("Lamp", "Lamp", "/html/h1/text()", "name#1")]}
        >>> record = Record("http://shop.example/1", "1.html", "c1", values, {"price": "not on this page"})
        >>> write_records([record], "-", schema)  # doctest: +ELLIPSIS
        {"url":"http://shop.example/1","page":"1.html","cluster":"c1","name":"Lamp","price":null,...}
        1
    """
    count = 0
    with open_records(path, schema, confidence=confidence, typed=typed) as write:
        for record in records:
            write(record)
            count += 1
    return count


@contextmanager
def open_records(
    path: str | Path, schema: Schema, *, confidence: bool = False, typed: bool = False
) -> Iterator[RecordSink]:
    """Open a file for records; a context manager whose value is a function that writes one record.

    The file appears when the block ends without an error. Arguments and errors are those of `write_records`.
    """
    extras = ExtraColumns(confidence, typed)
    if str(path) == "-":
        yield _JsonLines().make_sink(sys.stdout, schema, extras)
        sys.stdout.flush()
        return
    format = FORMATS[record_format(path)]
    with complete_file(path) as part, format.open_records(part, schema, extras) as write:
        yield write


def write_rows(pages: Iterable[tuple[Page, Rows]], path: str | Path) -> None:
    """Write the rows of list pages to a file.

    A file has the columns `url` and `image`, with the addresses of each record's page and picture, the columns of the
    lists, and at last where each row comes from: `page_url`, `page`, `list`, `row`, `confidence`, `xpath` and `text`.
    Lines of JSONL are written as they come, with the columns of their list. CSV and Parquet have those of all lists.

    Args:
        pages: pages and their rows, as `find_records` returns them.
        path: as for `write_records`.

    Raises:
        InputError: the name has another ending, or the file cannot be written.
    """
    lines = _list_lines(pages)
    if str(path) == "-":
        for line in lines:
            sys.stdout.write(encode_json(line) + "\n")
        return
    format = FORMATS[record_format(path)]
    with complete_file(path) as part:
        format.write_list_file(lines, part)


def record_format(path: str | Path) -> str:
    """Return the format that the ending of a file's name asks for, such as `.csv`.

    Raises:
        InputError: there is no such format.
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"{path}: unknown format; end the name in {', '.join(FORMATS)}, or give -")
    return ending


def _list_lines(pages: Iterable[tuple[Page, Rows]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of all pages as column → value."""
    from untemplate.lists.rows import ADDRESS_COLUMNS, ROW_COLUMNS  # here, as records need nothing of lists

    for page, rows in pages:
        for number, row in enumerate(rows, 1):
            place = (page.url, page.id, row.list_id, number, round(row.confidence, 3), row.xpath, row.text)
            addresses = dict.fromkeys(ADDRESS_COLUMNS)
            yield addresses | row.values | dict(zip(ROW_COLUMNS, place, strict=True))


@contextmanager
def _all_columns(lines: Iterable[dict[str, Any]]) -> Iterator[tuple[list[str], Iterator[dict[str, Any]]]]:
    """Read all lines, and yield the columns that any of them has, together with the lines."""
    from untemplate.lists.rows import ROW_COLUMNS

    names: dict[str, None] = {}
    with TemporaryFile("w+", encoding="utf-8") as waiting:
        for line in lines:
            names |= dict.fromkeys(line)
            waiting.write(json.dumps(line) + "\n")
        waiting.seek(0)
        columns = [name for name in names if name not in ROW_COLUMNS]
        yield [*columns, *ROW_COLUMNS], map(json.loads, waiting)


class OutputFormat(ABC):
    """One format of output files.

    Records are written in two ways. `open_records` writes them one by one. The engines instead append encoded batches
    to a file: `header`, then `encode` of each batch, so that a file can be continued after any batch; `finish` makes
    the result of what was appended. Batches and JSONL files always have the confidence and the typed data of values;
    other files have columns for them if the caller wants these.
    """

    ending: ClassVar[str]
    """The ending of file names, such as `.csv`."""
    media_type: ClassVar[str]
    """The content type of HTTP answers with such a file."""
    is_text: ClassVar[bool]
    """True if what is appended is the result itself, in lines of text, so that it can be written to a pipe."""

    @abstractmethod
    def open_records(
        self, path: Path, schema: Schema, extras: ExtraColumns
    ) -> AbstractContextManager[RecordSink]:
        """Open a file; a context manager whose value is a function that writes one record."""

    @abstractmethod
    def header(self, schema: Schema, extras: ExtraColumns) -> bytes:
        """Return what comes before the first batch."""

    @abstractmethod
    def encode(self, batch: pa.RecordBatch, schema: Schema, extras: ExtraColumns) -> bytes:
        """Return what is appended for a batch of records."""

    @abstractmethod
    def encode_records(self, records: Iterable[Record], schema: Schema, extras: ExtraColumns) -> bytes:
        """Return the same for records that are in no batch yet."""

    @abstractmethod
    def finish(self, appended: Path) -> Path:
        """Return the file that the appended batches make: the same file, or a new one beside it."""

    @abstractmethod
    def write_list_file(self, lines: Iterable[dict[str, Any]], path: Path) -> None:
        """Write the rows of list pages."""


class TextFormat(OutputFormat):
    """A format of lines of text."""

    is_text = True

    @abstractmethod
    def encode_record(self, record: Record, schema: Schema, extras: ExtraColumns) -> str:
        """Return the lines of one record."""

    @abstractmethod
    def encode_rows(self, rows: Iterable[Mapping[str, Any]]) -> str:
        """Return the lines of rows of an Arrow table."""

    def make_sink(self, out: TextIO, schema: Schema, extras: ExtraColumns) -> RecordSink:
        """Return a function that writes one record to an open file."""

        def write(record: Record) -> None:
            out.write(self.encode_record(record, schema, extras))

        return write

    @contextmanager
    def open_records(self, path: Path, schema: Schema, extras: ExtraColumns) -> Iterator[RecordSink]:
        with path.open("w", encoding="utf-8", newline="") as out:
            out.write(self.header(schema, extras).decode())
            yield self.make_sink(out, schema, extras)

    def header(self, schema: Schema, extras: ExtraColumns) -> bytes:
        return b""

    def encode(self, batch: pa.RecordBatch, schema: Schema, extras: ExtraColumns) -> bytes:
        return self.encode_rows(batch.to_pylist()).encode()

    def encode_records(self, records: Iterable[Record], schema: Schema, extras: ExtraColumns) -> bytes:
        return "".join(self.encode_record(record, schema, extras) for record in records).encode()

    def finish(self, appended: Path) -> Path:
        return appended


class _JsonLines(TextFormat):
    ending = ".jsonl"
    media_type = "application/jsonl"

    def encode_record(self, record: Record, schema: Schema, extras: ExtraColumns) -> str:
        return encode_json(record_row(record, schema)) + "\n"

    def encode_rows(self, rows: Iterable[Mapping[str, Any]]) -> str:
        return "".join(encode_json(nest_confidence(row)) + "\n" for row in rows)

    def write_list_file(self, lines: Iterable[dict[str, Any]], path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as out:
            out.writelines(encode_json(line) + "\n" for line in lines)


class _Csv(TextFormat):
    """Lists of values, and reasons, are JSON inside a cell."""

    ending = ".csv"
    media_type = "text/csv"

    def header(self, schema: Schema, extras: ExtraColumns) -> bytes:
        return _csv_text([column_names(schema, extras)]).encode()

    def encode(self, batch: pa.RecordBatch, schema: Schema, extras: ExtraColumns) -> bytes:
        return super().encode(select_columns(batch, schema, extras), schema, extras)

    def encode_record(self, record: Record, schema: Schema, extras: ExtraColumns) -> str:
        return self.encode_rows([arrow_row(record, schema, extras)])

    def encode_rows(self, rows: Iterable[Mapping[str, Any]]) -> str:
        nested = ({**row, "missing": dict(row["missing"])} for row in rows)
        return _csv_text(map(_csv_cell, row.values()) for row in nested)

    def write_list_file(self, lines: Iterable[dict[str, Any]], path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as out, _all_columns(lines) as (columns, waiting):
            table = csv.DictWriter(out, columns)
            table.writeheader()
            table.writerows(waiting)


def _csv_text(rows: Iterable[Iterable[Any]]) -> str:
    text = StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    return encode_json(value) if isinstance(value, list | dict) else value


class _Parquet(OutputFormat):
    """What is appended are Arrow messages, which `finish` turns into Parquet."""

    ending = ".parquet"
    media_type = "application/vnd.apache.parquet"
    is_text = False

    @contextmanager
    def open_records(self, path: Path, schema: Schema, extras: ExtraColumns) -> Iterator[RecordSink]:
        with _open_parquet(path, arrow_schema(schema, extras)) as write_row:

            def write(record: Record) -> None:
                write_row(arrow_row(record, schema, extras))

            yield write

    def header(self, schema: Schema, extras: ExtraColumns) -> bytes:
        return bytes(arrow_schema(schema, extras).serialize())

    def encode(self, batch: pa.RecordBatch, schema: Schema, extras: ExtraColumns) -> bytes:
        return bytes(select_columns(batch, schema, extras).serialize())

    def encode_records(self, records: Iterable[Record], schema: Schema, extras: ExtraColumns) -> bytes:
        return self.encode(record_batch(records, schema), schema, extras)

    def finish(self, appended: Path) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        result = appended.with_suffix(self.ending)
        with (
            pa.OSFile(str(appended)) as file,
            pa.ipc.open_stream(file) as stream,
            pq.ParquetWriter(result, stream.schema, compression="zstd") as writer,
        ):
            for group in _row_groups(stream):
                writer.write_table(group)
        return result

    def write_list_file(self, lines: Iterable[dict[str, Any]], path: Path) -> None:
        import pyarrow as pa

        numbers = {"list": pa.int32(), "row": pa.int32(), "confidence": pa.float32()}
        with _all_columns(lines) as (columns, waiting):
            types = [(name, numbers.get(name, pa.string())) for name in columns]
            with _open_parquet(path, pa.schema(types)) as write_row:
                for line in waiting:
                    write_row(line)


@contextmanager
def _open_parquet(path: Path, columns: pa.Schema) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Open a Parquet file; a context manager whose value is a function that writes one row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    waiting: list[dict[str, Any]] = []

    with pq.ParquetWriter(path, columns, compression="zstd") as writer:

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(waiting, columns))
            waiting.clear()

        def write(row: dict[str, Any]) -> None:
            waiting.append(row)
            if len(waiting) == ROW_GROUP_SIZE:
                flush()

        yield write
        flush()


def _row_groups(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield the rows in groups of the usual size; the last may be empty, as when rows are written one by one."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= ROW_GROUP_SIZE:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, ROW_GROUP_SIZE).combine_chunks()
            waiting = table.slice(ROW_GROUP_SIZE).to_batches()
            rows -= ROW_GROUP_SIZE
    yield pa.Table.from_batches(waiting, batches.schema).combine_chunks()


FORMATS: dict[str, OutputFormat] = {format.ending: format for format in (_JsonLines(), _Csv(), _Parquet())}
"""All formats by the ending of file names."""
