"""The same records as one after the other in one process, whatever the pages are kept in and whatever happens."""

from __future__ import annotations

import json
import os
import pty
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.sources.containers import EVERY, Written
from untemplate import InputError, Rules, SourceError, read_pages, write_records
from untemplate.demo import Site
from untemplate.engines.checkpoint import RunProgress
from untemplate.engines.local import extract_to_file
from untemplate.output.quality import Tally

# Small tasks, and a note after each: something can be lost and done twice at any moment.
PROGRAM = """
import sys
from untemplate.engines import checkpoint, local, worker
from untemplate.cli import main
checkpoint.COMMIT_INTERVAL, local.PART_PAGES, worker.BATCH_PAGES = 0, 4, 4
sys.exit(main(["extract", *sys.argv[1:]]))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(rules_file: Path) -> Iterator[Start]:
    """Starts `untemplate extract` as a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path, limit: int = 0) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PROGRAM, *map(str, arguments), "--rules", str(rules_file)]
        set_limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen(command, text=True, preexec_fn=set_limit, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def written(site: Site) -> list[Written]:
    return [Written(page.id, page.url, page.text.encode()) for page in site.pages]


def expected(source: Path, rules: Rules, output: Path) -> bytes:
    """What the records are when nothing happens."""
    write_records(rules.extract(read_pages(source)), output, rules.schema)
    return output.read_bytes()


@pytest.mark.parametrize("name", ["folder", "pages.zip", "pages.warc.gz", "pages.parquet", "pages.jsonl"])
def test_the_same_records_from_every_source(
    name: str, written: list[Written], rules: Rules, tmp_path: Path
) -> None:
    source = tmp_path / name
    EVERY[name](source, written)
    progress = extract_to_file(read_pages(source), rules, tmp_path / "records.jsonl", workers=2)
    assert (tmp_path / "records.jsonl").read_bytes() == expected(source, rules, tmp_path / "expected.jsonl")
    assert progress.tally.records == len(written)
    assert not progress.skipped


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_confidence_is_written_and_asked_for(ending: str, folder: Path, rules: Rules, tmp_path: Path) -> None:
    output, expected = tmp_path / f"records.{ending}", tmp_path / f"expected.{ending}"
    done = extract_to_file(
        read_pages(folder), rules, output, workers=1, confidence=True, typed=True, min_confidence=1.0
    )
    records = list(rules.extract(read_pages(folder), min_confidence=1.0))
    write_records(records, expected, rules.schema, confidence=True, typed=True)
    assert output.read_bytes() == expected.read_bytes()
    assert done.tally.dropped.total() > 0
    assert done.tally.dropped == Tally.from_dict(done.tally.to_dict()).dropped


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_same_file_in_every_format(ending: str, folder: Path, rules: Rules, tmp_path: Path) -> None:
    output = tmp_path / f"records.{ending}"
    extract_to_file(read_pages(folder), rules, output, workers=1)
    assert output.read_bytes() == expected(folder, rules, tmp_path / f"expected.{ending}")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [f"expected.{ending}", f"records.{ending}"]


def test_what_a_source_skips_is_counted(tmp_path: Path, rules: Rules) -> None:
    rows = [{"url": "http://a/", "html": "<p>x"}, {"url": "http://b/"}] * 300
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "pages.parquet", row_group_size=100)
    progress = extract_to_file(
        read_pages(tmp_path / "pages.parquet"), rules, tmp_path / "records.jsonl", workers=2
    )
    assert (progress.tally.records, progress.skipped.total) == (300, 300)
    assert len(next(iter(progress.skipped.examples.values()))) == 3


def test_no_pages_at_all(tmp_path: Path, rules: Rules) -> None:
    pq.write_table(pa.table({"html": [None, ""]}, pa.schema({"html": pa.string()})), tmp_path / "p.parquet")
    with pytest.raises(SourceError, match="no pages could be read from it: 1 × no 'html'"):
        extract_to_file(read_pages(tmp_path / "p.parquet"), rules, tmp_path / "records.jsonl")
    assert [entry.name for entry in tmp_path.iterdir()] == ["p.parquet"]


