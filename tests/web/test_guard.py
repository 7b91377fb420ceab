"""Who may ask: a token is needed, other sites and other names of this machine are refused, bodies are limited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient

from untemplate.catalog import Catalog
from untemplate.web.guard import MAX_BODY, Guard, allowed_hosts
from untemplate.web.server import make_app
from untemplate.web.workspace import Workspace

TOKEN = "the-token"
ORIGIN = "http://127.0.0.1:8700"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[TestClient]:
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        workspace = Workspace(catalog, "me", "http://127.0.0.1:8701/secret")
        app = Guard(make_app(workspace), TOKEN, allowed_hosts(8700), "http://127.0.0.1:8701")
        with TestClient(app, base_url=ORIGIN, follow_redirects=False) as client:
            yield client
        workspace.jobs.close()


def bearer(**headers: str) -> dict[str, str]:
    return {"authorization": f"Bearer {TOKEN}", **headers}


def login(client: TestClient) -> httpx2.Response:
    return client.get("/", params={"token": TOKEN})


def test_the_token_in_the_address_becomes_a_cookie(guarded: TestClient) -> None:
    assert guarded.get("/").status_code == 401
    assert guarded.get("/api/sites").status_code == 401
    answer = login(guarded)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert guarded.get("/").status_code == 200
    assert guarded.get("/api/sites").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "the-token ", "thé", "\udcff"])
def test_another_token_opens_nothing(guarded: TestClient, token: str) -> None:
    assert guarded.get("/", params={"token": token.encode("utf-8", "surrogateescape")}).status_code == 401
    header = {"authorization": b"Bearer " + token.encode("utf-8", "surrogateescape")}
    assert guarded.get("/api/sites", headers=header).status_code == 401


def test_programs_give_the_token_in_a_header(guarded: TestClient) -> None:
    assert guarded.get("/api/sites", headers=bearer()).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:9", "localhost:8700.evil.example", ""]
)
def test_other_names_of_this_machine_are_refused(guarded: TestClient, host: str) -> None:
    assert guarded.get("/api/sites", headers=bearer(host=host)).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8701", "https://127.0.0.1:8700"]
)
def test_other_sites_are_refused(guarded: TestClient, origin: str) -> None:
    login(guarded)
    assert guarded.get("/api/sites", headers={"origin": origin}).status_code == 403
    assert guarded.post("/api/rules/save", headers={"origin": origin}, json={}).status_code == 403
    assert guarded.get("/api/sites", headers={"origin": ORIGIN}).status_code == 200


@pytest.mark.parametrize("relation", ["cross-site", "same-site"])
def test_what_another_site_starts_is_refused(guarded: TestClient, relation: str) -> None:
    login(guarded)
    assert guarded.get("/api/sites", headers={"sec-fetch-site": relation}).status_code == 403


def test_bodies_are_limited(guarded: TestClient) -> None:
    big = b"x" * (MAX_BODY + 1)
    assert guarded.put("/api/labels", content=big, headers=bearer()).status_code == 413
    pieces = (big[start : start + 65536] for start in range(0, len(big), 65536))
    answer = guarded.put("/api/labels", content=pieces, headers=bearer())
    assert answer.status_code == 400


def test_every_answer_binds_the_browser(guarded: TestClient) -> None:
    for answer in (
        login(guarded),
        guarded.get("/"),
        guarded.get("/nowhere"),
        guarded.get("/static/js/main.js"),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"])
def test_files_outside_are_not_served(guarded: TestClient, path: str) -> None:
    assert guarded.get(path, headers=bearer()).status_code in (404, 405)
