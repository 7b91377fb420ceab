"""The session: labels in, rules and predictions out; which page is next, and when nothing is left to label."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from untemplate.errors import LabelError
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.pipeline import learn
from untemplate.rules import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.web.cluster_session import ClusterSession
from untemplate.web.labeling_progress import find_doubtful_values, measure_progress
from untemplate.web.page_labels import Click, label_from_click, mark_label
from untemplate.web.rendering import render

SCHEMA = Schema("place", {"name": Attribute("name", mandatory=True), "phone": Attribute("phone", "phone")})
EMPTY = Wrapper("c1", (), 0, "*", {})


def page(number: int, heading: str = "<div id='top'><h1 class='title'>", phone: bool = True) -> Page:
    call = f"<p>Call: <i>+1 212 555 01{number:02}</i></p>" if phone else ""
    html = (
        f"<html><body>{heading}Place {number}</h1></div>"
        f"<p class='street'>{number} Main St<br>Town {number}</p>{call}<p>About us</p></body></html>"
    )
    return Page(f"http://a.example/{number}", html, str(number))


def session(pages: Iterable[Page], *labels: Label, saved: Wrapper = EMPTY) -> ClusterSession:
    made = ClusterSession(saved, pages, SCHEMA)
    made.update(saved, labels, {label.attribute for label in labels})
    return made


def name(number: int) -> Label:
    return Label(str(number), "name", f"Place {number}", "/html/body/div/h1/text()")


def phone(number: int) -> Label:
    return Label(str(number), "phone", f"+1 212 555 01{number:02}", "/html/body/p[2]/i/text()")


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


def test_missing_mandatory_values_are_doubted_unless_labeled() -> None:
    pages = [page(0), page(1), page(2), page(3, heading="<b>")]
    made = session(pages, name(0), phone(0))
    strange = Page("http://a.example/9", "<html><body><p>nothing here</p></body></html>", "9")
    [doubt] = find_doubtful_values(made, strange)
    assert (doubt.attribute, doubt.texts, doubt.reason) == ("name", (), "missing, though mandatory")
    assert [one.attribute for one in find_doubtful_values(made, made.pages["1"])] == []


def test_clicks_become_labels_that_are_marked_where_they_were_given() -> None:
    made = session([page(0), page(1)])
    shown = made.pages["1"]
    rendering = render(shown, lambda reference: None)
    texts = {item[1]: number for number, item in enumerate(rendering.items) if len(item) == 2}
    street, town, call = texts["1 Main St"], texts["Town 1"], texts["+1 212 555 0101"]
    clicks = {
        Click(street): ("1 Main St", "/html/body/p[1]/text()[1]", (street,)),
        Click(street, last=street): ("1 Main St", "/html/body/p[1]/text()[1]", (street,)),
        Click(town, last=street): ("1 Main St Town 1", "/html/body/p[1]", (street, town)),
        Click(texts["Place 1"], last=town): (
            "Place 1 1 Main St Town 1",
            None,
            (texts["Place 1"], street, town),
        ),
        Click(call, part=" 555 "): ("555", "/html/body/p[2]/i/text()[1]", (call,)),
    }
    for click, (value, xpath, items) in clicks.items():
        label = label_from_click(click, shown, rendering, SCHEMA.attributes["name"])
        assert (label.value, label.xpath) == (value, xpath)
        marked = mark_label(label, 1, made.table, rendering, SCHEMA.attributes["name"])
        assert marked is not None
        assert marked.items == items
        assert marked.part == ("555" if click.part else None)
    for click in (Click(0), Click(99), Click(call, part="556"), Click(street, attribute="href")):
        with pytest.raises(LabelError):
            label_from_click(click, shown, rendering, SCHEMA.attributes["name"])


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
