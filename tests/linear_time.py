"""Work that grows in proportion to its input: CPU time at two sizes, compared. No test asserts a wall-clock time."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["assert_linear", "cpu_seconds"]

ATTEMPTS = 3
# Differences below this many seconds of CPU time are noise.
NOISE = 0.05


def cpu_seconds(work: Callable[[int], object], size: int) -> float:
    """The CPU time of this process for some work, which a busy machine hardly changes."""
    started = time.process_time()
    work(size)
    return time.process_time() - started


def assert_linear(work: Callable[[int], object], small: int, large: int) -> None:
    """Assert that the time grows far less than with the square of the size.

    Linear work takes `large / small` times as long, quadratic work that many times more again; the limit is between
    the two. Work that is over it is measured again, as other processes share the caches of the machine.
    """
    growth = large / small
    limit = growth**1.6
    for _ in range(ATTEMPTS):
        short, long = cpu_seconds(work, small), cpu_seconds(work, large)
        if long <= limit * max(short, NOISE / growth) + NOISE:
            return
    raise AssertionError(f"{large:,}: {long:.2f} s of CPU, {small:,}: {short:.3f} s; limit {limit:.0f} times")
