"""A made-up site on disk, and a way to run commands on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Done, Run

from untemplate.cli import main
from untemplate.demo import Site, make_site, write_site


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line: its exit code, and what it printed."""

    def run(*arguments: str | Path) -> Done:
        return Done(main([str(argument) for argument in arguments]), *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def site() -> Site:
    return make_site("restaurant", seed=2, pages=60)


@pytest.fixture(scope="session")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site")
    write_site(site, path)
    return path
