"""The examples in docstrings run, and show what they promise."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import untemplate

PACKAGE = Path(untemplate.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text("utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_examples_in_docstrings(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    failed, attempted = doctest.testmod(module)
    assert attempted
    assert not failed
