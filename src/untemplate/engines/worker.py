"""The work that engines give their workers: a batch of pages in, a batch of records for each table out, all Arrow.

`extract_batch` is the core that all engines call. `run_worker` is the program of a worker process of this machine,
which gets its work through a pipe. A page may hang or crash any C library, so the limits of a page are those of its
process: the system ends it when the time for a page is up, and refuses memory beyond the limit.
"""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

import pyarrow as pa

from untemplate.errors import UntemplateError
from untemplate.extraction import PageExtractor, PageRecords
from untemplate.output.quality import Tally
from untemplate.output.record_files import FORMATS
from untemplate.output.record_rows import TEXT_COLUMNS, ExtraColumns, arrow_row, arrow_schema
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze
from untemplate.record import Record
from untemplate.schema import Schema
from untemplate.sources.page_source import Reader, Skipped
from untemplate.watching import CrawlTally

__all__ = [
    "PAGE_COLUMNS",
    "READY",
    "TIMEOUTS",
    "UNKNOWN_HOST",
    "ExtractedBatch",
    "PageLimits",
    "Result",
    "Settings",
    "Work",
    "batch_pages",
    "extract_batch",
    "merge_crawls",
    "page_batch",
    "refuse_batch",
    "run_worker",
]

try:
    import resource
except ImportError as error:
    raise UntemplateError(
        "Worker processes need a POSIX system such as Linux or macOS; on Windows, use WSL or Rules.extract in Python"
    ) from error


UNKNOWN_HOST = "its host is that of no site in the catalog"
"""Why a page of a crawl has no record."""

PAGE_COLUMNS = pa.schema(
    {"url": pa.string(), "html": pa.large_binary(), "id": pa.string(), "charset": pa.string()}
)
"""The columns of a batch of pages; HTML may also be text, `id` and `charset` may be missing."""

# Maximum size of a batch. A batch costs 0.3 ms by itself, which does not matter beside the millisecond of each page.
BATCH_PAGES = 64
BATCH_BYTES = 4 << 20

Work: TypeAlias = "pa.RecordBatch | Reader"
"""Pages, or what reads them."""

READY = "ready"

TIMEOUTS = (signal.SIGPROF, signal.SIGALRM)
"""The signals that end a worker whose page takes too long."""
# The time limit counts processor time, which does not depend on what else the machine does. A page that only waits
# gets this many times more.
WAITING_FACTOR = 10


@dataclass
class ExtractedBatch:
    """What came out of a batch of pages.

    Attributes:
        tables: The records of each table, as Arrow.
        crawls: The counts of each site.
        unknown: Pages whose host is that of no site.
    """

    tables: dict[str, pa.RecordBatch]
    crawls: dict[str, CrawlTally]
    unknown: Skipped


def extract_batch(
    batch: pa.RecordBatch,
    extractor: PageExtractor,
    limits: Limits = DEFAULT_LIMITS,
    before_page: Callable[[], object] = lambda: None,
    min_confidence: float = 0.0,
) -> ExtractedBatch:
    """Return the records of a batch of pages, in its order. No page can make this fail.

    Args:
        batch: Pages with the columns `PAGE_COLUMNS`; other columns are ignored.
        extractor: The rules of one site or of many.
        limits: The size limits of each page.
        before_page: Called before each page, by engines that limit the time of a page.
        min_confidence: Leave out values of a lower confidence; their record says so.
    """

    def extract_page(page: Page) -> PageRecords | None:
        before_page()
        try:
            found = extractor.extract_page(page)
            return found and found.without_doubtful(min_confidence)
        except MemoryError:
            return extractor.refuse_page(page, "page needs too much memory")
        except Exception as error:  # one page must not end the run, and its record says what happened
            return extractor.refuse_page(page, f"{type(error).__name__}: {squeeze(str(error))}")

    return _collect_records(batch, extractor, extract_page, limits)


def refuse_batch(batch: pa.RecordBatch, extractor: PageExtractor, reason: str) -> ExtractedBatch:
    """Return a record for each page of the batch that says why the page cannot be read; the page is not parsed."""
    return _collect_records(batch, extractor, lambda page: extractor.refuse_page(page, reason))


def _collect_records(
    batch: pa.RecordBatch,
    extractor: PageExtractor,
    extract_page: Callable[[Page], PageRecords | None],
    limits: Limits = DEFAULT_LIMITS,
) -> ExtractedBatch:
    """Count the records of all pages, and put them into their tables."""
    records: dict[str, list[Record]] = defaultdict(list)
    crawls: dict[str, CrawlTally] = defaultdict(CrawlTally)
    unknown = Skipped()
    for page in _unpack_pages(batch, limits):
        found = extract_page(page)
        if found is None:
            unknown.add(UNKNOWN_HOST, page.url or page.id)
            continue
        for record in found.records:
            crawls[found.site].add(record)
            if found.site and record.cluster is not None:
                record.cluster = f"{found.site}/{record.cluster}"
        records[found.table] += found.records
    tables = {table: _record_batch(rows, extractor.schemas[table]) for table, rows in records.items()}
    return ExtractedBatch(tables, dict(crawls), unknown)


