"""The rows of a list page, which `find_records` returns, and the link to the page that continues the list.

For that link these are tried in order: `rel="next"`; a link with a text such as "next" in one of some languages, or
an arrow among numbers and arrows; a link whose class or id says "next"; and, in a sequence of page numbers, the link
after the number that is not a link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urldefrag, urljoin

from lxml import etree

from untemplate.errors import PageError
from untemplate.lists.addresses import base_address, is_web_address
from untemplate.page import Node, Page, squeeze, visible_text
from untemplate.record import html_table

__all__ = ["ADDRESS_COLUMNS", "ROW_COLUMNS", "SECTION_COLUMN", "Row", "Rows", "next_page"]

ADDRESS_COLUMNS = ("url", "image")
"""Columns that every row of a file has: the address of the record's own page, and that of its image."""

SECTION_COLUMN = "section"
"""The column with the heading above a record, which is no part of the record."""

ROW_COLUMNS = ("page_url", "page", "list", "row", "confidence", "xpath", "text")
"""Columns of a file that say where a row comes from. They follow the columns of the list."""

# The texts of links to the next page, without arrows around and "page" or "results" after them: in English, German,
# French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Japanese, Chinese.
_NEXT_TEXTS = (
    *("next", "weiter", "nächste", "suivant", "suivante", "siguiente", "successivo", "avanti"),
    *("próximo", "próxima", "seguinte", "volgende", "następna", "далее", "следующая", "次へ", "下一页"),
    *("older", "older posts", "older entries"),
)
_NEXT_TEXT = re.compile(
    rf"[\W_]*(?:go to )?(?:{'|'.join(_NEXT_TEXTS)})(?: (?:page|results?|seite))?[\W_]*", re.IGNORECASE
)
_ARROW = re.compile(r"[›»→>]+")
_NEXT_NAME = re.compile(r"(?<![a-z])next(?![a-z])", re.IGNORECASE)
# Names of slide shows, whose "next" is a picture.
_SLIDE_SHOW = re.compile(r"carousel|slick|slide|swiper|flickity|gallery", re.IGNORECASE)
_MAX_SLIDE_SHOW_DISTANCE = 3
_NUMBERS_AND_ARROWS = re.compile(r"[\W\d_]{1,80}")
_PAGE_NUMBER = re.compile(r"\d{1,4}")
_PUNCTUATION = re.compile(r"[\W_]*")


@dataclass(frozen=True, slots=True, repr=False)
class Row:
    """One record of a list page.

    Args:
        text: all of its text, with white space squeezed.
        cells: its texts by column, None where it lacks one. All rows of a list have the same columns.
        xpath: the absolute XPath of its first element.
        confidence: the probability that its list is the main list of the page, from 0 to 1.
        list_id: 0 for the main list of the page; `find_records(page, all_lists=True)` numbers the others.
        values: its texts by the names of their columns, without texts that all rows share; None where it lacks one.
            `url` is the address of the record's own page, and `image` that of its picture. All rows of a list have
            the same names in the same order.
        page: the id of its page.
        links: the addresses of all its links to other pages, absolute if the page has a URL.

    Example:
        >>> values = {"url": "http://tea.example/assam", "title": "Assam", "price": "$4"}
        >>> row = Row("Assam $4", ["Assam", "$4"], "/html/body/ul/li[1]", 0.9, values=values)
        >>> row.cells[0], row.values["price"], row.url, row.image
        ('Assam', '$4', 'http://tea.example/assam', None)
    """

    text: str
    cells: list[str | None]
    xpath: str
    confidence: float
    list_id: int = 0
    values: dict[str, str | None] = field(default_factory=dict)
    page: str = ""
    links: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:60]}…"
        return f"Row({text!r}, {len(self.cells)} cells, confidence {self.confidence:.2f})"

    def _repr_html_(self) -> str:
        """Return the row as a table, for notebooks."""
        return Rows([self])._repr_html_()

    @property
    def url(self) -> str | None:
        """The address of the record's own page; None if it links to none."""
        return self.values.get("url")

    @property
    def image(self) -> str | None:
        """The address of the record's image; None if it has none."""
        return self.values.get("image")


