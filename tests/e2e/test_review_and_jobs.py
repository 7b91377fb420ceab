"""Faults that damaged data in Review, Export and Monitor: each of these journeys failed before."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.person import Person
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.schema import Attribute, Schema
from untemplate.sources import read_pages
from untemplate.web import RunningServer, add_site, running_server
from untemplate.web.site_updates import save_draft

SCHEMA = Schema(
    "dish",
    {
        "title": Attribute("title", mandatory=True),
        "picture": Attribute("picture", type="image", mandatory=True),
        "parts": Attribute("parts", many=True, mandatory=True),
        "time": Attribute("time"),
    },
)
PARTS = ("flour", "sugar", "butter", "salt", "milk")


def parts_of(number: int) -> list[str]:
    return [f"{number + place} g {part}" for place, part in enumerate(PARTS)]


def dish(number: int, is_odd: bool = False) -> Page:
    """A page of a dish; an odd one has its picture and its parts at other places."""
    items = "".join(f"<li>{part}</li>" for part in parts_of(number))
    picture = f'<img alt="Photo of dish {number}" src="/img/{number}.jpg" width="90" height="60">'
    body = f'<div class="top">{picture}</div><h1>Dish {number}</h1><ul class="parts">{items}</ul>'
    if is_odd:
        cells = "".join(f"<tr><td>{part}</td></tr>" for part in parts_of(number))
        body = f'<h1>Dish {number}</h1><table class="needs">{cells}</table><p>{picture}</p>'
    title = f"=Dish {number}" if number == 3 else f"Dish {number}"
    body = body.replace(f"<h1>Dish {number}<", f"<h1>{title}<")
    html = f"""<html><head><title>{title}</title></head><body><nav><a>Home</a> <a>Dishes</a></nav>{body}
        <p class="time"><b>{number}0</b> <i>minutes</i><span>.</span></p><p>More about food.</p></body></html>"""
    return Page(f"http://dish.example/{number}", html, f"{number}.html")


def write_pages(folder: Path, is_odd: bool = False) -> Path:
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.html").write_bytes(dish(number, is_odd).html)
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server over a site with rules, on two of whose pages the values are at other places."""
    source = write_pages(tmp_path / "dishes")
    for number in (4, 5):
        (source / f"{number}.html").write_bytes(dish(number, is_odd=True).html)
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        pages = read_pages([dish(number) for number in range(12)])
        clusters = cluster(pages)
        add_site(catalog, "dishes", clusters, SCHEMA, read_pages(source), {})
        labels = [
            Label("0.html", "title", "Dish 0"),
            Label("0.html", "picture", "/img/0.jpg"),
            *(Label("0.html", "parts", part) for part in parts_of(0)),
        ]
        catalog.add_labels("dishes", labels, "me")
        for number in (4, 5):
            catalog.save_page("dishes", dish(number, is_odd=True))
        with running_server(catalog) as server:
            save_draft(server.workspace.site("dishes"))
            server.workspace.site("dishes").forget_pages()
            yield server


def labels_of(person: Person, page: str, attribute: str) -> list[str | None]:
    stored = person.server.workspace.catalog.labels("dishes")
    return [one.label.value for one in stored if (one.label.page, one.label.attribute) == (page, attribute)]


def choose_doubt(person: Person, attribute: str, count: int) -> None:
    doubts = person.window.locator(".doubt").filter(has_text=attribute)
    expect(doubts).to_have_count(count)
    doubts.first.click()
    person.window.locator(".review .frame[aria-busy=false] iframe").wait_for()


def test_review_stores_images_and_lists_and_undoes(person: Person) -> None:
    window = person.window
    person.open("review")
    choose_doubt(person, "picture", 2)
    page = window.locator(".review iframe").content_frame
    page.locator("p img").click()  # the alternative text was stored before
    expect(window.locator(".doubt").filter(has_text="picture")).to_have_count(1)
    [corrected] = [id for id in ("4.html", "5.html") if labels_of(person, id, "picture")]
    assert labels_of(person, corrected, "picture") == [f"/img/{corrected[0]}.jpg"]
    window.keyboard.press("u")
    expect(window.locator(".doubt").filter(has_text="picture")).to_have_count(2)
    assert labels_of(person, corrected, "picture") == []
    choose_doubt(person, "parts", 2)
    shown = page.locator("td")
    for place in range(len(PARTS)):
        shown.nth(place).click()  # a second click replaced the first before
        expect(window.locator(".review .pagebar .value")).to_have_count(place + 1)
    window.get_by_role("button", name=re.compile("Remove .* salt")).click()
    expect(window.locator(".review .pagebar .value")).to_have_count(4)
    window.get_by_role("button", name="Done").click()
    expect(window.locator(".doubt").filter(has_text="parts")).to_have_count(1)
    [listed] = [id for id in ("4.html", "5.html") if labels_of(person, id, "parts")]
    wanted = [part for part in parts_of(int(listed[0])) if "salt" not in part]
    assert labels_of(person, listed, "parts") == wanted


