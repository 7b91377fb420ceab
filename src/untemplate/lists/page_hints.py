"""Hints of a page to its own records (`PageHints`): links to documents, items that its data declare, links to further
pages of a list, and numbers of results that it states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import numpy as np

from untemplate.lists.page_tree import TEXT, PageTree
from untemplate.page import Page, squeeze
from untemplate.page.arrays import Bools, Doubles, Longs
from untemplate.page.embedded_data import JSON_LD, DataObject

__all__ = ["PageHints"]

_DOCUMENT = re.compile(r"\.(pdf|docx?|wpd|rtf|odt|xlsx?|pptx?|csv|zip|epub)(?![a-z0-9])", re.IGNORECASE)
_PAGING_WORDS = frozenset({"pagination", "pager", "paging", "paginator", "pagenav", "pages"})
# Parts with links to further pages that are considered. Real pages have one or two.
MAX_PAGING_PARTS = 20
# Objects of one type are items if there are several. These types are parts of others, or navigation.
MIN_REPEATED_ITEMS = 3
_NO_ITEMS = frozenset({"", "ListItem", "BreadcrumbList", "ImageObject", "Person", "Organization", "Offer"})
# Objects and values of the page's data that are read; hostile data have more.
MAX_ITEMS = 2_000
# Texts that state how many records a page shows are not longer than this, and these levels of elements join them.
MAX_COUNT_TEXT = 100
MAX_COUNT_LEVELS = 3
# Other numbers in such texts are no numbers of records on one page.
MIN_STATED, MAX_STATED = 2, 1_000
# "1-20 of 345"
_RANGE = re.compile(
    r"(\d[\d,.]*)\s*(?:[-–—]|to|bis|à|a|al|through)\s*(\d[\d,.]*)\s+(?:\D{0,12}\s)?\d", re.IGNORECASE
)
# Words for records, in some languages. They count beside a number, with at most two words between: "12 new results".
_RECORDS = (
    r"(?:(?:result|item|product|record|hit|article|listing|opinion|case)(?:s|\(s\))|matches|entries|found|showing"
    r"|displaying|ergebnisse|artikel|produkte|résultats|produits|resultados|productos|produtos|resultaten|producten"
    r"|risultati|prodotti|wynik[ówi]*|resultate[rn]?|sonuç\w*|ürün|termékek?|produkt[yůówer]+)"
)
_BETWEEN = r"(?:\W+\w+){0,2}?\W+"
_NAMED_COUNT = re.compile(
    rf"\b(\d[\d.,]*){_BETWEEN}{_RECORDS}(?!\w)|\b{_RECORDS}{_BETWEEN}(\d[\d.,]*)|(\d+)\s*件|(\d+)\s+товар"
    r"|(?:товар|найдено|результат)\w*\W+(\d+)",
    re.IGNORECASE,
)


class PageHints:
    """Columns with what a page says about its own records.

    Counts are cumulative: `column[end] - column[start]` is the number in the rows from start to end.

    Args:
        page: the page.
        tree: its rows.
        words: the words in the names of each row.
        chars: the number of characters in each row.
    """

    def __init__(self, page: Page, tree: PageTree, words: Sequence[frozenset[str]], chars: Doubles) -> None:
        links = {
            row: tree.elements[row].get("href", "") for row in np.flatnonzero(tree.has_tag({"a"})).tolist()
        }
        is_document = np.zeros(len(tree), np.bool_)
        is_document[[row for row, address in links.items() if _DOCUMENT.search(address)]] = True
        #: links to documents; elements; items that the page's data declare
        self.documents = _count(is_document)
        self._links = _count(tree.has_tag({"a"}))
        self.elements = _count(~tree.has_tag({TEXT}))
        self.declared = _count(_find_declared(page, tree, links))
        #: the rows around links to further pages: the parents of parts named pagination, pager and the like
        self.paging_parents = _paging_parents(tree, words)
        texts = list(_texts_with_numbers(tree, chars))
        #: numbers of records that the page states with a word such as "results"; these and "1-20 of 345"
        self.named_counts = frozenset(_named_counts(texts))
        self.stated_counts = self.named_counts.union(_range_lengths(texts))

    def has_links(self, start: int, end: int) -> bool:
        """Return True if there is a link in the rows from start to end."""
        return bool(self._links[end] > self._links[start])


def _count(marked: Bools) -> Longs:
    """Return the number of marked rows before each row, and before the end."""
    return np.concatenate([[0], np.cumsum(marked)])


def _paging_parents(tree: PageTree, words: Sequence[frozenset[str]]) -> Longs:
    named = [row for row, names in enumerate(words) if not _PAGING_WORDS.isdisjoint(names)]
    parents = tree.parent[np.array(named, np.int64)]
    return np.unique(parents[parents >= 0])[:MAX_PAGING_PARTS]


def _find_declared(page: Page, tree: PageTree, links: dict[int, str]) -> Bools:
    """Return which rows are links to items that the page's JSON-LD lists or repeats, or texts with their names."""
    declared = np.zeros(len(tree), np.bool_)
    names, paths = _declared_items(page)
    if paths:
        declared[[row for row, address in links.items() if _path(address) in paths]] = True
    if names:
        declared |= np.array([squeeze(text) in names if text else False for text in tree.texts], np.bool_)
    return declared


