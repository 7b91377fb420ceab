"""Pages to templates (Vertex III-A), in four steps.

1. Algorithm 1 of the paper, over the signatures of a sample, finds clusters that are pure but often split.
2. Pages that no masked signature covers join the one that agrees with enough of their bytes; the others are strays.
   So are all pages of a signature that covers several templates: a big frame around little content causes that.
3. Average linkage joins clusters of one template, and strays with clusters or with each other. It compares the tag
   paths of a few pages of each. A joined cluster keeps all its masked signatures, for rule matching.
4. Each stray that is left joins the cluster that is most similar, or none.

Steps 2 to 4 are departures from the paper, which omits uncovered pages and does not merge clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from untemplate.clustering.vectors import assign_vectors, cluster_vectors
from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.page.arrays import Doubles
from untemplate.page.signatures import NO_TAGS, Signature, signature
from untemplate.page.url_patterns import learn_url_pattern

__all__ = ["Cluster", "Clustering", "PathIndex", "cluster", "link_groups", "tag_paths"]

_T = TypeVar("_T")

# Vertex III-A: a sample of 20 %, at most 20,000 pages. Signatures are cheap, so we take at least 10,000.
PAGES_PER_SAMPLED_PAGE = 5
MIN_SAMPLE, MAX_SAMPLE = 10_000, 20_000

# Vertex III-A prunes below 20 pages, which is 1 % of the samples (2,000 pages) it takes of small sites.
# We prune smaller inputs at the same 1 %.
THRESHOLD = 20
PAGES_PER_THRESHOLD = 100

# Chosen by `python -m benchmarks.measure.clustering --choose`, which leaves out one of four SWDE verticals or the
# made-up sites (seeds 0 to 9) at a time. The SWDE mixtures alone would work with 0.3 too. Made-up sites, whose
# templates share a frame as those of real sites do, need 0.45 or more.
MIN_SIMILARITY = 0.5
MIN_AGREEMENT = 3

# Pages of each cluster whose tag paths are compared, and strays that may start a cluster of their own.
COMPARED_PAGES = 5
MAX_LINKED_STRAYS = 500

MAX_STRAY_SIGNATURES = 20
"""Masked signatures that a cluster of strays alone keeps, the most important ones."""

# Bytes of a page whose tag paths are read: a template shows its paths long before.
MAX_PATH_BYTES = 1 << 19


@dataclass
class Cluster:
    """Pages made from one template.

    Args:
        id: the name of the cluster in its site: `c1` for the biggest
        pages: the pages
        signatures: all masked signatures of the template, the most important first
        importance: how many sampled pages the signatures cover; rules compete for a page by this score
        url_pattern: a URL in which each `*` matches any run of characters; it matches all pages

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
        self._clusters = sorted(clusters, key=lambda cluster: -len(cluster.pages))
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
        sizes = ", ".join(str(len(cluster.pages)) for cluster in self._clusters[:10])
        more = ", …" if len(self) > 10 else ""
        return f"Clustering({len(self)} clusters of {sizes}{more} pages, {len(self.unassigned)} unassigned)"


class _Site:
    """The pages of a site by number, with their signatures."""

    def __init__(self, pages: list[Page]) -> None:
        self.pages = pages
        self.vectors = [signature(page.html) for page in pages]
        #: the numbers of the pages that have any tags; the others fit no template
        self.tagged = [number for number, vector in enumerate(self.vectors) if vector != NO_TAGS]

    def paths(self, number: int) -> frozenset[str]:
        return tag_paths(self.pages[number])


@dataclass(frozen=True)
class _Draft:
    """A cluster in the making.

    `importance` is by masked signature, and empty for strays. `compared` are the tag paths of some pages.
    """

    members: list[int]
    importance: dict[Signature, int] = field(default_factory=dict)
    compared: list[frozenset[str]] = field(default_factory=list)


