"""Where records wait until all of them are written.

Beside the output is a hidden folder with the records of each table so far, and a note that says how many of them
count. The note is replaced as a whole, and only after the records that it counts are on the disk. After a crash, the
next run cuts off what the note does not count and continues. A table appears under its name only when it is complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from untemplate.engines.worker import Result, merge_crawls
from untemplate.errors import InputError, UntemplateError
from untemplate.input_files import load_json, read_limited
from untemplate.output.quality import CrawlTally, Tally
from untemplate.output.record_files import FORMATS, record_format
from untemplate.output.record_rows import TEXT_COLUMNS, ExtraColumns
from untemplate.schema import Schema
from untemplate.sources.page_source import Skipped

try:
    import fcntl
except ImportError as error:
    raise UntemplateError(
        "Record files that can be continued need a POSIX system such as Linux or macOS; on Windows, use WSL, "
        "or Rules.extract and write_records in Python"
    ) from error

__all__ = ["Checkpoint", "RunProgress"]

# Seconds of work that a crash may cost. To wait for the disk takes some milliseconds each time.
COMMIT_INTERVAL = 2.0


@dataclass
class RunProgress:
    """How much of the work is done, and what came out so far.

    Attributes:
        tasks: All tasks before this number are done.
        early: Tasks after it that are done, too.
        ends: The size of each table's records in bytes.
        complete: True if all tasks are done.
        tally: Counts of pages and records.
        crawls: The counts of each site, by cluster.
        skipped: Pages that could not be read.
    """

    tasks: int = 0
    early: set[int] = field(default_factory=set)
    ends: dict[str, int] = field(default_factory=dict)
    complete: bool = False
    tally: Tally = field(default_factory=Tally)
    crawls: dict[str, CrawlTally] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    def is_done(self, task: int) -> bool:
        return task < self.tasks or task in self.early

    def add(self, task: int, result: Result) -> None:
        """Count a task as done."""
        for table, records in result.records.items():
            self.ends[table] = self.ends.get(table, 0) + len(records)
        self.tally.update(result.tally)
        merge_crawls(self.crawls, result.crawls)
        self.skipped.update(result.skipped)
        self.early.add(task)
        while self.tasks in self.early:
            self.early.remove(self.tasks)
            self.tasks += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as values for JSON."""
        skipped = {"counts": self.skipped.counts, "examples": self.skipped.examples}
        return vars(self) | {
            "early": sorted(self.early),
            "tally": self.tally.to_dict(),
            "crawls": {site: crawl.to_dict() for site, crawl in self.crawls.items()},
            "skipped": skipped,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunProgress:
        """Restore the progress from the values of `to_dict`."""
        skipped = Skipped(Counter(values["skipped"]["counts"]), values["skipped"]["examples"])
        restored = {
            "early": set(values["early"]),
            "tally": Tally.from_dict(values["tally"]),
            "crawls": {site: CrawlTally.from_dict(counts) for site, counts in values["crawls"].items()},
            "skipped": skipped,
        }
        return cls(**{**values, **restored})


@dataclass
class _Table:
    """The records of one table: where they wait, and where they will be."""

    name: str
    header: bytes
    waiting: Path
    target: Path

    def open_waiting(self, end: int, is_new: bool) -> BinaryIO:
        """Open the waiting records, to continue after `end` bytes."""
        if is_new:
            self.waiting.write_bytes(self.header)
        file = self.waiting.open("r+b")
        file.truncate(end)
        file.seek(end)
        return file


class Checkpoint:
    """The records of an unfinished output, safe from whatever ends this process.

    Use it in a `with` block. Only one process can open the checkpoint of an output.

    Attributes:
        format: The suffix of the output, such as `.jsonl`.
        progress: How much is done, also by an interrupted run.
        changed: What differs from the interrupted run, so that it cannot be continued; a key of `identity`.
    """

    def __init__(
        self,
        output: str | Path,
        schemas: Mapping[str, Schema],
        identity: Mapping[str, str],
        format: str = "",
        extras: ExtraColumns = TEXT_COLUMNS,
    ) -> None:
        """Choose the file, or the folder of files.

        Args:
            output: The `.jsonl`, `.csv` or `.parquet` file of the only table, or a folder for a file a table.
            schemas: The schema of each table. The name of an only table may be empty.
            identity: What determines the records. A run with another identity is not continued.
            format: The suffix of the files in a folder; empty if the output is a file.
            extras: Which columns files have beside the texts of values.
        """
        self._name = str(output)
        self._is_folder = bool(format)
        self.format = format or record_format(output)
        self._identity = dict(identity)
        self._target = Path(output).resolve()
        self._folder = self._target.with_name(f".{self._target.name}.parts")
        self._tables = {
            name: _Table(
                name,
                FORMATS[self.format].header(schema, extras),
                self._folder / f"records-{index}",
                self._target / f"{name}{self.format}" if self._is_folder else self._target,
            )
            for index, (name, schema) in enumerate(sorted(schemas.items()))
        }
        self._note = self._folder / "note.json"
        self._files = ExitStack()
        self._open: dict[str, BinaryIO] = {}
        self._committed = monotonic()
        self.progress = RunProgress()
        self.changed: str | None = None

    def __enter__(self) -> Checkpoint:
        if self._target.is_dir() and not self._is_folder:
            raise InputError(f"{self._name}: is a folder; give the name of a file")
        with self._explained_errors(), ExitStack() as files:
            if self._is_folder:
                self._target.mkdir(exist_ok=True)
            self._folder.mkdir(exist_ok=True)
            lock = files.enter_context((self._folder / "lock").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"{self._name}: another process is writing it; wait until it is done"
                ) from None
            self.progress = self._read_note() or self._begin()
            if not self.progress.complete:
                self._open = {name: files.enter_context(self._open_table(name)) for name in self._tables}
            self._files = files.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        has_records = self.progress.tally.records > 0
        with self._explained_errors(), self._files:
            if has_records and not self.progress.complete:
                self.commit()
        is_waiting = any(table.waiting.exists() for table in self._tables.values())
        if (self.progress.complete and not is_waiting) or not has_records:
            shutil.rmtree(self._folder)

    def write(self, task: int, result: Result) -> None:
        """Append the records of a task."""
        with self._explained_errors():
            for table, records in result.records.items():
                self._open[table].write(records)
            self.progress.add(task, result)
            if monotonic() - self._committed > COMMIT_INTERVAL:
                self.commit()

    def commit(self) -> None:
        """Put what was written on the disk, then the note that counts it."""
        with self._explained_errors():
            for records in self._open.values():
                records.flush()
                os.fsync(records.fileno())
            note = json.dumps({"of": self._identity, "progress": self.progress.to_dict()})
            part = self._note.with_suffix(".part")
            with part.open("w") as file:
                file.write(note)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._note)
            _sync_folder(self._folder)
            self._committed = monotonic()

    def complete(self) -> None:
        """Let the output appear; all records are written."""
        with self._explained_errors():
            self.progress.complete = True
            self.commit()
            for table in self._tables.values():
                if table.waiting.exists():  # else it was finished before an interruption
                    self._finish(table)

    def _finish(self, table: _Table) -> None:
        finished = FORMATS[self.format].finish(table.waiting)
        with finished.open("rb") as file:
            os.fsync(file.fileno())
        finished.replace(table.target)
        _sync_folder(table.target.parent)
        table.waiting.unlink(missing_ok=True)

    def _read_note(self) -> RunProgress | None:
        """Return the progress of an interrupted run if it did the same work and its records are complete."""
        try:
            note = load_json(read_limited(self._note))
            identity, progress = note["of"], RunProgress.from_dict(note["progress"])
            are_whole = progress.complete or all(map(partial(self._has_records, progress), self._tables))
        except (OSError, ValueError, LookupError, TypeError):
            return None
        differences = [key for key, value in self._identity.items() if identity.get(key) != value]
        self.changed = differences[0] if differences else None
        return progress if self.changed is None and are_whole else None

    def _has_records(self, progress: RunProgress, table: str) -> bool:
        """Return True if all records of a table that the note counts are there."""
        return progress.ends[table] <= self._tables[table].waiting.stat().st_size

    def _begin(self) -> RunProgress:
        """Start with no records. A note about other records must not stay: it would seem to count the new ones."""
        self._note.unlink(missing_ok=True)
        _sync_folder(self._folder)
        return RunProgress(ends={name: len(table.header) for name, table in self._tables.items()})

    def _open_table(self, name: str) -> BinaryIO:
        is_new = not self.progress.tasks and not self.progress.early
        return self._tables[name].open_waiting(self.progress.ends[name], is_new)

    @contextmanager
    def _explained_errors(self) -> Iterator[None]:
        """Turn errors of the disk into an InputError that says what to do."""
        try:
            yield
        except OSError as error:
            kept = "; what is done is kept, the same command continues" if self.progress.tally.records else ""
            raise InputError(f"{self._name}: cannot write: {error.strerror or error}{kept}") from error


def _sync_folder(folder: Path) -> None:
    """Put the list of a folder's files on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
