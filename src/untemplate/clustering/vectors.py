"""Vertex Algorithm 1: pages grouped by masked shingle vectors, in three passes.

Read as the paper's text says where its listing differs: the second pass decrements by the number of pages
that have the 8/8 vector. In Example 3.1 the text swaps the names of mv_1 and mv_2 after it gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from untemplate.page.signature import LENGTH, Signature

__all__ = ["assign_vectors", "cluster_vectors", "count_masked", "settle_counts"]

Vector = tuple[int | None, ...]
"""The values of a signature; None is a wild card."""

# Positions made wild cards, most general first: when counts are equal the first seen wins, so that pages that
# hardly differ get a signature that also covers the next page.
_MASKS = tuple(positions for wild in (2, 1, 0) for positions in combinations(range(LENGTH), wild))


def cluster_vectors(vectors: Iterable[Signature], threshold: int = 20) -> dict[Signature, int]:
    """The masked signatures of the clusters among these pages' vectors, with their importance scores."""
    pages = Counter(vector.values for vector in vectors)
    settled = settle_counts(pages, count_masked(pages))
    return {Signature(masked): count for masked, count in settled.items() if count >= threshold}


def count_masked(pages: Mapping[Vector, int]) -> dict[Vector, int]:
    """First pass: how many pages each 6/8, 7/8 and 8/8 masked vector covers."""
    counts: dict[Vector, int] = {}
    for vector, size in pages.items():
        for masked in _masked(vector):
            counts[masked] = counts.get(masked, 0) + size
    return counts


def settle_counts(pages: Mapping[Vector, int], counts: Mapping[Vector, int]) -> dict[Vector, int]:
    """Second pass: rare vectors first, each page is left counted by the masked vector that covers most."""
    counts = dict(counts)
    rank = {masked: number for number, masked in enumerate(counts)}
    for vector, size in sorted(pages.items(), key=lambda item: item[1]):
        candidates = list(_masked(vector))
        best = min(candidates, key=lambda masked: (-counts[masked], rank[masked]))
        for masked in candidates:
            if masked is not best:
                counts[masked] -= size
    return counts


def assign_vectors(
    vectors: Iterable[Signature], importance: Mapping[Signature, int]
) -> dict[Signature, Signature | None]:
    """Third pass: the most important masked signature that covers each vector, none where none does."""
    rank = {
        masked.values: number
        for number, (masked, _) in enumerate(sorted(importance.items(), key=lambda item: -item[1]))
    }
    assigned: dict[Signature, Signature | None] = {}
    for vector in vectors:
        if vector not in assigned:
            covering = [masked for masked in _masked(vector.values) if masked in rank]
            assigned[vector] = Signature(min(covering, key=rank.__getitem__)) if covering else None
    return assigned


def _masked(vector: Vector) -> Iterator[Vector]:
    for positions in _MASKS:
        masked = list(vector)
        for position in positions:
            masked[position] = None
        yield tuple(masked)
