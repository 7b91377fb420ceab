"""The core of a template: the tag runs that nearly all of its pages have, and what a page has of them.

`page/traits.py` says what tag runs are. Extraction needs no more of them than this file, and no arrays.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property

from untemplate.native import core
from untemplate.page.signatures import Markup, markup_with_tags

__all__ = ["RUN_BITS", "RUN_LENGTH", "Core", "PageRuns"]

RUN_LENGTH = 4
"""Tags of a tag run. In a trial, three merged templates of blogs, and five split SWDE sites more often."""

RUN_BITS = 18
"""Bits that are kept of a tag run. A page of a thousand distinct runs has any given one by chance in 0.4 %."""


class PageRuns:
    """The tag runs of a page, to count those that it shares with the core of a template.

    Args:
        markup: the bytes of the page, or what `Page.markup` returns.
    """

    def __init__(self, markup: Markup) -> None:
        self._native = core.RunSet(markup_with_tags(markup), RUN_LENGTH, RUN_BITS) if core else None
        self._runs = _read_runs(markup) if isinstance(markup, bytes) and not core else frozenset()

    def count(self, runs: bytes) -> int:
        """Return how many of these runs the page has; they are an array of 32-bit numbers."""
        if self._native is not None:
            count: int = self._native.count(runs)
            return count
        return sum(run in self._runs for run in memoryview(runs).cast("I"))


def _read_runs(html: bytes) -> frozenset[int]:
    """Return the tag runs of a page, read without the native core."""
    from untemplate.page.tag_arrays import read_tags
    from untemplate.page.traits import tag_runs

    return frozenset(tag_runs(read_tags(html)).tolist())


@dataclass(frozen=True)
class Core:
    """The tag runs that nearly all pages of a template have, and how much of them a page must have.

    Attributes:
        own: runs that other templates of the site lack.
        frame: the others, most of which belong to the site's frame.
        min_own_share: the share of its own runs that a page of the template has at least.
        min_share: the share of the whole core that it has at least.

    Example:
        >>> from untemplate.page.tag_arrays import read_tags
        >>> from untemplate.page.traits import tag_runs
        >>> post = b"<html><body><h1>Tea</h1><p>Hot</p></body></html>"
        >>> tags = b"<html><body><ul><li>Tea</li></ul></body></html>"
        >>> core = Core(tuple(tag_runs(read_tags(post)).tolist()), (), 0.65, 0.85)
        >>> core.matches(PageRuns(post)), core.matches(PageRuns(tags))
        (True, False)
    """

    own: tuple[int, ...]
    frame: tuple[int, ...]
    min_own_share: float
    min_share: float

    @cached_property
    def _own_runs(self) -> bytes:
        return array("I", self.own).tobytes()

    @cached_property
    def _frame_runs(self) -> bytes:
        return array("I", self.frame).tobytes()

    def own_count(self, page: PageRuns) -> int:
        """Return how many of the template's own runs a page has."""
        return page.count(self._own_runs)

    def own_share(self, page: PageRuns) -> float:
        """Return the share of the template's own runs that a page has; 1 if the template has none."""
        return self.own_count(page) / len(self.own) if self.own else 1.0

    def share(self, page: PageRuns) -> float:
        """Return the share of the whole core that a page has; 1 if the core is empty."""
        count = self.own_count(page) + page.count(self._frame_runs)
        return count / (len(self.own) + len(self.frame)) if self.own or self.frame else 1.0

    def evidence(self, page: PageRuns) -> tuple[int, float] | None:
        """Return how many own runs a page has and its share of the whole core; None if it does not belong."""
        own, size = self.own_count(page), len(self.own)
        if size and own / size < self.min_own_share:
            return None
        size += len(self.frame)
        share = (own + page.count(self._frame_runs)) / size if size else 1.0
        return (own, share) if share >= self.min_share else None

    def matches(self, page: PageRuns) -> bool:
        """Return True if a page has enough of the core to belong to the template."""
        return self.evidence(page) is not None
