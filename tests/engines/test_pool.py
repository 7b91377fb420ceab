"""Workers die, and the pool does not; what it takes from its input is bounded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from untemplate import Limits, Page, Rules, SourceError, UntemplateError
from untemplate.demo import Site
from untemplate.engines import pool as module
from untemplate.engines.pool import ORDERS_AHEAD, WINDOW, Pool, PoolTask
from untemplate.engines.worker import PageLimits, Settings, extract_pages
from untemplate.extraction import OneSite
from untemplate.output.record_files import FORMATS
from untemplate.output.record_rows import TEXT_COLUMNS
from untemplate.sources.page_rows import PageColumns, ParquetReader
from untemplate.sources.page_source import InMemory

# Pages that do what C libraries have been seen to do, each in its own way.
PROGRAM = """
import os, signal, sys, time
from untemplate import Rules
from untemplate.engines import worker
worker.WAITING_FACTOR = 20
usual = Rules.extract_page
def extract_page(self, page):
    if b"<i>crash" in page.html:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"<i>exit" in page.html:
        os._exit(3)
    if b"<i>hang" in page.html:
        while True: pass
    if b"<i>sleep" in page.html:
        time.sleep(1000)
    if b"<i>eat" in page.html:
        b"x" * (1 << 40)
    return usual(self, page)
Rules.extract_page = extract_page
"""
RUN_WORKER = "worker.run_worker(int(sys.argv[1]))"
# A program with one thread, whose workers are forks of it, and which keeps its messages in memory.
# It prints the records of one good page and of bad ones.
FORKING = """
import io
sys.stderr = io.StringIO()
from untemplate import Page
from untemplate.engines.pool import Pool, PoolTask, _Fork
from untemplate.engines.worker import PageLimits, Settings
from untemplate.extraction import OneSite
settings = Settings(OneSite(Rules.load(sys.argv[1])), ".jsonl", PageLimits(0.5, 1 << 30))
pages = [Page(f"http://{what}/", f"<p><i>{what}") for what in ("crash", "good", "exit", "hang", "eat")]
with Pool(settings, 2) as pool:
    for _, result in pool.run([PoolTask(0, pages)]):
        assert all(isinstance(worker.process, _Fork) for worker in pool._workers)
        print(result.records[""].decode())
