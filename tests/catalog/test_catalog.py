"""What every catalog does, be it a SQLite file or a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.made_up_sites import learned_site
from untemplate import Attribute, Catalog, CatalogError, Label, Page, Rules, Schema
from untemplate.demo import Site
from untemplate.page import Signature
from untemplate.rules import Bellwether, Profile, Rule, Selector, Wrapper
from untemplate.rules.feature import Feature
from untemplate.watching import Alarm

SITE = "books.example"

texts = st.text(st.characters(codec="utf-8"), max_size=8)  # any code point, also NUL
signatures = st.tuples(*[st.none() | st.integers(0, 255)] * 8).map(Signature)
attributes = st.sampled_from(["name", "price"])
selectors = st.builds(
    Selector,
    st.just("text()"),
    st.tuples(st.builds(Feature, st.just("tag"), st.integers(1, 3), st.tuples(st.just("p")))),
    st.integers(-1, 3),
    st.floats(0, 1),
)
rule_parts = st.tuples(st.lists(selectors, min_size=1, max_size=2).map(tuple), st.lists(selectors).map(tuple))
bellwethers = st.builds(
    Bellwether,
    *(texts, texts, signatures),
    st.dictionaries(attributes, st.lists(texts, max_size=2).map(tuple)),
    st.lists(attributes, max_size=2).map(tuple),
)
profiles = st.builds(Profile, st.floats(0, 1), st.lists(texts).map(tuple), st.lists(texts).map(tuple))


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    schema = Schema(
        "shop", {name: Attribute(name, mandatory=draw(st.booleans())) for name in ("name", "price")}
    )
    wrappers = tuple(
        Wrapper(
            draw(texts),
            tuple(draw(st.lists(signatures, max_size=2))),
            draw(st.integers(0, 2**40)),
            draw(texts),
            {name: Rule(name, *draw(rule_parts)) for name in draw(st.sets(attributes))},
            ("4 dt Phone:",),
            tuple(draw(st.lists(bellwethers, max_size=2))),
            draw(st.dictionaries(attributes, profiles)),
            tuple(draw(st.sets(attributes))),
        )
        for _ in range(draw(st.integers(0, 3)))
    )
    return Rules(schema, wrappers)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(saved=any_rules())
def test_any_rules_come_back_as_they_were(catalog: Catalog, saved: Rules) -> None:
    version = catalog.save_rules(SITE, saved)
    assert catalog.rules(SITE) == catalog.rules(SITE, version) == saved
    assert catalog.rules(SITE).dumps() == saved.dumps()


@pytest.mark.parametrize("vertical", ["restaurant", "recipe"])
def test_learned_rules_come_back_as_they_were(catalog: Catalog, vertical: str) -> None:
    site, rules = learned_site(vertical)
    assert any(wrapper.bellwethers for wrapper in rules.wrappers)
    catalog.save_rules(vertical, rules)
    assert catalog.rules(vertical) == rules
    assert list(catalog.rules(vertical).extract(site.pages)) == list(rules.extract(site.pages))


def test_versions_are_added_and_never_changed(catalog: Catalog, rules: Rules) -> None:
    fewer = Rules(rules.schema, rules.wrappers[:1])
    assert catalog.save_rules(SITE, rules, note="first") == 1
    assert catalog.save_rules("other.example", rules) == 1
    assert catalog.save_rules(SITE, fewer, "healed", "price moved", by="Ada") == 2
    assert catalog.rollback(SITE, 1, by="Bob") == 3
    assert catalog.rules(SITE, 1) == catalog.rules(SITE) == rules
    assert catalog.rules(SITE, 2) == fewer
    first, second, third = catalog.history(SITE)
    assert (first.number, first.reason, first.note, first.by) == (1, "learned", "first", "")
    assert (second.number, second.reason, second.note, second.by) == (2, "healed", "price moved", "Ada")
    assert (third.number, third.reason, third.note, third.by) == (3, "rolled back", "to version 1", "Bob")
    assert [one.clusters for one in (first, second, third)] == [len(rules.wrappers), 1, len(rules.wrappers)]
    assert first.rules == sum(len(wrapper.rules) for wrapper in rules.wrappers)
    assert first.saved.tzinfo is not None
    assert first.saved <= second.saved <= third.saved <= datetime.now(UTC)
    assert catalog.sites() == [SITE, "other.example"]


def test_what_is_not_there_is_said(catalog: Catalog, rules: Rules) -> None:
    with pytest.raises(CatalogError, match=r"no site 'books.example' in the catalog, which has no sites yet"):
        catalog.rules(SITE)
    with pytest.raises(CatalogError, match="no site"):
        catalog.rollback(SITE, 1)
    assert catalog.sites() == []
    catalog.start_run(SITE, "learn")
    with pytest.raises(CatalogError, match=r"books.example: has no rules in the catalog yet"):
        catalog.rules(SITE)
    catalog.save_rules(SITE, rules)
    for ask, version in ((catalog.rules, 7), (catalog.rollback, 7), (catalog.rules, 0)):
        with pytest.raises(CatalogError, match=f"has no version {version} of its rules; there are 1 to 1"):
            ask(SITE, version)
    with pytest.raises(CatalogError, match=r"no page 'x' of books.example"):
        catalog.page(SITE, "x")
    for call in (catalog.remove_label, catalog.restore_label):
        with pytest.raises(CatalogError, match="label 9 in the catalog"):
            call(9, "Ada")
    with pytest.raises(CatalogError, match="no run 99 is under way"):
        catalog.finish_run(99, {})
    for name in ("", " ", "x" * 201):
        with pytest.raises(CatalogError, match="name of a site"):
            catalog.save_rules(name, rules)


def test_what_a_person_should_label_belongs_to_a_version(catalog: Catalog, rules: Rules) -> None:
    broken = replace(rules.wrappers[0], lost=("price",))
    cluster = broken.cluster
    catalog.save_rules(SITE, rules)
    assert catalog.pages_to_label(SITE) == []
    changed = Rules(rules.schema, (broken, *rules.wrappers[1:]))
    catalog.save_rules(SITE, changed, "healed", to_label={cluster: ["b.html", "a.html"]})
    [request] = catalog.pages_to_label(SITE)
    assert (request.cluster, request.attributes, request.pages) == (cluster, ("price",), ("b.html", "a.html"))
    catalog.rollback(SITE, 1)
    assert catalog.pages_to_label(SITE) == []
    catalog.rollback(SITE, 2)
    assert catalog.pages_to_label(SITE) == [request]


def test_pages_are_kept_in_all_their_states(catalog: Catalog, site: Site) -> None:
    for page in site.pages[:5]:
        catalog.save_page(SITE, page)
    kept = list(catalog.pages(SITE))
    assert [(page.id, page.url, page.html) for page in kept] == [
        (page.id, page.url, page.html) for page in site.pages[:5]
    ]
    then = datetime.now(UTC)
    first = site.pages[0]
    changed = Page(first.url, b"<p>changed</p>", first.id, datetime(2024, 2, 3, 4, 5, 6, 7), "cp1252")
    catalog.save_page(SITE, changed)
    now = catalog.page(SITE, first.id)
    assert (now.url, now.html, now.charset) == (first.url, b"<p>changed</p>", "cp1252")
    assert now.fetched == datetime(2024, 2, 3, 4, 5, 6, 7, UTC)
    assert catalog.page(SITE, first.id, at=then).html == first.html
    assert [page.id for page in catalog.pages(SITE)] == [page.id for page in site.pages[:5]]


def test_several_pages_are_kept_together_or_not_at_all(catalog: Catalog, site: Site) -> None:
    def broken() -> Iterator[Page]:
        yield site.pages[0]
        raise FileNotFoundError

    catalog.save_pages(SITE, site.pages[1:3])
    with pytest.raises(FileNotFoundError):
        catalog.save_pages(SITE, broken())
    assert [page.id for page in catalog.pages(SITE)] == [page.id for page in site.pages[1:3]]


def test_a_page_as_it_was_is_not_kept_twice(catalog: Catalog) -> None:
    page = Page("http://a.example/1", b"<p>x</p>" * 1000, "1")
    catalog.save_page(SITE, page)
    catalog.save_page(SITE, page)
    catalog.save_page("mirror.example", Page("http://b.example/1", page.html, "1"))
    with catalog._database.read() as connection:
        count = connection.exec_driver_sql
        assert count("SELECT count(*) FROM pages").scalar() == 2
        assert count("SELECT count(*) FROM snapshots").scalar() == 1
        assert count("SELECT max(length(html)) FROM snapshots").scalar() < 100


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(url=texts, html=st.binary(), id=texts | st.just("x" * 5000))
def test_any_page_comes_back_as_it_was(catalog: Catalog, url: str, html: bytes, id: str) -> None:
    catalog.save_page(SITE, Page(url, html, id))
    kept = catalog.page(SITE, id or url)
    assert (kept.url, kept.html, kept.id) == (url, html, id or url)


def test_labels_can_be_taken_back_and_given_again(catalog: Catalog) -> None:
    title = Label("1", "title", "Emma", "/html/body/h1/text()")
    none = Label("1", "price", None)
    guess = Label("2", "title", "Persuasion", source="model", confidence=0.25)
    ids = catalog.add_labels(SITE, [title, none, guess], "Ada")
    assert [(one.id, one.label, one.by) for one in catalog.labels(SITE)] == [
        (id, label, "Ada") for id, label in zip(ids, (title, none, guess), strict=True)
    ]
    assert catalog.add_labels(SITE, [title], "Ada") == ids[:1]
    [other] = catalog.add_labels(SITE, [title], "Bob")
    assert other not in ids

    catalog.remove_label(ids[0], "Bob")
    catalog.remove_label(ids[0], "Bob")
    assert [one.label for one in catalog.labels(SITE)] == [none, guess, title]
    removed = next(one for one in catalog.labels(SITE, removed=True) if one.id == ids[0])
    assert removed.removed is not None
    assert removed.by == "Ada"
    catalog.restore_label(ids[0], "Ada")
    assert [one.id for one in catalog.labels(SITE)] == [*ids, other]
    with pytest.raises(CatalogError, match="no removed label"):
        catalog.restore_label(ids[0], "Ada")
    catalog.remove_label(ids[0], "Ada")
    assert [one.id for one in catalog.labels(SITE)] == [*ids[1:], other]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    label=st.builds(Label, texts, texts, st.none() | texts, st.none() | texts, texts, st.floats(0, 1)),
    by=texts,
)
def test_any_label_comes_back_as_it_was(catalog: Catalog, label: Label, by: str) -> None:
    [id] = catalog.add_labels(SITE, [label], by)
    [given] = [one for one in catalog.labels(SITE) if one.id == id]
    assert (given.label, given.by) == (label, by)


def test_runs_are_remembered_with_their_figures(catalog: Catalog) -> None:
    learn_run = catalog.start_run(SITE, "learn")
    watch_run = catalog.start_run(SITE, "watch")
    catalog.finish_run(watch_run, {"coverage": {"c1": 0.5}, "odd": "\0\ud800"})
    with pytest.raises(CatalogError, match="is under way"):
        catalog.finish_run(watch_run, {})
    under_way, done = catalog.runs(SITE)
    assert (under_way.id, under_way.kind, under_way.finished, under_way.figures) == (
        learn_run,
        "learn",
        None,
        {},
    )
    assert done.figures == {"coverage": {"c1": 0.5}, "odd": "\0\ud800"}
    assert done.finished is not None
    assert done.started <= done.finished
    assert catalog.runs(SITE, "watch") == [done]


def alarm(
    cluster: str,
    test: str,
    attribute: str | None = None,
    seen: str = "nothing",
    since: datetime | None = None,
) -> Alarm:
    return Alarm(cluster, test, attribute, "a value", seen, ("a", "b"), since)


def test_alarms_are_raised_once_and_cleared(catalog: Catalog) -> None:
    def watch(*alarms: Alarm, unchecked: tuple[str, ...] = ()) -> None:
        run = catalog.start_run(SITE, "watch")
        catalog.record_alarms(SITE, run, alarms, unchecked)
        catalog.finish_run(run, {})

    def open_alarms() -> list[tuple[str, str, str | None, str]]:
        return [(one.cluster, one.test, one.attribute, one.seen) for one in catalog.alarms(SITE)]

    since = datetime.now(UTC) - timedelta(days=3)
    watch(alarm("c1", "shingle", since=since), alarm("c2", "mandatory", "name"))
    raised, other = catalog.alarms(SITE)
    assert other.since == other.raised
    assert (raised.pages, raised.since, raised.cleared) == (("a", "b"), since, None)
    watch(alarm("c1", "shingle", seen="less"), alarm("c2", "constant", "name"))
    assert open_alarms() == [("c1", "shingle", None, "less"), ("c2", "constant", "name", "nothing")]
    assert catalog.alarms(SITE)[0].raised == raised.raised
    assert catalog.alarms(SITE)[0].since == since
    watch(unchecked=("c1",))
    assert open_alarms() == [("c1", "shingle", None, "less")]
    watch()
    assert open_alarms() == []
    assert [one.cleared is not None for one in catalog.alarms(SITE, open_only=False)] == [True] * 3
    watch(alarm("c1", "shingle"))
    assert len(catalog.alarms(SITE, open_only=False)) == 4
