"""Watching and healing all sites of a catalog."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from untemplate import Catalog, Page, Rules, VersionConflict, learn
from untemplate.catalog import heal_sites, sites_to_heal, sites_to_watch, split_by_site, watch_sites
from untemplate.catalog import site_rounds as module
from untemplate.demo import Site, make_site
from untemplate.sources import Pages

BOOKS, FOOD = "books", "food"


def learned(site: Site) -> Rules:
    labeled = list(site.truth)[:3]
    return learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema)


@pytest.fixture(scope="module")
def site() -> Site:
    return make_site("book", seed=5, pages=24)


@pytest.fixture(scope="module")
def rules(site: Site) -> Rules:
    return learned(site)


@pytest.fixture(scope="module")
def food() -> Site:
    return make_site("restaurant", seed=6, pages=24)


@pytest.fixture(scope="module")
def food_rules(food: Site) -> Rules:
    return learned(food)


@pytest.fixture
def filled(catalog: Catalog, rules: Rules, food_rules: Rules) -> Catalog:
    catalog.save_rules(BOOKS, rules)
    catalog.save_rules(FOOD, food_rules)
    return catalog


def test_all_sites_are_watched_and_the_broken_one_is_healed(filled: Catalog, site: Site, food: Site) -> None:
    changed = food.redesign(0.7, seed=5)
    crawl = [*site.pages, *changed.pages, Page("http://stranger.example/", "<p>x")]
    sites = sites_to_watch(filled)
    assert sites == [BOOKS, FOOD]
    outcomes = {
        one.site: one for one in watch_sites(filled, sites, split_by_site(filled, crawl, sites), workers=1)
    }
    assert not outcomes[BOOKS].has_findings
    assert outcomes[FOOD].alarms
    assert filled.alarms(FOOD)
    assert filled.runs(BOOKS, "watch")[0].finished
    assert sites_to_watch(filled, due_only=True) == []
    assert sites_to_heal(filled) == sites_to_heal(filled, due_only=True) == [FOOD]

    [healed] = heal_sites(filled, [FOOD], split_by_site(filled, crawl, [FOOD]), by="Ada", workers=1)
    assert healed.version == 2
    assert healed.figures["healed"]
    [_, version] = filled.history(FOOD)
    assert (version.reason, version.by) == ("healed", "Ada")
    answered = {(repair["cluster"], repair["attribute"]) for repair in healed.figures["healed"]}
    assert not [alarm for alarm in filled.alarms(FOOD) if (alarm.cluster, alarm.attribute) in answered]
    assert sites_to_heal(filled, due_only=True) == []
    [again] = watch_sites(filled, [FOOD], split_by_site(filled, crawl, [FOOD]), workers=1)
    assert not [alarm for alarm in again.alarms if alarm.test == "moved"]


def test_sites_are_judged_in_other_processes(filled: Catalog, site: Site, food: Site) -> None:
    crawl = [*site.pages, *food.pages]
    sites = [BOOKS, FOOD]
    outcomes = list(watch_sites(filled, sites, split_by_site(filled, crawl, sites), workers=2))
    assert sorted(one.site for one in outcomes) == sites
    assert not any(one.has_findings for one in outcomes)


def test_a_site_that_cannot_be_watched_costs_only_itself(filled: Catalog, site: Site) -> None:
    fresh = [(BOOKS, next(iter(split_by_site(filled, site.pages, [BOOKS])))[1])]
    done, failed = sorted(watch_sites(filled, [BOOKS, FOOD], fresh, workers=1), key=lambda one: one.site)
    assert (done.site, done.problem) == (BOOKS, None)
    assert failed.problem == "it has no watched pages that could be fetched"
    strangers = split_by_site(filled, [Page("http://stranger.example/", "<p>x")], [FOOD])
    [failed] = watch_sites(filled, [FOOD], strangers, workers=1)
    assert "no pages could be read" in str(failed.problem)
    assert failed.has_findings


def test_a_heal_overwrites_nobodys_work(
    filled: Catalog, food: Site, food_rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = food.redesign(0.7, seed=5).pages
    usual = module.heal_site

    def slow(*arguments: object) -> object:
        filled.save_rules(FOOD, food_rules, note="by a person, in the meantime")
        return usual(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "heal_site", slow)
    [outcome] = heal_sites(filled, [FOOD], split_by_site(filled, pages, [FOOD]), workers=1)
    assert "somebody saved version 2 of the rules since version 1 was read" in str(outcome.problem)
    assert filled.newest_version(FOOD) == 2


def test_only_the_newest_version_is_replaced(catalog: Catalog, rules: Rules) -> None:
    assert catalog.save_rules(BOOKS, rules, based_on=0) == 1
    assert catalog.save_rules(BOOKS, rules, based_on=1) == 2
    with pytest.raises(VersionConflict, match="somebody saved version 2"):
        catalog.save_rules(BOOKS, rules, based_on=1)
    assert catalog.newest_version(BOOKS) == 2


def test_a_round_continues(filled: Catalog) -> None:
    first = filled.start_round("watch")
    assert first.done == frozenset()
    filled.finish_run(filled.start_run(BOOKS, "watch"), {"clusters": [], "alarms": []})
    filled.start_run(FOOD, "watch")  # interrupted
    again = filled.start_round("watch")
    assert (again.id, again.done) == (first.id, {BOOKS})
    assert filled.start_round("heal").done == frozenset()
    filled.finish_round(again)
    assert filled.start_round("watch").id != first.id


def test_other_pages_are_a_random_sample(
    filled: Catalog, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_OTHER_PAGES", 3)
    [(_, pages)] = split_by_site(filled, site.pages, [BOOKS])
    watched = set(filled.bellwether_urls()[BOOKS])
    kept = [page.url for page in pages]
    assert watched <= set(kept)
    assert len(kept) == len(watched) + min(3, len(site.pages) - len(watched))


def test_a_site_that_cannot_be_reached_has_an_alarm_until_it_can(filled: Catalog, site: Site) -> None:
    [outcome] = watch_sites(filled, [BOOKS], split_by_site(filled, [], [BOOKS]), workers=1)
    assert outcome.problem
    [alarm] = filled.alarms(BOOKS)
    assert (alarm.test, alarm.seen) == ("reachable", outcome.problem)
    [status] = [status for status in filled.statuses() if status.site == BOOKS]
    assert status.waiting[0].reason == "alarm: reachable"
    assert status.last_watch is None, "it is still due"
    [outcome] = watch_sites(filled, [BOOKS], split_by_site(filled, site.pages, [BOOKS]), workers=1)
    assert not outcome.problem
    assert filled.alarms(BOOKS) == []


def test_values_of_today_are_remembered(filled: Catalog, site: Site) -> None:
    """Of prices that changed since the rules were learned, those of yesterday are found again after a redesign."""
    today = site.redesign(0.0, seed=1)
    assert any("price" in names for names in today.changed.values())
    [outcome] = watch_sites(filled, [BOOKS], split_by_site(filled, today.pages, [BOOKS]), workers=1)
    assert not outcome.has_findings
    assert len(filled.history(BOOKS)) == 1
    goldens = {one.page: one.golden for one in filled.rules(BOOKS).bellwethers}
    prices = {page: list(golden["price"]) for page, golden in goldens.items() if "price" in golden}
    assert prices
    assert prices == {page: today.truth[page]["price"] for page in prices}


def test_a_worker_that_dies_costs_its_own_site(filled: Catalog, site: Site) -> None:
    class Deadly(module._WatchWork):
        def prepare(self, site: str, pages: Pages) -> Callable[[], Any]:
            return partial(os._exit, 3) if site == FOOD else super().prepare(site, pages)

    pages = split_by_site(filled, site.pages, [FOOD, BOOKS])
    with filled.claims("watch") as claims:
        round = module._SiteRound(filled, Deadly(filled, "", False), claims, None, 2)
        outcomes = {one.site: one for one in round.run([FOOD, BOOKS], pages, module.DEFAULT_POLITENESS)}
    assert "its process died" in str(outcomes[FOOD].problem)
    assert not outcomes[BOOKS].has_findings
