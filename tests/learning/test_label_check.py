"""What new rules return: findings on labeled pages, examples on others."""

from __future__ import annotations

from tests.learning.lessons import labels_of, schema_of, site
from untemplate.labeling import Label
from untemplate.learning.label_check import MAX_EXAMPLES, ExampleValue, LabelFit, choose_examples
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


def test_examples_are_values_of_unlabeled_pages() -> None:
    learned = learn_site(site(BODIES), labels_of({0: {"name": "Lamp 0"}}), schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert {example.texts for example in report.examples} == {(f"Lamp {n}",) for n in range(1, 6)}
    assert report.confidence is not None
    assert 0 < report.confidence <= 1
    described = report.to_dict()
    assert described["confidence"] == report.confidence
    assert len(described["examples"]) == MAX_EXAMPLES
    assert set(described["examples"][0]) == {"page", "texts", "confidence"}


def test_records_of_list_pages_give_examples() -> None:
    rows = [[f"Tea {page}{row}" for row in range(4)] for page in range(4)]
    bodies = ["<ul>" + "".join(f"<li><b>{name}</b> fresh</li>" for name in names) + "</ul>" for names in rows]
    labels = [Label("0", "name", name, record=f"r{number}") for number, name in enumerate(rows[0])]
    learned = learn_site(site(bodies), labels, schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert ("Tea 10",) in {example.texts for example in report.examples}


def test_the_least_sure_example_is_among_those_shown() -> None:
    values = [ExampleValue(str(n), (f"v{n // 2}",), 1.0) for n in range(8)] + [
        ExampleValue("8", ("odd",), 0.4)
    ]
    assert [example.texts[0] for example in choose_examples(values)] == ["v0", "v1", "odd"]
    assert choose_examples([]) == []


def test_pages_that_are_all_labeled_leave_no_examples() -> None:
    labels = labels_of({n: {"name": f"Lamp {n}"} for n in range(6)})
    ((report,),) = learn_site(site(BODIES), labels, schema_of(name="text")).reports.values()
    assert (report.examples, report.confidence) == ([], None)
