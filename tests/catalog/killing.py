"""Kills writers of catalogs at random moments, and looks at what they leave: python killing.py KILLS WHERE…

In a process of its own, since what is killed is forked, and a process with threads must not fork.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from itertools import count

from untemplate import Attribute, Catalog, Label, Page, Rules, Schema
from untemplate.page import Signature
from untemplate.rules import Bellwether, Rule, Selector, Wrapper
from untemplate.rules.feature import Feature
from untemplate.watching import Alarm

SITE = "books.example"
# A writer dies some time, in seconds, after it told of so many writes: 0 is while it opens the catalog.
MOST_TOLD = 6
LONGEST = 0.03


def rules(number: int) -> Rules:
    """Rules that tell their number, of a size that takes a while to write."""
    name = Rule("name", (Selector("text()", (Feature("tag", 1, ("p",)),)),))
    watched = [
        Bellwether(f"{n}", f"http://a/{n}", Signature((1,) * 8), {"name": (f"{number}",)}) for n in range(10)
    ]
    wrappers = [
        Wrapper(f"c{n}", (), number, "*", {"name": name}, bellwethers=tuple(watched)) for n in range(4)
    ]
    return Rules(Schema("book", {"name": Attribute("name")}), tuple(wrappers))


def write(where: str, told: int) -> None:
    """Write one thing after the other, and tell of each when it is written."""

    def tell(*what: object) -> None:
        os.write(told, json.dumps(what).encode() + b"\n")

    with Catalog.open(where) as catalog:
        for number in count():
            version = catalog.save_rules(SITE, rules(number))
            tell("version", version, number)
            page = f"{os.getpid()}-{number}"
            catalog.save_page(SITE, Page(f"http://a/{page}", page * 1000, page))
            tell("page", page)
            [label] = catalog.add_labels(SITE, [Label(page, "name", page)], "Ada")
            tell("label", label)
            catalog.remove_label(label, "Bob")
            tell("removed", label)
            run = catalog.start_run(SITE, "watch")
            catalog.record_alarms(SITE, run, [Alarm("c1", "fill", page, "", "", ())])
            catalog.finish_run(run, {"page": page})
            tell("run", run, page)


def life_and_death(where: str, writes: int, seconds: float) -> list[list[str | int]]:
    """Let a writer live until so long after so many writes; what it told."""
    heard, told = os.pipe()
    child = os.fork()
    if not child:
        write(where, told)
    os.close(told)
    with os.fdopen(heard, "rb") as pipe:
        lines = [pipe.readline() for _ in range(writes)]
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [json.loads(line) for line in [*lines, *pipe]]


def check(where: str, told: list[list[str | int]]) -> None:
    """The catalog opens, is consistent, and has all that was told."""
    with Catalog.open(where) as catalog:
        if catalog._database.file:
            with catalog._database.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").all() == [("ok",)]
                assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
        if not told and not catalog.sites():
            return
        numbers = [version.number for version in catalog.history(SITE)]
        assert numbers == [*range(1, len(numbers) + 1)]
        if numbers:
            newest = catalog.rules(SITE)
            assert newest == rules(newest.wrappers[0].importance)
        labels = {given.id: given for given in catalog.labels(SITE, removed=True)}
        runs = {run.id: run for run in catalog.runs(SITE)}
        alarms = {alarm.attribute for alarm in catalog.alarms(SITE, open_only=False)}
        assert len(catalog.alarms(SITE)) <= 1
        for page in catalog.pages(SITE):
            assert page.html == (page.id * 1000).encode()
        for what in told:
            match what:
                case ["version", int(version), int(number)]:
                    assert catalog.rules(SITE, version) == rules(number)
                case ["page", str(page_id)]:
                    assert catalog.page(SITE, page_id).url == f"http://a/{page_id}"
                case ["label", int(label)]:
                    assert labels[label].by == "Ada"
                case ["removed", int(label)]:
                    assert labels[label].removed
                case ["run", int(run), str(page_id)]:
                    assert runs[run].figures == {"page": page_id}
                    assert page_id in alarms
                case _:
                    raise AssertionError(what)


def main(kills: int, places: list[str]) -> None:
    """Kill so many writers in each place, in turn."""
    chance = random.Random(0)
    for where in places * kills:
        check(where, life_and_death(where, chance.randint(0, MOST_TOLD), chance.uniform(0, LONGEST)))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
