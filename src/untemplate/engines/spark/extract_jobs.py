"""Extraction on Spark.

Rules are broadcast once, every split of the pages is a task, lost tasks are repeated. A task extracts in its own
process, which is fastest. If that process died, because of a page or not, the next attempt gives the pages to a
worker process that may die instead, and so finds the page that is to blame.

A Python process of Spark imports this module when it starts, so it imports nothing that only learning needs.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from untemplate.atomic_file import complete_file
from untemplate.engines.pool import Pool, PoolTask
from untemplate.engines.spark.arrow_batches import RecordTables
from untemplate.engines.spark.job_io import (
    LINE_ROWS,
    PAGE_ROWS,
    PageFrame,
    PageReader,
    open_page_frame,
    write_job,
)
from untemplate.engines.worker import (
    UNKNOWN_HOST,
    PageLimits,
    Result,
    Settings,
    batch_pages,
    extract_pages,
)
from untemplate.errors import InputError, SourceError
from untemplate.extraction import OneSite, Rules
from untemplate.output.record_files import FORMATS, record_format
from untemplate.output.record_rows import BATCH_COLUMNS, ExtraColumns, arrow_schema, select_columns
from untemplate.page import DEFAULT_LIMITS, Page
from untemplate.schema import Schema
from untemplate.sources.page_rows import PageColumns

__all__ = [
    "extract_on_spark",
    "extract_split",
    "is_part_folder",
    "join_parts",
    "run_extraction",
    "text_rows",
]

DEFAULT_PAGE_LIMITS = PageLimits()

_FOLDER = re.compile(r"[\w.+-]+://|.*/$")
_TEXT = pa.schema({"value": pa.string()})


def extract_on_spark(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    rules: Rules,
    output: str | os.PathLike[str],
    *,
    url_column: str = PageColumns.url,
    html_column: str = PageColumns.html,
    limits: PageLimits = DEFAULT_PAGE_LIMITS,
    confidence: bool = False,
    typed: bool = False,
    min_confidence: float = 0.0,
) -> Result:
    """Extract the records of all pages on Spark.

    Args:
        spark: The session; see `start_session`.
        source: Parquet, WARC or JSONL, a file or a folder on any file system that Spark reads, or a table of pages.
        rules: The rules to apply.
        output: A `.jsonl`, `.csv` or `.parquet` file, or "-" for JSONL to standard output. If it ends with a slash or
            has a scheme (`records.parquet/`, `s3a://…/records.parquet`), a folder to which each task writes its part.
        url_column: The column with the URL of a page.
        html_column: The column with its HTML.
        limits: What a page may cost before it becomes a record with a reason.
        confidence: Add columns to CSV and Parquet for how sure each value is; see `write_records`.
        typed: Add columns to CSV and Parquet for what each value means; see `write_records`.
        min_confidence: Leave out values of a lower confidence; their record says so.

    Returns:
        The tally, and the pages that were skipped; the records are in the output.

    Raises:
        SourceError: No page could be read.
        InputError: The output cannot be written.
    """
    name = os.fspath(output)
    format = ".jsonl" if name == "-" else record_format(name.rstrip("/"))
    to_folder = is_part_folder(name)
    if not to_folder and (reason := _unwritable(Path(name))):
        raise InputError(f"{name}: {reason}")
    pages = open_page_frame(spark, source, PageColumns(url_column, html_column))
    settings = Settings(
        OneSite(rules), format, limits, DEFAULT_LIMITS, ExtraColumns(confidence, typed), min_confidence
    )
    if to_folder:
        return _write_parts(spark, pages, rules.schema, settings, name)
    with TemporaryDirectory(prefix=".", dir=None if name == "-" else Path(name).parent) as folder:
        parts = Path(folder).resolve() / "parts"
        to_parquet = replace(settings, format=".parquet", extras=BATCH_COLUMNS)
        result = _write_parts(spark, pages, rules.schema, to_parquet, parts.as_uri())
        join_parts(parts, name, settings, rules.schema)
    return result


def _write_parts(
    spark: SparkSession, pages: PageFrame, schema: Schema, settings: Settings, folder: str
) -> Result:
    """Run the job: every task writes its records to a file in the folder. Return what the tasks counted."""
    columns = _TEXT if FORMATS[settings.format].is_text else arrow_schema(schema, settings.extras)
    return run_extraction(spark, pages, settings, _extract_task, columns, folder)


def run_extraction(
    spark: SparkSession,
    pages: PageFrame,
    settings: Settings,
    task: Callable[..., Iterator[pa.RecordBatch]],
    columns: pa.Schema,
    folder: str,
) -> Result:
    """Run a job that extracts: every task writes rows to a file in the folder.

    Args:
        spark: The session.
        pages: The pages.
        settings: What each task has to know.
        task: Turns the rows of a split into rows of the result, as `_extract_task` does.
        columns: The columns of the result.
        folder: A new folder.

    Returns:
        What the tasks counted.

    Raises:
        SourceError: No page could be read.
    """
    context = spark.sparkContext
    total = context.accumulator(Result(), _ResultSum())
    work = partial(task, read=pages.pages, settings=context.broadcast(settings), total=total)
    records = pages.frame.mapInArrow(work, from_arrow_schema(columns))
    write_job(records, folder, PAGE_ROWS if pages.is_table else LINE_ROWS)
    result = total.value
    if not result.tally.records and not result.skipped.counts[UNKNOWN_HOST]:
        reasons = f": {result.skipped}" if result.skipped else ""
        raise SourceError(f"{pages.name}: no pages could be read from it{reasons}")
    return result


def is_part_folder(output: str) -> bool:
    """Return True if the name of an output is that of a folder to which tasks write their parts."""
    return _FOLDER.match(output) is not None


def _unwritable(file: Path) -> str | None:
    """Return why a file cannot be written, before all work is done for nothing."""
    if file.is_dir():
        return "is a folder; for a folder of parts, end a new name with a slash"
    return None if file.parent.is_dir() else f"cannot write: there is no folder {file.parent}"


def join_parts(parts: Path, output: str, settings: Settings, schema: Schema) -> None:
    """Make one file of the parts, in the order of the tasks, as the local engine writes it."""
    format = FORMATS[settings.format]
    encoded = (format.encode(batch, schema, settings.extras) for batch in _read_parts(parts))
    if output == "-":
        sys.stdout.writelines(lines.decode() for lines in encoded)
        sys.stdout.flush()
        return
    with complete_file(output) as target:
        appended = parts / "records"
        with appended.open("wb") as file:
            file.write(format.header(schema, settings.extras))
            file.writelines(encoded)
        format.finish(appended).replace(target)


def _read_parts(parts: Path) -> Iterator[pa.RecordBatch]:
    for part in sorted(parts.glob("*.parquet")):
        yield from pq.ParquetFile(part).iter_batches()


class _ResultSum(AccumulatorParam[Result]):
    """Adds what tasks counted; Spark adds each task once, however often it was tried."""

    def zero(self, value: Result) -> Result:
        return Result()

    def addInPlace(self, value1: Result, value2: Result) -> Result:
        value1.update(value2)
        return value1


def _extract_task(
    rows: Iterator[pa.RecordBatch],
    *,
    read: PageReader,
    settings: Broadcast[Settings],
    total: Accumulator[Result],
) -> Iterator[pa.RecordBatch]:
    """Do the work of one task on a worker: rows in, records or their text out."""
    format = FORMATS[settings.value.format]
    schema, extras = settings.value.extractor.schemas[""], settings.value.extras
    if format.is_text and (header := format.header(schema, extras)):
        yield _text_row(header)
    for extracted in extract_split(rows, read, settings.value, total):
        for records in extracted.tables.values():
            if format.is_text:
                yield _text_row(format.encode(records, schema, extras))
            else:
                yield select_columns(records, schema, extras)


def extract_split(
    rows: Iterator[pa.RecordBatch], read: PageReader, settings: Settings, total: Accumulator[Result]
) -> Iterator[RecordTables]:
    """Yield what comes out of the pages of a split, batch by batch; add the counts when it is done."""
    context = TaskContext.get()
    is_repeated = context is not None and context.attemptNumber() > 0
    extract_batches = _extract_guarded if is_repeated else _extract_unguarded
    result = Result()
    for extracted in extract_batches(batch_pages(read(rows, result.skipped)), settings):
        result.update(extracted.counts)
        yield extracted
    total.add(result)


def _extract_unguarded(batches: Iterator[list[Page]], settings: Settings) -> Iterator[RecordTables]:
    """Extract in this process, which ends if a page takes too long."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    start_clock = partial(signal.setitimer, signal.ITIMER_REAL, settings.limits.seconds)
    for pages in batches:
        extracted = extract_pages(pages, settings.extractor, start_clock, settings.min_confidence)
        signal.setitimer(signal.ITIMER_REAL, 0)
        yield RecordTables.from_pages(extracted, settings.extractor)


