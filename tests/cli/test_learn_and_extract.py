"""learn, extract and rules, as a user meets them."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lxml import etree

from tests.cli.running import Run
from untemplate import Label, Reason, Rules, learn, read_labels, read_pages, write_labels
from untemplate.demo import Site

LABELED = 3
ATTRIBUTES = ["name", "address", "phone", "cuisine"]


@pytest.fixture(scope="session")
def labels(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The labels of a few pages."""
    pages = list(site.truth)[:LABELED]
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    write_labels([label for label in site.labels if label.page in pages], path)
    return path


@pytest.fixture(scope="session")
def rules(site: Site, labels: Path) -> Path:
    path = labels.with_name("rules.json")
    learn(site.pages, read_labels(labels), site.schema).save(path)
    return path


def example(site: Site, page: str) -> list[str]:
    values = [f"{name}={text}" for name, texts in site.truth[page].items() for text in texts or [""]]
    return ["--example", page, *values]


def test_learn_ends_with_a_table(run: Run, folder: Path, labels: Path, site: Site, tmp_path: Path) -> None:
    done = run("learn", folder, "--schema", "restaurant", "--labels", labels, "-o", tmp_path / "rules.json")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Cluster c1: http://www.zenguide2.example/")
    assert lines[2].split() == ["attribute", "coverage", "label", "next", "rule"]
    examples = next(number for number, line in enumerate(lines) if line == "Values on unlabeled pages")
    rows = [
        line.split()
        for line in lines[4:examples]
        if line.startswith(tuple(f" {name} " for name in ATTRIBUTES))
    ]
    assert [row[0] for row in rows] == ATTRIBUTES
    assert all(row[1].endswith("%") and row[3] in ("the", "all") for row in rows)
    assert lines[examples + 2].split() == ["attribute", "sure", "examples"]
    values = lines[examples + 4 : examples + 4 + len(ATTRIBUTES)]
    assert [line.split()[0] for line in values] == ATTRIBUTES
    assert all(re.match(r" \w+ +\d+% +\S.* \| \S", line) and len(line) <= 100 for line in values)
    assert "No rules for c" in done.stdout
    assert done.stderr == f"Rules are in {tmp_path / 'rules.json'}.\n"
    assert Rules.load(tmp_path / "rules.json").wrappers[0].rules.keys() == site.schema.attributes.keys()


