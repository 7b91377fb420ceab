"""The commands of the first minutes: try, schema, and what learn says if it learned nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Run
from untemplate import Schema
from untemplate.output.quality import Score

PAGE = "<h1>Chez Nous</h1><p>Tel: <b>555-0100</b></p><p class=price>$4.00</p>"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return path


def test_try(run: Run, page: Path) -> None:
    done = run("try", page, "name=Chez Nous", "price=$4.00")
    assert done.returncode == 0, done.stderr
    assert "Chez Nous" in done.stdout
    assert "the text in a" in done.stdout
    result = json.loads(run("try", page, "phone=555-0100", "--json").stdout)
    assert result["phone"]["value"] == "555-0100"
    assert result["phone"]["xpath"].startswith(("(", "/"))


def test_try_without_a_value_or_page(run: Run, page: Path) -> None:
    assert "expected a name and a value" in run("try", page, "name").stderr
    assert run("try", page, "name=nowhere on it").returncode == 2
    assert "no such file or folder" in run("try", "missing.html", "name=x").stderr


def test_schemas_are_listed_and_shown(run: Run) -> None:
    listed = run("schema", "list")
    for name in Schema.ready_made():
        assert name in listed.stdout
    shown = run("schema", "show", "book")
    assert "isbn_13" in shown.stdout
    assert "mandatory" in shown.stdout
    assert json.loads(run("schema", "show", "book", "--json").stdout)["name"] == "book"
    assert json.loads(run("schema", "list", "--json").stdout)["book"][0] == "title"


def test_a_new_schema(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tea.toml"
    done = run("schema", "new", "tea", "name", "price:price", "two words", "-o", path)
    assert done.returncode == 0, done.stderr
    schema = Schema.load(path)
    assert {name: one.type for name, one in schema.attributes.items()} == {
        "name": "text",
        "price": "price",
        "two words": "text",
    }
    assert schema.attributes["name"].mandatory
    assert "exists already" in run("schema", "new", "tea", "name", "-o", path).stderr
    assert "there is no type 'prize'" in run("schema", "new", "tea", "price:prize").stderr


def test_learning_nothing_is_an_error(run: Run, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.html").write_text("<div>" * 3000 + "deep")
    (pages / "b.html").write_text("<p>x")
    rules = tmp_path / "rules.json"
    done = run("learn", pages, "--schema", "book", "--example", "a.html", "title=deep", "-o", rules)
    assert done.returncode == 2
    assert "nothing was learned" in done.stderr
    assert not rules.exists()


def test_no_page_to_label_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<div>" * 3000 + "deep")
    done = run("sample", tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"untemplate: {tmp_path}: no page can be read, such as a.html: page is nested deeper than 2,000 elements\n"
    )


def test_the_precision_of_nothing_is_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    from untemplate.cli.rules import show_scores

    show_scores("Scores", {"found": Score(1, 1, 1), "never": Score(0, 0, 3)})
    lines = capsys.readouterr().out.splitlines()
    never = next(line for line in lines if "never" in line)
    assert never.split()[1:4] == ["–", "0.000", "0.000"]
    mean = next(line for line in lines if "mean" in line)
    assert mean.split()[2:5] == ["1.000", "0.500", "0.500"]
