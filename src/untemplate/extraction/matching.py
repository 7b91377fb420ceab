"""Which wrapper a page belongs to (Vertex IV-A), found without parsing the page.

1. A wrapper must have been learned for the page's host.
2. The page's markup must have the core of the wrapper's template (`page/traits.py`). Wrappers whose URL pattern
   matches come first, then all others of the host.
3. If no core matches, some wrappers are still possible, and the success of their rules decides. These are wrappers
   without a core, as of sites with few pages, and wrappers whose URL pattern matches and whose core the page has at
   least in part: the site's frame may have changed. If the URL pattern says no more than the host, the rules must
   find everything that nearly all pages of the template have. A wrapper that was learned from few pages is tried on
   a page with the URL of one of these, even if the markup is new.

The paper requires URL and signature to match. We depart from it because signatures change with every advertisement,
and because those of different templates are alike if they share a big frame.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from untemplate.page import Page, Signature, has_literal_path, host_of, signature, url_matches
from untemplate.page.template_cores import PageRuns
from untemplate.rules.rule import Wrapper

__all__ = ["PageMatch", "Success", "WrapperIndex"]

# How many wrappers are compared with a page, those with the most similar signatures. Sites of SWDE have at most two
# with rules.
MAX_COMPARED_WRAPPERS = 16

MAX_KNOWN_HOSTS = 1024
"""Hosts whose wrappers are remembered: pages of a host come in a row, or a crawl has few hosts."""

MIN_PARTIAL_SHARE = 0.5
"""The share of a core that a page must have so that the success of the rules may decide."""


Success = Literal["mandatory", "doubtful", "complete"]
"""When rules succeed on a page: if all mandatory attributes have values; if these may be doubtful, as on a page that
is known; or if all attributes that nearly all pages have are found, as on a page of which only the host is known."""


class PageMatch(NamedTuple):
    """The wrapper of a page.

    Attributes:
        wrapper: the wrapper that the page belongs to; None if it belongs to none.
        possible: wrappers that come first if their rules succeed on the page. If clusters have few pages, it is
            uncertain which of them a page belongs to.
        success: what their rules must find on the page.
    """

    wrapper: Wrapper | None
    possible: Sequence[Wrapper] = ()
    success: Success = "mandatory"

    @property
    def has_candidates(self) -> bool:
        """True if the rules of any wrapper may be applied to the page."""
        return self.wrapper is not None or bool(self.possible)


class _Markup:
    """What the tags of a page say, computed when it is needed."""

    __slots__ = ("_page", "_runs", "_signature")

    def __init__(self, page: Page) -> None:
        self._page = page
        self._runs: PageRuns | None = None
        self._signature: Signature | None = None

    @property
    def signature(self) -> Signature:
        if self._signature is None:
            self._signature = signature(self._page.markup)
        return self._signature

    @property
    def runs(self) -> PageRuns:
        if self._runs is None:
            self._runs = PageRuns(self._page.markup)
        return self._runs


class WrapperIndex:
    """Finds the wrapper of a page without trying all, so that a thousand templates cost no more than one.

    Wrappers are numbered by importance, the most important first; `ranked` lists them in this order. URL patterns are
    looked up by the texts before their first and after their last `*`.
    """

    def __init__(self, wrappers: Sequence[Wrapper]) -> None:
        self.ranked = sorted(wrappers, key=lambda wrapper: -wrapper.importance)
        self._by_pattern: dict[str, list[int]] = defaultdict(list)
        for index, wrapper in enumerate(self.ranked):
            self._by_pattern[wrapper.url_pattern].append(index)
        self._by_ends: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._by_host: dict[str, list[int]] = defaultdict(list)
        for pattern, indexes in self._by_pattern.items():
            self._by_ends[_literal_ends(pattern)].append(pattern)
            self._by_host[host_of(pattern)] += indexes
        self._lengths = {(len(start), len(end)) for start, end in self._by_ends}
        self._host_patterns = [host for host in self._by_host if "*" in host]
        self._known_hosts: dict[str, list[int]] = {}
        self._masks = [tuple(map(_Mask.of, wrapper.signatures)) for wrapper in self.ranked]

    def match(self, page: Page) -> PageMatch:
        """Return the wrapper that the page belongs to, and the wrappers to try before."""
        of_host = self.find_by_host(page.url)
        if not of_host:
            return PageMatch(None)
        markup = _Markup(page)
        by_url = self.find_by_url(page.url, of_host)
        index = self._find_by_core(markup, by_url)
        if index is None:
            index = self._find_by_core(markup, sorted(set(of_host).difference(by_url)))
        if index is not None:
            return PageMatch(self.ranked[index])
        has_rules = any(self.ranked[index].rules for index in by_url)
        uncertain = self._match_uncertain(markup, by_url, by_url if has_rules else of_host)
        known = self._with_rules(index for index in of_host if self._knows_url(index, page.url))
        if known and uncertain.wrapper is None:
            return PageMatch(None, known, "doubtful")
        return uncertain

    def _knows_url(self, index: int, url: str) -> bool:
        """Return True if a wrapper of a few pages was learned from a page with this URL."""
        wrapper = self.ranked[index]
        if wrapper.core is not None or not url:
            return False
        return any(bellwether.url == url for bellwether in wrapper.bellwethers)

    def _match_uncertain(
        self, markup: _Markup, by_url: Sequence[int], candidates: Sequence[int]
    ) -> PageMatch:
        """Return the wrappers that may be tried on a page that has no core of any template."""
        coreless = [index for index in candidates if self.ranked[index].core is None]
        covering = self._find_covering(coreless, markup)
        if covering and covering.rules:
            return PageMatch(covering)
        partial = [index for index in by_url if self._matches_partially(index, markup)]
        tried = [*coreless, *filter(self._has_telling_url, partial)]
        if tried:
            return PageMatch(covering, self._with_rules(self._select_similar(tried, markup)))
        return PageMatch(None, self._with_rules(self._select_similar(partial, markup)), "complete")

    def _has_telling_url(self, index: int) -> bool:
        """Return True if the URL pattern of a wrapper says more than the host."""
        return has_literal_path(self.ranked[index].url_pattern)

    def _with_rules(self, indexes: Iterable[int]) -> list[Wrapper]:
        return [self.ranked[index] for index in indexes if self.ranked[index].rules]

    def _find_covering(self, among: Sequence[int], markup: _Markup) -> Wrapper | None:
        """Return the first of some wrappers with a signature that covers the page's."""
        index = self.find_by_signature(markup.signature, among) if among else None
        return None if index is None else self.ranked[index]

    def find_by_host(self, url: str) -> Sequence[int]:
        """Return the wrappers that were learned for the URL's host, or for any; all if the URL has no host."""
        host = host_of(url)
        if not host:
            return range(len(self.ranked))
        if host not in self._known_hosts:
            if len(self._known_hosts) >= MAX_KNOWN_HOSTS:
                self._known_hosts.clear()
            self._known_hosts[host] = self._learned_for(host)
        return self._known_hosts[host]

    def _learned_for(self, host: str) -> list[int]:
        """Return the wrappers that were learned for a host, or for any."""
        of_host = [*self._by_host.get(host, ()), *self._by_host.get("", ())]
        for pattern in self._host_patterns:
            if url_matches(pattern, host):
                of_host += self._by_host[pattern]
        return sorted(of_host)

    def find_by_url(self, url: str, among: Sequence[int]) -> list[int]:
        """Return those of some wrappers, which are in ascending order, whose URL pattern matches."""
        if len(among) <= MAX_COMPARED_WRAPPERS:
            return [index for index in among if self.ranked[index].matches_url(url)]
        matching: list[int] = []
        for pattern in self._patterns_with_ends_of(url):
            if url_matches(pattern, url):
                matching += self._by_pattern[pattern]
        return sorted(set(matching).intersection(among))

    def _patterns_with_ends_of(self, url: str) -> Iterator[str]:
        """Yield the patterns that begin and end like a URL."""
        for start, end in self._lengths:
            if start + end <= len(url):
                yield from self._by_ends.get((url[:start], url[len(url) - end :]), ())

    def _find_by_core(self, markup: _Markup, among: Sequence[int]) -> int | None:
        """Return that of some wrappers whose core the page has; of several, the one with most own runs on the page.

        A template with few runs of its own is often a part of another one.
        """
        with_core = [index for index in among if self.ranked[index].core is not None]
        best, most = None, (-1, 0.0)
        for index in self._select_similar(with_core, markup):
            core = self.ranked[index].core
            evidence = core.evidence(markup.runs) if core else None
            if evidence and evidence > most:
                best, most = index, evidence
        return best

    def _matches_partially(self, index: int, markup: _Markup) -> bool:
        """Return True if a page has a part of a core."""
        core = self.ranked[index].core
        if core is None or core.own_share(markup.runs) < core.min_own_share:
            return False
        return core.share(markup.runs) >= MIN_PARTIAL_SHARE

    def _select_similar(self, among: Sequence[int], markup: _Markup) -> Sequence[int]:
        """Return some wrappers, if there are too many those with the signatures most similar to the page's."""
        if len(among) <= MAX_COMPARED_WRAPPERS:
            return among
        return self.find_most_similar(markup.signature, among, MAX_COMPARED_WRAPPERS)

    def find_by_signature(self, page_signature: Signature, among: Sequence[int]) -> int | None:
        """Return the first of these wrappers with a signature that covers this one; None if there is none."""
        word = page_signature.word
        for index in sorted(among):
            if any(mask.covers(word) for mask in self._masks[index]):
                return index
        return None

    def find_most_similar(self, page_signature: Signature, among: Sequence[int], count: int) -> list[int]:
        """Return up to `count` of these wrappers, those with the signatures most similar to this one."""
        word = page_signature.word

        def difference(index: int) -> int:
            return -max((mask.agreement(word) for mask in self._masks[index]), default=0)

        return sorted(sorted(among, key=difference)[:count])


class _Mask(NamedTuple):
    """A signature as numbers of 64 bits: its bytes, and all bits of those that are wild cards.

    Numbers are compared faster than tuples, and a thousand of them without arrays.
    """

    word: int
    wild: int

    @classmethod
    def of(cls, signature: Signature) -> _Mask:
        wild = bytes(255 if value is None else 0 for value in signature.values)
        return cls(signature.word, int.from_bytes(wild, "big"))

    def covers(self, word: int) -> bool:
        """Return True if a page's signature agrees wherever this one has no wild card."""
        return not (self.word ^ word) & ~self.wild

    def agreement(self, word: int) -> int:
        """Return at how many positions a page's signature has the same byte."""
        return ((self.word ^ word) | self.wild).to_bytes(8, "big").count(0)


def _literal_ends(pattern: str) -> tuple[str, str]:
    """Return the texts before the first and after the last `*` of a URL pattern."""
    start, wildcard, rest = pattern.partition("*")
    return start, rest.rpartition("*")[2] if wildcard else ""
