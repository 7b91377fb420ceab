"""Whether two texts are the same value written in another way: case, punctuation, numbers, dates, units."""

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

# Of two lists of equal length, so many values must be the same: now and then one is written anew.
MOST = 0.8

# What a unit measures, and how much of it: minutes, centimeters, kilograms, pieces.
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
    """Whether two lists hold the same values in any order, or one holds all in a text that parts them by signs.

    Of long lists, most will do.
    """
    if len(some) != len(others):
        one, many = sorted((" ".join(some), " ".join(others)), key=len, reverse=True)
        return bool(some and others) and one != many and folded_words(one) == folded_words(many)
    known = frozenset[Hashable]().union(*(forms(text, type) for text in others))
    same = sum(not forms(text, type).isdisjoint(known) for text in some)
    return same >= MOST * len(some)


def same_value(one: str, other: str, type: Type) -> bool:
    """Whether two texts are one value, possibly written in two ways."""
    return one == other or not forms(one, type).isdisjoint(forms(other, type))


@lru_cache(maxsize=65536)
def forms(text: str, type: Type) -> frozenset[Hashable]:
    """What a value may be known by: what it means or, where that is unclear, its words. Those of one value meet."""
    known = meanings(text, type)
    return known if known and type != "text" else known | {folded_words(text) or text}


@lru_cache(maxsize=65536)
def meanings(text: str, type: Type) -> frozenset[Hashable]:
    """What a text means: a value of the type, a quantity; none if it is just words."""
    if TYPES[type].has_meaning:
        meaning = parse_typed(text, type)
        return frozenset() if meaning is None else frozenset({meaning.amount if type == "price" else meaning})
    if TYPES[type].is_link:
        return frozenset({_path(text)})
    quantity = _quantity(text) if len(text) <= MAX_VALUE_LENGTH else None
    return frozenset({quantity}) if quantity else frozenset()


def _path(url: str) -> str:
    """A link without scheme and host, which one page may write and another leave out."""
    rest = url.partition("://")[2]
    return f"/{rest.partition('/')[2]}" if rest else url


def folded_words(text: str) -> tuple[str, ...]:
    """The text's words in lower case, without punctuation and accents."""
    return tuple(fold(word[0]) for word in find_words(text))


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Where the words of a text stand."""
    return _WORD.finditer(text)


def fold(word: str) -> str:
    """A word in lower case, without accents."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(character for character in plain if not unicodedata.combining(character))


def find_quantities(text: str) -> Iterator[str]:
    """The parts of a text that say a quantity, such as `1 hr 20 min`."""
    return (found[0].rstrip(" ,") for found in _QUANTITIES.finditer(text))


def _quantity(text: str) -> tuple[str, int] | None:
    """A text that says a quantity and nothing else, in the smallest steps of what it measures."""
    parts = _QUANTITY.findall(text)
    if not parts or re.search(r"\w", re.sub(r"\band\b", "", _QUANTITY.sub("", text))):
        return None
    measured = [_UNITS.get(unit.lower()) for _, unit in parts]
    dimensions = {unit[0] for unit in measured if unit}
    if None in measured or len(dimensions) != 1:
        return None
    amounts = [float(number.replace(",", ".")) for number, _ in parts]
    total = sum(amount * unit[1] for amount, unit in zip(amounts, measured, strict=True) if unit)
    return dimensions.pop(), round(total)
