"""Spark, for real: two executors, each a process of its own, that may be killed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sources.containers import Written, warc_bytes
from untemplate import (
    Catalog,
    InputError,
    LabelError,
    Page,
    Rules,
    SourceError,
    UntemplateError,
    learn,
    read_pages,
)
from untemplate.cli import main
from untemplate.demo import Site, make_site
from untemplate.engines import local
from untemplate.engines.worker import PageLimits, Result
from untemplate.labeling import parse_labels
from untemplate.pipeline import learn_site

pytest.importorskip("pyspark", reason="the extra spark is not installed")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("no Java for Spark; scripts/system-packages installs it", allow_module_level=True)

from pyspark.sql import SparkSession

from untemplate.engines import spark as engine
from untemplate.engines.spark import job_io, learn_jobs
from untemplate.engines.spark.job_io import temporary_settings

# Little work is over before optimizing it pays.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# Every Python process of Spark runs this when it starts: what a page may do to a C library, done on purpose.
TROUBLE = """
    import os, signal, time
    from untemplate.extraction import Rules

    extract_page = Rules.extract_page

    def troubled(self, page):
        if b"<!-- crash -->" in page.html:
            os.kill(os.getpid(), signal.SIGSEGV)
        if b"<!-- hang -->" in page.html:
            time.sleep(1000)
        if b"<!-- slow -->" in page.html:
            time.sleep(0.05)
        return extract_page(self, page)

    Rules.extract_page = troubled
