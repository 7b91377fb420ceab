"""The API survives whatever its own description allows, and what it does not allow, without an error of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.demo import Site
from untemplate.sources import read_pages
from untemplate.web import add_site
from untemplate.web.server import make_app
from untemplate.web.workspace import Workspace

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
KNOWN = {"site": "guide", "cluster": "c1", "page": "0009.html", "attribute": "name", "version": 1, "old": 1}


@pytest.fixture(scope="module", autouse=True)
def workspace(site: Site, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One workspace for all requests, in a folder of its own: what one of them does, others meet."""
    with chdir(tmp_path_factory.mktemp("fuzzing")), Catalog.open("catalog.db") as catalog:
        pages = read_pages(folder)
        add_site(catalog, "guide", cluster(pages), site.schema, pages, {})
        app.state.workspace = Workspace(catalog, "me", "http://127.0.0.1:1/secret")
        yield
        app.state.workspace.jobs.close()


app = make_app(None)  # type: ignore[arg-type] # the workspace comes with the tests; the description needs none
schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)


@schema.parametrize()
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_server(case: Case) -> None:
    reach(case)
    case.call_and_validate(checks=CHECKS)


def reach(case: Case) -> None:
    """Half of the requests name what is there, so that they get past the first question."""
    for part in (case.query, case.body):
        if isinstance(part, dict):
            if len(str(part)) % 2:
                part.update({name: value for name, value in KNOWN.items() if name in part})
            if "source" in part:
                part["source"] = "/nowhere"  # no fetching in tests
