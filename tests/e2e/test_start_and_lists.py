"""A newcomer: `untemplate serve` alone, the sample site, list pages as tables; and every view for everybody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page as Window
from playwright.sync_api import expect

from tests.e2e.person import Person
from untemplate import Attribute, Label, Page, Schema, cluster, read_pages
from untemplate.catalog import Catalog
from untemplate.web import RunningServer, add_site, running_server

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
# The pages themselves are made by others: axe judges our own document.
RUN_AXE = """(options) => axe.run(document, { iframes: false, resultTypes: ["violations"], ...options })
    .then(({ violations }) => violations.map(({ id, nodes }) =>
        `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(" ")}`))"""
# A dark page differs from a light one in nothing but its colors.
COLORS_ONLY = {"runOnly": ["color-contrast"]}
OVERFLOW = "() => document.scrollingElement.scrollWidth - innerWidth"
ROW = """<div class="hit"><h3><a href="/d/{number}">Item {number} of {page}</a></h3>
    <span class="price">${number}.50</span> <em>{color}</em></div>"""
COLORS = ("red", "green", "blue")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server over an empty catalog, in a folder of its own."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, Catalog.open(folder / "catalog.db") as catalog:
        patch.chdir(folder)
        with running_server(catalog) as server:
            yield server


def write_lists(folder: Path) -> Path:
    """Write list pages of 12 rows each."""
    folder.mkdir()
    for page in range(5):
        rows = [ROW.format(number=10 * page + row, page=page, color=COLORS[row % 3]) for row in range(12)]
        html = f"<html><body><h1>Results {page}</h1><div id='hits'>{''.join(rows)}</div><p>Imprint</p></body></html>"
        (folder / f"{page}.html").write_text(html, "utf-8")
    return folder


def access_problems(window: Window, options: dict[str, list[str]] | None = None) -> list[str]:
    """What axe-core finds in the way of people, and what is wider than the window."""
    expect(window.locator("main")).to_have_attribute("aria-busy", "false")
    if not window.evaluate("() => 'axe' in window"):
        window.evaluate(AXE)
    problems: list[str] = window.evaluate(RUN_AXE, options or {})
    return [*problems, "too wide"] if window.evaluate(OVERFLOW) > 0 else problems


def test_the_sample_site_from_nothing(person: Person) -> None:
    window = person.window
    person.open("overview")
    expect(window.locator("main")).to_contain_text("No site yet")
    assert access_problems(window) == []
    window.locator("main").get_by_role("link", name="Add a site").click()
    expect(window.get_by_label("Name of attribute 1")).to_be_visible()
    assert access_problems(window) == []
    window.get_by_role("button", name="Open the sample site").click()
    tour = window.get_by_role("dialog", name="A tour in two minutes")
    expect(tour).to_contain_text("Click a value on the page")
    tour.get_by_role("button", name="Close").click()
    assert person.page
    assert "site=sample" in window.url
    assert window.locator(".records tbody tr").count() > 5


def test_annotate_opens_where_the_work_is(person: Person, tmp_path: Path) -> None:
    """Detail pages come first, although there are more list pages; then the template that somebody began.

    Lists opens at the template of lists.
    """
    window = person.window
    pages = [*map(hotel_list, range(5)), *map(hotel, range(4)), *map(room, range(3))]
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        source = read_pages(pages)
        clusters = cluster(source)
        assert [found.size for found in clusters] == [5, 4, 3]
        add_site(catalog, "hotels", clusters, Schema("hotel", {"name": Attribute("name")}), source, {})
        with running_server(catalog) as server:
            window.goto(f"{server.url}#/annotate?site=hotels")
            template = window.get_by_label("Template")
            expect(template.locator("option:checked")).to_contain_text("4 pages")
            catalog.add_labels("hotels", [Label("room0.html", "name", "Room 0")], "a colleague")
            window.reload()
            window.goto(f"{server.url}#/annotate?site=hotels")
            expect(template.locator("option:checked")).to_contain_text("3 pages")
            window.get_by_role("link", name="Lists").click()
            expect(template.locator("option:checked")).to_contain_text("5 pages")


def hotel_list(number: int) -> Page:
    rows = "".join(ROW.format(number=10 * number + row, page=number, color="red") for row in range(12))
    return Page(f"http://inns.example/all?page={number}", f"<div>{rows}</div>", f"list{number}.html")


def hotel(number: int) -> Page:
    html = f"<h1>Hotel {number}</h1><p>{number} stars</p><div>{'Quiet and near the sea. ' * 20}</div>"
    return Page(f"http://inns.example/hotel/{number}", html, f"hotel{number}.html")


def room(number: int) -> Page:
    facts = "".join(
        f"<tr><th>Fact {fact}</th><td>{'A room with a view. ' * fact}</td></tr>" for fact in range(9)
    )
    return Page(
        f"http://inns.example/room/{number}",
        f"<h2>Room {number}</h2><table>{facts}</table>",
        f"room{number}.html",
    )


def test_a_list_page_becomes_a_table(person: Person, tmp_path: Path) -> None:
    window = person.window
    source = write_lists(tmp_path / "results")
    person.open("start")
    window.get_by_label("A path on this machine").check()
    window.get_by_label("Folder or file").fill(str(source))
    window.get_by_label("Name of the site").fill("results")
    window.get_by_label("Ready-made schemas").select_option(label="an empty one")
    for index, (name, type) in enumerate(
        (("name", "text"), ("cost", "price"), ("tint", "text"), ("link", "url")), 1
    ):
        window.get_by_role("button", name="Add an attribute").click()
        window.get_by_label(f"Name of attribute {index}").fill(name)
        window.get_by_label(f"Type of attribute {index}").select_option(type)
    window.get_by_role("button", name="Find templates").click()
    expect(window).to_have_url(re.compile("site=results"))  # the import has ended
    person.open("lists", site="results")
    proposal = window.get_by_role("region", name="Proposed rows")
    expect(proposal.locator("tbody tr")).to_have_count(12)
    columns = proposal.locator("thead select").all()
    texts = [
        proposal.locator("tbody tr").first.locator("td").nth(place).inner_text()
        for place in range(len(columns))
    ]
    for column, text in zip(columns, texts, strict=True):
        wanted = (
            "cost" if text.startswith("$") else "tint" if text in COLORS else "name" if "Item" in text else ""
        )
        column.select_option(wanted)
    window.get_by_role("button", name="Use 3 columns").click()
    rows = window.get_by_role("region", name="All rows")
    expect(rows.locator("tbody tr")).to_have_count(12)
    assert rows.locator("tbody tr").nth(7).locator("td").nth(1).inner_text().startswith("$")
    rows.get_by_role("button", name="Correct link of row 1:").click()
    person.page.locator(".hit a").first.click()
    expect(rows.locator("tbody tr").first.locator("td").nth(3)).to_contain_text("/d/")
    assert access_problems(window) == []
    window.keyboard.press("s")
    expect(window.locator(".toast").last).to_contain_text("Rules saved as version")
    window.get_by_role("link", name="Rules").first.click()
    expect(window.locator("main")).to_contain_text("one record per row")
    person.open("review", site="results")
    doubtful = window.get_by_role("region", name="Doubtful rows").locator("tbody tr").first
    expect(doubtful).to_contain_text("few checks agree with it")  # neither labeled row is blue
    assert access_problems(window) == []
    page = doubtful.locator("td").first.inner_text()
    doubtful.get_by_role("link", name="Correct").click()
    expect(window.locator(".lists .pagebar")).to_contain_text(page)
    person.open("export", site="results")
    with window.expect_download() as download:
        window.get_by_role("button", name="JSONL").first.click()
    records = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert len(records) == 60
    assert {record["tint"] for record in records} == set(COLORS)


def test_every_view_is_accessible_in_light_dark_and_on_a_phone(person: Person) -> None:
    window = person.window
    views = ("overview", "annotate", "lists", "review", "rules", "monitor", "export", "start", "api")
    problems: dict[str, list[str]] = {}
    for view in views:
        person.open(view, site="results")
        expect(window.locator("main > *:not([hidden])").first).to_be_visible()
        for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
            window.set_viewport_size({"width": width, "height": 800})
            window.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            if found := access_problems(window, COLORS_ONLY if scheme == "dark" else None):
                problems[f"{view} {scheme} {width}"] = found
    assert not problems, "\n".join(f"{view}: {found}" for view, found in problems.items())
