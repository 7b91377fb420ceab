"""Typed values: which part of a text looks like one, and what it means."""

from __future__ import annotations

from datetime import date
from datetime import time as day_time
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.linear_time import assert_linear
from untemplate import Price
from untemplate.value_types import TYPES, Type, find_typed, looks_typed, parse_typed


@pytest.mark.parametrize(
    ("type_", "text", "part"),
    [
        ("price", "Our Price: $25.99", "$25.99"),
        ("price", "now only 1.299,00 €!", "1.299,00 €"),
        ("price", "CHF 12", "CHF 12"),
        ("price", "30000,00CFA", "30000,00CFA"),
        ("price", "od 1 990 Kč", "1 990 Kč"),
        ("price", "₦4,500", "₦4,500"),
        ("price", "5 leisure parks", None),
        ("price", "room 25", None),
        ("number", "17 reviews", "17"),
        ("number", "about 1,234.5 km", "1,234.5"),
        ("date", "Published: March 3, 2009 by us", "March 3, 2009"),
        ("date", "on 2009-03-03", "2009-03-03"),
        ("date", "3rd Mar 2009", "3rd Mar 2009"),
        ("phone", "Call (212) 586-8655 now", "(212) 586-8655"),
        ("phone", "no phone", None),
        ("zip", "New York, NY 10036-1234", "10036-1234"),
        ("zip", "London SW1A 1AA", "SW1A 1AA"),
        ("email", "write to a.b@example.org.", "a.b@example.org"),
        ("isbn", "ISBN 978-0-13-110362-7", "978-0-13-110362-7"),
        ("time", "opens 9:30 am daily", "9:30 am"),
        ("text", "anything", None),
    ],
)
def test_the_part_that_looks_like_one(type_: Type, text: str, part: str | None) -> None:
    assert find_typed(text, type_) == part


@pytest.mark.parametrize(
    ("type_", "text", "data"),
    [
        ("text", "as it is", "as it is"),
        ("price", "$1,299.50", Price(Decimal("1299.50"), "$")),
        ("price", "€ 12", Price(Decimal(12), "€")),
        ("price", "free", None),
        ("number", "4.5", Decimal("4.5")),
        ("number", "1,234", Decimal(1234)),
        ("date", "March 3, 2009", date(2009, 3, 3)),
        ("date", "2009-12-31", date(2009, 12, 31)),
        ("date", "99/99/9999", None),
        ("time", "9:30 pm", day_time(21, 30)),
        ("phone", "(212) 586-8655", "+12125868655"),
        ("phone", "+44 20 7946 0958", "+442079460958"),
        ("zip", "NY 10036", "10036"),
        ("isbn", "0-13-110362-x", "013110362X"),
        ("url", "/a/b?c=d", "http://shop.example/a/b?c=d"),
        ("url", "https://other.example/", "https://other.example/"),
        ("image", "../i.png", "http://shop.example/i.png"),
        ("url", "http://[bad", None),
    ],
)
def test_what_it_means(type_: Type, text: str, data: Any) -> None:
    assert parse_typed(text, type_, "http://shop.example/dir/page.html") == data


@given(st.text(max_size=60), st.sampled_from(list(TYPES)))
def test_no_text_is_too_odd(text: str, type_: Type) -> None:
    part = find_typed(text, type_)
    assert part is None or (part in text and looks_typed(part, type_))
    parse_typed(text, type_, "http://shop.example/")


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    "unit", ["1", "1 ", "1,", "1.1-", "a@", "a.", "$", "$ 1", "(", "Jan ", "http://", "12:"]
)
def test_long_texts_take_linear_time(type_: Type, unit: str) -> None:
    def work(size: int) -> None:
        text = unit * (size // len(unit))
        find_typed(text, type_)
        parse_typed(text, type_)

    assert_linear(work, 5_000, 50_000)


def test_the_table_has_every_type() -> None:
    assert tuple(TYPES) == get_args(Type)


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        ("/i/lamp.jpg", True),
        ("lamp", True),
        ("My lamp.jpeg", True),
        ("/i/My lamp", True),
        ("data:image/png;base64,iVBO+Rw0/=", True),
        ("/fonts/lamp.woff2?v=1", False),
        ("A lamp that lights, says the maker.", False),
        ("lamp of\nglass", False),
    ],
)
def test_sentences_and_other_files_are_no_images(text: str, may_be: bool) -> None:
    assert looks_typed(text, "image") is may_be
