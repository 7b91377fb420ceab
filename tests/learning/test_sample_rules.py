"""A rule that does not return its own labels is a finding."""

from __future__ import annotations

from tests.learning.lessons import labels_of, schema_of, site
from untemplate.learning.sample_rules import LabelFit
from untemplate.pipeline import learn_site

BODIES = [f"<h1>Lamp {n}</h1><p class=price>${n}.99</p>" for n in range(6)]


def test_labels_that_come_back_are_no_finding() -> None:
    learned = learn_site(site(BODIES), labels_of({0: {"name": "Lamp 0"}}), schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert report.unfit is None
    assert report.problems == []


def test_a_label_at_another_place_is_named_with_its_page() -> None:
    labels = labels_of({0: {"name": "Lamp 0"}, 1: {"name": "Lamp 1"}, 2: {"name": "$2.99"}})
    learned = learn_site(site(BODIES), labels, schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert report.unfit == "2"
    assert report.problems[-1] == "the rule does not return 1 of 3 labeled values: look at 2"


def test_fits_add_up_and_name_the_first_page() -> None:
    fit = LabelFit(3, 3).plus(LabelFit(2, 2, 1, "b")).plus(LabelFit(1, 0, 0, "c"))
    assert fit == LabelFit(6, 5, 1, "b")
    assert fit.problem == "the rule does not return 1 of 6 labeled values: look at b"
    assert (
        LabelFit(2, 2, 2, "a").problem == "the rule returns 2 values that the labels do not have: look at a"
    )
    assert LabelFit(2, 2).problem is None


def test_a_rule_that_returns_none_of_its_labeled_lists_is_not_believed() -> None:
    assert LabelFit(12, 1, 0, "a", lost=11).returns_other_lists
    assert not LabelFit(12, 11, 1, "a", lost=1).returns_other_lists, "one member is spelled differently"
    assert not LabelFit(4, 3, 0, "a").returns_other_lists, "the page does not show the fourth"
    assert not LabelFit(12, 8, 0, "b", fitting=1, lost=4).returns_other_lists, "it fits another page"
