"""The program of a worker process: pages in, encoded records out, through a pipe to the process that started it.

A page may hang or crash any C library, so the limits of a page are those of its process: the system ends it
when the time for a page is up, and refuses memory beyond the limit.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

import pyarrow as pa

from untemplate.engines.batch import batch_pages, extract_batch
from untemplate.errors import UntemplateError
from untemplate.extraction import Rules
from untemplate.output.quality import Tally
from untemplate.output.record_files import FORMATS
from untemplate.page import DEFAULT_LIMITS, Limits
from untemplate.schema import Schema
from untemplate.sources.page_source import Reader, Skipped

try:
    import resource
except ImportError as error:
    raise UntemplateError(
        "Worker processes need a POSIX system such as Linux or macOS; on Windows, use WSL or Rules.extract in Python"
    ) from error

__all__ = ["READY", "TIMEOUTS", "PageLimits", "Result", "Settings", "Work", "run_worker"]

Work: TypeAlias = "pa.RecordBatch | Reader"
"""Pages, or what reads them."""

READY = "ready"

TIMEOUTS = (signal.SIGPROF, signal.SIGALRM)
"""The signals that end a worker whose page takes too long."""
# The time limit counts processor time, which does not depend on what else the machine does. A page that only waits
# gets this many times more.
WAITING_FACTOR = 10


@dataclass(frozen=True)
class PageLimits:
    """What one page may cost before it becomes a record with a reason.

    Attributes:
        seconds: Processor time of a page.
        memory: Bytes that its worker may use in all.
    """

    seconds: float = 30.0
    memory: int = 1 << 30


@dataclass(frozen=True)
class Settings:
    """What a worker has to know before it can work.

    Attributes:
        rules: The content of a rules file.
        format: The suffix of the record file, such as `.jsonl`.
        limits: What a page may cost.
        sizes: The size limits of a page.
        confidence: Write how sure each value is; JSONL always does.
        min_confidence: Leave out values of a lower confidence.
    """

    rules: str
    format: str
    limits: PageLimits
    sizes: Limits = DEFAULT_LIMITS
    confidence: bool = False
    min_confidence: float = 0.0


@dataclass
class Result:
    """The records of some pages, encoded, with their counts."""

    records: bytes = b""
    tally: Tally = field(default_factory=Tally)
    skipped: Skipped = field(default_factory=Skipped)

    def add(self, batch: pa.RecordBatch, schema: Schema, settings: Settings) -> None:
        """Encode and count a batch of records."""
        self.records += FORMATS[settings.format].encode(batch, settings.confidence)
        self.tally.update(Tally.from_batch(batch, schema))

    def update(self, other: Result) -> None:
        """Append the records of the pages that follow."""
        self.records += other.records
        self.tally.update(other.tally)
        self.skipped.update(other.skipped)


def run_worker(pipe: int) -> None:
    """Work until the other end of the pipe is closed.

    Args:
        pipe: The file descriptor of the pipe. It receives `Settings` first and then `Work`. It sends `READY` first
            and then a `Result`, or the error that prevented it, for each work.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started us decides
    for timeout in TIMEOUTS:
        signal.signal(timeout, signal.SIG_DFL)
    connection = Connection(pipe)
    settings: Settings = connection.recv()
    rules = Rules.loads(settings.rules)
    memory = settings.limits.memory
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    connection.send(READY)
    # A thread receives the next work while this one is done: otherwise both sides would wait for each other.
    received: SimpleQueue[Work | None] = SimpleQueue()
    Thread(target=_receive, args=(connection, received), daemon=True).start()
    while (work := received.get()) is not None:
        try:
            connection.send(_do_work(work, rules, settings))
        except UntemplateError as error:
            connection.send(error)
        except (BrokenPipeError, MemoryError):
            return


def _receive(connection: Connection, received: SimpleQueue[Work | None]) -> None:
    """Put each work into the queue, and None at the end."""
    try:
        while True:
            received.put(connection.recv())
    except (EOFError, OSError, MemoryError):
        received.put(None)


def _do_work(work: Work, rules: Rules, settings: Settings) -> Result:
    result = Result()
    batches = [work] if isinstance(work, pa.RecordBatch) else batch_pages(work.read(result.skipped))
    for pages in batches:
        set_clocks = partial(_set_clocks, settings.limits.seconds)
        records = extract_batch(pages, rules, settings.sizes, set_clocks, settings.min_confidence)
        _set_clocks(0)
        result.add(records, rules.schema, settings)
    return result


def _set_clocks(seconds: float) -> None:
    """Let the system end this process after so much processor time, or if it waits too long; 0 for never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING_FACTOR * seconds)
