"""Tells every open window which site has changed, so that two windows never show different things."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from threading import Lock

__all__ = ["Changes"]


class Changes:
    """Whoever listens is told the names of sites that change, from whichever thread."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}
        self._lock = Lock()

    def tell(self, site: str) -> None:
        """Say that a site has changed."""
        self._put(site)

    def close(self) -> None:
        """Let all who listen go."""
        self._put(None)

    def _put(self, site: str | None) -> None:
        with self._lock:
            listeners = list(self._listeners.items())
        for queue, loop in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(queue.put_nowait, site)

    async def listen(self) -> AsyncIterator[str]:
        """The names of sites as they change."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            while (site := await queue.get()) is not None:
                yield site
        finally:
            with self._lock:
                del self._listeners[queue]
