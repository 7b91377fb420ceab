"""A month of a small fleet, day by day, with nothing but the commands of a scheduler; every record has its truth.

A dozen made-up sites of three verticals are learned from one file of labels a vertical. Then each day brings a crawl
of all of them, with other advertisements and prices. Some days bring more: a site is redesigned, pages vanish, a
server is down.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.running import Done, Run
from untemplate import Page
from untemplate.demo import Site, make_site

Records = dict[str, dict[str, list[str]]]
"""URL → attribute → values."""

VERTICALS = ("book", "restaurant", "recipe")
SITES = 12
PAGES = 12
# The month is compressed: every third day is played.
DAYS = 10
# day → the sites that are redesigned, from a change of some classes to a new look, and how strong the change is
REDESIGNS = {2: {7: 0.3, 4: 0.7}, 4: {1: 0.5}, 6: {8: 0.4, 10: 0.9}, 8: {7: 0.6}}
# day → the site whose server answers with an error page, or not at all
OUTAGES = {3: (11, "error page"), 5: (5, "nothing"), 7: (9, "error page")}
# day → the site of which some pages are gone from then on
VANISHED = {1: 2, 5: 0, 8: 6}
ERROR = "<html><head><title>503</title></head><body><h1>Service unavailable</h1><p>Try again later.</p></body></html>"
GONE = "<html><head><title>Gone</title></head><body><p>This page is no longer available.</p></body></html>"


@dataclass
class Fleet:
    """The web of the month: the sites as they are on a day."""

    sites: list[Site]
    gone: dict[int, set[str]] = field(default_factory=dict)

    def pages(self, number: int, day: int) -> Iterator[Page]:
        """Yield what a crawler gets from a site on a day."""
        down = OUTAGES.get(day)
        for page in self.sites[number].pages:
            if down and down[0] == number:
                if down[1] == "error page":
                    yield Page(page.url, ERROR)
            elif page.id in self.gone.get(number, ()):
                yield Page(page.url, GONE)
            else:
                yield page

    def crawl(self, day: int, numbers: Iterable[int]) -> Iterator[Page]:
        """Yield what a crawler gets from some sites on a day."""
        for number in numbers:
            yield from self.pages(number, day)

    def host(self, number: int) -> str:
        return self.sites[number].pages[0].url.split("/")[2]

    def truth(self, number: int) -> dict[str, dict[str, list[str]]]:
        """Return the values of each page of a site that is still there, by URL."""
        site = self.sites[number]
        urls = {page.id: page.url for page in site.pages if page.id not in self.gone.get(number, ())}
        return {urls[id]: values for id, values in site.truth.items() if id in urls}

    def pass_day(self, day: int) -> None:
        """Let time pass: other advertisements and prices everywhere, and what happens on this day."""
        strengths = REDESIGNS.get(day, {})
        for number, site in enumerate(self.sites):
            self.sites[number] = site.redesign(strengths.get(number, 0.0), seed=day)
        if (number := VANISHED.get(day, -1)) >= 0:
            self.gone[number] = set(list(self.sites[number].truth)[:2])


def write_pages(path: Path, pages: Iterable[Page]) -> Path:
    path.write_text("\n".join(json.dumps({"url": page.url, "html": page.text}) for page in pages), "utf-8")
    return path


@dataclass
class Scheduler:
    """A scheduler: runs the commands of a day in one folder."""

    run: Run
    folder: Path

    @property
    def catalog(self) -> Path:
        return self.folder / "untemplate.db"

    def command(self, *arguments: str | Path) -> Done:
        return self.run(*arguments, "--catalog", self.catalog)

    def learn(self, fleet: Fleet) -> None:
        """Learn all sites, a command a vertical; a person labeled all pages of records."""
        for vertical in VERTICALS:
            chosen = [site for site in fleet.sites if site.vertical == vertical]
            crawl = write_pages(self.folder / "first.jsonl", [page for site in chosen for page in site.pages])
            labels = self.folder / "labels.jsonl"
            with labels.open("w", encoding="utf-8") as out:
                for site in chosen:
                    urls = {page.id: page.url for page in site.pages}
                    for id, values in site.truth.items():
                        row = {name: texts or None for name, texts in values.items()}
                        out.write(json.dumps({"url": urls[id], "labels": row}) + "\n")
            self.command("learn", crawl, "--schema", vertical, "--labels", labels)

    def extract(self, crawl: Path) -> tuple[set[str], Records]:
        """Extract the crawl of a day; return the sites with alarms, and the values of each page by URL."""
        output = self.folder / "out"
        done = self.command("extract", crawl, "-o", f"{output}/", "--workers", "1")
        records = {}
        for table in output.glob("*.jsonl"):
            for line in table.read_text("utf-8").splitlines():
                row = json.loads(line)
                cells = {name: cell for name, cell in row.items() if name in row["confidence"]}
                records[row["url"]] = {
                    name: cell if isinstance(cell, list) else [cell] for name, cell in cells.items()
                }
            table.unlink()
        alarms = done.stderr.partition("expected")[2].splitlines()
        return {line.split()[0] for line in alarms if line.strip().startswith("www.")}, records

    def look(self, command: str, crawl: Path) -> dict[str, Any]:
        """Watch or heal all sites; return the outcome of each."""
        done = self.command(command, crawl, "--all", "--json", "--workers", "1")
        return {site["site"]: site for site in json.loads(done.stdout)["sites"]}


@dataclass
class Errors:
    """The values of a day that are not as the site has them, by site and attribute."""

    wrong: Counter[tuple[int, str]] = field(default_factory=Counter)
    missing: Counter[tuple[int, str]] = field(default_factory=Counter)

    @classmethod
    def find(cls, fleet: Fleet, records: Records, numbers: Iterable[int]) -> Errors:
        errors = cls()
        for number in numbers:
            for url, attributes in fleet.truth(number).items():
                for name, texts in attributes.items():
                    found = records.get(url, {}).get(name, [])
                    if found != texts:
                        (errors.wrong if found else errors.missing)[number, name] += 1
        return errors


def test_a_month(run: Run, tmp_path: Path) -> None:
    fleet = Fleet([make_site(VERTICALS[n % 3], seed=300 + n, pages=PAGES) for n in range(SITES)])
    scheduler = Scheduler(run, tmp_path)
    scheduler.learn(fleet)
    everything = range(SITES)
    # What the rules never learned is a finding of `learn`, and not of the operation.
    unlearned: set[tuple[int, str]] = set()
    calm_errors = 0
    calm_values = 0
    for day in range(DAYS):
        if day:
            fleet.pass_day(day)
        crawl = write_pages(tmp_path / "crawl.jsonl", fleet.crawl(day, everything))
        alarmed, records = scheduler.extract(crawl)
        watched = scheduler.look("watch", crawl)
        alarmed |= {site for site, outcome in watched.items() if outcome["alarms"] or outcome["problem"]}
        down = {OUTAGES[day][0]} if day in OUTAGES else set()
        changed = set(REDESIGNS.get(day, ()))
        calm = [number for number in everything if number not in down | changed]
        errors = Errors.find(fleet, records, calm)
        if not day:
            unlearned = {*errors.wrong, *errors.missing}
            continue
        calm_errors += sum(
            count for key, count in (errors.wrong + errors.missing).items() if key not in unlearned
        )
        calm_values += sum(len(values) for number in calm for values in fleet.truth(number).values())
        # A change is noticed on the same day if it costs values, and an outage in any case.
        affected = Errors.find(fleet, records, changed)
        for number in changed:
            if any(key[0] == number and key not in unlearned for key in (affected.wrong + affected.missing)):
                assert fleet.host(number) in alarmed, f"day {day}: redesign of {number} unnoticed"
        for number in down:
            assert fleet.host(number) in alarmed, f"day {day}: outage of {number} unnoticed"
        # Healing repairs what changed, and does no harm to the others; a server that is down keeps its rules.
        healed = scheduler.look("heal", crawl)
        for number in down:
            assert healed.get(fleet.host(number), {}).get("version") is None
        again = write_pages(tmp_path / "again.jsonl", fleet.crawl(day, sorted(changed)))
        if changed:
            _, records = scheduler.extract(again)
            after = Errors.find(fleet, records, changed)
            wrong = {key: count for key, count in after.wrong.items() if key not in unlearned}
            assert not wrong, f"day {day}: wrong after healing: {wrong}"
            # From now on, what a person has to label counts as not learned.
            unlearned |= set(after.missing)
    assert calm_errors <= 0.002 * calm_values, f"{calm_errors} of {calm_values} values on calm days"
