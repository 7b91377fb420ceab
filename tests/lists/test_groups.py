"""Rows of every make: which parts of a page may be its records, and which hints help to choose them."""

import json

import pytest

from untemplate import Page, find_records
from untemplate.lists.group_scores import GROUP_FEATURES, GROUP_WEIGHTS
from untemplate.lists.groups import find_groups
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
