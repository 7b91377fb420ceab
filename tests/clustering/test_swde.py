"""Real sites, mixed and treated as one: pages must come back to their own template."""

import pytest

from benchmarks.measure.clustering import evaluate, ours, swde_mixture


@pytest.mark.parametrize("vertical", ["restaurant"])
def test_sites_of_a_vertical_are_told_apart(vertical):
    try:
        mixture = swde_mixture(vertical)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    assert evaluate(ours, mixture[::2]).f1 >= 0.99
