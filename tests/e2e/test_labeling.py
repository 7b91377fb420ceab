"""What makes labeling on real pages hard: lists, pages without style sheets, unclear states, and lost servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.person import Person
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.page import Page
from untemplate.schema import Attribute, Schema
from untemplate.sources import read_pages
from untemplate.web import RunningServer, add_site, running_server

SCHEMA = Schema(
    "recipe",
    {
        "title": Attribute("title", mandatory=True),
        "ingredients": Attribute("ingredients", many=True),
        "time": Attribute("time"),
        "note": Attribute("note"),
    },
)
OPEN_SHADOWS = """const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function () { return attach.call(this, { mode: "open" }); };"""
SHADOW = "document.querySelector('untemplate-marks').shadowRoot"
# Tags with the name of an attribute that cover a line of the page.
COVERING = f"""[...{SHADOW}.querySelectorAll('div:not(.beside) > span')].filter((tag) => {{
    const [one, lines] = [tag.getBoundingClientRect(), document.querySelectorAll("li, h1, p")];
    return [...lines].some((line) => {{
        const range = document.createRange();
        range.selectNodeContents(line);
        return [...range.getClientRects()].some((other) => one.left < other.right && other.left < one.right
            && one.top + 3 < other.bottom && other.top < one.bottom - 3);
    }});
}}).length"""
BESIDE = f"[...{SHADOW}.querySelectorAll('.beside span')].map((tag) => tag.textContent)"
EMPTY = {
    "review": "Nothing to review yet",
    "monitor": "No rules to watch yet",
    "lists": "No list pages yet",
    "rules": "No rules yet",
    "export": "Nothing to export yet",
    "annotate": "No pages yet",
}


def ingredients_of(number: int) -> list[str]:
    return [f"{number + place} spoons of item {place}" for place in range(14)]


def recipe(number: int) -> Page:
    """A page with a dense list, a menu in front of everything, and a style sheet that did not come with it."""
    links = "".join(f'<li><a href="/{place}">Menu {place}</a></li>' for place in range(120))
    items = "".join(f"<li>{text}</li>" for text in ingredients_of(number))
    head = f'<title>Recipe {number}</title><link rel="stylesheet" href="missing.css">'
    html = f"""<!doctype html><html><head>{head}</head>
        <body><ul class="menu">{links}</ul><h1>Recipe {number}</h1><ul class="parts">{items}</ul>
        <p class="time"><b>{number}0</b> <i>minutes</i><span>.</span></p>
        <p class="long">Serves exactly {number + 2} hungry people every day</p></body></html>"""
    return Page(f"http://cook.example/{number}", html, f"{number}.html")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of this file; each test has pages of its own."""
    with Catalog.open(tmp_path_factory.mktemp("catalog") / "catalog.db") as catalog:
        pages = read_pages([recipe(number) for number in range(10)])
        add_site(catalog, "cook", cluster(pages), SCHEMA, pages, {})
        with running_server(catalog) as server:
            yield server


def number_of(person: Person) -> int:
    return int(person.page_id.removesuffix(".html"))


def test_a_list_of_14_ingredients_in_few_actions_with_every_line_readable(person: Person) -> None:
    window = person.window
    window.add_init_script(OPEN_SHADOWS)
    person.open(page="0.html")
    expect(window.locator(".chip").nth(1)).to_contain_text("several")
    items = person.page.locator("ul.parts li")
    person.press("2")
    for place in (0, 5):
        with person.completing():
            items.nth(place).click()
    with person.completing():
        person.press("a")
    assert person.value("ingredients") == " | ".join(ingredients_of(0))  # four actions
    assert person.page.evaluate(COVERING) == 0  # the tags of 13 ingredients covered the lines above them
    expect(window.locator(".chip.active .name")).to_contain_text("time")  # the list is complete: it goes on
    assert items.nth(3).bounding_box()
    items.nth(3).hover(position={"x": 20, "y": 10})  # on its text
    expect(window.locator(".activename")).to_have_text("time")
    shown = person.page
    for _ in range(200):  # the next time that the page is drawn
        if "ingredients is here" in shown.evaluate(BESIDE):
            break
        window.wait_for_timeout(50)
    assert shown.evaluate(BESIDE) == ["time", "ingredients is here"]
    removed = ingredients_of(0)[13]
    with person.completing():
        window.get_by_role("button", name=f"Remove {removed} from ingredients").click()
    assert person.value("ingredients") == " | ".join(ingredients_of(0)[:13])
    person.press("ArrowLeft", "ArrowLeft")
    expect(window.locator(".chip.active .name")).to_contain_text("title")


