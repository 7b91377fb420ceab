"""What a rule adds where an XPath is not enough: a classifier among nodes, a range inside a text."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learning.lessons import extract, labels_of, learn_from, schema_of, site
from untemplate import Attribute, Label, Page, Record, Schema
from untemplate.learning import SampleTable
from untemplate.learning.attributes import learn_rules
from untemplate.learning.refining import ListExample, learn_classifier, learn_list_range, learn_range
from untemplate.pipeline import learn_site
from untemplate.rules.value_range import Range
from untemplate.schema import Type

# The classifier: only weak attributes distinguish a rating image from others, and their order varies.

STARS = '<td><img src="/stars{}.gif" border="0" height="12"></td>'
BUY = '<td><img src="/buy.gif" border="0"></td>'
DOT = '<td><img src="/dot.gif" height="12"></td>'
AD = '<td><img src="/ad{}.gif"></td>'


def pages(count: int = 24) -> list[Page]:
    random = Random(1)
    made = []
    for number in range(count):
        cells = [STARS.format(number % 6), BUY, DOT, *(AD.format(i) for i in range(random.randint(1, 4)))]
        random.shuffle(cells)
        html = f"<h1>Album {number}</h1><table><tr>{''.join(cells)}</tr></table>"
        made.append(Page(f"http://cds.example/{number}", html, str(number)))
    return made


def labels(count: int) -> list[Label]:
    return [Label(str(n), "rating", f"http://cds.example/stars{n % 6}.gif") for n in range(count)]


SCHEMA = Schema("cd", {"rating": Attribute("rating", "image")})


def test_weak_attributes_together_tell_the_image() -> None:
    learned = learn_site(pages(), labels(4), SCHEMA)
    [wrapper] = learned.rules.wrappers
    classifier = wrapper.rules["rating"].classifier
    assert classifier is not None
    assert {feature.type for feature in classifier.features} == {"@border", "@height"}
    for number, record in enumerate(learned.rules.extract(pages())):
        assert record["rating"] == f"/stars{number % 6}.gif"


def shuffled(number: int, cells: list[str]) -> Page:
    """A page with these cells in any order, and some that are none of the values."""
    random = Random(number)
    cells = [
        *cells,
        '<td bgcolor="1">A 7 x</td>',
        "<td>A 8 x</td>",
        *["<td>A 9 x</td>"] * random.randint(0, 3),
    ]
    random.shuffle(cells)
    html = f"<h1>Album {number}</h1><table><tr>{''.join(cells)}</tr></table>"
    return Page(f"http://cds.example/{number}", html, str(number))


def test_a_site_may_drop_one_of_several_features() -> None:
    cell = '<td bgcolor="1" nowrap="nowrap" valign="top" height="9">{}</td>'
    made = [shuffled(n, [cell.format(f"B{n}")]) for n in range(20)]
    schema = Schema("cd", {"artist": Attribute("artist")})
    rules = learn_site(made, [Label(str(n), "artist", f"B{n}") for n in range(4)], schema).rules
    [wrapper] = rules.wrappers
    classifier = wrapper.rules["artist"].classifier
    assert classifier is not None
    assert len(classifier.features) > 1
    later = [shuffled(n, [cell.replace(' valign="top"', "").format(f"B{n}")]) for n in range(20, 30)]
    assert [record["artist"] for record in rules.extract(later)] == [f"B{n}" for n in range(20, 30)]


def test_a_classifier_finds_all_of_many_values() -> None:
    cell = '<td bgcolor="1" nowrap="nowrap" valign="top">{}</td>'
    bands = {n: [f"B{n}{letter}" for letter in "ab"[: 1 + n % 2]] for n in range(20)}
    made = [shuffled(n, [cell.format(band) for band in bands[n]]) for n in range(20)]
    schema = Schema("cd", {"artist": Attribute("artist", many=True)})
    labeled = [Label(str(n), "artist", band) for n in range(4) for band in bands[n]]
    rules = learn_site(made, labeled, schema).rules
    assert all(wrapper.rules["artist"].classifier for wrapper in rules.wrappers)
    for number, record in enumerate(rules.extract(made)):
        assert sorted(value.text for value in record.values["artist"]) == bands[number]


def test_a_classifier_selects_texts_of_which_a_part_is_the_value() -> None:
    cell = '<td bgcolor="1" nowrap="nowrap" valign="top">A {} x</td>'
    made = [shuffled(n, [cell.format(n + 10)]) for n in range(20)]
    schema = Schema("cd", {"tracks": Attribute("tracks")})
    rules = learn_site(made, [Label(str(n), "tracks", str(n + 10)) for n in range(4)], schema).rules
    assert all(wrapper.rules["tracks"].classifier for wrapper in rules.wrappers)
    assert [record["tracks"] for record in rules.extract(made)] == [str(n + 10) for n in range(20)]


def test_what_cannot_be_told_apart_gets_no_classifier() -> None:
    table = SampleTable([Page("u", "<td><img src=/a><td><img src=/b>", "0")])
    images = [row for row, node in enumerate(table.rows) if node.kind == "@src"]
    assert learn_classifier(table, images[:1], images[1:]) is None


def test_no_classifier_where_an_xpath_is_precise() -> None:
    made = [Page("u", f"<p>x</p><b>{n}</b>", str(n)) for n in range(5)]
    rules, _ = learn_rules(
        SampleTable(made), {0: [Label("0", "name", "0")]}, Schema("s", {"name": Attribute("name")})
    )
    assert rules["name"].classifier is None


# The range: whichever way of cutting is consistent over all examples.


def learn(examples: list[tuple[str, str]], others: list[str], type_: Type) -> Range | None:
    """As `learn_range`, of values that stand in their texts once."""
    return learn_range([(text, value, text.index(value)) for text, value in examples], others, type_)


def test_the_paper_cuts_from_the_start_or_the_end() -> None:
    """ "$25.99" is the third token, and the first from the end; both, the delimiter and the type are consistent."""
    examples = [("Our Price: $25.99", "$25.99")]
    range_ = learn(examples, [], "text")
    assert range_ is not None
    assert range_.prune("Our Price: $7.50") == "$7.50"
    assert learn(examples, [], "price") == Range(type="price")


def test_the_end_is_consistent_where_the_start_is_not() -> None:
    examples = [("Our Price: $25.99", "$25.99"), ("Our low Price today $7.50", "$7.50")]
    range_ = learn(examples, [], "text")
    assert range_ is not None
    assert range_.prune("What you pay in the end: $3.10") == "$3.10"


def test_a_delimiter_where_lengths_differ() -> None:
    examples = [("Author: Sam Smith (Editor)", "Sam Smith"), ("Author: Ann (Editor)", "Ann")]
    range_ = learn(examples, [], "text")
    assert range_ is not None
    assert range_.prune("Author: Mary Ann van Dyke (Editor)") == "Mary Ann van Dyke"


def test_words_are_not_cut_in_two() -> None:
    """Both begin with "Pre", by chance: that is no delimiter."""
    examples = [("Preis 12", "12"), ("Preiswert 17", "17")]
    range_ = learn(examples, [], "text")
    assert range_ is not None
    assert range_.prune("Nur 25") == "25"


def test_a_type_that_finds_something_else_is_not_used() -> None:
    examples = [("was $30.00 now $25.99", "$25.99")]
    range_ = learn(examples, ["was $20.00 now $15.99"], "price")
    assert range_ is not None
    assert range_.prune("was $20.00 now $15.99") == "$15.99"


def test_what_cuts_most_of_the_other_texts_wins() -> None:
    """On the labeled page the value ends at " reviews"; on others at " review": the token is safer."""
    range_ = learn([("17 reviews", "17")], ["1 review", "5 reviews", "1 review"], "text")
    assert range_ is not None
    assert range_.prune("1 review") == "1"


def test_no_range_fits_everything() -> None:
    assert learn([("a b c", "b"), ("x y z w", "w")], [], "text") is None


words = st.lists(st.text("abc1$", min_size=1, max_size=3), min_size=1, max_size=4)


@given(
    st.lists(st.tuples(words, words, words), min_size=1, max_size=3),
    st.sampled_from(("text", "price", "number")),
)
def test_a_learned_range_gives_every_example(parts: list[tuple[list[str], ...]], type_: Type) -> None:
    examples = [(" ".join(a + b + c), " ".join(b), len(" ".join(a)) + 1) for a, b, c in parts]
    range_ = learn_range(examples, [text for text, _, _ in examples], type_)
    assert range_ is None or all(range_.prune(text) == value for text, value, _ in examples)


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


def test_delimiters_are_no_longer_than_all_texts_allow() -> None:
    texts = [f"http://court.example/2024/{month}/24-{month}001.pdf" for month in (5, 5, 6, 7, 8)]
    examples = [(text, "24-5001", text.index("24-5001")) for text in texts[:2]]
    range_ = learn_range(examples, texts[2:], "text")
    assert range_ is not None
    assert [range_.prune(text) for text in texts] == ["24-5001", "24-5001", "24-6001", "24-7001", "24-8001"]


def test_parts_between_delimiters_are_counted() -> None:
    texts = ["A v. B, appellant, 24-1001, May 5", "C v. D, 24-1002, May 7", "E v. F, 24-1003, June 7"]
    examples = [(text, f"24-100{n}", text.index("24-")) for n, text in enumerate(texts[:2], 1)]
    range_ = learn_range(examples, [texts[2]] * 3, "text")
    assert range_ is not None
    assert range_.prune(texts[2]) == "24-1003"
