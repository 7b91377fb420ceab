"""untemplate show."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Run

SITE = Path(__file__).parents[1] / "sites" / "players" / "pages"


def test_the_text_of_a_page(run: Run) -> None:
    done = run("show", SITE, "--page", "p3.html")
    assert done.returncode == 0
    assert done.stdout.strip()
    assert "[" not in done.stdout


def test_numbered_nodes(run: Run) -> None:
    done = run("show", SITE, "--nodes")
    assert done.returncode == 0
    assert "div.player [3] Al Rowe" in done.stdout
    assert "tokens." in done.stderr
    content = json.loads(run("show", SITE, "--nodes", "--json").stdout)
    assert content["page"] == "p0.html"
    first = content["nodes"][0]
    assert f"[{first['number']}] {first['text']}" in done.stdout


def test_no_such_page(run: Run) -> None:
    done = run("show", SITE, "--page", "x.html")
    assert done.returncode == 2
    assert done.stderr == f"untemplate: {SITE}: no page x.html\n"
