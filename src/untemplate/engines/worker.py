"""The program of a worker process: pages in, encoded records out, through a pipe to the process that started it.

A page may hang or crash any C library, so the limits of a page are those of its process: the system ends it
when the time for a page is up, and refuses memory beyond the limit.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

import pyarrow as pa

from untemplate.engines.batch import extract_batch, page_batch
from untemplate.errors import UntemplateError
from untemplate.extraction import Rules
from untemplate.output.record_files import FORMATS
from untemplate.output.tally import Tally
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.schema import Schema
from untemplate.sources.page_source import Reader, Skipped

__all__ = ["READY", "TIMEOUTS", "PageLimits", "Result", "Settings", "Work", "batches", "main"]

Work: TypeAlias = "pa.RecordBatch | Reader"
"""Pages, or where to read them."""

READY = "ready"

TIMEOUTS = (signal.SIGPROF, signal.SIGALRM)
"""What ends a worker whose page takes too long."""
# The time limit is one of processor time, which does not depend on what else the machine does; a page that only
# waits gets this much more.
WAITING = 10

# Pages in memory at a time: few, and enough that the 0.3 ms which a batch costs by itself do not matter beside the
# millisecond of each page.
BATCH_PAGES = 64
BATCH_BYTES = 4 << 20


@dataclass(frozen=True)
class PageLimits:
    """What one page may cost before it becomes a record with a reason."""

    seconds: float = 30.0
    """of a processor"""
    memory: int = 1 << 30
    """bytes that a worker may use altogether"""


@dataclass(frozen=True)
class Settings:
    """What a worker has to know before it can work."""

    rules: str
    format: str
    limits: PageLimits
    sizes: Limits = DEFAULT_LIMITS


@dataclass
class Result:
    """The records of some pages, encoded, and what is to be counted of them."""

    records: bytes = b""
    tally: Tally = field(default_factory=Tally)
    skipped: Skipped = field(default_factory=Skipped)

    def add(self, batch: pa.RecordBatch, schema: Schema, format: str) -> None:
        """Encode and count a batch of records."""
        self.records += FORMATS[format].encode(batch)
        self.tally.update(Tally.from_batch(batch, schema))

    def update(self, other: Result) -> None:
        """Take in the records of the pages that follow."""
        self.records += other.records
        self.tally.update(other.tally)
        self.skipped.update(other.skipped)


def batches(pages: Iterable[Page]) -> Iterator[pa.RecordBatch]:
    """Pages in batches of limited size."""
    some: list[Page] = []
    size = 0
    for page in pages:
        some.append(page)
        size += len(page.html)
        if len(some) == BATCH_PAGES or size >= BATCH_BYTES:
            yield page_batch(some)
            some, size = [], 0
    if some:
        yield page_batch(some)


def main(pipe: int) -> None:
    """Work until nobody is at the other end of the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started us decides
    for timeout in TIMEOUTS:
        signal.signal(timeout, signal.SIG_DFL)
    connection = Connection(pipe)
    settings: Settings = connection.recv()
    rules = Rules.loads(settings.rules)
    memory = settings.limits.memory
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    connection.send(READY)
    # The next work is received while this one is done: else each would wait for the other.
    received: SimpleQueue[Work | None] = SimpleQueue()
    Thread(target=_receive, args=(connection, received), daemon=True).start()
    while (work := received.get()) is not None:
        try:
            connection.send(_do(work, rules, settings))
        except UntemplateError as error:
            connection.send(error)
        except (BrokenPipeError, MemoryError):
            return


def _receive(connection: Connection, received: SimpleQueue[Work | None]) -> None:
    try:
        while True:
            received.put(connection.recv())
    except (EOFError, OSError, MemoryError):
        received.put(None)


def _do(work: Work, rules: Rules, settings: Settings) -> Result:
    result = Result()
    for pages in [work] if isinstance(work, pa.RecordBatch) else batches(work.read(result.skipped)):
        records = extract_batch(pages, rules, settings.sizes, partial(_set_clocks, settings.limits.seconds))
        _set_clocks(0)
        result.add(records, rules.schema, settings.format)
    return result


def _set_clocks(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)
