"""The API: what a person does, step by step, without a browser."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from untemplate import Alarm, Rules, cluster, read_labels, read_pages
from untemplate.demo import Site, write_site
from untemplate.labeling import read_templates
from untemplate.web import add_site, site_updates
from untemplate.web.workspace import OpenSite, Workspace

SITE = {"site": "guide"}


def items_with(client: TestClient, page: str, text: str) -> list[int]:
    """The texts that are this; if there is none, those that contain it."""
    items = client.get("/api/page", params={**SITE, "page": page}).json()["items"]
    texts = {number: " ".join(item[1].split()) for number, item in enumerate(items) if len(item) == 2}
    same = [number for number, shown in texts.items() if shown == text]
    return same or [number for number, shown in texts.items() if text in shown]


def label(
    client: TestClient, page: str, attribute: str, clicks: list[dict[str, Any]] | None
) -> dict[str, Any]:
    body = {**SITE, "page": page, "attribute": attribute, "clicks": clicks}
    answer = client.put("/api/labels", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def label_page(client: TestClient, page: str, site: Site) -> dict[str, Any]:
    """Label a whole page with its truth."""
    for attribute in site.truth[page]:
        answer = label_attribute(client, page, attribute, site)
    return answer


def label_attribute(client: TestClient, page: str, attribute: str, site: Site) -> dict[str, Any]:
    clicks = []
    for value in site.truth[page][attribute]:
        whole = items_with(client, page, value)
        if whole:
            clicks.append({"item": whole[-1], "part": value})
        else:
            first, *_, last = value.split()
            ends = [items_with(client, page, word)[-1] for word in (first, last)]
            clicks.append({"item": ends[0], "last": ends[1]})
    return label(client, page, attribute, clicks or None)


def done(client: TestClient, job: dict[str, Any]) -> dict[str, Any]:
    while job["state"] == "running":
        time.sleep(0.02)
        job = client.get("/api/job", params={"id": job["id"]}).json()
    return job


@pytest.fixture
def session(client: TestClient) -> dict[str, Any]:
    return client.get("/api/session", params={**SITE, "cluster": "c1"}).json()  # type: ignore[no-any-return]


def test_a_label_becomes_predictions_on_every_sample_page(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = session["next"]
    assert page == session["rows"][0]["page"]
    name = site.truth[page]["name"][0]
    answer = label(client, page, "name", [{"item": items_with(client, page, name)[-1]}])
    for row in answer["session"]["rows"]:
        assert row["cells"]["name"]["texts"] == site.truth[row["page"]]["name"]
    assert answer["session"]["undecided"] == ["address", "phone", "cuisine"]
    assert not answer["session"]["done"]
    assert answer["session"]["next"] != page
    [mark] = answer["marks"]["marks"]
    assert (mark["kind"], mark["text"]) == ("label", name)


def test_done_when_rules_extract_from_all_remaining_pages(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    answer = label_page(client, session["next"], site)
    if not answer["session"]["done"]:
        answer = label_page(client, answer["session"]["next"], site)
    assert answer["session"]["done"]
    for row in answer["session"]["rows"]:
        assert row["cells"]["phone"]["texts"] == site.truth[row["page"]]["phone"]


def test_attributes_said_to_be_absent_end_too(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    first, second = (row["page"] for row in session["rows"][:2])
    label(client, first, "name", [{"item": items_with(client, first, site.truth[first]["name"][0])[-1]}])
    for attribute in ("address", "phone", "cuisine"):
        answer = label(client, first, attribute, None)
    assert answer["session"]["undecided"] == ["address", "phone", "cuisine"]
    for attribute in ("address", "phone", "cuisine"):
        answer = label(client, second, attribute, None)
    assert answer["session"]["done"]
    assert answer["marks"]["absent"] == ["address", "phone", "cuisine"]


def test_undo_and_redo_lose_nothing(
    client: TestClient, session: dict[str, Any], site: Site, workspace: Workspace
) -> None:
    page = session["next"]
    items = items_with(client, page, site.truth[page]["name"][0])
    label(client, page, "name", [{"item": items[0]}])
    change = label(client, page, "name", [{"item": items[-1]}])["change"]
    assert change == {"added": [2], "removed": [1]}
    back = {**SITE, "page": page, "restore": change["removed"], "remove": change["added"]}
    assert client.post("/api/labels/change", json=back).json()["change"] == {"added": [1], "removed": [2]}
    assert client.post("/api/labels/change", json=back).json()["change"] == {"added": [], "removed": []}
    assert [given.id for given in workspace.catalog.labels("guide")] == [1]
    assert label(client, page, "name", [])["change"] == {"added": [], "removed": [1]}
    assert workspace.catalog.labels("guide") == []


def test_accepting_labels_what_the_rules_found(
    client: TestClient, session: dict[str, Any], site: Site, workspace: Workspace
) -> None:
    label_page(client, session["next"], site)
    other = session["rows"][3]["page"]
    client.post("/api/labels/confirm", json={**SITE, "page": other})
    own = [given.label for given in workspace.catalog.labels("guide") if given.label.page == other]
    assert [label.value for label in own if label.attribute == "cuisine"] == (
        site.truth[other]["cuisine"] or [None]
    )
    assert all(
        mark["kind"] == "label"
        for mark in client.get("/api/marks", params={**SITE, "page": other}).json()["marks"]
    )


def test_rules_are_saved_compared_and_rolled_back(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = session["next"]
    label_page(client, page, site)
    rules = client.get("/api/rules", params=SITE).json()
    assert (rules["version"], rules["saved"]) == (1, False)
    assert {one["attribute"] for one in client.get("/api/rules/diff", params={**SITE, "old": 1}).json()} >= {
        "name"
    }
    assert client.post("/api/rules/save", json=SITE).json() == {"version": 2}
    rules = client.get("/api/rules", params=SITE).json()
    assert (rules["version"], rules["saved"]) == (2, True)
    [name] = [rule for rule in rules["wrappers"][0]["rules"] if rule["attribute"] == "name"]
    assert name["coverage"] == 1.0
    assert name["examples"][0]["texts"] == site.truth[name["examples"][0]["page"]]["name"]
    label(client, page, "name", None)
    assert client.get("/api/rules", params=SITE).json()["saved"] is False
    client.post("/api/rules/save", json=SITE)
    assert client.post("/api/rules/rollback", json={**SITE, "version": 2}).json() == {"version": 4}
    assert client.get("/api/rules/diff", params={**SITE, "old": 2, "new": 4}).json() == []
    after = client.get("/api/rules", params=SITE).json()
    assert (after["version"], after["saved"]) == (4, True)
    text = client.get("/api/rules/file", params=SITE).text
    assert Rules.loads(text) == Rules.loads(client.get("/api/rules/file", params={**SITE, "version": 2}).text)
    assert "xsl:stylesheet" in client.get("/api/rules/xslt", params={**SITE, "cluster": "c1"}).text


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_records_of_all_pages_are_exported(
    client: TestClient, session: dict[str, Any], site: Site, format: str
) -> None:
    label_page(client, session["next"], site)
    client.post("/api/rules/save", json=SITE)
    job = done(client, client.post("/api/export", json={**SITE, "format": format}).json())
    assert (job["state"], job["result"]["records"]) == ("done", len(site.pages))
    assert job["result"]["fill"]["name"] >= len(site.truth)
    assert job["summary"].startswith(f"{len(site.pages)} records")
    file = client.get("/api/job/file", params={"id": job["id"]})
    assert f'filename="guide-records.{format}"' in file.headers["content-disposition"]
    if format == "jsonl":
        rows = {row["page"]: row for row in map(json.loads, file.text.splitlines())}
        assert all(rows[page]["name"] == truth["name"][0] for page, truth in site.truth.items())


def test_labels_are_exported(client: TestClient, session: dict[str, Any], site: Site, tmp_path: Path) -> None:
    label_page(client, session["next"], site)
    job = done(client, client.post("/api/export", json={**SITE, "format": "labels"}).json())
    path = tmp_path / "labels.jsonl"
    path.write_bytes(client.get("/api/job/file", params={"id": job["id"]}).content)
    assert {label.value for label in read_labels(path)} >= set(site.truth[session["next"]]["name"])


def test_corrected_templates_are_exported_and_kept(
    client: TestClient, workspace: Workspace, site: Site, folder: Path, tmp_path: Path
) -> None:
    templates = dict.fromkeys((page.id for page in site.pages), "all")
    pages = read_pages(folder)
    add_site(workspace.catalog, "guide", cluster(pages, templates=templates), site.schema, pages, {})
    job = done(client, client.post("/api/export", json={**SITE, "format": "labels"}).json())
    path = tmp_path / "labels.jsonl"
    path.write_bytes(client.get("/api/job/file", params={"id": job["id"]}).content)
    assert read_templates(path) == dict.fromkeys(templates, "c1")
    schemas = client.get("/api/schemas").json()["schemas"]
    body = {**SITE, "source": str(folder), "definition": schemas[0]}
    assert done(client, client.post("/api/sites", json=body).json())["state"] == "done"
    assert [wrapper.named for wrapper in workspace.catalog.rules("guide").wrappers] == [True]


def test_doubtful_values_are_reviewed(client: TestClient, session: dict[str, Any], site: Site) -> None:
    page = session["next"]
    name = site.truth[page]["name"][0]
    label(client, page, "name", [{"item": items_with(client, page, name)[0]}])
    review = client.get("/api/review", params={**SITE, "cluster": "c1"}).json()
    assert review["pages"] == sum(
        cluster["pages"] for cluster in client.get("/api/site", params=SITE).json()["clusters"][:1]
    )
    sure = [doubt["confidence"] for doubt in review["doubts"]]
    assert sure == sorted(sure)
    if review["doubts"]:
        first = review["doubts"][0]
        body = {**SITE, "page": first["page"], "attributes": [first["attribute"]]}
        client.post("/api/labels/confirm", json=body)
        again = client.get("/api/review", params={**SITE, "cluster": "c1"}).json()
        assert first not in again["doubts"]


def test_a_change_is_noticed_and_healed(
    client: TestClient, session: dict[str, Any], site: Site, folder: Path, tmp_path: Path
) -> None:
    label_page(client, session["next"], site)
    client.post("/api/rules/save", json=SITE)
    write_site(site.redesign(0.6, seed=1), tmp_path / "later")
    for source, alarmed in ((folder, False), (tmp_path / "later", True)):
        job = done(client, client.post("/api/watch", json={**SITE, "source": str(source)}).json())
        assert job["state"] == "done", job
        assert bool(job["result"]["alarms"]) is alarmed
    state = client.get("/api/monitor", params=SITE).json()
    assert [bool(one["alarms"]) for one in state["runs"]] == [False, True]
    page = state["alarms"][0]["pages"][0]
    sides = client.get("/api/compare", params={**SITE, "page": page}).json()
    assert sides["before"]["page"]["items"] != sides["after"]["page"]["items"]
    assert {mark["text"] for mark in sides["before"]["marks"]} >= set(site.truth[page]["name"])
    job = done(client, client.post("/api/heal", json={**SITE, "source": str(tmp_path / "later")}).json())
    assert job["state"] == "done", job
    repairs = client.get("/api/monitor", params=SITE).json()["proposal"]["repairs"]
    assert all(repair["values"] for repair in repairs)
    assert client.post("/api/heal/approve", json={"id": job["id"]}).json() == {"version": 3}
    assert client.post("/api/heal/approve", json={"id": job["id"]}).status_code == 404
    state = client.get("/api/monitor", params=SITE).json()
    assert all(one["cleared"] for one in state["alarms"])
    assert client.get("/api/rules", params=SITE).json()["saved"] is True
    assert job["result"]["healed"] == len(repairs) > 0
    rows = client.get("/api/session", params={**SITE, "cluster": "c1"}).json()["rows"]
    right = [
        row["cells"]["name"]["texts"] == site.truth[row["page"]]["name"]
        for row in rows
        if row["page"] in site.truth
    ]
    assert sum(right) > 0.8 * len(right)


def test_the_overview_says_what_waits(client: TestClient, session: dict[str, Any], site: Site) -> None:
    before = client.get("/api/site", params=SITE).json()
    assert {one["cluster"] for one in before["waiting"]} == {one["cluster"] for one in before["clusters"]}
    label_attribute(client, session["next"], "name", site)
    between = client.get("/api/site", params=SITE).json()
    [part] = [one for one in between["waiting"] if one["cluster"] == "c1"]
    assert (part["reason"], part["attributes"]) == ("partly labeled", ["address", "phone", "cuisine"])
    label_page(client, session["next"], site)
    client.post("/api/rules/save", json=SITE)
    after = client.get("/api/site", params=SITE).json()
    assert "c1" not in {one["cluster"] for one in after["waiting"]}
    assert after["version"] == 2
    assert after["clusters"][0]["labeled"] == 1


def test_all_sites_are_listed_without_opening_them(client: TestClient, workspace: Workspace) -> None:
    catalog = workspace.catalog
    rules = catalog.rules("guide")
    for number in range(3):
        catalog.save_rules(f"{number}.example", rules)
    run = catalog.start_run("2.example", "watch")
    catalog.record_alarms("2.example", run, [Alarm("c1", "moved", "name", "Zen", "nothing", ("1.html",))])
    sites = client.get("/api/sites").json()
    assert {one["site"] for one in sites} == {"guide", "0.example", "1.example", "2.example"}
    assert not workspace._sites
    alarmed = next(one for one in sites if one["site"] == "2.example")
    assert (alarmed["alarms"], alarmed["schema_name"], alarmed["version"]) == (1, "restaurant", 1)
    assert alarmed["pages_lost"] == sum(one["pages"] for one in alarmed["waiting"])


def test_a_draft_overwrites_no_version_of_another_server(
    client: TestClient,
    workspace: Workspace,
    session: dict[str, Any],
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    label_page(client, session["next"], site)
    usual = site_updates.draft_rules

    def draft(opened: OpenSite) -> Rules:
        workspace.catalog.save_rules("guide", workspace.catalog.rules("guide"), note="by another server")
        return usual(opened)

    monkeypatch.setattr(site_updates, "draft_rules", draft)
    refused = client.post("/api/rules/save", json=SITE)
    assert refused.status_code == 409
    assert "somebody saved version 2" in refused.json()["detail"]
    monkeypatch.setattr(site_updates, "draft_rules", usual)
    assert client.post("/api/rules/save", json=SITE).json()["version"] == 3


@pytest.mark.parametrize(
    ("method", "path", "given", "status"),
    [
        ("GET", "/api/session", {"site": "none", "cluster": "c1"}, 404),
        ("GET", "/api/session", {"site": "guide", "cluster": "c99"}, 404),
        ("GET", "/api/page", {"site": "guide", "page": "none"}, 404),
        ("GET", "/api/rules", {"site": "guide", "version": 99}, 404),
        ("GET", "/api/job", {"id": 99}, 404),
        ("PUT", "/api/labels", {"site": "guide", "page": "none", "attribute": "name", "clicks": None}, 404),
        ("POST", "/api/rules/rollback", {"site": "guide", "version": 99}, 404),
        ("POST", "/api/labels/change", {"site": "guide", "page": "0009.html", "remove": [99]}, 404),
    ],
)
def test_what_is_not_there_is_named(
    client: TestClient, method: str, path: str, given: dict[str, Any], status: int
) -> None:
    answer = client.request(
        method, path, params=given if method == "GET" else None, json=given if method != "GET" else None
    )
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)


def test_clicks_on_nothing_are_refused(client: TestClient, session: dict[str, Any]) -> None:
    page = session["next"]
    items = client.get("/api/page", params={**SITE, "page": page}).json()["items"]
    for click in (
        {"item": 0},
        {"item": len(items)},
        {"item": 0, "attribute": "onclick"},
        {"item": 0, "attribute": "no name\0"},
        {"item": 5, "part": "§§"},
    ):
        body = {**SITE, "page": page, "attribute": "name", "clicks": [click]}
        assert client.put("/api/labels", json=body).status_code == 400
    body = {**SITE, "page": page, "attribute": "nothing", "clicks": None}
    assert client.put("/api/labels", json=body).status_code == 400


def test_embedded_values_are_listed_labeled_and_marked(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = session["next"]
    name = site.truth[page]["name"][0]
    data = client.get("/api/embedded", params={**SITE, "page": page, "find": "og:title"}).json()
    [value] = data["objects"][0]["paths"][0]["values"]
    assert (data["objects"][0]["source"], data["shown"]) == ("meta", 1)
    assert name in value["text"]
    answer = label(client, page, "name", [{"embedded": value["number"]}])
    [mark] = [mark for mark in answer["marks"]["marks"] if mark["attribute"] == "name"]
    assert (mark["text"], mark["kind"]) == (value["text"], "label")
    assert value["number"] in mark["embedded"]
    body = {**SITE, "page": page, "attribute": "name", "clicks": [{"embedded": 4_000_000}]}
    refused = client.put("/api/labels", json=body)
    assert (refused.status_code, "no such value" in refused.text) == (400, True)
    assert client.put("/api/labels", json={**body, "clicks": [{}]}).status_code == 400


def test_labels_stay_by_their_ids_and_in_their_order(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = next(row["page"] for row in session["rows"] if len(site.truth[row["page"]]["cuisine"]) > 1)
    first, second = (items_with(client, page, value)[-1] for value in site.truth[page]["cuisine"][:2])
    texts = site.truth[page]["cuisine"][:2]

    def marks(answer: dict[str, Any]) -> list[tuple[int, str]]:
        own = [mark for mark in answer["marks"]["marks"] if mark["attribute"] == "cuisine"]
        return [(mark["label"], mark["text"]) for mark in own if mark["kind"] == "label"]

    [(kept, _)] = marks(label(client, page, "cuisine", [{"item": second}]))
    after = label(client, page, "cuisine", [{"label": kept}, {"item": first}])
    assert marks(after)[0] == (kept, texts[1])
    before = label(client, page, "cuisine", [{"item": first}, {"label": kept}])
    assert [text for _, text in marks(before)] == texts
    undo = {**SITE, "page": page, "restore": before["change"]["removed"], "remove": before["change"]["added"]}
    assert marks(client.post("/api/labels/change", json=undo).json()) == marks(after)
    gone = label(client, page, "cuisine", [{"label": 999_999}])
    assert marks(gone) == []


def test_a_second_item_of_a_list_proposes_the_others(
    client: TestClient, session: dict[str, Any], site: Site
) -> None:
    page = max((row["page"] for row in session["rows"]), key=lambda page: len(site.truth[page]["cuisine"]))
    values = site.truth[page]["cuisine"]
    items = [items_with(client, page, value)[-1] for value in values]
    assert len(values) > 2
    assert label(client, page, "cuisine", [{"item": items[0]}])["proposal"] is None
    answer = label(client, page, "cuisine", [{"item": items[0]}, {"item": items[1]}])
    assert answer["proposal"]["attribute"] == "cuisine"
    clicks = answer["proposal"]["clicks"]
    accepted = label(client, page, "cuisine", clicks)
    texts = [mark["text"] for mark in accepted["marks"]["marks"] if mark["attribute"] == "cuisine"]
    assert [text for text in texts if text in values] == values
    assert accepted["proposal"] is None
