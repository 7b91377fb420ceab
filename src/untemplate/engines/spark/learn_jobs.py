"""Learning on Spark.

The labels and pages of a site reach a task as one stream, the labels first, and a site is never split. So a task
needs no more memory for a big site than learning on one machine does. A site that cannot be learned costs only its
own row, which says why.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, groupby

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from untemplate.catalog import Catalog
from untemplate.clustering.site_sample import MAX_SAMPLE_PAGES
from untemplate.engines.spark.arrow_batches import PAGE_COLUMNS, page_batch
from untemplate.engines.spark.job_io import (
    PAGE_ROWS,
    PageFrame,
    PageReader,
    explain_missing,
    open_page_frame,
    write_job,
)
from untemplate.engines.worker import batch_pages
from untemplate.errors import LabelError, RulesError, SourceError, UntemplateError
from untemplate.extraction import Rules
from untemplate.labeling import parse_labels
from untemplate.pipeline import learn_site
from untemplate.rules.rule import Wrapper
from untemplate.schema import Schema
from untemplate.sources import Skipped
from untemplate.sources.page_rows import ID_COLUMNS, PageColumns

__all__ = ["combine_rules", "learn_sites", "save_learned"]

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
