"""A pool of worker processes that survives whatever a page does to one of them.

Workers get work when they are free, so memory does not grow with the input. When a worker dies, its pages are
given out again one by one; a page that ends its worker again and again gets a record that says so. Every worker has a
pipe of its own and nothing else is shared: a process that is killed leaves no lock behind.

A worker is a fork of this process if that is safe, which is when no other thread runs: it starts at once, with the
modules and rules that are loaded already. Otherwise it is a new Python process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NoReturn, cast

from untemplate.engines.worker import READY, TIMEOUTS, Result, Settings, Work, refuse_pages, serve_pool
from untemplate.errors import UntemplateError
from untemplate.page import Page
from untemplate.sources.page_source import Skipped

__all__ = ["Pool", "PoolTask"]

# Orders that a worker has at a time: the one it works on, and the next.
ORDERS_AHEAD = 2
# Tasks per worker that may be done before an earlier one is: what is kept in memory to put records in order.
WINDOW = 16

# How often a page may end its worker. A worker that somebody else kills is no fault of its page, mostly.
MAX_DEATHS = 2
MAX_KILLS = 5
OUTSIDE_SIGNALS = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP)
# Workers that may be killed in a row before they are ready.
MAX_FALSE_STARTS = 10
# Files of the operating system that every process has: input, output and messages. `sys.stderr` may be another one.
STANDARD_FILES = 3
# Seconds that a worker may take to end after it has closed its pipe.
END_PATIENCE = 10.0
# Seconds that the system may take to end a process that was killed.
KILL_PATIENCE = 60.0

# Not -m: the classes it sends would be those of __main__.
PROGRAM = "import sys; from untemplate.engines.worker import run_worker; run_worker(int(sys.argv[1]))"


@dataclass(eq=False)
class PoolTask:
    """Some pages to extract from.

    Attributes:
        number: The position of the task in the run.
        work: The pages, or what reads them.
        skipped: Pages that could not be read while the task was made.
    """

    number: int
    work: Work
    skipped: Skipped = field(default_factory=Skipped)


@dataclass(eq=False)
class _Order:
    """What one worker gets: a task, or one page of it. Counts the workers that died of it."""

    task: PoolTask
    work: Work
    page: int | None = None
    deaths: int = 0
    kills: int = 0

    def count_death(self, exit_code: int) -> None:
        if exit_code in OUTSIDE_SIGNALS:
            self.kills += 1
        else:
            self.deaths += 1

    @property
    def is_hopeless(self) -> bool:
        return self.deaths == MAX_DEATHS or self.kills == MAX_KILLS


class _Suspect:
    """A task that is done page by page, because its worker died."""

    def __init__(self, task: PoolTask) -> None:
        self.task = task
        self._pages = _single_pages(task.work, task.skipped)
        self._next = next(self._pages, None)
        self._count = 0
        self._results: dict[int, Result] = {}

    @property
    def is_empty(self) -> bool:
        return not self._count and self._next is None

    def next_order(self) -> _Order | None:
        """Return an order for the next page, if there is one."""
        if self._next is None:
            return None
        order = _Order(self.task, self._next, self._count)
        self._next = next(self._pages, None)
        self._count += 1
        return order

    def add_result(self, page: int, result: Result) -> Result | None:
        """Store the result of one page; return that of the task when all pages are done."""
        self._results[page] = result
        if self._next is not None or len(self._results) < self._count:
            return None
        task_result = Result()
        for index in range(self._count):
            task_result.update(self._results[index])
        return task_result


def _has_one_thread() -> bool:
    """Return True if this process surely has no other thread, not even one of a library: Linux lists them."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def _start_python(connection: Connection) -> subprocess.Popen[bytes]:
    """Start a worker as a new Python process."""
    descriptor = connection.fileno()
    return subprocess.Popen([sys.executable, "-P", "-c", PROGRAM, str(descriptor)], pass_fds=[descriptor])


