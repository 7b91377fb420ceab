"""Real sites, mixed and treated as one: every page must come back to its own template."""

from collections import Counter

import pytest

from benchmarks.swde import sites
from untemplate.clustering import cluster


@pytest.mark.parametrize("vertical", ["restaurant"])
def test_sites_of_a_vertical_are_told_apart(vertical):
    try:
        found = sites(vertical)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    owner = {}
    pages = []
    for site in found:
        some = site.pages()[::2]
        owner |= {id(page): site.name for page in some}
        pages += some
    clustering = cluster(pages)
    assert len(clustering) == len(found)
    assert clustering.unassigned == []
    for one in clustering:
        assert len(Counter(owner[id(page)] for page in one.pages)) == 1
