"""Which of several lists the labels mean: the repeated group, unless its rules do not hold."""

from __future__ import annotations

import untemplate as ut
from untemplate import Label, Page
from untemplate.learning.list_rules import try_lists
from untemplate.learning.list_trials import ListGate, ListTrial, choose_trial
from untemplate.pipeline import learn_site

NAMES = ("amber", "birch", "cedar", "dune", "ember", "fjord")
SCHEMA = ut.Schema("opinion", {"docket": ut.Attribute("docket"), "name": ut.Attribute("name")})


def docket(number: int) -> str:
    return f"24-{number + 1001}"


def labels(page: Page, attributes: tuple[str, ...] = ("docket",)) -> list[Label]:
    values = {"docket": docket, "name": lambda number: f"{NAMES[number]} v. state"}
    return [
        Label(page.id, name, values[name](number), record=str(number))
        for number in (0, 1)
        for name in attributes
    ]


def trials_of(html: str) -> list[ListTrial]:
    page = Page("http://court.example/", html)
    return try_lists({page: labels(page)}, [], SCHEMA)[0]


TABLE = (
    "<table>"
    + "".join(
        f"<tr><td class=d>{docket(n)}</td><td>{name} v. state</td></tr>"
        f"<tr><td></td><td>{name} wins on {n} May</td></tr>"
        for n, name in enumerate(NAMES)
    )
    + "</table>"
)


def test_a_good_group_is_kept() -> None:
    items = "".join(f"<li><b>{docket(n)}</b> <i>{name} v. state</i></li>" for n, name in enumerate(NAMES))
    trials = trials_of(f"<body><h1>Opinions</h1><ul>{items}</ul></body>")
    best = choose_trial(trials)
    assert best.is_group
    assert (best.size, best.missing, best.plausible_share) == (6, {}, 1.0)


def test_a_group_loses_to_a_list_with_many_more_records() -> None:
    trials = trials_of(f"<body>{TABLE}</body>")
    assert any(not trial.is_group for trial in trials)
    chosen = choose_trial(trials, ListGate(0.0, 100.0))
    assert chosen.is_group
    assert choose_trial(trials).size == 6


def test_rows_of_several_table_rows_come_back_with_all_values() -> None:
    page = Page("http://court.example/", f"<body><h1>Opinions</h1>{TABLE}</body>", "1")
    rules = ut.learn([page], labels(page, ("docket", "name")), SCHEMA)
    records = rules.extract_page(page)
    assert [(record["docket"], record["name"]) for record in records] == [
        (docket(n), f"{name} v. state") for n, name in enumerate(NAMES)
    ]


def test_rows_without_a_wrapping_element_come_back() -> None:
    rows = "".join(
        f"<a href=/{n}.pdf>{name} v. state</a>, filed, {docket(n)}, 5 May<br>" for n, name in enumerate(NAMES)
    )
    page = Page(
        "http://court.example/", f"<body><h1>Opinions</h1><p class=all>{rows}</p><p>End</p></body>", "1"
    )
    learned = learn_site([page], labels(page), SCHEMA)
    records = learned.rules.extract_page(page)
    assert [record["docket"] for record in records if record["docket"]] == [docket(n) for n in range(6)]
    for record in records:
        for value in record.values.get("docket", ()):
            (node,) = page.tree.xpath(value.xpath)
            assert value.text in node
    assert ut.Rules.loads(learned.rules.dumps()) == learned.rules


def test_a_labeled_row_that_does_not_come_back_is_a_finding() -> None:
    items = "".join(f"<li><b>{docket(n)}</b> <i>{name} v. state</i></li>" for n, name in enumerate(NAMES))
    page = Page("http://court.example/", f"<body><ul>{items}</ul></body>", "1")
    wrong = [
        Label("1", "docket", docket(0), record="1"),
        Label("1", "docket", docket(1), record="2"),
        Label("1", "docket", "ember v. state", record="3"),
        Label("1", "docket", "Filed by nobody", record="4"),
    ]
    learned = learn_site([page], wrong, SCHEMA)
    assert learned.attributes_to_check == ["docket"]
    assert any("record 4" in problem for problem in learned.problems)


def test_attributes_and_parts_of_cells_are_values() -> None:
    items = "".join(
        f"<li><a href=/files/{n}.pdf title='Opinion {n}'>No. {docket(n)} ({name})</a> "
        f"<time datetime=2024-05-0{n + 1}>May</time></li>"
        for n, name in enumerate(NAMES)
    )
    page = Page("http://court.example/", f"<body><h1>Opinions</h1><ul>{items}</ul></body>", "1")
    given = {"docket": docket, "url": "/files/{}.pdf".format, "title": "Opinion {}".format}
    given["date"] = lambda number: f"2024-05-0{number + 1}"
    row_labels = [
        Label("1", name, value(number), record=str(number))
        for number in (0, 1)
        for name, value in given.items()
    ]
    records = ut.learn([page], row_labels).extract_page(page)
    assert len(records) == 6
    for number, record in enumerate(records):
        assert {name: record[name] for name in given} == {
            name: value(number) for name, value in given.items()
        }
