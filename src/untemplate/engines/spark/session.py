"""The Spark session, and how jobs run in it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException, PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession

from untemplate.errors import InputError, UntemplateError
from untemplate.page import squeeze

__all__ = ["LINE_ROWS", "PAGE_ROWS", "missing_told", "run", "start", "temporarily"]

# How often a task may fail: Spark's default on a cluster. On one machine it would not try again at all, but a page
# that crashes its process is only found when its task is done again.
MAX_FAILURES = 4

# Variables that tell that somebody else says where Spark is: spark-submit, or a configuration of one's own.
_CONFIGURED = {"PYSPARK_GATEWAY_PORT", "SPARK_CONF_DIR", "SPARK_HOME"}

# Rows of an Arrow batch between Spark and Python where a row is a page, and where it is a line; and its bytes, where
# Spark knows such a limit. By default it takes 10,000 rows, which is 600 MB of usual pages.
PAGE_ROWS = 64
LINE_ROWS = 1_000
BATCH_BYTES = 8 << 20


def start(master: str | None = None) -> SparkSession:
    """The active session; else a new one: on this master, or on that of spark-submit or a configuration, or here."""
    if (active := SparkSession.getActiveSession()) is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("untemplate")
    if master is None and not _CONFIGURED & os.environ.keys():
        master = "local[*]"
    if master is not None:
        builder = builder.master(_retrying(master))
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() == "JAVA_GATEWAY_EXITED":
            message = "Spark could not start: it needs Java 17 or newer; install a JRE, or set JAVA_HOME"
            raise UntemplateError(message) from error
        raise


def _retrying(master: str) -> str:
    """One machine is told to try tasks again; `local[2,4]`, which says how often, and clusters stay as they are."""
    cores = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{cores[1] or 1},{MAX_FAILURES}]" if cores else master


def run(frame: DataFrame, folder: str, batch_rows: int) -> None:
    """The job: tasks write their rows to a folder, as text if that is all they have, else as Parquet."""
    spark = frame.sparkSession
    sizes = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": batch_rows,
        "spark.sql.execution.arrow.maxBytesPerBatch": BATCH_BYTES,
        "spark.sql.parquet.columnarReaderBatchSize": PAGE_ROWS,
    }
    with temporarily(spark, sizes):
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
            what = squeeze(" ".join(str(error).splitlines()[:2]))
            raise UntemplateError(f"{folder}: Spark gave up: {what}; the log of the job says more") from error


@contextmanager
def missing_told(path: str, kind: type[InputError]) -> Iterator[None]:
    """What Spark says when there is nothing to read, in one line."""
    try:
        yield
    except AnalysisException as error:
        missing = error.getCondition() == "PATH_NOT_FOUND"
        reason = "no such file or folder" if missing else str(error).splitlines()[0]
        raise kind(f"{path}: {reason}") from error


@contextmanager
def temporarily(spark: SparkSession, values: Mapping[str, object]) -> Iterator[None]:
    """Settings of the session, put back afterwards."""
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
