"""Which page is next, when nothing is left to label, and which values to review."""

from __future__ import annotations

from tests.web.small_pages import name, page, phone, session
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.web.labeling_progress import find_doubtful_values, measure_progress


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
