"""Worker processes: one that dies costs only its site, and all end with the process that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from untemplate.catalog.site_workers import MAX_STARTS, SiteWorkers
from untemplate.errors import UntemplateError


def is_running(process: int) -> bool:
    """Return True if a process exists and is not just waiting for its parent to notice that it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("count", [1, 2])
def test_tasks_return_results_and_errors(count: int) -> None:
    with SiteWorkers(count) as workers:
        workers.start("good", partial(int, "7"))
        results = dict([workers.collect()])
        workers.start("bad", partial(int, "seven"))
        results |= dict([workers.collect()])
        assert workers.is_idle
    assert results["good"].result() == 7
    with pytest.raises(ValueError, match="seven"):
        results["bad"].result()


def test_a_process_that_dies_costs_only_its_site() -> None:
    with SiteWorkers(2) as workers:
        workers.start("deadly", partial(os._exit, 3))
        workers.start("good", partial(int, "7"))
        assert workers.is_busy
        results = dict([workers.collect(), workers.collect()])
        workers.start("later", partial(int, "8"))
        assert workers.collect()[1].result() == 8
    assert results["good"].result() == 7
    with pytest.raises(UntemplateError, match=f"died {MAX_STARTS} times"):
        results["deadly"].result()


def test_a_process_that_was_killed_once_is_replaced(tmp_path: Path) -> None:
    with SiteWorkers(2) as workers:
        workers.start("unlucky", partial(die_once, tmp_path / "died"))
        assert workers.collect()[1].result() == "done"


def die_once(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        os._exit(3)
    return "done"


def test_workers_end_when_their_parent_is_killed() -> None:
    command = [sys.executable, str(Path(__file__).with_name("working.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        workers = [int(process) for process in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(is_running, workers))
        parent.kill()
    deadline = time.monotonic() + 600
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))
