"""A month of a fleet of made-up sites, day by day with nothing but the commands of a scheduler, against the truth.

python -m benchmarks.measure.fleet_month                       30 sites of 24 pages, 30 days
python -m benchmarks.measure.fleet_month --days 6 --pages 9    as the test plays it
python -m benchmarks.measure.fleet_month --first-seed 900      other sites

Sites of three schemas are learned from one file of labels a schema. Each day brings a crawl of all of them, with
other advertisements and prices. On some days a site is redesigned, pages vanish or show another record, or a server
is down. Each day extracts the crawl, watches all sites, heals those with alarms, and reads the status.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from untemplate import Page
from untemplate.cli import main as run_untemplate
from untemplate.demo import Site, make_site

VERTICALS = ("book", "restaurant", "recipe")
LABELED = 6  # pages of each site that a person labeled
FIRST_SEED = 300
ERROR = "<html><head><title>503</title></head><body><h1>Service unavailable</h1><p>Try again later.</p></body></html>"
GONE = "<html><head><title>Gone</title></head><body><p>This page is no longer available.</p></body></html>"

Values = dict[str, dict[str, list[str]]]
"""URL → attribute → values."""

Place = tuple[str, str]
"""The URL of a page, and an attribute."""

Command = Callable[..., str]
"""Runs a command line of untemplate, and returns what it printed to standard output."""


@dataclass(frozen=True)
class Event:
    """What happens to a site on a day: redesigned, vanished, reused, error page or nothing (no answer at all)."""

    day: int
    site: int
    kind: str
    strength: float = 0.0

    @property
    def is_outage(self) -> bool:
        return self.kind in ("error page", "nothing")


def plan_month(sites: int, days: int) -> list[Event]:
    """Return what happens: of three sites one is redesigned, of five one loses pages, another is down for a day."""
    random = Random(0)
    numbers = random.sample(range(sites), sites)
    kinds = ["redesigned"] * (sites // 3) + ["vanished"] * (sites // 10) + ["reused"] * (sites // 10)
    kinds += ["error page", "nothing"] * (sites // 10)
    # Rules of three days show what is usual before anything happens, as far as the month is long enough.
    first = min(3, max(1, days // 3))
    return [
        Event(first + index % (days - first), number, kind, random.choice((0.3, 0.5, 0.7, 1.0)))
        for index, (number, kind) in enumerate(zip(numbers, kinds, strict=False))
    ]


@dataclass
class Fleet:
    """The web: all sites as they are on a day."""

    sites: list[Site]
    events: list[Event]
    day: int = 0
    gone: dict[int, set[str]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)  # pages whose URL shows the record of another page

    @classmethod
    def make(cls, sites: int, pages: int, days: int, first_seed: int = FIRST_SEED) -> Fleet:
        made = [make_site(VERTICALS[n % 3], seed=first_seed + n, pages=pages) for n in range(sites)]
        return cls(made, plan_month(sites, days))

    def today(self, kinds: Sequence[str] = ()) -> dict[int, Event]:
        """Return what happens today, by site; only these kinds if any are given."""
        return {
            one.site: one for one in self.events if one.day == self.day and one.kind in (kinds or one.kind)
        }

    def pass_day(self) -> None:
        """Let a day pass: other advertisements and prices everywhere, and what happens on it."""
        self.day += 1
        strengths = {number: event.strength for number, event in self.today(["redesigned"]).items()}
        for number, site in enumerate(self.sites):
            self.sites[number] = site.redesign(strengths.get(number, 0.0), seed=self.day)
        for number in self.today(["vanished"]):
            self.gone[number] = set(list(self.sites[number].truth)[:2])
        for number in self.today(["reused"]):
            first, second, *_, last = self.sites[number].truth
            self.shown |= {self._key(number, first): last, self._key(number, second): first}

    def _key(self, number: int, page: str) -> str:
        return f"{number}/{page}"

    def crawl(self, numbers: Iterable[int]) -> Iterator[Page]:
        """Yield what a crawler gets from some sites today."""
        for number in numbers:
            yield from self._pages(number)

    def _pages(self, number: int) -> Iterator[Page]:
        event = self.today().get(number)
        html_of = {page.id: page.text for page in self.sites[number].pages}
        for page in self.sites[number].pages:
            if event and event.is_outage:
                if event.kind == "error page":
                    yield Page(page.url, ERROR)
            elif page.id in self.gone.get(number, ()):
                yield Page(page.url, GONE)
            else:
                yield Page(page.url, html_of[self.shown.get(self._key(number, page.id), page.id)])

    def host(self, number: int) -> str:
        return self.sites[number].pages[0].url.split("/")[2]

    def truth(self, number: int) -> Values:
        """Return the values of each page of a site that shows a record today, by URL."""
        site, gone = self.sites[number], self.gone.get(number, ())
        truth = {}
        for page in site.pages:
            if page.id in site.truth and page.id not in gone:
                truth[page.url] = site.truth[self.shown.get(self._key(number, page.id), page.id)]
        return truth


@dataclass(frozen=True)
class Scheduler:
    """Runs the commands of a day in one folder."""

    command: Command
    folder: Path

    def _run(self, *arguments: str | Path) -> str:
        return self.command(*arguments, "--catalog", self.folder / "untemplate.db")

    def write_crawl(self, pages: Iterable[Page]) -> Path:
        path = self.folder / "crawl.jsonl"
        rows = [json.dumps({"url": page.url, "html": page.text}) for page in pages]
        path.write_text("\n".join(rows), "utf-8")
        return path

    def learn(self, fleet: Fleet) -> None:
        """Learn all sites, a command a schema."""
        for vertical in VERTICALS:
            numbers = [number for number, site in enumerate(fleet.sites) if site.vertical == vertical]
            crawl = self.write_crawl(fleet.crawl(numbers))
            labels = self.folder / "labels.jsonl"
            lines = []
            for number in numbers:
                for url, values in list(fleet.truth(number).items())[:LABELED]:
                    row = {name: texts or None for name, texts in values.items()}
                    lines.append(json.dumps({"url": url, "labels": row}))
            labels.write_text("\n".join(lines), "utf-8")
            self._run("learn", crawl, "--schema", vertical, "--labels", labels)

    def extract(self, crawl: Path) -> Values:
        """Extract a crawl, and return the values of each page."""
        output = self.folder / "out"
        self._run("extract", crawl, "-o", f"{output}/", "--workers", "1")
        values: Values = {}
        for table in output.glob("*.jsonl"):
            for line in table.read_text("utf-8").splitlines():
                row = json.loads(line)
                cells = {name: cell for name, cell in row.items() if name in row["confidence"]}
                values[row["url"]] = {
                    name: cell if isinstance(cell, list) else [cell] for name, cell in cells.items()
                }
            table.unlink()
        return values

    def do_all(self, command: str, crawl: Path) -> dict[str, Any]:
        """Watch or heal all sites; return the outcome of each."""
        printed = self._run(command, crawl, "--all", "--json", "--workers", "1")
        return {outcome["site"]: outcome for outcome in json.loads(printed)["sites"]}

    def status(self) -> dict[str, Any]:
        return {site["site"]: site for site in json.loads(self._run("status", "--json"))["sites"]}


@dataclass(frozen=True)
class Errors:
    """The places with values that are not true, and those without a value that the site has."""

    wrong: frozenset[Place] = frozenset()
    missing: frozenset[Place] = frozenset()

    @classmethod
    def find(cls, truth: Values, found: Values) -> Errors:
        wrong, missing = set(), set()
        for url, attributes in truth.items():
            for name, texts in attributes.items():
                values = found.get(url, {}).get(name, [])
                if values != texts:
                    (wrong if values else missing).add((url, name))
        return cls(frozenset(wrong), frozenset(missing))

    @property
    def all(self) -> frozenset[Place]:
        return self.wrong | self.missing

    def without(self, known: set[Place]) -> Errors:
        return replace(self, wrong=self.wrong - known, missing=self.missing - known)


@dataclass
class Month:
    """What came out in a month.

    Attributes:
        values: values compared with the truth, over all days.
        learned_wrong: places that were wrong or missing on the first day, for which `learn` is responsible.
        calm: new errors on sites to which nothing happened that day, over all days.
        broken: errors on the days of redesigns, before healing.
        wrong: of these, values that are wrong after healing.
        lost: of these, values that are missing after healing.
        notes: what was missed, in words.
        false_alarms: sites with an alarm on a day on which nothing was wrong.
        site_days: sites times days on which nothing was wrong.
        events: what happened, by kind; and what was noticed.
    """

    values: int = 0
    learned_wrong: int = 0
    calm: int = 0
    broken: int = 0
    wrong: int = 0
    lost: int = 0
    notes: list[str] = field(default_factory=list)
    false_alarms: int = 0
    site_days: int = 0
    events: Counter[str] = field(default_factory=Counter)


class Player:
    """Plays the days of a fleet, and counts what goes wrong."""

    def __init__(self, fleet: Fleet, scheduler: Scheduler) -> None:
        self.fleet = fleet
        self.scheduler = scheduler
        self.month = Month()
        self.known: set[Place] = set()  # places whose value is known to be wrong or missing
        self.incomplete: set[int] = set()  # sites that wait for a person
        self.watched: dict[str, Any] = {}
        self.status: dict[str, Any] = {}

    def play(self, days: int) -> Month:
        """Learn on the first day, and play the others."""
        self.scheduler.learn(self.fleet)
        everything = range(len(self.fleet.sites))
        found = self.scheduler.extract(self.scheduler.write_crawl(self.fleet.crawl(everything)))
        for number in everything:
            self.known |= Errors.find(self.fleet.truth(number), found).all
        self.month.learned_wrong = len(self.known)
        for _ in range(1, days):
            self.fleet.pass_day()
            self._play_day(everything)
        return self.month

    def _play_day(self, everything: Sequence[int]) -> None:
        fleet, scheduler = self.fleet, self.scheduler
        crawl = scheduler.write_crawl(fleet.crawl(everything))
        found = scheduler.extract(crawl)
        self.watched = scheduler.do_all("watch", crawl)
        self.status = scheduler.status()
        before = {number: self._errors(number, found) for number in everything}
        healed = scheduler.do_all("heal", crawl)
        for number in everything:
            event = fleet.today().get(number)
            if event and event.kind != "vanished":
                self._judge_event(event, before[number], healed)
            else:
                self._judge_calm(number, before[number])
        self._judge_healed(crawl, before)

    def _errors(self, number: int, found: Values) -> Errors:
        truth = self.fleet.truth(number)
        event = self.fleet.today().get(number)
        if event and event.is_outage:
            return Errors()
        self.month.values += sum(map(len, truth.values()))
        return Errors.find(truth, found).without(self.known)

    def _describe_alarms(self, number: int) -> str:
        """Return why somebody should look at a site, by the summary of watching and the status; empty if nobody.

        An alarm about an attribute whose values are known to be wrong is right, whatever happened.
        """
        host = self.fleet.host(number)
        if problem := self.watched[host]["problem"]:
            return str(problem)
        known = {name for url, name in self.known if host in url}
        reasons = [
            f"{work['reason']} {', '.join(work['attributes'])}".strip()
            for work in self.status[host]["waiting"]
            if work["reason"].startswith("alarm") and not known.intersection(work["attributes"])
        ]
        seen = [alarm["seen"] for alarm in self.watched[host]["alarms"] if alarm["attribute"] not in known]
        return "; ".join([*reasons, *seen])

    def _judge_calm(self, number: int, errors: Errors) -> None:
        """Nothing happened: no new errors, and no alarm but for those that wait for a person."""
        month, where = self.month, f"day {self.fleet.day}, site {number}"
        alarms = self._describe_alarms(number)
        month.calm += len(errors.all)
        if errors.all:
            month.notes.append(f"{where}: {len(errors.all)} errors out of nothing, {sorted(errors.all)[:2]}")
        elif number not in self.incomplete:
            month.site_days += 1
            month.false_alarms += bool(alarms)
            if alarms:
                month.notes.append(f"{where}: false alarm, {alarms}")

    def _judge_event(self, event: Event, errors: Errors, healed: dict[str, Any]) -> None:
        """An outage is noticed and costs no rules; another change is noticed if it costs values."""
        month, host = self.month, self.fleet.host(event.site)
        alarms = self._describe_alarms(event.site)
        where = f"day {event.day}, site {event.site} {event.kind}"
        month.events[event.kind] += 1
        if event.is_outage:
            month.events["outages noticed"] += bool(alarms)
            if healed.get(host, {}).get("version") is not None:
                month.notes.append(f"{where}: rules changed")
            return
        month.broken += len(errors.all)
        if errors.all:
            month.events["breaking"] += 1
            month.events["breaking noticed"] += bool(alarms)
        elif alarms and event.kind == "reused":
            month.notes.append(f"{where}: false alarm, {alarms}")
            month.false_alarms += 1
        month.site_days += event.kind == "reused"
        if errors.all and not alarms:
            month.notes.append(f"{where}: unnoticed, {len(errors.all)} errors")

    def _judge_healed(self, crawl: Path, before: dict[int, Errors]) -> None:
        """Extract the changed sites again: what is missing now waits for a person, and nothing may be wrong."""
        changed = sorted(self.fleet.today(["redesigned", "reused"]))
        if not changed:
            return
        found = self.scheduler.extract(self.scheduler.write_crawl(self.fleet.crawl(changed)))
        for number in changed:
            errors = Errors.find(self.fleet.truth(number), found).without(self.known)
            self.month.wrong += len(errors.wrong)
            self.month.lost += len(errors.missing)
            if errors.all:
                self.incomplete.add(number)
                kinds = Counter(name for _, name in errors.all)
                wrong = f"{len(errors.wrong)} wrong, {len(errors.missing)} missing"
                self.month.notes.append(f"day {self.fleet.day}, site {number} healed: {wrong}, {dict(kinds)}")
            self.known |= errors.all


def play_month(command: Command, folder: Path, fleet: Fleet, days: int) -> Month:
    """Play a month with a way to run commands; see `Month` for what comes out."""
    return Player(fleet, Scheduler(command, folder)).play(days)


def _run_quietly(*arguments: str | Path) -> str:
    """Run a command in this process, and return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        run_untemplate([str(argument) for argument in arguments])
    return printed.getvalue()


