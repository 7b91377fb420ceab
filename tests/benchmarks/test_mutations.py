"""A few damaged pages of the benchmark, as a test: no stage fails, and the same seed damages the same way."""

from __future__ import annotations

import random

from benchmarks.measure.mutations import METHODS, SITES, mutate, run_trials


def test_damaged_pages_fail_in_no_stage() -> None:
    trials = list(run_trials(12, seed=1, sites=SITES[:1], together=4))
    page_stages = {"parse", "extract", "records", "names", "watch"}
    site_stages = {"cluster", "sample", "learn", "heal", *METHODS}
    assert {trial.stage for trial in trials} == page_stages | site_stages
    assert [trial for trial in trials if trial.failure] == []


def test_a_seed_gives_the_same_damage() -> None:
    html, other = b"<p>one</p>" * 50, b"<i>two</i>" * 50
    assert mutate(html, other, random.Random(3)) == mutate(html, other, random.Random(3))
