"""Sessions: labels in, rules and found values out."""

from __future__ import annotations

from tests.web.small_pages import EMPTY, SCHEMA, name, page, phone, session
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.pipeline import learn
from untemplate.web.cluster_session import ClusterSession


def test_only_what_changed_is_learned_anew() -> None:
    made = session([page(0), page(1)], name(0), phone(0))
    before = dict(made.reports)
    made.update(EMPTY, [name(0), phone(0), phone(1)], {"name", "phone"})
    assert made.reports["name"] is before["name"]
    assert made.reports["phone"] is not before["phone"]


def test_saved_rules_stay_until_labels_change() -> None:
    learned = session([page(0), page(1)], name(0), phone(0)).wrapper
    made = ClusterSession(learned, [page(0), page(1), page(2)], SCHEMA)
    made.update(learned, [name(0)], ())
    assert made.is_saved
    assert [found.text for found in made.find(made.pages["2"])["name"]] == ["Place 2"]
    made.update(learned, [name(0), Label("1", "name", "Town 1")], {"name"})
    assert not made.is_saved
    assert made.rules["phone"] == learned.rules["phone"]
    made.update(learned, [name(0)], ())
    assert made.is_saved


def test_labeled_pages_from_outside_the_sample_are_taken_in() -> None:
    made = session([page(0), page(1)], name(0))
    made.update(EMPTY, [name(0), phone(5)], {"name", "phone"}, [page(5)])
    assert list(made.pages) == ["0", "1", "5"]
    assert [found.text for found in made.find(made.pages["1"])["phone"]] == ["+1 212 555 0101"]


def test_pages_that_cannot_be_read_are_left_out() -> None:
    made = session([page(0), Page("http://a.example/x", b"", "x")], name(0))
    assert list(made.pages) == ["0"]


def test_rules_of_list_pages_find_nothing_here_and_give_way_to_labels_of_the_page() -> None:
    pages = [page(0), page(1)]
    labels = [
        Label("0", "name", "0 Main St", record="1"),
        Label("0", "name", "Call:", record="2"),
    ]
    listed = learn(pages, labels, SCHEMA).wrappers[0]
    assert listed.records is not None
    made = session(pages, saved=listed)
    assert made.find(made.pages["1"]) == {"name": []}
    assert made.wrapper.records is not None
    made.update(listed, [*labels, name(0)], {"name"})
    assert made.wrapper.records is None
    assert [found.text for found in made.find(made.pages["1"])["name"]] == ["Place 1"]
