from hypothesis import given
from hypothesis import strategies as st

from untemplate.clustering import cluster_vectors
from untemplate.clustering.vectors import assign_vectors, count_masked, settle_counts
from untemplate.page import Signature

# Example 3.1 of the paper. Its story holds when mv_1 and mv_2 are swapped: <0,0,0,0,0,*,2,*> covers v_1, v_3.
V1, V2, V3 = (0, 0, 0, 0, 0, 1, 2, 4), (0, 0, 0, 0, 0, 1, 5, 3), (0, 0, 0, 0, 0, 6, 2, 3)
MV1 = (0, 0, 0, 0, 0, None, 2, None)
MV2 = (0, 0, 0, 0, 0, 1, None, None)
MV3 = (0, 0, 0, 0, 0, None, None, 3)
PAGES = {V1: 1, V2: 1, V3: 1}


def test_first_pass_of_example_3_1():
    counts = count_masked(PAGES)
    assert {masked for masked, count in counts.items() if count == 2} == {MV1, MV2, MV3}
    assert set(counts.values()) == {1, 2}
    assert len(counts) == 3 * 37 - 3


def test_second_pass_of_example_3_1():
    settled = settle_counts(PAGES, count_masked(PAGES))
    assert (settled[MV1], settled[MV2], settled[MV3]) == (2, 0, 1)
    assert sum(settled.values()) == 3


def test_clusters_of_example_3_1():
    vectors = [Signature(values) for values in (V1, V2, V3)]
    importance = cluster_vectors(vectors, threshold=1)
    assert importance == {Signature(MV1): 2, Signature(MV3): 1}
    assert assign_vectors(vectors, importance) == {
        Signature(V1): Signature(MV1),
        Signature(V2): Signature(MV3),
        Signature(V3): Signature(MV1),
    }


def test_pruning_leaves_pages_out():
    vectors = [Signature(values) for values in (V1, V2, V3)]
    importance = cluster_vectors(vectors, threshold=2)
    assert importance == {Signature(MV1): 2}
    assert assign_vectors(vectors, importance)[Signature(V2)] is None


def test_equal_vectors_get_the_most_general_signature():
    assert list(cluster_vectors([Signature(V1)] * 20)) == [Signature((None, None, 0, 0, 0, 1, 2, 4))]
    assert cluster_vectors([Signature(V1)] * 19) == {}


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 8).map(Signature), max_size=40), st.integers(1, 5))
def test_each_page_is_counted_once_and_covered_by_its_cluster(vectors, threshold):
    assert sum(cluster_vectors(vectors, threshold=1).values()) == len(vectors)
    importance = cluster_vectors(vectors, threshold)
    for vector, masked in assign_vectors(vectors, importance).items():
        covering = [one for one in importance if one.covers(vector)]
        assert (masked is None) == (not covering)
        if masked is not None:
            assert masked.covers(vector)
            assert importance[masked] == max(importance[one] for one in covering)
