"""The rules of many sites as one job: pages and labels are brought together by site, and a site is never split.

A site that cannot be learnt costs its own row, which says why.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from untemplate.engines.batch import PAGE_COLUMNS
from untemplate.engines.spark.reading import Input, PageReader, open_input
from untemplate.engines.spark.session import PAGE_ROWS, missing_told, run
from untemplate.engines.worker import batches
from untemplate.errors import LabelError, RulesError, SourceError, UntemplateError
from untemplate.extraction import Rules
from untemplate.labeling import parse_labels
from untemplate.pipeline import learn_site
from untemplate.schema import Schema
from untemplate.sources import Skipped
from untemplate.sources.page_rows import ID_COLUMNS, PageColumns

__all__ = ["combine_rules", "learn_sites"]

# Pages of a site that its rules are learnt from, besides the labelled ones, and bytes of one: 60 MB of usual pages.
# Learning looks at 40 pages of a template, clustering at all of these.
MAX_PAGES = 1000
MAX_BYTES = 2 << 20

_LEARNT = pa.schema(dict.fromkeys(("site", "rules", "report", "problem"), pa.string()))


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
    """Learn the rules of every site that has labels; Parquet with a row a site is written to the folder `output`.

    Columns: `site`; `rules`, the content of a rules file; `report`, JSON on how learning went; `problem`, why there
    are no rules. The site of a page is the column `site` of its table, else the host of its URL; that of labels is
    `"site"` in their line, else the host of their `"url"`.
    """
    given = _by_site(open_input(spark, source, PageColumns(url_column, html_column), keep=("site",)), spark)
    lines = _label_lines(spark, os.fspath(labels))
    pages = _sampled(given.frame, lines).groupBy("site")
    learn = partial(_learn, read=given.pages, schema=schema)
    learnt = pages.cogroup(lines.groupBy("site")).applyInArrow(learn, from_arrow_schema(_LEARNT))
    folder = os.fspath(output)
    run(learnt, folder, PAGE_ROWS)
    return spark.read.parquet(folder)


def combine_rules(learnt: DataFrame) -> Rules:
    """All rules that `learn_sites` learnt as one, for a crawl of all sites; URL patterns tell them apart."""
    rows = learnt.where("rules is not null").select("site", "rules").orderBy("site").collect()
    sites = [(row.site, Rules.loads(row.rules, row.site)) for row in rows]
    if not sites:
        raise RulesError("no site was learnt; the column `problem` says why")
    wrappers = [
        replace(wrapper, cluster=f"{site}/{wrapper.cluster}")
        for site, rules in sites
        for wrapper in rules.wrappers
    ]
    return replace(sites[0][1], wrappers=tuple(wrappers))


def _by_site(given: Input, spark: SparkSession) -> Input:
    """Rows that are pages, each with its site."""
    if not given.is_table:
        rows = given.frame.mapInArrow(partial(_page_rows, read=given.pages), from_arrow_schema(PAGE_COLUMNS))
        given = open_input(spark, rows, PageColumns())
    columns = given.frame.columns
    if "site" in columns:
        return given
    if "url" not in columns:
        raise SourceError(f"{given.name}: needs a column `site`, or one with the URL")
    return replace(given, frame=given.frame.withColumn("site", _host("url")))


def _page_rows(rows: Iterator[pa.RecordBatch], *, read: PageReader) -> Iterator[pa.RecordBatch]:
    return batches(read(rows, Skipped()))


def _label_lines(spark: SparkSession, labels: str) -> DataFrame:
    """The lines of label files, each with its site and the name of its page."""
    with missing_told(labels, LabelError):
        lines = spark.read.text(labels).withColumnRenamed("value", "line").where("trim(line) <> ''")
    site, page, url = (F.get_json_object("line", f"$.{name}") for name in ("site", "page", "url"))
    return lines.select(
        "line", F.coalesce(site, _host(url)).alias("site"), F.coalesce(page, url).alias("name")
    )


def _host(url: Column | str) -> Column:
    return F.lower(F.try_parse_url(url, F.lit("HOST")))


def _sampled(pages: DataFrame, lines: DataFrame) -> DataFrame:
    """The labelled pages of all sites with labels, and some of their others, the same each time."""
    labelled = lines.groupBy("site").agg(F.collect_set("name").alias("labelled"))
    sizes = pages.groupBy("site").agg(F.count("*").alias("size"))
    names = [F.col(name) for name in ("url", *ID_COLUMNS) if name in pages.columns]
    drawn = F.pmod(F.xxhash64(*names), F.lit(1 << 20)) < F.lit(MAX_PAGES << 20) / F.col("size")
    chosen = drawn & (F.octet_length("html") <= MAX_BYTES)
    for name in names:
        chosen |= F.coalesce(F.array_contains("labelled", name.cast("string")), F.lit(False))
    # told to every worker, so that pages which are not chosen do not travel
    sites = F.broadcast(labelled.join(sizes, "site"))
    return pages.join(sites, "site").where(chosen).drop("labelled", "size")


def _learn(
    key: tuple[pa.Scalar, ...], pages: pa.Table, lines: pa.Table, *, read: PageReader, schema: Schema
) -> pa.Table:
    """The work for one site, done on a worker."""
    site = key[0].as_py()
    row: dict[str, str | None] = {"site": site, "rules": None, "report": None, "problem": None}
    try:
        skipped = Skipped()
        found = sorted(read(iter(pages.to_batches()), skipped), key=lambda page: (page.url, page.id))
        labels = parse_labels(sorted(lines["line"].to_pylist()), f"labels of {site}")
        learned = learn_site(found, labels, schema)
        if skipped:
            learned.problems.append(f"{skipped.total} pages skipped: {skipped}")
        row |= {"rules": learned.rules.dumps(), "report": json.dumps(learned.to_dict(), ensure_ascii=False)}
    except UntemplateError as error:
        row["problem"] = str(error)
    except Exception as error:  # one site must not end the job, and its row says what happened
        row["problem"] = f"{type(error).__name__}: {error}"
    return pa.Table.from_pylist([row], _LEARNT)
