"""The profile of extraction names functions that exist."""

from __future__ import annotations

from pathlib import Path

import untemplate
from benchmarks.measure import profile


def test_all_parts_are_functions() -> None:
    files = [*Path(untemplate.__file__).parent.rglob("*.py"), Path(profile.__file__)]
    code = "\n".join(path.read_text("utf-8") for path in files)
    names = [part.rpartition(".")[2] for part in profile.PARTS]
    assert [name for name in names if f"def {name}(" not in code] == []
