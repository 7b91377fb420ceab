"""A server to fetch from, and a file for a list of its URLs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources.web_server import Server, running_web_server


@pytest.fixture
def server() -> Iterator[Server]:
    with running_web_server() as server:
        yield server


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    return tmp_path / "urls.txt"