def test_pages_in_memory(site: Site, rules: Rules, tmp_path: Path) -> None:
    extract_to_file(read_pages(site.pages), rules, tmp_path / "records.jsonl", workers=1)
    records = (tmp_path / "records.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(record)["page"] for record in records] == [page.id for page in site.pages]


def note(output: Path) -> RunProgress:
    """How far an unfinished output is."""
    try:
        text = output.with_name(f".{output.name}.parts").joinpath("note.json").read_bytes()
    except FileNotFoundError:
        return RunProgress()
    return RunProgress.from_dict(json.loads(text)["progress"])


def wait_for_progress(process: subprocess.Popen[str], output: Path, tasks: int) -> bool:
    """Wait until more tasks are done than these; False if the process ended before."""
    while process.poll() is None:
        progress = note(output)
        if progress.tasks + len(progress.early) > tasks:
            return True
        time.sleep(0.002)
    return False


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        return [int(child) for child in listed.read_text().split()]
    except FileNotFoundError:
        return []


def alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("name", "ending", "options"),
    [("folder", "jsonl", []), ("pages.warc.gz", "parquet", []), ("folder", "csv", ["--unordered"])],
)
def test_killed_again_and_again(
    name: str,
    ending: str,
    options: list[str],
    written: list[Written],
    rules: Rules,
    start: Start,
    tmp_path: Path,
) -> None:
    chance = random.Random(f"{name} {ending}")
    source, output = tmp_path / name, tmp_path / f"records.{ending}"
    EVERY[name](source, written)
    whole = sorted(expected(source, rules, tmp_path / f"expected.{ending}").splitlines())
    orphans: list[int] = []
    kills, tasks = 0, 0
    while True:
        process = start(source, "-o", output, "--workers", "2", *options)
        if not wait_for_progress(process, output, tasks):
            break
        time.sleep(chance.uniform(0, 0.005))
        orphans += children(process)
        process.kill()
        process.wait()
        kills += 1
        done = note(output)
        tasks = done.tasks + len(done.early) + chance.randrange(4)
        assert not output.exists() or sorted(output.read_bytes().splitlines()) == whole
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert kills >= 3
    assert f"{len(written)} records" in error
    if options:
        assert sorted(output.read_bytes().splitlines()) == whole
    else:
        assert output.read_bytes() == tmp_path.joinpath(f"expected.{ending}").read_bytes()
    while any(map(alive, orphans)):
        time.sleep(0.05)


def test_workers_killed_again_and_again(folder: Path, rules: Rules, start: Start, tmp_path: Path) -> None:
    chance = random.Random(7)
    output = tmp_path / "records.jsonl"
    process = start(folder, "-o", output, "--workers", "2")
    kills, tasks = 0, 0
    while wait_for_progress(process, output, tasks):
        if workers := children(process):
            os.kill(chance.choice(workers), signal.SIGKILL)
            kills += 1
        tasks = note(output).tasks + chance.randrange(5)
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert kills >= 3
    assert output.read_bytes() == expected(folder, rules, tmp_path / "expected.jsonl")


@pytest.mark.parametrize(
    ("number", "code", "last"),
    [
        (signal.SIGINT, 130, "untemplate: interrupted"),
        (signal.SIGTERM, 143, "untemplate: ended by SIGTERM"),
    ],
)
def test_interrupted(
    folder: Path, rules: Rules, start: Start, tmp_path: Path, number: int, code: int, last: str
) -> None:
    output = tmp_path / "records.jsonl"
    process = start(folder, "-o", output, "--workers", "1")
    assert wait_for_progress(process, output, 3)
    process.send_signal(number)
    _, error = process.communicate()
    kept = "What is done is kept: the same command continues."
    assert (process.returncode, error.splitlines()) == (code, [kept, last])
    _, error = start(folder, "-o", output, "--workers", "1").communicate()
    assert error.startswith("Continuing the run that was interrupted: ")
    assert output.read_bytes() == expected(folder, rules, tmp_path / "expected.jsonl")


