"""A made-up site in a catalog, opened, and a client of the server over it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from untemplate.catalog import Catalog
from untemplate.web.server import make_app
from untemplate.web.workspace import OpenSite, Workspace


@pytest.fixture
def workspace(new_catalog: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace over a catalog that holds the made-up site and no label yet."""
    copy = shutil.copy(new_catalog, tmp_path / "catalog.db")
    with Catalog.open(copy) as catalog:
        workspace = Workspace(catalog, "me", "http://127.0.0.1:1/secret")
        yield workspace
        workspace.jobs.close()


@pytest.fixture
def opened(workspace: Workspace) -> OpenSite:
    return workspace.site("guide")


@pytest.fixture
def client(workspace: Workspace) -> TestClient:
    """A client of the application, past its guard."""
    return TestClient(make_app(workspace))
