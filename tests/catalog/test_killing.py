"""A process killed at any moment leaves a catalog that opens, is consistent, and has all that it reported written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# Each place is new when its first writer is killed, so that some die while they make the tables.
PLACES = 6
KILLS = 3  # in each


def test_whoever_writes_may_be_killed(new_place: Callable[[], str]) -> None:
    script = Path(__file__).with_name("killing.py")
    command = [sys.executable, script, str(KILLS), *(new_place() for _ in range(PLACES))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
