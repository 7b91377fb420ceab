"""The words of classes, ids and other names: what the authors of a template call its elements.

A value inside `<span class="productPrice" itemprop="price">` is probably a price, on any site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

__all__ = ["NAMING_ATTRIBUTES", "element_names", "split_name", "words_around"]

NAMING_ATTRIBUTES = ("class", "id", "itemprop", "property")
"""Attributes that name an element."""

_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
# Words that say something: no numbers, no single letters, no codes such as `Ci`.
_TELLING_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")


def split_name(name: str) -> list[str]:
    """Return the words of a name in lower case, split at capitals, digits and signs.

    It splits any text in the same way, so that names can be compared with texts.

    >>> split_name("productTitle_2 ISBN-13")
    ['product', 'title', '2', 'isbn', '13']
    """
    return [word.lower() for word in _WORDS.findall(name)]


def element_names(element: etree._Element, attributes: tuple[str, ...] = NAMING_ATTRIBUTES) -> str:
    """Return the names that these attributes give an element, separated by blanks; empty if it has none."""
    return " ".join(filter(None, map(element.get, attributes)))


def words_around(element: etree._Element | None, levels: int) -> Iterator[str]:
    """Yield the words that name an element and its ancestors, the nearest first.

    Numbers, single letters and codes are skipped: they name nothing.

    Args:
        element: where to start
        levels: how many elements to read, the first included
    """
    while element is not None and levels:
        names = element_names(element, (*NAMING_ATTRIBUTES, "name"))
        for word in filter(_TELLING_WORD.fullmatch, _WORDS.findall(names)):
            yield word.lower()
        element = element.getparent()
        levels -= 1
