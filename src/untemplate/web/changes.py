"""Tells every open window which site has changed, so that two windows never show different things."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from threading import Lock
from typing import NamedTuple

__all__ = ["Change", "Changes"]


class Change(NamedTuple):
    """A change of a site; its changes are numbered from 1."""

    site: str
    number: int


class Changes:
    """Whoever listens is told which sites change, from whichever thread.

    Changes are counted, so that a window can tell what it shows already.
    """

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[Change | None], asyncio.AbstractEventLoop] = {}
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def count(self, site: str) -> int:
        """How often a site has changed; to be asked before what changes is read."""
        return self._counts[site]

    def tell(self, site: str) -> None:
        """Say that a site has changed."""
        with self._lock:
            self._counts[site] += 1
            self._put(Change(site, self._counts[site]))

    def close(self) -> None:
        """Let all who listen go."""
        with self._lock:
            self._put(None)

    def _put(self, change: Change | None) -> None:
        for queue, loop in self._listeners.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(queue.put_nowait, change)

    async def listen(self) -> AsyncIterator[Change]:
        """Sites as they change."""
        queue: asyncio.Queue[Change | None] = asyncio.Queue()
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            while (change := await queue.get()) is not None:
                yield change
        finally:
            with self._lock:
                del self._listeners[queue]
