"""Columns of numbers: groups, ordinals and counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from untemplate.page.arrays import count_distinct, group_rows, ordinals


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=1))
def test_groups_are_equal_pairs(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    numbers = group_rows(one, other)
    for i, pair in enumerate(pairs):
        assert [numbers[i] == number for number in numbers] == [pair == another for another in pairs]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_ordinals_count_on_each_page(pairs: list[tuple[int, int]]) -> None:
    pairs.sort()
    page, kind = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    assert ordinals(page, kind).tolist() == [pairs[:at].count(pair) for at, pair in enumerate(pairs)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1))
def test_distinct_values_of_each_group(pairs: list[tuple[int, int]]) -> None:
    groups, column = (np.array(numbers, np.int32) for numbers in zip(*pairs, strict=True))
    counts = count_distinct(groups, column, minlength=4)
    assert counts.tolist() == [len({value for group, value in pairs if group == one}) for one in range(4)]


def test_nothing_has_no_groups() -> None:
    nothing = np.zeros(0, np.int32)
    assert not len(group_rows(nothing, nothing))
    assert not len(count_distinct(nothing, nothing))
