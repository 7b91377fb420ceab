"""What running a command gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Done", "Run"]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]
