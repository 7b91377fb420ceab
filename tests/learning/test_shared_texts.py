"""Values that share one text: `a, b and c` is a list of three."""

from __future__ import annotations

import pytest

from tests.learning.lessons import extract, labels_of, learn_from, schema_of, site
from untemplate import Record
from untemplate.learning.shared_texts import ListExample, learn_list_range
from untemplate.pipeline import learn_site

FRUITS = ["apple", "pear", "plum", "fig", "date", "lime", "kiwi", "peach"]


def fruits(number: int, count: int = 3) -> list[str]:
    return [FRUITS[(number + step) % len(FRUITS)] for step in range(count)]


def values(record: Record, attribute: str) -> list[str]:
    return [value.text for value in record.values.get(attribute, [])]


@pytest.mark.parametrize(
    ("before", "separator", "last", "after"),
    [
        ("", ", ", " and ", ""),
        ("", " / ", " / ", ""),
        ("", " | ", " | ", ""),
        ("", " · ", " · ", ""),
        ("", "/", "/", ""),
        ("", "; ", "; ", ""),
        ("", ", ", ", and ", ""),
        ("Tags: ", ", ", ", ", ""),
        ("Goes with ", ", ", " und ", " (in summer)"),
    ],
)
def test_separators_are_learned_from_one_page(before: str, separator: str, last: str, after: str) -> None:
    bodies = []
    for number in range(8):
        *first, final = fruits(number)
        bodies.append(
            f"<h1>Jam {number}</h1><p class=with>{before}{separator.join(first)}{last}{final}{after}</p>"
        )
    records = extract(bodies, {0: {"fruits": fruits(0)}}, fruits="text*")
    assert [values(record, "fruits") for record in records] == [fruits(number) for number in range(8)]


def test_single_on_some_pages_and_several_on_others() -> None:
    counts = [3, 1, 2, 1, 4, 2, 1, 3]
    lists = [fruits(number, count) for number, count in enumerate(counts)]
    bodies = [
        f"<h1>Jam {number}</h1><p>Made of: {', '.join(names)}</p>" for number, names in enumerate(lists)
    ]
    records = extract(bodies, {0: {"fruits": lists[0]}, 1: {"fruits": lists[1]}}, fruits="text*")
    assert [values(record, "fruits") for record in records] == lists


def test_a_comma_alone_also_means_a_comma_and_a_word() -> None:
    bodies = [
        "<h1>Jam 0</h1><p>apple, pear and plum</p>",
        "<h1>Jam 1</h1><p>fig and date</p>",
        "<h1>Jam 2</h1><p>lime, kiwi, and peach</p>",
    ]
    records = extract(bodies, {0: {"fruits": ["apple", "pear", "plum"]}}, fruits="text*")
    assert [values(record, "fruits") for record in records] == [
        ["apple", "pear", "plum"],
        ["fig", "date"],
        ["lime", "kiwi", "peach"],
    ]


def test_markup_inside_the_list() -> None:
    """No text node contains the list, but the paragraph does."""
    lists = [fruits(number) for number in range(6)]
    bodies = [
        f"<h1>Jam {number}</h1><p class=with>Only {names[0]}, <b>{names[1]}</b> and {names[2]}</p>"
        for number, names in enumerate(lists)
    ]
    records = extract(bodies, {0: {"fruits": lists[0]}}, fruits="text*")
    assert [values(record, "fruits") for record in records] == lists


def test_lines_with_markup_inside() -> None:
    """Each line is a value, but neither a text node nor an element."""
    lists = [
        [f"{step + number} cups <b>{name}</b>" for step, name in enumerate(fruits(number))]
        for number in range(6)
    ]
    bodies = [f"<h1>Jam {number}</h1><p>{'<br>'.join(lines)}</p>" for number, lines in enumerate(lists)]
    plain = [[line.replace("<b>", "").replace("</b>", "") for line in lines] for lines in lists]
    records = extract(bodies, {0: {"fruits": plain[0]}}, fruits="text*")
    assert [values(record, "fruits") for record in records] == plain


def test_a_label_that_is_not_in_the_list_is_reported() -> None:
    bodies = [f"<h1>Jam {number}</h1><p>{', '.join(fruits(number, 4))}</p>" for number in range(6)]
    learned = learn_site(
        site(bodies),
        labels_of({0: {"fruits": ["apple", "pears!", "plum", "fig"]}}),
        schema_of(fruits="text*"),
    )
    [report] = learned.reports["c1"]
    assert any("1 of 4 labeled values" in problem for problem in report.problems)
    assert [values(record, "fruits") for record in learned.rules.extract(site(bodies))] == [
        fruits(number, 4) for number in range(6)
    ]


def test_nodes_of_their_own_are_no_shared_text() -> None:
    """The paragraph is a list with commas, too, but links say more."""
    bodies = [
        "<h1>Jam</h1><p>" + ", ".join(f"<a href=/{name}>{name}</a>" for name in fruits(number)) + "</p>"
        for number in range(6)
    ]
    rules = learn_from(bodies, {0: {"fruits": fruits(0)}}, schema_of(fruits="text*"))
    assert rules.wrappers[0].rules["fruits"].range is None
    assert values(next(iter(rules.extract(site(bodies)[3:]))), "fruits") == fruits(3)


def test_each_value_has_its_type() -> None:
    bodies = [
        f"<h1>Shop {number}</h1><p>Prices: ${number + 1}.50 / ${number + 2}.00</p>" for number in range(6)
    ]
    records = extract(bodies, {0: {"prices": ["$1.50", "$2.00"]}}, prices="price*")
    assert values(records[4], "prices") == ["$5.50", "$6.00"]


def test_a_separator_inside_a_value_teaches_no_range() -> None:
    example = ListExample(
        "salt and pepper and eggs", "salt and pepper and eggs", 0, ("salt and pepper", "eggs")
    )
    assert learn_list_range([example], []) is None


def test_an_attribute_with_a_list() -> None:
    bodies = [
        f'<h1>Jam {number}</h1><meta name=keywords content="{",".join(fruits(number))}">'
        for number in range(6)
    ]
    records = extract(bodies, {0: {"fruits": fruits(0)}}, fruits="text*")
    assert values(records[2], "fruits") == fruits(2)
