"""What a rule adds where an XPath is not enough: a classifier among nodes, a range inside a text."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from untemplate import Attribute, Label, Page, Schema
from untemplate.learning import SampleTable
from untemplate.learning.attributes import learn_rules
from untemplate.learning.refining import learn_classifier, learn_range
from untemplate.pipeline import learn_site
from untemplate.rules.rule import Range
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
