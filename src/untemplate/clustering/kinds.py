"""What kind of page a cluster seems to be made of: details of one record, a list of records, or something else.

People name clusters, programs only number them. The kind is a hint for people, with its reason; nothing else depends
on it. It is guessed from a few pages of each cluster:

- a list links to pages of another cluster, of one URL shape, and these links are its headings or much of its text.
  The frame, what most pages of the site show, does not count, nor do links to pages of the same kind, such as
  related products;
- what the page itself declares: `og:type`, and the types of its embedded data;
- a detail page has a text of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median
from typing import NamedTuple
from urllib.parse import urljoin

import numpy as np
from lxml import etree

from untemplate.clustering.clusters import Cluster
from untemplate.clustering.templates import url_shapes
from untemplate.errors import PageError
from untemplate.page import HIDDEN_TAGS, Page, has_literal_path, squeeze, url_matches

__all__ = ["Kind", "guess_kinds"]

# Pages of a cluster that are looked at.
MAX_PAGES = 6
# Texts and links on this share of all pages that are looked at belong to the frame.
FRAME_SHARE = 0.5
# Links to other pages of one shape that make a list: as headings, in any way, or if they are much of the text.
MIN_HEADING_LINKS = 2
MIN_LINKS = 8
MIN_LINKED_TEXT = 0.25
# The number of links varies from list to list, so the richer quarter of a cluster's pages counts.
RICH_QUANTILE = 0.75
# Characters of its own that a detail page shows at least.
MIN_DETAIL_TEXT = 150

# Types of schema.org and Open Graph that say what the page is about, in lower case. Every kind of page may be called
# an article, so that says less than links do.
_DETAIL_TYPES = frozenset(
    {
        *("book", "course", "event", "hotel", "jobposting", "localbusiness", "movie", "musicalbum", "person"),
        *("place", "product", "profile", "recipe", "restaurant", "softwareapplication", "song", "vehicle"),
        "videoobject",
    }
)
_ARTICLE_TYPES = frozenset({"article", "blogposting", "newsarticle"})
_LIST_TYPES = frozenset({"collectionpage", "itemlist", "offercatalog", "searchresultspage"})

_TYPES = re.compile(rb"""["']@type["']\s*:\s*\[?\s*["'](\w+)["']|itemtype=["']https?://schema\.org/(\w+)""")
_OG_TYPE = re.compile(rb"""property=["']og:type["']\s+content=["'](?:\w+[:.])?(\w+)""")
# What Open Graph calls pages that are not about one thing.
_GENERAL_TYPES = frozenset({"website", "blog"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True)
class Kind:
    """What kind of page a cluster seems to be made of, and why, in words."""

    name: str
    reason: str


@dataclass(frozen=True)
class _Link:
    """A link: the path it leads to, its text, and whether it is in a heading or has one."""

    path: str
    text: str
    is_heading: bool


@dataclass(frozen=True)
class _Look:
    """What was read of one page: its texts, its links, and the types that it declares; `og_type` may be empty."""

    texts: list[str]
    links: list[_Link]
    types: Counter[str]
    og_type: str

    def without(self, texts: set[str], paths: set[str]) -> _Look:
        """Return what was read without these texts and links."""
        kept_texts = [text for text in self.texts if text not in texts]
        kept_links = [link for link in self.links if link.path not in paths]
        return replace(self, texts=kept_texts, links=kept_links)

    @property
    def text_length(self) -> int:
        return sum(map(len, self.texts))


def guess_kinds(clusters: Sequence[Cluster]) -> list[Kind]:
    """Return what each cluster of a site seems to be.

    Example:
        >>> from untemplate import Page, cluster
        >>> body = "<h2><a href='/tea/{0}'>Tea {0}</a></h2><p>Good.</p>"
        >>> rows = ["".join(body.format(page * 9 + row) for row in range(9)) for page in range(5)]
        >>> clusters = cluster(Page(f"http://a.com/page/{page}", html) for page, html in enumerate(rows))
        >>> guess_kinds(clusters)[0].name
        'list'
    """
    looks = [_read_looks(cluster) for cluster in clusters]
    all_looks = list(chain.from_iterable(looks))
    frame_texts = _in_frame([look.texts for look in all_looks])
    frame_links = _in_frame([[link.path for link in look.links] for look in all_looks])
    kinds: list[Kind] = []
    for cluster, cluster_looks in zip(clusters, looks, strict=True):
        cluster_links = {_url_path(page.url) for page in cluster.pages}
        kept = [look.without(frame_texts, frame_links | cluster_links) for look in cluster_looks]
        kinds.append(_guess_kind(kept, cluster))
    return kinds


def _read_looks(cluster: Cluster) -> list[_Look]:
    """Read a few pages of a cluster; those that cannot be read are left out."""
    looks: list[_Look] = []
    for page in cluster.pages[:: max(1, len(cluster.pages) // MAX_PAGES)][:MAX_PAGES]:
        try:
            looks.append(_read_look(page))
        except PageError:
            continue
        page.release()
    return looks


def _read_look(page: Page) -> _Look:
    texts: list[str] = []
    links: list[_Link] = []
    for element in page.tree.iter(etree.Element):
        if element.tag not in HIDDEN_TAGS:
            texts += _own_texts(element)
        if element.tag == "a" and element.get("href"):
            links.append(_read_link(element, page.url))
    types = Counter(_in_lower_case(first or second) for first, second in _TYPES.findall(page.html))
    og_type = _OG_TYPE.search(page.html)
    return _Look(texts, links, types, _in_lower_case(og_type[1]) if og_type else "")


def _in_lower_case(name: bytes) -> str:
    return name.decode("ascii", "replace").lower()


def _own_texts(element: etree._Element) -> list[str]:
    """Return the texts right inside an element."""
    texts = [element.text, *(child.tail for child in element)]
    return [text for text in map(squeeze, filter(None, texts)) if text]


def _read_link(element: etree._Element, page_url: str) -> _Link:
    around_and_inside = chain(element.iterancestors(), element.iter(etree.Element))
    is_heading = any(relative.tag in _HEADINGS for relative in around_and_inside)
    try:
        url = urljoin(page_url, element.get("href"))
    except ValueError:
        url = ""
    return _Link(_url_path(url), squeeze("".join(element.itertext())), is_heading)


def _url_path(url: str) -> str:
    """Return a URL or URL pattern without host, fragment and `index.html`, in which copies of a site differ."""
    _, _, address = url.partition("//")
    return "/" + address.partition("/")[2].partition("#")[0].removesuffix("index.html")


def _in_frame(pages: Sequence[Iterable[str]]) -> set[str]:
    """Return the texts or links that most pages have; none if there are too few pages to say."""
    page_counts = Counter(chain.from_iterable(map(set, pages)))
    limit = max(2, FRAME_SHARE * len(pages))
    return {item for item, count in page_counts.items() if count > limit}


def _guess_kind(looks: Sequence[_Look], cluster: Cluster) -> Kind:
    if not looks:
        return Kind("other", "no page can be read")
    declared = _declared_types(looks)
    links = _summarize_links(looks, cluster.url_pattern)
    kind_of_types, kind_of_links = _kind_of_types(declared), _kind_of_links(links)
    if kind_of_links and (not kind_of_types or declared & _ARTICLE_TYPES):
        return kind_of_links
    return kind_of_types or _kind_of_text(looks, links)


def _kind_of_links(links: _LinkSummary) -> Kind | None:
    """Return "list" if enough links lead to other pages of one kind."""
    if links.headings >= MIN_HEADING_LINKS:
        return Kind("list", f"up to {links.headings:.0f} headings link to other pages of one kind")
    if links.pages >= MIN_LINKS:
        return Kind("list", f"up to {links.pages:.0f} links lead to other pages of one kind")
    return None


def _kind_of_text(looks: Sequence[_Look], links: _LinkSummary) -> Kind:
    """Return the kind of pages with few links that declare nothing, by their text."""
    if links.pages and links.text_share >= MIN_LINKED_TEXT:
        return Kind("list", f"{links.text_share:.0%} of the text are links to other pages of one kind")
    length = median(look.text_length for look in looks)
    if length >= MIN_DETAIL_TEXT:
        return Kind("detail", f"each page has about {length:,.0f} characters of its own")
    return Kind("other", "neither a list nor much text of its own")


def _kind_of_types(declared: set[str]) -> Kind | None:
    """Return the kind of page that the declared types say; None if they say nothing."""
    for name, types in (("list", _LIST_TYPES), ("detail", _DETAIL_TYPES), ("detail", _ARTICLE_TYPES)):
        if matching := declared & types:
            return Kind(name, f"its pages declare the type {min(matching)}")
    return None


def _declared_types(looks: Sequence[_Look]) -> set[str]:
    """Return the types that most pages declare: as a whole, or else exactly once in their embedded data.

    A list declares the types of its rows many times, or once if it has a single row.
    """
    counts = Counter(look.og_type for look in looks if look.og_type)
    if not counts:
        counts = Counter(chain.from_iterable(map(_types_declared_once, looks)))
    return {name for name, count in counts.items() if 2 * count > len(looks)} - _GENERAL_TYPES


def _types_declared_once(look: _Look) -> list[str]:
    return [name for name, count in look.types.items() if count == 1]


class _LinkSummary(NamedTuple):
    """The main links of the richer pages of a cluster.

    Attributes:
        pages: how many different pages they lead to.
        headings: to how many by headings.
        text_share: the share of the text inside them.
    """

    pages: float
    headings: float
    text_share: float


def _summarize_links(looks: Sequence[_Look], url_pattern: str) -> _LinkSummary:
    rows: list[_LinkSummary] = []
    for look in looks:
        main_links = _main_links(_links_elsewhere(look.links, url_pattern))
        pages = {link.path for link in main_links}
        headings = {link.path for link in main_links if link.is_heading}
        text_share = _linked_length(main_links) / max(1, look.text_length)
        rows.append(_LinkSummary(len(pages), len(headings), text_share))
    return _LinkSummary(*np.quantile(rows, RICH_QUANTILE, axis=0).tolist())


def _links_elsewhere(links: Sequence[_Link], url_pattern: str) -> Sequence[_Link]:
    """Return the links to pages that the cluster's URL pattern does not match; a pattern of a host says nothing."""
    if not has_literal_path(url_pattern):
        return links
    path_pattern = _url_path(url_pattern)
    return [link for link in links if not url_matches(path_pattern, link.path)]


def _main_links(links: Sequence[_Link]) -> list[_Link]:
    """Return the links of the URL shape with most text."""
    links_by_shape: defaultdict[str, list[_Link]] = defaultdict(list)
    for link, shape in zip(links, url_shapes([link.path for link in links]), strict=True):
        links_by_shape[shape].append(link)
    return max(links_by_shape.values(), key=_linked_length, default=[])


def _linked_length(links: Sequence[_Link]) -> int:
    return sum(len(link.text) for link in links)
