"""Claims: no two processes fetch or heal a site at the same time, and a process that was killed blocks nobody."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import update

from untemplate import Catalog, CatalogError, Page, Rules
from untemplate.catalog import SiteOutcome, heal_sites, site_claims, split_by_site, watch_sites
from untemplate.catalog.sql_tables import claims
from untemplate.demo import Site

SITES = [f"site{number}.example" for number in range(4)]


@pytest.fixture
def servers(where: str) -> Iterator[list[Catalog]]:
    """Two connections to one catalog, as of two servers."""
    with Catalog.open(where) as first, Catalog.open(where) as second:
        yield [first, second]


@pytest.fixture
def small(rules: Rules) -> Rules:
    return replace(rules, wrappers=rules.wrappers[:1])


@pytest.fixture
def filled(servers: list[Catalog], small: Rules) -> list[Catalog]:
    for site in SITES:
        servers[0].save_rules(site, small)
    return servers


def test_a_site_has_one_holder_at_a_time(filled: list[Catalog]) -> None:
    with filled[0].claims("watch") as mine, filled[1].claims("heal") as theirs:
        assert mine.take(SITES[0]) is None
        assert mine.take(SITES[0]) is None, "a claim can be taken again by its holder"
        assert "has been working on it since" in str(theirs.take(SITES[0]))
        assert theirs.take(SITES[1]) is None
        theirs.release(SITES[0])
        assert theirs.take(SITES[0]) is not None, "only the holder can release a claim"
        mine.release(SITES[0])
        assert theirs.take(SITES[0]) is None
    with filled[0].claims("watch") as mine:
        assert [mine.take(site) for site in SITES] == [None] * 4, "all claims end with their block"


def test_one_site_is_refused_in_one_line(filled: list[Catalog]) -> None:
    with (
        filled[0].claim(SITES[0], "watch"),
        pytest.raises(CatalogError, match=r"^site0.example: process \d+ on .* try again when it is done$"),
        filled[1].claim(SITES[0], "heal"),
    ):
        pytest.fail("both have the claim")
    with pytest.raises(CatalogError, match="no site 'nowhere'"), filled[0].claim("nowhere", "watch"):
        pytest.fail("a claim adds no site")


def test_of_many_threads_only_one_gets_a_site(filled: list[Catalog]) -> None:
    start = Barrier(8)

    def take(number: int) -> bool:
        with filled[number % 2].claims("watch") as mine:
            start.wait()
            got = mine.take(SITES[0]) is None
            start.wait()
            return got

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1


@contextmanager
def killed_holder(where: str, site: str) -> Iterator[None]:
    """A process that is killed while it has a claim."""
    command = [sys.executable, str(Path(__file__).with_name("claiming.py")), where, site]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "claimed\n"
        with Catalog.open(where) as catalog, catalog.claims("watch") as mine:
            assert mine.take(site) is not None
        process.kill()
    yield


def test_the_claim_of_a_killed_process_is_taken_over_at_once(filled: list[Catalog], where: str) -> None:
    round = filled[0].start_round("watch")
    with killed_holder(where, SITES[0]), filled[0].claims("watch") as mine:
        assert mine.take(SITES[0]) is None
    filled[0].finish_round(round)
    assert filled[0].start_round("watch").id != round.id


def test_a_claim_of_another_computer_expires(filled: list[Catalog], monkeypatch: pytest.MonkeyPatch) -> None:
    with filled[0].claims("watch") as theirs:
        theirs.take(SITES[0])
        monkeypatch.setattr(site_claims, "_this_computer", lambda: "another")
        with filled[1].claims("watch") as mine:
            assert mine.take(SITES[0]) is not None
            old = datetime.now(UTC) - site_claims.MAX_AGE - timedelta(seconds=1)
            with filled[0]._database.write() as connection:
                connection.execute(update(claims).values(renewed=old))
            assert mine.take(SITES[0]) is None
            theirs.release(SITES[0])
            assert theirs.take(SITES[0]) is not None, "a claim that was taken over is not released"


def test_a_claim_is_renewed_in_the_background(filled: list[Catalog], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_claims, "RENEWAL_SECONDS", 0.02)
    with filled[0].claims("watch") as mine:
        mine.take(SITES[0])
        old = datetime.now(UTC) - timedelta(days=1)
        with filled[0]._database.write() as connection:
            connection.execute(update(claims).values(renewed=old))
        deadline = time.monotonic() + 600
        with filled[1].claims("watch") as theirs:
            while theirs.take(SITES[0]) is None and time.monotonic() < deadline:
                theirs.release(SITES[0])
                mine.take(SITES[0])
            assert theirs.take(SITES[0]) is not None


@pytest.mark.parametrize("work", [watch_sites, heal_sites])
def test_two_schedulers_do_each_site_once(
    filled: list[Catalog], site: Site, work: Callable[..., Iterator[SiteOutcome]]
) -> None:
    start = Barrier(2)

    def schedule(catalog: Catalog) -> list[SiteOutcome]:
        started = datetime.now(UTC)
        pages = [(name, next(iter(split_by_site(catalog, site.pages, [name])))[1]) for name in SITES]
        start.wait()
        return list(work(catalog, SITES, pages, workers=1, since=started - timedelta(minutes=1)))

    with ThreadPoolExecutor(2) as pool:
        outcomes = [outcome for found in pool.map(schedule, filled) for outcome in found]
    done = [outcome.site for outcome in outcomes if not outcome.left_out]
    assert sorted(done) == SITES
    assert sorted(outcome.site for outcome in outcomes if outcome.left_out) == SITES
    assert not any(outcome.problem for outcome in outcomes)


def test_the_last_scheduler_ends_the_round(filled: list[Catalog]) -> None:
    first, second = (catalog.start_round("watch") for catalog in filled)
    with filled[1].claims("watch") as theirs:
        theirs.take(SITES[0])
        filled[0].finish_round(first)
        assert filled[0].start_round("watch").id == first.id
    filled[1].finish_round(second)
    assert filled[0].start_round("watch").id != first.id


def test_pages_to_label_survive_watching_and_healing(filled: list[Catalog], rules: Rules) -> None:
    empty = replace(rules.wrappers[0], cluster="c9", rules={}, bellwethers=())
    more = replace(rules, wrappers=(*rules.wrappers[:1], empty))
    catalog = filled[0]
    catalog.save_pages(SITES[0], [Page("http://site0.example/1", "<p>x", "1")])
    catalog.save_rules(SITES[0], more, to_label={"c9": ["1"], more.wrappers[0].cluster: ["2"]})
    catalog.save_rules(SITES[0], more, "watched")
    assert [(work.cluster, work.pages) for work in catalog.pages_to_label(SITES[0])] == [("c9", ("1",))]
    catalog.save_rules(SITES[0], more, "healed", to_label={"c9": ["3"]})
    assert [work.pages for work in catalog.pages_to_label(SITES[0])] == [("3",)]
    catalog.save_rules(SITES[0], more)
    assert catalog.pages_to_label(SITES[0]) == []
