"""Which wrappers a page may belong to, found without trying all: with a thousand templates a page costs no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from untemplate.page import Signature, url_matches
from untemplate.page.signatures import LENGTH
from untemplate.rules.rule import Wrapper

__all__ = ["Matcher"]


class Matcher:
    """Finds wrappers by what their URL patterns begin and end with, and by signatures; the most important first."""

    def __init__(self, wrappers: Sequence[Wrapper]) -> None:
        self.ranked = sorted(wrappers, key=lambda wrapper: -wrapper.importance)
        self._by_pattern: dict[str, list[int]] = defaultdict(list)
        for index, wrapper in enumerate(self.ranked):
            self._by_pattern[wrapper.url_pattern].append(index)
        self._by_ends: dict[tuple[str, str], list[str]] = defaultdict(list)
        for pattern in self._by_pattern:
            start, wild, rest = pattern.partition("*")
            self._by_ends[start, rest.rpartition("*")[2] if wild else ""].append(pattern)
        self._lengths = {(len(start), len(end)) for start, end in self._by_ends}
        signatures = [(index, own) for index, one in enumerate(self.ranked) for own in one.signatures]
        self._owners = np.array([index for index, _ in signatures], np.intp)
        values = [[-1 if value is None else value for value in own.values] for _, own in signatures]
        self._values = np.array(values, np.int16).reshape(-1, LENGTH)  # −1: a wild card

    def by_url(self, url: str) -> Sequence[int]:
        """The wrappers whose URL pattern matches; all, if there are none."""
        found = [
            index
            for start, end in self._lengths
            if start + end <= len(url)
            for pattern in self._by_ends.get((url[:start], url[len(url) - end :]), ())
            if url_matches(pattern, url)
            for index in self._by_pattern[pattern]
        ]
        return sorted(found) or range(len(self.ranked))

    def by_signature(self, own: Signature, among: Sequence[int]) -> int | None:
        """The first of these wrappers that has a signature which covers this one."""
        covers = (self._values < 0) | self._agrees(own)
        covering = self._owners[covers.all(axis=1)]
        return next((index for index in covering.tolist() if index in among), None)

    def most_alike(self, own: Signature, among: Sequence[int], count: int) -> list[int]:
        """So many of these wrappers, with the signatures that agree most with this one."""
        agreement = np.zeros(len(self.ranked), np.intp)
        np.maximum.at(agreement, self._owners, self._agrees(own).sum(axis=1))
        return sorted(sorted(among, key=lambda index: -agreement[index])[:count])

    def _agrees(self, own: Signature) -> NDArray[np.bool_]:
        """At which positions each signature has the same byte."""
        return np.equal(self._values, np.array(own.values, np.int16))
