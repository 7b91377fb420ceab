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

    Numbers and single letters are skipped: they name nothing.

    Args:
        element: where to start
        levels: how many elements to read, the first included
    """
    while element is not None and levels:
        for word in split_name(element_names(element, (*NAMING_ATTRIBUTES, "name"))):
            if len(word) > 1 and word.isalpha():
                yield word
        element = element.getparent()
        levels -= 1
