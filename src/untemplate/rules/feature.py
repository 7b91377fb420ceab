"""Features: the conditions that selectors are made of, as triples of type, level and value (Vertex III-C.1).

The level counts steps up from the node: 0 is the node itself, 1 the element that contains it.
A feature with several values matches if one of them does. The types:

`tag`, `id`, `class`, `token` (one word of a class), `@name` (another attribute)   of the element at the level;
                                          the empty class: it has none
`cell`                                    of a cell in a table row: its number, counted from 1, empty cells included
`preceding-sibling-class-2` and so on     of its second element sibling before it; the empty tag: there is none
`out-left-text`, `out-left-word`          the text before the node, or the last word of that text
`out-right-text`, `out-right-word`        the text after the node, or the first word of that text
`inside-left-text`, `inside-right-text`   how the node's own text begins, or ends
`inside-word`                             a word of the node's own text
`label`                                   the caption: the nearest text before the node that is static on the site

Selectors need their features as XPath 1.0, in two forms: `structure_xpath` writes the structural features alone,
which select candidates quickly, and `full_xpath` all features together, for people and for XSLT.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from lxml import etree

from untemplate.native import core
from untemplate.page.captions import MAX_STEPS
from untemplate.page.dom import HIDDEN_TAGS, SAFE_NAME

__all__ = [
    "BLANKS_TO_SPACES",
    "CAPTION",
    "CELL",
    "CELL_TAGS",
    "SEPARATOR",
    "Feature",
    "anchor_words",
    "anchor_xpath",
    "cell_number",
    "element_values",
    "full_xpath",
    "is_writable",
    "join_static",
    "native_conditions",
    "region_xpath",
    "squeezed_xpath",
    "static_predicate",
    "structure_xpath",
    "visible_predicates",
    "xpath_literal",
]

CAPTION = "label"
"""The feature type of captions. Rules files have used this name since their first version, so it stays."""

CELL = "cell"
"""The feature type of the number of a table cell."""

CELL_TAGS = ("td", "th")
"""The tags of table cells."""

# Cells further to the right have no number: counting them all would take quadratic time.
MAX_CELLS = 50

# Words of one class that can be features. More are no names but data, and an XPath of them all cannot be evaluated.
MAX_TOKENS = 100

SEPARATOR = "\u241e"
"""Separates (and surrounds) the static texts in the XPath variable that contains them all."""

TEXT_KINDS = frozenset({"inside-left-text", "inside-right-text", "inside-word", CAPTION})

# Attributes besides id and class whose values say what an element is for. All `data-*` attributes count as well.
STABLE_ATTRIBUTES = frozenset(
    {
        *(
            "itemprop",
            "itemtype",
            "property",
            "rel",
            "rev",
            "role",
            "name",
            "type",
            "for",
            "headers",
            "scope",
        ),
        *("abbr", "alt", "aria-label", "label", "summary", "title"),
    }
)

# Characters that XML, and so XPath, cannot contain. The complement would take milliseconds to compile.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]|[\ud800-\udfff]|[\ufffe\uffff]")

_ELEMENT = r"(?P<kind>tag|id|class|token|cell|@.+)"
_TYPES = (
    re.compile(r"out-(?P<side>left|right)-(?P<kind>text|word)"),
    re.compile(r"(?P<kind>inside-left-text|inside-right-text|inside-word|label)"),
    re.compile(rf"(?P<axis>preceding|following)-sibling-{_ELEMENT}-(?P<distance>[12])"),
    re.compile(_ELEMENT),
)
# White space for Python but not for XPath, without characters that XML forbids.
_BLANKS = "\u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
BLANKS_TO_SPACES = f'"{_BLANKS}", "{" " * len(_BLANKS)}"'
"""The arguments of `translate` that replace white space which XPath does not know."""

_NOT_HIDDEN = "not(" + " or ".join(f"ancestor::{tag}" for tag in sorted(HIDDEN_TAGS)) + ")"


@dataclass(frozen=True)
class Feature:
    """One condition on a node, such as "the element two levels up has class `price`".

    Attributes:
        type: what is compared; the module's docstring lists all types.
        level: steps up from the node to the element that is compared.
        values: the texts that match; one of them is enough.
    """

    type: str
    level: int
    values: tuple[str, ...]

    @cached_property
    def _type_parts(self) -> dict[str, str]:
        """The named parts of the type. Raises ValueError if there is no such type."""
        return _split_type(self.type)

    @cached_property
    def kind(self) -> str:
        """What is compared, without where: `class` for `preceding-sibling-class-2`.

        Raises:
            ValueError: the type does not exist.
        """
        return self._type_parts["kind"]

    @cached_property
    def side(self) -> str | None:
        """`left` or `right` if the feature is about the text beside the node, else None."""
        return self._type_parts.get("side")

    @cached_property
    def axis(self) -> str | None:
        """`preceding` or `following` if the feature is about a sibling, else None."""
        return self._type_parts.get("axis")

    @cached_property
    def sibling(self) -> int:
        """How many siblings away the compared element is; 0 for the element itself."""
        return int(self._type_parts.get("distance") or 0)

    @cached_property
    def is_structural(self) -> bool:
        """True if the feature is about elements, False if it is about texts."""
        return self.side is None and self.kind not in TEXT_KINDS

    @cached_property
    def looks_ahead(self) -> bool:
        """True if the feature is about something that follows the node in the page."""
        return self.side == "right" or self.axis == "following"

    @cached_property
    def counts_siblings(self) -> bool:
        """True if the feature says that there is no sibling: that an element is the first or last, or nearly so."""
        return self.axis is not None and "" in self.values

    @property
    def distance(self) -> int:
        """How many steps away from the node the compared element is."""
        return self.level + self.sibling

    def matches_element(self, element: etree._Element | None) -> bool:
        """Return True if an element matches this structural feature; None means that there is no such element."""
        kind, values = self.kind, self.values
        if element is None:
            return kind == "tag" and "" in values
        match kind:
            case "tag":
                return element.tag in values
            case "id" | "class":
                return element.get(kind, "") in values
            case "token":
                return not set(values).isdisjoint((element.get("class") or "").split())
            case "cell":
                return str(cell_number(element)) in values
            case _:
                return element.get(kind[1:]) in values


@lru_cache(maxsize=1024)
def _split_type(type_: str) -> dict[str, str]:
    """Return the named parts of a type of features. Raises ValueError if there is no such type."""
    for pattern in _TYPES:
        if match := pattern.fullmatch(type_):
            return match.groupdict()
    raise ValueError(f"no such feature type: {type_}")


def cell_number(element: etree._Element) -> int:
    """Return the number of a table cell in its row, counted from 1; 0 for other elements, and far to the right."""
    if element.tag not in CELL_TAGS:
        return 0
    before = sum(1 for _ in islice(element.itersiblings("*", preceding=True), MAX_CELLS))
    return before + 1 if before < MAX_CELLS else 0


def element_values(element: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield the (kind, value) pairs of an element from which learning makes features.

    Values with control characters are left out: no XPath can contain them.
    """
    return (pair for pair in _all_element_values(element) if is_writable(pair[1]))


