"""The command line as a user meets it."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.running import Run
from untemplate.cli import COMMANDS, cli
from untemplate.demo import Site

PROCESS = [sys.executable, "-c", "import sys; from untemplate.cli import main; sys.exit(main())"]


def test_help_names_every_command(run: Run) -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout
    assert run("-h").stdout == done.stdout
    assert run("--version").stdout.startswith("untemplate, version ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_and_every_option_a_help_text(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert "Examples:" in (command.epilog or "")
    for parameter in command.params:
        assert not isinstance(parameter, click.Option) or parameter.help, parameter.name


def test_cluster_prints_a_table(run: Run, folder: Path) -> None:
    done = run("cluster", folder)
    assert done.returncode == 0
    header, _, *rows = [line for line in done.stdout.splitlines() if line.strip()][1:]
    assert header.split() == ["cluster", "kind", "pages", "URL", "pattern", "example", "why", "this", "kind"]
    assert rows[0].split()[:2] == ["c1", "detail"]
    assert "http://www." in rows[0]


def test_cluster_as_json_names_each_page_once(run: Run, folder: Path, site: Site) -> None:
    done = run("cluster", folder, "--json")
    result = json.loads(done.stdout)
    named = [page for cluster in result["clusters"] for page in cluster["pages"]] + result["unassigned"]
    assert sorted(named) == [page.id for page in site.pages]
    assert set(result["clusters"][0]) == {
        *("cluster", "kind", "kind_reason", "size", "importance", "signature", "signatures", "url_pattern"),
        "pages",
    }
    assert result["skipped"] == {}


def test_sample_prints_the_pages_to_label(run: Run, folder: Path) -> None:
    result = json.loads(run("sample", folder, "-k", "2", "--json").stdout)
    best = result[0]["pages"][0]
    assert all(1 <= len(cluster["pages"]) <= 2 for cluster in result)
    table = run("sample", folder, "-k", "2").stdout
    assert "to label, best first" in table
    assert ["1", best["page"], best["url"]] in [line.split() for line in table.splitlines()]


def test_demo_makes_and_keeps_a_site(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--pages", "40", "--seed", "3", "-o", tmp_path / "site")
    assert done.returncode == 0
    assert "F1 of page pairs" in done.stdout
    assert "Against the truth" in done.stdout
    assert done.stderr == "", "headings and tables are on one stream"
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 100, "but for the last line, with the path"
    _, proposed, labeled, *_ = re.split(r"^[234]\. ", done.stdout, flags=re.M)
    labeled_pages = re.findall(r"^ (\d+\.html) ", labeled, re.M)
    assert labeled_pages
    assert set(labeled_pages) <= set(re.findall(r"^ +\d  (\d+\.html) ", proposed, re.M))
    assert len(list((tmp_path / "site").glob("*.html"))) == 40
    assert run("cluster", tmp_path / "site").returncode == 0


def test_skipped_pages_are_reported_at_the_end(run: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"url": f"http://a/{n}", "html": f"<p>{n}</p>"}) for n in range(5)]
    (tmp_path / "pages.jsonl").write_text("\n".join([*lines, "{broken"]) + "\n")
    done = run("cluster", tmp_path / "pages.jsonl")
    assert done.returncode == 0
    assert "1 page skipped: 1 × " in done.stderr.splitlines()[-1]


def test_hostile_pages_cost_themselves_and_not_the_run(run: Run, folder: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(folder, mixed)
    hostile = {
        "empty.html": b"",
        "nul.html": b"\0" * 1000,
        "bytes.html": bytes(range(256)) * 100,
        "deep.html": b"<div>" * 10_000,
        "attributes.html": b"<p " + b" ".join(b"a%d='>'" % i for i in range(40_000)) + b">",
        "line.html": b"<p>" + b"x" * (1 << 20),
        "codec.html": b"<meta charset=punycode><p>" + b"a-b" * 100_000,
        "wide.html": b"<p>x</p>" * 60_000,
    }
    for name, html in hostile.items():
        (mixed / name).write_bytes(html)
    done = run("sample", mixed)
    assert done.returncode == 0
    assert "c1" in done.stdout
    learn = ("learn", mixed, "--schema", "restaurant", "--labels", mixed / "labels.jsonl")
    assert run(*learn, "-o", tmp_path / "rules.json").returncode == 0
    done = run("extract", mixed, "--rules", tmp_path / "rules.json", "-o", tmp_path / "records.jsonl")
    assert done.returncode == 0
    assert "page cannot be read: page is nested deeper" in done.stderr


def test_columns_are_named_by_option(run: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"u": f"http://a/{n}", "h": f"<p>{n}</p>"}) for n in range(5)]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    done = run("cluster", tmp_path / "pages.jsonl", "--url-column", "u", "--html-column", "h")
    assert done.returncode == 0
    assert "http://a/" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cluster"], "untemplate cluster: Missing argument 'PAGES'."),
        (["cluster", "nowhere"], "untemplate: nowhere: no such file or folder"),
        (["cluster", "a", "b"], "untemplate cluster: Got unexpected extra argument (b)"),
        (["sample", "a", "-k", "0"], "untemplate sample: Invalid value for '-k': 0 is not in the range"),
        (["sample", "a", "--nope"], "untemplate sample: No such option"),
        (["nope"], "untemplate: No such command 'nope'."),
        (["demo", "--vertical", "nope"], "untemplate demo: no vertical 'nope'; there are restaurant,"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(run: Run, arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_nothing_from_a_page_acts_on_the_terminal(run: Run, tmp_path: Path) -> None:
    row = {"url": "http://a/\x1b[2J[red]x\x07", "html": "<p>x</p>"}
    (tmp_path / "pages.jsonl").write_text(json.dumps(row) + "\n")
    done = run("cluster", tmp_path / "pages.jsonl")
    assert "\x1b" not in done.stdout + done.stderr
    assert "[red]" in done.stdout


def test_a_reader_that_has_seen_enough(run: Run, folder: Path) -> None:
    command = f"set -o pipefail; {' '.join(map(repr, PROCESS))} cluster {folder} --json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=600)
    assert done.stderr.count("\n") <= 1  # the note on pruning
    assert "Error" not in done.stderr
    assert done.returncode in (0, 141)


def test_interrupt() -> None:
    long = [*PROCESS, "demo", "--pages", "400"]
    with subprocess.Popen(long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline()  # it is at work, and far from done
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert (process.returncode, error.strip().splitlines()[-1]) == (130, "untemplate: interrupted")


def test_a_progress_bar_on_a_terminal_only(run: Run, folder: Path) -> None:
    controller, terminal = pty.openpty()
    with os.fdopen(controller, "rb", buffering=0) as screen:
        done = subprocess.run(
            [*PROCESS, "cluster", str(folder)],
            stdout=subprocess.PIPE,
            stderr=terminal,
            timeout=600,
            check=True,
        )
        os.close(terminal)
        shown = screen.read(65536)
    assert b"Reading pages" in shown
    assert b"Reading pages" not in done.stdout
    assert "Reading pages" not in run("cluster", folder).stderr
