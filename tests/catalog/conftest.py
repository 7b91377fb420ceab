"""Both kinds of catalogs; whatever is tested with one is tested with the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from server import programs, serving, url_of_new_schema

from untemplate import Catalog, Rules, learn
from untemplate.demo import Site, make_site

_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Path]:
    """The socket of a PostgreSQL server."""
    found = programs()
    if found is None:
        pytest.skip("PostgreSQL is not installed: sudo apt-get install postgresql")
    with serving(found) as folder:
        yield folder


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new catalog may be."""
    if request.param == "sqlite":
        return str(tmp_path / "untemplate.db")
    return url_of_new_schema(request.getfixturevalue("postgres"), f"schema{next(_numbers)}")


@pytest.fixture
def catalog(where: str) -> Iterator[Catalog]:
    with Catalog.open(where) as catalog:
        yield catalog


@pytest.fixture(scope="session")
def site() -> Site:
    return make_site("book", seed=4, pages=30)


@pytest.fixture(scope="session")
def rules(site: Site) -> Rules:
    labelled = list(site.truth)[:2]
    return learn(site.pages, [label for label in site.labels if label.page in labelled], site.schema)
