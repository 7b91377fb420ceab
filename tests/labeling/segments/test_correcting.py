"""Labels corrected by the majority of aligned nodes: the paper's example 4.3, and its recursion."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from untemplate.labeling.segments.correcting import NOISE, align, correct_labels

Nodes = tuple[tuple[str, str], ...]

CATEGORY, STREET = ("Category", "p"), ("Address", "div")
S1: Nodes = (CATEGORY, (NOISE, "div"), (NOISE, "div"))
S2: Nodes = (STREET, STREET)
S3: Nodes = (CATEGORY, STREET, STREET)


def operations(own: Nodes, other: Nodes) -> list[str]:
    """What the alignment does to the nodes of a segment: del, rep, or nothing."""
    found = []
    for (label, _), partner in zip(own, align(own, [other])[0].tolist(), strict=True):
        new = other[partner][0] if partner >= 0 else None
        found.append("del" if new is None else f"rep {label}→{new}" if new != label else "")
    return found


def test_example_4_3() -> None:
    replaced = f"rep {NOISE}→Address"
    assert operations(S1, S1) == ["", "", ""]
    assert operations(S1, S2) == ["del", replaced, replaced]
    assert operations(S1, S3) == ["", replaced, replaced]
    assert correct_labels([S1, S2, S3]) == [
        ["Category", "Address", "Address"],
        ["Address", "Address"],
        ["Category", "Address", "Address"],
    ]


def test_a_tie_leaves_the_label() -> None:
    assert correct_labels([(("a", "p"),), (("b", "p"),)]) == [["a"], ["b"]]


def test_of_an_attribute_the_run_with_the_best_support_is_kept() -> None:
    apart: Nodes = (("a", "x"), (NOISE, "y"), ("a", "z"), ("a", "z"))
    plain: Nodes = ((NOISE, "y"), ("a", "z"), ("a", "z"))
    assert correct_labels([apart, plain, plain])[0] == [NOISE, NOISE, "a", "a"]
    assert correct_labels([apart, plain, plain], frozenset("a"))[0] == ["a", NOISE, "a", "a"]


def test_alone_nothing_is_corrected_but_runs() -> None:
    assert correct_labels([(("a", "x"), ("b", "x"), ("a", "x"))]) == [["a", "b", NOISE]]
    assert correct_labels([]) == []


def test_a_very_long_segment_keeps_its_labels() -> None:
    long: Nodes = (("a", "p"),) * 500
    assert correct_labels([long, ((NOISE, "p"),), ((NOISE, "p"),)])[0] == ["a"] * 500


nodes = st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(["p", "q"])), max_size=7)


def sequences(own: Nodes, other: Nodes) -> tuple[int, tuple[int, ...]]:
    """The paper's recursion, as it is written: the cost, and of each node its partner or −1."""

    @cache
    def least(i: int, j: int) -> int:
        if i == len(own) or j == len(other):
            return len(own) - i + len(other) - j
        ways = [least(i, j + 1) + 1, least(i + 1, j) + 1]
        if own[i][1] == other[j][1]:
            ways.append(least(i + 1, j + 1) + (own[i][0] != other[j][0]))
        return min(ways)

    partners, i, j = [], 0, 0
    while i < len(own):
        left = least(i, j)
        same = j < len(other) and own[i][1] == other[j][1]
        if same and left == least(i + 1, j + 1) + (own[i][0] != other[j][0]):
            partners.append(j)
            i, j = i + 1, j + 1
        elif j < len(other) and left == least(i, j + 1) + 1:
            j += 1
        else:
            partners.append(-1)
            i += 1
    return least(0, 0), tuple(partners)


@given(nodes, st.lists(nodes, min_size=1, max_size=4))
def test_alignments_are_those_of_the_recursion(
    own: list[tuple[str, str]], others: list[list[tuple[str, str]]]
) -> None:
    all_others = [tuple(other) for other in others]
    found = align(tuple(own), all_others)
    assert [tuple(row) for row in found.tolist()] == [sequences(tuple(own), other)[1] for other in all_others]


@given(st.lists(nodes, max_size=5))
def test_segments_alike_vote_as_often_as_they_are(segments: list[list[tuple[str, str]]]) -> None:
    given_once = [tuple(segment) for segment in segments]
    corrected = correct_labels(given_once)
    assert [len(labels) for labels in corrected] == [len(segment) for segment in given_once]
    assert correct_labels([*given_once, *given_once])[: len(given_once)] == corrected
    for labels in corrected:
        for name in {*labels} - {NOISE}:
            first, last = labels.index(name), len(labels) - labels[::-1].index(name)
            assert set(labels[first:last]) == {name}