"""

# So big that no machine can parse it within the time: nearly as many bytes and elements as a page may have.
LONG = b"<p a=&amp;>&lt;</q>x<b>y</b></p>" * 1_950_000
# So big that it cannot be parsed within the memory.
HUGE = b"<p>x<b>y</b></p>" * 1_600_000


def settings(rules: Rules, seconds: float = 30.0, memory: int = 1 << 30) -> Settings:
    return Settings(OneSite(rules), ".jsonl", PageLimits(seconds, memory))


def lines(records: dict[str, bytes]) -> list[str]:
    return records[""].decode().splitlines()


def plain(pages: list[Page], rules: Rules) -> list[str]:
    records = extract_pages(pages, OneSite(rules)).records
    return lines({"": FORMATS[".jsonl"].encode_records(records[""], rules.schema, TEXT_COLUMNS)})


@pytest.mark.parametrize("portable", [False, True])
def test_bad_pages_cost_a_record_each(
    portable: bool, site: Site, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROGRAM", PROGRAM + RUN_WORKER)
    pages = site.pages[:12]
    for place, what in ((1, b"crash"), (2, b"hang"), (5, b"eat"), (9, b"exit")):
        pages.insert(place, Page(f"http://{what.decode()}/", b"<p><i>" + what))
    work = [InMemory(pages[:8]), InMemory(pages[8:])]
    if not portable:
        work = [list(part.pages) for part in work]
    with Pool(settings(rules, seconds=0.5), 2) as pool:
        results = dict(pool.run(PoolTask(number, one) for number, one in enumerate(work)))
    found = lines(results[0].records) + lines(results[1].records)
    good = [index for index, page in enumerate(pages) if not page.html.startswith(b"<p><i>")]
    assert [found[index] for index in good] == plain([pages[index] for index in good], rules)
    for place, reason in (
        (1, "page ends its process: SIGSEGV"),
        (2, "page takes longer than 0.5 s"),
        (5, "page needs too much memory"),
        (9, "page ends its process: exit code 3"),
    ):
        assert pages[place].url in found[place]
        assert f'"name":"page cannot be read: {reason}"' in found[place]
    assert results[0].tally.records == 8


def test_forked_workers_survive_bad_pages(rules_file: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM + FORKING, rules_file], check=True, capture_output=True, text=True
    )
    crash, good, exit_, hang, eat = ran.stdout.split("\n")[:5]
    assert "page ends its process: SIGSEGV" in crash
    assert "page cannot be read" not in good
    assert "page ends its process: exit code 3" in exit_
    assert "page takes longer than 0.5 s" in hang
    assert "page needs too much memory" in eat


def test_a_page_that_waits_for_ever(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRAM", PROGRAM + RUN_WORKER)
    with Pool(settings(rules, seconds=0.05), 1) as pool:
        [(_, result)] = pool.run([PoolTask(0, [Page("http://sleep/", b"<i>sleep")])])
    assert "page takes longer than 0.05 s" in result.records[""].decode()


@pytest.mark.parametrize(
    ("limits", "content", "reason"),
    [
        ({"seconds": 0.5, "memory": 4 << 30}, LONG, "page takes longer than 0.5 s"),
        ({"memory": 300 << 20}, HUGE, "page needs too much memory"),
    ],
    ids=["time", "memory"],
)
def test_a_real_page_over_a_limit(
    limits: dict[str, float], content: bytes, reason: str, site: Site, rules: Rules
) -> None:
    """The parser, in C, is stopped in the middle."""
    huge_page = Page(site.pages[0].url, site.pages[0].html.replace(b"</body>", content), "huge")
    pages = [site.pages[0], huge_page, site.pages[1]]
    with Pool(settings(rules, **limits), 1) as pool:
        [(_, result)] = pool.run([PoolTask(0, pages)])
    first, huge, last = lines(result.records)
    assert [first, last] == plain(site.pages[:2], rules)
    assert f'"name":"page cannot be read: {reason}"' in huge


def test_a_worker_that_is_killed_now_and_then_is_no_fault_of_the_pages(site: Site, rules: Rules) -> None:
    tasks = [PoolTask(number, [page]) for number, page in enumerate(site.pages)]
    with Pool(settings(rules), 2) as pool:
        results = {}
        for number, result in pool.run(tasks):
            results[number] = result
            if number % 50 == 20:
                os.kill(pool.processes[-1], signal.SIGKILL)
    assert [line for number in range(len(tasks)) for line in lines(results[number].records)] == plain(
        site.pages, rules
    )


def test_work_is_taken_when_there_is_room_for_it(site: Site, rules: Rules) -> None:
    taken = 0

    def tasks() -> Iterator[PoolTask]:
        nonlocal taken
        for number, page in enumerate(site.pages):
            taken += 1
            yield PoolTask(number, [page])

    with Pool(settings(rules), 2) as pool:
        for done, _ in enumerate(pool.run(tasks())):
            assert taken - done <= 2 * ORDERS_AHEAD + 2
    assert taken == len(site.pages)


def test_no_more_is_done_than_can_be_put_in_order(
    site: Site, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROGRAM", PROGRAM + RUN_WORKER)
    first = PoolTask(0, [Page("http://hang/", b"<i>hang")])
    others = [PoolTask(number, [page]) for number, page in enumerate(site.pages, 1)]
    with Pool(settings(rules, seconds=0.5), 2) as pool:
        order = [number for number, _ in pool.run([first, *others])]
    assert sorted(order) == list(range(len(site.pages) + 1))
    assert 0 < order.index(0) <= 2 * WINDOW


def test_no_more_workers_than_work(site: Site, rules: Rules) -> None:
    with Pool(settings(rules), 8) as pool:
        for _ in pool.run([PoolTask(0, site.pages[:3])]):
            assert len(pool.processes) == 1


def test_a_worker_that_cannot_start(
    site: Site, rules: Rules, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "PROGRAM", "raise SystemExit('no such module')")
    pool = Pool(settings(rules), 2)
    with pool, pytest.raises(UntemplateError, match="a worker process could not start: exit code 1"):
        list(pool.run([PoolTask(0, site.pages[:3])]))
    assert "no such module" in capfd.readouterr().err


def test_a_part_that_cannot_be_read_ends_the_run(rules: Rules, tmp_path: Path) -> None:
    gone = ParquetReader(tmp_path / "gone.parquet", PageColumns(), Limits())
    with (
        Pool(settings(rules), 1) as pool,
        pytest.raises(SourceError, match=r"gone\.parquet: not a whole Parquet"),
    ):
        list(pool.run([PoolTask(0, gone)]))