"""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    trouble = tmp_path_factory.mktemp("trouble")
    (trouble / "sitecustomize.py").write_text(textwrap.dedent(TROUBLE))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    started = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", QUICK_JAVA)
        .config("spark.executor.extraJavaOptions", QUICK_JAVA)
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join([str(trouble), *sys.path]))
        .getOrCreate()
    )
    started.sparkContext.setLogLevel("OFF")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def site() -> Site:
    return make_site("restaurant", seed=2, pages=40)


@pytest.fixture(scope="module")
def rules(site: Site) -> Rules:
    few = list(site.truth)[:3]
    return learn(site.pages, [label for label in site.labels if label.page in few], site.schema)


def write_parquet(path: Path, pages: list[Page]) -> Path:
    columns = {"url": [page.url for page in pages], "html": [page.html for page in pages]}
    pq.write_table(pa.table(columns), path, row_group_size=5)
    return path


def write_warc(path: Path, pages: list[Page]) -> Path:
    content = warc_bytes([Written(page.id, page.url, page.html) for page in pages])
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_jsonl(path: Path, pages: list[Page]) -> Path:
    rows = [json.dumps({"id": page.id, "url": page.url, "html": page.text}) for page in pages]
    path.write_text("\n".join([*rows, "{no JSON", '{"html": "<p>no URL"}', ""]))
    return path


WRITERS: dict[str, Callable[[Path, list[Page]], Path]] = {
    "pages.parquet": write_parquet,
    "crawl.warc": write_warc,
    "crawl.warc.gz": write_warc,
    "pages.jsonl": write_jsonl,
}


def extract_locally(source: Path, rules: Rules, output: Path) -> Result:
    done = local.extract_to_file(read_pages(source), rules, output, workers=1)
    return Result({}, done.crawls, done.skipped)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("pages.parquet", "parquet"),
        ("pages.parquet", "csv"),
        ("crawl.warc", "csv"),
        ("crawl.warc.gz", "parquet"),
        ("pages.jsonl", "jsonl"),
    ],
)
def test_files_are_those_of_the_local_engine(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path, name: str, format: str
) -> None:
    source = WRITERS[name](tmp_path / name, site.pages)
    here = extract_locally(source, rules, tmp_path / f"local.{format}")
    with temporary_settings(spark, {"spark.sql.files.maxPartitionBytes": 50_000}):
        there = engine.extract_on_spark(spark, source, rules, tmp_path / f"spark.{format}")
    assert (tmp_path / f"spark.{format}").read_bytes() == (tmp_path / f"local.{format}").read_bytes()
    assert there == here
    assert there.tally.matched > 25


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_confidence_is_that_of_the_local_engine(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path, format: str
) -> None:
    source = write_parquet(tmp_path / "pages.parquet", site.pages)
    options = {"confidence": True, "typed": True, "min_confidence": 1.0}
    here = local.extract_to_file(
        read_pages(source), rules, tmp_path / f"local.{format}", workers=1, **options
    )
    there = engine.extract_on_spark(spark, source, rules, tmp_path / f"spark.{format}", **options)
    assert (tmp_path / f"spark.{format}").read_bytes() == (tmp_path / f"local.{format}").read_bytes()
    assert there.tally == here.tally
    assert there.tally.dropped.total() > 0


@pytest.mark.parametrize("confidence", [False, True])
def test_a_folder_of_parquet_has_confidence_if_asked(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path, confidence: bool
) -> None:
    source = write_parquet(tmp_path / "pages.parquet", site.pages)
    engine.extract_on_spark(spark, source, rules, f"{tmp_path}/parts.parquet/", confidence=confidence)
    names = pq.read_table(tmp_path / "parts.parquet").column_names
    assert ("name.confidence" in names) is confidence


def test_a_folder_of_files_into_a_folder_of_parts(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path
) -> None:
    (tmp_path / "crawl").mkdir()
    for number in range(3):
        write_warc(tmp_path / "crawl" / f"{number}.warc.gz", site.pages[number::3])
    write_warc(tmp_path / "all.warc", site.pages)
    (tmp_path / "crawl" / "cut.warc.gz").write_bytes(gzip.compress(b"WARC/1.0\r\n" * 100)[:40])
    for format in ("jsonl", "csv"):
        here = extract_locally(tmp_path / "all.warc", rules, tmp_path / f"local.{format}")
        there = engine.extract_on_spark(spark, tmp_path / "crawl", rules, f"{tmp_path}/spark.{format}/")
        assert there.tally == here.tally
        assert there.skipped.total == 1
        assert "cut.warc.gz" in str(there.skipped)
        parts = sorted((tmp_path / f"spark.{format}").glob("part-*"))
        assert len(parts) > 1
        lines = [part.read_bytes().splitlines(keepends=True) for part in parts]
        header, *expected = (tmp_path / f"local.{format}").read_bytes().splitlines(keepends=True)
        if format == "csv":
            assert all(part.pop(0) == header for part in lines)
        else:
            expected.append(header)
        assert sorted(line for part in lines for line in part) == sorted(expected)
        with pytest.raises(InputError, match="exists already"):
            engine.extract_on_spark(spark, tmp_path / "crawl", rules, f"{tmp_path}/spark.{format}/")


def test_tables_are_sources(spark: SparkSession, site: Site, rules: Rules, tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "pages.parquet", site.pages)
    table = spark.read.parquet(str(source)).withColumnsRenamed({"url": "address", "html": "body"})
    there = engine.extract_on_spark(
        spark, table, rules, f"{tmp_path}/records.parquet/", url_column="address", html_column="body"
    )
    here = extract_locally(source, rules, tmp_path / "local.parquet")
    assert there.tally == here.tally
    rows = pq.read_table(tmp_path / "records.parquet").to_pylist()
    assert sorted(rows, key=str) == sorted(pq.read_table(tmp_path / "local.parquet").to_pylist(), key=str)
    with pytest.raises(SourceError, match="the table: no column 'html', only address, body"):
        engine.extract_on_spark(spark, table, rules, tmp_path / "records.csv")


def descendants(process: int) -> dict[int, str]:
    """The processes that a process started, and those that they did, with their command lines."""
    parents, commands = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: commands[child] for child in found}


def is_in_the_middle(spark: SparkSession) -> bool:
    """Whether a job has done some of its tasks and not all."""
    tracker = spark.sparkContext.statusTracker()
    stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
    return any(stage and 0 < stage.numCompletedTasks < stage.numTasks - 1 for stage in stages)


@pytest.mark.parametrize("victim", ["CoarseGrainedExecutorBackend", "pyspark.daemon"])
def test_a_worker_killed_in_the_middle_changes_nothing(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path, victim: str
) -> None:
    slow = [Page(page.url, page.html + b"<!-- slow -->") for page in site.pages]
    source = write_parquet(tmp_path / "pages.parquet", slow)
    here = extract_locally(source, rules, tmp_path / "local.jsonl")
    results: list[Result] = []

    def work() -> None:
        with temporary_settings(spark, {"spark.sql.files.maxPartitionBytes": 30_000}):
            results.append(engine.extract_on_spark(spark, source, rules, tmp_path / "spark.jsonl"))

    worker = Thread(target=work)
    worker.start()
    deadline = time.monotonic() + 600
    while not is_in_the_middle(spark):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(
        max(child for child, command in descendants(os.getpid()).items() if victim in command), signal.SIGKILL
    )
    worker.join(120)
    assert results == [here]
    assert (tmp_path / "spark.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()


def test_pages_that_crash_or_hang_cost_one_record_each(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path
) -> None:
    pages = list(site.pages)
    pages[7] = Page("http://crash/", b"<p><!-- crash -->")
    pages[32] = Page("http://hang/", b"<p><!-- hang -->")
    source = write_parquet(tmp_path / "pages.parquet", pages)
    result = engine.extract_on_spark(
        spark, source, rules, tmp_path / "records.jsonl", limits=PageLimits(seconds=3)
    )
    assert result.tally.records == len(pages)
    rows = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert [row["url"] for row in rows] == [page.url for page in pages]
    assert set(rows[7]["missing"].values()) == {"page cannot be read: page ends its process: SIGSEGV"}
    assert set(rows[32]["missing"].values()) == {"page cannot be read: page takes longer than 3 s"}
    assert sum(bool(row["name"]) for row in rows) > 25


def test_the_command(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_parquet(tmp_path / "pages.parquet", site.pages)
    rules.save(tmp_path / "rules.json")
    here = extract_locally(source, rules, tmp_path / "local.jsonl")
    command = ["extract", str(source), "--rules", str(tmp_path / "rules.json"), "--engine", "spark"]
    assert main(command) == 0
    said = capsys.readouterr()
    assert said.out == (tmp_path / "local.jsonl").read_text()
    assert f"{here.tally.records} records" in said.err
    assert main([*command, "-o", f"{tmp_path}/records.parquet/"]) == 0
    assert pq.read_table(tmp_path / "records.parquet").num_rows == len(site.pages)


def label_lines(site: Site, name: str = "") -> list[dict[str, object]]:
    """Labels of a few pages, which their URLs name; with the name of the site, if it is not its host."""
    urls = {page.id: page.url for page in site.pages}
    lines = [{"url": urls[page], "labels": values} for page, values in list(site.truth.items())[:3]]
    return [{"site": name, **line} if name == "other" else line for line in lines]


def test_the_rules_of_many_sites(spark: SparkSession, site: Site, tmp_path: Path) -> None:
    sites = {"www.zenguide2.example": site, "other": make_site("restaurant", seed=3, pages=20)}
    rows = [
        {"site": name, "url": page.url, "id": page.id, "html": page.html}
        for name, one in sites.items()
        for page in one.pages
    ]
    lines = {name: sorted(map(json.dumps, label_lines(one, name))) for name, one in sites.items()}
    unknown = {"url": "http://www.unknown.example/1", "labels": {"name": "Nobody"}}
    broken = {"site": "broken", "url": "http://www.broken.example/1", "labels": "none"}
    all_lines = [*lines["other"], *lines["www.zenguide2.example"], json.dumps(unknown), json.dumps(broken)]
    (tmp_path / "labels.jsonl").write_text("\n".join(all_lines))
    pages = spark.createDataFrame(pa.Table.from_pylist(rows))
    learned = engine.learn_sites(spark, pages, tmp_path / "labels.jsonl", site.schema, tmp_path / "rules")
    found = {row.site: row for row in learned.collect()}
    assert found.keys() == {*sites, "www.unknown.example", "broken"}
    for name, one in sites.items():
        in_order = sorted(one.pages, key=lambda page: (page.url, page.id))
        expected = learn_site(in_order, parse_labels(lines[name], name), one.schema)
        assert json.loads(found[name].rules) == json.loads(expected.rules.dumps())
        assert json.loads(found[name].report) == expected.to_dict()
    assert "none of the labeled pages" in found["www.unknown.example"].problem
    assert 'needs "labels"' in found["broken"].problem
    assert found["broken"].rules is None

    rules = engine.combine_rules(learned)
    for name, one in sites.items():
        own = Rules.loads(found[name].rules)
        for page in one.pages:
            record = rules.extract_one(page)
            assert record.values == own.extract_one(page).values
            assert record.cluster is None or record.cluster.startswith(f"{name}/")


def test_the_rules_of_a_crawl(spark: SparkSession, site: Site, tmp_path: Path) -> None:
    write_warc(tmp_path / "crawl.warc.gz", site.pages)
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, label_lines(site))))
    learned = engine.learn_sites(
        spark, tmp_path / "crawl.warc.gz", tmp_path / "labels.jsonl", site.schema, tmp_path / "rules"
    )
    with pytest.raises(LabelError, match=r"none\.jsonl: no such file or folder"):
        engine.learn_sites(spark, tmp_path / "crawl.warc.gz", tmp_path / "none.jsonl", site.schema, tmp_path)
    [row] = learned.collect()
    assert row.site == "www.zenguide2.example"
    assert json.loads(row.report)["clusters"]
    rules = engine.combine_rules(learned)
    assert sum(bool(record["name"]) for record in rules.extract(site.pages)) > 25
    with Catalog.open(tmp_path / "a.db") as catalog:
        assert engine.save_learned(learned, catalog, by="Ada") == {row.site: 1}
        assert catalog.rules(row.site) == Rules.loads(row.rules)


def test_a_large_site_is_sampled(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_jobs, "MAX_SAMPLE_PAGES", 50)
    rows = [{"site": "a", "url": f"http://a/{number}", "html": b"<p>"} for number in range(500)]
    rows += [
        {"site": "b", "url": "http://b/", "html": b"<p>"},
        {"site": "c", "url": "http://c/", "html": b"<p>"},
    ]
    labels = [{"site": site, "name": f"http://{site}/{number}"}
              for site, number in (("a", 7), ("a", 8), ("b", ""))]  # fmt: skip
    chosen = learn_jobs._sample_pages(
        *(spark.createDataFrame(pa.Table.from_pylist(one)) for one in (rows, labels))
    )
    urls = {row.url for row in chosen.collect()}
    assert {"http://a/7", "http://a/8", "http://b/"} <= urls
    assert "http://c/" not in urls
    assert 30 < len(urls) < 80


def test_sites_are_streams_of_their_labels_and_pages(spark: SparkSession) -> None:
    pages = [
        {"site": f"s{number % 3}", "url": f"http://{number:03}/", "html": b"<p>"} for number in range(300)
    ]
    lines = [{"site": f"s{number % 4}", "line": f"line {number}", "name": ""} for number in range(8)]
    frame = learn_jobs._stream_by_site(
        *(spark.createDataFrame(pa.Table.from_pylist(rows)) for rows in (pages, lines))
    )
    with temporary_settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": 7}):
        found = frame.mapInArrow(
            list_pieces, "sites string, lines long, pages long, sorted boolean"
        ).collect()
    rows = {row.sites: (row.lines, row.pages, row.sorted) for row in found}
    assert rows == {"s0": (2, 100, True), "s1": (2, 100, True), "s2": (2, 100, True), "s3": (2, 0, True)}
    assert len(found) == 4


def list_pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield a row a site: how many lines and pages it has, and whether lines come first and pages are in order."""
    for site, pieces in groupby(learn_jobs._split_by_site(batches), key=learn_jobs._site_of):
        rows = [row for piece in pieces for row in piece.to_pylist()]
        lines = [row["line"] for row in rows if row["line"]]
        urls = [row["url"] for row in rows[len(lines) :]]
        in_order = all(urls) and urls == sorted(urls)
        result = {"sites": site, "lines": len(lines), "pages": len(urls), "sorted": in_order}
        yield pa.RecordBatch.from_pylist([result])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no such file or folder"),
        ({"readme.txt": b"hello"}, r"\.txt; Spark reads Parquet, WARC \(.warc, .warc.gz\) or JSONL"),
        ({"a.parquet": b"PAR1", "b.jsonl": b"{}"}, "files of several kinds"),
        ({"a.jsonl": b"{}\n"}, "no pages could be read from it: .* × no 'html'"),
    ],
)
def test_sources_that_cannot_be_used(
    spark: SparkSession, rules: Rules, tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    for name, content in files.items():
        (tmp_path / "pages").mkdir(exist_ok=True)
        (tmp_path / "pages" / name).write_bytes(content)
    with pytest.raises(SourceError, match=message):
        engine.extract_on_spark(spark, tmp_path / "pages", rules, tmp_path / "records.jsonl")
    assert not list(tmp_path.glob("*records*"))


def test_settings_are_put_back(spark: SparkSession) -> None:
    name, other = "spark.sql.files.maxPartitionBytes", "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(other, "77")
    with temporary_settings(spark, {name: 5, other: 6}):
        assert spark.conf.get(name) == "5"
    assert spark.conf.get(name, None) is None
    assert spark.conf.get(other) == "77"
    spark.conf.unset(other)


def test_outputs_that_cannot_be_written(
    spark: SparkSession, site: Site, rules: Rules, tmp_path: Path
) -> None:
    source = write_parquet(tmp_path / "pages.parquet", site.pages[:1])
    (tmp_path / "folder.csv").mkdir()
    for name, message in (
        ("folder.csv", "is a folder"),
        ("no/a.csv", "no folder"),
        ("a.xml", "unknown format"),
    ):
        with pytest.raises(InputError, match=message):
            engine.extract_on_spark(spark, source, rules, tmp_path / name)
    with pytest.raises(UntemplateError, match=r"Spark gave up: .*; the log of the job says more"):
        engine.extract_on_spark(spark, source, rules, "file:///proc/records.csv")


def test_the_active_session_is_used(spark: SparkSession) -> None:
    assert engine.start_session("spark://nowhere:7077") is spark


@pytest.mark.parametrize(
    ("given", "master"),
    [
        ("local", "local[1,4]"),
        ("local[*]", "local[*,4]"),
        ("local[8]", "local[8,4]"),
        ("local[8,2]", "local[8,2]"),
        ("yarn", "yarn"),
    ],
)
def test_one_machine_tries_again(given: str, master: str) -> None:
    assert job_io._retrying(given) == master


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True
    )
    return done.stderr