def _extract_guarded(batches: Iterator[list[Page]], settings: Settings) -> Iterator[RecordTables]:
    """Extract in a separate process; a page that ends it gets a record that says so."""
    with Pool(replace(settings, format=".parquet", extras=BATCH_COLUMNS), 1) as pool:
        for pages in batches:
            for _, result in pool.run([PoolTask(0, pages)]):
                yield RecordTables.from_worker(result, settings.extractor)


def text_rows(records: DataFrame, settings: Settings, schema: Schema) -> DataFrame:
    """Return records, each a struct in the only column, as the text of a format; each part has its header."""
    encode = partial(_encode_rows, format=settings.format, schema=schema, extras=settings.extras)
    return records.mapInArrow(encode, from_arrow_schema(_TEXT))


def _encode_rows(
    batches: Iterator[pa.RecordBatch], *, format: str, schema: Schema, extras: ExtraColumns
) -> Iterator[pa.RecordBatch]:
    if header := FORMATS[format].header(schema, extras):
        yield _text_row(header)
    for batch in batches:
        records = pa.RecordBatch.from_struct_array(batch.column(0))
        yield _text_row(FORMATS[format].encode(records, schema, extras))


def _text_row(lines: bytes) -> pa.RecordBatch:
    """Return lines as one row; Spark adds the last line end."""
    return pa.RecordBatch.from_arrays([[lines.decode().removesuffix("\n")]], schema=_TEXT)
