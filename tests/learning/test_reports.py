"""What learning reports: values of unlabeled pages, and how sure they are."""

from __future__ import annotations

from tests.learning.lessons import labels_of, schema_of, site
from untemplate.labeling import Label
from untemplate.learning.reports import MAX_SHOWN_EXAMPLES, ExampleValue, choose_examples
from untemplate.pipeline import learn_site

BODIES = [f"<h1>Lamp {n}</h1><p class=price>${n}.99</p>" for n in range(6)]


def test_examples_are_values_of_unlabeled_pages() -> None:
    learned = learn_site(site(BODIES), labels_of({0: {"name": "Lamp 0"}}), schema_of(name="text"))
    ((report,),) = learned.reports.values()
    assert {example.texts for example in report.examples} == {(f"Lamp {n}",) for n in range(1, 6)}
    assert report.confidence is not None
    assert 0 < report.confidence <= 1
    described = report.to_dict()
    assert described["confidence"] == report.confidence
    assert len(described["examples"]) == MAX_SHOWN_EXAMPLES
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
