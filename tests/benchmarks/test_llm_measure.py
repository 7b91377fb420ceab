"""measure.llm runs from the question to the table, with a stand-in that knows the truth of a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.data.swde import chosen_sites
from benchmarks.measure import llm
from tests.labeling.stand_in_model import TruthfulModel, serve_model


def test_a_site_of_swde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    [site] = chosen_sites(["restaurant"], ["zagat"], 10)
    values: dict[str, list[str]] = {}
    for truth in site.truth().values():
        for name, texts in truth.items():
            values.setdefault(name, []).extend(texts)
    with serve_model(TruthfulModel(values)) as server:
        line = ["--model", "small", "--endpoint", server.url, "--sites", "zagat", "--every", "10"]
        assert llm.main([*line, "--price", "1", "2"]) == 0
        assert 1 <= len(server.requests) <= 8
    printed = capsys.readouterr().out
    assert "restaurant zagat" in printed


def test_nothing_is_measured_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert llm.main([]) == 0
    assert "skipped" in capsys.readouterr().out
