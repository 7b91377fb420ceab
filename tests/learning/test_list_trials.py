"""Which of several lists the labels mean: the repeated group, unless its rules do not hold."""

from __future__ import annotations

import untemplate as ut
from untemplate import Label, Page
from untemplate.labeling.list_labels import locate_lists
from untemplate.learning.list_rules import try_lists
from untemplate.learning.list_trials import ListTrial, choose_trial
from untemplate.pipeline import learn_site
from untemplate.rules.in_words import explain_records

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


def test_a_group_loses_to_a_list_with_as_many_plausible_records_and_fewer_others() -> None:
    trials = trials_of(f"<body>{TABLE}</body>")
    assert sorted((trial.is_group, trial.size) for trial in trials) == [(False, 6), (True, 12)]
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


def test_a_value_that_only_the_labeled_rows_have_is_optional() -> None:
    cards = "".join(
        f"<li><b>{docket(n)}</b> <i>{name} v. state</i>{'<em>en banc, reversed</em>' if n < 2 else ''}</li>"
        for n, name in enumerate(NAMES)
    )
    page = Page("http://court.example/", f"<body><h1>Opinions</h1><ul>{cards}</ul></body>")
    flags = [Label(page.id, "flag", "en banc, reversed", record=str(number)) for number in (0, 1)]
    rules = ut.learn([page], [*labels(page), *flags])
    assert [record["docket"] for record in rules.extract_page(page)] == [docket(n) for n in range(len(NAMES))]


def test_rows_that_are_hidden_belong_to_the_list_only_if_they_are_labeled() -> None:
    cards = [f"<li><b>{docket(n)}</b> <i>{name} v. state</i></li>" for n, name in enumerate(NAMES)]
    shown, hidden = "".join(cards[:4]), "".join(cards[4:])
    page = Page("http://court.example/", f"<ul>{shown}</ul><ul style='display: none'>{hidden}</ul>")
    [group, *_] = locate_lists(page, labels(page))
    assert len(group) == 4
    hidden_labels = [Label(page.id, "docket", docket(number), record=str(number)) for number in (0, 5)]
    [group, *_] = locate_lists(page, hidden_labels)
    assert len(group) == 5


def test_labeled_rows_of_the_main_list_mean_this_list() -> None:
    """A hidden cart has the same titles, and twice as many; two labeled titles have digits by chance."""
    titles = ["Route 66 map", "Atlas 7 of roads", *(f"{name} guide for walkers" for name in NAMES)]
    items = "".join(
        f"<li class=product><h2><a href=/{n}>{title}</a></h2><p>Now ${n}.50 in our shop</p></li>"
        for n, title in enumerate(titles)
    )
    cart = "".join(f"<li class=cart-item><a href=/c{n}>{titles[n % 8]}</a></li>" for n in range(24))
    html = f"<body><ul class=products>{items}</ul><div class=cart><ul>{cart}</ul></div></body>"
    page = Page("http://shop.example/", html, "1")
    given = [Label("1", "name", titles[number], record=str(number)) for number in (0, 1)]
    records = ut.learn([page], given, SCHEMA).extract_page(page)
    assert len(ut.find_records(page)) == len(titles)
    assert [record["name"] for record in records] == titles


def test_a_labeled_row_outside_of_the_main_list_is_added_to_it() -> None:
    items = "".join(
        f"<li class=hit><h3><a href=/{n}>{name} in the news</a></h3><p>{name} was seen by {n} people today</p></li>"
        for n, name in enumerate(NAMES)
    )
    text = "<span>Colors for every wall, at low prices</span>"
    advert = f"<div class=top><p><a href=/ad>Buy all colors</a></p>{text}</div>"
    page = Page("http://news.example/", f"<body>{advert}<ol id=hits>{items}</ol></body>", "1")
    given = [
        Label("1", "name", "Buy all colors", record="1"),
        Label("1", "docket", "Colors for every wall, at low prices", record="1"),
        Label("1", "name", "amber in the news", record="2"),
        Label("1", "docket", "amber was seen by 0 people today", record="2"),
    ]
    records = ut.learn([page], given, SCHEMA).extract_page(page)
    assert len(records) == 1 + len(NAMES)
    assert records[0]["name"] == "Buy all colors"
    assert records[1]["docket"] == "amber was seen by 0 people today"


def test_repetitions_that_find_records_drops_are_no_records_of_the_rule() -> None:
    def card(number: int) -> str:
        return f"<div class=card><h3><a href=/{number}>{NAMES[number]} chair</a></h3><p>oak, ${number}.00</p></div>"

    cards = "".join(map(card, range(6)))
    page = Page("http://shop.example/", f"<body><div>{cards}{card(2)}{card(4)}</div></body>", "1")
    given = [Label("1", "name", f"{NAMES[number]} chair", record=str(number)) for number in (0, 1)]
    rules = ut.learn([page], given, SCHEMA)
    assert [record["name"] for record in rules.extract_page(page)] == [f"{name} chair" for name in NAMES]
    assert ut.Rules.loads(rules.dumps()) == rules
    (wrapper,) = rules.wrappers
    assert wrapper.records is not None
    assert wrapper.records.distinct
    assert "without repetitions" in explain_records(wrapper.records)


def test_labeled_rows_far_down_that_share_rare_words_mean_rows_with_these_words() -> None:
    def row(number: int) -> str:
        court = "Tax Court of Appeals" if number in (40, 60, 75) else f"Court {number % 5} of Law"
        return f"<tr><td>{docket(number)}</td><td>{court}</td><td>May {number % 28 + 1}</td></tr>"

    page = Page("http://court.example/", f"<body><table>{''.join(map(row, range(80)))}</table></body>", "1")
    given = [Label("1", "docket", docket(number), record=str(number)) for number in (40, 60)]
    rules = ut.learn([page], given, SCHEMA)
    assert [record["docket"] for record in rules.extract_page(page)] == [docket(40), docket(60), docket(75)]
    assert ut.Rules.loads(rules.dumps()) == rules
    top = [Label("1", "docket", docket(number), record=str(number)) for number in (0, 5)]
    assert len(ut.learn([page], top, SCHEMA).extract_page(page)) == 80
