"""Chromium is found, or the message says what to install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from untemplate import InputError, MissingExtra
from untemplate.browser import find_chromium, require_chromium


def test_chromium_is_found_by_its_usual_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium() is None
    program = tmp_path / "google-chrome"
    program.touch(mode=0o755)
    assert find_chromium() == str(program)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("playwright")
    assert require_chromium("Rendering", "/opt/chromium") == "/opt/chromium"
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="Install it: apt-get install chromium"):
        require_chromium("Rendering")
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    with pytest.raises(MissingExtra, match=r"Rendering is not installed.*untemplate\[render\]"):
        require_chromium("Rendering")
