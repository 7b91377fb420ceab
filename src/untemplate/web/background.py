"""What goes on besides requests: jobs that run in threads, and the feed of changes that open windows follow."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import Any, Literal, NamedTuple, TypeVar

from untemplate.errors import CatalogError, InputError, UntemplateError

__all__ = ["ChangeFeed", "Job", "Jobs", "SiteChange"]

T = TypeVar("T")

MAX_FINISHED_JOBS = 50
"""Finished jobs that the server keeps, the newest ones."""


class _JobCanceledError(Exception):
    """Somebody canceled the job."""


@dataclass
class Job:
    """Work that takes longer than a request may take: adding a site, an export, a watch or a heal run.

    Attributes:
        id: Its number.
        kind: What it does: import, export, watch or heal.
        site: The site that it works on.
        title: What it does, for people.
        state: How far it is.
        pages: The pages processed so far.
        total: The number of all pages, if it is known.
        step: What it does at present, for people, if that is not counting pages.
        problem: Why it failed.
        summary: What came out, for people.
        result: What came out, for programs.
        file: The file that it wrote.
    """

    id: int
    kind: str
    site: str
    title: str
    state: Literal["running", "done", "failed", "canceled"] = "running"
    pages: int = 0
    total: int | None = None
    step: str | None = None
    problem: str | None = None
    summary: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    file: Path | None = None
    _is_canceled: Event = field(default_factory=Event, repr=False)

    def counted(self, items: Iterable[T], total: int | None = None) -> Iterator[T]:
        """Iterate over items, and count them as the pages of this job, until somebody cancels it."""
        self.total = total
        for item in items:
            self.enter(None)
            yield item
            self.pages += 1

    def enter(self, step: str | None) -> None:
        """Begin a step of the work; the work ends here if somebody has canceled the job."""
        if self._is_canceled.is_set():
            raise _JobCanceledError
        self.step = step

    def cancel(self) -> None:
        """Ask the job to end. It ends before its next page or step."""
        self._is_canceled.set()


class Jobs:
    """All jobs of a server, each in its own thread, and a temporary folder for the files that they write.

    Args:
        on_change: Called with the name of a site when a job of it begins or ends.
    """

    def __init__(self, on_change: Callable[[str], None]) -> None:
        self._folder = TemporaryDirectory(prefix="untemplate-")
        self._jobs: dict[int, Job] = {}
        self._numbers = count(1)
        self._lock = Lock()
        self._on_change = on_change

    def start(self, kind: str, site: str, title: str, work: Callable[[Job], None]) -> Job:
        """Start a job and return it.

        Args:
            kind: What the job does: import, export, watch or heal.
            site: The site that it works on. It has only one job of a kind at a time.
            title: What the job does, for people.
            work: Called with the job in a new thread. If it raises an UntemplateError or an OSError, the job fails,
                and people read the message.

        Raises:
            InputError: Such a job is running already.
        """
        with self._lock:
            for other in self._jobs.values():
                if (other.kind, other.site, other.state) == (kind, site, "running"):
                    raise InputError(f"this is running already: {other.title}; wait for it, or cancel it")
            job = Job(next(self._numbers), kind, site, title)
            self._jobs[job.id] = job
            self._forget_old_jobs()
        Thread(target=self._run, args=(job, work), daemon=True).start()
        return job

    def get(self, id: int) -> Job:
        """Return a job; raise CatalogError if there is none with this id."""
        job = self._jobs.get(id)
        if job is None:
            raise CatalogError(f"no job {id}: it is too old, or the server was restarted; start it again")
        return job

    def all(self) -> list[Job]:
        """Return all jobs, the newest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.id)

    def path(self, job: Job, ending: str) -> Path:
        """Return the path of a file that a job may write."""
        return Path(self._folder.name) / f"{job.id}.{ending}"

    def close(self) -> None:
        """Cancel all jobs, and delete their files."""
        for job in self.all():
            job.cancel()
        self._folder.cleanup()

    def _forget_old_jobs(self) -> None:
        """Delete all but the newest finished jobs, and their files.

        Without this, the files of a server that runs for weeks would fill the disk.
        """
        finished = [job for job in self._jobs.values() if job.state != "running"]
        for job in finished[:-MAX_FINISHED_JOBS]:
            del self._jobs[job.id]
            if job.file is not None:
                job.file.unlink(missing_ok=True)

    def _run(self, job: Job, work: Callable[[Job], None]) -> None:
        self._on_change(job.site)
        try:
            work(job)
            job.state = "done"
        except _JobCanceledError:
            job.state = "canceled"
        except (UntemplateError, OSError) as error:
            job.problem = str(error)
            job.state = "failed"
        except BaseException:
            job.problem = "something went wrong; the terminal shows the error"
            job.state = "failed"
            raise
        finally:
            self._on_change(job.site)


class SiteChange(NamedTuple):
    """A change of a site. The changes of a site are numbered from 1."""

    site: str
    number: int


class ChangeFeed:
    """Publishes changes of sites to all open windows, so that two windows never show different states.

    Any thread may publish. Changes are numbered, so that a window knows which ones it shows already.
    """

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[SiteChange | None], asyncio.AbstractEventLoop] = {}
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def count(self, site: str) -> int:
        """Return how often a site has changed. Call this before you read the data that changes."""
        return self._counts[site]

    def publish(self, site: str) -> None:
        """Send a change of a site to all listeners."""
        with self._lock:
            self._counts[site] += 1
            self._send(SiteChange(site, self._counts[site]))

    def close(self) -> None:
        """End the iteration of all listeners."""
        with self._lock:
            self._send(None)

    def _send(self, change: SiteChange | None) -> None:
        """Put a change into the queues of all listeners; None ends them."""
        for queue, loop in self._listeners.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(queue.put_nowait, change)

    async def listen(self) -> AsyncIterator[SiteChange]:
        """Iterate over the changes of all sites as they happen."""
        queue: asyncio.Queue[SiteChange | None] = asyncio.Queue()
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            while (change := await queue.get()) is not None:
                yield change
        finally:
            with self._lock:
                del self._listeners[queue]