class _Fork:
    """A worker that is a fork of this process; it has the part of `Popen` that is used here."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.returncode: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            self._work(connection, settings)

    def _work(self, connection: Connection, settings: Settings) -> NoReturn:
        """Work in the child until the pipe is closed. Files of the parent, such as its lock, are closed first."""
        try:
            descriptor = connection.fileno()
            os.closerange(STANDARD_FILES, descriptor)
            os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            serve_pool(connection, settings)
        except BaseException:  # an error must not reach the code of the parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def wait(self, timeout: float) -> int:
        """Wait for the end of the process and return its exit code.

        Raises:
            subprocess.TimeoutExpired: It did not end within so many seconds.
        """
        deadline = time.monotonic() + timeout
        while not self._has_ended(os.WNOHANG):
            if time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.01)
        return cast("int", self.returncode)

    def _has_ended(self, options: int) -> bool:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode is not None

    def kill(self) -> None:
        if not self._has_ended(os.WNOHANG):
            os.kill(self.pid, signal.SIGKILL)


class _Worker:
    """A worker process, and the orders that it has not answered yet."""

    def __init__(self, settings: Settings) -> None:
        self.connection, other_end = Pipe()
        with other_end:
            if _has_one_thread():
                self.process: _Fork | subprocess.Popen[bytes] = _Fork(other_end, settings)
            else:
                self.process = _start_python(other_end)
        self.ready = False
        self.orders: deque[_Order] = deque()
        if not isinstance(self.process, _Fork):
            self._send(settings)

    def give(self, order: _Order) -> None:
        self.orders.append(order)
        self._send(order.work)

    def _send(self, message: object) -> None:
        with suppress(OSError):  # it is dead; whoever listens to it will notice
            self.connection.send(message)

    def end(self, patience: float = 0) -> int:
        """Wait some seconds for the process to end, else kill it; return its exit code."""
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(KILL_PATIENCE)
        finally:
            self.connection.close()


class Pool:
    """Worker processes; they start when there is work, and end with the `with` block.

    The pool survives workers that die. It raises UntemplateError if workers cannot even start.
    """

    def __init__(self, settings: Settings, count: int) -> None:
        """Choose what workers do.

        Args:
            settings: What each worker has to know.
            count: The maximum number of processes.
        """
        self._settings = settings
        self._count = count
        self._workers: list[_Worker] = []
        self._false_starts = 0
        self._tasks: Iterator[PoolTask] = iter(())
        self._open: set[int] = set()  # tasks that were begun
        self._latest = 0
        self._window: int | None = None
        self._waiting: deque[_Order] = deque()  # orders that no worker has
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

    def run(self, tasks: Iterable[PoolTask], ordered: bool = True) -> Iterator[tuple[int, Result]]:
        """Yield the number and the result of each task as soon as it is done.

        Args:
            tasks: The work; each is taken when a worker has room for it.
            ordered: True if the caller puts the results in order. Then no task runs too far ahead of an unfinished
                one, because the caller has to keep the results in memory.
        """
        self._tasks = iter(tasks)
        self._window = WINDOW * self._count if ordered else None
        while True:
            self._hand_out_orders()
            self._start_workers()
            busy = {
                worker.connection: worker for worker in self._workers if worker.orders or not worker.ready
            }
            if not busy:
                return
            for connection in wait(list(busy)):
                yield from self._receive_from(busy[cast("Connection", connection)])

    def _hand_out_orders(self) -> None:
        """Give orders to all workers that have room; idle workers first."""
        for room in range(ORDERS_AHEAD):
            free = [worker for worker in self._workers if worker.ready and len(worker.orders) == room]
            for worker in free:
                order = self._waiting.popleft() if self._waiting else self._next_order()
                if order is None:
                    return
                worker.give(order)

    def _start_workers(self) -> None:
        """Start workers while there is an order for each of them."""
        while len(self._workers) < self._count:
            starting = sum(not worker.ready for worker in self._workers)
            if len(self._waiting) <= starting:
                order = self._next_order()
                if order is None:
                    return
                self._waiting.append(order)
            self._workers.append(_Worker(self._settings))

    def _next_order(self) -> _Order | None:
        """Return the next page of a suspect, else the next task; None if there is none or it runs too far ahead."""
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

    def _receive_from(self, worker: _Worker) -> Iterator[tuple[int, Result]]:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._replace_dead(worker)
            return
        if isinstance(message, UntemplateError):
            raise message
        if message == READY:
            worker.ready = True
            self._false_starts = 0
        else:
            yield from self._finish(worker.orders.popleft(), message)

    def _finish(self, order: _Order, result: Result) -> Iterator[tuple[int, Result]]:
        """Yield the result of the order's task if the task is done with it."""
        number = order.task.number
        task_result: Result | None = result
        if order.page is not None:
            task_result = self._suspects[number].add_result(order.page, result)
        if task_result is not None:
            task_result.skipped.update(order.task.skipped)
            self._suspects.pop(number, None)
            self._open.remove(number)
            yield number, task_result

    def _replace_dead(self, worker: _Worker) -> Iterator[tuple[int, Result]]:
        """Give the orders of a dead worker to others, and find out whether its page is to blame."""
        self._workers.remove(worker)
        exit_code = worker.end(END_PATIENCE)
        if not worker.ready:
            self._count_false_start(exit_code)
            return
        if not worker.orders:
            return
        order, *unstarted = worker.orders
        self._waiting.extendleft(reversed(unstarted))
        if order.page is None:
            yield from self._suspect(order)
            return
        order.count_death(exit_code)
        if order.is_hopeless:
            yield from self._finish(order, self._refuse(order, exit_code))
        else:
            self._waiting.appendleft(order)

    def _count_false_start(self, exit_code: int) -> None:
        self._false_starts += 1
        if exit_code not in OUTSIDE_SIGNALS or self._false_starts == MAX_FALSE_STARTS:
            raise UntemplateError(f"a worker process could not start: {_exit_name(exit_code)}")

    def _suspect(self, order: _Order) -> Iterator[tuple[int, Result]]:
        """Have a task done page by page; yield its result if it has no pages."""
        suspect = _Suspect(order.task)
        if suspect.is_empty:
            yield from self._finish(order, Result())
        else:
            self._suspects[order.task.number] = suspect

    def _refuse(self, order: _Order, exit_code: int) -> Result:
        """Return the record of a page that ends its workers."""
        if -exit_code in TIMEOUTS:
            reason = f"page takes longer than {self._settings.limits.seconds:g} s"
        else:
            reason = f"page ends its process: {_exit_name(exit_code)}"
        result = Result()
        pages = cast("list[Page]", order.work)  # one page
        extracted = refuse_pages(pages, self._settings.extractor, reason)
        result.add(extracted, self._settings)
        return result


def _single_pages(work: Work, skipped: Skipped) -> Iterator[list[Page]]:
    """Yield each page as work of its own."""
    pages = work if isinstance(work, list) else work.read(skipped)
    return ([page] for page in pages)


def _exit_name(exit_code: int) -> str:
    """Describe how a process ended, such as `SIGSEGV`."""
    return signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"
