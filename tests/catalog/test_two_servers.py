"""Two people and two servers on one catalog: nobody's work is lost."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from untemplate import Alarm, Catalog, Label, Rules, VersionConflict

SITE = "books.example"


@pytest.fixture
def servers(where: str) -> Iterator[list[Catalog]]:
    """Two connections to one catalog."""
    with Catalog.open(where) as first, Catalog.open(where) as second:
        yield [first, second]


def test_the_slower_of_two_people_is_refused_and_tries_again(servers: list[Catalog], rules: Rules) -> None:
    small = replace(rules, wrappers=rules.wrappers[:1])
    servers[0].save_rules(SITE, small)

    def improve(number: int) -> int:
        """Read the newest rules, change them, save them; again if somebody was quicker."""
        catalog = servers[number % 2]
        refused = 0
        while True:
            version = catalog.newest_version(SITE)
            mine = catalog.rules(SITE, version)
            wrapper = replace(mine.wrappers[0], static=(*mine.wrappers[0].static, f"0 p by {number}"))
            try:
                catalog.save_rules(SITE, replace(mine, wrappers=(wrapper,)), based_on=version)
            except VersionConflict:
                refused += 1
            else:
                return refused

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(improve, range(12)))
    saved = servers[1].rules(SITE).wrappers[0].static
    assert {text for text in saved if text.startswith("0 p by ")} == {
        f"0 p by {number}" for number in range(12)
    }
    assert servers[0].newest_version(SITE) == 13


def test_only_one_of_two_saves_of_the_same_version_succeeds(servers: list[Catalog], rules: Rules) -> None:
    small = replace(rules, wrappers=rules.wrappers[:1])
    servers[0].save_rules(SITE, small)

    def save(catalog: Catalog) -> bool:
        try:
            catalog.save_rules(SITE, small, based_on=1)
        except VersionConflict:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(save, servers)) == [False, True]
    assert [version.number for version in servers[1].history(SITE)] == [1, 2]


def test_labels_and_alarms_of_both_are_kept(servers: list[Catalog]) -> None:
    def work(number: int) -> None:
        catalog = servers[number % 2]
        catalog.add_labels(SITE, [Label(f"{number}.html", "title", "Emma")], by=f"person {number % 2}")
        run = catalog.start_run(SITE, "watch")
        catalog.record_alarms(SITE, run, [Alarm("c1", "moved", "title", "Emma", f"{number}", ())])
        catalog.finish_run(run, {"clusters": [], "alarms": []})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(20)))
    assert len(servers[0].labels(SITE)) == 20
    assert len(servers[1].runs(SITE, "watch")) == 20
    assert len(servers[0].alarms(SITE, open_only=False)) == 1


def test_two_schedulers_share_a_round(servers: list[Catalog], rules: Rules) -> None:
    servers[0].save_rules(SITE, rules)
    with ThreadPoolExecutor(2) as pool:
        rounds = list(pool.map(lambda catalog: catalog.start_round("watch"), servers))
    assert len({round.id for round in rounds}) == 1
