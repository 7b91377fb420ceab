"""Vertex Algorithm 1: group pages by masked shingle vectors, in three passes.

A masked vector covers all pages whose vectors agree with it wherever it has no wild card. Where the paper's listing
differs from its text, we follow the text: the second pass decrements by the number of pages that have the 8/8 vector.
In Example 3.1 the text swaps the names of mv_1 and mv_2 after introducing them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from untemplate.page.signatures import LENGTH, Signature

__all__ = ["assign_vectors", "cluster_vectors", "count_masked", "settle_counts"]

Vector = tuple[int | None, ...]
"""The values of a signature; None is a wild card."""

# Positions of wild cards, the most general masks first: the first one wins when counts are equal, so that pages that
# hardly differ get a signature that also covers the next page.
_MASKS = [*combinations(range(LENGTH), 2), *combinations(range(LENGTH), 1), ()]


def cluster_vectors(vectors: Iterable[Signature], threshold: int = 20) -> dict[Signature, int]:
    """Return the masked signatures of the clusters among these vectors, with their importance scores.

    Args:
        vectors: one signature per page
        threshold: clusters with fewer pages are pruned
    """
    pages = Counter(vector.values for vector in vectors)
    settled = settle_counts(pages, count_masked(pages))
    return {Signature(masked): count for masked, count in settled.items() if count >= threshold}


def count_masked(pages: Mapping[Vector, int]) -> dict[Vector, int]:
    """First pass: count the pages that each 6/8, 7/8 and 8/8 masked vector covers."""
    counts: dict[Vector, int] = {}
    for vector, size in pages.items():
        for masked in _masked_vectors(vector):
            counts[masked] = counts.get(masked, 0) + size
    return counts


def settle_counts(pages: Mapping[Vector, int], counts: Mapping[Vector, int]) -> dict[Vector, int]:
    """Second pass: count each page only for the covering masked vector with most pages, rare vectors first."""
    settled = dict(counts)
    rank = {masked: number for number, masked in enumerate(counts)}
    for vector, size in sorted(pages.items(), key=lambda item: item[1]):
        candidates = list(_masked_vectors(vector))
        best = min(candidates, key=lambda masked: (-settled[masked], rank[masked]))
        for masked in candidates:
            if masked is not best:
                settled[masked] -= size
    return settled


def assign_vectors(
    vectors: Iterable[Signature], importance: Mapping[Signature, int]
) -> dict[Signature, Signature | None]:
    """Third pass: map each vector to the most important masked signature that covers it, or to None."""
    ranked = sorted(importance, key=lambda masked: -importance[masked])
    rank = {masked.values: number for number, masked in enumerate(ranked)}
    assigned: dict[Signature, Signature | None] = {}
    for vector in vectors:
        if vector not in assigned:
            covering = [masked for masked in _masked_vectors(vector.values) if masked in rank]
            assigned[vector] = Signature(min(covering, key=rank.__getitem__)) if covering else None
    return assigned


def _masked_vectors(vector: Vector) -> Iterator[Vector]:
    """Yield the vector with up to two wild cards in all positions."""
    for positions in _MASKS:
        masked = list(vector)
        for position in positions:
            masked[position] = None
        yield tuple(masked)