def _declared_items(page: Page) -> tuple[set[str], set[str]]:
    """Return the names of the items and the paths of their addresses."""
    objects = page.embedded.objects(JSON_LD)[:MAX_ITEMS]
    counts = Counter(data_object.type for data_object in objects)
    names: set[str] = set()
    paths: set[str] = set()
    for data_object in objects:
        if _lists_items(data_object, counts):
            for value in data_object.values[:MAX_ITEMS]:
                if value.keys[-1:] == ("name",):
                    names.add(squeeze(value.text))
                elif value.keys[-1:] in (("url",), ("@id",)):
                    paths.add(_path(value.text))
    return names, paths - {""}


def _lists_items(data_object: DataObject, counts: Counter[str]) -> bool:
    """Return True for an `ItemList`, and for objects of a type that repeats."""
    is_repeated = counts[data_object.type] >= MIN_REPEATED_ITEMS and data_object.type not in _NO_ITEMS
    return data_object.type == "ItemList" or is_repeated


def _path(address: str) -> str:
    """Return the path and the query of an address; "" for the front page."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return ""
    return f"{parts.path.rstrip('/')}?{parts.query}".rstrip("?")


def _texts_with_numbers(tree: PageTree, chars: Doubles) -> Iterator[str]:
    """Yield short texts with digits, with the texts around them as long as they are short together."""
    for row, text in enumerate(tree.texts):
        if text and len(text) <= MAX_COUNT_TEXT and any(map(str.isdigit, text)):
            for _ in range(MAX_COUNT_LEVELS):
                parent = int(tree.parent[row])
                if parent < 0 or chars[parent] > MAX_COUNT_TEXT:
                    break
                row = parent
            yield squeeze(" ".join(filter(None, tree.texts[row : int(tree.end[row])])))


def _named_counts(texts: Sequence[str]) -> Iterator[int]:
    """Yield the numbers beside a word such as "results", and the lengths of ranges in such texts."""
    for text in texts:
        if found := [next(filter(None, match.groups())) for match in _NAMED_COUNT.finditer(text)]:
            yield from filter(_may_count_records, map(_to_number, found))
            yield from _range_lengths([text])


def _range_lengths(texts: Sequence[str]) -> Iterator[int]:
    """Yield 20 for "1-20 of 345"."""
    for text in texts:
        if found := _RANGE.search(text):
            length = _to_number(found[2]) - _to_number(found[1]) + 1
            if _may_count_records(length):
                yield length


def _may_count_records(number: int) -> bool:
    return MIN_STATED <= number <= MAX_STATED


def _to_number(text: str) -> int:
    """Return a number that may have separators, "1,051"; only its first nine digits count."""
    return int("".join(filter(str.isdecimal, text))[:9] or 0)
