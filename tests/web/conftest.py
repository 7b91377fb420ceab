"""A made-up site in a catalog, opened, and a client of the server over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.demo import Site
from untemplate.sources import read_pages
from untemplate.web import take_in
from untemplate.web.app import make_app
from untemplate.web.sites import Desk, OpenSite


@pytest.fixture
def desk(site: Site, folder: Path, tmp_path: Path) -> Iterator[Desk]:
    """A desk over a catalog that holds the made-up site and no label yet."""
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        pages = read_pages(folder)
        take_in(catalog, "guide", cluster(pages), site.schema, pages, {})
        desk = Desk(catalog, "me", "http://127.0.0.1:1/secret")
        yield desk
        desk.jobs.close()


@pytest.fixture
def opened(desk: Desk) -> OpenSite:
    return desk.site("guide")


@pytest.fixture
def client(desk: Desk) -> TestClient:
    """A client of the application, past its guard."""
    return TestClient(make_app(desk))
