"""The look of a site: independent choices, each drawn from the seed by its own name.

A redesign draws the choices anew. A choice changes only if the redesign is stronger than its `hold`: class names and
the order of things change first, the skeleton of the page last. The names of choices and of parts of a page seed the
random draws, so renaming one changes all made-up sites.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from random import Random
from typing import Annotated, Any, Self, TypeVar, get_type_hints

from untemplate.demo.entities import Entity
from untemplate.demo.verticals import Field, Vertical

__all__ = [
    "SECTIONS",
    "ClassNames",
    "Look",
    "LookChoice",
    "Markup",
    "Setting",
    "detail_url",
    "format_value",
    "split_address",
]

T = TypeVar("T")

#: the parts of a detail page's main column
SECTIONS = (
    "heading",
    "image",
    "byline",
    "offer",
    "block",
    "facts",
    "prose",
    "lists",
    "reviews",
    "related",
    "ad",
)


@dataclass(frozen=True)
class Markup:
    """How a value is marked up: the inline element around it, and on which pages it is a link."""

    tag: str
    link: str


Draw = Callable[[Random, Vertical], Any]


@dataclass(frozen=True)
class LookChoice:
    """How to draw one choice.

    Redesigns weaker than `hold` keep it. All templates of a site share the choices of the `frame`.
    """

    draw: Draw
    hold: float
    frame: bool = False


def _one_of(*options: T) -> Callable[[Random, Vertical], T]:
    return lambda rng, _: rng.choice(options)


def _often(share: float) -> Callable[[Random, Vertical], bool]:
    return lambda rng, _: rng.random() < share


def _for_fields(draw: Callable[[Random, Field], T]) -> Callable[[Random, Vertical], dict[str, T]]:
    return lambda rng, vertical: {item.name: draw(rng, item) for item in vertical.fields}


def _chain(rng: Random, _: Vertical) -> tuple[str, ...]:
    tags: Sequence[str] = rng.choice(
        (
            ("div",),
            ("div", "section"),
            ("div", "main", "article"),
            ("table", "center", "div"),
            ("span", "div"),
        )
    )
    return tuple(rng.choice(tags) for _ in range(rng.choice((1, 2, 2, 3, 3, 4))))


def _markup(rng: Random, item: Field) -> Markup:
    return Markup(
        rng.choice(("", "", "span", "span", "b", "strong", "em", "div", "font")),
        rng.choice(("never", "never", "never", "always", "sometimes")),
    )


def _sections(rng: Random, _: Vertical) -> dict[str, float]:
    early, late = {"heading": 0.3, "byline": 0.5}, {"related": 0.5, "reviews": 0.5}
    return {name: rng.uniform(late.get(name, 0.0), early.get(name, 1.0)) for name in SECTIONS}


def _wrappers(rng: Random, _: Vertical) -> dict[str, tuple[str, ...]]:
    options = ((), (), ("div",), ("section",), ("div", "div"), ("table",))
    return {name: rng.choice(options) for name in SECTIONS}


@dataclass(frozen=True)
class Look:
    """All that is chosen about how a site's pages are written.

    Choices of the `frame` are shared by all templates of a site. Those that are dictionaries are made part by
    part, so that a small redesign moves one attribute and leaves the others.
    """

    names: Annotated[str, LookChoice(lambda rng, _: f"{rng.getrandbits(48):x}", 0.5, frame=True)]
    class_style: Annotated[
        str,
        LookChoice(
            _one_of(
                "plain", "plain", "kebab", "bem", "camel", "utility", "module", "opaque", "legacy", "bare"
            ),
            0.5,
            frame=True,
        ),
    ]
    outer: Annotated[tuple[str, ...], LookChoice(_chain, 0.55, frame=True)]
    columns: Annotated[str, LookChoice(_one_of("table", "divs", "aside", "floats"), 0.5, frame=True)]
    sidebar: Annotated[str, LookChoice(_one_of("left", "right", "right", "none"), 0.4, frame=True)]
    header: Annotated[str, LookChoice(_one_of("div", "header", "table", "center"), 0.45, frame=True)]
    navigation: Annotated[
        str, LookChoice(_one_of("list", "nav", "table", "line", "select"), 0.35, frame=True)
    ]
    breadcrumb: Annotated[str, LookChoice(_one_of("none", "links", "list", "line"), 0.3, frame=True)]
    footer: Annotated[str, LookChoice(_one_of("div", "footer", "table", "line", "columns"), 0.35, frame=True)]
    directory: Annotated[int, LookChoice(_one_of(20, 40, 70, 110), 0.35, frame=True)]
    ads: Annotated[str, LookChoice(_one_of("iframe", "picture", "words", "table"), 0.3, frame=True)]
    title: Annotated[
        str,
        LookChoice(
            _one_of("{name} | {site}", "{site}: {name}", "{name} - {vertical} - {site}", "{name}"),
            0.3,
            frame=True,
        ),
    ]
    encoding: Annotated[
        str,
        LookChoice(
            _one_of("utf-8", "utf-8", "utf-8", "bom", "latin-1", "cp1252", "undeclared", "late"),
            0.6,
            frame=True,
        ),
    ]
    embedded: Annotated[
        str, LookChoice(_one_of("none", "none", "json-ld", "microdata", "open graph"), 0.45, frame=True)
    ]
    unclosed: Annotated[
        tuple[str, ...],
        LookChoice(_one_of((), (), (), ("li",), ("p",), ("td", "tr"), ("dd", "dt", "li")), 0.3, frame=True),
    ]
    shouted: Annotated[bool, LookChoice(_often(0.15), 0.4, frame=True)]
    spaced: Annotated[bool, LookChoice(_often(0.4), 0.2, frame=True)]
    scripts: Annotated[int, LookChoice(_one_of(4, 8, 14, 22), 0.2, frame=True)]
    capitals: Annotated[bool, LookChoice(_often(0.08), 0.6, frame=True)]
    phone: Annotated[
        str, LookChoice(_one_of("({}) {}-{}", "{}-{}-{}", "{}.{}.{}", "+1 {} {} {}"), 0.5, frame=True)
    ]
    date: Annotated[
        str,
        LookChoice(
            _one_of(
                "{0:%B} {day}, {0:%Y}",
                "{day} {0:%b} {0:%Y}",
                "{0:%Y-%m-%d}",
                "{0:%m/%d/%Y}",
                "{0:%b} {day}, {0:%Y}",
            ),
            0.5,
            frame=True,
        ),
    ]
    money: Annotated[
        str, LookChoice(_one_of("{symbol}{amount}", "{symbol}{amount}", "{code} {amount}"), 0.5, frame=True)
    ]
    minutes: Annotated[
        str, LookChoice(_one_of("{total} minutes", "{total} min", "{total} mins.", "hours"), 0.5, frame=True)
    ]
    isbn_dash: Annotated[bool, LookChoice(_often(0.5), 0.5, frame=True)]

    main: Annotated[tuple[str, ...], LookChoice(_chain, 0.45)]
    sections: Annotated[dict[str, float], LookChoice(_sections, 0.0)]
    wrappers: Annotated[dict[str, tuple[str, ...]], LookChoice(_wrappers, 0.0)]
    heading: Annotated[str, LookChoice(_one_of("h1", "h1", "h2", "div", "span", "font"), 0.3)]
    facts: Annotated[
        str,
        LookChoice(
            _one_of("dl", "table", "grid", "list", "spans", "line", "divs", "paragraphs", "headings"), 0.3
        ),
    ]
    labelling: Annotated[str, LookChoice(_one_of("apart", "apart", "inside", "none"), 0.3)]
    label_end: Annotated[str, LookChoice(_one_of(":", ":", "", " -"), 0.15)]
    specific: Annotated[bool, LookChoice(_often(0.5), 0.25)]
    labels: Annotated[dict[str, str], LookChoice(_for_fields(lambda rng, item: rng.choice(item.labels)), 0.1)]
    markup: Annotated[dict[str, Markup], LookChoice(_for_fields(_markup), 0.1)]
    places: Annotated[dict[str, str], LookChoice(_for_fields(lambda rng, item: rng.choice(item.places)), 0.2)]
    affixes: Annotated[
        dict[str, tuple[str, str]], LookChoice(_for_fields(lambda rng, item: rng.choice(item.affixes)), 0.2)
    ]
    many: Annotated[
        dict[str, str],
        LookChoice(
            _for_fields(lambda rng, item: rng.choice(("links", "links", "joined", "spans", "items"))), 0.2
        ),
    ]
    lists: Annotated[
        dict[str, str],
        LookChoice(
            _for_fields(lambda rng, item: rng.choice(("ul", "ol", "paragraphs", "lines", "rows", "divs"))),
            0.2,
        ),
    ]
    order: Annotated[dict[str, float], LookChoice(_for_fields(lambda rng, item: rng.random()), 0.0)]
    address: Annotated[str, LookChoice(_one_of("line", "breaks", "spans", "divs"), 0.2)]
    broken_prose: Annotated[bool, LookChoice(_often(0.2), 0.2)]
    shuffled: Annotated[bool, LookChoice(_often(0.15), 0.2)]
    swapped: Annotated[bool, LookChoice(_often(0.2), 0.2)]
    blanks: Annotated[bool, LookChoice(_often(0.25), 0.2)]
    running_ids: Annotated[bool, LookChoice(_often(0.35), 0.1)]
    page_tokens: Annotated[bool, LookChoice(_often(0.15), 0.1)]
    lazy_images: Annotated[bool, LookChoice(_often(0.25), 0.2)]
    related: Annotated[str, LookChoice(_one_of("list", "table", "cards", "headings"), 0.2)]
    same_names: Annotated[bool, LookChoice(_often(0.4), 0.2)]
    reviews: Annotated[str, LookChoice(_one_of("none", "divs", "list", "table"), 0.2)]
    results: Annotated[
        str, LookChoice(_one_of("list", "table", "cards", "pairs", "articles", "definitions"), 0.25)
    ]

    #: seeds of redesigns, each with the share of class names it changed
    renames: tuple[tuple[str, float], ...] = ()

    @classmethod
    def draw(cls, vertical: Vertical, frame_seed: str, main_seed: str) -> Self:
        """Return a look; two looks with the same frame seed share header, footer and habits."""
        return cls(
            **{
                name: choice.draw(Random(f"{frame_seed if choice.frame else main_seed}/{name}"), vertical)
                for name, choice in _CHOICES.items()
            }
        )

    def redesigned(self, other: Self, strength: float, seed: str) -> Self:
        """Return this look with some choices of another one: none at strength 0, all at 1."""
        changes: dict[str, Any] = {}
        for name, choice in _CHOICES.items():
            chance = (strength - choice.hold) / (1 - choice.hold)
            rng = Random(f"{seed}/{name}")
            old, new = getattr(self, name), getattr(other, name)
            if isinstance(old, dict):
                changes[name] = {part: new[part] if rng.random() < chance else old[part] for part in old}
            elif rng.random() < chance:
                changes[name] = new
        renames = (*self.renames, (seed, strength)) if strength else self.renames
        return replace(self, **changes, renames=renames)


_CHOICES: dict[str, LookChoice] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Look, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}


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
_ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789"


class ClassNames:
    """The class names of one look: the same part has the same name on all its pages."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known: dict[str, str] = {}

    @property
    def bare(self) -> bool:
        """Whether the site uses no class names at all."""
        return self._look.class_style == "bare"

    def __call__(self, part: str) -> str:
        if part not in self._known:
            self._known[part] = self._make_name(part)
        return self._known[part]

    def _make_name(self, part: str) -> str:
        seed = self._look.names
        for rename, share in self._look.renames:
            if Random(f"{rename}/{part}").random() < share:
                seed = rename
        rng = Random(f"{seed}/{part}")
        plain = (part.replace("_", "-"), part.split("_")[0], part.replace("_", ""))
        word = rng.choice(_SYNONYMS.get(part, plain))
        token = "".join(rng.choices(_ALPHABET, k=5))
        block = Random(f"{self._look.names}/block").choice(("pg", "app", "x", "site", "ui", "entity", "main"))
        match self._look.class_style:
            case "kebab":
                return f"{block}-{word}"
            case "bem":
                return f"{block}__{word}"
            case "camel":
                return block + word.title().replace("-", "")
            case "utility":
                return (
                    f"{word} {rng.choice(('mt', 'pb', 'px'))}-{rng.randrange(9)} col-{rng.randrange(1, 13)}"
                )
            case "module":
                return f"{word}_{token}"
            case "opaque":
                return f"sc-{token}"
            case "legacy":
                return f"{word[:3]}{rng.randrange(1, 20)}"
            case "bare":
                return ""
            case _:
                return word


