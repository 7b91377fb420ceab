"""The words of classes, ids and other names: what authors of templates call their elements."""

from __future__ import annotations

import re

__all__ = ["split_name"]

_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")


def split_name(name: str) -> list[str]:
    """Return the words of a name in lower case, split at capitals, digits and signs.

    It splits any text in the same way, so that names can be compared with texts.

    >>> split_name("productTitle_2 ISBN-13")
    ['product', 'title', '2', 'isbn', '13']
    """
    return [word.lower() for word in _WORDS.findall(name)]