def test_an_image_is_labeled_by_its_address_and_cannot_be_extended(person: Person) -> None:
    window = person.window
    person.open(page="1.html")
    image = person.page.locator("img")
    person.choose("picture")
    with person.completing():
        image.click()
    assert labels_of(person, "1.html", "picture") == ["/img/1.jpg"]
    person.choose("picture")
    image.click(modifiers=["Shift"])
    expect(window.locator(".toast").last).to_contain_text("An image cannot be extended")
    assert labels_of(person, "1.html", "picture") == ["/img/1.jpg"]


def test_export_shows_what_comes_out_and_refuses_to_call_nothing_a_success(
    person: Person, tmp_path: Path
) -> None:
    window = person.window
    empty = tmp_path / "other"
    empty.mkdir()
    for number in range(3):
        (empty / f"{number}.html").write_text(
            f"<html><body><table><tr><td>{number}</td></tr></table></body></html>"
        )
    person.open("export")
    preview = window.get_by_role("group", name="Preview")
    expect(preview).to_contain_text("title")
    expect(preview).to_contain_text("10 of 12 records")
    expect(preview).to_contain_text("2 without any value")
    with window.expect_download() as download:
        window.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"))))
    assert len(rows) == 12
    expect(window.get_by_role("status").filter(has_text="12 records").first).to_be_visible()
    window.get_by_role("link", name="Overview").click()  # the result stays when the view is left
    window.get_by_role("button", name="Jobs").click()
    expect(window.get_by_role("region", name="Jobs")).to_contain_text("Export records as CSV")
    window.get_by_role("link", name="Export").click()
    for option in ("Harmless in spreadsheets", "Byte-order mark", "Only values"):
        window.get_by_role("checkbox", name=option).check()
    with window.expect_download() as download:
        window.get_by_role("button", name="CSV").click()
    content = download.value.path().read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    plain = {row["page"]: row for row in csv.DictReader(io.StringIO(content.decode("utf-8-sig")))}
    assert "missing" not in plain["0.html"]
    assert plain["3.html"]["title"] == "'=Dish 3"
    assert plain["0.html"]["parts"] == "; ".join(parts_of(0))
    window.get_by_label("Another source of pages").fill(str(empty))
    window.get_by_label("Another source of pages").press("Tab")
    expect(window.get_by_role("region", name="Records")).to_contain_text("Nothing comes out")
    window.get_by_role("button", name="JSONL").first.click()
    expect(window.locator(".job").first).to_contain_text("failed")
    expect(window.locator(".job").first).to_contain_text("found nothing on 3 pages")


def test_all_correct_says_what_it_confirms_and_leaves_the_rest(person: Person) -> None:
    window, catalog = person.window, person.server.workspace.catalog
    page = catalog.page("dishes", "7.html")
    html = re.sub(rb"<img[^>]*>", b"", page.html)
    catalog.save_page("dishes", Page(page.url, html, "7.html"))
    person.server.workspace.site("dishes").forget_pages()
    person.open(page="7.html")
    assert person.page
    button = window.get_by_role("button", name="Confirm 2")
    expect(button).to_have_attribute(
        "title", re.compile("right: title, parts. What was not found stays without a label")
    )
    button.click()
    expect(window.locator(".records .badge.good")).to_have_count(2)
    assert labels_of(person, "7.html", "title") == ["Dish 7"]
    assert labels_of(person, "7.html", "picture") == []  # it was labeled as not on the page before
    window.get_by_role("button", name="Keys").click()
    shown = window.get_by_role("dialog").locator("kbd")
    expect(shown.first).to_be_visible()
    keys = shown.all_inner_texts()
    assert "object" not in " ".join(keys)
    assert {"Enter", "Shift", "Backspace"} <= set(keys)


def test_a_heal_is_approved_with_its_values_and_exported_from_the_fresh_pages(
    person: Person, tmp_path: Path
) -> None:
    window, catalog = person.window, person.server.workspace.catalog
    fresh = write_pages(tmp_path / "fresh", is_odd=True)
    person.open("monitor")
    expect(window.locator("main")).to_contain_text("not watched yet")
    assert window.get_by_text("no alarms").count() == 0
    window.get_by_label("Where fresh pages are").fill(str(fresh))
    window.get_by_role("button", name="Watch", exact=True).click()
    alarms = window.get_by_role("region", name="Alarms", exact=True)
    expect(alarms).to_be_visible()
    words = alarms.inner_text().lower()
    assert "shingle" not in words
    assert "committee" not in words
    for view in ("overview", "rules"):  # all views agree that the rules are broken
        person.open(view)
        expect(window.locator("main .meter.low").first).to_be_visible()
    person.open("monitor")
    versions = len(catalog.history("dishes"))
    window.get_by_role("button", name="Heal", exact=True).click()
    proposal = window.get_by_role("region", name="Proposed repair")
    expect(proposal).to_contain_text("/img/")
    assert len(catalog.history("dishes")) == versions  # nothing is saved before a person approves
    proposal.get_by_role("button", name="Approve").click()
    expect(window.get_by_role("heading", name="Healed")).to_be_visible()
    person.open("export")
    expect(window.locator("#source")).to_have_value(str(fresh))
    with window.expect_download() as download:
        window.get_by_role("button", name="JSONL").first.click()
    records = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert [record["title"] for record in records if record["page"] == "1.html"] == ["Dish 1"]
    assert sum(record["title"] is not None for record in records) == 12
