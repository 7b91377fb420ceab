"""Extraction and learning on Spark.

Extraction: rules are broadcast once, every split of the pages is a task, lost tasks are repeated. A task extracts in
its own process, which is fastest. If that process died, because of a page or not, the next attempt gives the pages to
a worker process that may die instead, and so finds the page that is to blame.

Learning: the labels and pages of a site reach a task as one stream, the labels first, and a site is never split. So a
task needs no more memory for a big site than learning on one machine does. A site that cannot be learned costs only
its own row, which says why.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.core.broadcast import Broadcast
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from untemplate.atomic_file import complete_file
from untemplate.catalog import Catalog
from untemplate.clustering.site_sample import MAX_SAMPLE_PAGES
from untemplate.engines.pool import Pool, PoolTask
from untemplate.engines.spark.arrow_batches import PAGE_COLUMNS, RecordTables, page_batch
from untemplate.engines.spark.job_io import (
    LINE_ROWS,
    PAGE_ROWS,
    PageFrame,
    PageReader,
    explain_missing,
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
from untemplate.errors import InputError, LabelError, RulesError, SourceError, UntemplateError
from untemplate.extraction import OneSite, Rules
from untemplate.labeling import parse_labels
from untemplate.output.record_files import FORMATS, record_format
from untemplate.output.record_rows import BATCH_COLUMNS, ExtraColumns, arrow_schema, select_columns
from untemplate.page import DEFAULT_LIMITS, Page
from untemplate.pipeline import learn_site
from untemplate.rules.rule import Wrapper
from untemplate.schema import Schema
from untemplate.sources import Skipped
from untemplate.sources.page_rows import ID_COLUMNS, PageColumns

__all__ = [
    "combine_rules",
    "extract_on_spark",
    "extract_split",
    "is_part_folder",
    "join_parts",
    "learn_sites",
    "run_extraction",
    "save_learned",
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


# Unlabeled pages of more bytes do not travel to the task that learns their site.
MAX_BYTES = 2 << 20

_LEARNED = pa.schema(dict.fromkeys(("site", "rules", "report", "problem"), pa.string()))


def learn_sites(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    labels: str | os.PathLike[str],
    schema: Schema,
    output: str | os.PathLike[str],
    *,
    url_column: str = PageColumns.url,
    html_column: str = PageColumns.html,
) -> DataFrame:
    """Learn the rules of every site that has labels.

    The site of a page is the column `site` of its table, else the host of its URL. The site of labels is `"site"` in
    their line, else the host of their `"url"`.

    Args:
        spark: The session; see `start_session`.
        source: Pages, as `extract_on_spark` reads them.
        labels: A file or folder of labels.
        schema: What to extract.
        output: A new folder for Parquet with a row a site.
        url_column: The column with the URL of a page.
        html_column: The column with its HTML.

    Returns:
        A row per site with the columns `site`; `rules`, the content of a rules file; `report`, JSON on how learning
        went; `problem`, why there are no rules.
    """
    columns = PageColumns(url_column, html_column)
    sources = _with_site(open_page_frame(spark, source, columns, keep=("site",)), spark)
    lines = _label_lines(spark, os.fspath(labels))
    rows = _stream_by_site(_sample_pages(sources.frame, lines), lines)
    learn = partial(_learn_task, read=sources.pages, schema=schema)
    learned = rows.mapInArrow(learn, from_arrow_schema(_LEARNED))
    folder = os.fspath(output)
    write_job(learned, folder, PAGE_ROWS)
    return spark.read.parquet(folder)


def save_learned(learned: DataFrame, catalog: Catalog, by: str = "") -> dict[str, int]:
    """Save the rules that `learn_sites` learned in a catalog; return the number of the version of each site.

    Args:
        learned: What `learn_sites` returned. Sites without rules are left out; their column `problem` says why.
        catalog: The catalog.
        by: The person who saves them.
    """
    rows = learned.where("rules is not null").select("site", "rules").orderBy("site").toLocalIterator()
    return {
        row.site: catalog.save_rules(row.site, Rules.loads(row.rules, row.site), "learned", "on Spark", by)
        for row in rows
    }


def combine_rules(learned: DataFrame) -> Rules:
    """Combine the rules that `learn_sites` learned, for a crawl of all sites; URL patterns select the site.

    Raises:
        RulesError: No site was learned.
    """
    rows = learned.where("rules is not null").select("site", "rules").orderBy("site").collect()
    sites = [(row.site, Rules.loads(row.rules, row.site)) for row in rows]
    if not sites:
        raise RulesError("no site was learned; the column `problem` says why")
    wrappers: list[Wrapper] = []
    for site, rules in sites:
        wrappers += (replace(wrapper, cluster=f"{site}/{wrapper.cluster}") for wrapper in rules.wrappers)
    return replace(sites[0][1], wrappers=tuple(wrappers))


def _with_site(pages: PageFrame, spark: SparkSession) -> PageFrame:
    """Return the pages as a table with the column `site`."""
    if not pages.is_table:
        rows = pages.frame.mapInArrow(partial(_page_rows, read=pages.pages), from_arrow_schema(PAGE_COLUMNS))
        pages = open_page_frame(spark, rows, PageColumns())
    columns = pages.frame.columns
    if "site" in columns:
        return pages
    if "url" not in columns:
        raise SourceError(f"{pages.name}: needs a column `site`, or one with the URL")
    return replace(pages, frame=pages.frame.withColumn("site", _url_host("url")))


def _page_rows(rows: Iterator[pa.RecordBatch], *, read: PageReader) -> Iterator[pa.RecordBatch]:
    return map(page_batch, batch_pages(read(rows, Skipped())))


def _label_lines(spark: SparkSession, labels: str) -> DataFrame:
    """Read the lines of label files, each with its site and the name of its page."""
    with explain_missing(labels, LabelError):
        lines = spark.read.text(labels).withColumnRenamed("value", "line").where("trim(line) <> ''")
    site, page, url = (F.get_json_object("line", f"$.{name}") for name in ("site", "page", "url"))
    return lines.select(
        "line", F.coalesce(site, _url_host(url)).alias("site"), F.coalesce(page, url).alias("name")
    )


def _url_host(url: Column | str) -> Column:
    return F.lower(F.try_parse_url(url, F.lit("HOST")))


def _sample_pages(pages: DataFrame, lines: DataFrame) -> DataFrame:
    """Select the labeled pages of all sites with labels, and some of their unlabeled ones, the same each time.

    These are about as many as clustering keeps in memory. It also limits their bytes, when it reads them.
    """
    labeled = lines.groupBy("site").agg(F.collect_set("name").alias("labeled"))
    sizes = pages.groupBy("site").agg(F.count("*").alias("size"))
    names = [F.col(name) for name in ("url", *ID_COLUMNS) if name in pages.columns]
    drawn = F.pmod(F.xxhash64(*names), F.lit(1 << 20)) < F.lit(MAX_SAMPLE_PAGES << 20) / F.col("size")
    chosen = drawn & (F.octet_length("html") <= MAX_BYTES)
    for name in names:
        chosen |= F.coalesce(F.array_contains("labeled", name.cast("string")), F.lit(False))
    # sent to every worker, so that only the selected pages travel
    sites = F.broadcast(labeled.join(sizes, "site"))
    return pages.join(sites, "site").where(chosen).drop("labeled", "size")


def _stream_by_site(pages: DataFrame, lines: DataFrame) -> DataFrame:
    """Return the rows of both tables with each site in one partition: first its labels, then its pages by URL.

    Spark sorts on disk what does not fit into memory.
    """
    rows = pages.unionByName(lines.select("site", "line"), allowMissingColumns=True)
    names = [name for name in ("url", *ID_COLUMNS) if name in pages.columns]
    return rows.repartition("site").sortWithinPartitions("site", F.col("line").asc_nulls_last(), *names)


def _learn_task(
    rows: Iterator[pa.RecordBatch], *, read: PageReader, schema: Schema
) -> Iterator[pa.RecordBatch]:
    """Learn the sites of a partition on a worker, one after the other; yield a row for each."""
    for site, pieces in groupby(_split_by_site(rows), key=_site_of):
        yield pa.RecordBatch.from_pylist([_learn_one(site, pieces, read, schema)], _LEARNED)


def _learn_one(
    site: str | None, pieces: Iterator[pa.RecordBatch], read: PageReader, schema: Schema
) -> dict[str, str | None]:
    """Learn one site from the stream of its labels and pages; return its row."""
    row: dict[str, str | None] = {"site": site, "rules": None, "report": None, "problem": None}
    try:
        lines: list[str] = []
        page_rows: Iterator[pa.RecordBatch] = iter(())
        for piece in pieces:
            if piece["line"].null_count:
                page_rows = chain([piece], pieces)
                break
            lines += piece["line"].to_pylist()
        skipped = Skipped()
        learned = learn_site(read(page_rows, skipped), parse_labels(lines, f"labels of {site}"), schema)
        learned.check_rules()
        report = learned.to_dict()
        if skipped:
            report["problems"].append(f"{skipped.total} pages skipped: {skipped}")
        row |= {"rules": learned.rules.dumps(), "report": json.dumps(report, ensure_ascii=False)}
    except UntemplateError as error:
        row["problem"] = str(error)
    except Exception as error:  # one site must not end the job, and its row says what happened
        row["problem"] = f"{type(error).__name__}: {error}"
    return row


def _split_by_site(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Split each batch of rows where the site changes, and between its labels and its pages."""
    for batch in batches:
        ends = {
            *pc.run_end_encode(batch["site"]).run_ends.to_pylist(),
            *pc.run_end_encode(batch["line"].is_null()).run_ends.to_pylist(),
        }
        start = 0
        for end in sorted(ends):
            yield batch.slice(start, end - start)
            start = end


def _site_of(rows: pa.RecordBatch) -> str | None:
    site: str | None = rows["site"][0].as_py()
    return site
