"""What a page's own data call the texts that the page shows.

Labeled sites show what these names mean: if descriptions are mostly what the data of their pages call
`og:description`, then so they are on other sites. The names are features of texts, as class names are.

Tried without gain: names that fit nearly all labels of a seed site as `same_as` of the attribute. Data have `4.50`
where the page has `AUD $4.50`, and many objects have a `name`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from untemplate.page import Page
from untemplate.page.embedded_data import META, NAMING_KEYS, TYPED_SOURCES
from untemplate.page.locating import letters_and_digits

__all__ = ["name_texts"]

# Values of a page's data that are read.
MAX_VALUES = 2000


def name_texts(page: Page) -> dict[str, set[str]]:
    """Return the names that the data of a page give to texts, by the letters and digits of the text.

    Example:
        >>> from untemplate import Page
        >>> name_texts(Page(html="<meta property='og:title' content='Leek soup'><h1>Leek soup</h1>"))
        {'leeksoup': {'og:title'}}
    """
    names: dict[str, set[str]] = {}
    for name, letters in islice(_named_values(page), MAX_VALUES):
        names.setdefault(letters, set()).add(name)
    return names


def _named_values(page: Page) -> Iterator[tuple[str, str]]:
    """Yield names and values of a page's data: the name of a person who is the author is called `author`."""
    for source in (*TYPED_SOURCES, META):
        for data_object in page.embedded.objects(source):
            for value in data_object.values:
                roles = (key for key in reversed(value.keys) if key not in NAMING_KEYS and key[0] != "@")
                name = next(roles, data_object.type)
                letters = letters_and_digits(value.text)
                if name and letters:
                    yield name, letters
