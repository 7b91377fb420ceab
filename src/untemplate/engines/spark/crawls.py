"""Extract a crawl of many sites and schemas on Spark.

One job extracts all pages. Its rows have a column for each table, of which one is filled, because a job has one
result and tables have different columns. Then each table is selected and written by itself, which costs little.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from untemplate.engines.spark.extract_jobs import (
    DEFAULT_PAGE_LIMITS,
    extract_split,
    is_part_folder,
    join_parts,
    run_extraction,
    text_rows,
)
from untemplate.engines.spark.job_io import PAGE_ROWS, PageReader, open_page_frame, write_job
from untemplate.engines.worker import PageLimits, Result, Settings
from untemplate.errors import InputError
from untemplate.extraction import CrawlRules
from untemplate.output.record_files import FORMATS
from untemplate.output.record_rows import BATCH_COLUMNS, ExtraColumns, arrow_schema, select_columns
from untemplate.page import DEFAULT_LIMITS
from untemplate.schema import Schema
from untemplate.sources.page_rows import PageColumns

__all__ = ["extract_crawl"]

_ALL_TABLES = "_tables"


def extract_crawl(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    rules: CrawlRules,
    output: str | os.PathLike[str],
    *,
    format: str = ".parquet",
    url_column: str = PageColumns.url,
    html_column: str = PageColumns.html,
    limits: PageLimits = DEFAULT_PAGE_LIMITS,
    confidence: bool = False,
    typed: bool = False,
    min_confidence: float = 0.0,
) -> Result:
    """Extract the records of a crawl of many sites: a file a schema.

    Args:
        spark: The session; see `start_session`.
        source: Pages, as `extract_on_spark` reads them.
        rules: The rules of all sites, as `Catalog.packed_rules` returns them.
        output: A folder. If it has a scheme (`s3a://…`), each table is a folder in it, to which tasks write parts.
        format: The suffix of the files: `.jsonl`, `.csv` or `.parquet`.
        url_column: The column with the URL of a page.
        html_column: The column with its HTML.
        limits: What a page may cost before it becomes a record with a reason.
        confidence: Add columns to CSV and Parquet for how sure each value is; see `write_records`.
        typed: Add columns to CSV and Parquet for what each value means; see `write_records`.
        min_confidence: Leave out values of a lower confidence; their record says so.

    Returns:
        The counts of all sites, and the pages that were skipped.

    Raises:
        SourceError: No page could be read.
        InputError: The output cannot be written.
    """
    pages = open_page_frame(spark, source, PageColumns(url_column, html_column))
    extras = ExtraColumns(confidence, typed)
    settings = Settings(rules, format, limits, DEFAULT_LIMITS, extras, min_confidence)
    columns = pa.schema(
        {name: pa.struct(list(arrow_schema(schema))) for name, schema in rules.schemas.items()}
    )
    name = os.fspath(output).rstrip("/")
    if is_part_folder(name):
        folder = f"{name}/{_ALL_TABLES}"
        result = run_extraction(spark, pages, settings, _extract_tables, columns, folder)
        for table, schema in rules.schemas.items():
            records = _select_table(spark, folder, table)
            if FORMATS[format].is_text:
                records = text_rows(records, settings, schema)
            else:
                records = _expand_records(records, schema, extras)
            write_job(records, f"{name}/{table}{format}", PAGE_ROWS)
        return result
    target = Path(name)
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{name}: cannot write: {error.strerror}") from error
    with TemporaryDirectory(prefix=".", dir=target.resolve()) as temporary:
        folder = Path(temporary, _ALL_TABLES).as_uri()
        result = run_extraction(spark, pages, settings, _extract_tables, columns, folder)
        for table, schema in rules.schemas.items():
            parts = Path(temporary, table)
            records = _expand_records(_select_table(spark, folder, table), schema, BATCH_COLUMNS)
            write_job(records, parts.as_uri(), PAGE_ROWS)
            join_parts(parts, str(target / f"{table}{format}"), settings, schema)
    return result


def _select_table(spark: SparkSession, folder: str, table: str) -> DataFrame:
    """Return the records of one table, each a struct."""
    record = F.col(f"`{table}`")
    rows = spark.read.parquet(folder).where(record.isNotNull())
    return rows.select(record.alias("record"))


def _expand_records(records: DataFrame, schema: Schema, extras: ExtraColumns) -> DataFrame:
    """Return records, which are structs, as rows with the columns that a file shall have."""
    select = partial(_select_rows, schema=schema, extras=extras)
    return records.mapInArrow(select, from_arrow_schema(arrow_schema(schema, extras)))


def _select_rows(
    batches: Iterator[pa.RecordBatch], *, schema: Schema, extras: ExtraColumns
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield select_columns(pa.RecordBatch.from_struct_array(batch.column(0)), schema, extras)


def _extract_tables(
    rows: Iterator[pa.RecordBatch],
    *,
    read: PageReader,
    settings: Broadcast[Settings],
    total: Accumulator[Result],
) -> Iterator[pa.RecordBatch]:
    """Do the work of one task on a worker: rows in, records in the columns of their tables out."""
    schemas = settings.value.extractor.schemas
    for extracted in extract_split(rows, read, settings.value, total):
        for table, records in extracted.tables.items():
            empty = {
                name: pa.nulls(records.num_rows, pa.struct(list(arrow_schema(schema))))
                for name, schema in schemas.items()
            }
            columns = empty | {table: records.to_struct_array()}
            yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
