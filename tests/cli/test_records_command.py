"""records, as a user meets it."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.running import Run
from tests.sources.web_server import HTML, QUICK, Server, running_web_server
from untemplate import read_pages, sources
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
        assert "1 page without rows: nothing that repeats looks like records" in done.stderr
        assert "zzz.html" in done.stderr
    with outputs[0].open(newline="") as file:
        header, *table = csv.reader(file)
    assert header[:3] == ["url", "image", "title"]
    assert header[-7:] == ["page_url", "page", "list", "row", "confidence", "xpath", "text"]
    from_json = [json.loads(line) for line in outputs[1].read_text("utf-8").splitlines()]
    from_parquet = pq.read_table(outputs[2]).to_pylist()
    assert len(table) == len(from_json) == len(from_parquet) == len(names(site))
    for name, cells, one, other in zip(names(site), table, from_json, from_parquet, strict=True):
        assert name in cells[:-7]
        assert name in one.values()
        assert {key: value for key, value in other.items() if key != "confidence" and value is not None} == {
            key: value for key, value in one.items() if key != "confidence" and value is not None
        }
        assert one["xpath"] == other["xpath"] == cells[-2]


def test_rows_to_standard_output_with_every_list(run: Run, lists: Path, site: Site) -> None:
    main = [json.loads(line) for line in run("records", lists).stdout.splitlines()]
    every = [json.loads(line) for line in run("records", lists, "--all-lists").stdout.splitlines()]
    assert [one for one in every if one["list"] == 0 and one["page"] != "zzz.html"] == main
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
    assert "rows.xlsx: unknown format" in done.stderr


def test_rows_become_rules(run: Run, lists: Path, site: Site, tmp_path: Path) -> None:
    rows, rules, records = (tmp_path / name for name in ("rows.jsonl", "rules.json", "records.csv"))
    assert run("records", lists, "-o", rows).returncode == 0
    one_page = rows.read_text("utf-8").splitlines()
    page = json.loads(one_page[0])["page"]
    rows.write_text("\n".join(line for line in one_page if json.loads(line)["page"] == page), "utf-8")
    learned = run("learn", lists, "--labels", rows, "-o", rules)
    assert learned.returncode == 0, learned.stderr
    assert "Records of cluster c1: each is " in learned.stdout
    extracted = run("extract", lists, "--rules", rules, "-o", records)
    assert extracted.returncode == 0, extracted.stderr
    assert f"{len(names(site)) + 1} records; rules match 2 of the pages." in extracted.stderr
    with records.open(newline="") as file:
        table = [row for row in csv.DictReader(file) if row["row"]]
    assert len(table) == len(names(site))
    own = [int(row["row"]) for row in table if row["page"] == page]
    assert own == list(range(1, len(own) + 1))
    for name, row in zip(names(site), table, strict=True):
        assert name in row.values()
    shown = run("rules", "show", rules).stdout
    assert "records: each is " in shown
    (tmp_path / "sheets").mkdir()
    run("rules", "xslt", rules, "-o", tmp_path / "sheets")
    assert "the rule is one of list pages" in (tmp_path / "sheets" / "c1.xsl").read_text("utf-8")


def test_labels_of_records_need_a_schema_only_if_pages_are_labeled_too(
    run: Run, lists: Path, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"page": "a", "labels": {"name": "b"}, "records": [{"name": "c"}]}')
    done = run("learn", lists, "--labels", labels, "-o", tmp_path / "rules.json")
    assert done.returncode == 2
    assert "Missing option '--schema'." in done.stderr


def test_a_picture_of_the_first_page(run: Run, lists: Path, tmp_path: Path) -> None:
    done = run("records", lists, "-o", tmp_path / "rows.csv", "--show", tmp_path / "page.png")
    assert done.returncode == 0, done.stderr
    assert f" is drawn in {tmp_path / 'page.png'}." in done.stderr
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    wrong = run("records", lists, "-o", tmp_path / "rows.csv", "--show", tmp_path / "page.odd")
    assert wrong.returncode == 2
    assert "page.odd: cannot draw" in wrong.stderr


def test_lists_that_go_on_are_told(run: Run, tmp_path: Path) -> None:
    items = "".join(f"<li><h3>Tea {n}</h3><p>from hill {n * n}, {n} euro</p></li>" for n in range(5))
    (tmp_path / "1.html").write_text(f"<ul>{items}</ul><a href='http://tea.example/?page=2'>Next</a>")
    assert "More of 1 list: http://tea.example/?page=2" in run("records", tmp_path / "1.html").stderr


def test_columns_named_by_knowledge(run: Run, site: Site, tmp_path: Path) -> None:
    pages = [page for page in site.pages if page.id in site.rows][:2]
    folder, labels, knowledge = tmp_path / "pages", tmp_path / "labels.jsonl", tmp_path / "knowledge"
    folder.mkdir()
    for page in pages:
        (folder / Path(page.id).name).write_bytes(page.html)
    first = Path(pages[0].id).name
    labels.write_text(json.dumps({"page": first, "records": site.rows[pages[0].id]}), "utf-8")
    trained = run(
        *("train", f"{folder}:{labels}", "--schema", site.vertical, "--method", "hcrf", "-o", knowledge)
    )
    assert trained.returncode == 0, trained.stderr
    done = run("records", folder, "--knowledge", knowledge)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    second = [row["name"] for row in rows if row["page"] == Path(pages[1].id).name]
    assert second == [row["name"] for row in site.rows[pages[1].id]]
    wrong = run("records", folder, "--knowledge", tmp_path / "nowhere")
    assert wrong.returncode == 2
    assert "cannot read the knowledge" in wrong.stderr


def test_columns_of_a_schema(run: Run, lists: Path, site: Site) -> None:
    done = run("records", lists, "--schema", site.vertical)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == names(site)
    assert {*site.schema.attributes} < {*rows[0]}


TEAS = [
    f"<li><h3><a href='/tea/{n}'>Tea {n}</a></h3><p>from hill {n * n}</p><b>${n}.50</b></li>"
    for n in range(24)
]


def serve_teas(server: Server) -> None:
    """Three pages of a list of teas, and the page of each tea."""
    for number in range(3):
        further = f"<a rel='next' href='/teas/{number + 1}'>Next</a>" if number < 2 else ""
        body = f"<h1>Teas</h1><ul>{''.join(TEAS[8 * number : 8 * number + 8])}</ul>{further}"
        server.answers[f"/teas/{number}"] = (200, HTML, body.encode())
    for number in range(24):
        server.answers[f"/tea/{number}"] = (200, HTML, f"<h1>Tea {number}</h1><p>Good.</p>".encode())


def test_lists_are_followed_and_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PageStore", partial(sources.PageStore, politeness=QUICK))
    output, keep = tmp_path / "rows.csv", tmp_path / "crawl"
    with running_web_server() as server:
        serve_teas(server)
        start = f"{server.url}/teas/0"
        for pages, rows in ((1, 8), (2, 16), (9, 24)):
            done = run("records", start, "--pages", str(pages), "--keep", keep, "-o", output)
            assert done.returncode == 0, done.stderr
            with output.open(newline="") as file:
                table = list(csv.DictReader(file))
            assert [row["title"] for row in table] == [f"Tea {number}" for number in range(rows)]
            assert [row["url"] for row in table] == [f"{server.url}/tea/{number}" for number in range(rows)]
        assert {server.asked[f"/teas/{number}"] for number in range(3)} == {1}
        done = run("records", start, "--pages", "2", "--keep", keep, "--follow", "url", "-o", output)
        assert "16 pages of rows kept." in done.stderr
        wrong = run("records", start, "--keep", keep, "--follow", "hill", "-o", output)
    assert wrong.returncode == 2
    assert "no row has an address in a column 'hill'; the columns are url, title" in wrong.stderr
    pages = list(read_pages(keep / "details.jsonl"))
    assert [page.id for page in pages] == [f"{server.url}/teas/{n // 8}#{n % 8 + 1}" for n in range(16)]
    assert pages[9].tree.findtext(".//h1") == "Tea 9"


def test_what_cannot_be_followed_is_told(run: Run, lists: Path) -> None:
    for arguments, said in (
        ((lists, "--follow", "url"), "--follow needs --keep"),
        (("http://tea.example/", "--render"), "--render is for a text file of URLs"),
    ):
        wrong = run("records", *arguments)
        assert wrong.returncode == 2
        assert said in wrong.stderr
    private = run("records", "http://127.0.0.1:9/")
    assert private.returncode == 1
    assert "host is at a private address" in private.stderr
