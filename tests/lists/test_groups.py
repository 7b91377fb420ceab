"""Rows of every make: which parts of a page may be its records, and which hints help to choose them."""

import json

import pytest

from untemplate import Page, find_records
from untemplate.layout import EstimatedLayout
from untemplate.lists.group_scores import GROUP_FEATURES, GROUP_WEIGHTS
from untemplate.lists.groups import find_groups
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_tree import Shapes, build_page_tree

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty")


def item(number: int, tag: str = "li", names: str = "") -> str:
    text = " ".join(WORDS[(number + step) % len(WORDS)] for step in range(6))
    head = f"<h3><a href='/{number}'>Case {number}</a></h3><p>{text} {number}</p><i>{number} May 2024</i>"
    return f"<{tag} class='{names}'>{head}</{tag}>"


def section(numbers: range, names: str = "day") -> str:
    return f"<h2>Day {numbers[0]}</h2><ul class='{names}'>{''.join(map(item, numbers))}</ul>"


def titles(html: str) -> list[str]:
    rows = find_records(Page(html=f"<title>Cases</title><h1>Cases</h1><main>{html}</main>"))
    return [row.text.split(" ", 2)[1] for row in rows]


def test_the_only_record_of_a_day_is_a_record_too() -> None:
    days = section(range(4)) + section(range(4, 5)) + section(range(5, 9))
    assert titles(days) == [str(number) for number in range(9)]


def test_lists_of_one_kind_are_one_list_although_their_classes_differ() -> None:
    lists = section(range(5), "day open") + section(range(5, 10), "day")
    assert titles(lists) == [str(number) for number in range(10)]


def test_records_inside_a_part_of_the_same_class_are_found() -> None:
    parts = (
        f"<div class='item'>{''.join(item(n, 'div', 'item') for n in range(start, start + 4))}</div>"
        for start in (0, 4)
    )
    assert titles("".join(parts)) == [str(number) for number in range(8)]


def test_noscript_is_not_shown_and_its_styles_hide_nothing() -> None:
    hiding = "<noscript><style>.hits { display: none }</style><ul><li>no script</li></ul></noscript>"
    html = f"{hiding}<ul class='hits'>{''.join(map(item, range(6)))}</ul>"
    assert titles(html) == [str(number) for number in range(6)]


@pytest.mark.parametrize("key", ["url", "name"])
def test_items_that_the_page_declares_are_its_records(key: str) -> None:
    def table(start: int) -> str:
        return f"<div><ul>{''.join(map(item, range(start, start + 6)))}</ul></div>"

    values = {"url": "https://a.example/{}", "name": "Case {}"}
    elements = [{"@type": "ListItem", key: values[key].format(number)} for number in range(20, 26)]
    data = json.dumps({"@type": "ItemList", "itemListElement": elements})
    script = f"<script type='application/ld+json'>{data}</script>"
    html = f"{script}<section>{table(0)}</section><article>{table(20)}</article>"
    assert titles(html) == [str(number) for number in range(20, 26)]


def test_every_feature_has_a_weight() -> None:
    assert list(GROUP_WEIGHTS) == list(GROUP_FEATURES)


def test_records_of_several_table_rows_go_on_although_their_first_rows_differ() -> None:
    def rows(number: int) -> str:
        head = f"<b><a href='/{number}'>Case {number}</a></b>" if number < 5 else f"<i>Case {number}</i>"
        facts = (
            f"<tr><td>{word}</td><td>{word} of {number}</td></tr>" for word in ("court", "judge", "date")
        )
        return f"<tr><td colspan='2'>{head}</td></tr>{''.join(facts)}"

    tree = build_page_tree(Page(html=f"<h1>Cases</h1><table>{''.join(map(rows, range(8)))}</table>"))
    lengths = [
        {len(run) for run in group.runs} for group in find_groups(tree, Shapes(tree)) if len(group) == 8
    ]
    assert {4} in lengths


def group_features(html: str) -> dict[tuple[str, int], dict[str, float]]:
    """The features of each group of a page, by the tag of its first member and the number of members."""
    found = ListPage(Page(html=html), EstimatedLayout())
    keys = [(found.tree.tags[group.runs[0][0]], len(group)) for group in found.groups]
    values = [dict(zip(GROUP_FEATURES, row, strict=True)) for row in found.features.tolist()]
    return dict(zip(keys, values, strict=True))


@pytest.mark.parametrize(
    "text", ["6 results", "Showing 1–6 of 345 products", "1 - 6 of 345", "<b>6</b> Ergebnisse", "6件"]
)
def test_a_page_states_how_many_records_it_shows(text: str) -> None:
    features = group_features(f"<div><p>{text}</p></div><ul>{''.join(map(item, range(6)))}</ul>")
    assert features["li", 6]["stated"] == 1


@pytest.mark.parametrize("text", ["7 results", "6 May 2024", "1 - 5 of 345", f"6 results {'of teas ' * 20}"])
def test_other_numbers_do_not_count_records(text: str) -> None:
    features = group_features(f"<div><p>{text}</p></div><ul>{''.join(map(item, range(6)))}</ul>")
    assert features["li", 6]["stated"] == 0


def test_the_stated_number_does_not_count_if_similar_siblings_are_left_out() -> None:
    members = [item(number, names="hit" if number % 2 else "hit ad") for number in range(8)]
    features = group_features(f"<p>4 results</p><ul>{''.join(members)}</ul>")
    assert features["li", 8]["stated"] == features["li", 4]["stated"] == 0
    assert features["li", 4]["left_out"] == 0.5


