"""Takes the pictures of the web pages that README and docs show: of a made-up site, and of recipes.

python -m scripts.screenshots               into docs/images
python -m scripts.screenshots -o FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Frame, Page, sync_playwright

from untemplate.browser import find_chromium
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.demo import Site, make_site, write_site
from untemplate.page import Page as WebPage
from untemplate.schema import Attribute, Schema
from untemplate.sources import read_pages
from untemplate.web import RunningServer, add_site, running_server

ROOT = Path(__file__).parents[1]
FLAGS = ("--disable-gpu", "--no-first-run", "--disable-background-networking", "--force-color-profile=srgb")

# The stylesheet that made-up pages link to but do not come with: laid beside them, it is shown with them.
STYLE = """
* { float: none !important; margin: 0 !important; padding: 0 !important; color: inherit !important; }
body { background: #f4efe6; color: #2d2722; font: 15px/1.55 Georgia, 'DejaVu Serif', serif; }
.appPage { display: block; max-width: 860px; margin: 0 auto !important; padding: 24px 32px !important; }
.appPage { background: #fffdf9; }
.appHeader { display: flex; gap: 18px; align-items: center; padding-bottom: 10px !important; }
.appHeader { border-bottom: 2px solid #b4552d; }
.appHeader img { display: none; } .appHeader > div { flex: 1; font-style: italic; }
.appNav { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 10px 0 !important; font-size: 13px; }
.appCrumbs { font-size: 13px; color: #8a7c70 !important; margin: 8px 0 !important; }
.appHeading { font-size: 30px; font-weight: bold; line-height: 1.3; }
.appHeading span { font-weight: normal; color: #8a7c70 !important; }
.appData li { display: inline-block; background: #f1e4d4; border-radius: 12px; }
.appData li { padding: 1px 10px !important; margin-right: 6px !important; }
.appSubtitle, .appAttributes, .appLists, .appSummary, .appAlso { margin: 12px 0 !important; }
h3, h4 { font-size: 15px; color: #b4552d !important; } .appSubtitle { display: flex; gap: 24px; }
"""

RECIPE_STYLE = """
body { margin: 0; background: #f4efe6; color: #2d2722; font: 16px/1.6 Georgia, 'DejaVu Serif', serif; }
main { max-width: 560px; margin: 0 auto; padding: 20px 40px; min-height: 100vh; background: #fffdf9; }
h1 { font-size: 30px; } h2 { font-size: 17px; color: #b4552d; } li { margin: 5px 0; } i { font-style: normal; }
"""
INGREDIENTS = [
    ("big", "leeks"),
    ("cups", "water"),
    ("tsp", "salt"),
    ("tbsp", "butter"),
    ("large", "potatoes"),
]

# Where on the page a value stands: the shortest text that has it as words of its own, in the biggest letters.
FIND = """value => {
    const words = new RegExp(`(?<!\\\\w)${value.replace(/[.*+?^${}()|[\\]\\\\]/g, "\\\\$&")}(?!\\\\w)`);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode, start = node.data.search(words);
        if (start >= 0) found.push({node, start, size: parseFloat(getComputedStyle(node.parentElement).fontSize)});
    }
    found.sort((a, b) => a.node.data.trim().length - b.node.data.trim().length || b.size - a.size);
    const [{node, start}] = found, range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + value.length);
    const before = range.getBoundingClientRect();
    if (before.top < 0 || before.bottom > innerHeight) scrollTo(0, scrollY + before.top - innerHeight * 0.85);
    const {left, right, top, bottom} = range.getBoundingClientRect();
    return {left, right, middle: (top + bottom) / 2};
}"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.screenshots", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images")
    output: Path = parser.parse_args().output
    executable = find_chromium()
    if executable is None:
        print("no Chromium: scripts/system-packages installs it", file=sys.stderr)
        return 2
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        site = make_site("movie", seed=3, pages=60)
        _write(site, folder / "site")
        _write(site.redesign(0.7, seed=5), folder / "later")
        browser = playwright.chromium.launch(
            executable_path=executable, args=FLAGS, chromium_sandbox=os.geteuid() != 0
        )
        with Catalog.open(folder / "catalog.db") as catalog:
            pages = read_pages(folder / "site")
            add_site(catalog, "bestinsider3.example", cluster(pages), site.schema, pages, {})
            with running_server(catalog) as server:
                window = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=1)
                _Photographer(window, server, site, folder, output).shoot()
        _shoot_data(browser, folder, output)
        browser.close()
    return 0


def _recipe(number: int) -> WebPage:
    """Return a page with a recipe that also tells its values to programs, one of them only to them."""
    ingredients = [f"{number + place} {unit} {food}" for place, (unit, food) in enumerate(INGREDIENTS, 1)]
    steps = ["Chop the leeks.", "Cook everything slowly.", "Season and serve."]
    data = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": "Soup of the day"},
            {
                "@type": "Recipe",
                "name": f"Leek soup no. {number}",
                "author": {"@type": "Person", "name": "Ann Potter"},
                "recipeIngredient": ingredients,
                "recipeInstructions": [{"@type": "HowToStep", "text": step} for step in steps],
                "nutrition": {"@type": "NutritionInformation", "calories": f"{240 + number} kcal"},
            },
        ],
    }
    split = [text.split(" ", 2) for text in ingredients]
    items = "".join(f"<li><b>{amount}</b> <i>{unit}</i> {food}</li>" for amount, unit, food in split)
    html = (
        f"<html><head><title>Leek soup no. {number}</title><style>{RECIPE_STYLE}</style>"
        f'<script type="application/ld+json">{json.dumps(data)}</script></head><body><main>'
        f"<h1>Leek soup no. {number}</h1><p>Ready in {25 + number} minutes</p>"
        f"<h2>Ingredients</h2><ul class='parts'>{items}</ul>"
        f"<h2>Method</h2><ol>{''.join(f'<li>{step}</li>' for step in steps)}</ol></main></body></html>"
    )
    return WebPage(f"http://soups.example/{number}.html", html, f"{number}.html")


def _shoot_data(browser: Browser, folder: Path, output: Path) -> None:
    """Take the pictures of embedded data, with two items of a list that propose the others, and of a clean-up."""
    attributes = [
        Attribute("title"),
        Attribute("calories"),
        Attribute("ingredients", many=True),
        Attribute("time"),
    ]
    schema = Schema("recipe", {attribute.name: attribute for attribute in attributes})
    pages = read_pages([_recipe(number) for number in range(1, 9)])
    with Catalog.open(folder / "soups.db") as catalog:
        add_site(catalog, "soups.example", cluster(pages), schema, pages, {})
        with running_server(catalog) as server:
            window = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=1)
            window.goto(f"{server.url}#/annotate")
            window.get_by_role("button", name="Embedded data", exact=True).click()
            window.locator(".chip .name").filter(has_text="calories").click()
            window.locator(".datum").filter(has_text="kcal").click()
            window.locator(".chip.labeled").wait_for()
            window.locator(".chip .name").filter(has_text="ingredients").click()
            items = window.frame_locator(".frame iframe").locator(".parts li")
            for place in (0, 1):
                items.nth(place).locator("b").click()
                window.locator(".chip .value").nth(place + 1).wait_for()
            window.locator(".proposal").wait_for()
            items.nth(4).hover(position={"x": 420, "y": 10})  # beside the texts
            window.wait_for_timeout(400)
            window.locator(".data .scroll").evaluate("box => box.scrollTo(0, 0)")
            window.screenshot(path=output / "annotate-data.png")
            window.get_by_role("button", name="All 5").click()
            window.locator(".chip .name").filter(has_text="time").click()
            window.frame_locator(".frame iframe").locator("p").first.click()
            window.locator(".chip.labeled").nth(2).wait_for()
            window.locator(".chip .name").filter(has_text="time").click()
            window.get_by_role("button", name="Clean up time").click()
            window.get_by_label("Keep what follows").fill("Ready in")
            window.locator("dialog tbody strong").nth(7).wait_for()
            window.screenshot(path=output / "cleanup.png")
            print(output / "annotate-data.png", output / "cleanup.png", sep="\n")


def _write(site: Site, folder: Path) -> None:
    write_site(site, folder)
    (folder / "css").mkdir()
    for link in {found for page in site.pages for found in re.findall(rb'href="/css/([\w.]+)"', page.html)}:
        (folder / "css" / link.decode()).write_text(STYLE, "utf-8")


class _Photographer:
    def __init__(self, window: Page, server: RunningServer, site: Site, folder: Path, output: Path) -> None:
        self.window = window
        self.server = server
        self.site = site
        self.folder = folder
        self.output = output
        self.rounds = 0
        window.set_default_timeout(180_000)

    def shoot(self) -> None:
        window = self.window
        window.goto(f"{self.server.url}#/annotate")
        self._label("title", "director")
        self._take("annotate")
        window.get_by_role("button", name="Edit attributes").click()
        window.locator("dialog .attributes").wait_for()
        self._take("schema")
        window.keyboard.press("Escape")
        self._label("genre", "mpaa_rating", "year")
        self._show("review")
        self._show("annotate", take=False)
        while not window.locator(".done").count():
            self._label(
                *window.locator(".chip.missing .name .grow, .chip.open .name .grow").all_inner_texts()
            )
            window.keyboard.press("Enter")
            self._settle(1)
        self._take("annotate-done")
        window.set_viewport_size({"width": 390, "height": 844})
        self._take("annotate-phone")
        window.set_viewport_size({"width": 1280, "height": 800})
        window.emulate_media(color_scheme="dark")
        self._take("annotate-dark")
        window.emulate_media(color_scheme="light")
        window.keyboard.press("s")
        self._settle()
        self._show("overview")
        lists = [one["cluster"] for one in self._clusters() if one["kind"] == "list"]
        if lists:
            self._show(f"lists?cluster={lists[0]}", "lists")
            window.get_by_role("button", name="Use ").click()
            window.get_by_role("region", name="All rows").wait_for()
            self._take("lists-rows")
            window.keyboard.press("u")
            window.get_by_role("region", name="Proposed rows").wait_for()
        window.set_viewport_size({"width": 390, "height": 844})
        self._show("overview", "overview-phone")
        window.set_viewport_size({"width": 1280, "height": 800})
        self._show("rules")
        self._show("export")
        self._show("monitor", take=False)
        self._round("Watch", self.folder / "site")
        self._round("Watch", self.folder / "site")
        self._round("Watch", self.folder / "later")
        window.get_by_role("button", name="Before and after").first.click()
        self._settle(1.5)
        self._take("monitor")
        self._round("Heal", self.folder / "later")
        window.locator(".proposalbox").evaluate("box => box.scrollIntoView()")
        self._take("monitor-heal")
        window.get_by_role("button", name="Approve").click()
        window.get_by_role("heading", name="Healed").wait_for()
        window.locator("main").evaluate("main => main.scrollTo(0, 0)")
        self._take("monitor-healed")
        self._show("start")

    @property
    def _frame(self) -> Frame:
        self.window.locator(".annotate .frame[aria-busy=false] iframe").wait_for()
        frame = self.window.locator(".annotate .frame iframe").element_handle().content_frame()
        assert frame
        frame.locator("untemplate-marks").wait_for(state="attached")
        return frame

    def _label(self, *attributes: str) -> None:
        frame = self._frame
        page = self.window.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('page')")
        for attribute in attributes:
            attribute = attribute.removesuffix(" *")
            values = self.site.truth[page][attribute]
            self.window.locator(".chip .name").filter(has_text=attribute).click()
            if not values:
                self.window.keyboard.press("x")
            for value in values:
                box = frame.evaluate(FIND, value)
                held = self.window.locator(".annotate .frame iframe").bounding_box()
                assert held
                before = int(self.window.locator(".annotate").get_attribute("data-completed") or 0)
                mouse, y = self.window.mouse, held["y"] + box["middle"]
                mouse.move(held["x"] + box["left"] + 0.5, y)
                mouse.down()
                mouse.move(held["x"] + box["right"] - 0.5, y, steps=3)
                mouse.up()
                self.window.wait_for_function(
                    "before => Number(document.querySelector('.annotate').dataset.completed) > before",
                    arg=before,
                )

    def _round(self, what: str, source: Path) -> None:
        field = self.window.get_by_role("textbox", name="Where fresh pages are")
        field.fill(str(source))
        self.window.get_by_role("button", name=what, exact=True).click()
        self.rounds += 1
        self.window.get_by_role("button", name=f"Jobs: {self.rounds}", exact=True).wait_for()
        self._settle(1)

    def _clusters(self) -> list[dict[str, str]]:
        path = "/api/site?site=bestinsider3.example"
        site = self.window.evaluate("path => fetch(path).then(answer => answer.json())", path)
        clusters: list[dict[str, str]] = site["clusters"]
        return clusters

    def _show(self, view: str, name: str | None = None, take: bool = True) -> None:
        """Show a view, and take its picture under its own or another name."""
        self.window.evaluate("view => { location.hash = `#/${view}` }", view)
        self._settle(2)
        if take:
            self._take(name or view)

    def _settle(self, seconds: float = 0.6) -> None:
        self.window.wait_for_timeout(seconds * 1000)

    def _take(self, name: str) -> None:
        for picture in self.window.locator(".picture").all():
            picture.scroll_into_view_if_needed()
            picture.locator("iframe").content_frame.locator("untemplate-marks").wait_for(state="attached")
        self.window.locator("main").evaluate(
            "main => main.querySelector('.templates') && main.scrollTo(0, 0)"
        )
        self.window.locator(".trouble").wait_for(state="detached")
        self._settle()
        self.window.screenshot(path=self.output / f"{name}.png")
        print(self.output / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
