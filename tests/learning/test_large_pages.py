"""Pages made to do harm: learning and extraction take time in proportion to their size, not to its square."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.learning.lessons import labels_of, learn_from, schema_of, site, texts
from tests.linear_time import assert_linear
from untemplate import Label, Page, Rules, learn

SMALL, LARGE = 400, 4000


def table(rows: int) -> str:
    return (
        "<table>"
        + "".join(f"<tr><td>name{i}</td><td>${i}.00</td></tr>" for i in range(rows))
        + "</table><p>end</p>"
    )


def test_a_labeled_page_with_ten_thousand_rows() -> None:
    bodies = [table(10_000), *(table(5 + i) for i in range(5))]
    rules = learn_from(
        bodies, {0: {"name": "name3", "price": "$3.00"}}, schema_of(name="text", price="price")
    )
    records = list(rules.extract(site(bodies)))
    assert (records[0]["name"], records[0]["price"]) == ("name3", "$3.00")


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param("<p>x</p>", id="whole"),
        pytest.param("<p>an x here</p>", id="part"),
        pytest.param("a<br>x<br>", id="one parent"),
        pytest.param("<p><b>x</b></p><i>y</i>", id="nested"),
        pytest.param("<p title=x>z</p>", id="attribute"),
    ],
)
def test_a_value_that_stands_in_thousands_of_places(unit: str) -> None:
    def work(size: int) -> None:
        bodies = [unit * size, *[f"<p>{i}</p><p>x</p>" for i in range(3)]]
        learn_from(bodies, {0: {"it": "x"}}, schema_of(it="text"))

    assert_linear(work, SMALL, LARGE)


def test_a_span_that_stands_in_thousands_of_places() -> None:
    def work(size: int) -> None:
        bodies = ["a<br>b<br>" * size, *["a<br>b<p>c</p>"] * 3]
        learn_from(bodies, {0: {"it": "a b"}}, schema_of(it="text"))

    assert_linear(work, SMALL, LARGE)


def test_an_xpath_that_selects_thousands_of_nodes() -> None:
    def work(size: int) -> None:
        pages = site([table(size), *(table(3 + i) for i in range(3))])
        learn(pages, [Label("0", "it", None, "//td[1]")], schema_of(it="text"))

    assert_linear(work, SMALL // 4, LARGE // 4)


def test_many_values_of_a_large_page() -> None:
    bodies = [table(2_000), *(table(5 + i) for i in range(5))]
    given = {1: {"names": [f"name{i}" for i in range(5)]}, 2: {"names": [f"name{i}" for i in range(6)]}}
    rules = learn_from(bodies, given, schema_of(names="text*"))
    record = rules.extract_one(site(bodies)[0])
    assert [value.text for value in record.values["names"]] == [f"name{i}" for i in range(2_000)]


def test_extraction_from_a_large_page() -> None:
    """Conditions on labels, neighbors and siblings, on a page where none of them holds."""
    bodies = [
        f"<p>Name</p><p class=x>hello</p><table><tr><td>n{i}</td><td>$1{i}.00</td></tr></table><p>z</p>"
        for i in range(8)
    ]
    rules = learn_from(bodies, {0: {"name": "n0", "price": "$10.00"}}, schema_of(name="text", price="price"))
    pages = {size: site([table(size)])[0] for size in (10, SMALL, LARGE)}
    for page in pages.values():
        assert page.tree is not None
    for_any_page = Rules(rules.schema, tuple(wrapper.for_any_page() for wrapper in rules.wrappers))
    assert_linear(lambda size: for_any_page.extract_one(pages[size]), SMALL, LARGE)


@pytest.mark.parametrize("unit", ["<i></i>", "<img src=a>", "<p>x</p>", "<br>x", "<b><u>x</u></b>"])
def test_extraction_from_a_page_of_one_thing(unit: str) -> None:
    bodies = [f"<p>Name</p><p><img src={i}.png></p><i>n{i}</i><br>t{i}<hr>" for i in range(6)]
    given = {
        0: {"name": "n0", "image": "0.png", "tail": "t0"},
        1: {"name": "n1", "image": "1.png", "tail": "t1"},
    }
    rules = learn_from(bodies, given, schema_of(name="text", image="image", tail="text*"))
    pages = {size: site([unit * size])[0] for size in (10, SMALL, LARGE)}
    for page in pages.values():
        assert page.tree is not None
    for_any_page = Rules(rules.schema, tuple(wrapper.for_any_page() for wrapper in rules.wrappers))
    assert_linear(lambda size: for_any_page.extract_one(pages[size]), SMALL, LARGE)


def test_a_page_of_a_million_nodes_is_not_learned_from() -> None:
    """It is among the pages of the site, and nobody labeled it: it costs no more than its parse."""
    bodies = [f"<h1>Hotel {i}</h1><p class=tel>212-555-010{i}</p>" for i in range(8)]
    pages = site(bodies)
    monster = _Monster("http://shop.example/items/9.html", b"<html><body>" + b"<p>x</p>" * 500_000, "9")
    rules = learn([*pages, monster], labels_of({0: {"name": "Hotel 0"}}), schema_of(name="text"))
    assert texts(rules.extract(site(bodies)), "name") == [f"Hotel {i}" for i in range(8)]
    assert monster.parses <= 1


class _Monster(Page):
    parses = 0

    @property
    def tree(self):  # type: ignore[no-untyped-def, override]
        if "_root" not in self.__dict__:
            type(self).parses += 1
            self.__dict__["_root"] = Page(self.url, self.html).tree
        return self.__dict__["_root"]


@pytest.mark.parametrize(
    "make_value",
    [
        lambda size: f"<h1 class='{' '.join(f'c{number}' for number in range(size))}'>",
        lambda size: "".join(f"<t{number}>x</t{number}>" for number in range(size)) + "<h1>",
        lambda size: "<h1>" + "<!--x-->b " * size,
    ],
    ids=["words of a class", "tags", "comments"],
)
def test_thousands_of_names_and_comments_at_a_value(make_value: Callable[[int], str]) -> None:
    def work(size: int) -> None:
        pages = site([f"{make_value(size)}Name {number}</h1><p>{number}</p>" for number in range(3)])
        labels = [Label("0", "name", None, "//h1/text()[last()]"), Label("0", "number", "0")]
        rules = learn(pages, labels, schema_of(name="text", number="text"))
        assert rules.extract_one(pages[1])["number"] == "1"

    assert_linear(work, 1000, 8000)
