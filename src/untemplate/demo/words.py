"""The words a made-up web is written with, read from `words.toml`."""

from __future__ import annotations

import tomllib
from importlib import resources
from random import Random

__all__ = [
    "ADVERTISEMENTS",
    "BOOK_SUBJECTS",
    "BRANDS",
    "CITIES",
    "COMPANY_ENDINGS",
    "CUISINES",
    "DISHES",
    "DISH_STYLES",
    "FIRST_NAMES",
    "FOOD",
    "FOOTER_LINKS",
    "GENRES",
    "HELP_TOPICS",
    "JOB_FIELDS",
    "JOB_LEVELS",
    "JOB_ROLES",
    "LAST_NAMES",
    "MAIN_LINKS",
    "MPAA_RATINGS",
    "NOUNS",
    "PRODUCT_KINDS",
    "PRODUCT_LINES",
    "PUBLISHERS",
    "QUALITIES",
    "RESTAURANT_KINDS",
    "SITE_ENDINGS",
    "SITE_WORDS",
    "STEPS",
    "STREETS",
    "UNITS",
    "paragraph",
    "person",
    "sentence",
]

_LISTS: dict[str, tuple[str, ...]] = {
    name: tuple(items)
    for name, items in tomllib.loads((resources.files(__package__) / "words.toml").read_text("utf-8")).items()
}

ADVERTISEMENTS = _LISTS["advertisements"]
BOOK_SUBJECTS = _LISTS["book_subjects"]
BRANDS = _LISTS["brands"]
CITIES = tuple((city, state, code) for city, state, code in (line.split("|") for line in _LISTS["cities"]))
COMPANY_ENDINGS = _LISTS["company_endings"]
CUISINES = _LISTS["cuisines"]
DISHES = _LISTS["dishes"]
DISH_STYLES = _LISTS["dish_styles"]
FIRST_NAMES = _LISTS["first_names"]
FOOD = _LISTS["food"]
FOOTER_LINKS = _LISTS["footer_links"]
GENRES = _LISTS["genres"]
HELP_TOPICS = _LISTS["help_topics"]
JOB_FIELDS = _LISTS["job_fields"]
JOB_LEVELS = _LISTS["job_levels"]
JOB_ROLES = _LISTS["job_roles"]
LAST_NAMES = _LISTS["last_names"]
MAIN_LINKS = _LISTS["main_links"]
MPAA_RATINGS = _LISTS["mpaa_ratings"]
NOUNS = _LISTS["nouns"]
PRODUCT_KINDS = _LISTS["product_kinds"]
PRODUCT_LINES = _LISTS["product_lines"]
PUBLISHERS = _LISTS["publishers"]
QUALITIES = _LISTS["qualities"]
RESTAURANT_KINDS = _LISTS["restaurant_kinds"]
SITE_ENDINGS = _LISTS["site_endings"]
SITE_WORDS = _LISTS["site_words"]
STEPS = _LISTS["steps"]
STREETS = _LISTS["streets"]
UNITS = _LISTS["units"]
_SUBJECTS = _LISTS["subjects"]
_VERBS = _LISTS["verbs"]
_OPINIONS = _LISTS["opinions"]
_TAILS = _LISTS["tails"]


def person(rng: Random) -> str:
    """A full name, sometimes with an initial."""
    initial = f" {rng.choice('ABCDEFGHJKLMPRSTW')}." if rng.random() < 0.2 else ""
    return f"{rng.choice(FIRST_NAMES)}{initial} {rng.choice(LAST_NAMES)}"


def sentence(rng: Random) -> str:
    """One sentence of the kind reviews and descriptions are full of."""
    words = (rng.choice(_SUBJECTS), rng.choice(_VERBS), rng.choice(_OPINIONS))
    return f"{' '.join(words)}{rng.choice(_TAILS)}."


def paragraph(rng: Random, most: int = 5) -> str:
    """Two to `most` sentences."""
    return " ".join(sentence(rng) for _ in range(rng.randint(2, most)))