def test_a_full_disk(folder: Path, rules: Rules, start: Start, tmp_path: Path) -> None:
    whole = expected(folder, rules, tmp_path / "expected.jsonl")
    output = tmp_path / "records.jsonl"
    process = start(folder, "-o", output, "--workers", "1", limit=len(whole) // 2)
    _, error = process.communicate()
    assert (process.returncode, error) == (
        2,
        f"untemplate: {output}: cannot write: File too large; what is done is kept, the same command continues\n",
    )
    assert 0 < note(output).tally.records < 120
    assert start(folder, "-o", output, "--workers", "1").wait() == 0
    assert output.read_bytes() == whole


def test_a_change_in_between_starts_anew(
    written: list[Written], rules: Rules, start: Start, tmp_path: Path
) -> None:
    source, output = tmp_path / "folder", tmp_path / "records.jsonl"
    EVERY["folder"](source, written)
    process = start(source, "-o", output, "--workers", "1")
    assert wait_for_progress(process, output, 3)
    process.kill()
    (source / written[0].id).write_bytes(b"<p>changed</p>")
    _, error = start(source, "-o", output).communicate()
    assert error.startswith(
        "Starting anew: the source of pages changed since the run that was interrupted.\n"
    )
    assert output.read_bytes() == expected(source, rules, tmp_path / "expected.jsonl")


def test_another_column_starts_anew(site: Site, rules: Rules, tmp_path: Path) -> None:
    source, output, messages = tmp_path / "pages.jsonl", tmp_path / "records.jsonl", []
    rows = ({"url": page.url, "html": "<p>other", "body": page.text} for page in site.pages)
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def stop(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_to_file(read_pages(source), rules, output, workers=1, count=stop)
    extract_to_file(read_pages(source, html_column="body"), rules, output, workers=1, tell=messages.append)
    assert messages == ["Starting anew: an option changed since the run that was interrupted."]
    records = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert any(record["name"] for record in records[:64])


@pytest.mark.parametrize("option", [{"min_confidence": 0.9}, {"confidence": True}, {"typed": True}])
def test_another_confidence_starts_anew(
    option: dict[str, float], folder: Path, rules: Rules, tmp_path: Path
) -> None:
    output, messages = tmp_path / "records.csv", []

    def stop(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_to_file(read_pages(folder), rules, output, workers=1, count=stop)
    extract_to_file(read_pages(folder), rules, output, workers=1, tell=messages.append, **option)
    assert messages == ["Starting anew: an option changed since the run that was interrupted."]


def test_outputs_that_cannot_be_continued(folder: Path, rules: Rules, start: Start, tmp_path: Path) -> None:
    whole = expected(folder, rules, tmp_path / "expected.jsonl").decode()
    out, _ = start(folder).communicate()
    assert out == whole
    (tmp_path / "pipe.jsonl").symlink_to("/dev/stdout")
    out, _ = start(folder, "-o", tmp_path / "pipe.jsonl").communicate()
    assert out == whole
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    process = start(folder, "-o", tmp_path / "full.jsonl")
    _, error = process.communicate()
    assert process.returncode == 2
    assert "No space left on device" in error
    assert error.count("\n") == 1
    (tmp_path / "null.parquet").symlink_to("/dev/null")
    with pytest.raises(InputError, match="Parquet cannot be written to a device"):
        extract_to_file(read_pages(folder), rules, tmp_path / "null.parquet")


def test_a_progress_bar_with_the_rate(written: list[Written], rules_file: Path, tmp_path: Path) -> None:
    EVERY["pages.jsonl"](tmp_path / "pages.jsonl", written)
    controller, terminal = pty.openpty()
    arguments = [tmp_path / "pages.jsonl", "--rules", rules_file, "-o", tmp_path / "records.csv"]
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    shown = b""
    with subprocess.Popen(command, stderr=terminal), os.fdopen(controller, "rb", buffering=0) as screen:
        os.close(terminal)
        with suppress(OSError):  # Linux has no end of file here, but an error
            while piece := screen.read(1 << 16):
                shown += piece
    assert b"Extracting" in shown
    assert b"120/120" in shown
    assert b" pages/s" in shown


@pytest.mark.parametrize("module", ["fcntl", "resource"])
def test_a_system_that_lacks_what_workers_need_is_named(module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; import untemplate.engines.local"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "need a POSIX system such as Linux or macOS" in run.stderr.splitlines()[-1]
