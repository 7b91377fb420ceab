"""A person adds pages, changes what to extract, cleans values up, leaves pages aside; also by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Locator, Route, expect
from playwright.sync_api import Page as Window

from tests.e2e.person import Person
from tests.e2e.test_start_and_lists import access_problems, write_lists
from untemplate.catalog import Catalog
from untemplate.web import RunningServer, running_server
from untemplate.web.background import Job

RECIPE = """<html><head><title>Soup {number}</title></head><body><h1>Soup {number}</h1>
    <p class="time">Takes <i>1{number}</i> <b>minutos</b>.</p><p class="price">Price: ${number}.50 (incl. tax)</p>
    <p class="cook">by Ann {number}</p><div class="parts">{rows}</div></body></html>"""
ROW = '<div class="part"><div>{amount}</div><div class="food">{food}</div></div>'


def parts_of(number: int) -> list[tuple[str, str]]:
    """Return the amounts and foods of a recipe; one has no amount."""
    foods = ["leeks", "eggs", "onions", "potatoes"]
    return [(str(number + place), food) for place, food in enumerate(foods)] + [("", "salt")]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A server over an empty catalog, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with Catalog.open(tmp_path / "catalog.db") as catalog, running_server(catalog) as server:
        yield server


def write_recipes(folder: Path) -> Path:
    folder.mkdir()
    for number in range(1, 9):
        rows = "".join(ROW.format(amount=amount, food=food) for amount, food in parts_of(number))
        (folder / f"{number}.html").write_text(RECIPE.format(number=number, rows=rows), "utf-8")
    return folder


@pytest.fixture
def soups(person: Person, tmp_path: Path) -> Person:
    """A person who added recipes as files, with a schema of their own."""
    window = person.window
    folder = write_recipes(tmp_path / "soups")
    person.open("start")
    window.get_by_label("Files with pages").set_input_files(sorted(folder.iterdir()))
    expect(window.locator(".dropzone")).to_contain_text("8 files")
    window.get_by_label("Name of the site").fill("soups")
    window.get_by_label("Ready-made schemas").select_option(label="an empty one")
    for index, name in enumerate(("title", "time", "price", "parts"), 1):
        window.get_by_role("button", name="Add an attribute").click()
        window.get_by_label(f"Name of attribute {index}").fill(name)
    window.get_by_label("Attribute 4 has several values").check()
    window.get_by_label("What attribute 2 is").fill("how long it cooks")
    window.get_by_role("button", name="Find templates").click()
    expect(window.locator(".toast").last).to_contain_text("8 pages in 1 template")
    assert person.page
    return person


def chip(person: Person, name: str) -> Locator:
    return person.window.locator(".chip").filter(has=person.window.locator(".name", has_text=name))


def test_files_become_a_site_and_its_attributes_change(soups: Person) -> None:
    window = soups.window
    assert access_problems(window) == []
    soups.choose("time")
    expect(chip(soups, "time")).to_contain_text("how long it cooks")
    soups.choose("title")
    soups.click(soups.page.locator("h1").inner_text())
    expect(window.locator(".records tbody tr").nth(3).locator("td").first).to_contain_text("Soup")
    window.get_by_role("button", name="Edit attributes").click()
    dialog = window.get_by_role("dialog", name="Attributes")
    dialog.get_by_label("Name of attribute 1").fill("soup")
    dialog.get_by_role("button", name="Add an attribute").click()
    dialog.get_by_label("Name of attribute 5").fill("cook")
    dialog.get_by_label("Type of attribute 3").select_option("price")
    assert access_problems(window) == []
    dialog.get_by_role("button", name="Save attributes").click()
    expect(dialog).to_be_hidden()
    assert soups.state("soup") == "labeled"
    assert soups.state("cook") == "open"
    expect(window.locator(".records tbody tr").nth(3).locator("td").first).to_contain_text("Soup")


def test_texts_over_several_nodes_keep_the_spaces_of_the_page(soups: Person) -> None:
    soups.choose("time")
    first, last = (soups.page.locator(".time").locator(tag) for tag in ("i", "b"))
    number = first.inner_text()
    with soups.completing():
        first.click()
    with soups.completing():
        last.click(modifiers=["Shift"])
    assert soups.value("time") == f"{number} minutos"
    with soups.completing():
        box = soups.page.locator(".time").bounding_box()
        end = last.bounding_box()
        assert box
        assert end
        soups.window.keyboard.down("Shift")
        soups.window.mouse.click(end["x"] + end["width"] + 2, end["y"] + end["height"] / 2)
        soups.window.keyboard.up("Shift")
    assert soups.value("time") == f"{number} minutos."
    times = [row[1] for row in soups.records()]
    assert all(text.endswith(" minutos.") for text in times), times


def test_values_are_cleaned_up_with_a_preview_and_taken_back(soups: Person) -> None:
    window = soups.window
    soups.choose("price")
    soups.click(soups.page.locator(".price").inner_text())
    before = [row[2] for row in soups.records()]
    assert all(text.startswith("Price: $") for text in before)
    soups.choose("price")
    window.get_by_role("button", name="Clean up price").click()
    dialog = window.get_by_role("dialog", name="Clean up price")
    dialog.get_by_label("Keep what follows").fill("Price:")
    dialog.get_by_label("Keep what comes before").fill("(")
    preview = dialog.get_by_role("region", name="Values before and after")
    expect(preview.locator("tbody tr strong")).to_have_text([re.compile(r"^\$.*\.50$")] * 8)
    assert [row[2] for row in soups.records()] == before
    assert access_problems(window) == []
    with soups.completing():
        dialog.get_by_role("button", name="Clean up", exact=True).click()
    assert all(row[2].startswith("$") and row[2].endswith(".50") for row in soups.records())
    soups.ask("u")
    assert [row[2] for row in soups.records()] == before


def test_two_texts_of_rows_offer_the_whole_rows(soups: Person) -> None:
    window = soups.window
    number = int(soups.page_id.removesuffix(".html"))
    soups.choose("parts")
    rows = soups.page.locator(".part")
    for place in (0, 1):
        with soups.completing():
            rows.nth(place).locator("div").first.click()
    expect(window.locator(".proposal")).to_contain_text("5 whole items")
    assert access_problems(window) == []
    soups.ask("w")
    assert soups.value("parts") == " | ".join(f"{amount} {food}".strip() for amount, food in parts_of(number))
    found = {row.split(" · ")[-1] for row in (cells[3] for cells in soups.records())}
    assert found == {"salt"}


def test_jobs_show_progress_run_once_and_are_canceled(soups: Person) -> None:
    window, jobs = soups.window, soups.server.workspace.jobs
    soups.choose("title")
    soups.click(soups.page.locator("h1").inner_text())
    window.keyboard.press("s")
    expect(window.locator(".toast").last).to_contain_text("Rules saved")
    is_open = Event()

    def work(job: Job) -> None:
        for number in job.counted(range(1000), 1000):
            is_open.wait(60 if number == 3 else 0)

    jobs.start("heal", "soups", "Heal soups", work)
    soups.open("monitor", site="soups")
    window.reload()
    expect(window.locator("main progress")).to_be_visible()
    expect(window.locator("main")).to_contain_text("3 of 1,000 pages")
    expect(window.get_by_role("button", name="Heal", exact=True)).to_be_disabled()
    soups.open("export", site="soups")  # leaving the view loses nothing
    window.get_by_role("button", name="Jobs: Heal soups").click()
    with window.expect_response("**/job/cancel"):
        window.get_by_role("button", name="Cancel: Heal soups").click()
    is_open.set()
    expect(window.get_by_role("region", name="Jobs")).to_contain_text("canceled")


def test_a_server_that_is_busy_or_was_restarted_is_explained(soups: Person) -> None:
    window = soups.window
    answers: list[Route] = []

    def keep(route: Route) -> None:
        answers.append(route)

    window.route("**/api/labels", keep)  # the server takes its time
    soups.page.locator("h1").click()
    expect(window.get_by_role("alert")).to_contain_text("still working on it")
    answers[0].continue_()
    expect(window.get_by_role("alert")).to_have_count(0)
    window.unroute("**/api/labels")
    window.context.clear_cookies()  # a new server does not know the token of the old one
    soups.page.locator("h1").click()
    expect(window.get_by_role("alert")).to_contain_text("untemplate was restarted")


def test_a_page_is_left_aside_and_waits_for_others(soups: Person) -> None:
    window = soups.window
    aside = soups.page_id
    window.keyboard.press("f")
    dialog = window.get_by_role("dialog", name="Leave this page aside")
    assert access_problems(window) == []
    window.keyboard.type("half of it is missing")
    window.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(window.locator(".records tbody tr").filter(has_text="left aside")).to_have_count(1)
    assert soups.page_id != aside
    soups.open("overview")
    task = (
        window.get_by_role("region", name="Waiting for a person")
        .locator("li")
        .filter(has_text="half of it is missing")
    )
    task.get_by_role("link", name="Label").click()
    assert soups.page
    assert soups.page_id == aside
    window.get_by_role("button", name="Take this page back").click()
    expect(window.locator(".records tbody tr").filter(has_text="left aside")).to_have_count(0)


def test_columns_get_other_widths_and_labels_have_a_history(soups: Person) -> None:
    window = soups.window
    soups.choose("title")
    soups.click(soups.page.locator("h1").inner_text())
    heading = window.locator(".records thead th").nth(1)
    width = heading.evaluate("one => one.getBoundingClientRect().width")
    handle = window.get_by_role("separator", name="Width of title")
    handle.focus()
    for _ in range(5):
        window.keyboard.press("ArrowRight")
    by_keys = heading.evaluate("one => one.getBoundingClientRect().width")
    assert by_keys > width + 60
    box = handle.bounding_box()
    assert box
    window.mouse.move(box["x"] + 4, box["y"] + 8)
    window.mouse.down()
    window.mouse.move(box["x"] + 104, box["y"] + 8, steps=4)
    window.mouse.up()
    assert heading.evaluate("one => one.getBoundingClientRect().width") > by_keys + 60
    soups.ask("u")
    window.get_by_role("button", name="Labels", exact=True).click()
    row = window.get_by_role("region", name="Labels").locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("removed")
    assert access_problems(window) == []


def focused(window: Window) -> str:
    return window.evaluate(
        "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"
    )


def tab_to(window: Window, name: str, limit: int = 80) -> None:
    """Press Tab until something with this name has the focus."""
    for _ in range(limit):
        window.keyboard.press("Tab")
        if name in focused(window):
            return
    raise AssertionError(f"no {name} within {limit} tabs")


def test_adding_a_site_lists_and_jobs_by_keyboard_alone(person: Person, tmp_path: Path) -> None:
    window, press = person.window, person.window.keyboard.press
    source = write_lists(tmp_path / "results")
    person.open("start")
    window.get_by_role("heading", name="Add a site").wait_for()
    tab_to(window, "Open the sample site")
    window.locator("input[name=kind]").first.focus()
    press("ArrowRight")
    press("Tab")
    window.keyboard.type(str(source))
    tab_to(window, "Ready-made schemas")
    window.keyboard.type("an empty")
    for index, name in enumerate(("name", "cost"), 1):
        tab_to(window, "Add an attribute")
        press("Enter")
        window.keyboard.press("Shift+Tab")
        while f"Name of attribute {index}" not in focused(window):
            window.keyboard.press("Shift+Tab")
        window.keyboard.type(name)
    tab_to(window, "Find templates")
    press("Enter")
    expect(window.get_by_role("button", name="Jobs: 1")).to_be_visible()
    person.open("lists", site="results")
    proposal = window.get_by_role("region", name="Proposed rows")
    expect(proposal.locator("tbody tr")).to_have_count(12)
    columns = proposal.locator("thead select").all()
    texts = [
        proposal.locator("tbody tr").first.locator("td").nth(place).inner_text()
        for place in range(len(columns))
    ]
    for column, text in zip(columns, texts, strict=True):
        if text.startswith(("$", "Item")):
            column.focus()
            window.keyboard.type("cost" if text.startswith("$") else "name")
    window.get_by_role("button", name="Use 2 columns").focus()
    press("Enter")
    rows = window.get_by_role("region", name="All rows")
    expect(rows.locator("tbody tr")).to_have_count(12)
    tab_to(window, "Correct cost of row 2")
    press("Enter")
    expect(window.locator(".pagebar")).to_contain_text("Click the value of cost")
    press("/")
    window.keyboard.type("green")
    expect(window.locator(".pagebar .cursor")).to_have_text("green")
    press("Enter")
    expect(rows.locator("tbody tr").nth(1).locator("td").nth(1)).to_contain_text("green")
    assert "of row 2" in focused(window)
    press("u")
    expect(rows.locator("tbody tr").nth(1).locator("td").nth(1)).to_contain_text("$")
    press("s")
    expect(window.locator(".toast").last).to_contain_text("Rules saved as version")
    tab_to(window, "Jobs:", 200)
    press("Enter")
    panel = window.get_by_role("region", name="Jobs")
    expect(panel).to_contain_text("Add results")
    expect(panel).to_contain_text("5 pages in 1 template")
    press("Escape")
    expect(panel).to_be_hidden()
    assert "Jobs" in focused(window)
