"""The tests of single attributes, each on comparisons made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from untemplate import Attribute, Schema
from untemplate.rules import Profile, Wrapper
from untemplate.watching.comparing import Comparison, Evidence
from untemplate.watching.judging import judge_attributes

SCHEMA = Schema("film", {"rating": Attribute("rating")})
KNOWN = [Comparison(f"{n}", ("PG",), ("PG",), is_same=True, agreement=0.9) for n in range(12)]


def failed_test(
    comparisons: Sequence[Comparison], agreement: float = 0.9, schema: Schema = SCHEMA
) -> str | None:
    """The test that fails for the attribute."""
    wrapper = Wrapper("c1", (), 1, "", {}, profiles={"rating": Profile(agreement)})
    evidence = Evidence(wrapper, comparisons={"rating": list(comparisons)})
    alarm = judge_attributes(evidence, schema, 0.0).get("rating")
    return alarm.test if alarm else None


@pytest.mark.parametrize(("gone", "stay", "test"), [(3, 1, "fill"), (1, 0, None), (2, 2, None)])
def test_most_doubtful_values_must_stay(gone: int, stay: int, test: str | None) -> None:
    doubtful = [Comparison(f"gone{n}", None, was_doubtful=True) for n in range(gone)]
    doubtful += [Comparison(f"stay{n}", None, ("R",), agreement=0.5, was_doubtful=True) for n in range(stay)]
    assert failed_test([*KNOWN, *doubtful]) == test


@pytest.mark.parametrize(("usual", "test"), [(0.99, "seen"), (0.6, None)])
def test_embedded_values_that_pages_used_to_show_must_be_shown(usual: float, test: str | None) -> None:
    unseen = [
        Comparison(f"{n}", ("PG",), ("PG",), is_same=True, agreement=0.6, is_unseen=True) for n in range(3)
    ]
    assert failed_test(unseen, usual) == test
    assert failed_test([*KNOWN, *unseen], usual) is None


def test_links_need_not_be_readable() -> None:
    schema = Schema("film", {"rating": Attribute("rating", "image")})
    unseen = [Comparison("1", ("/1.png",), ("/1.png",), is_same=True, agreement=0.6, is_unseen=True)]
    assert failed_test(unseen, 0.99, schema) is None


def test_old_values_elsewhere_mean_nothing_where_values_change_by_nature() -> None:
    elsewhere = [Comparison(f"e{n}", (f"1{n}.49",), (f"2{n}.99",), is_elsewhere=True) for n in range(3)]
    changed = [Comparison(f"c{n}", (f"3{n}.49",), (f"4{n}.99",)) for n in range(3)]
    assert failed_test([*elsewhere, *changed], agreement=0.0) is None
    assert failed_test([*elsewhere, *changed[:2]], agreement=0.0) == "moved"
    lost = Comparison("lost", ("59.49",), is_elsewhere=True)
    assert failed_test([*elsewhere, *changed, lost], agreement=0.0) == "moved"
