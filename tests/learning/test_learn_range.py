"""Learning the range pruner: whichever way of cutting is consistent over all examples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from untemplate.learning.refining import learn_range
from untemplate.rules.rule import Range
from untemplate.schema import Type


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
    """On the labelled page the value ends at " reviews"; on others at " review": the token is safer."""
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
def test_a_learnt_range_gives_every_example(parts: list[tuple[list[str], ...]], type_: Type) -> None:
    examples = [(" ".join(a + b + c), " ".join(b), len(" ".join(a)) + 1) for a, b, c in parts]
    range_ = learn_range(examples, [text for text, _, _ in examples], type_)
    assert range_ is None or all(range_.prune(text) == value for text, value, _ in examples)
