"""Rules for lists: learned from some records of one page, they find all records of another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from untemplate import Attribute, Label, LabelError, Page, Reason, Record, Rules, Schema, find_records, learn
from untemplate.errors import RulesError
from untemplate.lists import page_profile
from untemplate.pipeline import learn_site
from untemplate.rules.in_words import explain_records
from untemplate.rules.node_selection import MAX_CANDIDATES
from untemplate.rules.record_pages import split_records

SCHEMA = Schema(
    "tea",
    {
        "name": Attribute("name", mandatory=True),
        "text": Attribute("text"),
        "price": Attribute("price", "price"),
    },
)
HILLS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty", "kelp")


def name(number: int) -> str:
    return f"{HILLS[number % 11].title()} {HILLS[number * 7 % 11]} {number}"


def text(number: int) -> str:
    return " ".join(HILLS[(number * step + step) % 11] for step in range(3, 10)) + f" {number}."


def price(number: int) -> str:
    return f"€ {number}.50"


SHAPES = {
    "list": (
        "<ul class='hits'>",
        "<li><h3><a href='/{n}'>{name}</a></h3><p>{text}</p><b>{price}</b></li>",
        "</ul>",
    ),
    "odd and even": (
        "<div>",
        "<div class='hit {odd}'><h3>{name}</h3><p>{text}</p><b>{price}</b></div>",
        "</div>",
    ),
    "table": (
        "<table><thead><tr><th>Name</th><th>Text</th><th>Price</th></tr></thead><tbody>",
        "<tr><td>{name}</td><td>{text}</td><td>{price}</td></tr>",
        "</tbody></table>",
    ),
    "definitions": ("<dl>", "<dt><a href='/{n}'>{name}</a></dt><dd>{text}</dd><dd>{price}</dd>", "</dl>"),
    "row pairs": (
        "<table>",
        "<tr><td colspan=2><h3>{name}</h3></td></tr><tr><td>{text}</td><td>{price}</td></tr>",
        "</table>",
    ),
    "nested": (
        "<ol class='hits'>",
        "<li><h3>{name}</h3><p>{text}</p><b>{price}</b><ul><li>{n} a</li><li>{n} b</li></ul></li>",
        "</ol>",
    ),
    "two side by side": (
        "<div class='left'><ul><li>Amber</li><li>Birch</li><li>Cedar</li></ul></div><ul class='hits'>",
        "<li><h3>{name}</h3><p>{text}</p><b>{price}</b></li>",
        "</ul>",
    ),
}


def page_of(shape: str, numbers: range, id: str) -> Page:
    start, record, end = SHAPES[shape]
    records = "".join(
        record.format(n=n, name=name(n), text=text(n), price=price(n), odd="odd" if n % 2 else "even")
        for n in numbers
    )
    menu = "".join(f"<li><a href='/m{n}'>Menu {n}</a></li>" for n in range(7))
    html = f"<body><nav><ul>{menu}</ul></nav><h1>Teas</h1>{start}{records}{end}<p>Imprint</p></body>"
    return Page(f"http://tea.example/?page={id}", html, id)


def labels_of(numbers: range | tuple[int, ...], page: str = "1") -> list[Label]:
    return [
        Label(page, attribute, value(number), record=str(number))
        for number in numbers
        for attribute, value in (("name", name), ("text", text), ("price", price))
    ]


def texts(records: list[Record]) -> list[tuple[int | None, str | None, str | None, str | None]]:
    return [(one.position, one["name"], one["text"], one["price"]) for one in records]


def expected(numbers: range) -> list[tuple[int | None, str | None, str | None, str | None]]:
    return [(position, name(n), text(n), price(n)) for position, n in enumerate(numbers, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_some_labeled_records_of_a_page_teach_all_others(shape: str) -> None:
    rules = learn([page_of(shape, range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    other = page_of(shape, range(31, 47), "2")
    records = list(rules.extract([other]))
    assert texts(records) == expected(range(31, 47))
    for record in records:
        for values in record.values.values():
            (node,) = other.tree.xpath(values[0].xpath)
            assert values[0].text == " ".join(node.split())
    assert str(records[3].values["price"][0].data.amount) == "34.50"


def test_headings_above_rows_are_no_labels() -> None:
    item = "<li><h4>{}</h4><p>{}</p></li>"
    parts = [
        f"<h3>{part}</h3><ul>{''.join(item.format(name(n), text(n)) for n in numbers)}</ul>"
        for part, numbers in (("Green", range(5)), ("Black", range(5, 9)))
    ]
    page = Page("http://tea.example/list", f"<h1>Teas</h1><main>{''.join(parts)}</main>")
    rows = find_records(page)
    assert rows.columns == ["section", "title", "detail"]
    rules = learn([page], rows)
    assert list(rules.schema.attributes) == ["title", "detail"]
    assert [record["title"] for record in rules.extract_page(page)] == [name(n) for n in range(9)]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_find_records_are_labels(shape: str) -> None:
    first = page_of(shape, range(10, 20), "1")
    rules = learn([first], find_records(first))
    records = list(rules.extract([page_of(shape, range(31, 47), "2")]))
    assert [one.position for one in records] == list(range(1, 17))
    for number, record in zip(range(31, 47), records, strict=True):
        assert {name(number), text(number), price(number)} <= {record[cell] for cell in record.values}
    assert rules.schema.rows


def test_one_record_and_none() -> None:
    rules = learn([page_of("list", range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    assert texts(rules.extract_page(page_of("list", range(7, 8), "2"))) == expected(range(7, 8))
    (nothing,) = rules.extract([page_of("list", range(0), "3")])
    assert nothing.position is None
    assert set(nothing.missing.values()) <= {Reason.NO_RECORDS, Reason.NO_WRAPPER}
    assert rules.extract_one(page_of("list", range(4, 9), "4"))["name"] == name(4)


def test_a_page_with_a_single_record_can_be_learned_from() -> None:
    rules = learn([page_of("list", range(5, 6), "1")], labels_of((5,)), SCHEMA)
    assert texts(rules.extract_page(page_of("list", range(7, 8), "2"))) == expected(range(7, 8))


def test_what_nobody_labeled_among_records_is_none() -> None:
    def with_ads(numbers: range, id: str) -> Page:
        page = page_of("list", numbers, id)
        ads = b"<li class='ad'><h3><a href='/ad'>Buy this</a></h3><p>Now or never, today only</p></li>"
        return Page(page.url, page.html.replace(b"<ul class='hits'>", b"<ul class='hits'>" + ads), id)

    all_of_them = learn([with_ads(range(10, 20), "1")], labels_of(range(10, 20)), SCHEMA)
    assert texts(all_of_them.extract_page(with_ads(range(31, 47), "2"))) == expected(range(31, 47))
    some_of_them = learn([with_ads(range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    assert texts(some_of_them.extract_page(with_ads(range(31, 47), "2"))) == expected(range(31, 47))


@pytest.mark.parametrize("shape", SHAPES)
def test_records_that_were_forgotten_are_records(shape: str) -> None:
    rules = learn([page_of(shape, range(10, 20), "1")], labels_of(range(12, 19)), SCHEMA)
    assert texts(rules.extract_page(page_of(shape, range(31, 47), "2"))) == expected(range(31, 47))


def test_a_gap_in_a_record_is_a_gap() -> None:
    first, other = page_of("list", range(10, 20), "1"), page_of("list", range(20, 30), "2")
    other.html = other.html.replace(price(23).join(("<b>", "</b>")).encode(), b"")
    rules = learn([first], labels_of((10, 13)), SCHEMA)
    records = rules.extract_page(other)
    assert [one["name"] for one in records] == [name(n) for n in range(20, 30)]
    assert [one["price"] is None for one in records] == [n == 23 for n in range(20, 30)]
    assert records[3].missing["price"] == Reason.NOT_ON_PAGE


def test_labels_may_point_to_their_places() -> None:
    first = page_of("list", range(10, 20), "1")
    places = {"name": "/html/body/ul/li[{}]/h3/a/text()", "price": "/html/body/ul/li[{}]/b"}
    labels = [
        Label("1", attribute, None, place.format(n), record=str(n))
        for n in (1, 4)
        for attribute, place in places.items()
    ]
    labels.append(Label("1", "text", None, "/html/body/ul/li[1]/h3/a/@href", record="1"))
    records = learn([first], labels, SCHEMA).extract_page(page_of("list", range(31, 35), "2"))
    assert [(one["name"], one["price"]) for one in records] == [(name(n), price(n)) for n in range(31, 35)]
    assert [one["text"] for one in records] == [f"/{n}" for n in range(31, 35)]


def test_what_is_wrong_is_said() -> None:
    page = page_of("list", range(10, 20), "1")
    apart = [Label("1", "name", name(10), record="1"), Label("1", "price", price(12), record="1")]
    learned = learn_site([page], [*apart, *labels_of((14, 15))], SCHEMA)
    assert any("record 1: its values are not close together" in problem for problem in learned.problems)
    assert len(learned.rules.extract_page(page)) == 10

    both = learn_site([page], [Label("1", "name", "Teas"), *labels_of((14, 15))], SCHEMA)
    assert both.problems == ["1: ignored labels of the page as a whole, since its records are labeled"]

    nowhere = learn_site([page], [Label("1", "name", "Nowhere", record="1")], SCHEMA)
    assert nowhere.needs_labels == ["c1"]
    assert nowhere.rules.extract_page(page)[0].missing["name"] == Reason.NEEDS_LABELS
    with pytest.raises(LabelError, match="none of the labeled pages"):
        learn([page], labels_of((10,), "other"), SCHEMA)


def test_a_page_that_shows_too_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_profile, "MAX_ROWS", 100)
    learned = learn_site([page_of("list", range(10, 30), "1")], labels_of((14, 15)), SCHEMA)
    assert learned.needs_labels == ["c1"]
    assert [problem.startswith("1: page shows ") for problem in learned.problems] == [True]


def test_the_rules_file(tmp_path: Path) -> None:
    rules = learn([page_of("definitions", range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    rules.save(tmp_path / "rules.json")
    assert Rules.load(tmp_path / "rules.json") == rules
    record_rule = rules.wrappers[0].records
    assert record_rule is not None
    assert (record_rule.siblings, record_rule.tags) == (2, ("dd",))
    assert explain_records(record_rule).startswith("each is a `dt`, with up to 2 elements after it (`dd`)")

    content = json.loads(rules.dumps())
    for selector in content["wrappers"][0]["records"]["selectors"]:
        selector |= {"node": "@href", "xpath": "//dt/@href", "features": [["tag", 1, "dt"]]}
    with pytest.raises(RulesError, match="records are known by texts"):
        Rules.loads(json.dumps(content))


def test_five_thousand_rows() -> None:
    rules = learn([page_of("list", range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    records = rules.extract_page(page_of("list", range(5000), "2"))
    assert len(records) == 5000
    assert texts(records)[4321] == (4322, name(4321), text(4321), price(4321))
    assert records[4321].values["name"][0].xpath == "/html/body[1]/ul[1]/li[4322]/h3[1]/a[1]/text()[1]"


def test_records_are_never_inside_each_other() -> None:
    rules = learn([page_of("list", range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    record_rule = rules.wrappers[0].records
    assert record_rule is not None
    page = Page(html="<ul class='hits'><li><h3>a</h3>" * 3 + "</ul>")
    inner = {one for part in split_records(record_rule, page) for one in part.elements[0].iterdescendants()}
    assert not inner & {part.elements[0] for part in split_records(record_rule, page)}


def test_a_page_of_a_million_nodes() -> None:
    rules = learn([page_of("list", range(10, 20), "1")], labels_of((10, 13)), SCHEMA)
    records = rules.extract_page(page_of("list", range(125_000), "2"))
    assert len(records) == MAX_CANDIDATES
    assert texts(records[-1:]) == [(10_000, name(9_999), text(9_999), price(9_999))]
