"""The Spark session, the tables of pages that jobs read, and the folders that they write.

Pages come from any file system that Spark reads. Parquet and tables are rows already. Of other files Spark gives
lines only, so a WARC or JSONL file travels as lines of raw bytes, compressed as it is, and is put together again on
the disk of the worker. There the reader that all engines use reads it, in constant memory. A file is the work of one
task.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from untemplate.errors import InputError, PageError, SourceError, UntemplateError
from untemplate.page import DEFAULT_LIMITS, Page, squeeze
from untemplate.sources import Skipped, read_pages
from untemplate.sources.page_rows import ID_COLUMNS, PageColumns, row_page
from untemplate.sources.stream import COMPRESSED_SUFFIXES

__all__ = [
    "LINE_ROWS",
    "PAGE_ROWS",
    "PageFrame",
    "PageReader",
    "explain_missing",
    "open_page_frame",
    "start_session",
    "temporary_settings",
    "write_job",
]

# How often a task may fail: Spark's default on a cluster. On one machine it would not try again at all, but a page
# that crashes its process is only found when its task is repeated.
MAX_FAILURES = 4

# On one machine, where Java only moves pages to Python, its second compiler costs more than it saves: 20 instead of
# 17 CPU seconds for the first 20,000 pages, and as many for the next.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"

# Environment variables that show that spark-submit, or a configuration, says where Spark is.
_CONFIGURED = {"PYSPARK_GATEWAY_PORT", "SPARK_CONF_DIR", "SPARK_HOME"}

# Maximum size of an Arrow batch between Spark and Python: rows if a row is a page, rows if it is a line, and bytes,
# if this version of Spark has such a limit. Its default of 10,000 rows is 600 MB of usual pages.
PAGE_ROWS = 64
LINE_ROWS = 1_000
BATCH_BYTES = 8 << 20


def start_session(master: str | None = None) -> SparkSession:
    """Return the active session; without one, start one.

    Args:
        master: Where Spark is, such as `yarn`. By default spark-submit or a configuration decides, else this machine.

    Raises:
        UntemplateError: Spark cannot start.
    """
    if (active := SparkSession.getActiveSession()) is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("untemplate")
    is_configured = bool(_CONFIGURED & os.environ.keys())
    if master is None and not is_configured:
        master = "local[*]"
    if master is not None:
        builder = builder.master(_retrying(master))
        if master.startswith("local") and not is_configured:
            builder = builder.config("spark.driver.extraJavaOptions", _JAVA_OPTIONS)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() == "JAVA_GATEWAY_EXITED":
            message = "Spark could not start: it needs Java 17 or newer; install a JRE, or set JAVA_HOME"
            raise UntemplateError(message) from error
        raise


def _retrying(master: str) -> str:
    """Return the master with repeated tasks on one machine. `local[2,4]`, which says how often, is not changed."""
    cores = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{cores[1] or 1},{MAX_FAILURES}]" if cores else master


def write_job(frame: DataFrame, folder: str, batch_rows: int) -> None:
    """Run the job that computes a table: each task writes its rows to the folder.

    Args:
        frame: The table. If its only column is `value`, it is written as text, else as Parquet.
        folder: A new folder.
        batch_rows: Rows per batch between Spark and Python.

    Raises:
        InputError: The folder exists.
        UntemplateError: The job failed.
    """
    spark = frame.sparkSession
    sizes = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": batch_rows,
        "spark.sql.execution.arrow.maxBytesPerBatch": BATCH_BYTES,
        "spark.sql.parquet.columnarReaderBatchSize": PAGE_ROWS,
    }
    with temporary_settings(spark, sizes):
        try:
            if frame.columns == ["value"]:
                frame.write.text(folder)
            else:
                frame.write.parquet(folder, compression="zstd")
        except AnalysisException as error:
            if error.getCondition() == "PATH_ALREADY_EXISTS":
                raise InputError(f"{folder}: exists already; remove it, or give another name") from error
            raise
        except (PySparkException, Py4JJavaError) as error:
            reason = squeeze(" ".join(str(error).splitlines()[:2]))
            raise UntemplateError(
                f"{folder}: Spark gave up: {reason}; the log of the job says more"
            ) from error


@contextmanager
def explain_missing(path: str, kind: type[InputError]) -> Iterator[None]:
    """Turn Spark's report that there is nothing to read into a one-line error of this kind."""
    try:
        yield
    except AnalysisException as error:
        missing = error.getCondition() == "PATH_NOT_FOUND"
        reason = "no such file or folder" if missing else str(error).splitlines()[0]
        raise kind(f"{path}: {reason}") from error


