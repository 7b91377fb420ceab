"""What made-up sites are about: verticals with their fields, and the database behind a site, drawn from a seed.

The data are in two files beside this module. `verticals.toml` lists the fields of each vertical, and how real sites
caption and place them. `words.toml` lists names, nouns, cities and the like. Values of entities have one canonical
form a kind (`2125550147`, `2009-05-14`, `$25.99`, minutes, address parts joined by `|`). The look of a site decides
how they are written on a page.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from importlib import resources
from itertools import chain
from random import Random
from typing import Any

__all__ = [
    "CITIES",
    "VERTICALS",
    "WORDS",
    "Entity",
    "Field",
    "Values",
    "Vertical",
    "make_entities",
    "make_paragraph",
    "make_person",
    "make_sentence",
    "refresh_entity",
]


Values = dict[str, tuple[str, ...]]

# How often a whole site lacks an attribute that its pages may miss (SWDE: 2 of 170; here a bit more).
ABSENT_FROM_SITE = 0.03

# How often to try for a heading that no other row has; big sites run out of them, as real ones do.
ATTEMPTS = 5


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
        fields = tuple(_make_site_field(field, options) for field, options in table["fields"].items())
        categories = WORDS[table["categories"]]
        yield (
            name,
            Vertical(name, table["plural"], table["type"], fields, tuple(table["listed"]), categories),
        )


def _make_site_field(name: str, options: dict[str, Any]) -> Field:
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


@dataclass(frozen=True)
class Entity:
    """One entity of a site, such as a book.

    Attributes:
        number: identifies it, as the key of a database would; URLs and ids contain it.
        slug: its name as URLs contain it.
        values: canonical values by field; a field that the entity lacks has no values.
    """

    number: int
    slug: str
    values: Values


def make_entities(vertical: Vertical, rng: Random, count: int) -> list[Entity]:
    """Return `count` entities with increasing numbers, and different headings as long as there are any left.

    All prices of a site are in one currency. Values are missing at random, and some fields on the whole site.
    """
    currency = rng.choice("$$$£€")
    optional = [field for field in vertical.fields if field.missing]
    absent = {field.name for field in optional if rng.random() < ABSENT_FROM_SITE}
    number = rng.randrange(1000, 90000)
    rows: list[Entity] = []
    headings: set[str] = set()
    while len(rows) < count:
        values = _make_values(vertical, rng, currency, headings)
        heading = values[vertical.head.name][0]
        headings.add(heading)
        for field in optional:
            if rng.random() < field.missing or field.name in absent:
                values[field.name] = ()
        number += rng.randrange(1, 40)
        rows.append(Entity(number, _slug(heading), values))
    return rows


def _make_values(vertical: Vertical, rng: Random, currency: str, headings: Container[str]) -> Values:
    """Return the values of an entity whose heading is new; after some attempts, of one whose heading is not."""
    for _ in range(ATTEMPTS):
        values = _MAKERS[vertical.name](rng, currency)
        if values[vertical.head.name][0] not in headings:
            break
    return values


def refresh_entity(vertical: Vertical, row: Entity, rng: Random) -> Entity:
    """Return the entity some time later: volatile values such as prices and ratings may have changed.

    Watching a site must distinguish such changes from rules that broke. Missing values stay missing.
    """
    later = _MAKERS[vertical.name](rng, _currency(row))
    changed = {
        field.name: later[field.name]
        for field in vertical.fields
        if field.volatile and row.values[field.name] and rng.random() < 0.7
    }
    return replace(row, values=row.values | changed)


def _currency(row: Entity) -> str:
    """Return the currency of an entity's prices; a site has only one."""
    values = chain.from_iterable(row.values.values())
    return next((value[0] for value in values if value[:1] in "$£€"), "$")


