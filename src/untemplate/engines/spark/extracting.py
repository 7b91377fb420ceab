"""Extraction on Spark: rules broadcast once, every split of the pages a task, done again where it was lost.

A task extracts in its own process, which is fastest. Where that process died, by a page or otherwise, the next
attempt hands the pages to a worker process that may die in its stead, and so finds the page that is to blame.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
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
from untemplate.engines.batch import extract_batch
from untemplate.engines.pool import Pool, Task
from untemplate.engines.spark.reading import Input, PageReader, open_input
from untemplate.engines.spark.session import LINE_ROWS, PAGE_ROWS, run
from untemplate.engines.worker import PageLimits, Result, Settings, batches
from untemplate.errors import InputError, SourceError
from untemplate.extraction import Rules
from untemplate.output.record_files import FORMATS, record_format
from untemplate.output.record_rows import arrow_schema
from untemplate.output.tally import Tally
from untemplate.schema import Schema
from untemplate.sources.page_rows import PageColumns

__all__ = ["extract"]

DEFAULT_PAGE_LIMITS = PageLimits()

_FOLDER = re.compile(r"[\w.+-]+://|.*/$")
_TEXT = pa.schema({"value": pa.string()})


def extract(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    rules: Rules,
    output: str | os.PathLike[str],
    *,
    url_column: str = PageColumns.url,
    html_column: str = PageColumns.html,
    limits: PageLimits = DEFAULT_PAGE_LIMITS,
) -> Result:
    """Extract a record from every page; the result has the tally, and what was skipped.

    `source` is Parquet, WARC or JSONL, a file or a folder on any file system that Spark reads, or a table of pages.
    `output` is a `.jsonl`, `.csv` or `.parquet` file, or "-" for JSONL to standard output; if it ends with a slash or
    has a scheme (`records.parquet/`, `s3a://…/records.parquet`), it is a folder to which each task writes its part.
    """
    name = os.fspath(output)
    format = ".jsonl" if name == "-" else record_format(name.rstrip("/"))
    to_folder = _FOLDER.match(name) is not None
    if not to_folder and (reason := _unwritable(Path(name))):
        raise InputError(f"{name}: {reason}")
    given = open_input(spark, source, PageColumns(url_column, html_column))
    task = Settings(rules.dumps(), format, limits)
    if to_folder:
        return _write_parts(spark, given, rules.schema, task, name)
    with TemporaryDirectory(prefix=".", dir=None if name == "-" else Path(name).parent) as folder:
        parts = Path(folder).resolve() / "parts"
        result = _write_parts(spark, given, rules.schema, replace(task, format=".parquet"), parts.as_uri())
        _join(parts, name, format, rules.schema)
    return result


def _write_parts(spark: SparkSession, given: Input, schema: Schema, task: Settings, folder: str) -> Result:
    """The job: every task writes its records to a file in the folder; what the tasks counted."""
    context = spark.sparkContext
    total = context.accumulator(Result(), _Total())
    work = partial(_extract, read=given.pages, settings=context.broadcast(task), total=total)
    columns = _TEXT if FORMATS[task.format].is_text else arrow_schema(schema)
    records = given.frame.mapInArrow(work, from_arrow_schema(columns))
    run(records, folder, PAGE_ROWS if given.is_table else LINE_ROWS)
    result = total.value
    if not result.tally.records:
        reasons = f": {result.skipped}" if result.skipped else ""
        raise SourceError(f"{given.name}: no pages could be read from it{reasons}")
    return result


def _unwritable(file: Path) -> str | None:
    """What would be found out only after all work is done."""
    if file.is_dir():
        return "is a folder; for a folder of parts, end a new name with a slash"
    return None if file.parent.is_dir() else f"cannot write: there is no folder {file.parent}"


def _join(parts: Path, output: str, format: str, schema: Schema) -> None:
    """Make one file of the parts, in the order of the tasks, as the local engine writes it."""
    records = (
        batch for part in sorted(parts.glob("*.parquet")) for batch in pq.ParquetFile(part).iter_batches()
    )
    if output == "-":
        for batch in records:
            sys.stdout.write(FORMATS[format].encode(batch).decode())
        sys.stdout.flush()
        return
    with complete_file(output) as target:
        appended = parts / "records"
        with appended.open("wb") as file:
            file.write(FORMATS[format].header(schema))
            for batch in records:
                file.write(FORMATS[format].encode(batch))
        FORMATS[format].finish(appended).replace(target)


class _Total(AccumulatorParam[Result]):
    """What tasks counted; Spark adds it once for each, however often it was tried."""

    def zero(self, value: Result) -> Result:
        return Result()

    def addInPlace(self, value1: Result, value2: Result) -> Result:
        value1.update(value2)
        return value1


def _extract(
    rows: Iterator[pa.RecordBatch],
    *,
    read: PageReader,
    settings: Broadcast[Settings],
    total: Accumulator[Result],
) -> Iterator[pa.RecordBatch]:
    """The work of one task, done on a worker: rows in, records or their text out."""
    rules, format = _load(settings.value.rules), FORMATS[settings.value.format]
    context = TaskContext.get()
    extract_batches = _guarded if context is not None and context.attemptNumber() else _unguarded
    result = Result()
    if format.is_text and (header := format.header(rules.schema)):
        yield _text(header)
    for records in extract_batches(batches(read(rows, result.skipped)), rules, settings.value):
        result.tally.update(Tally.from_batch(records, rules.schema))
        yield _text(format.encode(records)) if format.is_text else records
    total.add(result)


def _unguarded(pages: Iterator[pa.RecordBatch], rules: Rules, settings: Settings) -> Iterator[pa.RecordBatch]:
    """Records extracted in this process, which ends when a page takes too long."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    start_clock = partial(signal.setitimer, signal.ITIMER_REAL, settings.limits.seconds)
    for batch in pages:
        records = extract_batch(batch, rules, before_page=start_clock)
        signal.setitimer(signal.ITIMER_REAL, 0)
        yield records


def _guarded(pages: Iterator[pa.RecordBatch], rules: Rules, settings: Settings) -> Iterator[pa.RecordBatch]:
    """Records extracted in a process of their own; a page that ends it gets a record that says so."""
    start = FORMATS[".parquet"].header(rules.schema)
    with Pool(replace(settings, format=".parquet"), 1) as pool:
        for batch in pages:
            for _, result in pool.run([Task(0, batch)]):
                yield from pa.ipc.open_stream(start + result.records)


@lru_cache(maxsize=1)
def _load(rules: str) -> Rules:
    return Rules.loads(rules)


def _text(lines: bytes) -> pa.RecordBatch:
    """Lines as one row; Spark ends it with the last line end."""
    return pa.RecordBatch.from_arrays([[lines.decode().removesuffix("\n")]], schema=_TEXT)
