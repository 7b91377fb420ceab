"""Extraction on one machine: all its cores, memory that does not grow with the input, no record lost or repeated."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from untemplate.engines.checkpoint import Checkpoint, RunProgress
from untemplate.engines.pool import Pool, PoolTask
from untemplate.engines.worker import UNKNOWN_HOST, PageLimits, Result, Settings, batch_pages
from untemplate.errors import InputError
from untemplate.extraction import CrawlRules, OneSite, PageExtractor, Rules
from untemplate.output.record_files import FORMATS, record_format
from untemplate.output.record_rows import ExtraColumns
from untemplate.sources import Pages, Skipped
from untemplate.version import PACKAGE_VERSION

__all__ = ["available_cores", "extract_to_file"]

# Pages of a part that a worker reads by itself: about a tenth of a second of work.
PART_PAGES = 128

DEFAULT_PAGE_LIMITS = PageLimits()


def extract_to_file(
    pages: Pages,
    rules: Rules | CrawlRules,
    output: str | Path,
    *,
    format: str = "",
    workers: int | None = None,
    ordered: bool = True,
    limits: PageLimits = DEFAULT_PAGE_LIMITS,
    confidence: bool = False,
    typed: bool = False,
    min_confidence: float = 0.0,
    tell: Callable[[str], object] = lambda message: None,
    count: Callable[[int], object] = lambda done: None,
) -> RunProgress:
    """Extract the records of all pages into a file; for the rules of many sites, into a file a schema.

    A file appears when it is complete. An interrupted run continues if it is called again with the same arguments.

    Args:
        pages: The pages.
        rules: The rules to apply: those of one site, or those of all sites of a crawl.
        output: A `.jsonl`, `.csv` or `.parquet` file, or "-" for JSONL to standard output. For rules of many sites, a
            folder, which gets a file a schema.
        format: With rules of many sites, the suffix of the files.
        workers: The number of processes; one per core by default.
        ordered: Write the records in the order of the pages.
        limits: What a page may cost before it becomes a record with a reason.
        confidence: Add columns to CSV and Parquet for how sure each value is; see `write_records`.
        typed: Add columns to CSV and Parquet for what each value means; see `write_records`.
        min_confidence: Leave out values of a lower confidence; their record says so.
        tell: Called with messages for the user.
        count: Called with the number of pages that are done.

    Returns:
        What came out, in numbers.

    Raises:
        SourceError: No page could be read.
        InputError: The file cannot be written.
    """
    extras = ExtraColumns(confidence, typed)
    extractor = rules if isinstance(rules, CrawlRules) else OneSite(rules)
    identity = {
        "untemplate": PACKAGE_VERSION,
        "the rules": extractor.digest,
        "the source of pages": _fingerprint(pages.source),
        "an option": f"{ordered}, {limits}, {pages.limits}, {pages.columns}, {pages.is_rendered}, "
        f"{extras}, {min_confidence}",
    }
    with _open_output(output, format, extractor, identity, extras) as out:
        progress = out.progress
        for message in _start_messages(out):
            tell(message)
        if not progress.complete:
            settings = Settings(extractor, out.format, limits, pages.limits, extras, min_confidence)
            with Pool(settings, workers or available_cores()) as pool:
                count(progress.tally.pages)
                results = pool.run(_remaining_tasks(pages, progress), ordered)
                for number, result in _in_order(results, progress.tasks) if ordered else results:
                    out.write(number, result)
                    count(progress.tally.pages)
            progress.skipped.update(pages.skipped)
        if not progress.tally.records and not progress.skipped.counts[UNKNOWN_HOST]:
            raise pages.no_pages_error(progress.skipped)
        out.complete()
        return progress


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_messages(out: _Output) -> Iterator[str]:
    if isinstance(out, Checkpoint) and out.changed:
        yield f"Starting anew: {out.changed} changed since the run that was interrupted."
    if out.progress.tally.records:
        yield f"Continuing the run that was interrupted: {out.progress.tally.pages:,} pages are done."


def _remaining_tasks(pages: Pages, progress: RunProgress) -> Iterator[PoolTask]:
    """Yield the tasks that are not done. The same pages make the same tasks each time."""
    parts = pages.parts(PART_PAGES)
    if parts is None:
        for number, batch in enumerate(batch_pages(pages)):
            if not progress.is_done(number):
                yield PoolTask(number, batch)
        return
    for number, part in enumerate(parts):
        if progress.is_done(number):
            continue
        if part.portable:
            yield PoolTask(number, part.reader)
        else:
            skipped = Skipped()
            yield PoolTask(number, list(part.reader.read(skipped)), skipped)


def _in_order(results: Iterable[tuple[int, Result]], first: int) -> Iterator[tuple[int, Result]]:
    waiting: dict[int, Result] = {}
    for number, result in results:
        waiting[number] = result
        while first in waiting:
            yield first, waiting.pop(first)
            first += 1


class _Output(Protocol):
    """Where records go."""

    format: str
    progress: RunProgress

    def write(self, task: int, result: Result) -> None: ...

    def complete(self) -> None: ...


@contextmanager
def _open_output(
    output: str | Path, format: str, extractor: PageExtractor, identity: dict[str, str], extras: ExtraColumns
) -> Iterator[_Output]:
    """Open files that can be continued and appear when complete; or a pipe or device, which cannot."""
    if format:
        with Checkpoint(output, extractor.schemas, identity, format, extras) as checkpoint:
            yield checkpoint
        return
    if str(output) == "-":
        yield _DirectOutput(".jsonl", lambda data: sys.stdout.write(data.decode()))
        sys.stdout.flush()
        return
    format = record_format(output)
    path = Path(output)
    if not path.exists() or path.is_file() or path.is_dir():
        with Checkpoint(output, extractor.schemas, identity, "", extras) as checkpoint:
            yield checkpoint
    elif not FORMATS[format].is_text:
        message = f"{output}: Parquet cannot be written to a device or a pipe; give the name of a file"
        raise InputError(message)
    else:
        with path.open("wb") as file:
            file.write(FORMATS[format].header(extractor.schemas[""], extras))
            yield _DirectOutput(format, file.write)


class _DirectOutput:
    """Records that cannot be read again once they are written."""

    def __init__(self, format: str, write: Callable[[bytes], object]) -> None:
        self.format = format
        self.progress = RunProgress()
        self._write = write

    def write(self, task: int, result: Result) -> None:
        for records in result.records.values():
            self._write(records)
        self.progress.add(task, result)

    def complete(self) -> None:
        pass


def _fingerprint(source: str) -> str:
    """Hash the names, sizes and times of the files of a source, to notice changes. Pages in memory are always new."""
    path = Path(source)
    if path.is_file():
        return _file_stamp(path)
    if not path.is_dir():
        return os.urandom(16).hex()
    fingerprint = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        visible = sorted(name for name in names if not name.startswith("."))
        stamps = [f"{name} {_file_stamp(f'{folder}/{name}')} " for name in visible]
        fingerprint.update(os.fsencode(os.path.relpath(folder, path) + "".join(stamps)))
    return fingerprint.hexdigest()


def _file_stamp(path: str | Path) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116, as a path object of each file would take longer than everything else
    except OSError as error:
        return str(error.errno)
    return f"{status.st_size} {status.st_mtime_ns}"
