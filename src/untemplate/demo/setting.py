"""What the pages of one template share, following from its look: class names, the formats of values, URLs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from random import Random

from untemplate.demo.look import Look
from untemplate.demo.verticals import Entity, Field, Vertical

__all__ = ["CURRENCY_CODES", "ClassNames", "Setting", "detail_url", "format_value", "split_address"]

# Class names

_SYNONYMS = {
    "ad": ("ad", "sponsor", "promo", "banner", "adslot"),
    "block": ("contact", "location", "vcard", "where"),
    "byline": ("byline", "subtitle", "sub", "meta", "credits"),
    "card": ("card", "item", "result", "entry", "listing", "row"),
    "fact": ("fact", "field", "attr", "spec", "prop"),
    "facts": ("facts", "details", "info", "specs", "attributes", "data"),
    "footer": ("footer", "foot", "bottom", "ft"),
    "header": ("header", "top", "masthead", "hd"),
    "heading": ("title", "name", "headline", "heading", "hdr"),
    "label": ("label", "key", "lbl", "term"),
    "list": ("list", "items", "steps", "entries"),
    "main": ("main", "content", "body", "primary", "center"),
    "navigation": ("nav", "menu", "navbar", "tabs", "links"),
    "offer": ("offer", "buy", "buybox", "purchase", "pricing"),
    "page": ("page", "wrapper", "container", "site", "shell"),
    "prose": ("description", "summary", "blurb", "text", "story"),
    "related": ("related", "similar", "recs", "also", "more"),
    "results": ("results", "list", "grid", "hits"),
    "review": ("review", "comment", "opinion", "feedback"),
    "sidebar": ("sidebar", "rail", "aside", "secondary", "right"),
    "value": ("value", "val", "data", "txt"),
}
# How class names are made from a word, a random token and the word that all names of the site start with. Two styles
# draw further numbers: see `ClassNames`.
_CLASS_STYLES = {
    "plain": "{word}",
    "kebab": "{block}-{word}",
    "bem": "{block}__{word}",
    "camel": "{block}{camel}",
    "module": "{word}_{token}",
    "opaque": "sc-{token}",
    "bare": "",
}
_ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789"


class ClassNames:
    """The class names of one look: the same part has the same name on all its pages."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._names: dict[str, str] = {}

    @property
    def bare(self) -> bool:
        """Whether the site uses no class names at all. Rules then depend on tags, captions and positions."""
        return self._look.class_style == "bare"

    def __call__(self, part: str) -> str:
        """Return the class of a part of the page, such as "heading" or the name of a field; empty on bare sites."""
        if part not in self._names:
            self._names[part] = self._make_name(part)
        return self._names[part]

    def _make_name(self, part: str) -> str:
        """Make a class name: a synonym of the part, written in the style of the look.

        All draws are made in any style, so that a redesign to another style keeps the words.
        """
        rng = Random(f"{self._name_seed(part)}/{part}")
        plain = (part.replace("_", "-"), part.split("_")[0], part.replace("_", ""))
        word = rng.choice(_SYNONYMS.get(part, plain))
        token = "".join(rng.choices(_ALPHABET, k=5))
        style = self._look.class_style
        if style == "utility":
            return f"{word} {rng.choice(('mt', 'pb', 'px'))}-{rng.randrange(9)} col-{rng.randrange(1, 13)}"
        if style == "legacy":
            return f"{word[:3]}{rng.randrange(1, 20)}"
        block = Random(f"{self._look.names}/block").choice(("pg", "app", "x", "site", "ui", "entity", "main"))
        camel = word.title().replace("-", "")
        return _CLASS_STYLES[style].format(word=word, token=token, block=block, camel=camel)

    def _name_seed(self, part: str) -> str:
        """Return the seed of a part's name: that of the last redesign that renamed the part, or the original one."""
        seed = self._look.names
        for rename, share in self._look.renames:
            if Random(f"{rename}/{part}").random() < share:
                seed = rename
        return seed


# Values

CURRENCY_CODES = {"$": "USD", "£": "GBP", "€": "EUR"}


def format_value(field: Field, value: str, look: Look) -> str:
    """Return a canonical value as this look writes it; a value has the same text on the whole site."""
    if field.places == ("heading",):
        return value.upper() if look.capitals else value
    formatter = _FORMATTERS.get(field.kind)
    return formatter(value, look) if formatter else value


def _format_phone(value: str, look: Look) -> str:
    return look.phone.format(value[:3], value[3:6], value[6:])


def _format_date(value: str, look: Look) -> str:
    day = date.fromisoformat(value)
    return look.date.format(day, day=day.day)


def _format_money(value: str, look: Look) -> str:
    return look.money.format(symbol=value[0], code=CURRENCY_CODES[value[0]], amount=value[1:])


def _format_minutes(value: str, look: Look) -> str:
    """Return a duration in minutes, or as in "1 hr 20 min"."""
    if look.minutes != "hours":
        return look.minutes.format(total=value)
    hours, minutes = divmod(int(value), 60)
    parts = [f"{hours} hr"] * bool(hours) + [f"{minutes} min"] * bool(minutes)
    return " ".join(parts)


def _format_isbn(value: str, look: Look) -> str:
    return f"{value[:3]}-{value[3:]}" if look.isbn_dash else value


_FORMATTERS: dict[str, Callable[[str, Look], str]] = {
    "phone": _format_phone,
    "date": _format_date,
    "money": _format_money,
    "minutes": _format_minutes,
    "isbn": _format_isbn,
    "address": lambda value, _: " ".join(split_address(value)),
}


def split_address(value: str) -> tuple[str, str]:
    """Return the street and the rest of an address."""
    street, city, state, code = value.split("|")
    return f"{street},", f"{city}, {state} {code}"


# All that the pages of a template share

_URLS = (
    "/{plural}/{slug}-{number}.html",
    "/{vertical}/{number}/{slug}",
    "/item.php?id={number}",
    "/{plural}/{number}/",
    "/{slug}/{vertical}/{number}.htm",
    "/view/{number}.aspx",
)


def detail_url(site: str, vertical: Vertical, row: Entity) -> str:
    """Return the path of an entity's page; a site keeps one shape of URLs, also after a redesign."""
    shape = Random(f"{site}/url").choice(_URLS)
    return shape.format(vertical=vertical.name, plural=vertical.plural, slug=row.slug, number=row.number)


@dataclass(frozen=True)
class Setting:
    """All that the pages of one template of a site have in common.

    Attributes:
        site: name of the site, which seeds what never changes about it.
        title: the name that visitors read.
        host: scheme and host of all URLs.
        rows: all entities of the site, also those without a page; recommendations are drawn from them.
    """

    site: str
    title: str
    host: str
    vertical: Vertical
    look: Look
    rows: Sequence[Entity]

    @cached_property
    def names(self) -> ClassNames:
        """The class names of the template."""
        return ClassNames(self.look)

    def url(self, row: Entity) -> str:
        """Return the path of an entity's page."""
        return detail_url(self.site, self.vertical, row)

    def head(self, row: Entity) -> str:
        """Return the name of an entity on this site."""
        return self.text(self.vertical.head, row)

    def text(self, field: Field, row: Entity) -> str:
        """Return the values of a field on one line; empty if it has none."""
        return ", ".join(format_value(field, value, self.look) for value in row.values[field.name])

    def image(self, value: str) -> str:
        """Return the address of a picture; sites with Open Graph write it in full everywhere."""
        return f"{self.host}{value}" if self.look.embedded == "open graph" else value
