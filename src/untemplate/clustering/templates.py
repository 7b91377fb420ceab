"""The templates behind a sample of a site's pages, which share a frame, and the core of each template.

1. Average linkage joins pages into fine groups. Pages are compared by their traits, weighted by entropy: what all
   pages have, such as the frame, weighs nothing.
2. Groups of one template are merged. The core of a group are the traits of nearly all its pages. What counts is how
   much of its core the other group lacks. Different templates each have something that the other lacks; an optional
   part is missing on one side only. So two groups are merged if one of them lacks hardly anything, and the other one
   not too much. Without the second condition, groups of odd pages, whose cores are tiny, would chain everything.

How much may be missing depends on the URLs of the two groups, and on labels: a person who labels the same attributes
on pages of two groups says that they are of one kind. This step replaces the paper's masked signatures (Vertex
Algorithm 1), which cannot separate templates whose pages are mostly frame.

The core of a template is what the markup of nearly all its pages has in common. Pages that were not compared belong
to the template whose core they have, and so do later pages. How much of it a page has differs from site to site. On
some, every page has all of it, and pages of another kind have 90 %, because they share a big frame. On others,
pages of the template itself have 75 %. So each core has its own limits, from how much each page has of the core of
other pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untemplate.clustering.site_sample import KeptPage
from untemplate.page.arrays import Bools, Doubles, Hashes, Longs
from untemplate.page.template_cores import Core
from untemplate.page.traits import Runs

__all__ = [
    "MIN_SIMILARITY",
    "PageFacts",
    "PageTraits",
    "find_cores",
    "group_pages",
    "link_groups",
    "url_shapes",
]

# The constants below were set by a random search over blogs, shops, SWDE sites, mixtures of these and made-up sites:
# many values score the same. `python -m benchmarks.measure.whole_sites --choose` compares values of each with one
# family of sites left out.

MIN_SIMILARITY = 0.7
"""Average cosine similarity at which pages are linked to a fine group."""

CORE_SHARE = 0.9
"""A trait on this share of a group's pages is in its core; if on this share of all other pages, too, in the frame."""

# Traits that a group must lack to differ, unless these are most of the core: one optional element adds five tag runs.
MIN_LACKED, MOST_OF_CORE = 6, 0.75

RARE_SHARE = 0.1
"""A trait on at most this share of a group's pages is missing there."""

MIN_SHARED_URLS = 0.5
"""The share of URL shapes in common from which on two groups count as having the same URLs."""

MAX_OTHER_URLS = 0.1
"""The share of URL shapes in common up to which two groups count as having other URLs."""

# A group with fewer pages has an unreliable core: the differences count less.
SMALL_GROUP = 5
SMALL_TWO_SIDED, SMALL_ONE_SIDED = 0.25, 0.5

# A segment of a URL is literal if at least this many pages, and this share of all, have it.
MIN_LITERAL_PAGES, MIN_LITERAL_SHARE = 3, 0.05

MAX_CORE_PAGES = 100
"""Pages of a template from which its core is computed."""

MAX_CORE_RUNS = 256
"""Tag runs that a core stores of the template's own, and as many of the frame."""

# The constants of cores were set on blogs and shops; --choose compares their values, too.

ALWAYS_SHARE = 0.97
"""Own runs that decide are on this share of the pages, so that pages without an optional part are not rejected."""

MIN_OWN_SHARE = 0.75
"""The share of the own runs that a page must have."""

ENOUGH_OWN_RUNS = 10
"""With this many own runs, less of the whole core is enough."""

# All but the lowest 2 % of a template's pages have more of the whole core than the limit, and new pages may have 3
# points less. The limit is never lower than the first of these values, against templates with one odd page, and never
# higher than the second, or than the third if the template has enough own runs.
LOWEST_SHARE_OF_PAGES = 0.02
SHARE_MARGIN = 0.03
MIN_SHARE, MAX_SHARE, MAX_SHARE_WITH_OWN = 0.65, 0.93, 0.85

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class _Tolerance:
    """How much of their cores two groups may lack if they are of one template.

    Attributes:
        two_sided: the share that each of them may lack.
        one_sided: the share that one of them may lack.
    """

    two_sided: float
    one_sided: float


OTHER_URLS = _Tolerance(two_sided=0.02, one_sided=0.12)
UNKNOWN_URLS = _Tolerance(two_sided=0.045, one_sided=0.15)
SAME_URLS = _Tolerance(two_sided=0.07, one_sided=0.5)


@dataclass(frozen=True)
class PageTraits:
    """The distinct traits of a page: its tag runs and its class pairs."""

    runs: Runs
    pairs: Hashes