def _slug(text: str) -> str:
    """Return a text as URLs contain it: lower-case ASCII words joined by hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _title(rng: Random) -> str:
    """Return the title of a book or a movie. The words repeat, so one title may be part of another."""
    quality = rng.choice(WORDS["qualities"])
    noun, other = rng.choice(WORDS["nouns"]), rng.choice(WORDS["nouns"])
    shapes = (
        f"The {quality} {noun}",
        f"{quality} {noun}",
        f"The {noun} and the {other}",
        f"A {noun} of {quality} {other}s",
        f"{rng.choice(WORDS['first_names'])}’s {noun}",
    )
    return rng.choice(shapes)


def _date(rng: Random, first: int, days: int) -> str:
    """Return an ISO date within a number of days after the start of a year."""
    return (date(first, 1, 1) + timedelta(days=rng.randrange(days))).isoformat()


def _price(rng: Random, currency: str, low: int, high: int) -> str:
    """Return a price between two whole amounts, with cents that shops like."""
    return f"{currency}{rng.randrange(low, high)}.{rng.choice(('99', '95', '50', '00', '49'))}"


def _phone_number(rng: Random) -> str:
    """Return ten digits; 555 numbers belong to nobody."""
    return f"{rng.choice((212, 312, 415, 617, 206, 512, 503, 303))}555{rng.randrange(100, 9999):04}"


def _rating(rng: Random) -> str:
    """Return a rating from 1.0 to 5.0."""
    return f"{rng.randrange(10, 51) / 10:.1f}"


def _isbn(rng: Random) -> str:
    """Return an ISBN-13 with a correct check digit."""
    digits = f"978{rng.randrange(10**9):09}"
    check = -sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10
    return f"{digits}{check}"


def _sample_some(rng: Random, options: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return one to four different options, at most `most`."""
    return tuple(rng.sample(options, min(most, rng.choice((1, 2, 2, 3, 4)))))


def _people(rng: Random) -> tuple[str, ...]:
    """Return one name, sometimes two."""
    return tuple(make_person(rng) for _ in range(1 + (rng.random() < 0.15)))


def _image_path(rng: Random) -> str:
    return f"/images/p/{rng.randrange(16**6):06x}.jpg"


def _restaurant(rng: Random, currency: str) -> Values:
    """Return a restaurant. The fax number looks like the phone number."""
    city, state, zip_code = rng.choice(CITIES)
    kind, last = rng.choice(WORDS["restaurant_kinds"]), rng.choice(WORDS["last_names"])
    first = rng.choice(
        (f"{last}’s", f"The {rng.choice(WORDS['qualities'])} {rng.choice(WORDS['nouns'])}", last)
    )
    street = f"{rng.randrange(1, 4999)} {rng.choice(('', '', 'W. ', 'E. '))}{rng.choice(WORDS['streets'])}"
    end = rng.choice(("St", "St.", "Ave", "Ave.", "Blvd.", "Road"))
    return {
        "name": (f"{first} {kind}",),
        "address": (f"{street} {end}|{city}|{state}|{zip_code}{rng.randrange(100):02}",),
        "phone": (_phone_number(rng),),
        "cuisine": _sample_some(rng, WORDS["cuisines"], 3),
        "hours": (
            rng.choice(("Daily 11am–10pm", "Mon-Sat 5-11 p.m.", "Tue–Sun noon–midnight", "Open 24 hours")),
        ),
        "price_range": (
            rng.choice((f"{currency}15 and under", f"{currency}16-{currency}30", "Moderate", "$$$")),
        ),
        "fax": (_phone_number(rng),),
        "description": (make_paragraph(rng),),
        "score": (_rating(rng),),
    }


def _book(rng: Random, currency: str) -> Values:
    """Return a book. The list price looks like the price, the ISBN-10 like the ISBN-13."""
    return {
        "title": (_title(rng),),
        "author": _people(rng),
        "isbn_13": (_isbn(rng),),
        "publisher": (rng.choice(WORDS["publishers"]),),
        "publication_date": (_date(rng, 1985, 9000),),
        "price": (_price(rng, currency, 4, 60),),
        "list_price": (_price(rng, currency, 20, 90),),
        "pages": (str(rng.randrange(80, 900)),),
        "language": (rng.choice(("English", "English", "French", "Spanish")),),
        "isbn_10": (f"{rng.randrange(10**10):010}",),
        "description": (make_paragraph(rng),),
        "score": (_rating(rng),),
    }


