"""The cascade: which declarations of style sheets apply to an element, and the style that follows from them.

A `Style` is what the estimate needs to know about an element: hidden or shown, block or inline, font, margins.
tinycss2 parses style sheets. cssselect2 parses selectors and compiles them to tests. Elements that no selector can
distinguish share one `StyleContext`, so a selector is tested once for all rows of a list and all pages of a template.

Rules whose selectors depend on siblings, positions (`:nth-child`) or content (`:has`) are ignored: with them elements
could not share contexts, and matching would take time quadratic in the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Final

import tinycss2
from cssselect2 import SelectorError, compiler, parser
from lxml import etree
from tinycss2 import ast

from untemplate.layout.boxes import VIEWPORT
from untemplate.page import Page
from untemplate.sources.assets import Assets, page_styles

__all__ = ["ROOT_STYLE", "Display", "Style", "StyleContext", "load_style_sheet", "parse_length"]

# How an element takes part in the page. Inline blocks, floats, table cells and items of a flex box are BESIDE others;
# a TABLE or its row is a block that is as wide as its content.
Display = IntEnum("Display", "NONE INLINE BLOCK BESIDE TABLE", start=0)
#: pairs of property and value, in lower case, with shorthands expanded
Declared = tuple[tuple[str, str], ...]
#: the properties that Style depends on
PROPERTIES: Final = frozenset(
    {
        *("display", "visibility", "float", "flex-direction", "font", "font-size", "font-weight"),
        *("margin", "margin-top", "margin-bottom", "margin-left", "padding", "padding-left"),
        *("position", "clip", "clip-path", "left", "top", "text-indent"),
    }
)
# Other values mean a block, such as list items and flex boxes.
_DISPLAYS = {
    **dict.fromkeys(("table", "table-row", "table-row-group"), Display.TABLE),
    **dict.fromkeys(
        ("inline-block", "inline-flex", "inline-grid", "inline-table", "table-cell"), Display.BESIDE
    ),
    "none": Display.NONE,
    "inline": Display.INLINE,
    "contents": Display.INLINE,
}
_FONT_SIZES = {"xx-small": "9px", "x-small": "10px", "small": "13px", "medium": "16px", "large": "18px"}
_FONT_SIZES |= {"x-large": "24px", "xx-large": "32px", "smaller": "83.333%", "larger": "120%"}
# Functions, strings, colors and blanks are no words of a value.
_NUMBER_TOKENS = frozenset({"dimension", "percentage", "number"})
_WORD_TOKENS = _NUMBER_TOKENS | {"ident"}
# Pixels left of the screen or above it. Texts for screen readers, and texts that an image replaces, are moved this
# far; slides of a carousel are not.
FAR_OUTSIDE = -1_900.0
_NO_CLASSES: frozenset[str] = frozenset()
_BOLD = frozenset({"bold", "bolder", "600", "700", "800", "900"})
# Which value of a margin or padding is for top, bottom and left, by how many values there are.
_SIDES = {1: (0, 0, 0), 2: (0, 0, 1), 3: (0, 2, 1), 4: (0, 2, 3)}
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|pt|pc|em|rem|ex|in|vw|%|)")
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "rem": 16.0, "in": 96.0, "vw": VIEWPORT / 100}
# Pixels. Pages may declare any number; lengths and font sizes stay below these.
MAX_LENGTH, MAX_FONT_SIZE = 20_000.0, 200.0
# Tokens of a value that are read. `font` is the longest, and its families do not matter.
MAX_TOKENS = 20
# Limits for hostile style sheets: rules kept, compounds in a selector, levels of nested @media.
MAX_RULES, MAX_COMPOUNDS, MAX_NESTING = 20_000, 20, 5
# Contexts that a style sheet remembers, and characters read of a style attribute.
MAX_CONTEXTS, MAX_STYLE_ATTRIBUTE = 20_000, 2_000
# Tests and steps to surrounding elements that matching may take for each context, on average.
MAX_STEPS = 300

_PSEUDO_CLASSES = re.compile("active|any-link|focus(-visible|-within)?|hover|link|root|target|visited")
_WITH_ARGUMENTS = (parser.NegationSelector, parser.MatchesAnySelector, parser.SpecificityAdjustmentSelector)
_SIMPLE = (parser.LocalNameSelector, parser.IDSelector, parser.ClassSelector, *_WITH_ARGUMENTS)
_FOR_SCREENS = re.compile("screen|all|width")
_MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*(\d{1,5})(px|em|)")
# Addresses of images and fonts do not matter, and data URLs are long.
_URL = re.compile(r"url\([^()]*\)")

# Place in the cascade: of two matching rules, the one with the higher rank wins.
_Rank = tuple[bool, int, tuple[int, int, int], int]
_BROWSER, _PAGE, _ATTRIBUTE = range(3)  # where declarations come from; later ones win


@dataclass(frozen=True, slots=True)
class Style:
    """The computed style of an element; lengths are CSS pixels."""

    display: Display = Display.INLINE
    is_visible: bool = True
    font_size: float = 16.0
    #: 400 is normal, 700 is bold
    font_weight: int = 400
    margin_top: float = 0.0
    margin_bottom: float = 0.0
    #: left margin and left padding together
    indent: float = 0.0
    #: the element is a flex box that puts its children beside each other
    is_flex_row: bool = False


ROOT_STYLE = Style(display=Display.BLOCK)


def compute_style(parent: Style, declared: Iterable[tuple[str, str]]) -> Style:
    """Return the style of an element.

    Args:
        parent: the style of its parent, from which font and visibility are inherited.
        declared: the declarations that apply, the weakest first: the last one of a property wins.
    """
    values = dict(declared)
    font_size = _font_size(values.get("font-size", ""), parent.font_size)
    indent = _margin(values, "margin-left", font_size) + _margin(values, "padding-left", font_size)
    visibility = values.get("visibility", "inherit")
    is_visible = parent.is_visible if visibility == "inherit" else visibility == "visible"
    weight = values.get("font-weight", "inherit")
    is_column = values.get("flex-direction", "").startswith("column")
    return Style(
        display=_display(values, parent),
        is_visible=is_visible and not _is_outside(values.get("text-indent", "")),
        font_size=font_size,
        font_weight=parent.font_weight if weight == "inherit" else 700 if weight in _BOLD else 400,
        margin_top=_margin(values, "margin-top", font_size),
        margin_bottom=_margin(values, "margin-bottom", font_size),
        indent=max(0.0, indent),
        is_flex_row=values.get("display", "").endswith("flex") and not is_column,
    )


def parse_length(value: str, font_size: float = 16.0, percent_of: float = 0.0) -> float | None:
    """Return a CSS length in pixels, or None if the value is no length.

    Args:
        value: such as `12px`, `1.5em`, `50%`; a bare number means pixels, as in HTML attributes.
        font_size: what `em` refers to.
        percent_of: what percentages refer to.
    """
    match = _LENGTH.fullmatch(value.strip())
    if match is None:
        return None
    relative = {"em": font_size, "ex": font_size / 2, "%": percent_of / 100}
    number = float(match[1]) * (relative.get(match[2]) or _PIXELS.get(match[2], 0.0))
    return max(-MAX_LENGTH, min(MAX_LENGTH, number))


def _display(values: Mapping[str, str], parent: Style) -> Display:
    """Return how an element is displayed; floats and the items of a flex box are beside their neighbors."""
    if values.get("position") != "static" and _is_clipped(values):
        return Display.NONE
    display = _DISPLAYS.get(values.get("display", "inline"), Display.BLOCK)
    is_beside = parent.is_flex_row or values.get("float") in ("left", "right")
    return (
        Display.BESIDE if is_beside and display in (Display.INLINE, Display.BLOCK, Display.TABLE) else display
    )


def _is_clipped(values: Mapping[str, str]) -> bool:
    """Return True if nothing of an element is left, or if it is outside of the screen: it is for screen readers."""
    is_moved = any(_is_outside(values.get(side, "")) for side in ("left", "top"))
    return is_moved or "all" in (values.get("clip"), values.get("clip-path"))


def _is_outside(length: str) -> bool:
    return (parse_length(length) or 0.0) <= FAR_OUTSIDE


def _font_size(value: str, parent: float) -> float:
    """Return a font size in pixels; that of the parent if the value is not understood."""
    size = parse_length(_FONT_SIZES.get(value, value), parent, parent)
    return parent if size is None else max(0.0, min(MAX_FONT_SIZE, size))


def _margin(values: Mapping[str, str], name: str, font_size: float) -> float:
    """Return a margin or padding; 0 if it is not declared, or `auto`."""
    return parse_length(values.get(name, ""), font_size, VIEWPORT) or 0.0


def read_declarations(nodes: Iterable[ast.Node]) -> tuple[Declared, Declared]:
    """Return the normal and the important declarations among the nodes that tinycss2 parsed, in their order."""
    normal: list[tuple[str, str]] = []
    important: list[tuple[str, str]] = []
    for node in nodes:
        if node.type == "declaration" and node.lower_name in PROPERTIES:
            declarations = important if node.important else normal
            declarations += _spread(node.lower_name, _words(node))
    return tuple(normal), tuple(important)


def _words(node: ast.Node) -> list[str]:
    """Return the words of a value; of `clip` and `clip-path`, "all" if they leave nothing to see."""
    tokens = node.value[:MAX_TOKENS]
    if node.lower_name in ("clip", "clip-path"):
        return ["all" if any(map(_clips_all, tokens)) else "none"]
    return [token.serialize().lower() for token in tokens if token.type in _WORD_TOKENS]


def _clips_all(token: ast.Node) -> bool:
    """Return True for `rect(0, 0, 0, 0)`, `rect(1px 1px 1px 1px)`, `inset(50%)` and the like."""
    if token.type != "function":
        return False
    lengths = [abs(part.value) for part in token.arguments[:MAX_TOKENS] if part.type in _NUMBER_TOKENS]
    is_dot = token.lower_name == "rect" and len(lengths) == 4 and max(lengths) <= 1
    return is_dot or (token.lower_name == "inset" and max(lengths, default=0) >= 50)


def _spread(name: str, words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a declaration with its shorthand expanded."""
    if not words:
        return
    if name == "font":
        yield from _expand_font(words)
    elif name in ("margin", "padding"):
        sides = zip(("top", "bottom", "left"), _SIDES[min(4, len(words))], strict=True)
        yield from ((f"{name}-{side}", words[index]) for side, index in sides)
    # Of positions only values far outside of the screen matter, and those that undo them: many rules have others.
    elif name not in ("position", "left", "top") or words[0] in ("static", "auto") or _is_outside(words[0]):
        yield name, words[0]