def test_learn_as_json(run: Run, folder: Path, labels: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    done = run("learn", folder, "--schema", "restaurant", "--labels", labels, "-o", rules, "--json")
    result = json.loads(done.stdout)
    assert set(result) == {"clusters", "borrowed", "needs_labels", "problems"}
    first = result["clusters"]["c1"][0]
    assert first["attribute"] == "name"
    assert first["rule"].startswith("the embedded value `meta og:title`")
    assert "; else the text in" in first["rule"]
    assert 0 < first["coverage"] <= 1
    assert 0 < first["confidence"] <= 1
    assert first["examples"][0].keys() == {"page", "texts", "confidence"}


def test_learn_without_labels(run: Run, folder: Path, site: Site, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    done = run("learn", folder, "--schema", "restaurant", "-o", rules)
    assert done.returncode in (0, 1)
    assert "No labels: the embedded data of the pages teach name." in done.stderr
    assert "(taught by embedded data)" in done.stdout
    untaught = re.search(r"A person has to label (.+?):", done.stderr)
    for name in untaught[1].split(", ") if untaught else []:
        assert re.search(rf"^ {name} +any +no rule: not in the embedded data", done.stdout, re.MULTILINE)
    records = {record.page_id: record for record in Rules.load(rules).extract(site.pages)}
    right = [records[page]["name"] == truth["name"][0] for page, truth in site.truth.items()]
    assert sum(right) >= 0.9 * len(right)


def test_extract_learns_first(run: Run, folder: Path, site: Site, tmp_path: Path) -> None:
    rules, records = tmp_path / "rules.json", tmp_path / "records.csv"
    done = run("extract", folder, "--schema", "restaurant", "-o", records, "--save-rules", rules)
    assert done.returncode == 0, done.stderr
    assert "No labels: the embedded data of the pages teach name." in done.stderr
    with records.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(site.pages)
    names = {row["page"]: row["name"] for row in rows}
    extracted = {record.page_id: record["name"] or "" for record in Rules.load(rules).extract(site.pages)}
    assert names == extracted


def test_learn_from_examples(run: Run, folder: Path, site: Site, tmp_path: Path) -> None:
    first, second = list(site.truth)[:2]
    url = next(page.url for page in site.pages if page.id == second)
    by_url = example(site, second)
    by_url[1] = url
    rules = tmp_path / "rules.json"
    done = run("learn", folder, *example(site, first), *by_url, "--schema", "restaurant", "-o", rules)
    assert done.returncode == 0, done.stderr
    record = next(record for record in Rules.load(rules).extract(site.pages) if record.page_id == first)
    assert record["name"] == site.truth[first]["name"][0]


def test_an_example_ends_where_the_next_argument_begins(
    run: Run, folder: Path, site: Site, tmp_path: Path
) -> None:
    first = next(iter(site.truth))
    rules = tmp_path / "rules.json"
    done = run("learn", "--schema", "restaurant", "-o", rules, *example(site, first), folder)
    assert done.returncode == 0, done.stderr


def test_a_label_that_is_not_on_its_page(run: Run, folder: Path, site: Site, tmp_path: Path) -> None:
    page = next(iter(site.truth))
    name = site.truth[page]["name"][0]
    wrong = name[:-1] + "#"
    labels = [Label(page, "name", wrong), Label(page, "phone", None), Label(page, "shoe_size", "44")]
    write_labels([*labels, Label("nowhere.html", "name", "x")], tmp_path / "labels.jsonl")
    rules = tmp_path / "rules.json"
    done = run("learn", folder, "--schema", "restaurant", "--labels", tmp_path / "labels.jsonl", "-o", rules)
    assert done.returncode == 2
    assert not rules.exists()
    assert f"name: {page}: {wrong!r} is not on the page; the closest text is" in done.stderr
    assert "shoe_size" in done.stderr
    assert "nowhere.html: labeled, but not among the pages" in done.stderr
    assert "nothing was learned from the labels, so there are no rules" in done.stderr


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_extract_writes_records(
    run: Run, folder: Path, rules: Path, site: Site, tmp_path: Path, ending: str
) -> None:
    out = tmp_path / f"records.{ending}"
    done = run("extract", folder, "--rules", rules, "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    match ending:
        case "jsonl":
            records = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        case "csv":
            with out.open(encoding="utf-8", newline="") as lines:
                records = list(csv.DictReader(lines))
        case _:
            records = pq.read_table(out).to_pylist()
    assert [record["page"] for record in records] == [page.id for page in site.pages]
    right = sum(
        record["name"] == site.truth[record["page"]]["name"][0] for record in records if record["name"]
    )
    assert right >= 0.9 * len(site.truth)


def test_extract_tells_what_came_out(run: Run, folder: Path, rules: Path, site: Site) -> None:
    done = run("extract", folder, "--rules", rules)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) == len(site.pages)
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"{len(site.pages)} records; rules match ")
    named = sum(record["name"] is not None for record in records)
    assert next(line.split() for line in lines if line.startswith(" name "))[1] == str(named)
    assert any(line.endswith(" pages: this kind of page needs labels") for line in lines)


def test_extract_counts_what_is_doubtful_or_dropped(
    run: Run, folder: Path, rules: Path, site: Site, tmp_path: Path
) -> None:
    output = tmp_path / "records.csv"
    done = run("extract", folder, "--rules", rules, "-o", output, "--confidence", "--min-confidence", "1")
    heading = next(line for line in done.stderr.splitlines() if "attribute" in line)
    assert heading.split() == ["attribute", "records", "share", "doubtful", "dropped"]
    dropped = re.search(r"([\d,]+) values? dropped: less sure than --min-confidence\.", done.stderr)
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    reasons = [reason for row in rows for reason in json.loads(row["missing"]).values()]
    assert dropped
    assert int(dropped[1]) == reasons.count(Reason.TOO_DOUBTFUL) > 0
    sure = [row[f"{name}.confidence"] for row in rows for name in site.schema.attributes if row[name]]
    assert set(sure) <= {"1.0", ""}


def test_too_many_failed_pages(run: Run, rules: Path, tmp_path: Path) -> None:
    lines = [json.dumps({"url": f"http://other.example/{n}", "html": f"<p>{n}</p>"}) for n in range(9)]
    (tmp_path / "pages.jsonl").write_text("\n".join([*lines, "{broken"]) + "\n")
    done = run("extract", tmp_path / "pages.jsonl", "--rules", rules)
    assert done.returncode == 1
    assert "9 pages: no rules match this page" in done.stderr
    assert "100% of the pages failed, more than 50%." in done.stderr
    assert "1 page skipped" in done.stderr
    assert run("extract", tmp_path / "pages.jsonl", "--rules", rules, "--max-failed", "1").returncode == 0


def test_rules_are_explained(run: Run, rules: Path, site: Site) -> None:
    done = run("rules", "show", rules)
    assert done.returncode == 0
    for name in site.schema.attributes:
        assert re.search(rf"\n  {name}: (the|all) ", done.stdout)
    assert "%  the text in a" in done.stdout
    assert "             //" in done.stdout
    assert "confirmed by" in done.stdout
    assert re.search(
        r"\n  name: the embedded value `meta og:title`, if the page shows it; else the text in", done.stdout
    )
    assert re.search(r"\n    embedded data\n    1\. +\d+%  the embedded value `meta og:title`\n", done.stdout)
    result = json.loads(run("rules", "show", rules, "--json").stdout)
    name = result[0]["rules"]["name"]
    assert set(name) == {"words", "selectors", "committee", "embedded"}
    assert set(name["selectors"][0]) == {"words", "xpath", "support"}
    assert set(name["embedded"][0]) == {"words", "path", "support"}


def test_expressions_for_other_tools(run: Run, rules: Path, site: Site) -> None:
    done = run("rules", "show", rules, "--xpath")
    assert done.returncode == 0
    assert "$static" not in done.stdout
    assert re.search(r"\n  name\n    \(?/.+\n    without ", done.stdout)
    contents = json.loads(run("rules", "show", rules, "--css", "--json").stdout)
    portable = contents[0]["rules"]["name"]
    assert set(portable) == {"expression", "language", "node", "left_out"}
    assert portable["language"] == "css"


def test_stylesheets(run: Run, rules: Path, folder: Path, tmp_path: Path) -> None:
    done = run("rules", "xslt", rules, "-o", tmp_path / "deep" / "sheets")
    assert done.returncode == 0
    sheets = [Path(line) for line in done.stdout.splitlines()]
    assert sheets[0] == tmp_path / "deep" / "sheets" / "c1.xsl"
    assert "no stylesheet, its pages need labels" in done.stderr
    assert "name: its embedded data is not read: only what the page shows" in sheets[0].read_text("utf-8")
    if (program := shutil.which("xsltproc")) is None:
        pytest.skip("needs xsltproc: apt-get install xsltproc")
    record = next(
        record for record in Rules.load(rules).extract(read_pages(folder)) if record.cluster == "c1"
    )
    command = [program, "--html", sheets[0], folder / record.page_id]
    applied = subprocess.run(command, capture_output=True, timeout=600, check=True)
    assert etree.fromstring(applied.stdout).findtext("name") == record["name"]


def test_rules_against_labels(
    run: Run, rules: Path, folder: Path, labels: Path, site: Site, tmp_path: Path
) -> None:
    done = run("rules", "test", rules, folder, "--labels", labels, "-v")
    assert done.returncode == 0, done.stdout
    header = next(line for line in done.stdout.splitlines() if "precision" in line)
    assert header.split() == ["attribute", "precision", "recall", "F1", "hits", "extracted", "true"]
    assert "Missed" not in done.stdout

    page = next(iter(site.truth))
    write_labels([Label(page, "name", "Not this one")], tmp_path / "wrong.jsonl")
    done = run("rules", "test", rules, folder, "--labels", tmp_path / "wrong.jsonl", "-v")
    assert done.returncode == 1
    assert "Missed" in done.stdout
    assert "Not this one" in done.stdout
    result = json.loads(
        run("rules", "test", rules, folder, "--labels", tmp_path / "wrong.jsonl", "--json").stdout
    )
    assert result["name"]["f1"] == 0
    assert result["name"]["misses"][0]["true"] == ["Not this one"]


FEW = ["--schema", "restaurant", "--example", "0000.html"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["learn", "{site}", "-o", "r"], "untemplate learn: Missing option '--schema'."),
        (["learn", "{site}", "--schema", "restaurant"], "untemplate learn: Missing option '-o'"),
        (["learn", "{site}", "--schema", "nope", "-o", "r"], "untemplate: nope: no such schema"),
        (
            ["learn", "{site}", "--schema", "{wine}", "-o", "r"],
            "untemplate: the pages show no embedded data (JSON-LD, microdata, Open Graph) that schema 'wine'",
        ),
        (
            ["extract", "{site}", "--rules", "{rules}", "--schema", "restaurant"],
            "untemplate extract: --schema learns new rules",
        ),
        (
            ["extract", "{site}", "--rules", "{rules}", "--save-rules", "r"],
            "untemplate extract: --save-rules needs --schema",
        ),
        (["learn", "{site}", *FEW, "-o", "r"], "untemplate learn: --example 0000.html: needs values"),
        (
            ["learn", "{site}", *FEW, "shoe=1", "-o", "r"],
            "untemplate learn: --example 0000.html: 'shoe' is none",
        ),
        (
            ["learn", "{site}", *FEW, "name=x", "-o", "no/r"],
            "untemplate: no/r: cannot write: there is no folder",
        ),
        (["learn", "nowhere", *FEW, "name=x", "-o", "r"], "untemplate: nowhere: no such file or folder"),
        (
            ["learn", "{site}", "--schema", "restaurant", "--example", "http://no/", "name=x", "-o", "r"],
            "untemplate: none of the labeled pages is among the pages given",
        ),
        (
            ["learn", "{site}", "--schema", "restaurant", "--labels", "no.jsonl", "-o", "r"],
            "untemplate: no.jsonl: cannot read the labels",
        ),
        (["extract", "{site}"], "untemplate extract: Needs rules: give --rules, or"),
        (["extract", "{site}", "--rules", "no.json"], "untemplate: no.json: "),
        (["extract", "{site}", "--rules", "{broken}"], "untemplate: "),
        (
            ["extract", "{site}", "--rules", "{rules}", "-o", "r.xls"],
            "untemplate: r.xls: unknown format",
        ),
        (["extract", "nowhere", "--rules", "{rules}"], "untemplate: nowhere: no such file or folder"),
        (
            ["extract", "{site}", "--rules", "{rules}", "--max-failed", "7"],
            "untemplate extract: Invalid value for '--max-failed'",
        ),
        (["rules", "nope"], "untemplate rules: No such command 'nope'."),
        (["rules", "show"], "untemplate rules show: Missing argument 'RULES'."),
        (["rules", "show", "{broken}"], "untemplate: "),
        (["rules", "xslt", "{rules}"], "untemplate rules xslt: Missing option '-o'"),
        (["rules", "xslt", "{rules}", "-o", "{rules}/x"], "untemplate: "),
        (["rules", "test", "{rules}", "{site}"], "untemplate rules test: Needs labels"),
        (["rules", "test", "{rules}", "{site}", "--labels", "{other}"], "untemplate: "),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(
    run: Run, rules: Path, folder: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "broken.json").write_text('{"untemplate": 99')
    write_labels([Label("elsewhere", "name", "x")], tmp_path / "other.jsonl")
    places = {
        "site": folder,
        "rules": rules,
        "broken": tmp_path / "broken.json",
        "other": tmp_path / "other.jsonl",
        "wine": tmp_path / "wine.toml",
    }
    places["wine"].write_text('name = "wine"\n[attributes.grape]\n')
    done = run(*(argument.format(**places) for argument in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said), done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_from_a_page_acts_on_the_terminal(run: Run, tmp_path: Path) -> None:
    html = "<h1 class='a\x1b[2J'>Caf\x07é {}</h1><p>\x1b[31mred {}</p>"
    rows = [{"url": f"http://a/{n}", "html": html.format(n, n)} for n in range(6)]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rules = tmp_path / "rules.json"
    source = tmp_path / "pages.jsonl"
    example = ("--example", "http://a/0", "name=red 0", "phone=\x1b[2J1")
    done = run("learn", source, "--schema", "restaurant", *example, "-o", rules)
    assert "\x1b" not in done.stdout + done.stderr
    assert "\x1b" not in run("rules", "show", rules).stdout
