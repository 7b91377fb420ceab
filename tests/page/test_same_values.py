"""One value in two ways of writing, and two values that look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate.page.same_values import find_quantities, folded_words, meanings, same_value, same_values
from untemplate.schema import Type


@pytest.mark.parametrize(
    ("one", "other", "type_"),
    [
        ("The Falcon and the Harbor", "THE FALCON AND THE HARBOR", "text"),
        ("Café “Zoë”", "cafe zoe", "text"),
        ("(212) 555-2360", "212.555.2360", "phone"),
        ("+1 212 555 2360", "(212) 555-2360", "phone"),
        ("$1,299.00", "USD 1299", "price"),
        ("Jan 2, 2010", "2010-01-02", "date"),
        ("978-5641459103", "9785641459103", "isbn"),
        ("2 hr 15 min", "135 minutes", "text"),
        ("1 hour and 15 minutes", "75 mins.", "text"),
        ("6'2\"", "6 ft 2 in", "text"),
        ("http://shop.example/a.jpg", "/a.jpg", "image"),
    ],
)
def test_the_same_value_written_in_two_ways(one: str, other: str, type_: Type) -> None:
    assert same_value(one, other, type_)
    assert same_value(other, one, type_)


@pytest.mark.parametrize(
    ("one", "other", "type_"),
    [
        ("Falcon", "Falcon Harbor", "text"),
        ("$12.00", "$12.50", "price"),
        ("2010-01-02", "2010-02-01", "date"),
        ("15 min", "15 hr", "text"),
        ("15 min", "15 lb", "text"),
        ("/a.jpg", "/b.jpg", "image"),
    ],
)
def test_other_values(one: str, other: str, type_: Type) -> None:
    assert not same_value(one, other, type_)


def test_lists() -> None:
    assert same_values(["a", "b"], ["B", "A"], "text")
    assert same_values(["Thai", "Korean"], ["Thai, Korean"], "text")
    assert not same_values(["Ann Lee", "Bo Ray"], ["Ann Lee Bo Ray"], "text")
    assert not same_values(["a", "b"], ["a"], "text")
    assert not same_values(["a"], [], "text")
    assert same_values([], [], "text")
    assert same_values(["1 cup", "2", "3", "4", "5"], ["1 cups", "2", "3", "4", "5"], "text")


def test_quantities_within_a_text() -> None:
    assert list(find_quantities("Cook time: 2 hr 15 min")) == ["2 hr 15 min"]
    assert meanings("about 15 minutes", "text") == frozenset()


@given(st.text(max_size=60))
def test_every_text_is_the_same_as_itself(text: str) -> None:
    for type_ in ("text", "price", "number", "date", "phone", "url"):
        assert same_value(text, text, type_)
        assert same_value(text, f" {text} ".strip(), type_) or text != text.strip()


@given(st.lists(st.text("abc 1,.!", min_size=1, max_size=8), max_size=5))
def test_order_does_not_matter(texts: list[str]) -> None:
    assert same_values(texts, texts[::-1], "text")


@given(st.text(max_size=80))
def test_words_hold_no_signs(text: str) -> None:
    assert all(word.isalnum() or any(map(str.isalnum, word)) for word in folded_words(text))
