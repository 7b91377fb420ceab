"""The Spark session, and jobs that write their rows to a folder."""

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

__all__ = ["LINE_ROWS", "PAGE_ROWS", "explain_missing", "start_session", "temporary_settings", "write_job"]

# How often a task may fail: Spark's default on a cluster. On one machine it would not try again at all, but a page
# that crashes its process is only found when its task is repeated.
MAX_FAILURES = 4

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