def test_a_page_without_its_style_sheets_is_readable(person: Person) -> None:
    person.open(page="1.html")
    page = person.page
    top = page.locator("h1").evaluate("(heading) => heading.getBoundingClientRect().top")
    assert 0 <= top < 200  # it was nine screens down
    menu = page.locator("ul.menu").evaluate("(list) => [list.clientHeight, list.scrollHeight]")
    assert menu[0] < 90 < menu[1]  # folded, and nothing is lost
    window = person.window
    window.get_by_role("button", name="1 missing").click()
    expect(window.get_by_role("dialog")).to_contain_text(
        "Addresses of this machine and its network are refused"
    )
    window.get_by_role("button", name="Close").click()
    page.evaluate("scrollTo(0, 0)")
    window.get_by_role("button", name="Main content").click()
    expect(page.locator("h1")).to_be_in_viewport()


def test_what_is_unclear_is_said(person: Person) -> None:
    window = person.window
    person.open(page="2.html")
    page = person.page
    person.choose("time")
    page.locator(".time i").click(modifiers=["Shift"])
    expect(window.locator(".toast").last).to_contain_text("nothing to extend")
    with person.completing():
        page.locator(".time b").click()
    with person.completing():
        page.locator(".time span").click(modifiers=["Shift"])
    assert person.value("time") == "20 minutes."  # not "20 minutes ."
    person.choose("title")
    with person.completing():
        page.locator(".time b").click()  # the place of the label before
    person.choose("title")
    with person.completing():
        page.locator("h1").click()
    expect(window.locator(".remaining")).to_contain_text("note has no label yet")
    person.choose("note")
    with person.completing():
        window.get_by_role("button", name="note is not on this site").click()
    assert all(row[3] == "not on this page" for row in person.records())
    expect(window.locator(".notice")).not_to_contain_text("note")
    person.ask("u")
    expect(window.locator(".remaining")).to_contain_text("note has no label yet")
    person.choose("note")
    frame = window.locator(".annotate .frame iframe").bounding_box()
    toasts, bar = window.locator(".toasts").bounding_box(), window.locator(".records").bounding_box()
    assert frame
    assert toasts
    assert bar
    assert toasts["y"] >= bar["y"] + bar["height"] - 1  # messages cover nothing
    window.get_by_label("Find a text on the page").fill("no such words")
    expect(window.locator(".pagebar .cursor")).to_have_text("not on this page")
    window.get_by_label("Find a text on the page").fill("")
    person.select("Serves", "xactly 4 hung")  # from the middle of a word to the middle of another
    assert person.value("note") == "exactly 4 hungry"


def test_labels_that_contradict_each_other_are_flagged_at_once(person: Person) -> None:
    window = person.window
    person.open(page="3.html")
    person.choose("note")
    with person.completing():
        person.page.locator("h1").click()
    person.choose("title")
    with person.completing():
        person.page.locator("h1").click()
    expect(window.locator(".toast.bad").last).to_contain_text("This place is labeled as note, too")
    person.ask("u", "u")


def test_a_heavy_page_stays_while_another_view_is_shown(person: Person) -> None:
    window = person.window
    person.open(page="4.html")
    person.page.evaluate("window.mine = 1")
    window.get_by_role("link", name="Rules").click()
    expect(window.get_by_role("heading", name="Rules")).to_be_visible()
    assert window.locator(".annotate").is_hidden()
    window.get_by_role("link", name="Annotate").click()
    expect(window.locator(".annotate")).to_be_visible()
    assert person.page.evaluate("window.mine") == 1
    cell = window.locator(".records tbody tr").nth(2).locator("td").first
    cell.click()  # goes to the value on its page
    expect(window.locator(".chip.active .name")).to_contain_text("title")
    window.get_by_label("Filter the records").fill("recipe 7.html")
    expect(window.locator(".records tbody tr")).to_have_count(1)


def test_a_server_that_is_gone_is_noticed(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context()
    window = context.new_page()
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        with running_server(catalog) as server:
            window.goto(server.url)
            expect(window.locator("main")).to_contain_text("No site yet")
            for view, text in EMPTY.items():
                window.goto(f"{server.origin}/#/{view}")
                expect(window.locator("main")).to_contain_text(text)
        expect(window.get_by_role("alert")).to_contain_text("The server does not answer")
    context.close()


def test_names_of_messages_stay_plain(person: Person) -> None:
    """Words of the code do not reach people."""
    person.open("rules")
    expect(person.window.get_by_role("heading", name="Rules")).to_be_visible()
    assert not re.search("committee|shingle|bellwether", person.window.locator("main").inner_text())