# Values

_CODES = {"$": "USD", "£": "GBP", "€": "EUR"}


def format_value(field: Field, value: str, look: Look) -> str:
    """Return a canonical value as this look writes it; a value has the same text on the whole site."""
    if field.places == ("heading",):
        return value.upper() if look.capitals else value
    match field.kind:
        case "phone":
            return look.phone.format(value[:3], value[3:6], value[6:])
        case "date":
            day = date.fromisoformat(value)
            return look.date.format(day, day=day.day)
        case "money":
            return look.money.format(symbol=value[0], code=_CODES[value[0]], amount=value[1:])
        case "minutes":
            hours, minutes = divmod(int(value), 60)
            return look.minutes.format(total=value) if "{total}" in look.minutes else _hours(hours, minutes)
        case "isbn":
            return f"{value[:3]}-{value[3:]}" if look.isbn_dash else value
        case "address":
            return " ".join(split_address(value))
        case _:
            return value


def split_address(value: str) -> tuple[str, str]:
    """Return the street and the rest of an address."""
    street, city, state, code = value.split("|")
    return f"{street},", f"{city}, {state} {code}"


def _hours(hours: int, minutes: int) -> str:
    parts = [f"{hours} hr"] * bool(hours) + [f"{minutes} min"] * bool(minutes)
    return " ".join(parts)


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
    """All that the pages of one template of a site have in common."""

    site: str
    title: str
    host: str
    vertical: Vertical
    look: Look
    rows: Sequence[Entity]

    @cached_property
    def names(self) -> ClassNames:
        return ClassNames(self.look)

    def url(self, row: Entity) -> str:
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
