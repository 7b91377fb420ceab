"""Where records wait until all of them are written.

Beside the output is a hidden folder with the records so far, and a note that says how many of them count. The note is
replaced as a whole, and only after the records that it counts are on the disk. After a crash, the next run cuts off
what the note does not count and continues. The output appears under its name only when it is complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from untemplate.engines.worker import Result
from untemplate.errors import InputError, UntemplateError
from untemplate.output.quality import Tally
from untemplate.output.record_files import FORMATS, record_format
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
        end: The size of their records in bytes.
        complete: True if all tasks are done.
        tally: Counts of pages and records.
        skipped: Pages that could not be read.
    """

    tasks: int = 0
    early: set[int] = field(default_factory=set)
    end: int = 0
    complete: bool = False
    tally: Tally = field(default_factory=Tally)
    skipped: Skipped = field(default_factory=Skipped)

    def is_done(self, task: int) -> bool:
        return task < self.tasks or task in self.early

    def add(self, task: int, result: Result) -> None:
        """Count a task as done."""
        self.end += len(result.records)
        self.tally.update(result.tally)
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
            "skipped": skipped,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunProgress:
        """Restore the progress from the values of `to_dict`."""
        skipped = Skipped(Counter(values["skipped"]["counts"]), values["skipped"]["examples"])
        tally = Tally.from_dict(values["tally"])
        return cls(**{**values, "early": set(values["early"]), "tally": tally, "skipped": skipped})


class Checkpoint:
    """The records of an unfinished output, safe from whatever ends this process.

    Use it in a `with` block. Only one process can open the checkpoint of an output.

    Attributes:
        format: The suffix of the output.
        progress: How much is done, also by an interrupted run.
        changed: What differs from the interrupted run, so that it cannot be continued; a key of `identity`.
    """

    def __init__(
        self, output: str | Path, schema: Schema, identity: Mapping[str, str], confidence: bool = False
    ) -> None:
        """Choose the file.

        Args:
            output: The `.jsonl`, `.csv` or `.parquet` file.
            schema: The schema of the records.
            identity: What determines the records. A run with another identity is not continued.
            confidence: Whether the file has columns for the confidence of values.
        """
        self._name = str(output)
        self.format = record_format(output)
        self._header = FORMATS[self.format].header(schema, confidence)
        self._identity = dict(identity)
        self._target = Path(output).resolve()
        self._folder = self._target.with_name(f".{self._target.name}.parts")
        self._records = self._folder / "records"
        self._note = self._folder / "note.json"
        self._files = ExitStack()
        self._committed = monotonic()
        self.progress = RunProgress()
        self.changed: str | None = None

    def __enter__(self) -> Checkpoint:
        if self._target.is_dir():
            raise InputError(f"{self._name}: is a folder; give the name of a file")
        with self._explained_errors(), ExitStack() as files:
            self._folder.mkdir(exist_ok=True)
            lock = files.enter_context((self._folder / "lock").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"{self._name}: another process is writing it; wait until it is done"
                ) from None
            self.progress = self._read_note() or self._begin()
            self._file = files.enter_context(self._open_records())
            self._files = files.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        has_records = self.progress.tally.records > 0
        with self._explained_errors(), self._files:
            if has_records and not self.progress.complete:
                self.commit()
        if (self.progress.complete and not self._records.exists()) or not has_records:
            shutil.rmtree(self._folder)

    def write(self, task: int, result: Result) -> None:
        """Append the records of a task."""
        with self._explained_errors():
            self._file.write(result.records)
            self.progress.add(task, result)
            if monotonic() - self._committed > COMMIT_INTERVAL:
                self.commit()

    def commit(self) -> None:
        """Put what was written on the disk, then the note that counts it."""
        with self._explained_errors():
            self._file.flush()
            os.fsync(self._file.fileno())
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
            finished = FORMATS[self.format].finish(self._records)
            with finished.open("rb") as file:
                os.fsync(file.fileno())
            finished.replace(self._target)
            _sync_folder(self._target.parent)
            self._records.unlink(missing_ok=True)

    def _read_note(self) -> RunProgress | None:
        """Return the progress of an interrupted run if it did the same work and its records are complete."""
        try:
            note = json.loads(self._note.read_bytes())
            identity, progress = note["of"], RunProgress.from_dict(note["progress"])
            size = self._records.stat().st_size
        except (OSError, ValueError, LookupError, TypeError):
            return None
        differences = [key for key, value in self._identity.items() if identity.get(key) != value]
        self.changed = differences[0] if differences else None
        return progress if self.changed is None and progress.end <= size else None

    def _begin(self) -> RunProgress:
        """Start with no records. A note about other records must not stay: it would seem to count the new ones."""
        self._note.unlink(missing_ok=True)
        _sync_folder(self._folder)
        return RunProgress(end=len(self._header))

    def _open_records(self) -> BinaryIO:
        if not self.progress.tasks and not self.progress.early:
            self._records.write_bytes(self._header)
        file = self._records.open("r+b")
        file.truncate(self.progress.end)
        file.seek(self.progress.end)
        return file

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
