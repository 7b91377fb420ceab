"""An output that is cut off anywhere, also between two writes to the disk, and continued."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import InputError, Schema
from untemplate.engines import checkpoint as module
from untemplate.engines.checkpoint import Checkpoint, RunProgress
from untemplate.engines.worker import Result
from untemplate.output.quality import CrawlTally, Tally
from untemplate.sources import Skipped

TABLES = {"": Schema.load("restaurant")}
TASKS = 6
# Moments at which a run can be cut off, a few more than there are.
LAST = 66


class PowerCut(BaseException):
    """The machine stops."""


class Disk:
    """Counts what reaches the disk, stops at one of these moments, and forgets what had not been synced."""

    def __init__(self, folder: Path, stop: int) -> None:
        self._left = stop
        self._folder = folder
        self._synced = {path: path.read_bytes() for path in self._files()}

    def _files(self) -> list[Path]:
        return [path for path in self._folder.rglob("*") if path.is_file()]

    def fsync(self, descriptor: int) -> None:
        self._tick()
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.is_file():
            self._synced[path] = path.read_bytes()
        self._tick()

    def replace(self, source: Path, target: Path) -> None:
        assert source in self._synced, "renamed before it was synced"
        self._tick()
        source.rename(target)
        self._synced[target] = self._synced.pop(source)
        self._tick()

    def forget(self) -> None:
        """Where something was written and not synced, there is anything now."""
        for path in self._files():
            if path.read_bytes() != (synced := self._synced.get(path, b"")):
                path.write_bytes(synced + b"\0garbage")

    def _tick(self) -> None:
        self._left -= 1
        if not self._left:
            raise PowerCut


def result(task: int) -> Result:
    return Result(
        {"": f"{task}\n".encode()},
        {"": CrawlTally({"": Tally(records=1)})},
        Skipped(Counter({"odd": 1}), {"odd": [str(task)]}),
    )


def write_all(path: Path, order: list[int]) -> RunProgress:
    checkpoint = Checkpoint(path, TABLES, {"the rules": "1"})
    checkpoint.__enter__()
    try:
        if not checkpoint.progress.complete:
            for task in order:
                if not checkpoint.progress.is_done(task):
                    checkpoint.write(task, result(task))
        checkpoint.complete()
    except PowerCut:
        for file in checkpoint._open.values():
            file.flush()
        checkpoint._files.close()
        raise
    checkpoint.__exit__()
    return checkpoint.progress


@given(
    stops=st.lists(st.integers(1, LAST), max_size=6),
    order=st.permutations(range(TASKS)),
    interval=st.sampled_from([0.0, 1000.0]),
)
@settings(deadline=None)
def test_each_task_once_whatever_happens(stops: list[int], order: list[int], interval: float) -> None:
    write_and_stop(stops, order, interval)


@pytest.mark.parametrize("stop", range(1, 5))
def test_a_new_run_that_is_cut_off_again_and_again(stop: int) -> None:
    for first in range(LAST - 10, LAST):
        write_and_stop([first, stop, stop], [*range(TASKS)], 0.0)


def write_and_stop(stops: list[int], order: list[int], interval: float) -> None:
    """Write all tasks, cut off at these moments one after another; then the output is whole."""
    with tempfile.TemporaryDirectory() as name, patch.object(module, "COMMIT_INTERVAL", interval):
        path = Path(name).resolve() / "records.jsonl"
        for stop in stops:
            disk = Disk(path.parent, stop)
            replace = lambda source, target, disk=disk: disk.replace(source, target)  # noqa: E731
            with patch.object(os, "fsync", disk.fsync), patch.object(Path, "replace", replace):
                try:
                    write_all(path, order)
                except PowerCut:
                    disk.forget()
                    if path.exists():
                        assert sorted(path.read_text().split()) == [str(task) for task in range(TASKS)]
                else:
                    break
        progress = write_all(path, order)
        assert sorted(path.read_text().split()) == [str(task) for task in range(TASKS)]
        assert progress.tally.records == progress.skipped.total == TASKS
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_is_not_the_same_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    with Checkpoint(path, TABLES, {"the rules": "1", "the pages": "1"}) as first:
        first.write(0, result(0))
    for identity in ({"the rules": "1", "the pages": "2"}, {"the rules": "2", "the pages": "2"}):
        with Checkpoint(path, TABLES, identity) as other:
            assert other.progress.tally.records == 0
            other.write(0, result(0))
        changed = "the pages" if identity["the rules"] == "1" else "the rules"
        assert other.changed == changed
    with Checkpoint(path, TABLES, identity) as again:
        assert (again.progress.tasks, again.changed) == (1, None)


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"{}", b'{"of": {}, "progress": {"end": 9}}', b"\xff"])
def test_a_damaged_note_is_no_note(tmp_path: Path, note: bytes) -> None:
    path = tmp_path / "records.jsonl"
    with Checkpoint(path, TABLES, {}) as checkpoint:
        checkpoint.write(0, result(0))
    (tmp_path / ".records.jsonl.parts" / "note.json").write_bytes(note)
    with Checkpoint(path, TABLES, {}) as checkpoint:
        assert checkpoint.progress == RunProgress(ends={"": 0})


def test_nothing_done_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Checkpoint(tmp_path / "records.jsonl", TABLES, {}):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_two_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    with Checkpoint(path, TABLES, {}) as first:
        first.write(0, result(0))
        with pytest.raises(InputError, match="another process is writing it"), Checkpoint(path, TABLES, {}):
            pass
        first.complete()
    assert path.read_text() == "0\n"


@given(
    numbers=st.lists(st.integers(0, 50), unique=True),
    reasons=st.dictionaries(st.text(), st.integers(1, 9), max_size=3),
)
def test_the_note_keeps_everything(numbers: list[int], reasons: dict[str, int]) -> None:
    progress = RunProgress(
        ends={"": 3},
        crawls={"a.example": CrawlTally({"c1": Tally(pages=4)})},
        tally=Tally(records=2, unmatched=Counter(reasons)),
    )
    for number in numbers:
        progress.add(number, result(number))
    again = RunProgress.from_dict(json.loads(json.dumps(progress.to_dict())))
    assert again == progress
    assert all(again.is_done(number) == (number in numbers) for number in range(60))
