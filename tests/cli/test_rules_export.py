"""untemplate rules export."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Run
from tests.labeling.book_pages import BOOKS, SCHEMA, book_pages
from untemplate import Label, Rules, learn
from untemplate.rules.exporting import TARGETS


def test_rules_for_other_tools(run: Run, tmp_path: Path) -> None:
    labels = [Label("0.html", name, value) for name, value in zip(SCHEMA.attributes, BOOKS[0], strict=True)]
    rules = learn(book_pages(), labels, SCHEMA)
    rules.save(tmp_path / "rules.json")
    for target, ending in TARGETS.items():
        done = run("rules", "export", tmp_path / "rules.json", "--to", target, "-o", tmp_path / target)
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{tmp_path / target / 'c1'}{ending}\n"
        assert "c1: price without the test that the text is of type price\n" in done.stderr
    assert run("rules", "export", tmp_path / "rules.json", "--to", "css").returncode == 2
    copied = run("rules", "export", tmp_path / "rules.json")
    assert Rules.loads(copied.stdout) == rules
