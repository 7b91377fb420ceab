"""Exact inference against counting every assignment of small trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate.lists.hcrf_inference import Forest, Potentials, best_classes, build_forest, compute_marginals
from untemplate.page.arrays import Doubles, Longs

CLASSES = 3
TYPES = 2


def grow(rng: np.random.Generator, inner: int) -> Longs:
    """A random tree in document order whose inner nodes have two or three children."""
    children: dict[int, list[int]] = {0: []}
    for _ in range(inner):
        leaf = int(rng.choice([node for node in children if not children[node]]))
        for _ in range(int(rng.integers(2, 4))):
            children[leaf].append(len(children))
            children[len(children)] = []
    parent: list[int] = []
    waiting = [(0, -1)]
    while waiting:
        node, around = waiting.pop()
        parent.append(around)
        waiting += [(child, len(parent) - 1) for child in reversed(children[node])]
    return np.array(parent)


def random_potentials(rng: np.random.Generator, count: int, scale: float = 1.0) -> Potentials:
    return Potentials(
        rng.normal(size=(count, CLASSES)) * scale,
        rng.normal(size=(TYPES, CLASSES, CLASSES)) * scale,
        rng.normal(size=(TYPES, CLASSES, CLASSES, CLASSES)) * scale,
        rng.integers(0, TYPES, count),
    )


def score(forest: Forest, potentials: Potentials, classes: tuple[int, ...]) -> float:
    total = 0.0
    for node, number in enumerate(classes):
        total += potentials.vertex[node, number]
        parent, before, kind = forest.parent[node], forest.before[node], potentials.types[node]
        if before >= 0:
            total += potentials.triangle[kind, classes[parent], classes[before], number]
        elif parent >= 0:
            total += potentials.first[kind, classes[parent], number]
    return float(total)


def count_all(forest: Forest, potentials: Potentials) -> tuple[float, Doubles, tuple[int, ...]]:
    """The logarithm of the partition function, the marginals and the best classes, one assignment after the other."""
    every = list(product(range(CLASSES), repeat=len(forest)))
    scores = np.array([score(forest, potentials, classes) for classes in every])
    highest = scores.max()
    weights = np.exp(scores - highest)
    vertex = np.zeros((len(forest), CLASSES))
    for classes, weight in zip(every, weights, strict=True):
        vertex[np.arange(len(forest)), classes] += weight
    return float(highest + np.log(weights.sum())), vertex / weights.sum(), every[int(scores.argmax())]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_marginals_and_best_classes_are_those_of_counting(seed: int, inner: int) -> None:
    rng = np.random.default_rng(seed)
    forest = build_forest([grow(rng, inner)])
    potentials = random_potentials(rng, len(forest))
    log_partition, vertex, best = count_all(forest, potentials)
    expected = compute_marginals(forest, potentials)
    assert expected.log_partition == pytest.approx(log_partition)
    np.testing.assert_allclose(expected.vertex, vertex, atol=1e-9)
    assert tuple(best_classes(forest, potentials).tolist()) == best


@pytest.mark.parametrize("name", ["vertex", "first", "triangle"])
def test_marginals_are_the_slope_of_the_partition_function(name: str) -> None:
    rng = np.random.default_rng(3)
    forest = build_forest([grow(rng, 4), grow(rng, 2)])
    potentials = random_potentials(rng, len(forest))
    expected = getattr(compute_marginals(forest, potentials), name)
    table = getattr(potentials, name)
    for place in np.ndindex(table.shape):
        before = table[place]
        ends = []
        for shift in (1e-5, -1e-5):
            table[place] = before + shift
            ends.append(compute_marginals(forest, potentials).log_partition)
        table[place] = before
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(expected[place], abs=1e-6)


def test_trees_do_not_see_each_other() -> None:
    rng = np.random.default_rng(5)
    trees = [grow(rng, 3), np.array([-1]), grow(rng, 2)]
    together = build_forest(trees)
    potentials = random_potentials(rng, len(together))
    expected = compute_marginals(together, potentials)
    best = best_classes(together, potentials)
    start, total = 0, 0.0
    for tree in trees:
        own = slice(start, start + len(tree))
        alone = Potentials(
            potentials.vertex[own], potentials.first, potentials.triangle, potentials.types[own]
        )
        forest = build_forest([tree])
        single = compute_marginals(forest, alone)
        np.testing.assert_allclose(single.vertex, expected.vertex[own])
        np.testing.assert_array_equal(best_classes(forest, alone), best[own])
        start += len(tree)
        total += single.log_partition
    assert expected.log_partition == pytest.approx(total)


def test_large_potentials_do_not_overflow() -> None:
    rng = np.random.default_rng(7)
    forest = build_forest([grow(rng, 30)])
    expected = compute_marginals(forest, random_potentials(rng, len(forest), scale=50.0))
    assert np.isfinite(expected.log_partition)
    np.testing.assert_allclose(expected.vertex.sum(axis=1), 1.0)


def test_a_forest_of_nothing() -> None:
    assert len(build_forest([])) == 0
