"""Pages to templates (Vertex III-A), in four steps.

1. The stream of pages is read once. A sample is kept in memory: all pages of a small site (`site_sample.py`).
2. The templates of a few hundred of these pages are found (`templates.py`). These pages are chosen by the masked
   signatures of Algorithm 1 of the paper, so that rare templates are among them.
3. Each other page of the sample joins the template whose core it has. If some fit none, step 2 is done again with
   some of them added.
4. A cluster gets what rules need to recognize its pages: masked signatures, a core, and a URL pattern.

Steps 1, 2 and 4 are departures from the paper, which clusters by signatures alone and omits uncovered pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from typing import overload

from untemplate.clustering.site_sample import KeptPage, SiteSample, read_sample
from untemplate.clustering.templates import (
    MIN_SIMILARITY,
    PageFacts,
    PageTraits,
    find_cores,
    group_pages,
    url_shapes,
)
from untemplate.page import Page
from untemplate.page.signatures import LENGTH, Signature
from untemplate.page.tag_arrays import read_tags
from untemplate.page.template_cores import Core
from untemplate.page.traits import CoreIndex, class_pairs, table_of_runs
from untemplate.page.url_patterns import learn_url_pattern
from untemplate.record import html_table
from untemplate.sources import as_pages

__all__ = [
    "Cluster",
    "Clustering",
    "assign_vectors",
    "cluster",
    "cluster_vectors",
    "count_masked",
    "settle_counts",
]

# Vertex III-A prunes below 20 pages, which is 1 % of the samples (2,000 pages) it takes of small sites.
# We prune smaller inputs at the same 1 %.
THRESHOLD = 20
PAGES_PER_THRESHOLD = 100

COMPARED_PAGES = 300
"""Pages whose traits are compared with each other, and as many more in each further round."""

MAX_ROUNDS = 3
"""How often templates are searched for, with pages added that fitted none."""

MIN_STRATUM_PAGES = 3
"""Pages that are compared at least of each masked signature."""

MIN_CORE_PAGES = 5
"""A template with fewer pages has no core: what one or two pages have in common says little."""

MIN_NAMED_PAGES = 20
"""Pages that are compared of each template that a person named; more of them join it without."""

MAX_SIGNATURES = 20
"""Masked signatures that a cluster keeps, the most important ones."""


@dataclass
class Cluster:
    """Pages made from one template.

    Args:
        id: the name of the cluster in its site: `c1` for the biggest
        pages: the pages; of a site that is too big for memory, those of a sample
        signatures: masked signatures of the template, the most important first
        importance: how many pages the signatures cover; rules compete for a page by this score
        url_pattern: a URL in which each `*` matches any run of characters; it matches all pages
        core: what the markup of nearly all pages has in common; None if there are too few pages to say
        size: how many pages of the site the template made, as far as known
        named: whether a person named the template of some of its pages

    Example:
        >>> from untemplate import Page, cluster
        >>> [found] = cluster(Page(f"http://a.com/{n}.html", "<h1>x</h1><p>y") for n in range(3))
        >>> found.id, found.url_pattern, len(found.pages)
        ('c1', 'http://a.com/*.html', 3)
    """

    id: str
    pages: list[Page] = field(repr=False)
    signatures: tuple[Signature, ...]
    importance: int
    url_pattern: str
    core: Core | None = field(default=None, repr=False)
    size: int = 0
    named: bool = False

    def __post_init__(self) -> None:
        self.size = self.size or len(self.pages)

    def __repr__(self) -> str:
        return f"Cluster({self.id}: {self.size} pages, {self.url_pattern})"

    @property
    def signature(self) -> Signature:
        """The most important masked signature."""
        return self.signatures[0]


class Clustering(Sequence[Cluster]):
    """The clusters of a site, the biggest first, and the pages that fit none.

    Args:
        clusters: the clusters
        unassigned: pages that fit no template
        threshold: clusters with fewer pages were pruned
        notes: what a user should know about how the clusters were found, in words

    Example:
        >>> from untemplate import Page, cluster
        >>> cluster([Page("http://a.com/1", "<h1>x</h1><p>y"), Page("http://a.com/2", "no tags")])
        Clustering(1 clusters of 1 pages, 1 unassigned)
    """

    def __init__(
        self, clusters: Iterable[Cluster], unassigned: list[Page], threshold: int, notes: list[str]
    ) -> None:
        self._clusters = sorted(clusters, key=lambda cluster: -cluster.size)
        for rank, ranked in enumerate(self._clusters, 1):
            ranked.id = f"c{rank}"
        self.unassigned = unassigned
        self.threshold = threshold
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
        sizes = ", ".join(str(cluster.size) for cluster in self._clusters[:10])
        more = ", …" if len(self) > 10 else ""
        return f"Clustering({len(self)} clusters of {sizes}{more} pages, {len(self.unassigned)} unassigned)"

    def _repr_html_(self) -> str:
        """Return the clusters as a table, for notebooks."""
        rows = [(cluster.id, cluster.size, cluster.url_pattern, cluster.pages[0].id) for cluster in self]
        return html_table(("cluster", "pages", "URL pattern", "example"), rows)


def cluster(
    pages: Iterable[Page] | str | Path,
    known_kinds: Mapping[str, str] | None = None,
    *,
    templates: Mapping[str, str] | None = None,
    similarity: float = MIN_SIMILARITY,
    always_kept: Collection[str] = (),
) -> Clustering:
    """Group a site's pages by the template that made them.

    Args:
        pages: the pages of one site, which may be a stream, or the path of a source such as a folder. Up to 20,000
            pages or 600 MB of HTML are kept in memory; of more pages, a random sample.
        known_kinds: what some pages are, by id or URL, in any words, such as "list". Pages of different kinds are
            never in one cluster, pages of the same kind more easily.
        templates: names that a person gave to the templates of some pages, by id or URL. Pages of one name are always
            in one cluster, pages of different names never.
        similarity: how alike the pages of a template are, from 0 to 1. Higher values make more and smaller clusters.
        always_kept: ids or URLs of pages that are never left out of the sample.

    Returns:
        The clusters, the biggest first. Pages that cannot be parsed are clustered too; their tags are enough.

    Example:
        >>> from untemplate import Page, cluster
        >>> details = [Page(f"http://a.com/item/{n}", f"<h1>{n}</h1><dl><dt>Tel<dd>{n}</dl>") for n in range(6)]
        >>> lists = [Page(f"http://a.com/list/{n}", "<ul>" + "<li><a href=/>x</a>" * 9) for n in range(3)]
        >>> [len(found.pages) for found in cluster(details + lists)]
        [6, 3]
    """
    templates = templates or {}
    sample = read_sample(as_pages(pages), {*always_kept, *templates})
    threshold = min(THRESHOLD, max(1, len(sample.pages) // PAGES_PER_THRESHOLD))
    grouping = _Grouping(sample.pages, known_kinds or {}, templates, similarity)
    groups = grouping.find_groups(threshold)
    big = [group for group in groups if len(group) >= threshold or grouping.name_of(group)]
    if len(big) == 1:
        # A page too many costs a record with gaps; a lost page costs a record.
        big = [list(range(len(sample.pages)))]
    clusters = _finish_clusters(big, sample)
    for group, found in zip(big, clusters, strict=True):
        found.named = grouping.name_of(group) is not None
    return Clustering(clusters, _pages_outside(big, sample), threshold, _sample_notes(sample, threshold))


class _Grouping:
    """The kept pages of a site while they are grouped, by number."""

    def __init__(
        self,
        pages: Sequence[KeptPage],
        known_kinds: Mapping[str, str],
        templates: Mapping[str, str],
        similarity: float,
    ) -> None:
        self.pages = pages
        self.similarity = similarity
        shapes = url_shapes([kept.page.url for kept in pages])
        self.facts = [
            PageFacts(shape, kept.page.entry_in(known_kinds), kept.page.entry_in(templates))
            for shape, kept in zip(shapes, pages, strict=True)
        ]
        self.traits: dict[int, PageTraits] = {}

    def find_groups(self, threshold: int) -> list[list[int]]:
        """Return the page numbers of each template. Pages that fit none are in no group."""
        compared = self._choose_compared(threshold)
        for _ in range(MAX_ROUNDS):
            groups = self._compare(compared)
            added, strays = self._assign(groups, compared)
            if len(strays) < threshold:
                break
            compared = sorted([*compared, *_pick(strays, COMPARED_PAGES)])
        return [sorted([*group, *new]) for group, new in zip(groups, added, strict=True)]

    def _choose_compared(self, threshold: int) -> list[int]:
        """Return some pages of each masked signature, some that no signature covers, and all of a known kind."""
        numbers = range(len(self.pages))
        if len(self.pages) <= COMPARED_PAGES:
            return list(numbers)
        vectors = [kept.signature for kept in self.pages]
        owners = assign_vectors(vectors, cluster_vectors(vectors, threshold))
        strata: dict[Signature | None, list[int]] = {}
        for number in numbers:
            strata.setdefault(owners[vectors[number]], []).append(number)
        chosen = {number for number in numbers if self.facts[number].kind is not None}
        for named in self._numbers_by_name().values():
            chosen.update(_pick(named, MIN_NAMED_PAGES))
        for stratum in sorted(strata.values(), key=len, reverse=True)[: COMPARED_PAGES // MIN_STRATUM_PAGES]:
            share = COMPARED_PAGES * len(stratum) // len(self.pages)
            chosen.update(_pick(stratum, max(MIN_STRATUM_PAGES, share)))
        return sorted(chosen)

    def _numbers_by_name(self) -> dict[str, list[int]]:
        """Return the pages of each template that a person named."""
        numbers: dict[str, list[int]] = {}
        for number, facts in enumerate(self.facts):
            if facts.template is not None:
                numbers.setdefault(facts.template, []).append(number)
        return numbers

    def name_of(self, group: Iterable[int]) -> str | None:
        """Return the name that a person gave to the template of a group; None if nobody did."""
        return next((name for number in group if (name := self.facts[number].template)), None)

    def _compare(self, numbers: Sequence[int]) -> list[list[int]]:
        """Return groups of these pages, by their traits."""
        if not numbers:
            return []
        traits = [self._traits_of(number) for number in numbers]
        groups = group_pages(traits, [self.facts[number] for number in numbers], self.similarity)
        return [[numbers[index] for index in group] for group in groups]

    def _traits_of(self, number: int) -> PageTraits:
        if number not in self.traits:
            kept = self.pages[number]
            self.traits[number] = PageTraits(kept.runs, class_pairs(read_tags(kept.page.html)))
        return self.traits[number]

    def _assign(
        self, groups: Sequence[Sequence[int]], compared: Sequence[int]
    ) -> tuple[list[list[int]], list[int]]:
        """Return for each group the pages not yet compared that have its core, and the pages that have none."""
        added: list[list[int]] = [[] for _ in groups]
        strays: list[int] = []
        rest = sorted(set(range(len(self.pages))).difference(compared))
        if not rest:
            return added, strays
        cores = CoreIndex(find_cores(groups, self.pages))
        named = {self.name_of(group): index for index, group in enumerate(groups)}
        for number in rest:
            if (name := self.facts[number].template) is not None:
                added[named[name]].append(number)
                continue
            best = cores.find_best(table_of_runs(self.pages[number].runs))
            members = strays if best is None else added[best]
            members.append(number)
        return added, strays


def _pick(numbers: Sequence[int], size: int) -> list[int]:
    """Return this many of the numbers in their order, chosen at random but the same in every run."""
    if size >= len(numbers):
        return list(numbers)
    return sorted(Random(0).sample(numbers, size))


def _pages_outside(groups: Iterable[Iterable[int]], sample: SiteSample) -> list[Page]:
    """Return the kept pages that are in no group."""
    assigned = set[int]().union(*groups)
    strays = [kept.page for number, kept in enumerate(sample.pages) if number not in assigned]
    return [*strays, *sample.without_tags]


def _finish_clusters(groups: Sequence[list[int]], sample: SiteSample) -> list[Cluster]:
    """Return the groups as clusters, with all that rules need to recognize their pages."""
    if not groups:
        return []
    kept_pages = [[sample.pages[number] for number in group] for group in groups]
    signatures = [_rank_signatures(kept) for kept in kept_pages]
    passed = _count_passed(signatures, sample)
    cores = find_cores(groups, sample.pages)
    return [
        Cluster(
            id="",
            pages=[entry.page for entry in kept],
            signatures=tuple(ranked),
            importance=sum(ranked.values()),
            url_pattern=learn_url_pattern(entry.page.url for entry in kept),
            core=core if len(kept) >= MIN_CORE_PAGES else None,
            size=len(kept) + passed_count,
        )
        for kept, ranked, core, passed_count in zip(kept_pages, signatures, cores, passed, strict=True)
    ]


def _rank_signatures(pages: Iterable[KeptPage]) -> dict[Signature, int]:
    """Return the most important masked signatures of a cluster with their importance, the first first."""
    importance = cluster_vectors((entry.signature for entry in pages), threshold=1)
    ranked = sorted(importance, key=lambda masked: -importance[masked])[:MAX_SIGNATURES]
    return {masked: importance[masked] for masked in ranked}


def _count_passed(signatures: Sequence[Mapping[Signature, int]], sample: SiteSample) -> list[int]:
    """Return for each cluster how many of the pages that were not kept its signatures cover."""
    counts = [0] * len(signatures)
    importance: dict[Signature, int] = {}
    cluster_of: dict[Signature, int] = {}
    for index, ranked in enumerate(signatures):
        for masked, score in ranked.items():
            if score > importance.get(masked, 0):
                importance[masked], cluster_of[masked] = score, index
    for vector, owner in assign_vectors(sample.passed, importance).items():
        if owner is not None:
            counts[cluster_of[owner]] += sample.passed[vector]
    return counts


def _sample_notes(sample: SiteSample, threshold: int) -> list[str]:
    notes = []
    if 1 < threshold < THRESHOLD:
        notes.append(f"templates with fewer than {threshold} pages are left out")
    if sample.passed:
        pages = f"{len(sample.pages):,} of {sample.page_count:,} pages"
        notes.append(
            f"templates found in a random sample of {pages}; the others are counted by their structure"
        )
    return notes


# Vertex Algorithm 1: group pages by masked shingle vectors, in three passes. A masked vector covers all pages whose
# vectors agree with it wherever it has no wild card. Where the paper's listing differs from its text, we follow the
# text: the second pass decrements by the number of pages that have the 8/8 vector. In Example 3.1 the text swaps the
# names of mv_1 and mv_2 after introducing them.

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
