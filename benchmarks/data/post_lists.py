"""List pages of posts with the posts that they list: pages of `blogs` and `shops`, whose rows nobody wrote down.

The rows are derived from the addresses of the site's known posts. A page lists a post if it links to it outside of
side bars and of running text. A link leads to a post if its address is that of a known post, or has the same fixed
parts, such as `/2019/03/15/…`, and is that of no page of another kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from lxml import etree

from benchmarks.data.whole_sites import SETS, WholeSite, whole_sites
from untemplate import Page
from untemplate.page import squeeze, visible_text

__all__ = ["PostList", "PostPaths", "lists_of", "post_lists"]

_LIST_KINDS = frozenset({"posts", "front", "category", "archive", "tag"})
# Words in the classes and ids of parts beside the list.
_SIDE_WORDS = frozenset(
    {
        *("sidebar", "side", "aside", "footer", "related", "recent", "menu", "nav", "navigation", "toc"),
        *("widget", "widgets", "search", "dropdown", "breadcrumb", "pagination", "pager"),
    }
)
_SIDE_TAGS = frozenset({"aside", "nav", "footer"})
_RUNNING_TEXT = frozenset({"p", "blockquote", "pre"})
# A post that more of the site's list pages link to is part of what all of its pages show.
MAX_SHARE_OF_PAGES = 0.6
# Sites with fewer list pages show too little of what all of their pages have.
MIN_LIST_PAGES = 10
# Parts of an address that may stand before the path of a post.
MAX_LEADING_PARTS = 2
_ANY_PART = "[^/]+"
_INDEX = re.compile(r"(^|/)index\.html$")
_WORD = re.compile("[a-z]+")


@dataclass(frozen=True)
class PostList:
    """A list page of a site and the posts that it lists.

    Attributes:
        site: the name of its site.
        kind: what it lists, such as `tag` or `archive`.
        page: the page.
        titles: the path of each post → the text of its link.
    """

    site: str
    kind: str
    page: Page
    titles: dict[str, str]


class PostPaths:
    """Which addresses of a site lead to posts.

    Args:
        posts: the addresses of known posts.
        others: the addresses of pages of other kinds.
    """

    def __init__(self, posts: Iterable[str], others: Iterable[str]) -> None:
        self._posts = {_path(url) for url in posts} - {""}
        self._others = set(map(_path, others))
        self._patterns = [*self._fixed_patterns()]

    def post_at(self, url: str) -> str | None:
        """Return the path of the post at an address; None if it is no post."""
        path = _path(url)
        parts = path.split("/")
        for start in range(min(MAX_LEADING_PARTS + 1, len(parts))):
            if (end := "/".join(parts[start:])) in self._posts:
                return end
        if path in self._others:
            return None
        matches = (pattern.search(path) for pattern in self._patterns)
        return next((match[1] for match in matches if match), None)

    @property
    def has_pattern(self) -> bool:
        """True if posts that are not known can be recognized."""
        return bool(self._patterns)

    def _fixed_patterns(self) -> Iterator[re.Pattern[str]]:
        """Yield what the paths of the same length have in common, if more than their length is."""
        by_length: dict[int, list[list[str]]] = {}
        for path in sorted(self._posts):
            parts = path.split("/")
            by_length.setdefault(len(parts), []).append(parts)
        for paths in by_length.values():
            patterns = [_part_pattern(parts) for parts in zip(*paths, strict=True)]
            if any(pattern != _ANY_PART for pattern in patterns[:-1]):
                yield re.compile(f"(?:^|/)({'/'.join(patterns)})$")


def _part_pattern(parts: Sequence[str]) -> str:
    if all(map(str.isdigit, parts)):
        return r"\d+"
    is_fixed = len({*parts}) == 1 and len(parts) > 2
    return re.escape(parts[0]) if is_fixed else _ANY_PART


def _path(url: str) -> str:
    """Return the path and the query of an address in lower case, without `index.html`; "" for the front page."""
    try:
        parts = urlsplit(unquote(url.strip()))
    except ValueError:
        return ""
    path = _INDEX.sub("", parts.path.strip("/")).strip("/")
    return (f"{path}?{parts.query}" if parts.query else path).lower()


def post_lists(sets: Sequence[str] = SETS) -> Iterator[PostList]:
    """Yield the pages of these sets that list posts, with at least one.

    Sites whose posts have addresses like those of other pages are left out: not all rows of their lists are known.
    """
    for family in sets:
        for site in whole_sites(family):
            yield from lists_of(site)


def lists_of(site: WholeSite) -> Iterator[PostList]:
    """Yield the pages of a site that list posts."""
    posts = [page.url for page in site.pages if site.facts[page.id]["kind"] == "post"]
    others = [page.url for page in site.pages if site.facts[page.id]["kind"] != "post"]
    lists = [page for page in site.pages if site.facts[page.id]["kind"] in _LIST_KINDS]
    paths = PostPaths(posts, others)
    if not paths.has_pattern:
        return
    linked = {page.id: {path for path, _ in _post_links(page, paths)} for page in lists}
    counts = Counter(path for found in linked.values() for path in found)
    limit = MAX_SHARE_OF_PAGES * len(lists) if len(lists) >= MIN_LIST_PAGES else len(lists)
    everywhere = {path for path, count in counts.items() if count > limit}
    for page in lists:
        titles = _titles(page, paths, everywhere)
        page.release()
        if titles:
            yield PostList(site.name, str(site.facts[page.id]["kind"]), page, titles)


def _post_links(page: Page, paths: PostPaths) -> Iterator[tuple[str, etree._Element]]:
    """Yield the links of a page to posts, with the path of the post."""
    for link in page.tree.iter("a"):
        address = link.get("href", "").split("#")[0].strip()
        try:
            url = urljoin(page.url, address)
        except ValueError:
            continue
        if address and (path := paths.post_at(url)):
            yield path, link


def _titles(page: Page, paths: PostPaths, everywhere: set[str]) -> dict[str, str]:
    """Return the posts that a page lists, each with the longest text of a link that no other post has."""
    texts: dict[str, list[str]] = {}
    all_chars = len(visible_text(page.tree))
    for path, link in _post_links(page, paths):
        text = squeeze(visible_text(link))
        if path not in everywhere and text and not _is_beside(link, all_chars):
            texts.setdefault(path, []).append(text)
    counts = Counter(text for found in texts.values() for text in {*found})
    own = {path: [text for text in found if counts[text] == 1] for path, found in texts.items()}
    return {path: max(found, key=len) for path, found in own.items() if found}


def _is_beside(link: etree._Element, all_chars: int) -> bool:
    """Return True for links in running text, and in parts named sidebar and the like, without most of the text."""
    for element in link.iterancestors():
        if element.tag in ("body", "html"):
            return False
        if element.tag in _SIDE_TAGS | _RUNNING_TEXT:
            return True
        words = _WORD.findall(f"{element.get('class', '')} {element.get('id', '')}".lower())
        is_named = element.tag not in ("article", "main") and not _SIDE_WORDS.isdisjoint(words)
        if is_named and len(visible_text(element)) < all_chars / 2:
            return True
    return False
