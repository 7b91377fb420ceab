"""The pages of the benchmark that were made to be slow take linear time."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.measure.hostile import CASES, measure_page
from tests.linear_time import assert_linear


@pytest.mark.parametrize("case", CASES)
def test_hostile_pages_take_linear_time(case: str) -> None:
    assert_linear(partial(measure_page, case), 400, 4_000)