def cluster(pages: Iterable[Page]) -> Clustering:
    """Group a site's pages by the template that made them.

    Args:
        pages: the pages of one site. They are all kept in memory; their trees are not.

    Returns:
        The clusters, the biggest first. Pages that cannot be parsed are clustered too; their tags are enough.

    Example:
        >>> from untemplate import Page, cluster
        >>> details = [Page(f"http://a.com/item/{n}", f"<h1>{n}</h1><dl><dt>Tel<dd>{n}</dl>") for n in range(6)]
        >>> lists = [Page(f"http://a.com/list/{n}", "<ul>" + "<li><a href=/>x</a>" * 9) for n in range(3)]
        >>> [len(found.pages) for found in cluster(details + lists)]
        [6, 3]
    """
    site = _Site(list(pages))
    sampled = _pick(site.tagged, _sample_size(len(site.tagged)))
    threshold = min(THRESHOLD, max(1, len(sampled) // PAGES_PER_THRESHOLD))
    importance = cluster_vectors((site.vectors[number] for number in sampled), threshold)

    covered, uncovered = _group_by_signature(site, importance)
    pure, impure = _separate_impure(covered)
    strays = _group_by_vector([*uncovered, *impure], site)

    linked = _pick(strays, MAX_LINKED_STRAYS)
    drafts = _link_drafts([*pure, *(_Draft(group, compared=[site.paths(group[0])]) for group in linked)])
    min_members = threshold * len(linked) / max(1, len(strays))
    drafts = [draft for draft in drafts if draft.importance or len(draft.members) >= min_members]
    drafts = _adopt_strays(drafts, _exclude_groups(strays, linked), site)
    if len(drafts) == 1:
        # A page too many costs a record with gaps; a lost page costs a record.
        drafts = [replace(drafts[0], members=site.tagged)]

    notes = _notes(len(sampled), len(site.tagged), threshold)
    return _finish_clusters(drafts, site, threshold, notes)


def _sample_size(pages: int) -> int:
    """Return how many of a site's pages are used to find its signatures."""
    return min(pages, MAX_SAMPLE, max(MIN_SAMPLE, pages // PAGES_PER_SAMPLED_PAGE))


def _pick(items: list[_T], size: int) -> list[_T]:
    """Return this many items in their order, chosen at random but the same in every run."""
    if size >= len(items):
        return items
    return [items[index] for index in sorted(Random(0).sample(range(len(items)), size))]


def _group_by_signature(site: _Site, importance: dict[Signature, int]) -> tuple[list[_Draft], list[int]]:
    """Return a draft per masked signature with the pages it covers or mostly agrees with, and the other pages."""
    owners = assign_vectors((site.vectors[number] for number in site.tagged), importance)
    homeless = [vector for vector, owner in owners.items() if owner is None]
    owners |= _nearest_signatures(homeless, list(importance))
    members: dict[Signature, list[int]] = {masked: [] for masked in importance}
    uncovered: list[int] = []
    for number in site.tagged:
        owner = owners[site.vectors[number]]
        (members[owner] if owner else uncovered).append(number)
    drafts = [
        _draft(numbers, {masked: importance[masked]}, site) for masked, numbers in members.items() if numbers
    ]
    return drafts, uncovered


def _draft(members: list[int], importance: dict[Signature, int], site: _Site) -> _Draft:
    compared = [site.paths(number) for number in _varied(members, site.vectors)]
    return _Draft(members, importance, compared)


def _varied(members: list[int], vectors: list[Signature]) -> list[int]:
    """Return a few pages with as many different vectors as possible: they show whether templates were mixed."""
    distinct = list({vectors[number]: number for number in reversed(members)}.values())
    others = sorted(set(members).difference(distinct))
    return _pick(distinct, COMPARED_PAGES) + _pick(others, max(0, COMPARED_PAGES - len(distinct)))


def _nearest_signatures(vectors: list[Signature], signatures: list[Signature]) -> dict[Signature, Signature]:
    """Map each vector to the signature that agrees with most of its bytes, if these are enough."""
    if not signatures:
        return {}
    masked = _byte_array(signatures)
    nearest: dict[Signature, Signature] = {}
    for vector in vectors:
        agreement = (masked == _byte_array([vector])).sum(axis=1)
        best = int(agreement.argmax())
        if agreement[best] >= MIN_AGREEMENT:
            nearest[vector] = signatures[best]
    return nearest


def _byte_array(signatures: list[Signature]) -> NDArray[np.int16]:
    """Return a row of eight numbers per signature, with -1 for wild cards."""
    rows = [[-1 if value is None else value for value in masked.values] for masked in signatures]
    return np.array(rows, np.int16)


def _separate_impure(drafts: list[_Draft]) -> tuple[list[_Draft], list[int]]:
    """Return the drafts of one template each, and the pages of the drafts that mix several."""
    pure: list[_Draft] = []
    impure: list[int] = []
    for draft in drafts:
        if _is_pure(draft):
            pure.append(draft)
        else:
            impure += draft.members
    return pure, impure


def _is_pure(draft: _Draft) -> bool:
    """Return True if the compared pages are of one template; those that cannot be read are ignored."""
    readable = [paths for paths in draft.compared if paths]
    return len(link_groups(_similarity_matrix(readable), [1] * len(readable), MIN_SIMILARITY)) <= 1


def _group_by_vector(numbers: Iterable[int], site: _Site) -> list[list[int]]:
    """Return groups of pages that have the same vector."""
    groups: dict[Signature, list[int]] = {}
    for number in sorted(numbers):
        groups.setdefault(site.vectors[number], []).append(number)
    return list(groups.values())


def _exclude_groups(groups: list[list[int]], excluded: list[list[int]]) -> list[list[int]]:
    """Return the groups that are not among the excluded ones."""
    firsts = {group[0] for group in excluded}
    return [group for group in groups if group[0] not in firsts]


def _link_drafts(drafts: list[_Draft]) -> list[_Draft]:
    """Join the drafts whose pages have, on average, enough tag paths in common."""
    sets, owners = _compared_pages(drafts)
    share = np.zeros((len(sets), len(drafts)))
    share[np.arange(len(sets)), owners] = 1 / np.array([len(drafts[owner].compared) for owner in owners])
    similarity = share.T @ _similarity_matrix(sets) @ share
    groups = link_groups(similarity, [len(draft.members) for draft in drafts], MIN_SIMILARITY)
    return [_join_drafts([drafts[index] for index in group]) for group in groups]


def _compared_pages(drafts: list[_Draft]) -> tuple[list[frozenset[str]], list[int]]:
    """Return the tag paths of all compared pages, and the index of the draft of each."""
    sets: list[frozenset[str]] = []
    owners: list[int] = []
    for index, draft in enumerate(drafts):
        sets += draft.compared
        owners += [index] * len(draft.compared)
    return sets, owners


def _join_drafts(drafts: list[_Draft]) -> _Draft:
    joined = _Draft([])
    for draft in drafts:
        joined.members.extend(draft.members)
        joined.importance.update(draft.importance)
        joined.compared.extend(draft.compared)
    return joined


def _adopt_strays(drafts: list[_Draft], strays: list[list[int]], site: _Site) -> list[_Draft]:
    """Return the drafts with the strays added to the most similar one, if it is similar enough."""
    if not (strays and drafts):
        return drafts
    sets, _ = _compared_pages(drafts)
    index = PathIndex(sets)
    counts = np.array([len(draft.compared) for draft in drafts])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    members = [list(draft.members) for draft in drafts]
    for group in strays:
        similarity = np.add.reduceat(index.similarities(site.paths(group[0])), starts) / counts
        best = int(similarity.argmax())
        if similarity[best] >= MIN_SIMILARITY:
            members[best] += group
    return [replace(draft, members=numbers) for draft, numbers in zip(drafts, members, strict=True)]


def _finish_clusters(drafts: list[_Draft], site: _Site, threshold: int, notes: list[str]) -> Clustering:
    assigned = set[int]().union(*(draft.members for draft in drafts))
    unassigned = [page for number, page in enumerate(site.pages) if number not in assigned]
    clusters = [_finish_cluster(draft, site) for draft in drafts]
    clustering = Clustering(clusters, unassigned, threshold, notes)
    for rank, ranked in enumerate(clustering, 1):
        ranked.id = f"c{rank}"
    return clustering


def _finish_cluster(draft: _Draft, site: _Site) -> Cluster:
    members = sorted(draft.members)
    importance = draft.importance
    max_signatures = None
    if not importance:
        importance = cluster_vectors((site.vectors[number] for number in members), threshold=1)
        max_signatures = MAX_STRAY_SIGNATURES
    ranked = sorted(importance, key=lambda masked: -importance[masked])[:max_signatures]
    return Cluster(
        id="",
        pages=[site.pages[number] for number in members],
        signatures=tuple(ranked),
        importance=sum(importance[masked] for masked in ranked),
        url_pattern=learn_url_pattern(site.pages[number].url for number in members),
    )


def _notes(sampled: int, pages: int, threshold: int) -> list[str]:
    notes = []
    if threshold < THRESHOLD:
        few = f"fewer than {THRESHOLD * PAGES_PER_THRESHOLD:,} pages"
        notes.append(f"{few}: clusters below {threshold} pages pruned instead of {THRESHOLD}")
    if sampled < pages:
        notes.append(f"templates found in a sample of {sampled:,} of {pages:,} pages, the others assigned")
    return notes


# Similarity of pages: the overlap of their sets of tag paths


def tag_paths(page: Page) -> frozenset[str]:
    """Return the distinct tag paths of a page's elements, without positions; none if the page cannot be read.

    The page's tree is released, so that trees do not pile up in memory.
    """
    if len(page.html) > MAX_PATH_BYTES:
        page = Page(page.url, page.html[:MAX_PATH_BYTES], page.id, charset=page.charset)
    try:
        root = page.tree
    except PageError:
        return frozenset()
    paths: set[str] = set()
    open_elements = [(root, "")]
    while open_elements:
        element, above = open_elements.pop()
        path = f"{above}/{element.tag}"
        paths.add(path)
        open_elements.extend((child, path) for child in element if isinstance(child.tag, str))
    page.release()
    return frozenset(paths)


class PathIndex:
    """The tag paths of some pages, ready to be compared with those of others."""

    def __init__(self, sets: Sequence[frozenset[str]]) -> None:
        self._sizes = np.array([len(paths) for paths in sets], np.float64)
        self._rows = {path: row for row, path in enumerate(frozenset().union(*sets))}
        self._present = np.zeros((len(self._rows), len(sets)), np.bool_)
        for column, paths in enumerate(sets):
            self._present[[self._rows[path] for path in paths], column] = True

    def similarities(self, paths: frozenset[str]) -> Doubles:
        """Return the Jaccard similarity of these paths with those of each page; an empty set is unlike all."""
        rows = [self._rows[path] for path in paths if path in self._rows]
        common: Doubles = self._present[rows].sum(axis=0, dtype=np.float64)
        return common / np.maximum(self._sizes + len(paths) - common, 1)


def _similarity_matrix(sets: list[frozenset[str]]) -> Doubles:
    """Return the matrix of similarities of all pairs."""
    index = PathIndex(sets)
    return np.array([index.similarities(paths) for paths in sets]).reshape(len(sets), len(sets))


def link_groups(similarity: Doubles, sizes: Iterable[int], threshold: float) -> list[list[int]]:
    """Return groups of units by average linkage: join the two most similar groups until none are similar enough.

    Args:
        similarity: the similarity of each pair of units
        sizes: the weight of each unit
        threshold: the smallest similarity at which groups are joined
    """
    similarity = similarity.copy()
    np.fill_diagonal(similarity, -1)
    weights = np.array(list(sizes), np.float64)
    groups = [[unit] for unit in range(len(weights))]
    while similarity.size:
        first, second = divmod(int(similarity.argmax()), len(weights))
        if similarity[first, second] < threshold:
            break
        total = weights[first] + weights[second]
        joined = (similarity[first] * weights[first] + similarity[second] * weights[second]) / total
        joined[[first, second]] = -1
        similarity[first, :] = similarity[:, first] = joined
        similarity[second, :] = similarity[:, second] = -1
        weights[first] = total
        groups[first] += groups[second]
        groups[second] = []
    return [sorted(group) for group in groups if group]
