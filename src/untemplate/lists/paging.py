"""Paging: the link to the page that goes on with a list.

What the page says is believed in this order: `rel="next"`; a link that is called "next" in one of some languages, or
is an arrow among numbers and arrows; one whose class or id says so; and, of numbers in a row, the link to the one
after that which is no link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from urllib.parse import urldefrag, urljoin

from lxml import etree

from untemplate.errors import PageError
from untemplate.page import Page, squeeze, visible_text

__all__ = ["next_page"]

# What such links are called, without arrows around and "page" or "results" behind: in English, German, French,
# Spanish, Italian, Portuguese, Dutch, Polish, Russian, Japanese, Chinese.
_WORDS = (
    *("next", "weiter", "nächste", "suivant", "suivante", "siguiente", "successivo", "avanti"),
    *("próximo", "próxima", "seguinte", "volgende", "następna", "далее", "следующая", "次へ", "下一页"),
    *("older", "older posts", "older entries"),
)
_CALLED = re.compile(
    rf"[\W_]*(?:go to )?(?:{'|'.join(_WORDS)})(?: (?:page|results?|seite))?[\W_]*", re.IGNORECASE
)
_ARROW = re.compile(r"[›»→>]+")
_NAMED = re.compile(r"(?<![a-z])next(?![a-z])", re.IGNORECASE)
# Not pages of a list but pictures of a show.
_SHOWS = re.compile(r"carousel|slick|slide|swiper|flickity|gallery", re.IGNORECASE)
_PAGER = re.compile(r"[\W\d_]{1,80}")
_NUMBER = re.compile(r"\d{1,4}")
_BETWEEN = re.compile(r"[\W_]*")


def next_page(page: Page) -> str | None:
    """The URL of the page that goes on with this one's list; None if no link looks like it."""
    try:
        links = list(_links(page))
    except PageError:
        return None
    for is_next in (_is_declared, _is_called, _is_named):
        found = _first(links, is_next)
        if found:
            return found
    return _after_this(page, dict(links))


Link = tuple[etree._Element, str]


def _links(page: Page) -> Iterator[Link]:
    """Links to other pages, with their URLs."""
    base = next((urljoin(page.url, one.get("href", "")) for one in page.tree.iter("base")), page.url)
    own = urldefrag(page.url).url
    for element in page.tree.iter("link", "a"):
        href = squeeze(element.get("href", ""))
        try:
            url = urldefrag(urljoin(base, href)).url
        except ValueError:
            continue
        is_page = ":" not in href.partition("/")[0] or href.lower().startswith(("http:", "https:"))
        if href and is_page and url and url != own:
            yield element, url


def _first(links: Sequence[Link], is_next: Callable[[etree._Element], bool]) -> str | None:
    return next((url for element, url in links if is_next(element)), None)


def _is_declared(element: etree._Element) -> bool:
    return "next" in element.get("rel", "").lower().split()


def _is_called(element: etree._Element) -> bool:
    if element.tag != "a":
        return False
    text = visible_text(element)
    if _ARROW.fullmatch(text):
        around = [*islice(element.iterancestors(), 2)][-1:]
        return all(_PAGER.fullmatch(visible_text(one)) for one in around)
    names = (text, *(squeeze(element.get(name, "")) for name in ("aria-label", "title")))
    return any(map(_CALLED.fullmatch, names)) and not _is_show(element)


def _is_named(element: etree._Element) -> bool:
    """Whether the link, or what holds nothing else, has "next" among the words of its class or id."""
    around = element.getparent()
    named = [element, around] if around is not None and len(around) == 1 else [element]
    says = any(_NAMED.search(one.get(name, "")) for one in named for name in ("class", "id"))
    return element.tag == "a" and says and not _is_show(element)


def _is_show(element: etree._Element) -> bool:
    nearest = [element, *element.iterancestors()][:4]
    return any(_SHOWS.search(one.get(name, "")) for one in nearest for name in ("class", "id"))


def _after_this(page: Page, urls: dict[etree._Element, str]) -> str | None:
    """The link to the number after the one that is no link, among numbers that stand in a row."""
    row: dict[int, str | None] = {}
    for node in page.nodes:
        if not node.is_text or _BETWEEN.fullmatch(node.text):
            continue
        if _NUMBER.fullmatch(node.text):
            link = next((one for one in (node.parent, *node.parent.iterancestors()) if one.tag == "a"), None)
            row[int(node.text)] = None if link is None else urls.get(link)
            continue
        if found := _next_in(row):
            return found
        row = {}
    return _next_in(row)


def _next_in(row: dict[int, str | None]) -> str | None:
    here = [number for number, url in row.items() if url is None]
    others = len(row) - len(here)
    return row.get(here[0] + 1) if len(here) == 1 and others else None
