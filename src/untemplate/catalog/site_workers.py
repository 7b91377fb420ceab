"""Worker processes for a round over many sites: one site at a time each, and one that dies costs no other site."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from threading import Thread
from types import TracebackType
from typing import Any, Self

from untemplate.errors import UntemplateError

__all__ = ["SiteWorkers"]

# How often a task is started if its process dies. Somebody else may have killed it the first time.
MAX_STARTS = 2

Task = Callable[[], Any]
"""What is done with a site; it can be sent to another process."""


@dataclass(eq=False)
class _Order:
    """A task in the works."""

    site: str
    task: Task
    future: Future[Any]
    pool: ProcessPoolExecutor | None = None
    starts: int = 1


@dataclass
class SiteWorkers:
    """Does tasks for sites in several processes, or in this one if `count` is 1.

    A pool of several processes would fail as a whole when one of them dies. So each process has a pool of its own.

    Attributes:
        count: How many tasks run at a time.
    """

    count: int
    _idle: list[ProcessPoolExecutor] = field(default_factory=list)
    _orders: list[_Order] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pool in [*self._idle, *(order.pool for order in self._orders)]:
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    @property
    def is_idle(self) -> bool:
        """True if no task runs, and all results have been collected."""
        return not self._orders

    @property
    def is_busy(self) -> bool:
        """True if no further task can start before a result is collected."""
        return len(self._orders) >= self.count

    def start(self, site: str, task: Task) -> None:
        """Start a task; without other processes, do it at once."""
        if self.count > 1:
            pool = self._idle.pop() if self._idle else _start_process()
            self._orders.append(_Order(site, task, pool.submit(task), pool))
        else:
            self._orders.append(_Order(site, task, _do_here(task)))

    def collect(self) -> tuple[str, Future[Any]]:
        """Wait until any task is done, and return its site and its result, or the error that ended it."""
        while True:
            done = wait([order.future for order in self._orders], return_when=FIRST_COMPLETED).done
            order = next(order for order in self._orders if order.future in done)
            if not isinstance(order.future.exception(), BrokenProcessPool):
                self._orders.remove(order)
                if order.pool is not None:
                    self._idle.append(order.pool)
                return order.site, order.future
            if order.starts == MAX_STARTS:
                self._orders.remove(order)
                why = f"its process died {MAX_STARTS} times; the machine may lack memory for its pages"
                return order.site, _failed(UntemplateError(why))
            order.pool = _start_process()
            order.future = order.pool.submit(order.task)
            order.starts += 1


def _start_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), _end_with_parent)


def _end_with_parent() -> None:
    """End this process when its parent does, even if that was killed: otherwise it would wait for work forever."""
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do_here(task: Task) -> Future[Any]:
    done: Future[Any] = Future()
    try:
        done.set_result(task())
    except Exception as error:  # as a pool does: whoever asks for the result gets it
        done.set_exception(error)
    return done


def _failed(error: Exception) -> Future[Any]:
    failed: Future[Any] = Future()
    failed.set_exception(error)
    return failed
