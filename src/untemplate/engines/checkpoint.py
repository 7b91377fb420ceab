"""Where records wait until all of them are there.

Beside the output stands a hidden folder with the records so far and a note on how far that is. The note is replaced
as a whole, and only when what it speaks of is on the disk: whoever comes after a crash cuts off what the note does
not know and goes on. The output appears under its name only when it is complete.
"""

from __future__ import annotations

import fcntl
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
from untemplate.errors import InputError
from untemplate.output.record_files import FORMATS, record_format
from untemplate.output.tally import Tally
from untemplate.schema import Schema
from untemplate.sources.page_source import Skipped

__all__ = ["Checkpoint", "Progress"]

# Seconds of work that a crash may cost; to wait for the disk takes some milliseconds each time.
INTERVAL = 2.0


@dataclass
class Progress:
    """How far the work is, and what came out so far."""

    tasks: int = 0
    """all tasks before this number are done"""
    early: set[int] = field(default_factory=set)
    """tasks after it that are done, too"""
    end: int = 0
    """bytes of their records"""
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
        """The progress as JSON knows it."""
        skipped = {"counts": self.skipped.counts, "examples": self.skipped.examples}
        return vars(self) | {
            "early": sorted(self.early),
            "tally": self.tally.to_dict(),
            "skipped": skipped,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Progress:
        """The progress of which this is `to_dict`."""
        skipped = Skipped(Counter(values["skipped"]["counts"]), values["skipped"]["examples"])
        tally = Tally.from_dict(values["tally"])
        return cls(**{**values, "early": set(values["early"]), "tally": tally, "skipped": skipped})


class Checkpoint:
    """The records of an unfinished output, safe from whatever ends this process."""

    def __init__(self, output: str | Path, schema: Schema, identity: Mapping[str, str]) -> None:
        """`identity` says of what these are the records; those of anything else are not continued."""
        self._name = str(output)
        self.format = record_format(output)
        self._header = FORMATS[self.format].header(schema)
        self._identity = dict(identity)
        self._target = Path(output).resolve()
        self._folder = self._target.with_name(f".{self._target.name}.parts")
        self._records = self._folder / "records"
        self._note = self._folder / "note.json"
        self._files = ExitStack()
        self._committed = monotonic()
        self.progress = Progress()
        #: what is not as in the interrupted run, whose records therefore are not continued; one of `identity`
        self.changed: str | None = None

    def __enter__(self) -> Checkpoint:
        if self._target.is_dir():
            raise InputError(f"{self._name}: is a folder; give the name of a file")
        with self._errors_told(), ExitStack() as files:
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
        begun = self.progress.tally.records > 0
        with self._errors_told(), self._files:
            if begun and not self.progress.complete:
                self.commit()
        if (self.progress.complete and not self._records.exists()) or not begun:
            shutil.rmtree(self._folder)

    def write(self, task: int, result: Result) -> None:
        """Append the records of a task."""
        with self._errors_told():
            self._file.write(result.records)
            self.progress.add(task, result)
            if monotonic() - self._committed > INTERVAL:
                self.commit()

    def commit(self) -> None:
        """Put what was written on the disk, then the note that it is there."""
        with self._errors_told():
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
        """All is written: let the output appear."""
        with self._errors_told():
            self.progress.complete = True
            self.commit()
            whole = FORMATS[self.format].finish(self._records)
            with whole.open("rb") as file:
                os.fsync(file.fileno())
            whole.replace(self._target)
            _sync_folder(self._target.parent)
            self._records.unlink(missing_ok=True)

    def _read_note(self) -> Progress | None:
        """The progress of an interrupted run, if it did the same and its records are there."""
        try:
            note = json.loads(self._note.read_bytes())
            of, progress = note["of"], Progress.from_dict(note["progress"])
            size = self._records.stat().st_size
        except (OSError, ValueError, LookupError, TypeError):
            return None
        self.changed = next((key for key, value in self._identity.items() if of.get(key) != value), None)
        return progress if self.changed is None and progress.end <= size else None

    def _begin(self) -> Progress:
        """Nothing is done. A note of other records must not outlive this: it would be taken for that of new ones."""
        self._note.unlink(missing_ok=True)
        _sync_folder(self._folder)
        return Progress(end=len(self._header))

    def _open_records(self) -> BinaryIO:
        if not self.progress.tasks and not self.progress.early:
            self._records.write_bytes(self._header)
        file = self._records.open("r+b")
        file.truncate(self.progress.end)
        file.seek(self.progress.end)
        return file

    @contextmanager
    def _errors_told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = "; what is done is kept, the same command continues" if self.progress.tally.records else ""
            raise InputError(f"{self._name}: cannot write: {error.strerror or error}{kept}") from error


def _sync_folder(folder: Path) -> None:
    """Put on the disk which files a folder has."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
