"""Features written as XPath 1.0: the structural part that selects candidates, and the whole for people and XSLT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from untemplate.page import HIDDEN_TAGS
from untemplate.rules.feature import Feature

__all__ = ["SEPARATOR", "anchor_xpath", "literal", "structure_xpath", "whole_xpath"]

# Stands between (and around) the static texts in the variable that holds them all.
SEPARATOR = "\u241e"

_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
# White space to Python but not to XPath, without what XML does not allow.
_BLANKS = "\u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_SPACES = f'"{_BLANKS}", "{" " * len(_BLANKS)}"'
_VISIBLE = "not(" + " or ".join(f"ancestor::{tag}" for tag in sorted(HIDDEN_TAGS)) + ")"


def structure_xpath(node: str, features: Iterable[Feature]) -> str:
    """The XPath of all nodes (`text()` or `@name`) of which the structural features hold."""
    return _steps(node, [feature for feature in features if feature.is_structural], {})


def anchor_xpath(feature: Feature) -> str:
    """The XPath of all texts that may be one the feature names: they contain its longest word."""
    words = (max(value.split(" "), key=len) for value in feature.values)
    return "//text()[" + " or ".join(f"contains(., {literal(word)})" for word in words) + "]"


def whole_xpath(node: str, features: Sequence[Feature], position: int = 0, static: str = "$static") -> str:
    """The XPath of the nodes of which all features hold; `static` names the variable with the static texts."""
    predicates = [_text_predicate(node, f, static) for f in features if not f.is_structural]
    path = _steps(node, [f for f in features if f.is_structural], {0: predicates})
    if position:
        return f"({path}{_visible()})[{'last()' if position < 0 else position}]"
    return path


def literal(text: str) -> str:
    """The text as an XPath string literal."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ", '\"', ".join(f'"{part}"' for part in text.split('"')) + ")"


def _steps(node: str, features: Sequence[Feature], extra: dict[int, list[str]]) -> str:
    top = max((feature.level for feature in features), default=0)
    tags = {f.level: f for f in features if f.kind == "tag" and not f.axis and len(f.values) == 1}
    named = {level: f for level, f in tags.items() if _NAME.fullmatch(f.values[0])}
    rest = [feature for feature in features if named.get(feature.level) is not feature]
    from_root = top > 0 and len(named) == top and named[top].values == ("html",)
    on_element = node != "text()"  # attributes and whole elements: conditions on texts are the element's
    steps = []
    for level in range(top, -1, -1):
        predicates = [_predicate(feature) for feature in rest if feature.level == level]
        own = extra.get(level, [])
        if on_element and level < 2:
            own = extra.get(0, []) if level else []
        name = node if level == 0 else named[level].values[0] if level in named else "*"
        steps.append(name + "".join(f"[{predicate}]" for predicate in [*predicates, *own]))
    if on_element and top == 0:
        steps.insert(0, "*" + "".join(f"[{predicate}]" for predicate in extra.get(0, [])))
    if node == "element()":
        steps.pop()
    return ("/" if from_root else "//") + "/".join(steps)


def _predicate(feature: Feature) -> str:
    tests = []
    for value in feature.values:
        if feature.axis and feature.kind == "tag" and not value:
            tests.append(f"not({feature.axis}-sibling::*[{feature.sibling}])")
        elif feature.axis:
            test = _element_test(feature.kind, value)
            # libxml2 stops at the sibling it wants only if no further predicate follows.
            tests.append(f"{feature.axis}-sibling::*[{feature.sibling}]/self::*[{test}]")
        else:
            tests.append(_element_test(feature.kind, value))
    return " or ".join(tests)


def _element_test(kind: str, value: str) -> str:
    match kind:
        case "tag":
            return f"self::{value}" if _NAME.fullmatch(value) else f"name()={literal(value)}"
        case "id" | "class":
            return f"@{kind}={literal(value)}"
        case "token":
            return f'contains(concat(" ", normalize-space(@class), " "), {literal(f" {value} ")})'
        case _:
            name = kind[1:]
            attribute = kind if _NAME.fullmatch(name) else f"@*[name()={literal(name)}]"
            return f"{attribute}={literal(value)}"


def _squeezed(what: str) -> str:
    return f"normalize-space(translate({what}, {_SPACES}))"


def _visible() -> str:
    """The predicates of a text or attribute that somebody sees."""
    return f'[{_squeezed(".")}!=""][{_VISIBLE}]'


def _text_predicate(node: str, feature: Feature, static: str) -> str:
    visible = _visible()
    own = _squeezed(f"./{node}") if node.startswith("@") else _squeezed(".")
    tests = []
    for value in feature.values:
        match feature.kind:
            case "label":
                parts = (f'"{SEPARATOR}"', "count(ancestor::*) - 1", '" "', "name(..)", '" "', _squeezed("."))
                key = f'concat({", ".join(parts)}, "{SEPARATOR}")'
                is_static = f"contains({static}, {key})"
                nearest = f"preceding::text(){visible}[{is_static}][1]"
                tests.append(f"{_squeezed(nearest)}={literal(value)}")
            case "inside-left-text":
                tests.append(f"starts-with({own}, {literal(value)})")
            case "inside-right-text":
                tests.append(_ends_with(own, value))
            case "inside-word":
                tests.append(f'contains(concat(" ", {own}, " "), {literal(f" {value} ")})')
            case _:
                after = "following::text()" if not node.startswith("@") else "(.//text()|following::text())"
                axis = "preceding::text()" if feature.side == "left" else after
                text = _squeezed(f"{axis}{visible}[1]")
                if feature.kind == "text":
                    tests.append(f"{text}={literal(value)}")
                elif feature.side == "left":
                    tests.append(_ends_with(f'concat(" ", {text})', f" {value}"))
                else:
                    tests.append(f'starts-with(concat({text}, " "), {literal(f"{value} ")})')
    return " or ".join(tests)


def _ends_with(what: str, end: str) -> str:
    return f"substring({what}, string-length({what}) - {len(end) - 1})={literal(end)}"
