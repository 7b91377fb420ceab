"""The paper's experiments on clusters and samples: coverage of samples, clusters, matching rules, annotated pages.

python -m benchmarks.measure.coverage
python -m benchmarks.measure.coverage --only annotated

- Coverage (Figure 3): the share of the pages in a site's large clusters that clusters of a sample recognize.
- Clusters per site, and rules that match a page by URL pattern and markup (sections III-A and IV-A).
- Pages that an editor annotates per cluster (III-B and III-C): until the rules are valid, with precision 1 and recall
  above 0.85 on 20 other pages; and until they find a value for every attribute on the rest of the sample.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import mean

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, labels_of, schema_of, score, sites
from benchmarks.data.whole_sites import SETS, whole_sites
from untemplate import Page, Rules, cluster, sample
from untemplate.clustering import Cluster, cluster_vectors
from untemplate.clustering.clusters import assign_vectors
from untemplate.demo import VERTICALS as MADE_UP_VERTICALS
from untemplate.demo import make_site
from untemplate.extraction.matching import WrapperIndex
from untemplate.learning import empty_wrapper, group_labels, learn_cluster
from untemplate.page import signature, url_matches
from untemplate.page.signatures import Signature
from untemplate.page.template_cores import PageRuns
from untemplate.page.url_patterns import learn_url_pattern

PARTS = ("coverage", "clusters", "annotated")

SHARES = (0.05, 0.1, 0.2, 0.5)
"""Shares of a site's pages that a sample has; the paper takes 20 %."""

PAPER_THRESHOLD = 20
LARGE_CLUSTER = 100
"""Pages of a large cluster at least, as in the paper."""

MADE_UP_SEED = 600
MADE_UP_PAGES = 1000

SAMPLE_SIZE = 20
MAX_ANNOTATED = 4
"""Pages that an editor annotates per cluster at most, as in the paper's experiments."""

MIN_RECALL = 0.85
"""Rules are valid with a precision of 1 and a higher recall, as in the paper."""

Recognizer = Callable[[Page], bool]


@dataclass(frozen=True)
class PaperCluster:
    """A cluster of Algorithm 1: its masked signature, the URL pattern of its pages, and these."""

    signature: Signature
    url_pattern: str
    pages: list[Page]


