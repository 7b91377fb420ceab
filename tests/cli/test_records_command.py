"""records, as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import Run

from untemplate.demo import Site

MENU = """<html><body><nav class='menu'><ul><li><a>One</a></li><li><a>Two</a></li></ul></nav>
<h1>Sorry</h1><p>Nothing was found. Try other words.</p></body></html>"""


@pytest.fixture
def lists(site: Site, tmp_path: Path) -> Path:
    """Two list pages of a made-up site, and a page without records."""
    folder = tmp_path / "lists"
    folder.mkdir()
    for page in [page for page in site.pages if page.id in site.rows][:2]:
        (folder / Path(page.id).name).write_bytes(page.html)
    (folder / "zzz.html").write_text(MENU)
    return folder


def names(site: Site) -> list[str]:
    pages = [page.id for page in site.pages if page.id in site.rows][:2]
    return [row["name"] for page in sorted(pages, key=lambda one: Path(one).name) for row in site.rows[page]]


def test_rows_in_every_format(run: Run, lists: Path, site: Site, tmp_path: Path) -> None:
    outputs = [tmp_path / f"rows.{ending}" for ending in ("csv", "jsonl", "parquet")]
    for output in outputs:
        done = run("records", lists, "-o", output)
        assert done.returncode == 0, done.stderr
        assert "1 pages without rows: nothing that repeats looks like records" in done.stderr
        assert "zzz.html" in done.stderr
    with outputs[0].open(newline="") as file:
        header, *table = csv.reader(file)
    assert header[:8] == ["url", "page", "list", "row", "confidence", "xpath", "text", "cell_1"]
    from_json = [json.loads(line) for line in outputs[1].read_text("utf-8").splitlines()]
    from_parquet = pq.read_table(outputs[2]).to_pylist()
    assert len(table) == len(from_json) == len(from_parquet) == len(names(site))
    for name, cells, one, other in zip(names(site), table, from_json, from_parquet, strict=True):
        assert name in cells[7:]
        assert name in one["cells"]
        assert one["cells"] == other["cells"]
        assert one["xpath"] == other["xpath"] == cells[5]


def test_rows_to_standard_output_with_every_list(run: Run, lists: Path, site: Site) -> None:
    main = [json.loads(line) for line in run("records", lists).stdout.splitlines()]
    every = [json.loads(line) for line in run("records", lists, "--all-lists").stdout.splitlines()]
    assert [one["cells"] for one in every if one["list"] == 0 and one["page"] != "zzz.html"] == [
        one["cells"] for one in main
    ]
    assert {one["list"] for one in every} > {0}
    assert "One" in {one["text"] for one in every}


def test_no_rows_at_all_is_a_finding(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(MENU)
    done = run("records", tmp_path, "-o", tmp_path / "rows.jsonl")
    assert done.returncode == 1
    assert (tmp_path / "rows.jsonl").read_text() == ""


def test_an_unknown_format_is_told_before_pages_are_read(run: Run, lists: Path) -> None:
    done = run("records", lists, "-o", "rows.xlsx")
    assert done.returncode == 2
    assert "rows.xlsx: cannot tell the format" in done.stderr