def is_writable(text: str) -> bool:
    """Return True if XML, and so XPath, can contain a text."""
    return not _UNWRITABLE.search(text)


def _all_element_values(element: etree._Element) -> Iterator[tuple[str, str]]:
    yield "tag", element.tag
    for name, value in element.items():
        if name == "id":
            yield "id", value
        elif name == "class":
            yield "class", value
            for token in islice(dict.fromkeys(value.split()), MAX_TOKENS):
                yield "token", token
        elif name in STABLE_ATTRIBUTES or name.startswith("data-"):
            yield f"@{name}", value


def structure_xpath(node: str, features: Iterable[Feature], in_region: bool = False) -> str:
    """Return the XPath of all nodes that match the structural features; other features are ignored.

    Args:
        node: what to select: `text()`, `element()` or an attribute such as `@src`.
        features: the conditions.
        in_region: the path continues that of an element, and selects what is inside it. The element itself may match
            any condition but the one on a selected element.

    Example:
        >>> structure_xpath("text()", [Feature("tag", 2, ("td",)), Feature("class", 1, ("price",))])
        '//td/*[@class="price"]/text()'
    """
    return _join_steps(node, [feature for feature in features if feature.is_structural], [], in_region)


def region_xpath(features: Iterable[Feature], position: int = 0) -> str:
    """Return the XPath of the elements of a region, hidden and empty ones included.

    Example:
        >>> region_xpath([Feature("id", 1, ("recipe",))], position=1)
        '(//*[@id="recipe"])[1]'
    """
    path = structure_xpath("element()", features)
    return f"({path})[{'last()' if position < 0 else position}]" if position else path


def anchor_xpath(feature: Feature) -> str:
    """Return the XPath of all texts that contain the longest word of one of the feature's values."""
    tests = (f"contains(., {xpath_literal(word)})" for word in anchor_words(feature))
    return f"//text()[{' or '.join(tests)}]"


