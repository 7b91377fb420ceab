"""The few pages of a template worth labelling: Vertex Algorithm 2.

An XPath (a tag path without positions) weighs as many pages as have it, times how much its content differs
between pages: what stands in menus and footers repeats, what an editor is after does not. Pages are picked
greedily, each for the weight of the XPaths that no page before it has.

Departure from the paper: ties, such as among pages that add only XPaths without weight, go to the page with
more XPaths not seen yet, then to the page that comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from untemplate.clustering import Cluster
from untemplate.errors import PageError
from untemplate.page import Page

__all__ = ["MAX_PAGES", "XPaths", "cover", "read_xpaths", "sample"]

MAX_PAGES = 400
"""Pages of a cluster that are looked at: as many as in the paper's experiments."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class XPaths:
    """Which of some pages have which XPaths, and how much each XPath tells."""

    #: the pages that could be read
    pages: list[Page]
    #: a row per page, a column per XPath
    present: NDArray[np.bool_]
    #: per XPath, close to 0 if its content repeats from page to page, to 1 if it differs
    informativeness: Floats

    @property
    def weights(self) -> Floats:
        """Frequency × informativeness of each XPath."""
        weights: Floats = self.present.sum(axis=0) * self.informativeness
        return weights


def sample(cluster: Cluster | Sequence[Page], k: int = 20) -> list[Page]:
    """At most `k` pages to label, best first; fewer when these already show every XPath of the cluster.

    Pages that cannot be read are never among them.
    """
    pages = cluster.pages if isinstance(cluster, Cluster) else cluster
    if len(pages) > MAX_PAGES:
        pages = [pages[number] for number in sorted(Random(0).sample(range(len(pages)), MAX_PAGES))]
    xpaths = read_xpaths(pages)
    return [xpaths.pages[row] for row in cover(xpaths.present, xpaths.weights, k)]


def read_xpaths(pages: Sequence[Page]) -> XPaths:
    """Read each page once, and forget what was parsed."""
    readable: list[Page] = []
    rows: list[list[int]] = []
    columns: dict[str, int] = {}
    contents: set[tuple[int, str]] = set()
    occurrences: Counter[int] = Counter()  # of each XPath, how many (page, content) pairs there are
    for page in pages:
        try:
            on_page = {(columns.setdefault(node.path, len(columns)), node.text) for node in page.nodes}
        except PageError:
            continue
        page.release()
        readable.append(page)
        contents |= on_page
        xpaths = [column for column, _ in on_page]
        occurrences.update(xpaths)
        rows.append(xpaths)
    present = np.zeros((len(readable), len(columns)), np.bool_)
    for row, xpaths in enumerate(rows):
        present[row, xpaths] = True
    distinct = Counter(column for column, _ in contents)
    repetition = [occurrences[column] / (len(readable) * distinct[column]) for column in range(len(columns))]
    return XPaths(readable, present, 1 - np.array(repetition, np.float64))


def cover(present: NDArray[np.bool_], weights: Floats, k: int) -> list[int]:
    """Greedy maximum coverage: rows in the order in which they add most weight, until nothing is left."""
    uncovered = np.ones(present.shape[1], np.bool_)
    chosen: list[int] = []
    while len(chosen) < k and uncovered.any():
        # Rounded, so that sums in another order make no difference.
        gains = np.round(present @ (weights * uncovered), 6)
        best = np.flatnonzero(gains == gains.max())
        news = (present[best] & uncovered).sum(axis=1)
        row = int(best[news.argmax()])
        chosen.append(row)
        uncovered &= ~present[row]
    return chosen
