"""One segment id for each attribute: the paper's example 4.2, and the exact selection beside its heuristic."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.labeling.segments.yelp import labels_in, yelp
from untemplate.labeling.segments.selecting import (
    find_candidates,
    hops_apart,
    segments_apart,
    select_exactly,
    select_nearest,
    total_distance,
)


def test_example_4_2() -> None:
    site = yelp()
    e1, e2, e3 = range(3)
    candidates = find_candidates(labels_in(site))
    assert candidates == {e1: {"Name"}, e2: {"Category", "Address", "Phone"}, e3: {"Address"}}
    distance = segments_apart(site)
    assert (distance(e2, e1), distance(e2, e3), distance(e3, e1)) == (1, 1, 2)
    weights = {e: sum(distance(e, f) * len(candidates[f]) for f in candidates) for e in candidates}
    assert (weights[e2], weights[e3]) == (2, 5)
    selected = select_nearest(candidates, distance)
    assert selected == {"Name": e1, "Category": e2, "Address": e2, "Phone": e2}
    assert select_exactly(candidates, distance) == selected


def test_hops_through_the_tree() -> None:
    distance = hops_apart(yelp())
    # From the name's text up to h1 and body, down to p and its text; from one paragraph's text to another's.
    assert distance(0, 2) == 4
    assert distance(0, 0) == 0


def test_beta_is_a_share_of_the_segments_of_an_id() -> None:
    segments = [(0, ["a"]), (0, ["a", "b"]), (0, []), (0, ["b", "b"]), (1, ["a"])]
    assert find_candidates(segments) == {0: set(), 1: {"a"}}
    assert find_candidates(segments, 0.4) == {0: {"a", "b"}, 1: {"a"}}


def distance(one: int, other: int) -> float:
    return float(abs(one - other))


def test_the_heuristic_may_miss_the_best() -> None:
    candidates = {0: {"a", "x"}, 10: {"a", "b", "c"}, 11: {"b"}, 12: {"c"}, 1: {"x", "b", "c"}}
    nearest, best = select_nearest(candidates, distance), select_exactly(candidates, distance)
    assert total_distance(best, distance) <= total_distance(nearest, distance)


attributes = st.frozensets(st.sampled_from("abcd"), max_size=4)


@given(st.dictionaries(st.integers(0, 20), attributes, max_size=6))
def test_the_exact_selection_is_the_best_of_all(candidates: dict[int, frozenset[str]]) -> None:
    found = select_exactly(candidates, distance)
    names = sorted(set().union(*candidates.values()))
    assert sorted(found) == names
    assert all(name in candidates[id] for name, id in found.items())
    choices = [[id for id, own in candidates.items() if name in own] for name in names]
    every = [dict(zip(names, chosen, strict=True)) for chosen in product(*choices)]
    assert total_distance(found, distance) == min(total_distance(one, distance) for one in every)