def anchor_words(feature: Feature) -> list[str]:
    """Return the longest word of each of the feature's values; a text that matches contains one of them."""
    return [max(_UNWRITABLE.sub(" ", value).split(" "), key=len) for value in feature.values]


def native_conditions(node: str, features: Iterable[Feature], text_features: Iterable[Feature] = ()) -> Any:
    """Return the features for the native core, which finds what `structure_xpath` selects.

    Args:
        node: what to select: `text()`, `element()` or an attribute such as `@src`.
        features: the conditions; only structural ones count.
        text_features: the features of texts, in the order in which they are tested.
    """
    if core is None:
        raise ValueError("there is no native core")
    structural = [(f.kind, f.level, f.axis, f.sibling, f.values) for f in features if f.is_structural]
    of_texts = [(feature.kind, feature.side, feature.values) for feature in text_features]
    return core.Conditions(node, structural, of_texts, MAX_STEPS)


def full_xpath(node: str, features: Sequence[Feature], position: int = 0, region: str = "") -> str:
    """Return the XPath of the nodes that match all features.

    Captions need the variable `$static`: the keys of all static texts, each between two separators.

    Args:
        node: what to select: `text()`, `element()` or an attribute such as `@src`.
        features: the conditions.
        position: which of the nodes, counted from 1; −1 for the last, 0 for all.
        region: the XPath of the elements in which the nodes must be; empty for the whole page.
    """
    structural = [feature for feature in features if feature.is_structural]
    text_predicates = [_text_predicate(node, f) for f in features if not f.is_structural]
    path = region + _join_steps(node, structural, text_predicates, bool(region))
    if not position:
        return path
    return f"({path}{visible_predicates()})[{'last()' if position < 0 else position}]"