def paper_clusters(pages: Sequence[Page]) -> list[PaperCluster]:
    """Return the clusters of Algorithm 1."""
    vectors = [signature(page.html) for page in pages]
    threshold = min(PAPER_THRESHOLD, max(1, len(pages) // 100))
    owners = assign_vectors(vectors, cluster_vectors(vectors, threshold))
    members: dict[Signature, list[Page]] = defaultdict(list)
    for page, vector in zip(pages, vectors, strict=True):
        if masked := owners[vector]:
            members[masked].append(page)
    return [
        PaperCluster(masked, learn_url_pattern(page.url for page in group), group)
        for masked, group in members.items()
    ]


# Figure 3


def paper_recognizer(pages: Sequence[Page]) -> Recognizer:
    """Return what tells whether a masked signature of these pages covers a page."""
    importance = {found.signature: len(found.pages) for found in paper_clusters(pages)}

    def is_covered(page: Page) -> bool:
        vector = signature(page.html)
        return assign_vectors([vector], importance)[vector] is not None

    return is_covered


def our_recognizer(pages: Sequence[Page]) -> Recognizer:
    """Return what tells whether a page belongs to a cluster of these pages, as extraction decides it."""
    index = WrapperIndex([empty_wrapper(found) for found in cluster(pages)])
    return lambda page: index.match(page)[0] is not None


def measure_coverage(
    pages: Sequence[Page], recognizer: Callable[[Sequence[Page]], Recognizer]
) -> list[float]:
    """Return, for samples of growing size, the share of pages in large clusters that are recognized."""
    large: list[Page] = []
    for found in paper_clusters(pages):
        large += found.pages if len(found.pages) >= LARGE_CLUSTER else []
    shares: list[float] = []
    for share in SHARES:
        is_recognized = recognizer(Random(0).sample(pages, int(share * len(pages))))
        shares.append(mean(is_recognized(page) for page in large))
    return shares


def big_sites() -> Iterator[tuple[str, list[Page]]]:
    """Yield mixtures of the SWDE sites of a vertical, and made-up sites."""
    for vertical in VERTICALS:
        yield f"SWDE {vertical}", [page for site in sites(vertical) for page in site.pages()]
    for vertical in MADE_UP_VERTICALS:
        yield f"made-up {vertical}", make_site(vertical, MADE_UP_SEED, MADE_UP_PAGES).pages


def show_coverage(console: Console) -> None:
    table = Table("site", "pages", "by", *(f"sample {share:.0%}" for share in SHARES))
    table.title = (
        f"Coverage (Figure 3): pages of clusters of {LARGE_CLUSTER} pages or more that are recognized"
    )
    for name, pages in track(list(big_sites()), "coverage", console=Console(stderr=True), transient=True):
        for by, recognizer in (("Vertex Algorithm 1", paper_recognizer), ("untemplate", our_recognizer)):
            shares = measure_coverage(pages, recognizer)
            table.add_row(name, f"{len(pages):,}", by, *(f"{share:.3f}" for share in shares))
    console.print(table)


# Clusters per site, and rules that match a page


@dataclass(frozen=True)
class ClusterCounts:
    """Counts for one site: its clusters, and on average how many of them match a page by URL, and by both."""

    clusters: int
    by_url: float
    by_both: float


def count_paper(pages: Sequence[Page]) -> ClusterCounts:
    """Count what matches as in the paper: URL patterns and masked signatures."""
    clusters = paper_clusters(pages)
    by_url, by_both = 0, 0
    for page in pages:
        vector = signature(page.html)
        matching = [found for found in clusters if url_matches(found.url_pattern, page.url)]
        by_url += len(matching)
        by_both += sum(found.signature.covers(vector) for found in matching)
    return ClusterCounts(len(clusters), by_url / len(pages), by_both / len(pages))


def count_ours(pages: Sequence[Page]) -> ClusterCounts:
    """Count what matches as in extraction: URL patterns and cores; a template with few pages has signatures only."""
    clusters = cluster(pages)
    by_url, by_both = 0, 0
    for page in pages:
        runs, vector = PageRuns(page.html), signature(page.html)
        matching = [found for found in clusters if url_matches(found.url_pattern, page.url)]
        by_url += len(matching)
        by_both += sum(has_markup(found, runs, vector) for found in matching)
    return ClusterCounts(len(clusters), by_url / len(pages), by_both / len(pages))


def has_markup(found: Cluster, runs: PageRuns, vector: Signature) -> bool:
    """Return True if a page has the core of a cluster or, if that has none, a signature that it covers."""
    if found.core is not None:
        return found.core.matches(runs)
    return any(masked.covers(vector) for masked in found.signatures)


def site_families() -> Iterator[tuple[str, list[list[Page]]]]:
    """Yield the pages of all sites, by data set."""
    yield "SWDE", [site.pages() for vertical in VERTICALS for site in sites(vertical)]
    for family in SETS:
        yield family, [site.pages for site in whole_sites(family)]
    yield (
        "made-up",
        [make_site(vertical, MADE_UP_SEED, MADE_UP_PAGES).pages for vertical in MADE_UP_VERTICALS],
    )


def show_clusters(console: Console) -> None:
    table = Table(
        "sites", "number", "by", "clusters", "min", "max", "rules matching by URL", "by URL and markup"
    )
    table.title = "Clusters per site, and rules that match a page, means over sites"
    for name, family in site_families():
        for by, count in (("Vertex Algorithm 1", count_paper), ("untemplate", count_ours)):
            counts = [
                count(pages) for pages in track(family, name, console=Console(stderr=True), transient=True)
            ]
            clusters = [one.clusters for one in counts]
            means = (mean(one.by_url for one in counts), mean(one.by_both for one in counts))
            cells = [
                f"{mean(clusters):.1f}",
                str(min(clusters)),
                str(max(clusters)),
                *(f"{one:.2f}" for one in means),
            ]
            table.add_row(name, str(len(family)), by, *cells)
    console.print(table)


# Pages annotated per cluster


class Editor:
    """Annotates pages of the biggest cluster of a site, with its truth, and has rules learned after each page."""

    def __init__(self, site: Site) -> None:
        self.truth, self.schema = site.truth(), schema_of(site.vertical)
        self.cluster = cluster(site.pages())[0]
        self.sample = sample(self.cluster, SAMPLE_SIZE)
        self.attributes = {label.attribute for label in labels_of(self.truth, self.truth) if label.value}

    def learn(self, annotated: Sequence[Page]) -> Rules:
        labels, _ = group_labels(labels_of((page.id for page in annotated), self.truth), self.schema)
        return Rules(self.schema, (learn_cluster(self.cluster, labels, self.schema).wrapper,))

    def count_until_valid(self) -> int | None:
        """Return how many pages are annotated until rules are valid on other pages; None if they never are.

        The other pages are the rest of the sample and, if these are fewer than 20, random pages of the cluster.
        """
        others = [page for page in self.cluster.pages if page not in self.sample]
        Random(0).shuffle(others)
        for count in range(1, min(MAX_ANNOTATED, len(self.sample)) + 1):
            rules = self.learn(self.sample[:count])
            tested = [*self.sample[count:], *others][:SAMPLE_SIZE]
            scores = score(partial(extract_texts, rules), tested, self.truth)
            if all(one.precision == 1 and one.recall > MIN_RECALL for one in scores.values()):
                return count
        return None

    def count_until_complete(self) -> int:
        """Return how many pages are annotated until rules find every attribute on all others of the sample.

        The truth of these pages is not used. The next page is the first on which something is not found.
        """
        annotated = self.sample[:1]
        while True:
            rules = self.learn(annotated)
            rest = (page for page in self.sample if page not in annotated)
            incomplete = next((page for page in rest if self._lacks_some(rules, page)), None)
            if incomplete is None:
                return len(annotated)
            annotated.append(incomplete)

    def _lacks_some(self, rules: Rules, page: Page) -> bool:
        texts = extract_texts(rules, page)
        return any(texts[name] is None for name in self.attributes)


def extract_texts(rules: Rules, page: Page) -> dict[str, str | None]:
    """Return the text that rules find for each attribute."""
    record = rules.extract_one(page)
    return {name: record[name] for name in rules.schema.attributes}


def show_annotated(console: Console, every: int) -> None:
    table = Table("vertical", "sites", "pages in the sample", "until valid", "never valid", "until complete")
    table.title = "Pages annotated per cluster, means over sites"
    everything: list[tuple[int, int | None, int]] = []
    for vertical in VERTICALS:
        counts: list[tuple[int, int | None, int]] = []
        for site in track(sites(vertical)[::every], vertical, console=Console(stderr=True), transient=True):
            editor = Editor(site)
            counts.append((len(editor.sample), editor.count_until_valid(), editor.count_until_complete()))
        everything += counts
        _add_annotated(table, vertical, counts)
    _add_annotated(table, "all", everything)
    console.print(table)


def _add_annotated(table: Table, name: str, counts: Sequence[tuple[int, int | None, int]]) -> None:
    """Add a row; sites whose rules never are valid count with the maximum."""
    samples, until_valid, until_complete = zip(*counts, strict=True)
    table.add_row(
        name,
        str(len(counts)),
        f"{mean(samples):.1f}",
        f"{mean(MAX_ANNOTATED if count is None else count for count in until_valid):.2f}",
        str(until_valid.count(None)),
        f"{mean(until_complete):.2f}",
    )


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.coverage", description=summary)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="only these")
    parser.add_argument("--every", type=int, default=1, help="of so many SWDE sites, annotate one")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        sites(VERTICALS[0])
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    if "coverage" in options.only:
        show_coverage(console)
    if "clusters" in options.only:
        show_clusters(console)
    if "annotated" in options.only:
        show_annotated(console, options.every)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
