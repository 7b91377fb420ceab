"""The look of a site: how its pages are written, as independent choices drawn from a seed.

A redesign draws the choices anew. A choice changes only if the redesign is stronger than its `min_strength`: class
names and the order of things change first, the skeleton of the page last. The names of choices and of parts of a page
seed the random draws, so renaming one changes all made-up sites.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any, Self, TypeVar, get_type_hints

from untemplate.demo.verticals import Field, Vertical

__all__ = ["SECTIONS", "WIDGETS", "Look", "LookChoice", "Markup"]

T = TypeVar("T")
Draw = Callable[[Random, Vertical], T]

#: the parts of a detail page's main column
SECTIONS = (
    *("heading", "image", "byline", "offer", "block", "facts", "prose", "lists", "reviews", "related", "ad"),
)

#: the parts that a frame may have besides logo, navigation and footer links, by their area
WIDGETS = {
    "top": ("top_bar", "account", "login", "search_panel", "menu", "strip", "featured"),
    "side": (
        *("categories", "recent", "top_ten", "tags", "newsletter", "poll", "calendar", "quotes", "archive"),
    ),
    "bottom": ("columns", "social", "payment", "contact", "apps", "legal", "brands", "to_top"),
    "overlay": ("cookies", "popup", "chat", "sprite", "no_script"),
}


# The share of all widgets that a frame has at least and at most. Chosen on the sites with the seeds 0 to 4 so that
# frames are as big as those of real sites, which `python -m benchmarks.measure.frames` compares on other seeds.
MIN_RICHNESS, MAX_RICHNESS = 0.0, 0.42


@dataclass(frozen=True)
class Markup:
    """How a value is marked up.

    Attributes:
        tag: the inline element around it; empty for none.
        link: on which pages it is a link: "never", "always" or "sometimes". A rule that relies on the link then
            misses the other pages.
    """

    tag: str
    link: str


@dataclass(frozen=True)
class LookChoice:
    """How to draw one choice of a look.

    Attributes:
        draw: returns the choice for a vertical.
        min_strength: redesigns weaker than this keep the choice.
        frame: the choice is shared by all templates of a site.
        seed: the name that seeds the draw; by default that of the choice.
    """

    draw: Draw[Any]
    min_strength: float
    frame: bool = False
    seed: str = ""


def _one_of(*options: T) -> Draw[T]:
    """Draw one of the options; repeated ones are more likely."""
    return lambda rng, _: rng.choice(options)


def _often(share: float) -> Draw[bool]:
    """Draw True for this share of the sites."""
    return lambda rng, _: rng.random() < share


def _frame(min_strength: float, *options: object) -> LookChoice:
    """Choose one of the options for all templates of a site."""
    return LookChoice(_one_of(*options), min_strength, frame=True)


def _template(min_strength: float, *options: object) -> LookChoice:
    """Choose one of the options for each template."""
    return LookChoice(_one_of(*options), min_strength)


def _for_fields(draw: Callable[[Random, Field], T]) -> Draw[dict[str, T]]:
    """Draw a choice for each field of the vertical."""
    return lambda rng, vertical: {item.name: draw(rng, item) for item in vertical.fields}


def _field_option(*options: str) -> Draw[dict[str, str]]:
    """Draw one of the options for each field of the vertical."""
    return _for_fields(lambda rng, _: rng.choice(options))


def _chain(rng: Random, _: Vertical) -> tuple[str, ...]:
    """Draw the tags of nested wrappers: real pages nest their content several levels deep, each site differently."""
    families: tuple[tuple[str, ...], ...] = (
        ("div",),
        ("div", "section"),
        ("div", "main", "article"),
        ("table", "center", "div"),
        ("span", "div"),
    )
    tags = rng.choice(families)
    return tuple(rng.choice(tags) for _ in range(rng.choice((1, 2, 2, 3, 3, 4))))


def _markup(rng: Random, _: Field) -> Markup:
    """Draw how the values of one field are marked up."""
    return Markup(
        rng.choice(("", "", "span", "span", "b", "strong", "em", "div", "font")),
        rng.choice(("never", "never", "never", "always", "sometimes")),
    )


def _sections(rng: Random, _: Vertical) -> dict[str, float]:
    """Draw the position of each section: headings come early, recommendations and reviews late."""
    earliest, latest = {"related": 0.5, "reviews": 0.5}, {"heading": 0.3, "byline": 0.5}
    return {name: rng.uniform(earliest.get(name, 0.0), latest.get(name, 1.0)) for name in SECTIONS}


def _wrappers(rng: Random, _: Vertical) -> dict[str, tuple[str, ...]]:
    """Draw the tags around each section."""
    options = ((), (), ("div",), ("section",), ("div", "div"), ("table",))
    return {name: rng.choice(options) for name in SECTIONS}


def _widgets(rng: Random, _: Vertical) -> dict[str, tuple[str, ...]]:
    """Draw the widgets of each area: a site with many of them in one area often has many in the others."""
    richness = rng.uniform(MIN_RICHNESS, MAX_RICHNESS)
    return {area: tuple(rng.sample(names, round(richness * len(names)))) for area, names in WIDGETS.items()}


@dataclass(frozen=True)
class Look:
    """All choices about how a site's pages are written.

    Each choice is one way in which real sites differ. Together they make every made-up site a different problem, and
    some of them exist only to break naive rules. Choices of the frame are shared by all templates of a site.
    Dictionaries are redesigned part by part, so that a small redesign moves one attribute and leaves the others.

    Attributes:
        names: seed of the class names.
        class_style: how class names are made, from readable words to opaque tokens, or "bare" for none at all.
        outer: tags around the whole page.
        columns: what puts the main column and the sidebar beside each other.
        sidebar: the side on which it is, if there is one.
        header: the element of the header.
        navigation: how the main links are written.
        breadcrumb: how the path to the page is written. It repeats the heading.
        footer: how the footer is written.
        directory: number of links in the footer whose words are values elsewhere, such as "Thai in Boston".
        widgets: the other parts of the frame, by their area.
        ads: what advertisements are made of.
        title: what the title of a page contains besides the name.
        encoding: how pages are encoded, and whether they declare it correctly: a BOM may contradict the declaration,
            the declaration may be missing, or come too late to be read.
        embedded: the data for programs that the page contains.
        unclosed: tags that are never closed, since browsers imply it.
        shouted: tags are in capitals and attributes without quotes, as in the nineties.
        spaced: values are surrounded by line breaks and blanks.
        scripts: how much script and style is in the head.
        capitals: headings are in capitals.
        phone, date, money, minutes, isbn_dash: how values of these kinds are formatted.
        main: tags around the main column.
        sections: position of each section; the lowest is first.
        wrappers: tags around each section.
        heading: element of the heading.
        facts: how captions and values are laid out: a table, a list, lines and so on.
        captioning: where captions are: "apart" from the value, "inside" its text node, or "none".
        caption_end: what follows a caption.
        specific: values have a class that names their field, instead of one class for all.
        captions: the caption of each field.
        markup: how the values of each field are marked up.
        places: the section in which each field appears.
        affixes: words around the value, in its text node.
        many: how several values are written: joined in one node, or each in an element.
        lists: how long lists such as ingredients are written.
        order: position of each field among the others.
        address: whether an address is one node, or several on several lines.
        broken_prose: line breaks split a description into several text nodes.
        shuffled: facts have another order on each page, so positions say nothing.
        swapped: two sections are exchanged on some pages.
        blanks: a missing value leaves its caption behind.
        running_ids: ids contain the number of the entity, so no rule can use them.
        page_tokens: classes contain a token that differs from page to page.
        lazy_images: the address of a picture is in `data-src`, and `src` is a placeholder.
        related: how recommendations are laid out.
        same_names: recommendations use the class names of the page's own values.
        reviews: how reviews are laid out. They contain dates, names and ratings that are not the entity's.
        results: how the rows of list pages are laid out.
        renames: seeds of redesigns, each with the share of class names that it changed.
    """

    names: Annotated[str, LookChoice(lambda rng, _: f"{rng.getrandbits(48):x}", 0.5, frame=True)]
    class_style: Annotated[
        str,
        _frame(
            0.5, "plain", "plain", "kebab", "bem", "camel", "utility", "module", "opaque", "legacy", "bare"
        ),
    ]
    outer: Annotated[tuple[str, ...], LookChoice(_chain, 0.55, frame=True)]
    columns: Annotated[str, _frame(0.5, "table", "divs", "aside", "floats")]
    sidebar: Annotated[str, _frame(0.4, "left", "right", "right", "none")]
    header: Annotated[str, _frame(0.45, "div", "header", "table", "center")]
    navigation: Annotated[str, _frame(0.35, "list", "nav", "table", "line", "select")]
    breadcrumb: Annotated[str, _frame(0.3, "none", "links", "list", "line")]
    footer: Annotated[str, _frame(0.35, "div", "footer", "table", "line", "columns")]
    directory: Annotated[int, _frame(0.35, 20, 40, 70, 110)]
    widgets: Annotated[dict[str, tuple[str, ...]], LookChoice(_widgets, 0.4, frame=True)]
    ads: Annotated[str, _frame(0.3, "iframe", "picture", "words", "table")]
    title: Annotated[
        str, _frame(0.3, "{name} | {site}", "{site}: {name}", "{name} - {vertical} - {site}", "{name}")
    ]
    encoding: Annotated[
        str, _frame(0.6, "utf-8", "utf-8", "utf-8", "bom", "latin-1", "cp1252", "undeclared", "late")
    ]
    embedded: Annotated[str, _frame(0.45, "none", "none", "json-ld", "microdata", "open graph")]
    unclosed: Annotated[
        tuple[str, ...], _frame(0.3, (), (), (), ("li",), ("p",), ("td", "tr"), ("dd", "dt", "li"))
    ]
    shouted: Annotated[bool, LookChoice(_often(0.15), 0.4, frame=True)]
    spaced: Annotated[bool, LookChoice(_often(0.4), 0.2, frame=True)]
    scripts: Annotated[int, _frame(0.2, 4, 8, 14, 22)]
    capitals: Annotated[bool, LookChoice(_often(0.08), 0.6, frame=True)]
    phone: Annotated[str, _frame(0.5, "({}) {}-{}", "{}-{}-{}", "{}.{}.{}", "+1 {} {} {}")]
    date: Annotated[
        str,
        _frame(
            0.5,
            *("{0:%B} {day}, {0:%Y}", "{day} {0:%b} {0:%Y}", "{0:%Y-%m-%d}", "{0:%m/%d/%Y}"),
            "{0:%b} {day}, {0:%Y}",
        ),
    ]
    money: Annotated[str, _frame(0.5, "{symbol}{amount}", "{symbol}{amount}", "{code} {amount}")]
    minutes: Annotated[str, _frame(0.5, "{total} minutes", "{total} min", "{total} mins.", "hours")]
    isbn_dash: Annotated[bool, LookChoice(_often(0.5), 0.5, frame=True)]

    main: Annotated[tuple[str, ...], LookChoice(_chain, 0.45)]
    sections: Annotated[dict[str, float], LookChoice(_sections, 0.0)]
    wrappers: Annotated[dict[str, tuple[str, ...]], LookChoice(_wrappers, 0.0)]
    heading: Annotated[str, _template(0.3, "h1", "h1", "h2", "div", "span", "font")]
    facts: Annotated[
        str,
        _template(0.3, "dl", "table", "grid", "list", "spans", "line", "divs", "paragraphs", "headings"),
    ]
    captioning: Annotated[str, LookChoice(_one_of("apart", "apart", "inside", "none"), 0.3, seed="labelling")]
    caption_end: Annotated[str, LookChoice(_one_of(":", ":", "", " -"), 0.15, seed="label_end")]
    specific: Annotated[bool, LookChoice(_often(0.5), 0.25)]
    captions: Annotated[
        dict[str, str],
        LookChoice(_for_fields(lambda rng, item: rng.choice(item.captions)), 0.1, seed="labels"),
    ]
    markup: Annotated[dict[str, Markup], LookChoice(_for_fields(_markup), 0.1)]
    places: Annotated[dict[str, str], LookChoice(_for_fields(lambda rng, item: rng.choice(item.places)), 0.2)]
    affixes: Annotated[
        dict[str, tuple[str, str]], LookChoice(_for_fields(lambda rng, item: rng.choice(item.affixes)), 0.2)
    ]
    many: Annotated[
        dict[str, str], LookChoice(_field_option("links", "links", "joined", "spans", "items"), 0.2)
    ]
    lists: Annotated[
        dict[str, str], LookChoice(_field_option("ul", "ol", "paragraphs", "lines", "rows", "divs"), 0.2)
    ]
    order: Annotated[dict[str, float], LookChoice(_for_fields(lambda rng, _: rng.random()), 0.0)]
    address: Annotated[str, _template(0.2, "line", "breaks", "spans", "divs")]
    broken_prose: Annotated[bool, LookChoice(_often(0.2), 0.2)]
    shuffled: Annotated[bool, LookChoice(_often(0.15), 0.2)]
    swapped: Annotated[bool, LookChoice(_often(0.2), 0.2)]
    blanks: Annotated[bool, LookChoice(_often(0.25), 0.2)]
    running_ids: Annotated[bool, LookChoice(_often(0.35), 0.1)]
    page_tokens: Annotated[bool, LookChoice(_often(0.15), 0.1)]
    lazy_images: Annotated[bool, LookChoice(_often(0.25), 0.2)]
    related: Annotated[str, _template(0.2, "list", "table", "cards", "headings")]
    same_names: Annotated[bool, LookChoice(_often(0.4), 0.2)]
    reviews: Annotated[str, _template(0.2, "none", "divs", "list", "table")]
    results: Annotated[str, _template(0.25, "list", "table", "cards", "pairs", "articles", "definitions")]

    renames: tuple[tuple[str, float], ...] = ()

    @classmethod
    def draw(cls, vertical: Vertical, frame_seed: str, main_seed: str) -> Self:
        """Return a look; two looks with the same frame seed share header, footer and habits."""
        drawn: dict[str, Any] = {}
        for name, choice in _CHOICES.items():
            seed = frame_seed if choice.frame else main_seed
            drawn[name] = choice.draw(Random(f"{seed}/{choice.seed or name}"), vertical)
        return cls(**drawn)

    def redesigned(self, other: Self, strength: float, seed: str) -> Self:
        """Return this look with some choices of another one: none at strength 0, all at 1."""
        changes: dict[str, Any] = {}
        for name, choice in _CHOICES.items():
            chance = (strength - choice.min_strength) / (1 - choice.min_strength)
            rng = Random(f"{seed}/{choice.seed or name}")
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