def _expand_font(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield weight and size of `bold 20px/30px Arial`. The size ends the search."""
    yield "font-weight", "normal"
    for word in words:
        if word in _BOLD:
            yield "font-weight", word
        elif word in _FONT_SIZES or (not word.isdecimal() and _LENGTH.fullmatch(word)):
            yield "font-size", word
            return


@dataclass(frozen=True)
class StyleRule:
    """A selector with its declarations: the normal ones of a rule, or the important ones."""

    selector: Any
    declared: Declared
    is_important: bool
    origin: int

    @cached_property
    def matches(self) -> Callable[[StyleContext], bool]:
        """Test whether the rule applies in a context; compiled at first use, since most rules are never tried."""
        test: Callable[[StyleContext], bool] = compiler.CompiledSelector(self.selector).test
        return test


@dataclass(eq=False)
class StyleContext:
    """What selectors can distinguish about an element: its names, its attributes and the contexts around it.

    It has those attributes of cssselect2's ElementWrapper that compiled selectors use.
    """

    sheet: StyleSheet
    number: int
    parent: StyleContext | None
    local_name: str
    #: its id and its classes, as far as the sheet mentions them
    id: str | None
    classes: frozenset[str]
    attrib: Mapping[str, str]
    style: Style = ROOT_STYLE
    in_html_document = True

    @property
    def etree_element(self) -> StyleContext:
        """Return itself: selectors read attributes from here."""
        return self

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return an attribute. All links have an address here, which `:link` tests."""
        return self.attrib.get(name, "" if name == "href" else default)

    @property
    def ancestors(self) -> Iterator[StyleContext]:
        """Yield the surrounding contexts, the nearest first, as long as the sheet has steps left."""
        around = self.parent
        while around is not None and self.sheet.steps_left > 0:
            self.sheet.steps_left -= 1
            yield around
            around = around.parent


class StyleSheet:
    """The rules of a page and those of browsers, and the contexts of the elements they were matched with.

    Rules are indexed by an id, class or tag that their elements must have, since big sites have 10,000 selectors.
    """

    def __init__(self, rules: list[StyleRule]) -> None:
        #: what is left of the tests and steps that matching may take
        self.steps_left = 1000 * MAX_STEPS
        self._rules: dict[str, list[tuple[_Rank, StyleRule]]] = {}
        self._names: set[str] = set()
        self._attributes = {"style"}
        self._contexts: dict[tuple[object, ...], StyleContext] = {}
        self._last_number = 0
        for order, rule in enumerate(rules):
            parts = list(_selector_parts(rule.selector.parsed_tree))
            self._names.update(map(_selector_name, parts))
            self._attributes |= {p.lower_name for p in parts if isinstance(p, parser.AttributeSelector)}
            rank = (rule.is_important, rule.origin, rule.selector.specificity, order)
            self._rules.setdefault(_index_key(rule.selector.parsed_tree), []).append((rank, rule))

    def context(self, element: etree._Element, parent: StyleContext | None) -> StyleContext:
        """Return the context of an element, given that of its parent, or None for the root."""
        id_: str | None = None
        classes = _NO_CLASSES
        attributes: list[tuple[str, str]] = []
        for name, value in element.items():
            if name in self._attributes:
                attributes.append((name, value))
            if name == "class":
                classes = frozenset([part for part in value.split() if f".{part}" in self._names])
            elif name == "id" and f"#{value}" in self._names:
                id_ = value
        key = (parent and parent.number, element.tag, id_, classes, tuple(attributes))
        if key not in self._contexts:
            if len(self._contexts) >= MAX_CONTEXTS:
                self._contexts.clear()
            self._last_number += 1
            context = StyleContext(
                self, self._last_number, parent, element.tag, id_, classes, dict(attributes)
            )
            self._contexts[key] = context
            context.style = self._style(context)
        return self._contexts[key]

    def _style(self, context: StyleContext) -> Style:
        """Match the rules with a new context and compute its style."""
        ranked = [(rank, rule.declared) for rank, rule in self._candidates(context) if rule.matches(context)]
        if css := context.attrib.get("style"):
            normal, important = _parse_declarations(css[:MAX_STYLE_ATTRIBUTE])
            ranked.append(((False, _ATTRIBUTE, (0, 0, 0), 0), normal))
            ranked.append(((True, _ATTRIBUTE, (0, 0, 0), 0), important))
        ranked.sort(key=itemgetter(0))
        parent_style = context.parent.style if context.parent else ROOT_STYLE
        return compute_style(parent_style, chain.from_iterable(declared for _, declared in ranked))

    def _candidates(self, context: StyleContext) -> Iterator[tuple[_Rank, StyleRule]]:
        """Yield the rules that may match, as long as there are steps left."""
        self.steps_left += MAX_STEPS
        for key in ("", context.local_name, f"#{context.id}", *(f".{name}" for name in context.classes)):
            for ranked_rule in self._rules.get(key, ()):
                self.steps_left -= 1
                if self.steps_left > 0:
                    yield ranked_rule


def load_style_sheet(page: Page, assets: Assets) -> StyleSheet:
    """Return the rules of a page's style sheets together with those of browsers.

    Style sheets are cached: pages with the same ones share the parsed rules and the contexts.
    """
    styles = page_styles(page, assets)
    sheets = [css for element, css in styles if media_applies(element.get("media", ""))]
    return _style_sheet(tuple(filter(_parse_rules, sheets)))


def media_applies(query: str) -> bool:
    """Return whether a media query applies to a screen 1280 pixels wide, as far as we understand it."""
    return any(_medium_applies(medium.strip()) for medium in query.lower().split(","))


def _medium_applies(medium: str) -> bool:
    """Return whether one query of a list applies: it must be for screens, within its bounds of width."""
    if medium.startswith("not "):
        return not _medium_applies(medium.removeprefix("not "))
    if medium and not _FOR_SCREENS.search(medium):
        return False
    return all(_width_applies(*bound) for bound in _MEDIA_WIDTH.findall(medium))


def _width_applies(bound: str, number: str, unit: str) -> bool:
    width = int(number) * (16 if unit == "em" else 1)
    return width <= VIEWPORT if bound == "min" else width >= VIEWPORT


# Pages of a site mostly have the same style sheets, and the same contexts in them.
@lru_cache(maxsize=16)
def _style_sheet(sheets: tuple[str, ...]) -> StyleSheet:
    """Return the rules of browsers and of several style sheets; later ones win."""
    browser_css = (files("untemplate.layout") / "browser.css").read_text("utf-8")
    rules = chain(_parse_rules(browser_css, _BROWSER), *map(_parse_rules, sheets))
    return StyleSheet(list(rules)[:MAX_RULES])


@lru_cache(maxsize=4096)
def _parse_declarations(css: str) -> tuple[Declared, Declared]:
    """Return the normal and the important declarations of a style attribute; pages repeat these."""
    return read_declarations(tinycss2.parse_blocks_contents(css, skip_comments=True, skip_whitespace=True))


@lru_cache(maxsize=64)
def _parse_rules(css: str, origin: int = _PAGE) -> tuple[StyleRule, ...]:
    """Return a rule for each selector that matters to the estimate, and another for its important declarations."""
    rules: list[StyleRule] = []
    parsed = tinycss2.parse_stylesheet(_URL.sub("none", css), skip_comments=True, skip_whitespace=True)
    for rule in _select_rules(parsed):
        contents = tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)
        normal, important = read_declarations(contents)
        for selector in _supported_selectors(rule.prelude):
            if normal:
                rules.append(StyleRule(selector, normal, False, origin))
            if important:
                rules.append(StyleRule(selector, important, True, origin))
    return tuple(rules)


