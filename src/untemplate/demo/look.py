"""The look of a site: independent choices, each drawn from the seed by its own name.

A redesign draws the choices anew. How strong it must be to touch a choice is the choice's `hold`: class names
and the order of things go first, the skeleton of the page last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any, Self, TypeVar, get_type_hints

from untemplate.demo.verticals import Field, Vertical

__all__ = ["SECTIONS", "Choice", "Look", "Markup"]

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
class Choice:
    """How to draw one choice, the strength of redesign below which it stays, whether templates share it."""

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

    names: Annotated[str, Choice(lambda rng, _: f"{rng.getrandbits(48):x}", 0.5, frame=True)]
    class_style: Annotated[
        str,
        Choice(
            _one_of(
                "plain", "plain", "kebab", "bem", "camel", "utility", "module", "opaque", "legacy", "bare"
            ),
            0.5,
            frame=True,
        ),
    ]
    outer: Annotated[tuple[str, ...], Choice(_chain, 0.55, frame=True)]
    columns: Annotated[str, Choice(_one_of("table", "divs", "aside", "floats"), 0.5, frame=True)]
    sidebar: Annotated[str, Choice(_one_of("left", "right", "right", "none"), 0.4, frame=True)]
    header: Annotated[str, Choice(_one_of("div", "header", "table", "center"), 0.45, frame=True)]
    navigation: Annotated[str, Choice(_one_of("list", "nav", "table", "line", "select"), 0.35, frame=True)]
    breadcrumb: Annotated[str, Choice(_one_of("none", "links", "list", "line"), 0.3, frame=True)]
    footer: Annotated[str, Choice(_one_of("div", "footer", "table", "line", "columns"), 0.35, frame=True)]
    directory: Annotated[int, Choice(_one_of(20, 40, 70, 110), 0.35, frame=True)]
    ads: Annotated[str, Choice(_one_of("iframe", "picture", "words", "table"), 0.3, frame=True)]
    title: Annotated[
        str,
        Choice(
            _one_of("{name} | {site}", "{site}: {name}", "{name} - {vertical} - {site}", "{name}"),
            0.3,
            frame=True,
        ),
    ]
    encoding: Annotated[
        str,
        Choice(
            _one_of("utf-8", "utf-8", "utf-8", "bom", "latin-1", "cp1252", "undeclared", "late"),
            0.6,
            frame=True,
        ),
    ]
    embedded: Annotated[
        str, Choice(_one_of("none", "none", "json-ld", "microdata", "open graph"), 0.45, frame=True)
    ]
    unclosed: Annotated[
        tuple[str, ...],
        Choice(_one_of((), (), (), ("li",), ("p",), ("td", "tr"), ("dd", "dt", "li")), 0.3, frame=True),
    ]
    shouted: Annotated[bool, Choice(_often(0.15), 0.4, frame=True)]
    spaced: Annotated[bool, Choice(_often(0.4), 0.2, frame=True)]
    scripts: Annotated[int, Choice(_one_of(4, 8, 14, 22), 0.2, frame=True)]
    capitals: Annotated[bool, Choice(_often(0.08), 0.6, frame=True)]
    phone: Annotated[
        str, Choice(_one_of("({}) {}-{}", "{}-{}-{}", "{}.{}.{}", "+1 {} {} {}"), 0.5, frame=True)
    ]
    date: Annotated[
        str,
        Choice(
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
        str, Choice(_one_of("{symbol}{amount}", "{symbol}{amount}", "{code} {amount}"), 0.5, frame=True)
    ]
    minutes: Annotated[
        str, Choice(_one_of("{total} minutes", "{total} min", "{total} mins.", "hours"), 0.5, frame=True)
    ]
    isbn_dash: Annotated[bool, Choice(_often(0.5), 0.5, frame=True)]

    main: Annotated[tuple[str, ...], Choice(_chain, 0.45)]
    sections: Annotated[dict[str, float], Choice(_sections, 0.0)]
    wrappers: Annotated[dict[str, tuple[str, ...]], Choice(_wrappers, 0.0)]
    heading: Annotated[str, Choice(_one_of("h1", "h1", "h2", "div", "span", "font"), 0.3)]
    facts: Annotated[
        str,
        Choice(
            _one_of("dl", "table", "grid", "list", "spans", "line", "divs", "paragraphs", "headings"), 0.3
        ),
    ]
    labelling: Annotated[str, Choice(_one_of("apart", "apart", "inside", "none"), 0.3)]
    label_end: Annotated[str, Choice(_one_of(":", ":", "", " -"), 0.15)]
    specific: Annotated[bool, Choice(_often(0.5), 0.25)]
    labels: Annotated[dict[str, str], Choice(_for_fields(lambda rng, item: rng.choice(item.labels)), 0.1)]
    markup: Annotated[dict[str, Markup], Choice(_for_fields(_markup), 0.1)]
    places: Annotated[dict[str, str], Choice(_for_fields(lambda rng, item: rng.choice(item.places)), 0.2)]
    affixes: Annotated[
        dict[str, tuple[str, str]], Choice(_for_fields(lambda rng, item: rng.choice(item.affixes)), 0.2)
    ]
    many: Annotated[
        dict[str, str],
        Choice(
            _for_fields(lambda rng, item: rng.choice(("links", "links", "joined", "spans", "items"))), 0.2
        ),
    ]
    lists: Annotated[
        dict[str, str],
        Choice(
            _for_fields(lambda rng, item: rng.choice(("ul", "ol", "paragraphs", "lines", "rows", "divs"))),
            0.2,
        ),
    ]
    order: Annotated[dict[str, float], Choice(_for_fields(lambda rng, item: rng.random()), 0.0)]
    address: Annotated[str, Choice(_one_of("line", "breaks", "spans", "divs"), 0.2)]
    broken_prose: Annotated[bool, Choice(_often(0.2), 0.2)]
    shuffled: Annotated[bool, Choice(_often(0.15), 0.2)]
    swapped: Annotated[bool, Choice(_often(0.2), 0.2)]
    blanks: Annotated[bool, Choice(_often(0.25), 0.2)]
    running_ids: Annotated[bool, Choice(_often(0.35), 0.1)]
    page_tokens: Annotated[bool, Choice(_often(0.15), 0.1)]
    lazy_images: Annotated[bool, Choice(_often(0.25), 0.2)]
    related: Annotated[str, Choice(_one_of("list", "table", "cards", "headings"), 0.2)]
    same_names: Annotated[bool, Choice(_often(0.4), 0.2)]
    reviews: Annotated[str, Choice(_one_of("none", "divs", "list", "table"), 0.2)]
    results: Annotated[
        str, Choice(_one_of("list", "table", "cards", "pairs", "articles", "definitions"), 0.25)
    ]

    #: seeds of redesigns, each with the share of class names it changed
    renames: tuple[tuple[str, float], ...] = ()

    @classmethod
    def draw(cls, vertical: Vertical, frame_seed: str, main_seed: str) -> Self:
        """A look; two with the same frame seed share header, footer and habits."""
        return cls(
            **{
                name: choice.draw(Random(f"{frame_seed if choice.frame else main_seed}/{name}"), vertical)
                for name, choice in _CHOICES.items()
            }
        )

    def redesigned(self, other: Self, strength: float, seed: str) -> Self:
        """This look with some of another's choices: none at strength 0, all at 1."""
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


_CHOICES: dict[str, Choice] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Look, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}
