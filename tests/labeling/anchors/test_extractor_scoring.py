"""Scores of site-level extractors: all combinations at once, as one by one; models learn which is right."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate.labeling.anchors.extractor_options import (
    FEATURE_SETS,
    PAIR_FEATURES,
    AttributeOptions,
    ChoiceProblem,
    make_problem,
    pair_features,
)
from untemplate.labeling.anchors.extractor_scoring import (
    MAX_COMBINATIONS,
    SCORERS,
    NeuralScorer,
    Scorer,
    ScorerKind,
    choose_best,
    learn_scorer,
    options_per_attribute,
)

PAPER = FEATURE_SETS["paper"]


def random_options(random: np.random.Generator, count: int, right: int, pages: int = 6) -> AttributeOptions:
    """AttributeOptions of which one is right, and has more of all features."""
    columns = {name: random.normal(size=count).astype(np.float32) for name in PAPER.names}
    for column in columns.values():
        column[right] += 2
    leaves = random.integers(0, 100_000, (count, pages)).astype(np.int32)
    f1 = np.zeros(count, np.float32)
    f1[right] = 1
    return AttributeOptions(columns, leaves.copy(), leaves).with_f1(f1)


def random_problem(seed: int, attributes: int = 3, count: int = 5) -> ChoiceProblem:
    random = np.random.default_rng(seed)
    options = {f"a{n}": random_options(random, count, int(random.integers(count))) for n in range(attributes)}
    return make_problem(options, {}, PAPER, count)


def random_scorer(seed: int, kind: type[Scorer], units: int) -> Scorer:
    random = np.random.default_rng(seed)
    wide = len(PAPER.names) + 1 + len(PAIR_FEATURES)
    return kind(
        PAPER, random.normal(size=(wide, units)), random.normal(size=units), random.normal(size=units), 8.0
    )


@given(st.integers(0, 1000), st.sampled_from([(Scorer, 1), (NeuralScorer, 4)]), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_all_combinations_are_scored_as_one_by_one(
    seed: int, kind: tuple[type[Scorer], int], attributes: int
) -> None:
    problem = random_problem(seed, attributes)
    scorer = random_scorer(seed, *kind)
    choices = np.array(list(product(*map(range, problem.shape))), np.int32)
    taken = problem.feature_vectors(choices) @ scorer.weights + scorer.bias
    one_by_one = (np.tanh(taken) if isinstance(scorer, NeuralScorer) else taken) @ scorer.out
    np.testing.assert_allclose(scorer.score(problem).ravel(), one_by_one, rtol=1e-9, atol=1e-9)
    solved = choose_best(problem, scorer)
    there = (choices < np.array(problem.shape) - 1).all(axis=1)
    assert solved.options == tuple(choices[there][int(np.argmax(one_by_one[there]))])
    for number, best in enumerate(solved.best_scores):
        assert best.max() == pytest.approx(one_by_one.max())
        assert best[0] == pytest.approx(one_by_one[choices[:, number] == 0].max())


@pytest.mark.parametrize("model", SCORERS)
def test_every_model_learns_what_is_right(model: ScorerKind) -> None:
    scorer = learn_scorer([random_problem(seed) for seed in range(8)], "paper", model)
    hits = []
    for seed in range(100, 110):
        problem = random_problem(seed)
        solved = choose_best(problem, scorer)
        hits += [
            one == int(np.argmax(own.f1)) for one, own in zip(solved.options, problem.options, strict=True)
        ]
    assert np.mean(hits) > 0.9


def test_an_attribute_that_a_site_lacks_is_not_sure() -> None:
    """An option worse than all that was right on training sites scores less than none."""
    problems = [random_problem(seed) for seed in range(8)]
    for problem in problems[::2]:
        problem.single[0][:-1, : len(PAPER.names)] = -3
        problem.options[0].columns["F1"][:] = 0
    tested = random_problem(100)
    tested.single[0][:-1, : len(PAPER.names)] = -3
    scorer = learn_scorer(problems, "paper")
    solved = choose_best(tested, scorer)
    first, second = (
        scorer.confidence(scores, best)
        for scores, best in zip(solved.best_scores[:2], solved.options, strict=False)
    )
    assert first < 0.2 < 0.8 < second
    assert solved.options[1] == int(np.argmax(tested.options[1].f1))


@given(st.integers(1, 16))
def test_combinations_are_never_too_many(attributes: int) -> None:
    assert options_per_attribute(attributes) >= 1
    assert (options_per_attribute(attributes) + 1) ** attributes <= MAX_COMBINATIONS


def test_what_is_far_from_sure_has_hardly_a_chance() -> None:
    scorer = random_scorer(0, Scorer, 1)
    assert scorer.confidence(np.array([0.0, 1e9]), 0) < 1e-6
    assert scorer.confidence(np.array([1e9, 0.0]), 0) == 1


def test_pairs_tell_how_far_and_in_which_order() -> None:
    first = np.array([[10, 20, -1], [0, 0, 0]], np.int32)
    second = np.array([[13, 23, 33]], np.int32)
    found = pair_features(first, second, 1.0)
    distance, near, same, unlike = found[0, 0]
    assert (distance, near, same, unlike) == (np.log(4), 1, 0, 0)
    assert found[1, 0, PAIR_FEATURES.index("near")] == 0
    assert pair_features(second, first, 1.0)[0, 0, PAIR_FEATURES.index("unlike order")] == 1
    assert pair_features(second, second, 0.5)[0, 0, PAIR_FEATURES.index("same")] == 1


def test_nearly_the_same_option_is_not_looked_at_twice() -> None:
    random = np.random.default_rng(0)
    one = random_options(random, 3, 0, pages=20)
    one.rows[1] = one.rows[0]
    one.rows[1, 0] += 1
    assert make_problem({"a": one}, {}, PAPER, 3).shape == (3,)
