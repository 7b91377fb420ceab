"""What made-up sites are about: the verticals with their fields, and the words that pages are written with.

The data are in two files beside this module. `verticals.toml` lists the fields of each vertical, and how real sites
caption and place them. `words.toml` lists names, nouns, cities and the like.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from random import Random
from typing import Any

__all__ = [
    "CITIES",
    "VERTICALS",
    "WORDS",
    "Field",
    "Vertical",
    "make_paragraph",
    "make_person",
    "make_sentence",
]


@dataclass(frozen=True)
class Field:
    """One kind of value that entities of a vertical have, such as the phone number of a restaurant.

    A field lists what real sites do with such a value. The look of a site then draws one of the captions, places
    and affixes, so that no two sites show the same value in the same way.

    Attributes:
        captions: words in front of the value, such as "Tel" and "Phone".
        kind: how the value is written, such as "phone" or "date".
        places: parts of a detail page where it may appear, such as "fact" or "byline".
        affixes: words before and after the value in its own text node: the value is then part of a node.
        itemprop: property of schema.org, for sites with embedded data.
        missing: how often an entity lacks the value.
        volatile: the value changes between two visits, such as a price.
        many: an entity may have several values, such as two authors.
        extra: no schema asks for it. It is there to confuse, such as the list price beside the price.
    """

    name: str
    captions: tuple[str, ...]
    kind: str = "text"
    places: tuple[str, ...] = ("fact",)
    affixes: tuple[tuple[str, str], ...] = (("", ""),)
    itemprop: str = ""
    missing: float = 0.0
    volatile: bool = False
    many: bool = False
    extra: bool = False


@dataclass(frozen=True)
class Vertical:
    """What a site is about, such as restaurants.

    Attributes:
        plural: its name in URLs and texts.
        type: its type in schema.org.
        fields: what is written on pages; the first one is the heading.
        listed: names of the fields that list pages show beside the heading.
        categories: by which the site can be browsed.
    """

    name: str
    plural: str
    type: str
    fields: tuple[Field, ...]
    listed: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def head(self) -> Field:
        """The field that names an entity; its value is the heading of the page."""
        return self.fields[0]

    @property
    def attributes(self) -> tuple[Field, ...]:
        """The fields that the schema of the vertical asks for: those whose truth is known."""
        return tuple(field for field in self.fields if not field.extra)


def _read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / name).read_text("utf-8"))


#: the words that a made-up web is written with, by what they are for
WORDS: dict[str, tuple[str, ...]] = {name: tuple(words) for name, words in _read_toml("words.toml").items()}


def _parse_city(line: str) -> tuple[str, str, str]:
    city, state, code = line.split("|")
    return city, state, code


#: city, state and the first three digits of a zip code
CITIES = tuple(map(_parse_city, WORDS["cities"]))


def _read_verticals() -> Iterator[tuple[str, Vertical]]:
    """Yield the verticals of verticals.toml by name. Fields keep their order, which seeds what is drawn for them."""
    for name, table in _read_toml("verticals.toml").items():
        fields = tuple(_make_field(field, options) for field, options in table["fields"].items())
        categories = WORDS[table["categories"]]
        yield (
            name,
            Vertical(name, table["plural"], table["type"], fields, tuple(table["listed"]), categories),
        )


def _make_field(name: str, options: dict[str, Any]) -> Field:
    """Return a field; lists become tuples, so that fields can be compared and hashed."""
    affixes = tuple(map(tuple, options.pop("affixes", [["", ""]])))
    rest: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in options.items()
    }
    return Field(name, affixes=affixes, **rest)


#: the verticals by name
VERTICALS: dict[str, Vertical] = dict(_read_verticals())


def make_person(rng: Random) -> str:
    """Return a full name, sometimes with an initial."""
    initial = f" {rng.choice('ABCDEFGHJKLMPRSTW')}." if rng.random() < 0.2 else ""
    return f"{rng.choice(WORDS['first_names'])}{initial} {rng.choice(WORDS['last_names'])}"


def make_sentence(rng: Random) -> str:
    """Return a sentence as in reviews and descriptions."""
    parts = (rng.choice(WORDS["subjects"]), rng.choice(WORDS["verbs"]), rng.choice(WORDS["opinions"]))
    return f"{' '.join(parts)}{rng.choice(WORDS['tails'])}."


def make_paragraph(rng: Random, most: int = 5) -> str:
    """Return two to `most` sentences."""
    return " ".join(make_sentence(rng) for _ in range(rng.randint(2, most)))
