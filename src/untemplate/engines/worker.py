"""The work that engines give their workers: pages in, records for each table out.

`extract_pages` is the core that all engines call. `run_worker` is the program of a worker process of this machine,
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

from untemplate.errors import UntemplateError
from untemplate.extraction import PageExtractor, PageRecords
from untemplate.output.quality import CrawlTally, Tally
from untemplate.output.record_files import FORMATS
from untemplate.output.record_rows import TEXT_COLUMNS, ExtraColumns
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze
from untemplate.record import Record
from untemplate.sources.page_source import Reader, Skipped

__all__ = [
    "READY",
    "TIMEOUTS",
    "UNKNOWN_HOST",
    "ExtractedPages",
    "PageLimits",
    "Result",
    "Settings",
    "Work",
    "batch_pages",
    "extract_pages",
    "merge_crawls",
    "refuse_pages",
    "run_worker",
    "serve_pool",
]

try:
    import resource
except ImportError as error:
    raise UntemplateError(
        "Worker processes need a POSIX system such as Linux or macOS; on Windows, use WSL or Rules.extract in Python"
    ) from error


UNKNOWN_HOST = "its host is that of no site in the catalog"
"""Why a page of a crawl has no record."""

# Maximum size of a batch. With 4 MB the pages of a batch leave the cache before they are parsed, and the system maps
# their memory anew each time: 4 % slower on 3,000 pages of 80 KB.
BATCH_PAGES = 64
BATCH_BYTES = 1 << 20

Work: TypeAlias = "list[Page] | Reader"
"""Pages, or what reads them."""

READY = "ready"

TIMEOUTS = (signal.SIGPROF, signal.SIGALRM)
"""The signals that end a worker whose page takes too long."""
# The time limit counts processor time, which does not depend on what else the machine does. A page that only waits
# gets this many times more.
WAITING_FACTOR = 10


@dataclass
class ExtractedPages:
    """What came out of some pages.

    Attributes:
        records: The records of each table.
        crawls: The counts of each site.
        unknown: Pages whose host is that of no site.
    """

    records: dict[str, list[Record]]
    crawls: dict[str, CrawlTally]
    unknown: Skipped


def extract_pages(
    pages: Iterable[Page],
    extractor: PageExtractor,
    before_page: Callable[[], object] = lambda: None,
    min_confidence: float = 0.0,
) -> ExtractedPages:
    """Return the records of pages, in their order. No page can make this fail.

    Args:
        pages: The pages. What was parsed of them is freed.
        extractor: The rules of one site or of many.
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
        finally:
            page.release()

    return _collect_records(pages, extract_page)


def refuse_pages(pages: Iterable[Page], extractor: PageExtractor, reason: str) -> ExtractedPages:
    """Return a record for each page that says why the page cannot be read; the page is not parsed."""
    return _collect_records(pages, lambda page: extractor.refuse_page(page, reason))


def _collect_records(
    pages: Iterable[Page], extract_page: Callable[[Page], PageRecords | None]
) -> ExtractedPages:
    """Count the records of all pages, and put them into their tables."""
    records: dict[str, list[Record]] = defaultdict(list)
    crawls: dict[str, CrawlTally] = defaultdict(CrawlTally)
    unknown = Skipped()
    for page in pages:
        found = extract_page(page)
        if found is None:
            unknown.add(UNKNOWN_HOST, page.url or page.id)
            continue
        for record in found.records:
            crawls[found.site].add(record)
            if found.site and record.cluster is not None:
                record.cluster = f"{found.site}/{record.cluster}"
        records[found.table] += found.records
    return ExtractedPages(dict(records), dict(crawls), unknown)


def batch_pages(pages: Iterable[Page]) -> Iterator[list[Page]]:
    """Yield pages in batches of limited size."""
    waiting: list[Page] = []
    size = 0
    for page in pages:
        waiting.append(page)
        size += len(page.html)
        if len(waiting) == BATCH_PAGES or size >= BATCH_BYTES:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


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

    def limit_page(self, page: Page) -> Page:
        """Return a page with the size limits of this run."""
        page.limits = self.sizes
        return page


@dataclass
class Result:
    """The records of some pages, encoded, with their counts.

    Attributes:
        records: The encoded records of each table.
        crawls: The counts of each site, by cluster.
        skipped: Pages that could not be read, or are of no known site.
    """

    records: dict[str, bytes] = field(default_factory=dict)
    crawls: dict[str, CrawlTally] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    @property
    def tally(self) -> Tally:
        """The counts of all records."""
        total = Tally()
        for crawl in self.crawls.values():
            total.update(crawl.total())
        return total

    def add(self, extracted: ExtractedPages, settings: Settings) -> None:
        """Encode and count the records of some pages."""
        for table, records in extracted.records.items():
            schema = settings.extractor.schemas[table]
            encoded = FORMATS[settings.format].encode_records(records, schema, settings.extras)
            self._append(table, encoded)
        self.count(extracted)

    def count(self, extracted: ExtractedPages) -> None:
        """Count the records of some pages, and do not keep them."""
        merge_crawls(self.crawls, extracted.crawls)
        self.skipped.update(extracted.unknown)

    def update(self, other: Result) -> None:
        """Append the records of the pages that follow."""
        for table, records in other.records.items():
            self._append(table, records)
        merge_crawls(self.crawls, other.crawls)
        self.skipped.update(other.skipped)

    def _append(self, table: str, records: bytes) -> None:
        self.records[table] = self.records.get(table, b"") + records


def merge_crawls(crawls: dict[str, CrawlTally], others: Mapping[str, CrawlTally]) -> None:
    """Add the counts of each site to those of an earlier part of the same crawl."""
    for site, crawl in others.items():
        crawls.setdefault(site, CrawlTally()).merge(crawl)


def run_worker(pipe: int) -> None:
    """Work until the other end of a pipe is closed.

    Args:
        pipe: The file descriptor of the pipe. It receives `Settings` first, and then what `serve_pool` receives.
    """
    connection = Connection(pipe)
    serve_pool(connection, connection.recv())


def serve_pool(connection: Connection, settings: Settings) -> None:
    """Work until the other end of a pipe is closed.

    Args:
        connection: The pipe. It receives `Work`. It sends `READY` first and then a `Result`, or the error that
            prevented it, for each work.
        settings: What to do.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started us decides
    for timeout in TIMEOUTS:
        signal.signal(timeout, signal.SIG_DFL)
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
    batches = [work] if isinstance(work, list) else batch_pages(work.read(result.skipped))
    start_clocks = partial(_set_clocks, settings.limits.seconds)
    for pages in batches:
        extracted = extract_pages(
            map(settings.limit_page, pages), settings.extractor, start_clocks, settings.min_confidence
        )
        _set_clocks(0)
        result.add(extracted, settings)
    return result


def _set_clocks(seconds: float) -> None:
    """Let the system end this process after so much processor time, or if it waits too long; 0 for never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING_FACTOR * seconds)
