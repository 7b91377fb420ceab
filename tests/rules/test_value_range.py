"""The range pruner applied: delimiters, token offsets, types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate.rules.value_range import Range

OUR_PRICE = "Our Price: $25.99"


@pytest.mark.parametrize(
    ("range_", "text", "value"),
    [
        (Range(start=2), OUR_PRICE, "$25.99"),
        (Range(start=-1, stop=0), OUR_PRICE, "$25.99"),
        (Range(type="price"), OUR_PRICE, "$25.99"),
        (Range(after="Our Price: "), OUR_PRICE, "$25.99"),
        (Range(after="/", before=".pdf", last=True), "/2024/05/24-1001.pdf", "24-1001"),
        (Range(after="/", last=True), "24-1001.pdf", None),
        (Range(after="/", before=".pdf", last=True), "/2024/05/24-1001", None),
        (Range(start=-2, stop=-1, delimiter=", "), "A v. B, filed, 24-1001, today", "24-1001"),
        (Range(after="Price: ", before=" (each)"), "Price: $25.99 (each)", "$25.99"),
        (Range(before=" reviews"), "17 reviews", "17"),
        (Range(start=1, stop=-1), "by Sam Smith (Editor)", "Sam Smith"),
        (Range(start=0, stop=1), "17 of 20", "17"),
        (Range(after="Price: "), "Sold out", None),
        (Range(before=" reviews"), "no review", None),
        (Range(after="Price:"), "Price:", None),
        (Range(start=3), "too few", None),
        (Range(start=1, stop=-1), "too few", None),
        (Range(type="phone"), "no number", None),
    ],
)
def test_what_is_cut_out(range_: Range, text: str, value: str | None) -> None:
    assert range_.prune(text) == value


@pytest.mark.parametrize(
    ("range_", "text", "values"),
    [
        (Range(separators=(", ", " and ", ", and ")), "a, b, and c", ["a", "b", "c"]),
        (Range(after="Tags: ", separators=("/",)), "Tags: a/b / c", ["a", "b", "c"]),
        (Range(start=1, stop=0, separators=(" | ",)), "Tags a b | c", ["a b", "c"]),
        (Range(after="Tags: ", separators=(", ",)), "a, b", []),
        (Range(separators=(", ",)), "a", ["a"]),
        (Range(separators=(", ",)), "a, , b, ", ["a", "b,"]),
        (Range(separators=("\n",)), "a b\nc", ["a b", "c"]),
        (Range(before=")"), "a) b", ["a"]),
    ],
)
def test_a_text_with_several_values(range_: Range, text: str, values: list[str]) -> None:
    assert range_.cut_values(text) == values


texts = st.text("ab: $1.", max_size=12).map(lambda text: " ".join(text.split()))
ranges = st.one_of(
    st.builds(Range, after=texts, before=st.none() | texts),
    st.builds(Range, start=st.integers(-3, 3), stop=st.integers(-3, 3)),
    st.builds(Range, type=st.sampled_from(("price", "number", "date", "phone"))),
)


@given(ranges, texts)
def test_a_part_of_the_text_or_nothing(range_: Range, text: str) -> None:
    part = range_.prune(text)
    assert part is None or (part and part in text)
