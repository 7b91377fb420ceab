"""Features written as XPath 1.0.

There are two forms: the structural features alone, which select the candidates of a selector quickly, and all
features together, for people and for XSLT.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from untemplate.page import HIDDEN_TAGS
from untemplate.rules.feature import CAPTION, Feature

__all__ = ["SEPARATOR", "anchor_xpath", "full_xpath", "structure_xpath", "xpath_literal"]

SEPARATOR = "\u241e"
"""Separates (and surrounds) the static texts in the XPath variable that contains them all."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
# White space for Python but not for XPath, without characters that XML forbids.
_BLANKS = "\u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_BLANKS_TO_SPACES = f'"{_BLANKS}", "{" " * len(_BLANKS)}"'
_NOT_HIDDEN = "not(" + " or ".join(f"ancestor::{tag}" for tag in sorted(HIDDEN_TAGS)) + ")"


def structure_xpath(node: str, features: Iterable[Feature]) -> str:
    """Return the XPath of all nodes that match the structural features; other features are ignored.

    Example:
        >>> structure_xpath("text()", [Feature("tag", 2, ("td",)), Feature("class", 1, ("price",))])
        '//td/*[@class="price"]/text()'
    """
    return _join_steps(node, [feature for feature in features if feature.is_structural], [])


def anchor_xpath(feature: Feature) -> str:
    """Return the XPath of all texts that contain the longest word of one of the feature's values."""
    words = (max(value.split(" "), key=len) for value in feature.values)
    return "//text()[" + " or ".join(f"contains(., {xpath_literal(word)})" for word in words) + "]"


def full_xpath(node: str, features: Sequence[Feature], position: int = 0) -> str:
    """Return the XPath of the nodes that match all features.

    Captions need the variable `$static`: the keys of all static texts, each between two separators.

    Args:
        node: what to select: `text()`, `element()` or an attribute such as `@src`.
        features: the conditions.
        position: which of the nodes, counted from 1; −1 for the last, 0 for all.
    """
    structural = [feature for feature in features if feature.is_structural]
    text_predicates = [_text_predicate(node, f) for f in features if not f.is_structural]
    path = _join_steps(node, structural, text_predicates)
    if not position:
        return path
    return f"({path}{_visible_predicates()})[{'last()' if position < 0 else position}]"


def xpath_literal(text: str) -> str:
    """Return the text as an XPath string literal, whatever quotes it contains."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"


def _join_steps(node: str, features: Sequence[Feature], text_predicates: Sequence[str]) -> str:
    """Return a location path with one step per level, from the highest level that has a feature to the node.

    Args:
        node: what to select. An element is the step at level 1, so `element()` itself gets no step.
        features: structural features.
        text_predicates: conditions on texts. For attributes and elements, they belong to the element at level 1.
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
    start = "/" if _starts_at_root(step_tags, top) else "//"
    return start + "/".join(steps)


def _step_tags(features: Sequence[Feature]) -> dict[int, Feature]:
    """Return, by level, the tag feature that becomes the name of the step instead of a predicate."""
    step_tags = {}
    for feature in features:
        is_own_tag = feature.kind == "tag" and not feature.axis
        if is_own_tag and len(feature.values) == 1 and _NAME.fullmatch(feature.values[0]):
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
            if _NAME.fullmatch(value):
                return f"self::{value}"
            return f"name()={xpath_literal(value)}"
        case "id" | "class":
            return f"@{kind}={xpath_literal(value)}"
        case "token":
            return f'contains(concat(" ", normalize-space(@class), " "), {xpath_literal(f" {value} ")})'
        case _:
            name = kind[1:]
            attribute = kind if _NAME.fullmatch(name) else f"@*[name()={xpath_literal(name)}]"
            return f"{attribute}={xpath_literal(value)}"


def _text_predicate(node: str, feature: Feature) -> str:
    """Return the predicate of one feature of texts: one of its values matches."""
    if feature.kind == CAPTION:
        text = _caption_text()
        return " or ".join(f"{text}={xpath_literal(value)}" for value in feature.values)
    test = _neighbor_text_test if feature.side else _inside_text_test
    return " or ".join(test(node, feature, value) for value in feature.values)


def _caption_text() -> str:
    """Return an expression for the nearest static text before the node, its key spelled as by `static_key`."""
    parts = (f'"{SEPARATOR}"', "count(ancestor::*) - 1", '" "', "name(..)", '" "', _squeezed("."))
    key = f'concat({", ".join(parts)}, "{SEPARATOR}")'
    return _squeezed(f"preceding::text(){_visible_predicates()}[contains($static, {key})][1]")


def _inside_text_test(node: str, feature: Feature, value: str) -> str:
    """Return a test of the node's own text."""
    text = _squeezed(f"./{node}") if node.startswith("@") else _squeezed(".")
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
    text = _squeezed(f"{axis}{_visible_predicates()}[1]")
    if feature.kind == "text":
        return f"{text}={xpath_literal(value)}"
    if feature.side == "left":
        return _ends_with(f'concat(" ", {text})', f" {value}")
    return f'starts-with(concat({text}, " "), {xpath_literal(f"{value} ")})'


def _squeezed(expression: str) -> str:
    """Return an expression for the text with its white space normalized, as `squeeze` does."""
    return f"normalize-space(translate({expression}, {_BLANKS_TO_SPACES}))"


def _visible_predicates() -> str:
    """Return the predicates of a text or attribute that readers can see."""
    return f'[{_squeezed(".")}!=""][{_NOT_HIDDEN}]'


def _ends_with(expression: str, end: str) -> str:
    """Return a test that a text ends with another, for which XPath 1.0 has no function."""
    return f"substring({expression}, string-length({expression}) - {len(end) - 1})={xpath_literal(end)}"
