"""Documents do not drift: commands as they are, links that lead somewhere, examples that run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import docs
from untemplate.demo import make_site, write_site


def test_commands_page_is_up_to_date() -> None:
    assert docs.COMMANDS.read_text("utf-8") == docs.commands_page(), "run: make docs"


def test_links_lead_somewhere() -> None:
    assert docs.broken_links() == []


def test_the_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_site(make_site("restaurant", seed=1, pages=40), tmp_path / "pages")
    [example] = re.findall(
        r"^```python\n(.*?)^```$", (docs.ROOT / "README.md").read_text("utf-8"), re.S | re.M
    )
    exec(compile(example, "README.md", "exec"), {})
    assert "label " in capsys.readouterr().out
