"""The status of many sites: what runs, alarms and rules say about each, worst first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from untemplate import Alarm, Catalog, Label, Rules
from untemplate.catalog import Measure


def tally(pages: int, filled: int, unmatched: int = 0, cluster: str = "c1") -> dict[str, object]:
    counts = {
        "pages": pages,
        "records": pages,
        "matched": pages - unmatched,
        "empty": 0,
        "filled": {"title": filled},
        "unmatched": {"no rules match this page": unmatched} if unmatched else {},
    }
    return counts | {"clusters": {cluster: counts}}


def extract(catalog: Catalog, site: str, figures: dict[str, object]) -> None:
    catalog.finish_run(catalog.start_run(site, "extract"), figures)


def only_title(rules: Rules) -> Rules:
    """The same wrapper with a rule for the title alone."""
    [wrapper, *_] = [wrapper for wrapper in rules.wrappers if wrapper.rules]
    return replace(rules, wrappers=(replace(wrapper, rules={"title": wrapper.rules["title"]}, profiles={}),))


def test_a_site_is_compared_with_its_past(catalog: Catalog, rules: Rules) -> None:
    simple = only_title(rules)
    catalog.save_rules("a.example", simple)
    cluster = simple.wrappers[0].cluster
    extract(catalog, "a.example", tally(100, 100, cluster=cluster))
    extract(catalog, "a.example", tally(200, 50, unmatched=100, cluster=cluster))
    [status] = catalog.statuses()
    assert (status.schema, status.version, status.pages, status.clusters) == ("book", 1, 200, 1)
    assert status.coverage == Measure(0.5, 1.0)
    assert status.fill == Measure(0.5, 1.0)
    assert status.fill.change == -0.5
    assert status.last_extract is not None
    assert status.last_watch is None
    assert not status.waiting
    assert status.to_dict()["fill"] == {"now": 0.5, "before": 1.0}


def test_a_site_that_was_only_watched(catalog: Catalog, rules: Rules) -> None:
    catalog.save_rules("a.example", rules)
    figures = [{"cluster": "c1", "pages": 20, "coverage": 0.9, "fill": {"title": 1.0, "price": 0.5}}]
    catalog.start_run("a.example", "watch")  # interrupted: it does not count
    catalog.finish_run(catalog.start_run("a.example", "watch"), {"clusters": figures, "alarms": []})
    catalog.start_run("a.example", "watch")
    [status] = catalog.statuses()
    assert status.coverage == Measure(0.9, None)
    assert status.fill == Measure(0.75, None)
    assert status.last_watch is not None


def test_what_waits_for_a_person_is_sorted_by_lost_pages(catalog: Catalog, rules: Rules) -> None:
    simple = only_title(rules)
    [wrapper] = simple.wrappers
    lost = replace(wrapper, cluster="lost", rules={}, lost=("title",))
    bare = replace(wrapper, cluster="bare", rules={})
    catalog.save_rules("fine.example", simple)
    catalog.save_rules("new.example", replace(simple, wrappers=(bare,)))
    catalog.save_rules("changed.example", replace(simple, wrappers=(lost,)), to_label={"lost": ["7.html"]})
    catalog.save_rules("alarmed.example", simple)
    catalog.add_labels("unused.example", [Label("1.html", "title", "Emma")], by="Ada")
    extract(catalog, "new.example", tally(30, 0, cluster="bare"))
    extract(catalog, "changed.example", tally(500, 0, cluster="lost"))
    extract(catalog, "alarmed.example", tally(70, 70, cluster=wrapper.cluster))
    alarm = Alarm(wrapper.cluster, "moved", "title", "Emma", "nothing", ("3.html",))
    catalog.record_alarms("alarmed.example", catalog.start_run("alarmed.example", "watch"), [alarm])
    statuses = catalog.statuses()
    assert [status.site for status in statuses][:3] == ["changed.example", "alarmed.example", "new.example"]
    [changed], [alarmed], [new] = (status.waiting for status in statuses[:3])
    assert (changed.reason, changed.pages, changed.page, changed.attributes) == (
        "the site changed",
        500,
        "7.html",
        ("title",),
    )
    assert (alarmed.reason, alarmed.pages, alarmed.page) == ("alarm: moved", 70, "3.html")
    assert (new.reason, new.pages, new.cluster) == ("no labels yet", 30, "bare")
    assert [status.alarms for status in statuses] == [0, 1, 0, 0, 0]
    by_name = {status.site: status for status in statuses}
    assert by_name["unused.example"].schema is None
    assert by_name["unused.example"].labels == 1


def test_a_cleared_alarm_waits_for_nobody(catalog: Catalog, rules: Rules) -> None:
    catalog.save_rules("a.example", only_title(rules))
    alarm = Alarm(rules.wrappers[0].cluster, "moved", "title", "Emma", "nothing", ())
    run = catalog.start_run("a.example", "watch")
    catalog.record_alarms("a.example", run, [alarm])
    catalog.record_alarms("a.example", run, [])
    [status] = catalog.statuses()
    assert (status.alarms, status.waiting) == (0, ())


def test_a_site_is_due_after_its_interval(catalog: Catalog, rules: Rules) -> None:
    now = datetime.now(UTC)
    catalog.save_rules("a.example", rules)
    assert catalog.statuses()[0].is_due(now)
    catalog.finish_run(catalog.start_run("a.example", "watch"), {"clusters": [], "alarms": []})
    catalog.set_watch_hours("a.example", 6)
    [status] = catalog.statuses()
    assert not status.is_due(now + timedelta(hours=5))
    assert status.is_due(now + timedelta(hours=7))
    catalog.set_watch_hours("a.example", None)
    assert not catalog.statuses()[0].is_due(now + timedelta(hours=23))


def test_an_empty_catalog_has_no_status(catalog: Catalog) -> None:
    assert catalog.statuses() == []


def test_pages_that_nobody_wants_are_not_lost(catalog: Catalog, rules: Rules) -> None:
    simple = only_title(rules)
    names = ("lists", "help", "details")
    bare = [replace(simple.wrappers[0], cluster=name, rules={}) for name in names]
    to_label = {name: [f"{name}.html"] for name in names}
    catalog.save_rules("new.example", replace(simple, wrappers=tuple(bare)), to_label=to_label)
    kinds = {"lists": "list", "help": "other", "details": "detail"}
    catalog.finish_run(catalog.start_run("new.example", "learn"), {"kinds": kinds})
    [status] = catalog.statuses()
    assert [(work.cluster, work.page) for work in status.waiting] == [
        ("details", "details.html"),
        ("lists", "lists.html"),
        ("help", "help.html"),
    ]
    assert [work.pages for work in status.waiting][1:] == [0, 0]
    assert status.waiting[1].reason == "no labels yet: lists, it seems"


def test_alarms_about_the_site_wait_unless_those_of_clusters_do(catalog: Catalog, rules: Rules) -> None:
    simple = only_title(rules)
    catalog.save_rules("a.example", simple)
    run = catalog.start_run("a.example", "watch")
    about_site = Alarm("site", "reachable", None, "", "", ())
    catalog.record_alarms("a.example", run, [about_site])
    [status] = catalog.statuses()
    assert [(work.cluster, work.reason) for work in status.waiting] == [("", "alarm: reachable")]
    cluster = simple.wrappers[0].cluster
    catalog.record_alarms("a.example", run, [about_site, Alarm(cluster, "moved", "title", "", "", ())])
    [status] = catalog.statuses()
    assert [(work.cluster, work.reason) for work in status.waiting] == [(cluster, "alarm: moved")]
