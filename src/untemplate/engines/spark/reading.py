"""Pages out of Spark, on any file system that it reads.

Parquet and tables are rows already. Of other files Spark gives lines only, so a WARC or JSONL file travels as lines
of raw bytes, compressed as it is, and is put together again on the worker's disk. There the reader that all engines
use reads it, in constant memory. A file is the work of one task.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from untemplate.engines.spark.session import missing_told
from untemplate.errors import PageError, SourceError
from untemplate.page import DEFAULT_LIMITS, Page
from untemplate.sources import Skipped, read_pages
from untemplate.sources.page_rows import ID_COLUMNS, PageColumns, row_page

__all__ = ["Input", "PageReader", "open_input"]

_COMPRESSED = frozenset({".bz2", ".gz", ".xz", ".zst"})
# What ends the lines of each kind of file: often enough for lines to be short, not much oftener.
_LINE_ENDS = {".warc": b"\r\n", ".jsonl": b"\n", ".ndjson": b"\n"}
_COMPRESSED_LINE_END = b"\r\n"
_KNOWN = "Parquet, WARC (.warc, .warc.gz) or JSONL (.jsonl, .jsonl.gz)"

# Hadoop would unpack files by their names; this codec hands them on as they are, and Spark does not split them.
# Where Hadoop's classes are shaded, as in Spark's own distribution, its option has the second name.
_CODEC = {"io.compression.codecs": "org.apache.hadoop.io.compress.PassthroughCodec"}
_CODEC_ENDING = (
    "io.compress.passthrough.extension",
    "org.apache.hadoop.shaded.io.compress.passthrough.extension",
)

PageReader = Callable[[Iterator[pa.RecordBatch], Skipped], Iterator[Page]]
"""What makes pages of rows, and counts those that cannot be read."""


@dataclass(frozen=True)
class Input:
    """Rows for a Spark job, and what makes pages of them on a worker; in a table, a row is a page."""

    name: str
    frame: DataFrame
    pages: PageReader
    is_table: bool


def open_input(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    columns: PageColumns,
    keep: Sequence[str] = (),
) -> Input:
    """A table of pages, a file, or a folder of files of one kind, which their endings tell.

    `keep` are more columns of a table for the job to have.
    """
    if isinstance(source, DataFrame):
        return _table(source, F.monotonically_increasing_id(), "the table", columns, keep)
    name = os.fspath(source)
    endings = {_ending(file) for file in _files(spark, name)}
    kinds = {ending.kind for ending in endings}
    if kinds == {".parquet"}:
        return _table(spark.read.parquet(name), F.col("_metadata.row_index"), name, columns, keep)
    if unknown := kinds - _LINE_ENDS.keys():
        found = "files of several kinds" if len(kinds) > 1 else unknown.pop() or "no ending"
        raise SourceError(f"{name}: {found}; Spark reads {_KNOWN}; --engine local reads more")
    frames = [_lines(spark, name, ending) for ending in sorted(endings)]
    return Input(name, reduce(DataFrame.unionAll, frames), partial(_file_pages, columns=columns), False)


class _Ending(NamedTuple):
    """How the name of a file ends, such as `.warc.gz`; its last part; and what kind of file that tells."""

    name: str
    last: str
    kind: str

    @property
    def line_end(self) -> bytes:
        return _COMPRESSED_LINE_END if self.last.lower() in _COMPRESSED else _LINE_ENDS[self.kind]


def _ending(file: str) -> _Ending:
    *_, first, last = ("", "", *PurePosixPath(file).suffixes)
    if last.lower() in _COMPRESSED:
        return _Ending(first + last, last, first.lower())
    return _Ending(last, last, last.lower())


def _files(spark: SparkSession, source: str) -> list[str]:
    with missing_told(source, SourceError):
        reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        files = reader.load(source).inputFiles()
    if not files:
        raise SourceError(f"{source}: no files in this folder; give {_KNOWN}")
    return list(files)


def _table(frame: DataFrame, index: Column, name: str, columns: PageColumns, keep: Sequence[str]) -> Input:
    known = frame.columns
    for column, needed in ((columns.html, True), (columns.url, columns.url != PageColumns.url)):
        if needed and column not in known:
            raise SourceError(
                f"{name}: no column {column!r}, only {', '.join(known)}; "
                "name the columns with url_column and html_column"
            )
    charset = "utf-8" if isinstance(frame.schema[columns.html].dataType, StringType) else None
    wanted = [F.col(columns.html).cast("binary").alias(PageColumns.html), (index + 1).alias("number")]
    if columns.url in known:
        wanted.append(F.col(columns.url).alias(PageColumns.url))
    wanted += [F.col(column) for column in (*ID_COLUMNS, "charset", *keep) if column in known]
    return Input(name, frame.select(*wanted), partial(_row_pages, charset=charset), True)


def _row_pages(batches: Iterator[pa.RecordBatch], skipped: Skipped, charset: str | None) -> Iterator[Page]:
    for batch in batches:
        for row in batch.to_pylist():
            try:
                yield row_page(
                    row, row["number"], PageColumns(), DEFAULT_LIMITS, row.get("charset") or charset
                )
            except PageError as error:
                skipped.add(str(error), f"row {row['number']}")


def _lines(spark: SparkSession, source: str, ending: _Ending) -> DataFrame:
    """The lines of all files with this ending, as bytes, each with its file."""
    options = _CODEC | dict.fromkeys(_CODEC_ENDING, ending.last)
    options |= {"lineSep": ending.line_end.decode(), "pathGlobFilter": f"*{ending.name}"}
    return (
        spark.read.options(recursiveFileLookup="true", **options)
        .text(source)
        .select(
            F.col("value").cast("binary").alias("line"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.file_size").alias("size"),
        )
    )


def _file_pages(batches: Iterator[pa.RecordBatch], skipped: Skipped, columns: PageColumns) -> Iterator[Page]:
    """The pages of one file after the other, each file first copied to the worker's disk."""
    disk = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0] or None
    for (file, size), pieces in groupby(_pieces(batches), key=lambda piece: (piece.file, piece.size)):
        line_end = _ending(file).line_end
        with TemporaryDirectory(dir=disk) as folder:
            copy = Path(folder) / PurePosixPath(unquote(file)).name
            with copy.open("wb") as out:
                for number, piece in enumerate(pieces):
                    if number:
                        out.write(line_end)
                    out.write(_joined(piece.lines, line_end))
                if out.tell() < size:  # a line end at the end of the file, which Spark does not tell
                    out.write(line_end)
            found = Skipped()
            yield from _copied_pages(copy, found, columns)
            for reason, where in found.examples.items():
                found.examples[reason] = [text.replace(str(copy), file) for text in where]
            skipped.update(found)


def _copied_pages(copy: Path, skipped: Skipped, columns: PageColumns) -> Iterator[Page]:
    """The pages of a file; one that cannot be used is told, and does not end the run."""
    try:
        pages = read_pages(copy, url_column=columns.url, html_column=columns.html)
        yield from pages
        skipped.update(pages.skipped)
    except SourceError as error:
        skipped.add("file cannot be used", str(error))


class _Piece(NamedTuple):
    """Some lines of a file."""

    file: str
    size: int
    lines: pa.Array


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[_Piece]:
    for batch in batches:
        start = 0
        for end in pc.run_end_encode(batch["file"]).run_ends.to_pylist():
            yield _Piece(
                batch["file"][start].as_py(),
                batch["size"][start].as_py(),
                batch["line"].slice(start, end - start),
            )
            start = end


def _joined(lines: pa.Array, line_end: bytes) -> pa.Buffer:
    whole = pa.LargeListArray.from_arrays(pa.array([0, len(lines)], pa.int64()), lines)
    return pc.binary_join(whole, line_end)[0].as_buffer()