@dataclass(frozen=True)
class PageFacts:
    """What is known about a page besides its markup.

    Attributes:
        url_shape: its URL with a wild card for each rare segment.
        kind: what a person's labels say the page is; None if it has none. Pages of different kinds are never in one
            group.
        template: the name that a person gave to the page's template; None if nobody did. Pages of one name are always
            in one group, pages of different names never.
    """

    url_shape: str = ""
    kind: str | None = None
    template: str | None = None


def url_shapes(urls: Sequence[str]) -> list[str]:
    """Return URLs as shapes: rare segments become `*`, runs of digits become 0, of a query only the names stay.

    >>> url_shapes([f"http://a.com/tea/{name}?id=7" for name in ("oolong", "assam", "keemun")])
    ['a.com/tea/*?id', 'a.com/tea/*?id', 'a.com/tea/*?id']
    """
    split = [_split_address(url) for url in urls]
    pages_with = Counter(segment for segments, _ in split for segment in set(segments))
    least = max(min(MIN_LITERAL_PAGES, len(urls)), MIN_LITERAL_SHARE * len(urls))
    shapes: list[str] = []
    for segments, query in split:
        literal = [segment if pages_with[segment] >= least else "*" for segment in segments]
        shapes.append("/".join(literal) + query)
    return shapes


def _split_address(url: str) -> tuple[list[str], str]:
    """Return the host and the segments of a URL, and the names in its query."""
    _, _, address = url.rpartition("//")
    path, _, query = address.partition("#")[0].partition("?")
    names = sorted({part.partition("=")[0] for part in query.split("&")})
    segments = _DIGITS.sub("0", path).strip("/").split("/")
    return segments, f"?{'&'.join(names)}" if query else ""


def group_pages(
    pages: Sequence[PageTraits], facts: Sequence[PageFacts], min_similarity: float = MIN_SIMILARITY
) -> list[list[int]]:
    """Return groups of page numbers, one for each template.

    Args:
        pages: the traits of a sample of a site's pages.
        facts: what else is known of each.
        min_similarity: how alike the pages of a template are, from 0 to 1. What groups of one template may lack
            shrinks with it: at 1 no groups are merged.
    """
    runs, _ = _tabulate([page.runs for page in pages])
    pairs, _ = _tabulate([page.pairs for page in pages])
    views = [runs, pairs]
    similarity = _similarities(np.hstack(views))
    groups: list[list[int]] = []
    kinds, templates = [page.kind for page in facts], [page.template for page in facts]
    for group in link_groups(similarity, [1] * len(pages), min_similarity):
        for part in _split_by_name(group, kinds, similarity):
            groups += _split_by_name(part, templates, similarity)
    looseness = (1 - min_similarity) / (1 - MIN_SIMILARITY)
    return _Merge(views, groups, facts, looseness).merged_groups()


def _tabulate(pages: Sequence[NDArray[Any]]) -> tuple[Bools, NDArray[Any]]:
    """Return a table with a row per page and a column per trait, and the traits of the columns."""
    names = np.unique(np.concatenate(pages))
    present = np.zeros((len(pages), len(names)), np.bool_)
    for row, traits in enumerate(pages):
        present[row, np.searchsorted(names, traits)] = True
    return present, names


def _similarities(present: Bools) -> Doubles:
    """Return the cosine similarity of each pair of pages, with traits weighted by their entropy."""
    share = present.mean(axis=0).clip(1e-9, 1 - 1e-9)
    entropy = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    weights = np.where(present.all(axis=0), 0.0, entropy).astype(np.float32)
    common = (present * weights) @ present.T.astype(np.float32)
    totals = common.diagonal()
    similarity: Doubles = (common / np.sqrt(np.maximum(np.outer(totals, totals), 1e-9))).astype(np.float64)
    # Pages without any weighted trait are all alike.
    empty = totals <= 0
    similarity[np.ix_(empty, empty)] = 1.0
    return similarity


def link_groups(similarity: Doubles, sizes: Sequence[int], threshold: float) -> list[list[int]]:
    """Return groups of units by average linkage: join the two most similar groups until none are similar enough.

    Args:
        similarity: the similarity of each pair of units
        sizes: the weight of each unit
        threshold: the smallest similarity at which groups are joined
    """
    similarity = similarity.copy()
    np.fill_diagonal(similarity, -1)
    weights = np.array(sizes, np.float64)
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


