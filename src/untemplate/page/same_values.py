"""Are two texts the same value, written in another way? Case, punctuation, numbers, dates and units may differ.

Sites rewrite the values we remember: `2 hrs` becomes `120 minutes`, `$5.00` becomes `5 USD`. Each value is reduced to
forms, and two texts are the same value if they have a form in common.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

from untemplate.value_types import MAX_VALUE_LENGTH, TYPES, Type, parse_typed

__all__ = [
    "find_quantities",
    "find_words",
    "fold",
    "folded_words",
    "forms",
    "meanings",
    "same_value",
    "same_values",
]

# Two lists of equal length are the same if this share of their values is: now and then a site rewrites one.
MIN_SAME_SHARE = 0.8

# What a unit measures, and how much of it: minutes, centimeters, kilograms.
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1 / 60)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), ("time", 1.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 60.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", 1440.0)),
    **dict.fromkeys(("in", "inch", "inches", '"', "″", "''"), ("length", 2.54)),
    **dict.fromkeys(("ft", "foot", "feet", "'", "′"), ("length", 30.48)),
    **dict.fromkeys(("cm", "centimeter", "centimeters"), ("length", 1.0)),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), ("weight", 0.4536)),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), ("weight", 1.0)),
}
_QUANTITY = re.compile(r"(\d+(?:[.,]\d+)?)\s*('{1,2}|\"|′|″|[A-Za-z]+)\.?")
_QUANTITIES = re.compile(rf"(?:{_QUANTITY.pattern}(?:,?\s*(?:and\s)?))+")
_WORD = re.compile(r"[^\W_]+")


def same_values(some: Sequence[str], others: Sequence[str], type: Type) -> bool:
    """Return True if two lists contain the same values in any order.

    In long lists a few values may differ. Lists of different length are the same if they consist of the same words:
    one of them has several values in one text, separated by signs.

    >>> same_values(["Thai, Vegan"], ["Thai", "Vegan"], "text")
    True
    """
    if len(some) != len(others):
        return _same_words(" ".join(some), " ".join(others))
    other_forms = frozenset[Hashable]().union(*(forms(text, type) for text in others))
    same_count = sum(not forms(text, type).isdisjoint(other_forms) for text in some)
    return same_count >= MIN_SAME_SHARE * len(some)


def _same_words(text: str, other: str) -> bool:
    """Return True if two different texts consist of the same words."""
    if not text or not other or text == other:
        return False
    return folded_words(text) == folded_words(other)


def same_value(text: str, other: str, type: Type) -> bool:
    """Return True if two texts are one value, possibly written in two ways.

    >>> same_value("1 hr 20 min", "80 minutes", "text")
    True
    """
    return text == other or not forms(text, type).isdisjoint(forms(other, type))


@lru_cache(maxsize=65536)
def forms(text: str, type: Type) -> frozenset[Hashable]:
    """Return the forms of a value: its meaning or, if that is unclear, its words."""
    meaning = meanings(text, type)
    if meaning and type != "text":
        return meaning
    return meaning | {folded_words(text) or text}


@lru_cache(maxsize=65536)
def meanings(text: str, type: Type) -> frozenset[Hashable]:
    """Return what a text means: a value of the type, or a quantity. Empty if it is just words."""
    if TYPES[type].has_meaning:
        meaning = parse_typed(text, type)
        if meaning is None:
            return frozenset()
        return frozenset({meaning.amount if type == "price" else meaning})
    if TYPES[type].is_link:
        return frozenset({_without_host(text)})
    quantity = _parse_quantity(text) if len(text) <= MAX_VALUE_LENGTH else None
    return frozenset({quantity}) if quantity else frozenset()


def _without_host(url: str) -> str:
    """Return a link without scheme and host, which one page writes and another omits."""
    rest = url.partition("://")[2]
    return f"/{rest.partition('/')[2]}" if rest else url


def folded_words(text: str) -> tuple[str, ...]:
    """Return the text's words in lower case, without punctuation and accents.

    >>> folded_words("Café – Bar!")
    ('cafe', 'bar')
    """
    return tuple(fold(word[0]) for word in find_words(text))


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of the words in a text."""
    return _WORD.finditer(text)


def fold(word: str) -> str:
    """Return a word in lower case, without accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word).casefold()
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def find_quantities(text: str) -> Iterator[str]:
    """Yield the parts of a text that are a quantity.

    >>> list(find_quantities("Ready in 1 hr 20 min, serves 4"))
    ['1 hr 20 min']
    """
    return (match[0].rstrip(" ,") for match in _QUANTITIES.finditer(text))


def _parse_quantity(text: str) -> tuple[str, int] | None:
    """Return what a text measures and how much of it; None if the text is more than a quantity."""
    parts = _QUANTITY.findall(text)
    if not parts or _has_other_words(text):
        return None
    total = 0.0
    dimensions: set[str] = set()
    for number, unit in parts:
        if unit.lower() not in _UNITS:
            return None
        dimension, size = _UNITS[unit.lower()]
        dimensions.add(dimension)
        total += float(number.replace(",", ".")) * size
    return (dimensions.pop(), round(total)) if len(dimensions) == 1 else None


def _has_other_words(text: str) -> bool:
    """Return True if a text contains words besides its quantities and "and"."""
    rest = re.sub(r"\band\b", "", _QUANTITY.sub("", text))
    return re.search(r"\w", rest) is not None
