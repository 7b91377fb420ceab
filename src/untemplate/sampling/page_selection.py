"""The few pages of a template worth labeling: Vertex Algorithm 2.

The weight of an XPath (a tag path without positions) is the number of pages that have it, times how much its content
differs between pages: menus and footers repeat, the values that a person wants to label do not. Pages are picked
greedily, each for the weight of the XPaths that no picked page has.

Departure from the paper: ties, such as among pages that add only XPaths without weight, go to the page with more new
XPaths, then to the page that comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from untemplate.clustering import Cluster, Clustering
from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.page.arrays import Bools, Doubles
from untemplate.sources import as_pages

__all__ = ["MAX_PAGES", "XPathTable", "greedy_cover", "read_xpath_table", "sample"]

MAX_PAGES = 400
"""Pages of a cluster that are read: as many as in the paper's experiments."""


@dataclass(frozen=True)
class XPathTable:
    """Which pages have which XPaths, and how informative each XPath is."""

    #: the pages that could be read
    pages: list[Page]
    #: a row per page, a column per XPath
    present: Bools
    #: per XPath, close to 0 if its content repeats from page to page, close to 1 if it differs
    informativeness: Doubles

    @property
    def weights(self) -> Doubles:
        """Frequency × informativeness of each XPath."""
        weights: Doubles = self.present.sum(axis=0) * self.informativeness
        return weights


def sample(cluster: Cluster | Iterable[Page] | str | Path, k: int = 20) -> list[Page]:
    """Return the pages that are most worth labeling, best first.

    Label these and the rules see nearly every variant of the template: optional attributes, other orders, gaps.

    Args:
        cluster: a cluster, or pages of one template, or the path of a source of such pages
        k: the largest number of pages; fewer are returned if they already show every XPath of the cluster

    Returns:
        Pages of the cluster. Pages that cannot be read are never among them.

    Example:
        >>> from untemplate import Page, sample
        >>> plain = [Page(id=name, html=f"<h1>{name}</h1>") for name in ("a", "b", "c")]
        >>> rich = Page(id="d", html="<h1>d</h1><p>Open <b>daily</b></p>")
        >>> sample([*plain, rich])
        [Page('d', 34 bytes)]
    """
    if isinstance(cluster, Clustering):
        raise TypeError("expected one cluster, not all of a site: call sample for each of them")
    pages = cluster.pages if isinstance(cluster, Cluster) else list(as_pages(cluster))
    if len(pages) > MAX_PAGES:
        pages = [pages[number] for number in sorted(Random(0).sample(range(len(pages)), MAX_PAGES))]
    table = read_xpath_table(pages)
    return [table.pages[row] for row in greedy_cover(table.present, table.weights, k)]


def read_xpath_table(pages: Sequence[Page]) -> XPathTable:
    """Read each page once, and return which XPaths the pages have. Trees that were not in memory are released."""
    readable: list[Page] = []
    columns: dict[str, int] = {}
    contents: list[set[tuple[int, str]]] = []  # per page, the column and the text of each node
    for page in pages:
        with page.temporarily_parsed(), suppress(PageError):
            contents.append(
                {(columns.setdefault(path, len(columns)), text) for path, text in page.path_texts()}
            )
            readable.append(page)
    present = np.zeros((len(readable), len(columns)), np.bool_)
    for row, content in enumerate(contents):
        present[row, [column for column, _ in content]] = True
    return XPathTable(readable, present, _informativeness(contents, len(columns)))


def _informativeness(contents: list[set[tuple[int, str]]], columns: int) -> Doubles:
    """Return 1 minus the share of pages on which the average text of each XPath appears."""
    occurrences: Counter[int] = Counter()  # per XPath, how many (page, text) pairs there are
    for content in contents:
        occurrences.update(column for column, _ in content)
    distinct = Counter(column for column, _ in set[tuple[int, str]]().union(*contents))
    repetition = [occurrences[column] / (len(contents) * distinct[column]) for column in range(columns)]
    return 1 - np.array(repetition, np.float64)


def greedy_cover(present: Bools, weights: Doubles, k: int) -> list[int]:
    """Return at most `k` rows in the order in which they add most weight, until all columns are covered."""
    uncovered = np.ones(present.shape[1], np.bool_)
    chosen: list[int] = []
    while len(chosen) < k and uncovered.any():
        # Rounded, so that sums in another order make no difference.
        gains = np.round(present @ (weights * uncovered), 6)
        best = np.flatnonzero(gains == gains.max())
        new_columns = (present[best] & uncovered).sum(axis=1)
        row = int(best[new_columns.argmax()])
        chosen.append(row)
        uncovered &= ~present[row]
    return chosen
