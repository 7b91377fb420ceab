"""A person labels pages in the browser and has the records."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.e2e.person import TEXTS, Person
from untemplate.demo import Site

SELECT = (
    "(field, part) => field.setSelectionRange(...[0, part.length].map(by => field.value.indexOf(part) + by))"
)

# What changes labels reaches the server late, later than what is only asked for.
LATE = """const send = window.fetch;
window.fetch = async (path, options) => {
    if (options?.method !== "GET") await new Promise((later) => setTimeout(later, 300));
    return send(path, options);
};"""


def label_page(person: Person, site: Site) -> None:
    """Label everything on the page shown that the rules do not have right already."""
    truth = site.truth[person.page_id]
    for attribute, values in truth.items():
        if person.value(attribute) == " | ".join(values):
            continue
        person.choose(attribute)
        if not values:
            person.ask("x")
        for value in values:
            person.label(value)


def test_a_person_labels_two_pages_and_downloads_the_records(person: Person, site: Site) -> None:
    person.open()
    label_page(person, site)
    person.ask("n")
    label_page(person, site)
    person.press("Enter")
    expect(person.window.locator(".done")).to_be_visible()
    rows = {row["page"]: row for row in person.download("CSV")}
    assert len(rows) == len(site.pages)
    for page, truth in site.truth.items():
        assert rows[page]["name"] == truth["name"][0]
        assert rows[page]["phone"] == "".join(truth["phone"][:1])


def test_undo_and_redo(person: Person, site: Site) -> None:
    person.open()
    name = site.truth[person.page_id]["name"][0]
    person.click(name)
    assert person.value("name") == name
    assert all(row[0] for row in person.records())
    person.ask("u")
    assert (person.state("name"), person.records()[3][0]) == ("open", "")
    person.ask("r")
    assert person.value("name") == name
    person.ask("Control+z", "Control+Shift+z", "Control+z")
    assert person.state("name") == "open"


def test_clicks_extend_replace_and_add(person: Person, site: Site) -> None:
    person.open()
    truth = site.truth[person.page_id]
    street, city, region = texts = person.text(truth["address"][0]).evaluate(TEXTS)
    person.choose("address")
    person.click(street)
    person.click(city, ["Shift"])
    assert person.value("address") == f"{street} {city}"
    person.click(region, ["Shift"])
    assert person.value("address") == " ".join(texts) == truth["address"][0]
    person.choose("address")
    person.click(city)  # beside the label: a plain click replaces it
    assert person.value("address") == city
    person.choose("cuisine")
    for cuisine in truth["cuisine"]:
        person.click(cuisine)
    assert person.value("cuisine") == " | ".join(truth["cuisine"])
    person.click(truth["cuisine"][0])
    assert person.value("cuisine") == " | ".join(truth["cuisine"][1:])


def test_the_keyboard_alone_is_enough(person: Person, site: Site) -> None:
    person.open()
    truth = site.truth[person.page_id]
    person.press("1", "/")
    person.window.keyboard.type(truth["name"][0])
    expect(person.window.locator(".pagebar .cursor")).to_have_text(truth["name"][0])
    person.ask("Enter")
    person.press("3", "/")
    person.window.keyboard.type(truth["phone"][0])
    expect(person.window.locator(".pagebar .cursor")).to_contain_text(truth["phone"][0])
    person.press("Escape", "p")
    field = person.window.get_by_role("textbox", name="The text")
    field.evaluate(SELECT, truth["phone"][0])
    with person.completing():
        field.press("Enter")
    person.press("2")
    person.ask("x")
    person.press("4")
    person.ask("x")
    assert (person.value("name"), person.value("phone")) == (truth["name"][0], truth["phone"][0])
    assert (person.state("address"), person.state("cuisine")) == ("absent", "absent")
    first = person.page_id
    person.ask("j")
    assert person.page_id != first
    second = person.page_id
    assert person.value("name") == site.truth[second]["name"][0]
    person.press("Enter")
    expect(person.window.locator(".records .badge.good")).to_have_count(2)
    labeled = [given.label.page for given in person.server.workspace.catalog.labels("guide")]
    assert labeled.count(first) == 4
    assert second in labeled


def test_keys_in_a_hurry_take_place_one_after_the_other(person: Person, site: Site) -> None:
    person.window.add_init_script(LATE)
    person.open()
    name = site.truth[person.page_id]["name"][0]
    person.click(name)
    with person.completing(5):  # words of the first label arrive while the second is on its way
        person.press("2", "x", "4", "x", "u", "r", "3", "x")
    assert [person.state(one) for one in site.schema.attributes] == ["labeled", "absent", "absent", "absent"]
    person.press("j", "j", "j")
    assert person.page_id == person.server.workspace.site("guide").pages["c1"][3]
    person.ask("k")
    assert person.value("name") == site.truth[person.page_id]["name"][0]


def test_a_reload_loses_nothing(person: Person, site: Site) -> None:
    person.open()
    page = person.page_id
    person.click(site.truth[page]["name"][0])
    before = person.records()
    person.window.reload()
    assert person.page_id == page
    assert person.records() == before
    assert person.state("name") == "labeled"
    person.ask("u")
    assert person.state("name") == "open"


def test_two_windows_see_what_the_other_does(person: Person, site: Site, browser: Browser) -> None:
    person.open()
    context = browser.new_context(viewport={"width": 390, "height": 800})
    other = Person(context.new_page(), person.server)
    other.open()
    truth = site.truth[person.page_id]
    assert other.page_id == person.page_id
    person.click(truth["name"][0])
    expect(other.window.locator(".chip.labeled")).to_contain_text(truth["name"][0])
    other.choose("cuisine")
    other.click(truth["cuisine"][0])
    expect(person.window.locator(".chip.labeled")).to_have_count(2)
    labels = [given.label for given in person.server.workspace.catalog.labels("guide")]
    assert [(label.attribute, label.value) for label in labels] == [
        ("name", truth["name"][0]),
        ("cuisine", truth["cuisine"][0]),
    ]
    context.close()
