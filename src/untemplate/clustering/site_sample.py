"""The pages of a site that clustering keeps in memory: all of a small site, a random sample of a big one.

Vertex III-A finds templates in a sample of 20 %, at most 20,000 pages. We keep every page up to a limit of memory, so
that small sites are complete and big ones need no more memory than the limit. Of pages that are not kept, the
signature and how often it came stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

from untemplate.page import NO_TAGS, Page, Signature
from untemplate.page.tag_arrays import read_tags, tags_signature
from untemplate.page.traits import Runs, tag_runs

__all__ = ["MAX_SAMPLE_BYTES", "MAX_SAMPLE_PAGES", "KeptPage", "SiteSample", "read_sample", "sample_pages"]

MAX_SAMPLE_PAGES = 20_000
"""Pages of a sample, as in the paper."""

MAX_SAMPLE_BYTES = 600 << 20
"""Bytes of HTML in a sample. With all else, clustering then needs less than 1 GB."""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of the sample, with what its tags say."""

    page: Page
    signature: Signature
    runs: Runs


@dataclass
class SiteSample:
    """The kept pages of a site in their order, and what is known about the others.

    Attributes:
        pages: the kept pages that have tags.
        without_tags: pages without any tags: they fit no template. They are small, so all are kept.
        passed: how often each signature occurred among the pages that are not kept.
    """

    pages: list[KeptPage] = field(default_factory=list)
    without_tags: list[Page] = field(default_factory=list)
    passed: Counter[Signature] = field(default_factory=Counter)

    @property
    def page_count(self) -> int:
        """The number of all pages with tags, kept or not."""
        return len(self.pages) + self.passed.total()


def read_sample(pages: Iterable[Page], always_kept: Container[str] = ()) -> SiteSample:
    """Read a stream of pages once, and keep a random sample that fits into memory.

    Args:
        pages: the pages of a site.
        always_kept: ids or URLs of pages that are kept whatever happens, such as labeled ones.
    """
    sample = SiteSample()
    random = Random(0)
    # kept pages by number, and a heap whose first entry is the next page to drop
    kept: dict[int, KeptPage] = {}
    droppable: list[tuple[float, int]] = []
    size = 0
    for number, page in enumerate(pages):
        entry = _read_page(page)
        if entry.signature == NO_TAGS:
            sample.without_tags.append(page)
            continue
        kept[number] = entry
        size += len(page.html)
        if not page.is_named_in(always_kept):
            heappush(droppable, (random.random(), number))
        while droppable and (len(kept) > MAX_SAMPLE_PAGES or size > MAX_SAMPLE_BYTES):
            dropped = kept.pop(heappop(droppable)[1])
            sample.passed[dropped.signature] += 1
            size -= len(dropped.page.html)
    sample.pages = list(kept.values())
    return sample


def sample_pages(pages: Iterable[Page]) -> list[Page]:
    """Return the pages of a stream that clustering would keep: all of a small site."""
    sample = read_sample(pages)
    return [*(kept.page for kept in sample.pages), *sample.without_tags]


def _read_page(page: Page) -> KeptPage:
    tags = read_tags(page.html)
    return KeptPage(page, tags_signature(tags), tag_runs(tags))