def xpath_literal(text: str) -> str:
    """Return the text as an XPath string literal, whatever quotes it contains."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"


def _join_steps(
    node: str, features: Sequence[Feature], text_predicates: Sequence[str], in_region: bool = False
) -> str:
    """Return a location path with one step per level, from the highest level that has a feature to the node.

    Args:
        node: what to select. An element is the step at level 1, so `element()` itself gets no step.
        features: structural features.
        text_predicates: conditions on texts. For attributes and elements, they belong to the element at level 1.
        in_region: the path continues that of an element; see `structure_xpath`.
    """
    text_level = 0 if node == "text()" else 1
    last_level = 1 if node == "element()" else 0
    top = max((feature.level for feature in features), default=0)
    step_tags = _step_tags(features)
    steps = []
    for level in range(max(top, text_level), last_level - 1, -1):
        step = _format_step(level, node, features, step_tags.get(level))
        if level == text_level:
            step += _bracket(text_predicates)
        steps.append(step)
    if in_region:
        return _axis_in_region(node, len(steps)) + "/".join(steps)
    start = "/" if _starts_at_root(step_tags, top) else "//"
    return start + "/".join(steps)


def _axis_in_region(node: str, steps: int) -> str:
    """Return how a path goes on from the element of a region, which may itself be the first of several steps."""
    if steps > 1:
        return "/descendant-or-self::"
    return "/descendant::" if node == "element()" else "//"


def _step_tags(features: Sequence[Feature]) -> dict[int, Feature]:
    """Return, by level, the tag feature that becomes the name of the step instead of a predicate."""
    step_tags = {}
    for feature in features:
        is_own_tag = feature.kind == "tag" and not feature.axis
        if is_own_tag and len(feature.values) == 1 and SAFE_NAME.fullmatch(feature.values[0]):
            step_tags[feature.level] = feature
    return step_tags


def _starts_at_root(step_tags: dict[int, Feature], top: int) -> bool:
    """Return True if the tags of all levels are known, and the highest is the root of a page."""
    if top == 0 or any(level not in step_tags for level in range(1, top + 1)):
        return False
    return step_tags[top].values == ("html",)


def _format_step(level: int, node: str, features: Iterable[Feature], tag: Feature | None) -> str:
    """Return the step of one level, with a predicate for each of its features except the tag."""
    name = tag.values[0] if tag else "*"
    if level == 0:
        name = node
    at_level = [feature for feature in features if feature.level == level]
    return name + _bracket(_element_predicate(feature) for feature in at_level if feature is not tag)


def _bracket(predicates: Iterable[str]) -> str:
    """Return the predicates as XPath writes them, each in brackets."""
    return "".join(f"[{predicate}]" for predicate in predicates)


def _element_predicate(feature: Feature) -> str:
    """Return the predicate of one structural feature: one of its values matches."""
    return " or ".join(_structure_test(feature, value) for value in feature.values)


def _structure_test(feature: Feature, value: str) -> str:
    """Return a test of the element itself, or of the sibling that a feature is about."""
    if not feature.axis:
        return _element_test(feature.kind, value)
    sibling = f"{feature.axis}-sibling::*[{feature.sibling}]"
    if feature.kind == "tag" and not value:
        return f"not({sibling})"
    # libxml2 stops at the sibling it wants only if no further predicate follows.
    return f"{sibling}/self::*[{_element_test(feature.kind, value)}]"


def _element_test(kind: str, value: str) -> str:
    """Return a test of the context element: its tag, or an attribute.

    Names that XPath cannot spell, such as `o:p`, are compared as strings.
    """
    match kind:
        case "tag":
            if SAFE_NAME.fullmatch(value):
                return f"self::{value}"
            return f"name()={xpath_literal(value)}"
        case "id" | "class":
            return f"@{kind}={xpath_literal(value)}" if value else f"not(@{kind}) or @{kind}=''"
        case "cell":
            return _cell_test(int(value))
        case "token":
            return f'contains(concat(" ", normalize-space(@class), " "), {xpath_literal(f" {value} ")})'
        case _:
            name = kind[1:]
            attribute = kind if SAFE_NAME.fullmatch(name) else f"@*[name()={xpath_literal(name)}]"
            return f"{attribute}={xpath_literal(value)}"


def _cell_test(number: int) -> str:
    """Return a test that an element is a cell with this number. No sibling further away is visited."""
    is_cell = " or ".join(f"self::{tag}" for tag in CELL_TAGS)
    at_least = f"preceding-sibling::*[{number - 1}] and " if number > 1 else ""
    return f"({is_cell}) and {at_least}not(preceding-sibling::*[{number}])"


def _text_predicate(node: str, feature: Feature) -> str:
    """Return the predicate of one feature of texts: one of its values matches."""
    if feature.kind == CAPTION:
        text = _caption_text()
        return " or ".join(f"{text}={xpath_literal(value)}" for value in feature.values)
    test = _neighbor_text_test if feature.side else _inside_text_test
    return " or ".join(test(node, feature, value) for value in feature.values)


def _caption_text() -> str:
    """Return an expression for the nearest static text before the node, its key spelled as by `static_key`."""
    return squeezed_xpath(f"preceding::text(){visible_predicates()}[{static_predicate()}][1]")


def join_static(keys: Iterable[str]) -> str:
    """Return the keys of static texts as one text, for the variable `$static`."""
    return SEPARATOR + SEPARATOR.join(keys) + SEPARATOR


def static_predicate() -> str:
    """Return the test that a text is static. It needs the variable `$static`."""
    parts = (f'"{SEPARATOR}"', "count(ancestor::*) - 1", '" "', "name(..)", '" "', squeezed_xpath("."))
    key = f'concat({", ".join(parts)}, "{SEPARATOR}")'
    return f"contains($static, {key})"


def _inside_text_test(node: str, feature: Feature, value: str) -> str:
    """Return a test of the node's own text."""
    text = squeezed_xpath(f"./{node}") if node.startswith("@") else squeezed_xpath(".")
    match feature.kind:
        case "inside-left-text":
            return f"starts-with({text}, {xpath_literal(value)})"
        case "inside-right-text":
            return _ends_with(text, value)
        case _:
            return f'contains(concat(" ", {text}, " "), {xpath_literal(f" {value} ")})'


def _neighbor_text_test(node: str, feature: Feature, value: str) -> str:
    """Return a test of the text right before or after the node."""
    axis = "preceding::text()"
    if feature.side == "right":
        axis = "(.//text()|following::text())" if node.startswith("@") else "following::text()"
    text = squeezed_xpath(f"{axis}{visible_predicates()}[1]")
    if feature.kind == "text":
        return f"{text}={xpath_literal(value)}"
    if feature.side == "left":
        return _ends_with(f'concat(" ", {text})', f" {value}")
    return f'starts-with(concat({text}, " "), {xpath_literal(f"{value} ")})'


def squeezed_xpath(expression: str) -> str:
    """Return an expression for the text with its white space normalized, as `squeeze` does."""
    return f"normalize-space(translate({expression}, {BLANKS_TO_SPACES}))"


def visible_predicates() -> str:
    """Return the predicates of a text or attribute that readers can see."""
    return f'[{squeezed_xpath(".")}!=""][{_NOT_HIDDEN}]'


def _ends_with(expression: str, end: str) -> str:
    """Return a test that a text ends with another, for which XPath 1.0 has no function."""
    return f"substring({expression}, string-length({expression}) - {len(end) - 1})={xpath_literal(end)}"
