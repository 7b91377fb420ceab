"""Style sheets inside a page: which declarations apply to an element.

tinycss2 parses style sheets. cssselect2 parses selectors and compiles them to tests. Elements that no selector can
distinguish share one `StyleContext`, so a selector is tested once for all rows of a list and all pages of a template.

Rules whose selectors depend on siblings, positions (`:nth-child`) or content (`:has`) are ignored: with them elements
could not share contexts, and matching would take time quadratic in the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

import tinycss2
from cssselect2 import SelectorError, compiler, parser
from lxml import etree
from tinycss2 import ast

from untemplate.layout.boxes import VIEWPORT
from untemplate.layout.style import PROPERTIES, ROOT_STYLE, Declared, Style, compute_style, read_declarations

__all__ = ["StyleContext", "StyleSheet", "load_style_sheet", "media_applies"]

# Limits for hostile style sheets: characters read, rules kept, compounds in a selector, levels of nested @media.
MAX_CSS = 1 << 20
MAX_RULES = 20_000
MAX_COMPOUNDS = 20
MAX_NESTING = 5
# Contexts that a style sheet remembers, and characters read of a style attribute.
MAX_CONTEXTS = 20_000
MAX_STYLE_ATTRIBUTE = 2_000
# Tests and steps to surrounding elements that matching may take for each context, on average.
MAX_STEPS = 300

_BROWSER, _PAGE, _ATTRIBUTE = range(3)  # where declarations come from; later ones win
_NESTING_RULES = frozenset({"layer", "media", "supports"})
_PSEUDO_CLASSES = frozenset(
    {
        *("active", "any-link", "focus", "focus-visible", "focus-within", "hover", "link", "root", "target"),
        "visited",
    }
)
_WITH_ARGUMENTS = (parser.NegationSelector, parser.MatchesAnySelector, parser.SpecificityAdjustmentSelector)
_SIMPLE = (parser.LocalNameSelector, parser.IDSelector, parser.ClassSelector, *_WITH_ARGUMENTS)
_FOR_SCREENS = re.compile("screen|all|width")
_MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*(\d{1,5})(px|em|)")

# Addresses of images and fonts do not matter, and data URLs are long.
_URL = re.compile(r"url\([^()]*\)")

Rank = tuple[bool, int, tuple[int, int, int], int]


@dataclass(frozen=True)
class StyleRule:
    """A selector with its declarations: the normal ones of a rule, or the important ones."""

    selector: Any
    declared: Declared
    is_important: bool
    origin: int

    def rank(self, order: int) -> Rank:
        """Return the place in the cascade: of two matching rules, the one with the higher rank wins."""
        return self.is_important, self.origin, self.selector.specificity, order

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
    #: its id and classes as far as the sheet mentions them: `#id`, `.class`
    names: frozenset[str]
    attrib: Mapping[str, str]
    style: Style = ROOT_STYLE
    in_html_document = True

    @cached_property
    def classes(self) -> frozenset[str]:
        """Its classes, as far as the sheet mentions them."""
        return frozenset(name[1:] for name in self.names if name[0] == ".")

    @cached_property
    def id(self) -> str | None:
        """Its id, if the sheet mentions it."""
        return next((name[1:] for name in self.names if name[0] == "#"), None)

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
        self._rules: dict[str, list[tuple[Rank, StyleRule]]] = {}
        self._names: set[str] = set()
        self._attributes = {"style"}
        self._contexts: dict[tuple[object, ...], StyleContext] = {}
        self._last_number = 0
        for order, rule in enumerate(rules):
            parts = list(_selector_parts(rule.selector.parsed_tree))
            self._names.update(map(_selector_name, parts))
            self._attributes.update(
                part.lower_name for part in parts if isinstance(part, parser.AttributeSelector)
            )
            key = _index_key(rule.selector.parsed_tree)
            self._rules.setdefault(key, []).append((rule.rank(order), rule))

    def context(self, element: etree._Element, parent: StyleContext | None) -> StyleContext:
        """Return the context of an element.

        Args:
            element: an element of a page with these style sheets.
            parent: the context of its parent; None for the root.
        """
        names = frozenset(filter(self._names.__contains__, _selector_names_of(element)))
        attributes = tuple([pair for pair in element.items() if pair[0] in self._attributes])
        key = (parent and parent.number, element.tag, names, attributes)
        if key not in self._contexts:
            self._last_number += 1
            context = StyleContext(self, self._last_number, parent, element.tag, names, dict(attributes))
            context.style = self._style(context)
            self._remember(key, context)
        return self._contexts[key]

    def _remember(self, key: tuple[object, ...], context: StyleContext) -> None:
        if len(self._contexts) >= MAX_CONTEXTS:
            self._contexts.clear()
        self._contexts[key] = context

    def _style(self, context: StyleContext) -> Style:
        """Match the rules with a new context and compute its style."""
        ranked = [(rank, rule.declared) for rank, rule in self._candidates(context) if rule.matches(context)]
        if css := context.attrib.get("style"):
            normal, important = _parse_style_attribute(css[:MAX_STYLE_ATTRIBUTE])
            ranked.append(((False, _ATTRIBUTE, (0, 0, 0), 0), normal))
            ranked.append(((True, _ATTRIBUTE, (0, 0, 0), 0), important))
        ranked.sort(key=itemgetter(0))
        parent_style = context.parent.style if context.parent else ROOT_STYLE
        return compute_style(parent_style, chain.from_iterable(declared for _, declared in ranked))

    def _candidates(self, context: StyleContext) -> Iterator[tuple[Rank, StyleRule]]:
        """Yield the rules that may match, as long as there are steps left."""
        self.steps_left += MAX_STEPS
        for key in ("", context.local_name, *context.names):
            for ranked_rule in self._rules.get(key, ()):
                self.steps_left -= 1
                if self.steps_left > 0:
                    yield ranked_rule


def _selector_names_of(element: etree._Element) -> list[str]:
    """Return the id and the classes of an element as selectors write them."""
    classes = element.get("class", "").split()
    return [f"#{element.get('id', '')}", *(f".{name}" for name in classes)]


def load_style_sheet(root: etree._Element) -> StyleSheet:
    """Return the rules of a page's style elements together with those of browsers.

    Those in `noscript` are for browsers without scripts: they often hide what a script would fill.
    Style sheets are cached: pages with the same ones share the parsed rules and the contexts.
    """
    left = MAX_CSS
    sheets: list[str] = []
    for element in root.iter("style"):
        if next(element.iterancestors("noscript"), None) is not None:
            continue
        if (css := element.text) and media_applies(element.get("media", "")):
            sheets.append(css[:left])
            left -= len(sheets[-1])
    return _style_sheet(tuple(css for css in sheets if _parse_rules(css)))


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
    rules = list(_parse_rules(browser_css, _BROWSER))
    for css in sheets:
        rules += _parse_rules(css)
    return StyleSheet(rules[:MAX_RULES])


@lru_cache(maxsize=64)
def _parse_rules(css: str, origin: int = _PAGE) -> tuple[StyleRule, ...]:
    """Return the rules of a style sheet that matter to the estimate."""
    return tuple(_read_rules(css, origin))


@lru_cache(maxsize=4096)
def _parse_style_attribute(css: str) -> tuple[Declared, Declared]:
    """Return the normal and the important declarations; pages repeat their style attributes."""
    return read_declarations(tinycss2.parse_blocks_contents(css, skip_comments=True, skip_whitespace=True))


def _read_rules(css: str, origin: int) -> Iterator[StyleRule]:
    """Yield a rule for each selector, and another one for its important declarations."""
    for rule in _qualified_rules(css):
        nodes = tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)
        normal, important = read_declarations(nodes)
        for selector in _supported_selectors(rule.prelude):
            if normal:
                yield StyleRule(selector, normal, False, origin)
            if important:
                yield StyleRule(selector, important, True, origin)


def _qualified_rules(css: str) -> Iterator[ast.QualifiedRule]:
    """Yield the rules that apply to our screen and declare one of PROPERTIES."""
    css = _URL.sub("none", css)
    yield from _select_rules(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True))


def _select_rules(rules: Iterable[ast.Node], nesting: int = 0) -> Iterator[ast.QualifiedRule]:
    for rule in rules:
        if rule.type == "qualified-rule" and _matters(rule):
            yield rule
        elif rule.type == "at-rule" and nesting < MAX_NESTING and _at_rule_applies(rule):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            yield from _select_rules(inner, nesting + 1)


def _matters(rule: ast.QualifiedRule) -> bool:
    return any(token.type == "ident" and token.lower_value in PROPERTIES for token in rule.content)


def _at_rule_applies(rule: ast.AtRule) -> bool:
    """Return whether the rules inside `@media`, `@supports` or `@layer` apply; other at-rules contain none."""
    if rule.content is None or rule.lower_at_keyword not in _NESTING_RULES:
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
    compounds = 1 + sum(isinstance(part, parser.CombinedSelector) for part in parts)
    return (
        selector.pseudo_element is None and compounds <= MAX_COMPOUNDS and all(map(_is_supported_part, parts))
    )


def _is_supported_part(part: Any) -> bool:
    """Return whether a part depends on the element and those around it only."""
    if isinstance(part, parser.CombinedSelector):
        return part.combinator in {" ", ">"}
    if isinstance(part, parser.PseudoClassSelector):
        return part.name in _PSEUDO_CLASSES
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
