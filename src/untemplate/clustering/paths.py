"""How alike pages are: the overlap of their sets of distinct tag paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from untemplate.errors import PageError
from untemplate.page import Page

__all__ = ["PathIndex", "link", "tag_paths"]

Floats = NDArray[np.float64]

# Bytes of a page that are looked at: a template shows its paths long before.
MAX_BYTES = 1 << 19


def tag_paths(page: Page) -> frozenset[str]:
    """The distinct tag paths of a page's elements, without positions; none if the page cannot be read.

    What was parsed is forgotten again, so that trees do not pile up in memory.
    """
    if len(page.html) > MAX_BYTES:
        page = Page(page.url, page.html[:MAX_BYTES], page.id, charset=page.charset)
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
    """Some pages' sets of tag paths, ready to be compared with others."""

    def __init__(self, sets: Sequence[frozenset[str]]) -> None:
        self._sizes = np.array([len(paths) for paths in sets], np.float64)
        self._rows = {path: row for row, path in enumerate(frozenset().union(*sets))}
        self._present = np.zeros((len(self._rows), len(sets)), np.bool_)
        for column, paths in enumerate(sets):
            self._present[[self._rows[path] for path in paths], column] = True

    def similarities(self, paths: frozenset[str]) -> Floats:
        """The Jaccard similarity of a set with each indexed one; sets without any path are unlike all."""
        rows = [self._rows[path] for path in paths if path in self._rows]
        common: Floats = self._present[rows].sum(axis=0, dtype=np.float64)
        return common / np.maximum(self._sizes + len(paths) - common, 1)


def link(similarity: Floats, sizes: Iterable[int], threshold: float) -> list[list[int]]:
    """Average linkage: groups of units, joined while the most alike two are at least this alike."""
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