def _split_by_name(group: list[int], names: Sequence[str | None], similarity: Doubles) -> list[list[int]]:
    """Return a group as it is, unless it has pages of different names: kinds, or templates.

    Then each name is a group, and a page without a name goes where the most similar page with a name is.
    """
    named = [page for page in group if names[page] is not None]
    if len({names[page] for page in named}) < 2:
        return [group]
    parts: dict[str | None, list[int]] = {}
    for page in group:
        nearest = page if names[page] is not None else named[int(similarity[page, named].argmax())]
        parts.setdefault(names[nearest], []).append(page)
    return list(parts.values())


class _Merge:
    """Groups of pages while they are merged. Counts are kept by group, so that no page is looked at twice."""

    def __init__(
        self, views: Sequence[Bools], groups: list[list[int]], facts: Sequence[PageFacts], looseness: float
    ) -> None:
        self.groups = groups
        self.looseness = looseness
        self.sizes = np.array([len(group) for group in groups], np.float64)
        # per view, a row per group: on how many of its pages each trait is
        self.counts = [_sum_rows(view, groups) for view in views]
        shapes = sorted({page.url_shape for page in facts})
        self.shape_counts = _sum_rows(_tabulate_shapes(facts, shapes), groups)
        self.is_literal = np.array(list(map(_is_literal, shapes)))
        self.kinds = _names_of_groups([page.kind for page in facts], groups)
        self.templates = _names_of_groups([page.template for page in facts], groups)
        count = len(groups)
        self.cost = np.full((count, count), np.inf)
        for index in range(count):
            self._update_costs(index)

    def merged_groups(self) -> list[list[int]]:
        """Merge the two groups that differ least, until no two are of one template."""
        while self.cost.size:
            first, second = divmod(int(self.cost.argmin()), len(self.groups))
            if self.cost[first, second] >= self.looseness:
                break
            self._merge(first, second)
        return [sorted(group) for group in self.groups if group]

    def _merge(self, first: int, second: int) -> None:
        self.groups[first] = self.groups[first] + self.groups[second]
        self.groups[second] = []
        self.kinds[first] = self.kinds[first] | self.kinds[second]
        self.templates[first] = self.templates[first] | self.templates[second]
        self.sizes[first] += self.sizes[second]
        self.sizes[second] = 0
        for counts in (*self.counts, self.shape_counts):
            counts[first] += counts[second]
            counts[second] = 0
        self.cost[second, :] = self.cost[:, second] = np.inf
        self._update_costs(first)

    def _update_costs(self, index: int) -> None:
        """Compute how much a group differs from all others: 1 or more for another template, below 0 for the same."""
        two_sided, one_sided = self._lacks(index)
        for other, other_group in enumerate(self.groups):
            if other == index or not other_group or self._has_other_name(index, other):
                cost = np.inf
            elif self.templates[index] & self.templates[other]:
                cost = -1.0
            else:
                cost = self._cost(index, other, float(two_sided[other]), float(one_sided[other]))
            self.cost[index, other] = self.cost[other, index] = cost

    def _has_other_name(self, index: int, other: int) -> bool:
        """Return True if a person said that two groups are of different templates or kinds."""
        templates = self.templates[index] | self.templates[other]
        is_named_same = bool(self.templates[index] & self.templates[other])
        has_other_kind = len(self.kinds[index] | self.kinds[other]) > 1
        return len(templates) > 1 or (has_other_kind and not is_named_same)

    def _cost(self, index: int, other: int, two_sided: float, one_sided: float) -> float:
        tolerance = self._tolerance(index, other)
        if tolerance is not OTHER_URLS and max(self.sizes[index], self.sizes[other]) < SMALL_GROUP:
            two_sided, one_sided = two_sided * SMALL_TWO_SIDED, one_sided * SMALL_ONE_SIDED
        return max(two_sided / tolerance.two_sided, one_sided / tolerance.one_sided)

    def _lacks(self, index: int) -> tuple[Doubles, Doubles]:
        """Return, for each other group, the smaller and the larger share of a core that the other one lacks.

        Both kinds of traits must show a difference, so the smaller value of the two kinds counts.
        """
        smaller, larger = [], []
        sizes = np.maximum(self.sizes, 1)[:, None]
        for counts in self.counts:
            core = counts >= CORE_SHARE * sizes
            rare = counts <= RARE_SHARE * sizes
            lacked_there = _lacking_shares((core[index] & rare).sum(axis=1), core[index].sum())
            lacked_here = _lacking_shares((core & rare[index]).sum(axis=1), core.sum(axis=1))
            smaller.append(np.minimum(lacked_there, lacked_here))
            larger.append(np.maximum(lacked_there, lacked_here))
        return np.minimum(*smaller), np.minimum(*larger)

    def _tolerance(self, index: int, other: int) -> _Tolerance:
        """Return how much two groups may differ, by what URLs and labels say."""
        if self.kinds[index] and self.kinds[index] == self.kinds[other]:
            return SAME_URLS
        shares = self.shape_counts[[index, other]] / self.sizes[[index, other], None]
        common = shares.min(axis=0)
        if common[self.is_literal].sum() >= MIN_SHARED_URLS:
            return SAME_URLS
        return OTHER_URLS if common.sum() <= MAX_OTHER_URLS else UNKNOWN_URLS


