"""A pool of worker processes that outlives whatever a page does to one of them.

Work is taken as workers are free, so memory does not grow with the input. When a worker dies, its pages are
given out again one by one; a page that takes its worker along again and again gets a record that says so. Every
worker has a pipe of its own and nothing else is shared: a process that is killed leaves no lock behind.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import cast

import pyarrow as pa

from untemplate.engines.batch import page_batch, unreadable_batch
from untemplate.engines.worker import READY, TIMEOUTS, Result, Settings, Work
from untemplate.errors import UntemplateError
from untemplate.extraction import Rules
from untemplate.schema import Schema
from untemplate.sources.page_source import Skipped

__all__ = ["Pool", "Task"]

# Work that a worker has received: what it does, and what it does next.
AHEAD = 2
# Tasks for each worker that may be done while an earlier one is not: what is kept in memory to put records in order.
WINDOW = 16

# How often a page may end its worker. Who kills a worker from outside means no page.
DEATHS = 2
KILLS = 5
OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP)
# Workers that may be killed in a row before they were ready.
FALSE_STARTS = 10
# Seconds that a worker may take to end after it has closed its pipe.
PATIENCE = 10.0

# Not -m: the classes it sends would be those of __main__.
PROGRAM = "import sys; from untemplate.engines.worker import main; main(int(sys.argv[1]))"


@dataclass(eq=False)
class Task:
    """Some pages to extract from, by number; `skipped` are those that could not even be read."""

    number: int
    work: Work
    skipped: Skipped = field(default_factory=Skipped)


@dataclass(eq=False)
class _Order:
    """What one worker is asked to do: a task, or one page of it."""

    task: Task
    work: Work
    page: int | None = None
    deaths: int = 0
    kills: int = 0


class _Suspect:
    """A task that is done page by page, because its worker died."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._pages = _pages(task.work, task.skipped)
        self._next = next(self._pages, None)
        self._given = 0
        self._results: dict[int, Result] = {}

    @property
    def is_empty(self) -> bool:
        return not self._given and self._next is None

    def next_order(self) -> _Order | None:
        """The next page, if there is one."""
        if self._next is None:
            return None
        order = _Order(self.task, self._next, self._given)
        self._next = next(self._pages, None)
        self._given += 1
        return order

    def take(self, page: int, result: Result) -> Result | None:
        """Keep the result of one page; that of the whole task when it is the last."""
        self._results[page] = result
        if self._next is not None or len(self._results) < self._given:
            return None
        whole = Result()
        for index in range(self._given):
            whole.update(self._results[index])
        return whole


class _Worker:
    """A worker process, and what it was given and has not answered yet."""

    def __init__(self, settings: Settings) -> None:
        self.connection, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )
        self.ready = False
        self.orders: deque[_Order] = deque()
        self._send(settings)

    def give(self, order: _Order) -> None:
        self.orders.append(order)
        self._send(order.work)

    def _send(self, message: object) -> None:
        with suppress(OSError):  # it is dead; whoever listens to it will notice
            self.connection.send(message)

    def end(self, patience: float = 0) -> int:
        """How it ended, by itself within so many seconds, else killed."""
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.connection.close()