def _select_rules(rules: Iterable[ast.Node], nesting: int = 0) -> Iterator[ast.QualifiedRule]:
    """Yield the rules that apply to our screen and declare one of PROPERTIES."""
    for rule in rules:
        if rule.type == "qualified-rule":
            if any(token.type == "ident" and token.lower_value in PROPERTIES for token in rule.content):
                yield rule
        elif rule.type == "at-rule" and nesting < MAX_NESTING and _at_rule_applies(rule):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            yield from _select_rules(inner, nesting + 1)


def _at_rule_applies(rule: ast.AtRule) -> bool:
    """Return whether the rules inside `@media`, `@supports` or `@layer` apply; other at-rules contain none."""
    if rule.content is None or rule.lower_at_keyword not in ("layer", "media", "supports"):
        return False
    try:
        prelude = tinycss2.serialize(rule.prelude).strip().lower()
    except RecursionError:  # many parentheses inside each other
        return False
    if rule.lower_at_keyword == "supports":
        return not prelude.startswith("not")
    return rule.lower_at_keyword == "layer" or media_applies(prelude)


def _supported_selectors(prelude: list[ast.Node]) -> list[Any]:
    """Return the selectors of a rule that we support; none if one of them is malformed, as in browsers."""
    try:
        return [selector for selector in parser.parse(prelude) if _is_supported(selector)]
    except (SelectorError, AttributeError, RecursionError):  # AttributeError: cssselect2 at the end of "a|"
        return []