def _tabulate_shapes(facts: Sequence[PageFacts], shapes: Sequence[str]) -> Bools:
    """Return a table with a row per page and a column per URL shape."""
    return np.array([[page.url_shape == shape for shape in shapes] for page in facts])


def _names_of_groups(names: Sequence[str | None], groups: Sequence[Sequence[int]]) -> list[set[str | None]]:
    """Return the names that the pages of each group have."""
    return [{names[page] for page in group} - {None} for group in groups]


def _lacking_shares(lacked: Longs, core_sizes: Longs) -> Doubles:
    """Return which share of a core is lacking; a few traits are none, unless they are most of the core."""
    counts = lacked >= np.minimum(MIN_LACKED, MOST_OF_CORE * core_sizes)
    shares: Doubles = np.where(counts, lacked / np.maximum(1, core_sizes), 0.0)
    return shares


def _sum_rows(table: Bools, groups: Sequence[Sequence[int]]) -> Doubles:
    """Return the sum of the rows of each group."""
    return np.array([table[group].sum(axis=0) for group in groups], np.float64).reshape(len(groups), -1)


def _is_literal(shape: str) -> bool:
    """Return True if a URL shape says more than the host: it has a literal segment or a query."""
    path, _, query = shape.partition("?")
    return bool(query) or any(segment not in ("*", "") for segment in path.split("/")[1:])


# Cores


def find_cores(groups: Sequence[Sequence[int]], pages: Sequence[KeptPage]) -> list[Core]:
    """Return the core of each group of pages.

    Args:
        groups: page numbers of each template.
        pages: all pages of the sample, by number.
    """
    if not groups:
        return []
    chosen = [_choose_core_pages(group) for group in groups]
    sizes = [len(numbers) for numbers in chosen]
    present, names = _tabulate([pages[number].runs for number in chain.from_iterable(chosen)])
    cores: list[Core] = []
    for table in np.split(present, np.cumsum(sizes)[:-1]):
        counts_elsewhere = present.sum(axis=0) - table.sum(axis=0)
        in_frame = counts_elsewhere >= CORE_SHARE * (len(present) - len(table))
        cores.append(_make_core(table, in_frame, names))
    return cores


def _choose_core_pages(group: Sequence[int]) -> Sequence[int]:
    return group if len(group) <= MAX_CORE_PAGES else Random(0).sample(group, MAX_CORE_PAGES)


def _make_core(table: Bools, in_frame: Bools, names: Runs) -> Core:
    in_core = table.sum(axis=0) >= CORE_SHARE * len(table)
    own = names[(table.sum(axis=0) >= ALWAYS_SHARE * len(table)) & ~in_frame]
    if len(own) < ENOUGH_OWN_RUNS:
        own = names[in_core & ~in_frame]
    frame = names[in_core & in_frame]
    highest = MAX_SHARE if len(own) < ENOUGH_OWN_RUNS else MAX_SHARE_WITH_OWN
    usual = float(np.quantile(_shares_of_others_core(table), LOWEST_SHARE_OF_PAGES)) - SHARE_MARGIN
    min_share = round(min(highest, max(MIN_SHARE, usual)), 3)
    return Core(_select_runs(own), _select_runs(frame), MIN_OWN_SHARE, min_share)


def _shares_of_others_core(table: Bools) -> Doubles:
    """Return for each page which share it has of the core of the other pages."""
    shares = np.ones(len(table))
    if len(table) < 2:
        return shares
    counts: Longs = table.sum(axis=0)
    for number, row in enumerate(table):
        core = counts - row >= CORE_SHARE * (len(table) - 1)
        shares[number] = row[core].mean() if core.any() else 1.0
    return shares


def _select_runs(runs: Runs) -> tuple[int, ...]:
    """Return the first of the runs in ascending order. They are hashes, so these are a random choice."""
    return tuple(runs[:MAX_CORE_RUNS].tolist())
