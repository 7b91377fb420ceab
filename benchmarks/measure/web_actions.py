"""How many actions and seconds a person needs in the browser until the records are right, on real pages.

python -m benchmarks.measure.web_actions [--sites N] [--kinds swde recipes courts]          N sites of each kind

On detail pages (SWDE and recipes) a script does what a person would on one page: it chooses each attribute, clicks
its value (the first and the last of several texts), and takes a list by two of its items and a key, if as many are
proposed as there are. Values that the page does not show are looked up in its embedded data. Those that are neither
there nor a text of their own are named and left out. Then what the rules find on the other sample pages is compared
with the truth, in letters and digits.

On list pages (courts) the script chooses the columns of the proposed rows whose cells are true values or, where there
is none, clicks the values of two rows. Then the rows that the rules find on the page are compared with all true ones.

An action is a click or a key; typing a search is one. Seconds are those of browser and server, without thinking.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Frame, sync_playwright
from playwright.sync_api import Page as Window
from rich.console import Console
from rich.table import Table

from benchmarks.data import recipes, swde
from benchmarks.data.courts import CourtPage, court_pages
from benchmarks.data.labeled_site import key
from untemplate.browser import find_chromium
from untemplate.catalog import Catalog
from untemplate.clustering import cluster
from untemplate.page import Page, visible_text
from untemplate.schema import Attribute, Schema
from untemplate.sources import read_pages
from untemplate.web import RunningServer, add_site, running_server

FLAGS = ("--disable-gpu", "--no-first-run", "--disable-background-networking")
SAMPLE_SITES = 3
KINDS = ("swde", "recipes", "courts")
MIN_ROWS = 5  # opinions on a page of courts
MIN_SHOWN = 0.9  # share of the values that a page shows as the truth has them
PATIENCE = 120_000  # milliseconds
PANEL_PAUSE = 700  # milliseconds until the panel of embedded data shows what was searched
# The middle of the first and the last text of the smallest visible element with just a value, or null.
LOCATE = """wanted => {
    const key = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, "");
    const texts = (element) => {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), found = [];
        while (walker.nextNode()) if (walker.currentNode.data.trim()) found.push(walker.currentNode);
        return found;
    };
    const box = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()].find((one) => one.width > 1 && one.height > 1);
    };
    const fitting = [...document.body.querySelectorAll("*")].filter((one) => key(one.textContent) === wanted);
    for (const element of fitting.reverse()) {
        const inside = texts(element).filter(box);
        if (!inside.length) continue;
        inside[0].parentElement.scrollIntoView({ block: "center" });
        const middle = (rect) => [rect.left + Math.min(rect.width / 2, 40), (rect.top + rect.bottom) / 2];
        return [middle(box(inside[0])), middle(box(inside.at(-1)))].slice(0, inside.length > 1 ? 2 : 1);
    }
    return null;
}"""


@dataclass
class Effort:
    """What a site cost, and what came of it."""

    site: str
    actions: int = 0
    seconds: float = 0.0
    right: int = 0
    judged: int = 0
    skipped: list[str] = field(default_factory=list)  # attributes whose value the script could not click


@dataclass(frozen=True)
class _Case:
    name: str
    schema: Schema
    pages: list[Page]
    truth: Mapping[str, Mapping[str, Sequence[str]]]  # by page or, if the pages are lists, by row
    has_rows: bool = False


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, default=SAMPLE_SITES, help="sites of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args(arguments)
    table = Table("site", "actions", "seconds", "right", "not clicked")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=list(FLAGS), chromium_sandbox=os.geteuid() != 0
        )
        for case in _cases(options.sites, options.kinds):
            effort = _label_site(case, browser)
            share = f"{effort.right} of {effort.judged}"
            row = (
                effort.site,
                str(effort.actions),
                f"{effort.seconds:.1f}",
                share,
                ", ".join(effort.skipped),
            )
            table.add_row(*row)
            print(*row, sep="\t", flush=True)
        browser.close()
    Console().print(table)
    return 0


def _cases(count: int, kinds: Sequence[str]) -> Iterator[_Case]:
    """Yield some sites of each kind."""
    makers = {"swde": _swde_cases, "recipes": _recipe_cases, "courts": _court_cases}
    for kind in kinds:
        yield from makers[kind](count)


def _swde_cases(count: int) -> Iterator[_Case]:
    """Yield the first site of some verticals."""
    for vertical in ("book", "nbaplayer", "restaurant", "auto")[:count]:
        site = swde.sites(vertical)[0]
        pages = site.pages()[::5]
        yield _Case(f"swde {site.name}", swde.schema_of(vertical), pages, site.truth())


def _recipe_cases(count: int) -> Iterator[_Case]:
    """Yield sites with most pages, if at least two of these are of one template: the others are judged."""
    loaded = filter(None, map(recipes.read_site, recipes.site_names()[::10]))
    by_size = sorted(loaded, key=lambda site: -len(site.pages))
    comparable = (site for site in by_size if max(part.size for part in cluster(read_pages(site.pages))) > 1)
    for labeled in islice(comparable, count):
        yield _Case(f"recipes {labeled.name}", labeled.schema, labeled.pages, labeled.truth)


def _court_cases(count: int) -> Iterator[_Case]:
    """Yield pages with at least `MIN_ROWS` opinions, spread evenly over the families of courts."""
    families: dict[str, CourtPage] = {}
    for court in court_pages():
        if len(court.keys()) >= MIN_ROWS:
            families.setdefault(court.family, court)
    chosen = list(families.values())
    for court in chosen[:: len(chosen) // count][:count]:
        names = [name for name in ("docket", "name") if _is_shown(court, name)]
        rows = [{name: [opinion[name]] for name in names} for opinion in court.opinions]
        truth = {f"{court.page.id} {number}": row for number, row in enumerate(rows)}
        schema = Schema("opinion", {name: Attribute(name) for name in names})
        yield _Case(f"courts {court.page.id}", schema, [court.page], truth, has_rows=True)


def _is_shown(court: CourtPage, name: str) -> bool:
    """Return True if a page shows nearly all values of an attribute as the truth has them."""
    text = key(visible_text(court.page.tree))
    values = [key(opinion.get(name, "")) for opinion in court.opinions]
    return sum(bool(value) and value in text for value in values) >= MIN_SHOWN * len(values)


def _label_site(case: _Case, browser: Browser) -> Effort:
    """Label one page of a site in the browser, and compare what the rules find with the truth."""
    with TemporaryDirectory() as folder, Catalog.open(Path(folder) / "catalog.db") as catalog:
        pages = read_pages(case.pages)
        add_site(catalog, "site", cluster(pages), case.schema, pages, {})
        with running_server(catalog) as server:
            window = browser.new_page(viewport={"width": 1280, "height": 900})
            window.set_default_timeout(PATIENCE)
            try:
                return (_ListLabeler if case.has_rows else _Labeler)(case, window, server).run()
            finally:
                window.close()


class _ListLabeler:
    """A person who labels the rows of a list page."""

    def __init__(self, case: _Case, window: Window, server: RunningServer) -> None:
        self._case = case
        self._window = window
        self._server = server
        self._effort = Effort(case.name)
        self._values = {
            name: [key(row[name][0]) for row in case.truth.values()] for name in case.schema.attributes
        }

    def run(self) -> Effort:
        self._window.goto(f"{self._server.url}#/lists?site=site")
        self._window.locator(".lists .records:not([aria-busy=true]) .caption, .lists .empty").first.wait_for()
        started = perf_counter()
        columns = self._fitting_columns()
        if len(columns) == len(self._values):
            self._name_columns(columns)
        else:
            self._click_rows()
        self._effort.seconds = perf_counter() - started
        self._judge()
        return self._effort

    def _list(self) -> dict[str, Any]:
        path = f"/api/list?{urlencode({'site': 'site', 'page': self._case.pages[0].id})}"
        shown: dict[str, Any] = self._window.evaluate(
            "path => fetch(path).then((answer) => answer.json())", path
        )
        return shown

    def _fitting_columns(self) -> dict[str, str]:
        """Return for each attribute the column that has most of its true values, if it has at least half of them."""
        shown = self._list()
        columns = {}
        for name, values in self._values.items():
            counts = {
                column["name"]: sum(_cell(row, column["name"]) in values for row in shown["rows"])
                for column in shown["columns"]
            }
            best = max(counts, key=lambda column: counts[column], default=None)
            if best and 2 * counts[best] >= len(values):
                columns[name] = best
        return columns

    def _name_columns(self, columns: Mapping[str, str]) -> None:
        """Choose the attribute of each column, take others off, and take the columns."""
        wanted = {column: name for name, column in columns.items()}
        for column in self._list()["columns"]:
            choice = self._window.get_by_label(f"Attribute of column {column['name']}", exact=True)
            attribute = wanted.get(column["name"], "")
            if choice.input_value() != attribute:
                choice.select_option(attribute)
                self._effort.actions += 1
        self._window.get_by_role("button", name="Use ").click()
        self._effort.actions += 1
        self._window.get_by_role("region", name="All rows").wait_for()

    def _click_rows(self) -> None:
        """Click the values of two rows."""
        shown = self._window.locator(".lists .frame iframe")
        frame = shown.element_handle().content_frame()
        assert frame
        labeled = 0
        for row in self._case.truth.values():
            places = [frame.evaluate(LOCATE, key(value)) for (value,) in row.values()]
            if not all(places):
                continue
            self._window.get_by_role("button", name="Add a row by clicks").click()
            for (value,) in row.values():
                place = frame.evaluate(LOCATE, key(value))[0]
                box = shown.bounding_box()
                assert box
                self._window.mouse.click(box["x"] + place[0], box["y"] + place[1])
                self._window.locator(".lists .records[aria-busy=true]").wait_for(state="detached")
                self._window.wait_for_timeout(300)
            self._effort.actions += 1 + len(row)
            labeled += 1
            if labeled == 2:
                return
        self._effort.skipped.append("two rows: values are parts of texts")

    def _judge(self) -> None:
        """Count the true rows that the rules find with all their values."""
        names = list(self._values)
        found = {tuple(_cell(row, name) for name in names) for row in self._list()["rows"]}
        truth = zip(*self._values.values(), strict=True)
        right = [values in found for values in truth]
        self._effort.right, self._effort.judged = sum(right), len(right)


def _cell(row: Mapping[str, Any], name: str) -> str:
    return key(" ".join(row["cells"].get(name, [])))


class _Labeler:
    """A person who labels one page of a site."""

    def __init__(self, case: _Case, window: Window, server: RunningServer) -> None:
        self._case = case
        self._window = window
        self._server = server
        self._effort = Effort(case.name)

    def run(self) -> Effort:
        session = self._open()
        rows = [row["page"] for row in session["rows"] if row["page"] in self._case.truth]
        first = max(rows, key=lambda page: sum(map(bool, self._case.truth[page].values())))
        self._window.goto(f"{self._server.url}#/annotate?site=site&cluster={session['cluster']}&page={first}")
        frame = self._frame(first)
        started = perf_counter()
        for index, (name, attribute) in enumerate(self._case.schema.attributes.items()):
            values = [value for value in self._case.truth[first].get(name, ()) if key(value)]
            if values and not self._label(frame, index, values, attribute.many):
                self._effort.skipped.append(name)
        self._effort.seconds = perf_counter() - started
        self._judge(session["cluster"], first)
        return self._effort

    def _open(self) -> dict[str, Any]:
        self._window.goto(f"{self._server.url}#/annotate?site=site")
        self._window.locator(".records tbody tr").first.wait_for()
        cluster_id = self._window.get_by_label("Template").input_value()
        return self._session(cluster_id)

    def _session(self, cluster_id: str) -> dict[str, Any]:
        path = f"/api/session?site=site&cluster={cluster_id}"
        session: dict[str, Any] = self._window.evaluate(
            "path => fetch(path).then((answer) => answer.json())", path
        )
        return session

    def _frame(self, page: str) -> Frame:
        self._window.wait_for_function("page => location.hash.includes(page)", arg=page)
        shown = self._window.locator(".annotate .frame[aria-busy=false] iframe")
        shown.wait_for()
        frame = shown.element_handle().content_frame()
        assert frame
        frame.locator("untemplate-marks").wait_for(state="attached")
        return frame

    def _label(self, frame: Frame, index: int, values: Sequence[str], many: bool) -> bool:
        """Label the values of an attribute; False if they are neither on the page nor in its embedded data."""
        self._press(str(index + 1))
        if many:
            return self._label_list(frame, index, values)
        places = frame.evaluate(LOCATE, key(values[0]))
        if not places:
            return self._label_in_data(values[0])
        self._click(places[0])
        if len(places) > 1:
            self._click(places[1], ["Shift"])
        return True

    def _label_list(self, frame: Frame, index: int, values: Sequence[str]) -> bool:
        """Click the members of a list that have no label yet; take what is proposed if it is not too much."""
        labeled: list[str] = []
        for value in values:
            places = [] if key(value) in labeled else frame.evaluate(LOCATE, key(value))
            if not places:
                continue
            self._click(places[0])
            is_taken = self._take_proposal(len(labeled) + 1, len(values), has_parts=len(places) > 1)
            chip = self._window.locator(".chips li").nth(index)
            labeled = [key(text) for text in chip.locator(".value .grow").all_inner_texts()]
            if len(labeled) >= len(values):
                break
            if is_taken:  # the list goes on, so the attribute is chosen again
                self._press(str(index + 1))
        return bool(labeled)

    def _take_proposal(self, labeled: int, count: int, has_parts: bool) -> bool:
        """Take what is proposed if it is more than is labeled and not too much; rather whole items than parts."""
        offers = self._window.locator(".proposal button").all_inner_texts()
        numbers = {text.split()[-1]: int((re.findall(r"\d+", text) or ["0"])[0]) for text in offers}
        names = ("w", "a") if has_parts else ("a", "w")
        fitting = [name for name in names if labeled < numbers.get(name, 0) <= count]
        if fitting:
            self._act(lambda: self._window.keyboard.press(fitting[0]))
        elif offers:
            self._press("Escape")
        return bool(fitting)

    def _press(self, name: str) -> None:
        self._act(lambda: self._window.keyboard.press(name), requests=0)

    def _label_in_data(self, value: str) -> bool:
        """Look a value up in the embedded data of the page, and click it; False if it is not there."""
        panel = self._window.locator(".data")
        if not panel.is_visible():
            if not self._window.get_by_role("button", name="Embedded data", exact=True).count():
                return False
            self._press("d")
            panel.wait_for()
        self._act(lambda: panel.get_by_label("Find in the embedded data").fill(value[:200]), requests=0)
        self._window.wait_for_timeout(PANEL_PAUSE)
        texts = panel.locator(".datum").all_inner_texts()
        fitting = [number for number, text in enumerate(texts) if key(text) == key(value)]
        if fitting:
            self._act(panel.locator(".datum").nth(fitting[0]).click)
        else:
            self._press("Escape")  # leaves the search
        return bool(fitting)

    def _click(self, place: Sequence[float], modifiers: Sequence[str] = ()) -> None:
        frame = self._window.locator(".annotate .frame iframe").bounding_box()
        assert frame
        for modifier in modifiers:
            self._window.keyboard.down(modifier)
        self._act(lambda: self._window.mouse.click(frame["x"] + place[0], frame["y"] + place[1]))
        for modifier in modifiers:
            self._window.keyboard.up(modifier)

    def _act(self, act: Callable[[], None], requests: int = 1) -> None:
        """Do something, count it, and wait for its effect."""
        root = self._window.locator(".annotate")
        before = int(root.get_attribute("data-completed") or 0)
        act()
        self._effort.actions += 1
        if requests:
            script = "before => Number(document.querySelector('.annotate').dataset.completed) > before"
            self._window.wait_for_function(script, arg=before)

    def _judge(self, cluster_id: str, labeled: str) -> None:
        """Count the right values on the other sample pages, of attributes that were labeled."""
        rows = self._session(cluster_id)["rows"]
        names = self._case.truth[labeled].keys() - set(self._effort.skipped)
        for row in rows:
            truth = self._case.truth.get(row["page"], {})
            for name in names if row["page"] != labeled else ():
                if truth.get(name) and self._case.truth[labeled][name]:
                    self._effort.judged += 1
                    self._effort.right += _is_right(
                        row["cells"][name]["texts"], truth[name], self._is_many(name)
                    )

    def _is_many(self, name: str) -> bool:
        return self._case.schema.attributes[name].many


def _is_right(texts: Sequence[str], truth: Sequence[str], many: bool) -> bool:
    """Return True if a list has just the true values in order, or if a single value is one of them."""
    if many:
        return list(map(key, texts)) == list(map(key, truth))
    return len(texts) == 1 and key(texts[0]) in set(map(key, truth))


if __name__ == "__main__":
    sys.exit(main())
