import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Page
from untemplate.clustering.paths import PathIndex, link, tag_paths

path_sets = st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=1, max_size=6)


def test_tag_paths_are_distinct_and_without_positions():
    page = Page(html=b"<html><body><p>a<b>c</b></p><p>d</p><!-- e --></body></html>")
    assert tag_paths(page) == {"/html", "/html/body", "/html/body/p", "/html/body/p/b"}


def test_trees_are_forgotten():
    page = Page(html=b"<p>a")
    tag_paths(page)
    assert "tree" not in vars(page)


def test_pages_that_cannot_be_read_have_none():
    assert tag_paths(Page(html=b"")) == frozenset()


@given(path_sets, st.frozensets(st.sampled_from("abcdefgh")))
def test_similarities_are_jaccard(sets, other):
    expected = [len(one & other) / len(one | other) if one | other else 0 for one in sets]
    assert np.allclose(PathIndex(sets).similarities(other), expected)


def test_average_linkage_weighs_by_size():
    # 2 is like 0 but not like 1: joined to {0, 1} only while the average over their pages is high enough.
    similarity = np.array([[1.0, 0.9, 0.6], [0.9, 1.0, 0.1], [0.6, 0.1, 1.0]])
    assert link(similarity, [1, 1, 1], 0.4) == [[0, 1], [2]]
    assert link(similarity, [9, 1, 1], 0.4) == [[0, 1, 2]]
    assert link(similarity, [1, 1, 1], 0.95) == [[0], [1], [2]]
    assert link(np.zeros((0, 0)), [], 0.4) == []
