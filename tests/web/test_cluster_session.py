"""Sessions: labels in, rules, found values, the next page and doubtful values out."""

from __future__ import annotations

from tests.web.small_pages import EMPTY, SCHEMA, name, page, phone, session
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.pipeline import learn
from untemplate.web.cluster_session import ClusterSession, find_doubtful_values, measure_progress


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


def test_the_page_of_which_rules_are_least_sure_is_next() -> None:
    pages = [page(0), page(1), page(2, phone=False), page(3, heading="<b>", phone=False), page(4)]
    assert measure_progress(session(pages)).next == "0"
    after = measure_progress(session(pages, name(0), phone(0)))
    assert after.next == "3"
    assert not after.done
    assert [state.is_extracted for state in after.pages] == [True, True, True, False, True]


def test_done_when_all_remaining_pages_hold_and_no_attribute_is_open() -> None:
    pages = [page(0), page(1), page(2, phone=False)]
    assert not measure_progress(session(pages, name(0))).done
    assert measure_progress(session(pages, name(0))).undecided == ("phone",)
    assert measure_progress(session(pages, name(0), phone(0))).done
    gaps = [Label("0", "phone", None), Label("1", "phone", None)]
    assert not measure_progress(session(pages, name(0), gaps[0])).done
    assert measure_progress(session(pages, name(0), *gaps)).done


def test_missing_mandatory_values_are_doubted_unless_labeled() -> None:
    pages = [page(0), page(1), page(2), page(3, heading="<b>")]
    made = session(pages, name(0), phone(0))
    strange = Page("http://a.example/9", "<html><body><p>nothing here</p></body></html>", "9")
    [doubt] = find_doubtful_values(made, strange)
    assert (doubt.attribute, doubt.texts, doubt.reason) == ("name", (), "missing, though mandatory")
    assert [one.attribute for one in find_doubtful_values(made, made.pages["1"])] == []


def test_attributes_whose_labels_no_rule_fits_are_named() -> None:
    pages = [page(0), page(1), page(2), page(3, phone=False)]
    gaps = [Label("1", "phone", None), Label("3", "phone", None)]
    progress = measure_progress(session(pages, name(0), Label("0", "phone", "nowhere"), *gaps))
    assert progress.done
    assert progress.unlearned == ("phone",)
    assert measure_progress(session(pages, name(0), phone(0))).unlearned == ()


def test_pages_left_aside_do_not_count() -> None:
    pages = [page(0), page(1), page(2, heading="<b>", phone=False)]
    made = session(pages, name(0), phone(0))
    assert not measure_progress(made).done
    made.flagged = frozenset({"2"})
    assert measure_progress(made).done


def test_a_label_that_only_the_embedded_data_have_is_no_problem() -> None:
    pages = []
    for number in range(4):
        data = f'<script type="application/ld+json">{{"@type": "Place", "telephone": "555-010{number}"}}</script>'
        html = page(number, phone=False).html.replace(b"<body>", f"<head>{data}</head><body>".encode())
        pages.append(Page(f"http://a.example/{number}", html, str(number)))
    made = session(pages, name(0), Label("0", "phone", "555-0100"))
    assert [found.text for found in made.find(made.pages["3"])["phone"]] == ["555-0103"]
    assert made.reports["phone"].problems == []
