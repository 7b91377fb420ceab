"""Pages to templates (Vertex III-A), in four steps.

1. Algorithm 1 of the paper over a sample of the pages' signatures gives pure, but often split clusters.
2. Pages that no masked signature covers join the one that agrees with enough of their bytes; others stray,
   as do all pages of a signature that covers several templates (a big frame around little content does that).
3. Average linkage over tag paths, read from a few pages of each, joins clusters of one template, and strays
   to clusters or to one another. A joined cluster keeps all its masked signatures, for rule matching.
4. Strays that are left join the cluster that is most like them, or none.

Steps 2 to 4 are departures from the paper, which leaves uncovered pages out and does not merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from untemplate.clustering.paths import PathIndex, link, tag_paths
from untemplate.clustering.vectors import assign_vectors, cluster_vectors
from untemplate.page import Page
from untemplate.page.signature import NO_TAGS, Signature, signature
from untemplate.page.url_patterns import learn_url_pattern

__all__ = ["Cluster", "Clustering", "cluster"]

_T = TypeVar("_T")

# Vertex III-A: a sample of 20 %, at most 20,000 pages. Signatures are cheap: we take at least 10,000.
SAMPLE_SHARE = 5
MIN_SAMPLE, MAX_SAMPLE = 10_000, 20_000

# Vertex III-A prunes below 20 pages, which is 1 % of the samples (2,000 pages) it takes of small sites;
# smaller inputs are pruned at the same 1 %.
THRESHOLD = 20
PAGES_PER_THRESHOLD = 100

# Chosen by `python -m benchmarks.measure.clustering --choose`, which leaves out one of four SWDE verticals or the
# made-up sites (seeds 0 to 9) at a time. The SWDE mixtures alone would be served by 0.3 too; made-up sites,
# whose templates share a frame as those of real sites do, need 0.45 or more.
MIN_SIMILARITY = 0.5
MIN_AGREEMENT = 3

# What is read beyond signatures: pages of each cluster, and strays that may found a cluster of their own.
LOOKED_AT = 5
MAX_LINKED_STRAYS = 500

MAX_STRAY_SIGNATURES = 20
"""Masked signatures that a cluster made of strays alone keeps, the most important ones."""


@dataclass
class Cluster:
    """Pages made from one template."""

    id: str
    pages: list[Page] = field(repr=False)
    #: all masked signatures of the template, most important first
    signatures: tuple[Signature, ...]
    #: how many sampled pages its signatures stand for: the score by which rules compete for a page
    importance: int
    #: a URL in which `*` stands for any run of characters, matching all pages
    url_pattern: str

    @property
    def signature(self) -> Signature:
        """The most important of its masked signatures."""
        return self.signatures[0]


class Clustering(Sequence[Cluster]):
    """The templates of a site, biggest first, and what was left out."""

    def __init__(
        self, clusters: Iterable[Cluster], unassigned: list[Page], threshold: int, notes: list[str]
    ) -> None:
        self._clusters = sorted(clusters, key=lambda cluster: -len(cluster.pages))
        #: pages that fit no template
        self.unassigned = unassigned
        #: clusters with fewer pages were pruned
        self.threshold = threshold
        #: what a user should know about how the clusters came about
        self.notes = notes

    @overload
    def __getitem__(self, index: int) -> Cluster: ...
    @overload
    def __getitem__(self, index: slice) -> list[Cluster]: ...
    def __getitem__(self, index: int | slice) -> Cluster | list[Cluster]:
        return self._clusters[index]

    def __len__(self) -> int:
        return len(self._clusters)

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(cluster.pages)) for cluster in self._clusters[:10])
        more = ", …" if len(self) > 10 else ""
        return f"Clustering({len(self)} clusters of {sizes}{more} pages, {len(self.unassigned)} unassigned)"


@dataclass
class _Draft:
    """A cluster in the making: its pages by number, its masked signatures, tag paths of some of its pages."""

    members: list[int]
    importance: dict[Signature, int] = field(default_factory=dict)
    looked_at: list[frozenset[str]] = field(default_factory=list)


def cluster(pages: Iterable[Page]) -> Clustering:
    """Group a site's pages by the template that made them."""
    everything = list(pages)
    vectors = [signature(page.html) for page in everything]
    tagged = [number for number, vector in enumerate(vectors) if vector != NO_TAGS]
    sample = _some(tagged, _sample_size(len(tagged)))
    threshold = min(THRESHOLD, max(1, len(sample) // PAGES_PER_THRESHOLD))

    importance = cluster_vectors((vectors[number] for number in sample), threshold)
    drafts, uncovered = _group(tagged, vectors, importance)
    for draft in drafts:
        draft.looked_at = [tag_paths(everything[number]) for number in _varied(draft.members, vectors)]
    pure = [draft for draft in drafts if _is_pure(draft)]
    impure = [number for draft in drafts if not _is_pure(draft) for number in draft.members]
    strays = _by_vector(uncovered + impure, vectors)
    linked = _some(strays, MAX_LINKED_STRAYS)
    pure += [_Draft(numbers, looked_at=[tag_paths(everything[numbers[0]])]) for numbers in linked]

    enough = threshold * len(linked) / max(1, len(strays))
    kept = [draft for draft in _merge(pure) if draft.importance or len(draft.members) >= enough]
    known = {numbers[0] for numbers in linked}
    _adopt([numbers for numbers in strays if numbers[0] not in known], kept, everything)
    if len(kept) == 1:
        # A page too many costs a record with gaps; a page lost costs a record.
        kept[0].members = tagged

    clusters = [_finish(draft, everything, vectors) for draft in kept]
    assigned = {number for draft in kept for number in draft.members}
    unassigned = [page for number, page in enumerate(everything) if number not in assigned]
    clustering = Clustering(clusters, unassigned, threshold, _notes(len(sample), len(tagged), threshold))
    for rank, found in enumerate(clustering, 1):
        found.id = f"c{rank}"
    return clustering


def _sample_size(pages: int) -> int:
    return min(pages, MAX_SAMPLE, max(MIN_SAMPLE, pages // SAMPLE_SHARE))


def _some(items: list[_T], size: int) -> list[_T]:
    """So many of them, in their order, drawn at random but the same in every run."""
    if size >= len(items):
        return items
    return [items[index] for index in sorted(Random(0).sample(range(len(items)), size))]


def _varied(members: list[int], vectors: list[Signature]) -> list[int]:
    """A few pages with as many different vectors as possible: where templates were mixed, it shows there."""
    distinct = list({vectors[number]: number for number in reversed(members)}.values())
    others = sorted(set(members).difference(distinct))
    return _some(distinct, LOOKED_AT) + _some(others, max(0, LOOKED_AT - len(distinct)))


def _group(
    tagged: list[int], vectors: list[Signature], importance: dict[Signature, int]
) -> tuple[list[_Draft], list[int]]:
    """Pages by the masked signature that covers them or agrees with enough of their bytes; and the strays."""
    owners = assign_vectors((vectors[number] for number in tagged), importance)
    owners |= _nearest([vector for vector, owner in owners.items() if owner is None], list(importance))
    drafts = {masked: _Draft([], {masked: count}) for masked, count in importance.items()}
    strays: list[int] = []
    for number in tagged:
        owner = owners[vectors[number]]
        (drafts[owner].members if owner else strays).append(number)
    return [draft for draft in drafts.values() if draft.members], strays


def _nearest(vectors: list[Signature], signatures: list[Signature]) -> dict[Signature, Signature]:
    """The signature with which most bytes of a vector agree, for vectors that have one with enough."""
    if not signatures:
        return {}
    masked = _array(signatures)
    nearest: dict[Signature, Signature] = {}
    for vector in vectors:
        agreement = (masked == _array([vector])).sum(axis=1)
        best = int(agreement.argmax())
        if agreement[best] >= MIN_AGREEMENT:
            nearest[vector] = signatures[best]
    return nearest


def _array(signatures: list[Signature]) -> NDArray[np.int16]:
    rows = [[-1 if value is None else value for value in one.values] for one in signatures]
    return np.array(rows, np.int16)


def _by_vector(numbers: Iterable[int], vectors: list[Signature]) -> list[list[int]]:
    """Strays that have the same vector stray together."""
    together: dict[Signature, list[int]] = {}
    for number in sorted(numbers):
        together.setdefault(vectors[number], []).append(number)
    return list(together.values())


def _is_pure(draft: _Draft) -> bool:
    """Whether the pages looked at are of one template; those that cannot be read do not speak against it."""
    readable = [paths for paths in draft.looked_at if paths]
    return len(link(_similarity(readable), [1] * len(readable), MIN_SIMILARITY)) <= 1


def _similarity(sets: list[frozenset[str]]) -> NDArray[np.float64]:
    index = PathIndex(sets)
    return np.array([index.similarities(paths) for paths in sets]).reshape(len(sets), len(sets))


def _merge(drafts: list[_Draft]) -> list[_Draft]:
    """Join drafts whose pages have, on average, enough tag paths in common."""
    sets = [paths for draft in drafts for paths in draft.looked_at]
    owners = [index for index, draft in enumerate(drafts) for _ in draft.looked_at]
    share = np.zeros((len(sets), len(drafts)))
    share[np.arange(len(sets)), owners] = 1 / np.array([len(drafts[index].looked_at) for index in owners])
    similarity = share.T @ _similarity(sets) @ share
    groups = link(similarity, [len(draft.members) for draft in drafts], MIN_SIMILARITY)
    return [_join([drafts[index] for index in group]) for group in groups]


def _join(drafts: list[_Draft]) -> _Draft:
    joined = _Draft([])
    for draft in drafts:
        joined.members += draft.members
        joined.importance |= draft.importance
        joined.looked_at += draft.looked_at
    return joined


def _adopt(strays: list[list[int]], drafts: list[_Draft], pages: list[Page]) -> None:
    """Give strays to the draft whose pages are most like them, if they are enough so."""
    if not (strays and drafts):
        return
    index = PathIndex([paths for draft in drafts for paths in draft.looked_at])
    starts = np.cumsum([0] + [len(draft.looked_at) for draft in drafts[:-1]])
    counts = np.array([len(draft.looked_at) for draft in drafts])
    for numbers in strays:
        similarity = np.add.reduceat(index.similarities(tag_paths(pages[numbers[0]])), starts) / counts
        best = int(similarity.argmax())
        if similarity[best] >= MIN_SIMILARITY:
            drafts[best].members += numbers


def _finish(draft: _Draft, pages: list[Page], vectors: list[Signature]) -> Cluster:
    members = sorted(draft.members)
    importance = draft.importance or cluster_vectors((vectors[number] for number in members), threshold=1)
    ranked = sorted(importance, key=lambda masked: -importance[masked])
    if not draft.importance:
        ranked = ranked[:MAX_STRAY_SIGNATURES]
    return Cluster(
        id="",
        pages=[pages[number] for number in members],
        signatures=tuple(ranked),
        importance=sum(importance[masked] for masked in ranked),
        url_pattern=learn_url_pattern(pages[number].url for number in members),
    )


def _notes(sampled: int, pages: int, threshold: int) -> list[str]:
    notes = []
    if threshold < THRESHOLD:
        few = f"fewer than {THRESHOLD * PAGES_PER_THRESHOLD:,} pages"
        notes.append(f"{few}: clusters below {threshold} pages pruned instead of {THRESHOLD}")
    if sampled < pages:
        notes.append(f"templates found in a sample of {sampled:,} of {pages:,} pages, the others assigned")
    return notes
