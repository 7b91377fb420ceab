"""A way to run commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Done, Run
from untemplate.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line: its exit code, and what it printed."""

    def run(*arguments: str | Path) -> Done:
        return Done(main([str(argument) for argument in arguments]), *capsys.readouterr())

    return run
