"""What several tests need."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from untemplate.demo import Site

# Set before anything imports NumPy, whose threads would compete with the workers of the tests: training a CRF took
# ten times the CPU time with them on two busy cores.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A shell ignores interrupts in the background, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Some machines forbid Python to keep compiled modules. Then each of the hundreds of processes that tests start would
# compile the library again: `untemplate learn --help` took 0.9 s of CPU time instead of 0.65.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# What a test needs by where it is or by a fixture it uses; `make check` leaves these tests out.
MARKED_PATHS = {
    "e2e/": "browser",
    "layout/test_chromium.py": "browser",
    "sources/test_render.py": "browser",
    "engines/test_spark.py": "spark",
    "benchmarks/": "data",
    "clustering/test_swde.py": "data",
    "agents/": "slow",
    "catalog/test_killing.py": "slow",
    "cli/test_language_models.py": "slow",
    "cli/test_month_of_a_fleet.py": "slow",
    "cli/test_records_command.py": "slow",
    "cli/test_train_and_label.py": "slow",
    "cli/test_watch_and_heal.py": "slow",
    "demo/": "slow",
    "e2e/test_first_hour.py": "slow",
    "engines/": "slow",
    "labeling/anchors/test_anchors_model.py": "slow",
    "labeling/hcrf/": "slow",
    "labeling/test_endpoint.py": "slow",
    "labeling/test_knowledge.py": "slow",
    "learning/test_large_pages.py": "slow",
    "learning/test_list_rules.py": "slow",
    "lists/test_hcrf": "slow",
    "lists/test_list_page.py": "slow",
    "rules/test_parsed_page.py": "slow",
    "rules/test_xslt.py": "slow",
    "test_docs.py": "slow",
    "test_notebook.py": "slow",
    "test_scrapy.py": "slow",
    "watching/test_healing.py": "slow",
    "web/test_fuzzing.py": "slow",
}
MARKED_FIXTURES = {"real_pages": "data", "postgres": "postgres"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need a browser, Spark, PostgreSQL or the data sets."""
    tests = Path(__file__).parent
    for item in items:
        path = item.path.relative_to(tests).as_posix()
        for prefix, mark in MARKED_PATHS.items():
            if path.startswith(prefix):
                item.add_marker(mark)
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in MARKED_FIXTURES:
                item.add_marker(MARKED_FIXTURES[fixture])


@pytest.fixture(scope="session")
def real_pages() -> list[Path]:
    """One page of each SWDE site; skips where the data does not exist."""
    from benchmarks.data import swde

    try:
        sites = [site for vertical in swde.VERTICALS for site in swde.sites(vertical)]
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return [sorted(site.folder.glob("*.htm"))[0] for site in sites]


@pytest.fixture(scope="session")
def site() -> Site:
    """A made-up site."""
    from untemplate.demo import make_site

    return make_site("restaurant", seed=2, pages=40)


@pytest.fixture(scope="session")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up site on disk."""
    from untemplate.demo import write_site

    path = tmp_path_factory.mktemp("site")
    write_site(site, path)
    return path


@pytest.fixture(scope="session")
def new_catalog(site: Site, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a catalog that holds the made-up site and no label yet; tests use copies."""
    from untemplate.catalog import Catalog
    from untemplate.clustering import cluster
    from untemplate.sources import read_pages
    from untemplate.web import add_site

    path = tmp_path_factory.mktemp("catalog") / "catalog.db"
    with Catalog.open(path) as catalog:
        pages = read_pages(folder)
        add_site(catalog, "guide", cluster(pages), site.schema, pages, {})
    return path
