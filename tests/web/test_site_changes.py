"""Changes of a site besides labels: uploads, its schema, clean-up of values, pages left aside, who labeled what."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.web.test_api import SITE, done, items_with, label, label_attribute, label_page
from untemplate import Attribute, Page, Schema, cluster, read_pages
from untemplate.demo import Site
from untemplate.web import add_site
from untemplate.web.guard import MAX_BODY, UPLOAD_PATH, Guard, allowed_hosts
from untemplate.web.server import make_app
from untemplate.web.value_cleanup import ValueCut
from untemplate.web.workspace import Workspace

UPLOAD = "0123abcd"


@pytest.fixture
def session(client: TestClient) -> dict[str, Any]:
    return client.get("/api/session", params={**SITE, "cluster": "c1"}).json()  # type: ignore[no-any-return]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the server works."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def upload(client: TestClient, path: str, content: bytes, name: str = UPLOAD) -> int:
    return client.put("/api/upload", params={"upload": name, "path": path}, content=content).status_code


def schema_of(client: TestClient) -> list[dict[str, Any]]:
    attributes: list[dict[str, Any]] = client.get("/api/schema", params=SITE).json()["definition"][
        "attributes"
    ]
    return [{**attribute, "old_name": attribute["name"]} for attribute in attributes]


# Uploads


def test_an_uploaded_archive_becomes_a_site(client: TestClient, home: Path, site: Site) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for page in site.pages[:8]:
            file.writestr(f"{page.id}", page.html)
    assert upload(client, "guide-pages.zip", archive.getvalue()) == 200
    definition = {"name": "place", "attributes": [{"name": "name", "description": "what people call it"}]}
    job = client.post("/api/sites", json={"upload": UPLOAD, "definition": definition})
    assert done(client, job.json())["summary"].startswith("8 pages")
    stored = client.get("/api/schema", params={"site": "guide-pages"}).json()["definition"]["attributes"]
    assert stored[0]["description"] == "what people call it"


def test_an_uploaded_folder_becomes_a_site(client: TestClient, home: Path, site: Site) -> None:
    for page in site.pages[:5]:
        assert upload(client, f"crawl/{page.id}", page.html) == 200
    body = {"upload": UPLOAD, "definition": {"name": "place", "attributes": [{"name": "name"}]}}
    job = done(client, client.post("/api/sites", json=body).json())
    assert job["result"]["site"] == "crawl"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "..",
        "../x",
        "a/../../x",
        "/etc/x",
        "a//b",
        "a\\b",
        "c:x",
        "nul\0",
        "x\n",
        "a/" * 30 + "x",
        "é" * 200,
    ],
)
def test_uploads_stay_in_their_folder(client: TestClient, home: Path, path: str) -> None:
    assert upload(client, path, b"x") == 400
    assert not list(home.rglob("*"))


def test_names_of_uploads_lead_nowhere(client: TestClient, home: Path) -> None:
    assert upload(client, "x.html", b"x", name="../../elsewhere") == 422
    assert (
        client.post(
            "/api/sites",
            json={"upload": "ffffffff", "definition": {"name": "a", "attributes": [{"name": "b"}]}},
        ).status_code
        == 400
    )


def test_only_uploads_may_be_big(workspace: Workspace, home: Path) -> None:
    guard = Guard(make_app(workspace), "token", allowed_hosts(8700), "http://127.0.0.1:1")
    client = TestClient(guard, base_url="http://127.0.0.1:8700", headers={"authorization": "Bearer token"})
    big = b"x" * (MAX_BODY + 1)
    assert (
        client.put(UPLOAD_PATH, params={"upload": UPLOAD, "path": "big.html"}, content=big).status_code == 200
    )
    assert client.put("/api/labels", content=big).status_code == 413


# The schema


def test_attributes_are_renamed_added_and_described(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    first = session["rows"][0]["page"]
    label_page(client, first, site)
    before = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()
    attributes = schema_of(client)
    attributes[0] |= {"name": "title", "description": "the name of the place"}
    added = {"name": "slogan", "type": "text", "old_name": None}
    answer = client.put("/api/schema", params=SITE, json={"attributes": [*attributes, added]})
    assert answer.status_code == 200, answer.text
    after = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()
    assert [one["name"] for one in after["attributes"]][:1] == ["title"]
    assert after["attributes"][0]["description"] == "the name of the place"
    assert after["attributes"][-1] | {"rule": None} == after["attributes"][-1]
    old, new = before["rows"][1]["cells"]["name"], after["rows"][1]["cells"]["title"]
    assert (old["texts"], old["state"]) == (new["texts"], new["state"])
    assert after["rows"][0]["cells"]["title"]["state"] == "labeled"
    assert client.get("/api/labels", params={**SITE, "cluster": "c1"}).json()[-1]["attribute"] != "name"


def test_names_are_exchanged_and_types_are_learned_again(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    first = session["rows"][0]["page"]
    label_page(client, first, site)
    attributes = schema_of(client)
    one, two = attributes[0], attributes[1]
    names = one["name"], two["name"]
    cells = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()["rows"][1]["cells"]
    one["name"], two["name"] = names[1], names[0]
    one["many"] = not one["many"]
    assert client.put("/api/schema", params=SITE, json={"attributes": attributes}).status_code == 200
    changed = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()
    assert changed["rows"][1]["cells"][names[0]]["texts"] == cells[names[1]]["texts"]
    assert changed["rows"][1]["cells"][names[1]]["texts"] == cells[names[0]]["texts"]
    assert changed["saved"]


def test_a_removed_attribute_comes_back_with_its_labels(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    label_page(client, session["rows"][0]["page"], site)
    attributes = schema_of(client)
    assert client.put("/api/schema", params=SITE, json={"attributes": attributes[1:]}).status_code == 200
    back = [{**attributes[0], "old_name": None}, *attributes[1:]]
    assert client.put("/api/schema", params=SITE, json={"attributes": back}).status_code == 200
    rows = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()["rows"]
    assert rows[0]["cells"]["name"]["state"] == "labeled"
    assert rows[1]["cells"]["name"]["texts"]


@pytest.mark.parametrize(
    "change", [{"name": ""}, {"name": "phone"}, {"old_name": "nothing"}, {"type": "color"}]
)
def test_impossible_schemas_are_refused(client: TestClient, change: dict[str, str]) -> None:
    attributes = schema_of(client)
    assert any(attribute["name"] == "phone" for attribute in attributes[1:])
    attributes[0] |= change
    answer = client.put("/api/schema", params=SITE, json={"attributes": attributes})
    assert answer.status_code in (400, 422)
    assert schema_of(client)[0]["name"] == "name"


# Clean-up


@pytest.mark.parametrize(
    ("cut", "value", "left"),
    [
        (ValueCut(after="Tel:"), "Tel: 555-1234", "555-1234"),
        (ValueCut(after="Tel:"), "555-1234", "555-1234"),
        (ValueCut(before="("), "Soup (hot)", "Soup"),
        (ValueCut(after="by ", before=" on"), "by Ann on Monday", "Ann"),
        (ValueCut(trims=True), "– Soup, ", "Soup"),
    ],
)
def test_values_are_cut(cut: ValueCut, value: str, left: str) -> None:
    assert cut.cut(value) == left


def test_a_clean_up_is_shown_taken_and_undone(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = session["rows"][0]["page"]
    shown = label_attribute(client, page, "name", site)
    value = shown["session"]["rows"][0]["cells"]["name"]["texts"][0]
    word = value.split()[0]
    body = {**SITE, "page": page, "attribute": "name", "before": f" {value.split()[1]}"}
    preview = client.post("/api/cleanup/preview", json=body).json()["pages"]
    assert len(preview) == len(session["rows"])
    assert preview[0]["before"] == [value]
    assert preview[0]["after"] == [word]
    assert (
        client.get("/api/session", params={**SITE, "cluster": "c1"}).json()["rows"]
        == shown["session"]["rows"]
    )
    cleaned = client.post("/api/cleanup", json=body).json()
    assert cleaned["session"]["rows"][0]["cells"]["name"]["texts"] == [word]
    found = {row["page"]: row["cells"]["name"]["texts"] for row in cleaned["session"]["rows"]}
    assert {one["page"]: one["after"] for one in preview} == found
    change = cleaned["change"]
    undo = {**SITE, "page": page, "restore": change["removed"], "remove": change["added"]}
    undone = client.post("/api/labels/change", json=undo).json()
    assert undone["session"]["rows"] == shown["session"]["rows"]


def test_a_clean_up_gives_another_type(client: TestClient, session: dict[str, Any], site: Site) -> None:
    page = session["rows"][0]["page"]
    label_attribute(client, page, "phone", site)
    body = {**SITE, "page": page, "attribute": "phone", "type": "text"}
    answer = client.post("/api/cleanup", json=body)
    assert answer.status_code == 200, answer.text
    assert {one["name"]: one["type"] for one in schema_of(client)}["phone"] == "text"


def test_a_clean_up_needs_a_label_and_leaves_something(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = session["rows"][0]["page"]
    body = {**SITE, "page": page, "attribute": "name", "before": "x"}
    assert "label a value" in client.post("/api/cleanup/preview", json=body).json()["detail"]
    label_attribute(client, page, "name", site)
    first = site.truth[page]["name"][0][0]
    answer = client.post("/api/cleanup/preview", json={**body, "before": first})
    assert "nothing would be left" in answer.json()["detail"]


# Pages left aside, and who labeled what


def test_a_page_left_aside_needs_no_labels(client: TestClient, session: dict[str, Any], site: Site) -> None:
    label_page(client, session["rows"][0]["page"], site)
    asked = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()["next"]
    flagged = client.put("/api/flag", json={**SITE, "page": asked, "note": "half of it is missing"}).json()
    assert flagged["next"] != asked
    assert [row["flag"] for row in flagged["rows"] if row["page"] == asked] == ["half of it is missing"]
    for waiting in (
        client.get("/api/site", params=SITE).json()["waiting"],
        client.get("/api/sites").json()[0]["waiting"],
    ):
        assert any("half of it is missing" in one["reason"] and one["page"] == asked for one in waiting)
    again = client.put("/api/flag", json={**SITE, "page": asked, "note": None}).json()
    assert all(row["flag"] is None for row in again["rows"])
    assert client.put("/api/flag", json={**SITE, "page": "nowhere", "note": ""}).status_code == 404


def test_the_history_says_who_labeled_what(client: TestClient, session: dict[str, Any], site: Site) -> None:
    page = session["rows"][0]["page"]
    label_attribute(client, page, "name", site)
    other = items_with(client, page, site.truth[page]["phone"][0])[-1]
    label(client, page, "name", [{"item": other}])
    first, second = client.get("/api/labels", params={**SITE, "cluster": "c1"}).json()
    assert {first["by"], second["by"], second["removed_by"] or first["removed_by"]} == {"me"}
    assert sum(one["removed"] is None for one in (first, second)) == 1
    assert client.get("/api/labels", params={**SITE, "cluster": "c99"}).status_code == 404


def test_doubtful_rows_of_lists_are_reviewed(
    workspace: Workspace, client: TestClient, tmp_path: Path
) -> None:
    row = "<div class='hit'><h3>Item {number}</h3><span class='price'>{price}</span> <em>blue</em></div>"
    pages = []
    for page in range(5):
        prices = ["sold out" if (page, place) == (4, 3) else f"${place}.50" for place in range(12)]
        rows = "".join(
            row.format(number=10 * page + place, price=price) for place, price in enumerate(prices)
        )
        html = f"<html><body><h1>Results {page}</h1><div id='hits'>{rows}</div><p>Imprint</p></body></html>"
        pages.append(Page(f"http://hits.example/{page}", html, f"{page}.html"))
    schema = Schema(
        "hit", {"name": Attribute("name", mandatory=True), "cost": Attribute("cost", type="price")}
    )
    source = read_pages(pages)
    add_site(workspace.catalog, "hits", cluster(source), schema, source, {})
    where = {"site": "hits", "cluster": "c1"}
    assert client.get("/api/review/rows", params=where).json() == {"is_list": False, "pages": 0, "doubts": []}
    proposal = client.get("/api/list", params={"site": "hits", "page": "0.html"}).json()
    assert len(proposal["marks"]) == 12
    columns = {}
    for column in proposal["columns"]:
        first = proposal["rows"][0]["cells"].get(column["name"], [""])[0]
        if first.startswith(("Item", "$")):
            columns[column["name"]] = "cost" if first.startswith("$") else "name"
    body = {"site": "hits", "page": "0.html", "columns": columns}
    assert len(client.put("/api/list/columns", json=body).json()["list"]["rows"]) == 12
    review = client.get("/api/review/rows", params=where).json()
    assert review["is_list"]
    assert review["pages"] == 5
    assert all(doubt["page"] == "4.html" and doubt["row"] == 4 for doubt in review["doubts"]), review
    assert client.post("/api/rules/save", json={"site": "hits"}).status_code == 200
    attributes = [{"name": "item", "old_name": "name"}, {"name": "cost", "type": "text", "old_name": "cost"}]
    changed = client.put("/api/schema", params={"site": "hits"}, json={"attributes": attributes})
    assert changed.status_code == 200, changed.text
    rows = client.get("/api/list", params={"site": "hits", "page": "1.html"}).json()["rows"]
    assert [row["cells"]["item"] for row in rows] == [[f"Item {10 + place}"] for place in range(12)]
    assert rows[0]["cells"]["cost"] == ["$0.50"]
    change = {"site": "hits", "page": "0.html", "record": "row 3", "attribute": "cost", "click": None}
    corrected = client.put("/api/list/cell", json=change).json()["list"]["rows"][2]
    assert corrected["cells"]["cost"] == []
    assert corrected["labeled"]