def test_variants_of_a_class_are_one_class() -> None:
    members = [item(n, names=f"hit-{n} hit--{'video' if n % 2 else 'text'}") for n in range(6)]
    features = group_features(f"<ul>{''.join(members)}</ul><p class='hit--note'>A note</p>")
    assert features["li", 6]["uniform"] == 1
    assert features["li", 6]["left_alike"] == 0


def test_parts_with_the_same_tag_and_classes_are_not_left_out() -> None:
    first, second = ("".join(item(n, "div", "card") for n in numbers) for numbers in (range(6), range(6, 8)))
    features = group_features(f"<main>{first}</main><section><p>More</p><div>{second}</div></section>")
    assert features["div", 8]["left_alike"] == 0
    assert features["div", 6]["left_alike"] == 0.25


def test_lists_and_navigation_are_no_records() -> None:
    days = "".join(f"<h2>Day</h2><ul>{item(n)}{item(n + 1)}</ul>" for n in range(0, 6, 2))
    features = group_features(f"<nav><a href='/a'>About us</a><a href='/b'>Contact us</a></nav>{days}")
    assert features["ul", 3]["wrapper"] == 1
    assert features["li", 6]["wrapper"] == features["li", 6]["in_navigation"] == 0
    assert features["a", 2]["in_navigation"] == 1
    assert titles(days) == [str(number) for number in range(6)]


def test_records_that_show_more_would_show_are_records() -> None:
    first, more = ("".join(map(item, numbers)) for numbers in (range(5), range(5, 9)))
    folded = f"<ul class='hits'>{first}</ul><ul class='hits hidden'>{more}</ul><button>Show more</button>"
    assert titles(f"<div>{folded}</div>") == [str(number) for number in range(9)]
    cells = [row.cells for row in find_records(Page(html=f"<div>{folded}</div>"))]
    assert all(map(all, cells))
    template = f"<ul class='template hidden'>{more}</ul><ul class='hits'>{first}</ul>"
    assert titles(f"<div>{template}</div>") == [str(number) for number in range(5)]


def test_years_between_records_are_no_records() -> None:
    years = (
        f"<div class='entry year'>{year}</div>" + "".join(item(n, "div", "entry") for n in numbers)
        for year, numbers in ((2024, range(4)), (2023, range(4, 8)))
    )
    assert titles(f"<div>{''.join(years)}</div>") == [str(number) for number in range(8)]


def test_single_texts_without_links_are_records_if_all_are() -> None:
    rows = find_records(Page(html=f"<title>Search</title><ul>{'<li>one<li>two<li>three<li>four'}</ul>"))
    assert all(row.text in ("one", "two", "three", "four") for row in rows)


def test_the_header_of_a_page_is_navigation_and_that_of_a_record_is_not() -> None:
    cards = "".join(f"<article><header>{item(number, 'div')}</header></article>" for number in range(3))
    page = Page(html=f"<header><div>{item(8)}{item(9)}</div></header><div>{cards}</div>")
    found = ListPage(page, EstimatedLayout())
    share = found.features[:, list(GROUP_FEATURES).index("in_navigation")]
    tags = [found.tree.tags[group.runs[0][0]] for group in found.groups]
    assert {tag for tag, inside in zip(tags, share, strict=True) if inside} >= {"li"}
    assert share[tags.index("article")] == 0


def test_a_part_with_the_main_element_is_not_aside_whatever_its_name_is() -> None:
    side = f"<aside><ul>{''.join(map(item, range(8)))}</ul></aside>"
    main = f"<main><div>{''.join(item(number, 'div', 'hit') for number in range(8, 10))}</div></main>"
    page = Page(html=f"<div class='sidebar-left'>{main}{side}</div>" + "<p>" + "long text " * 900 + "</p>")
    found = ListPage(page, EstimatedLayout())
    share = found.features[:, list(GROUP_FEATURES).index("aside")]
    tags = [found.tree.tags[group.runs[0][0]] for group in found.groups]
    assert share[tags.index("li")] == 1
    assert 0 in share


NESTED = "<tr><td><font><a href='/{0}.pdf'>{0}-CV</a><td>{0} May<td>Judge {1}<td><font>{1} v. State"


def test_table_rows_that_the_parser_nests_are_records() -> None:
    rows = "\n".join(NESTED.format(number, WORDS[number]) for number in range(8))
    page = Page("http://court.example/", f"<title>Opinions</title><h1>Opinions</h1><table>{rows}</table>")
    found = find_records(page)
    assert [row.text.split()[0] for row in found] == [f"{number}-CV" for number in range(8)]
    assert [row.links for row in found] == [[f"http://court.example/{number}.pdf"] for number in range(8)]
    assert found[2].cells == ["2-CV", "2 May", "Judge cedar", "cedar v. State"]


def test_a_table_inside_a_cell_stays_inside() -> None:
    inner = "<table><tr><td>{0}<tr><td>{1}</table>"
    rows = "".join(f"<tr><td>Case {n}<td>{inner.format(WORDS[n], n)}" for n in range(4))
    tree = build_page_tree(Page(html=f"<table>{rows}</table>"))
    outer = tree.children[tree.tags.index("table")]
    assert [tree.tags[row] for row in outer] == ["tr"] * 4
    assert not tree.cut