def test_without_java_it_is_told() -> None:
    code = "from untemplate.engines.spark import start_session; start_session('local')"
    assert "it needs Java 17 or newer; install a JRE, or set JAVA_HOME" in run(code, JAVA_HOME="/nowhere")


def test_without_pyspark_the_extra_is_named() -> None:
    code = "import sys; sys.modules['pyspark'] = None; import untemplate.engines.spark"
    assert "Support for Spark is not installed. Run: pip install 'untemplate[spark]'" in run(code)


def test_a_crawl_of_many_sites_is_that_of_the_local_engine(
    spark: SparkSession, site: Site, tmp_path: Path
) -> None:
    other = make_site("book", seed=5, pages=12)
    pages = [*other.pages, *site.pages[:12], Page("http://stranger.example/", b"<p>x")]
    with Catalog.open(tmp_path / "a.db") as catalog:
        for made_up in (site, other):
            labeled = list(made_up.truth)[:2]
            labels = [label for label in made_up.labels if label.page in labeled]
            catalog.save_rules(made_up.name, learn(made_up.pages, labels, made_up.schema))
        rules = catalog.packed_rules()
    source = write_parquet(tmp_path / "pages.parquet", pages)
    there = engine.extract_crawl(spark, str(source), rules, tmp_path / "there", format=".jsonl")
    here = local.extract_to_file(read_pages(source), rules, tmp_path / "here", format=".jsonl", workers=1)
    assert there.crawls == here.crawls
    assert there.skipped.total == here.skipped.total == 1
    names = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "there").iterdir())
    for name in names:
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    parts = f"{(tmp_path / 'parts').as_uri()}/"
    engine.extract_crawl(spark, str(source), rules, parts, format=".csv")
    assert list((tmp_path / "parts" / "book.csv").glob("part-*"))