def _is_supported(selector: Any) -> bool:
    """Return whether we can match a selector, and in time linear in the page."""
    parts = list(_selector_parts(selector.parsed_tree))
    combinations = sum(isinstance(part, parser.CombinedSelector) for part in parts)
    is_short = combinations < MAX_COMPOUNDS and selector.pseudo_element is None
    return is_short and all(map(_is_supported_part, parts))


def _is_supported_part(part: Any) -> bool:
    """Return whether a part depends on the element and those around it only."""
    if isinstance(part, parser.CombinedSelector):
        return part.combinator in {" ", ">"}
    if isinstance(part, parser.PseudoClassSelector):
        return _PSEUDO_CLASSES.fullmatch(part.name) is not None
    if isinstance(part, parser.AttributeSelector):
        return part.namespace in {""}
    return isinstance(part, _SIMPLE)


def _selector_parts(tree: Any) -> Iterator[Any]:
    """Yield all combinations and simple selectors of a selector, also those inside `:not()` and `:is()`."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, parser.CompoundSelector):
            waiting += part.simple_selectors
            continue
        yield part
        if isinstance(part, parser.CombinedSelector):
            waiting += [part.left, part.right]
        elif isinstance(part, _WITH_ARGUMENTS):
            waiting += [selector.parsed_tree for selector in part.selector_list]


def _selector_name(part: Any) -> str:
    """Return what a simple selector demands: `#id`, `.class` or a tag; empty for all others."""
    if isinstance(part, parser.IDSelector):
        return f"#{part.ident}"
    if isinstance(part, parser.ClassSelector):
        return f".{part.class_name}"
    return str(part.lower_local_name) if isinstance(part, parser.LocalNameSelector) else ""


def _index_key(tree: Any) -> str:
    """Return an id, a class or a tag that every matching element has; empty if there is none."""
    last = tree.right if isinstance(tree, parser.CombinedSelector) else tree
    named = filter(_selector_name, last.simple_selectors)
    return _selector_name(max(named, key=attrgetter("specificity"), default=None))