def batch_pages(pages: Iterable[Page]) -> Iterator[pa.RecordBatch]:
    """Yield pages in batches of limited size."""
    waiting: list[Page] = []
    size = 0
    for page in pages:
        waiting.append(page)
        size += len(page.html)
        if len(waiting) == BATCH_PAGES or size >= BATCH_BYTES:
            yield page_batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield page_batch(waiting)


def page_batch(pages: Iterable[Page]) -> pa.RecordBatch:
    """Return pages as one batch.

    Characters of names that are not Unicode are replaced, because no record file could contain them.
    """
    rows = [(_to_unicode(page.url), page.html, _to_unicode(page.id), page.charset) for page in pages]
    columns = [[row[index] for row in rows] for index in range(len(PAGE_COLUMNS))]
    arrays = [pa.array(column, type) for column, type in zip(columns, PAGE_COLUMNS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PAGE_COLUMNS)


def _unpack_pages(batch: pa.RecordBatch, limits: Limits = DEFAULT_LIMITS) -> Iterator[Page]:
    """Yield the pages of a batch, one in memory at a time."""
    empty = pa.nulls(batch.num_rows)
    names = batch.schema.names
    columns = [batch[name] if name in names else empty for name in PAGE_COLUMNS.names]
    for row in zip(*columns, strict=True):
        url, html, id, charset = (value.as_py() for value in row)
        yield Page(url or "", html or b"", id or "", charset=charset, limits=limits)


def _record_batch(records: Iterable[Record], schema: Schema) -> pa.RecordBatch:
    rows = [arrow_row(record, schema) for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(schema))


def _to_unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


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
        extractor: The rules of one site or of many.
        format: The suffix of the record file, such as `.jsonl`.
        limits: What a page may cost.
        sizes: The size limits of a page.
        extras: What files have beside the texts of values.
        min_confidence: Leave out values of a lower confidence.
    """

    extractor: PageExtractor
    format: str
    limits: PageLimits
    sizes: Limits = DEFAULT_LIMITS
    extras: ExtraColumns = TEXT_COLUMNS
    min_confidence: float = 0.0


@dataclass
class Result:
    """The records of some pages, encoded, with their counts.

    Attributes:
        records: The encoded records of each table.
        tally: The counts of all records.
        crawls: The counts of each site, by cluster.
        skipped: Pages that could not be read, or are of no known site.
    """

    records: dict[str, bytes] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    crawls: dict[str, CrawlTally] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    def add(self, extracted: ExtractedBatch, settings: Settings) -> None:
        """Encode and count the records of a batch."""
        for table, batch in extracted.tables.items():
            schema = settings.extractor.schemas[table]
            self._append(table, FORMATS[settings.format].encode(batch, schema, settings.extras))
        self.count(extracted)

    def count(self, extracted: ExtractedBatch) -> None:
        """Count the records of a batch, and do not keep them."""
        for crawl in extracted.crawls.values():
            self.tally.update(crawl.total())
        merge_crawls(self.crawls, extracted.crawls)
        self.skipped.update(extracted.unknown)

    def update(self, other: Result) -> None:
        """Append the records of the pages that follow."""
        for table, records in other.records.items():
            self._append(table, records)
        self.tally.update(other.tally)
        merge_crawls(self.crawls, other.crawls)
        self.skipped.update(other.skipped)

    def _append(self, table: str, records: bytes) -> None:
        self.records[table] = self.records.get(table, b"") + records


def merge_crawls(crawls: dict[str, CrawlTally], others: Mapping[str, CrawlTally]) -> None:
    """Add the counts of each site to those of an earlier part of the same crawl."""
    for site, crawl in others.items():
        crawls.setdefault(site, CrawlTally()).merge(crawl)


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
    memory = settings.limits.memory + settings.extractor.memory
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    connection.send(READY)
    # A thread receives the next work while this one is done: otherwise both sides would wait for each other.
    received: SimpleQueue[Work | None] = SimpleQueue()
    Thread(target=_receive, args=(connection, received), daemon=True).start()
    while (work := received.get()) is not None:
        try:
            connection.send(_do_work(work, settings))
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


def _do_work(work: Work, settings: Settings) -> Result:
    result = Result()
    batches = [work] if isinstance(work, pa.RecordBatch) else batch_pages(work.read(result.skipped))
    start_clocks = partial(_set_clocks, settings.limits.seconds)
    for pages in batches:
        extracted = extract_batch(
            pages, settings.extractor, settings.sizes, start_clocks, settings.min_confidence
        )
        _set_clocks(0)
        result.add(extracted, settings)
    return result


def _set_clocks(seconds: float) -> None:
    """Let the system end this process after so much processor time, or if it waits too long; 0 for never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING_FACTOR * seconds)