def _product(rng: Random, currency: str) -> Values:
    """Return a product. Its name contains the model, and often the brand."""
    brand, kind = rng.choice(WORDS["brands"]), rng.choice(WORDS["product_kinds"])
    model = f"{rng.choice('ABCDEFGKMNRSTXZ')}{rng.randrange(10, 999)}"
    return {
        "name": (f"{rng.choice((brand + ' ', ''))}{rng.choice(WORDS['product_lines'])} {kind} {model}",),
        "brand": (brand,),
        "price": (_price(rng, currency, 9, 900),),
        "image": (_image_path(rng),),
        "description": (make_paragraph(rng),),
        "rating": (_rating(rng),),
        "list_price": (_price(rng, currency, 20, 990),),
        "model": (model,),
        "weight": (f"{rng.randrange(1, 60) / 2:g} pounds",),
        "availability": (rng.choice(("In stock", "Ships in 2-3 days", "Only a few left")),),
        "warranty": (rng.choice(("1 year", "2 years", "90 days", "Lifetime")),),
    }


def _job(rng: Random, currency: str) -> Values:
    """Return a job posting. The closing date looks like the date of the posting."""
    city, state, _ = rng.choice(CITIES)
    low = rng.randrange(30, 150)
    wide = f"{currency}{low},000 - {currency}{low + rng.randrange(5, 40)},000 a year"
    role = f"{rng.choice(WORDS['job_fields'])} {rng.choice(WORDS['job_roles'])}"
    return {
        "title": (rng.choice((role, f"{rng.choice(WORDS['job_levels'])} {role}", f"{role} (m/f)")),),
        "company": (f"{rng.choice(WORDS['last_names'])} {rng.choice(WORDS['company_endings'])}",),
        "location": (f"{city}, {state}",),
        "date_posted": (_date(rng, 2009, 900),),
        "salary": (rng.choice((wide, f"{currency}{rng.randrange(11, 60)}.50 an hour")),),
        "employment": (rng.choice(("Full-time", "Part-time", "Contract", "Internship")),),
        "closing": (_date(rng, 2012, 300),),
        "reference": (f"REQ-{rng.randrange(10**5):05}",),
        "description": (make_paragraph(rng, 8),),
        "requirements": tuple(make_sentence(rng) for _ in range(rng.randint(3, 6))),
    }


def _movie(rng: Random, currency: str) -> Values:
    """Return a movie. Writers and actors look like directors, the DVD date contains a year."""
    return {
        "title": (_title(rng),),
        "director": _people(rng),
        "genre": _sample_some(rng, WORDS["genres"], 4),
        "mpaa_rating": (rng.choice(WORDS["mpaa_ratings"]),),
        "year": (str(rng.randrange(1935, 2012)),),
        "runtime": (f"{rng.randrange(70, 190)} min",),
        "writer": (make_person(rng),),
        "studio": (f"{rng.choice(WORDS['nouns'])} Pictures",),
        "dvd_date": (_date(rng, 1998, 4500),),
        "cast": tuple(make_person(rng) for _ in range(rng.randint(3, 7))),
        "description": (make_paragraph(rng),),
        "score": (_rating(rng),),
    }


def _recipe(rng: Random, currency: str) -> Values:
    """Return a recipe. Preparation time looks like cooking time; steps mention ingredients."""
    food = rng.sample(WORDS["food"], rng.randint(5, 12))
    steps = [
        step.format(n=rng.randrange(300, 475, 25), m=rng.randrange(3, 60), a=rng.choice(food), b=food[0])
        for step in rng.sample(WORDS["steps"], rng.randint(3, 7))
    ]
    return {
        "name": (" ".join((*rng.sample(WORDS["dish_styles"], 2), rng.choice(WORDS["dishes"]))),),
        "author": (make_person(rng),),
        "ingredients": tuple(f"{rng.choice(WORDS['units'])} {item}" for item in food),
        "instructions": tuple(steps),
        "cook_time": (str(rng.randrange(5, 200, 5)),),
        "image": (_image_path(rng),),
        "prep_time": (str(rng.randrange(5, 60, 5)),),
        "servings": (str(rng.randrange(2, 13)),),
        "calories": (f"{rng.randrange(90, 900)} kcal",),
        "description": (make_paragraph(rng),),
        "score": (_rating(rng),),
    }


# Each returns the values of an entity: (random numbers, currency) -> values by field.
_MAKERS: dict[str, Callable[[Random, str], Values]] = {
    "restaurant": _restaurant,
    "book": _book,
    "product": _product,
    "job": _job,
    "movie": _movie,
    "recipe": _recipe,
}
