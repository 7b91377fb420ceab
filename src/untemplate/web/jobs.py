"""Work that takes longer than a person waits for an answer: exports, watching, healing. Each runs in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, Literal, TypeVar

from untemplate.errors import CatalogError, UntemplateError

__all__ = ["Job", "Jobs"]

T = TypeVar("T")

MAX_JOBS = 50
"""Finished jobs that are remembered, the newest ones."""


@dataclass
class Job:
    """One piece of work: how far it is, and what came of it."""

    id: int
    kind: str
    site: str
    state: Literal["running", "done", "failed"] = "running"
    pages: int = 0
    total: int | None = None
    problem: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    file: Path | None = None

    def counted(self, items: Iterable[T], total: int | None = None) -> Iterator[T]:
        """Pass items on and count them."""
        self.total = total
        for item in items:
            yield item
            self.pages += 1


class Jobs:
    """All jobs of a server, and a folder for the files they write, which is gone when the server is."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="untemplate-")
        self._jobs: dict[int, Job] = {}
        self._numbers = count(1)
        self._lock = Lock()

    def start(self, kind: str, site: str, work: Callable[[Job], None]) -> Job:
        """Begin a job; what it raises on purpose is the problem that people read."""
        with self._lock:
            job = Job(next(self._numbers), kind, site)
            self._jobs[job.id] = job
            for old in [one for one in self._jobs.values() if one.state != "running"][:-MAX_JOBS]:
                del self._jobs[old.id]
                if old.file is not None:
                    old.file.unlink(missing_ok=True)
        Thread(target=self._run, args=(job, work), daemon=True).start()
        return job

    def get(self, id: int) -> Job:
        job = self._jobs.get(id)
        if job is None:
            raise CatalogError(f"no job {id}: it is too old, or the server was started since")
        return job

    def path(self, job: Job, ending: str) -> Path:
        """A file that a job may write."""
        return Path(self._folder.name) / f"{job.id}.{ending}"

    def close(self) -> None:
        self._folder.cleanup()

    def _run(self, job: Job, work: Callable[[Job], None]) -> None:
        try:
            work(job)
            job.state = "done"
        except (UntemplateError, OSError) as error:
            job.problem = str(error)
            job.state = "failed"
        except BaseException:
            job.problem = "something went wrong; the terminal says what"
            job.state = "failed"
            raise