def describe(month: Month) -> Iterator[str]:
    """Yield the figures, a line each, then what was missed."""
    events = month.events
    yield f"values compared with the truth: {month.values:,}"
    yield f"wrong or missing on the first day, as learned: {month.learned_wrong}"
    yield f"new errors on calm days: {month.calm} ({month.calm / month.values:.3%})"
    noticed = f"{events['breaking noticed']} of {events['breaking']}"
    yield f"redesigns and reused pages that cost values, noticed the same day: {noticed}"
    yield f"values that they cost: {month.broken}; after healing {month.lost} missing, {month.wrong} wrong"
    outages = events["error page"] + events["nothing"]
    yield f"outages noticed: {events['outages noticed']} of {outages}"
    yield f"false alarms: {month.false_alarms} of {month.site_days} sites times days"
    yield from month.notes


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.fleet_month", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sites", type=int, default=30, help="how many sites")
    parser.add_argument("--pages", type=int, default=24, help="pages of a site")
    parser.add_argument("--days", type=int, default=30, help="how many days")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="seed of the first site")
    options = parser.parse_args(arguments)
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet.make(options.sites, options.pages, options.days, options.first_seed)
        month = play_month(_run_quietly, Path(folder), fleet, options.days)
    for line in describe(month):
        print(line)
    print(f"{time.process_time() - started:.0f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