@contextmanager
def temporary_settings(spark: SparkSession, values: Mapping[str, object]) -> Iterator[None]:
    """Change settings of the session, and restore them afterwards."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, str(value))
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


# The bytes that end a line, by kind of file: frequent enough for short lines, not much more frequent.
_LINE_ENDS = {".warc": b"\r\n", ".jsonl": b"\n", ".ndjson": b"\n"}
_COMPRESSED_LINE_END = b"\r\n"
_KNOWN = "Parquet, WARC (.warc, .warc.gz) or JSONL (.jsonl, .jsonl.gz)"

# Hadoop would decompress files by their names; this codec passes them on unchanged, and Spark does not split them.
# If Hadoop's classes are shaded, as in Spark's own distribution, its option has the second name.
_CODEC = {"io.compression.codecs": "org.apache.hadoop.io.compress.PassthroughCodec"}
_CODEC_ENDING = (
    "io.compress.passthrough.extension",
    "org.apache.hadoop.shaded.io.compress.passthrough.extension",
)

PageReader = Callable[[Iterator[pa.RecordBatch], Skipped], Iterator[Page]]
"""Makes pages of rows, and counts the pages that cannot be read."""


@dataclass(frozen=True)
class PageFrame:
    """Rows for a Spark job, and what makes pages of them on a worker.

    Attributes:
        name: The source, for messages.
        frame: The rows.
        pages: Makes pages of the rows.
        is_table: True if each row is a page.
    """

    name: str
    frame: DataFrame
    pages: PageReader
    is_table: bool


def open_page_frame(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    columns: PageColumns,
    keep: Sequence[str] = (),
) -> PageFrame:
    """Open a table of pages, a file, or a folder of files of one kind; the suffixes of the files name it.

    Args:
        spark: The session.
        source: The table, or the path of a file or folder.
        columns: Which columns contain the URL and the HTML.
        keep: More columns of a table to keep.

    Raises:
        SourceError: There is nothing to read, or not of a kind that Spark reads.
    """
    if isinstance(source, DataFrame):
        return _table_frame(source, F.monotonically_increasing_id(), "the table", columns, keep)
    name = os.fspath(source)
    endings = {_file_ending(file) for file in _list_files(spark, name)}
    kinds = {ending.kind for ending in endings}
    if kinds == {".parquet"}:
        return _table_frame(spark.read.parquet(name), F.col("_metadata.row_index"), name, columns, keep)
    if unknown := kinds - _LINE_ENDS.keys():
        problem = "files of several kinds" if len(kinds) > 1 else unknown.pop() or "no ending"
        raise SourceError(f"{name}: {problem}; Spark reads {_KNOWN}; --engine local reads more")
    frames = [_line_frame(spark, name, ending) for ending in sorted(endings)]
    return PageFrame(name, reduce(DataFrame.unionAll, frames), partial(_file_pages, columns=columns), False)


class _Ending(NamedTuple):
    """How the name of a file ends.

    Attributes:
        name: The suffixes that count, such as `.warc.gz`.
        last: The last of them.
        kind: The one that names the kind of file, in lower case.
    """

    name: str
    last: str
    kind: str

    @property
    def line_end(self) -> bytes:
        return _COMPRESSED_LINE_END if self.last.lower() in COMPRESSED_SUFFIXES else _LINE_ENDS[self.kind]


def _file_ending(file: str) -> _Ending:
    *_, first, last = ("", "", *PurePosixPath(file).suffixes)
    if last.lower() in COMPRESSED_SUFFIXES:
        return _Ending(first + last, last, first.lower())
    return _Ending(last, last, last.lower())


def _list_files(spark: SparkSession, source: str) -> list[str]:
    with explain_missing(source, SourceError):
        reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        files = reader.load(source).inputFiles()
    if not files:
        raise SourceError(f"{source}: no files in this folder; give {_KNOWN}")
    return list(files)


def _table_frame(
    frame: DataFrame, index: Column, name: str, columns: PageColumns, keep: Sequence[str]
) -> PageFrame:
    """Select the columns that make pages; `index` numbers the rows from 0."""
    names = frame.columns
    columns.check(names, name)
    charset = "utf-8" if isinstance(frame.schema[columns.html].dataType, StringType) else None
    wanted = [F.col(columns.html).cast("binary").alias(PageColumns.html), (index + 1).alias("number")]
    if columns.url in names:
        wanted.append(F.col(columns.url).alias(PageColumns.url))
    wanted += [F.col(column) for column in (*ID_COLUMNS, "charset", *keep) if column in names]
    return PageFrame(name, frame.select(*wanted), partial(_row_pages, charset=charset), True)


def _row_pages(batches: Iterator[pa.RecordBatch], skipped: Skipped, charset: str | None) -> Iterator[Page]:
    for batch in batches:
        for row in batch.to_pylist():
            try:
                yield row_page(
                    row, row["number"], PageColumns(), DEFAULT_LIMITS, row.get("charset") or charset
                )
            except PageError as error:
                skipped.add(str(error), f"row {row['number']}")


def _line_frame(spark: SparkSession, source: str, ending: _Ending) -> DataFrame:
    """Read the lines of all files with this ending, as bytes, each with its file."""
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
    """Yield the pages of one file after the other; each file is first copied to the worker's disk."""
    disk = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0] or None
    for (file, size), pieces in groupby(_split_by_file(batches), key=lambda piece: (piece.file, piece.size)):
        with TemporaryDirectory(dir=disk) as folder:
            copy = Path(folder) / PurePosixPath(unquote(file)).name
            _write_copy(copy, pieces, size, _file_ending(file).line_end)
            skipped_in_copy = Skipped()
            yield from _copied_pages(copy, skipped_in_copy, columns)
            for reason, examples in skipped_in_copy.examples.items():
                skipped_in_copy.examples[reason] = [text.replace(str(copy), file) for text in examples]
            skipped.update(skipped_in_copy)


