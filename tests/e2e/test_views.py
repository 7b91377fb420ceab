"""Every view shows what it should, on a desk and on a phone, for eyes and for screen readers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.person import Person
from untemplate.demo import Site, write_site
from untemplate.page import Page
from untemplate.watching import Alarm
from untemplate.web.site_updates import save_draft

# Controls without a name that a screen reader could say.
NAMELESS = """() => {
    const controls = document.querySelectorAll("button, a[href], input, select, textarea, iframe, svg[role=img]");
    const name = (one) => one.ariaLabel || one.title || one.textContent.trim() || one.labels?.[0]?.textContent.trim();
    return [...controls].filter((one) => !name(one)).map((one) => one.outerHTML);
}"""
# What is wider than the window.
OVERFLOW = "() => document.scrollingElement.scrollWidth - innerWidth"


@pytest.fixture
def labeled(person: Person, site: Site) -> Person:
    """A person whose site has rules."""
    catalog, workspace = person.server.workspace.catalog, person.server.workspace
    page = workspace.site("guide").pages["c1"][0]
    catalog.add_labels("guide", [label for label in site.labels if label.page == page], "me")
    save_draft(workspace.site("guide"))
    return person


def test_every_view_on_a_desk_and_on_a_phone(labeled: Person) -> None:
    window = labeled.window
    shown = {
        "overview": "Waiting for you",
        "annotate": "Records",
        "review": "doubtful value",
        "rules": "Versions",
        "monitor": "not watched yet",
        "export": "Parquet",
        "api": "/api/labels",
    }
    for view, text in shown.items():
        labeled.open(view)
        expect(window.locator("main")).to_contain_text(text)
        for width, scheme in ((1280, "light"), (390, "dark")):
            window.set_viewport_size({"width": width, "height": 800})
            window.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert window.evaluate(NAMELESS) == [], view
            assert window.evaluate(OVERFLOW) <= 0, view


def test_the_keyboard_skips_to_the_content(person: Person) -> None:
    person.open("export")
    expect(person.window.locator("main")).to_contain_text("Parquet")
    person.press("Tab", "Enter")
    expect(person.window.locator("main")).to_be_focused()
    assert "#/export" in person.window.url


def test_doubtful_values_are_settled_with_one_key(labeled: Person) -> None:
    window, workspace = labeled.window, labeled.server.workspace
    for id in workspace.site("guide").pages["c1"][5:8]:
        page = workspace.catalog.page("guide", id)
        html = re.sub(rb"<h1.*?</h1>", b"<p>Closed for the season</p>", page.html)
        workspace.catalog.save_page("guide", Page(page.url, html, id))
    workspace.site("guide").forget_pages()
    labeled.open("review", cluster="c1")
    doubts = window.locator(".doubt").filter(has_text="name")
    expect(doubts).to_have_count(3)
    for left, act in (
        (2, lambda: window.keyboard.press("x")),
        (1, lambda: window.keyboard.press("Enter")),
        (0, lambda: labeled.page.get_by_text("Closed for the season").click()),
    ):
        doubts.first.click()
        window.locator(".review .frame[aria-busy=false] iframe").wait_for()
        act()
        expect(doubts).to_have_count(left)
    labels = [given.label for given in workspace.catalog.labels("guide") if given.label.attribute == "name"]
    assert "Closed for the season" in [label.value for label in labels]
    assert any(label.is_gap for label in labels)


def test_rules_are_rolled_back(labeled: Person) -> None:
    window = labeled.window
    labeled.open("rules", cluster="c1")
    window.get_by_role("button", name="What changed in version 2").click()
    expect(window.get_by_role("dialog")).to_contain_text("name")
    window.get_by_role("button", name="Close").click()
    window.get_by_role("button", name="Roll back to version 1").click()
    expect(window.locator(".toast").last).to_contain_text("as version 3")
    expect(window.locator("main")).to_contain_text("no rule")
    assert [version.reason for version in labeled.server.workspace.catalog.history("guide")][
        -1
    ] == "rolled back"


def test_a_change_is_seen_side_by_side_and_healed(
    labeled: Person, site: Site, folder: Path, tmp_path: Path
) -> None:
    window = labeled.window
    write_site(site.redesign(0.6, seed=1), tmp_path / "later")
    labeled.open("monitor", cluster="c1")
    field = window.get_by_role("textbox", name="Where fresh pages are")
    for source in (folder, tmp_path / "later"):
        field.fill(str(source))
        window.get_by_role("button", name="Watch", exact=True).click()
        expect(window.locator(".toast").last).to_contain_text("Watch guide")
        expect(window.locator("progress")).to_have_count(0)
    expect(window.get_by_role("heading", name="Alarms")).to_be_visible()
    window.get_by_role("button", name="Before and after").last.click()
    expect(window.locator(".sides iframe")).to_have_count(2)
    field.fill(str(tmp_path / "later"))
    window.get_by_role("button", name="Heal").click()
    proposal = window.get_by_role("region", name="Proposed repair")
    expect(proposal.locator("tbody tr").first).to_be_visible()
    assert [version.reason for version in labeled.server.workspace.catalog.history("guide")][-1] == "learned"
    proposal.get_by_role("button", name="Approve").click()
    expect(window.get_by_role("heading", name="Healed")).to_be_visible()
    expect(window.get_by_role("img", name="Pages that look like the template")).to_be_visible()


def test_many_sites_are_searched_sorted_and_labeled_from_one_queue(person: Person) -> None:
    window, catalog = person.window, person.server.workspace.catalog
    rules = catalog.rules("guide")
    for number in range(300):
        catalog.save_rules(f"shop{number}.example", rules)
    tests = Alarm("c1", "moved", "name", "Zen", "nothing", ())
    catalog.record_alarms("shop7.example", catalog.start_run("shop7.example", "watch"), [tests])
    person.open("overview")
    sites = window.get_by_role("region", name="Sites", exact=True)
    expect(sites).to_contain_text("301 sites")
    window.get_by_label("Search sites").fill("shop17 restaurant")
    expect(sites).to_contain_text("11 of 301 sites")
    expect(window.get_by_role("region", name="Waiting for a person").locator("li").first).to_contain_text(
        "shop17"
    )
    window.get_by_label("Search sites").fill("")
    sites.get_by_role("button", name="Alarms").click()
    expect(sites.locator("tbody tr").first).to_contain_text("shop7.example")
    queue = window.get_by_role("region", name="Waiting for a person")
    expect(queue.locator("li")).to_have_count(8)
    queue.get_by_role("button", name="Show all").click()
    assert queue.locator("li").count() > 300
    assert window.evaluate(NAMELESS) == []
    sites.get_by_role("link", name="shop7.example").click()
    expect(window.get_by_role("region", name="shop7.example").get_by_label("Name of c1")).to_be_visible()
    queue.get_by_label("Label c1 of guide").click()
    expect(window.locator("main")).to_contain_text("Records")
    assert "site=guide" in window.url
