"""The option --render: pages of URL lists as their scripts make them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cli.running import Run
from tests.sources.web_server import HTML, Server, running_web_server, write
from untemplate import sources
from untemplate.browser import find_chromium
from untemplate.sources import Politeness

NAMES = ("Chez Nous", "Grill", "Bistro")
PAGE = "<body></body><script>document.body.innerHTML = '<h1>{}</h1><p>Tel: <b>555-010{}</b>'</script>"


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Server]]:
    """A list of URLs whose pages are empty without scripts, and their server."""
    politeness = Politeness(delay=0.01, timeout=20, private=True)
    monkeypatch.setattr(sources, "read_pages", partial(sources.read_pages, politeness=politeness))
    monkeypatch.setattr(sources, "fetch_pages", partial(sources.fetch_pages, politeness=politeness))
    with running_web_server() as server:
        for number, name in enumerate(NAMES):
            server.answers[f"/{number}"] = (200, HTML, PAGE.format(name, number).encode())
        yield write(tmp_path / "urls.txt", server, *(f"/{number}" for number in range(len(NAMES)))), server


@pytest.mark.browser
@pytest.mark.skipif(not find_chromium(), reason="no Chromium: apt-get install chromium")
def test_learn_extract_and_watch(run: Run, scripted: tuple[Path, Server], tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="Playwright is not installed: pip install 'untemplate[render]'")
    urls, server = scripted
    rules, records = tmp_path / "rules.json", tmp_path / "records.jsonl"
    example = ("--example", f"{server.url}/0", "name=Chez Nous", "phone=555-0100")
    assert run("learn", urls, "--schema", "restaurant", *example, "-o", rules).returncode != 0
    learned = run("learn", urls, "--render", "--schema", "restaurant", *example, "-o", rules)
    assert learned.returncode == 0, learned.stderr
    done = run("extract", urls, "--render", "--rules", rules, "-o", records)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert [record["name"] for record in found] == list(NAMES)
    assert [record["phone"] for record in found] == [f"555-010{number}" for number in range(len(NAMES))]
    assert run("watch", "--render", "--rules", rules).returncode == 0
    assert run("watch", "--rules", rules).returncode == 1


def test_other_sources_are_not_rendered(run: Run, folder: Path) -> None:
    done = run("cluster", folder, "--render")
    assert done.returncode == 2
    assert "only pages of a text file of URLs can be rendered" in done.stderr


def test_spark_does_not_render(run: Run, folder: Path, tmp_path: Path) -> None:
    options = ("--rules", tmp_path / "rules.json", "--engine", "spark", "--render")
    done = run("extract", folder, *options)
    assert done.returncode == 2
    assert "--render needs --engine local" in done.stderr