class Rows(list[Row]):
    """The rows of a page: a list, in page order, list after list.

    Args:
        rows: the rows.
        reason: why there are none; None if there are rows.
        next_page: the URL of the page that continues the list, if one is linked.

    Example:
        >>> rows = Rows(reason="page is empty")
        >>> len(rows), rows.reason
        (0, 'page is empty')
    """

    def __init__(
        self, rows: Iterable[Row] = (), reason: str | None = None, next_page: str | None = None
    ) -> None:
        super().__init__(rows)
        self.reason = reason
        self.next_page = next_page

    def _repr_html_(self) -> str:
        """Return the rows as a table, for notebooks."""
        columns = self.columns
        return html_table(columns, ([row.values.get(name) for name in columns] for row in self))

    @property
    def columns(self) -> list[str]:
        """The names of the columns of all lists, in order."""
        names: dict[str, None] = {}
        for row in self:
            names |= dict.fromkeys(row.values)
        return list(names)


def next_page(page: Page) -> str | None:
    """Return the URL of the page that continues this page's list; None if no link looks like it.

    Example:
        >>> next_page(Page("http://shop.example/teas", '<a href="?page=2">Next</a>'))
        'http://shop.example/teas?page=2'
    """
    try:
        urls: dict[etree._Element, str] = dict(_page_links(page))
    except PageError:
        return None
    tests: tuple[Callable[[etree._Element], bool], ...] = (_is_declared, _has_next_text, _has_next_name)
    for is_next in tests:
        for element, url in urls.items():
            if is_next(element):
                return url
    return _after_current_number(page, urls)


def _page_links(page: Page) -> Iterator[tuple[etree._Element, str]]:
    """Yield the links to other pages with their URLs."""
    base = base_address(page)
    current = urldefrag(page.url).url
    for element in page.tree.iter("link", "a"):
        href = squeeze(element.get("href", ""))
        try:
            url = urldefrag(urljoin(base, href)).url
        except ValueError:
            continue
        if href and is_web_address(href) and url not in ("", current):
            yield element, url


def _is_declared(element: etree._Element) -> bool:
    """Return True if the page itself declares the link: rel="next"."""
    return "next" in element.get("rel", "").lower().split()


def _has_next_text(element: etree._Element) -> bool:
    """Return True for links with a text such as "next", and for arrows next to page numbers."""
    if element.tag != "a":
        return False
    text = visible_text(element)
    if _ARROW.fullmatch(text):
        ancestors = [*islice(element.iterancestors(), 2)]
        return all(_NUMBERS_AND_ARROWS.fullmatch(visible_text(ancestor)) for ancestor in ancestors[-1:])
    names = (text, squeeze(element.get("aria-label", "")), squeeze(element.get("title", "")))
    return any(map(_NEXT_TEXT.fullmatch, names)) and not _is_slide_show(element)


def _has_next_name(element: etree._Element) -> bool:
    """Return True if the class or id of a link, or of a parent that contains nothing else, says "next"."""
    if element.tag != "a" or _is_slide_show(element):
        return False
    parent = element.getparent()
    if _has_name(element, _NEXT_NAME) or parent is None:
        return parent is not None
    # Counting the children of a parent would take time for each of them.
    is_alone = element.getprevious() is None and element.getnext() is None
    return is_alone and _has_name(parent, _NEXT_NAME)


def _is_slide_show(element: etree._Element) -> bool:
    """Return True if a link or an element around it is named like a slide show."""
    ancestors = islice(element.iterancestors(), _MAX_SLIDE_SHOW_DISTANCE)
    return any(_has_name(nearest, _SLIDE_SHOW) for nearest in (element, *ancestors))


def _has_name(element: etree._Element, pattern: re.Pattern[str]) -> bool:
    """Return True if the class or the id of an element contains the pattern."""
    names = (element.get("class", ""), element.get("id", ""))
    return any(map(pattern.search, names))


def _after_current_number(page: Page, urls: dict[etree._Element, str]) -> str | None:
    """Return the link after the number that is not a link, in the first sequence of numbers that has one."""
    numbers: dict[int, str | None] = {}
    for node in page.nodes:
        if not node.is_text or _PUNCTUATION.fullmatch(node.text):
            continue
        if _PAGE_NUMBER.fullmatch(node.text):
            numbers[int(node.text)] = _link_around(node, urls)
            continue
        if url := _url_after_current(numbers):
            return url
        numbers = {}
    return _url_after_current(numbers)


def _link_around(node: Node, urls: dict[etree._Element, str]) -> str | None:
    """Return the URL of the link that a text is in; None if it is in no link to another page."""
    elements = (node.parent, *node.parent.iterancestors())
    link = next((element for element in elements if element.tag == "a"), None)
    return None if link is None else urls.get(link)


def _url_after_current(numbers: dict[int, str | None]) -> str | None:
    """Return the URL of the number after the only one without a URL."""
    current = [number for number, url in numbers.items() if url is None]
    if len(current) != 1 or len(numbers) == 1:
        return None
    return numbers.get(current[0] + 1)
