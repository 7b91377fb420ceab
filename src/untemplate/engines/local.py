"""Extraction on one machine: all its cores, memory that does not grow with the input, nothing lost, nothing twice."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from untemplate.engines.batch import page_batch
from untemplate.engines.checkpoint import Checkpoint, Progress
from untemplate.engines.pool import Pool, Task
from untemplate.engines.worker import PageLimits, Result, Settings, batches
from untemplate.errors import InputError
from untemplate.extraction import Rules
from untemplate.output.record_files import FORMATS, record_format
from untemplate.sources import Pages, Skipped

__all__ = ["available_cores", "extract"]

# Pages of a part that a worker reads by itself: about a tenth of a second of work.
PART_PAGES = 128

DEFAULT_PAGE_LIMITS = PageLimits()


def extract(
    pages: Pages,
    rules: Rules,
    output: str | Path,
    *,
    workers: int | None = None,
    ordered: bool = True,
    limits: PageLimits = DEFAULT_PAGE_LIMITS,
    tell: Callable[[str], object] = lambda message: None,
    count: Callable[[int], object] = lambda done: None,
) -> Progress:
    """Extract a record from every page into a `.jsonl`, `.csv` or `.parquet` file, or as JSONL to "-".

    Interrupted and called again with the same arguments it continues. `ordered`: records are in the order of the
    pages. `tell` gets a message for the user now and then, `count` the number of pages that are done.
    """
    text = rules.dumps()
    identity = {
        "untemplate": version("untemplate"),
        "the rules": hashlib.sha256(text.encode()).hexdigest(),
        "the source of pages": _fingerprint(pages.source),
        "an option": f"{ordered}, {limits}, {pages.limits}, {pages.columns}",
    }
    with _open_output(output, rules, identity) as out:
        progress = out.progress
        if isinstance(out, Checkpoint) and out.changed:
            tell(f"Starting anew: {out.changed} changed since the run that was interrupted.")
        if progress.tally.records:
            tell(f"Continuing the run that was interrupted: {progress.tally.pages:,} pages are done.")
        if not progress.complete:
            settings = Settings(text, out.format, limits, pages.limits)
            with Pool(settings, workers or available_cores()) as pool:
                count(progress.tally.pages)
                results = pool.run(_tasks(pages, progress), ordered)
                for number, result in _in_order(results, progress.tasks) if ordered else results:
                    out.write(number, result)
                    count(progress.tally.pages)
            progress.skipped.update(pages.skipped)
        if not progress.tally.records:
            raise pages.no_pages_error(progress.skipped)
        out.complete()
        return progress


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tasks(pages: Pages, progress: Progress) -> Iterator[Task]:
    """What is left to do. The same pages make the same tasks each time."""
    parts = pages.parts(PART_PAGES)
    if parts is None:
        for number, batch in enumerate(batches(pages)):
            if not progress.is_done(number):
                yield Task(number, batch)
        return
    for number, part in enumerate(parts):
        if progress.is_done(number):
            continue
        if part.portable:
            yield Task(number, part.reader)
        else:
            skipped = Skipped()
            yield Task(number, page_batch(part.reader.read(skipped)), skipped)


def _in_order(results: Iterable[tuple[int, Result]], first: int) -> Iterator[tuple[int, Result]]:
    waiting: dict[int, Result] = {}
    for number, result in results:
        waiting[number] = result
        while first in waiting:
            yield first, waiting.pop(first)
            first += 1


class _Output(Protocol):
    format: str
    progress: Progress

    def write(self, task: int, result: Result) -> None: ...

    def complete(self) -> None: ...


@contextmanager
def _open_output(output: str | Path, rules: Rules, identity: dict[str, str]) -> Iterator[_Output]:
    """A file that is continued and appears when complete; or a pipe, a device, standard output, which cannot."""
    if str(output) == "-":
        yield _Through(".jsonl", lambda data: sys.stdout.write(data.decode()))
        sys.stdout.flush()
        return
    format = record_format(output)
    path = Path(output)
    if not path.exists() or path.is_file() or path.is_dir():
        with Checkpoint(output, rules.schema, identity) as checkpoint:
            yield checkpoint
    elif not FORMATS[format].is_text:
        raise InputError(
            f"{output}: Parquet cannot be written to a device or a pipe; give the name of a file"
        )
    else:
        with path.open("wb") as file:
            file.write(FORMATS[format].header(rules.schema))
            yield _Through(format, file.write)


class _Through:
    """Records that are gone as soon as they are written."""

    def __init__(self, format: str, write: Callable[[bytes], object]) -> None:
        self.format = format
        self.progress = Progress()
        self._write = write

    def write(self, task: int, result: Result) -> None:
        self._write(result.records)
        self.progress.add(task, result)

    def complete(self) -> None:
        pass


def _fingerprint(source: str) -> str:
    """What changes when the source does: names, sizes and times of its files. Pages in memory are new each time."""
    path = Path(source)
    if path.is_file():
        return _stamp(path)
    if not path.is_dir():
        return secrets.token_hex()
    all_stamps = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            file = Path(folder, name)
            all_stamps.update(os.fsencode(file.relative_to(path)) + _stamp(file).encode())
    return all_stamps.hexdigest()


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError as error:
        return str(error.errno)
    return f"{status.st_size} {status.st_mtime_ns}"
