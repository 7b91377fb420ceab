"""Both kinds of catalogs; whatever is tested with one is tested with the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.catalog.postgres_server import programs, serving, url_of_new_schema
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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives places for new catalogs, of one of the two kinds."""
    if request.param == "sqlite":
        return lambda: str(tmp_path / f"{next(_numbers)}.db")
    server = request.getfixturevalue("postgres")
    return lambda: url_of_new_schema(server, f"schema{next(_numbers)}")


@pytest.fixture
def where(new_place: Callable[[], str]) -> str:
    """Where a new catalog may be."""
    return new_place()


@pytest.fixture
def catalog(where: str) -> Iterator[Catalog]:
    with Catalog.open(where) as catalog:
        yield catalog


@pytest.fixture(scope="session")
def site() -> Site:
    return make_site("book", seed=4, pages=30)


@pytest.fixture(scope="session")
def rules(site: Site) -> Rules:
    labeled = list(site.truth)[:2]
    return learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema)