class Pool:
    """Up to `count` worker processes; they start when there is work, and end with the `with` block."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self._count = count
        self._workers: list[_Worker] = []
        self._false_starts = 0
        self._tasks: Iterator[Task] = iter(())
        self._open: set[int] = set()  # tasks that were begun
        self._latest = 0
        self._window: int | None = None
        self._again: deque[_Order] = deque()
        self._suspects: dict[int, _Suspect] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()

    @property
    def processes(self) -> list[int]:
        """The ids of the worker processes."""
        return [worker.process.pid for worker in self._workers]

    def run(self, tasks: Iterable[Task], ordered: bool = True) -> Iterator[tuple[int, Result]]:
        """The result of each task with its number, as they are done; `ordered`: somebody puts them in order."""
        self._tasks = iter(tasks)
        self._window = WINDOW * self._count if ordered else None
        while True:
            self._hand_out()
            busy = {
                worker.connection: worker for worker in self._workers if worker.orders or not worker.ready
            }
            if not busy:
                return
            for connection in wait(list(busy)):
                yield from self._hear(busy[cast("Connection", connection)])

    def _hand_out(self) -> None:
        """Give work to all who have room for it, and start workers while there is work for more."""
        for room in range(AHEAD):
            for worker in self._workers:
                if worker.ready and len(worker.orders) == room:
                    order = self._again.popleft() if self._again else self._next_order()
                    if order is None:
                        return
                    worker.give(order)
        while len(self._workers) < self._count:
            starting = sum(not worker.ready for worker in self._workers)
            if len(self._again) <= starting:
                order = self._next_order()
                if order is None:
                    return
                self._again.append(order)
            self._workers.append(_Worker(self._settings))

    def _next_order(self) -> _Order | None:
        for suspect in self._suspects.values():
            if order := suspect.next_order():
                return order
        if self._window and self._open and self._latest - min(self._open) >= self._window:
            return None
        task = next(self._tasks, None)
        if task is None:
            return None
        self._open.add(task.number)
        self._latest = task.number
        return _Order(task, task.work)

    def _hear(self, worker: _Worker) -> Iterator[tuple[int, Result]]:
        try:
            said = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if isinstance(said, UntemplateError):
            raise said
        if said == READY:
            worker.ready = True
            self._false_starts = 0
        else:
            yield from self._finish(worker.orders.popleft(), said)

    def _finish(self, order: _Order, result: Result | None) -> Iterator[tuple[int, Result]]:
        number = order.task.number
        if order.page is not None and result is not None:
            result = self._suspects[number].take(order.page, result)
        if result is not None:
            result.skipped.update(order.task.skipped)
            self._suspects.pop(number, None)
            self._open.remove(number)
            yield number, result

    def _bury(self, worker: _Worker) -> Iterator[tuple[int, Result]]:
        """Take back what a dead worker was given. A page on which workers died twice is not given out again."""
        self._workers.remove(worker)
        code = worker.end(PATIENCE)
        if not worker.ready:
            self._false_starts += 1
            if code not in OUTSIDE or self._false_starts == FALSE_STARTS:
                raise UntemplateError(f"a worker process could not start: {_how(code)}")
            return
        if not worker.orders:
            return
        order, *others = worker.orders
        self._again.extendleft(reversed(others))
        if order.page is None:
            suspect = _Suspect(order.task)
            if suspect.is_empty:
                yield from self._finish(order, Result())
            else:
                self._suspects[order.task.number] = suspect
            return
        if code in OUTSIDE:
            order.kills += 1
        else:
            order.deaths += 1
        if order.deaths == DEATHS or order.kills == KILLS:
            yield from self._finish(order, self._refuse(order, code))
        else:
            self._again.appendleft(order)

    @cached_property
    def _schema(self) -> Schema:
        return Rules.loads(self._settings.rules).schema

    def _refuse(self, order: _Order, code: int) -> Result:
        if -code in TIMEOUTS:
            reason = f"page takes longer than {self._settings.limits.seconds:g} s"
        else:
            reason = f"page ends its process: {_how(code)}"
        result = Result()
        batch = unreadable_batch(order.work, self._schema, reason)
        result.add(batch, self._schema, self._settings.format)
        return result


def _pages(work: Work, skipped: Skipped) -> Iterator[pa.RecordBatch]:
    """Each page as a batch of its own."""
    if isinstance(work, pa.RecordBatch):
        return (work.take([index]) for index in range(work.num_rows))
    return (page_batch([page]) for page in work.read(skipped))


def _how(code: int) -> str:
    """How a process ended, such as `SIGSEGV`."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