def _write_copy(copy: Path, pieces: Iterable[_Piece], size: int, line_end: bytes) -> None:
    """Put the lines of a file together again. Spark drops a line end at the end of the file; its size shows it."""
    with copy.open("wb") as out:
        for number, piece in enumerate(pieces):
            if number:
                out.write(line_end)
            out.write(_join_lines(piece.lines, line_end))
        if out.tell() < size:
            out.write(line_end)


def _copied_pages(copy: Path, skipped: Skipped, columns: PageColumns) -> Iterator[Page]:
    """Yield the pages of a file. A file that cannot be used is counted, and does not end the run."""
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


def _split_by_file(batches: Iterator[pa.RecordBatch]) -> Iterator[_Piece]:
    """Split each batch of lines where the file changes."""
    for batch in batches:
        start = 0
        for end in pc.run_end_encode(batch["file"]).run_ends.to_pylist():
            yield _Piece(
                batch["file"][start].as_py(),
                batch["size"][start].as_py(),
                batch["line"].slice(start, end - start),
            )
            start = end


def _join_lines(lines: pa.Array, line_end: bytes) -> pa.Buffer:
    all_lines = pa.LargeListArray.from_arrays(pa.array([0, len(lines)], pa.int64()), lines)
    return pc.binary_join(all_lines, line_end)[0].as_buffer()
