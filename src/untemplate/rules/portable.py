"""Rules as XPath or CSS for other tools: parsel, Scrapy, the console of a browser.

A rule is more than one expression: it tries several selectors, lets a committee confirm the value, cuts the value
out of a text, and may read embedded data. `portable_rule` takes the selector that loses least, writes it as one
expression without variables, and names in words everything that the expression leaves out.

The expressions select the same nodes as the selector does on the tree that parsel reads. Browsers insert a `tbody`
into tables, so a path through a table row comes in two variants that are joined. Where HTML is broken, browsers may
repair it in other ways than lxml. Texts in scripts, styles and templates are excluded; those in obsolete elements
such as `noframes`, which our own selectors exclude too, are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from untemplate.page.dom import SAFE_NAME
from untemplate.rules.feature import (
    BLANKS_TO_SPACES,
    CAPTION,
    CELL_TAGS,
    Feature,
    full_xpath,
    join_static,
    squeezed_xpath,
    static_predicate,
    visible_predicates,
    xpath_literal,
)
from untemplate.rules.in_words import (
    count_noun,
    describe_range,
    describe_region,
    describe_text,
    explain_embedded,
)
from untemplate.rules.record_pages import RECORD_TAG
from untemplate.rules.rule import RecordRule, Rule, Selector, Wrapper
from untemplate.schema import Attribute

__all__ = [
    "Language",
    "PortableSelector",
    "portable_records",
    "portable_rule",
    "portable_selectors",
    "static_literal",
]

Language = Literal["xpath", "css"]

_ROW_GROUPS = frozenset({"tbody", "thead", "tfoot"})
# The white space that pages often have and XPath does not know: the no-break space, and the wide one of Japanese.
_OTHER_BLANKS = '"\u00a0\u3000", "  "'
_NOT_BLANK = f"[normalize-space(translate(., {_OTHER_BLANKS}))]"
_NOT_HIDDEN = "[not(ancestor::script or ancestor::style or ancestor::template)]"


# Captions in an expression besides those that rules name: longer expressions are hard to carry around.
MAX_OTHER_CAPTIONS = 60


@dataclass(frozen=True, slots=True)
class PortableSelector:
    """An expression that other tools accept, and what it does not express.

    Attributes:
        expression: XPath 1.0 without variables, or a CSS selector, which selects elements. On list pages, the one
            of an attribute starts at the element of a record.
        language: `xpath` or `css`.
        node: what the value is: `text()`, an attribute such as `@src`, or `element()` for all text of an element.
        left_out: in words, what the rule does besides. Empty if the expression is all of it.
    """

    expression: str
    language: Language
    node: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Translation:
    """One selector as an expression, with the conditions that the language cannot express."""

    expression: str
    left_out: tuple[str, ...]


def portable_rule(
    rule: Rule, attribute: Attribute, wrapper: Wrapper, language: Language = "xpath"
) -> PortableSelector | None:
    """Return one expression for a rule, from the selector that loses least; None if there is none.

    Args:
        rule: a rule of the wrapper.
        attribute: its attribute. The expression of one that has a single value selects the first node.
        wrapper: all rules of the cluster: their captions are the ones that the expression knows.
        language: what to write.

    Example:
        >>> selector = Selector("text()", (Feature("tag", 1, ("h1",)), Feature("class", 1, ("title",))))
        >>> rule = Rule("name", (selector,))
        >>> wrapper = Wrapper("c1", (), 10, "*", {"name": rule})
        >>> portable_rule(rule, Attribute("name"), wrapper, "css").expression
        'h1[class="title"]'
    """
    captions = _known_captions(wrapper)
    in_record = wrapper.records is not None
    best: tuple[Selector, _Translation] | None = None
    for selector in (*rule.selectors, *rule.committee):
        if language == "css":
            translation = _translate_to_css(selector, attribute.many)
        else:
            translation = _translate_to_xpath(selector, captions, attribute.many, in_record)
        if translation and (best is None or len(translation.left_out) < len(best[1].left_out)):
            best = selector, translation
    if best is None:
        return None
    selector, translation = best
    left_out = (*translation.left_out, *_left_out_of_rule(rule, attribute))
    return PortableSelector(translation.expression, language, selector.node, left_out)


def portable_selectors(rule: Rule, wrapper: Wrapper, static: str | None = None) -> list[PortableSelector]:
    """Return an XPath of all nodes for each selector of a rule that has one, in the order in which they are tried.

    Args:
        rule: a rule of the wrapper.
        wrapper: all rules of the cluster.
        static: an XPath expression for the words of the template, such as a variable or `static_literal`; with it
            captions are found exactly. Without it the expressions know some of these words.
    """
    captions = _known_captions(wrapper)
    in_record = wrapper.records is not None
    selectors: list[PortableSelector] = []
    for selector in rule.selectors:
        if translation := _translate_to_xpath(selector, captions, True, in_record, static):
            left_out = translation.left_out
            selectors.append(PortableSelector(translation.expression, "xpath", selector.node, left_out))
    return selectors


def static_literal(wrapper: Wrapper) -> str:
    """Return the words of the template as an XPath literal, as `static_predicate` reads them."""
    return xpath_literal(join_static(wrapper.static))


def portable_records(records: RecordRule, language: Language = "xpath") -> PortableSelector | None:
    """Return the expression of the elements with which the records of a list page begin; None if there is none."""
    for selector in records.selectors:
        if selector.node != "element()":
            continue
        if language == "css":
            translation = _translate_to_css(selector, many=True)
        else:
            translation = _translate_to_xpath(selector, (), many=True, in_record=False)
        if translation:
            left_out = (*translation.left_out, *_left_out_of_records(records))
            return PortableSelector(translation.expression, language, selector.node, left_out)
    return None


def _left_out_of_rule(rule: Rule, attribute: Attribute) -> Iterator[str]:
    """Yield in words what a rule does besides selecting nodes with one selector."""
    if rule.embedded:
        yield f"{explain_embedded(rule.embedded[0])}, which the rule reads first"
    if rule.classifier is not None:
        yield "the choice of the likeliest of these nodes"
    if rule.nodes > 1:
        yield f"{count_noun(rule.nodes - 1, 'text')} after it, part of the value"
    if rule.range and (words := describe_range(rule.range)):
        yield f"how the value is cut out of the text{words.replace(', ', ': ', 1)}"
    if rule.typed and attribute.type != "text":
        yield f"the test that the text is of type {attribute.type}"
    if others := len(rule.selectors) - 1:
        yield f"{count_noun(others, 'more selector')}, for pages on which this one finds nothing"
    if rule.committee:
        yield f"{count_noun(len(rule.committee), 'selector')} to confirm the value"


def _left_out_of_records(records: RecordRule) -> Iterator[str]:
    """Yield in words what else decides where records begin and end."""
    if records.required_path:
        yield f"the condition that a record contains `{records.required_path}`"
    if records.required_link:
        yield "the condition that a record contains a link"
    if records.siblings:
        yield f"up to {count_noun(records.siblings, 'element')} after it, part of the same record"
    if records.required_text:
        yield f"the condition that a text of a record begins with “{records.required_text}”"
    if records.distinct:
        yield "the condition that no earlier record has the same texts and links"


def _known_captions(wrapper: Wrapper) -> tuple[str, ...]:
    """Return the captions that an expression knows: those that rules name, and static texts at places like theirs.

    What follows a caption ends at the next one, so the expression needs more captions than its own.
    """
    named: set[str] = set()
    for rule in wrapper.rules.values():
        named.update(_captions_of(rule))
    static = [key.split(" ", 2) for key in wrapper.static if key.count(" ") > 1]
    places = {(depth, tag) for depth, tag, text in static if text in named}
    alike = {text for depth, tag, text in static if (depth, tag) in places} - named
    return (*sorted(named), *sorted(alike)[:MAX_OTHER_CAPTIONS])


def _captions_of(rule: Rule) -> Iterator[str]:
    """Yield the captions that the selectors of a rule name."""
    for selector in (*rule.selectors, *rule.committee):
        for feature in selector.features:
            if feature.kind == CAPTION:
                yield from filter(None, feature.values)


def _with_tbody(features: Sequence[Feature]) -> tuple[Feature, ...] | None:
    """Return the same conditions for a tree with a `tbody` around table rows; None if no path leads through one."""
    rows = _levels_of_rows(features)
    if not rows:
        return None
    shifted = []
    for feature in features:
        inserted = sum(row < feature.level for row in rows) if feature.is_structural else 0
        shifted.append(replace(feature, level=feature.level + inserted))
    bodies = [Feature("tag", row + number, ("tbody",)) for number, row in enumerate(rows, 1)]
    return (*shifted, *bodies)


def _levels_of_rows(features: Sequence[Feature]) -> list[int]:
    """Return the levels of table rows that have no `tbody` above them."""
    tags = {
        feature.level: feature.values for feature in features if feature.kind == "tag" and not feature.axis
    }
    top = max((feature.level for feature in features if feature.is_structural), default=0)
    rows = [level for level in range(1, top) if _is_row(level, tags)]
    return [level for level in rows if not _is_row_group(level + 1, tags)]


def _is_row(level: int, tags: Mapping[int, tuple[str, ...]]) -> bool:
    """Return True if the element at a level is a table row: by its tag, or as the parent of a cell."""
    if level in tags:
        return tags[level] == ("tr",)
    return level - 1 in tags and set(tags[level - 1]) <= set(CELL_TAGS)


def _is_row_group(level: int, tags: Mapping[int, tuple[str, ...]]) -> bool:
    return not _ROW_GROUPS.isdisjoint(tags.get(level, ()))


def _variants(selector: Selector) -> list[tuple[Feature, ...]]:
    """Return the conditions of a selector as they are, and for browsers if these see other levels."""
    with_tbody = _with_tbody(selector.features)
    return [selector.features, with_tbody] if with_tbody else [selector.features]


# XPath


def _translate_to_xpath(
    selector: Selector, captions: Sequence[str], many: bool, in_record: bool, static: str | None = None
) -> _Translation | None:
    """Return a selector as XPath; None if it needs a region inside a record.

    Captions end where the next word of the template begins: one of `static` if that is given, or of `captions`.
    """
    if in_record and selector.region:
        return None
    region = selector.region.xpath if selector.region else "." if in_record else ""
    variants = [full_xpath(selector.node, _inside_record(one), region=region) for one in _variants(selector)]
    expression = " | ".join(path + visible_predicates() for path in variants)
    expression = _at_position(expression, selector.position or int(not many))
    is_static = static_predicate().replace("$static", static) if static else _is_any_of(captions)
    expression = expression.replace(static_predicate(), is_static)
    expression = expression.replace(visible_predicates(), _NOT_BLANK + _NOT_HIDDEN)
    expression = expression.replace(BLANKS_TO_SPACES, _OTHER_BLANKS)
    return _Translation(expression, () if static else tuple(_left_out_of_xpath(selector)))


def _at_position(expression: str, position: int) -> str:
    """Return the XPath of one of several nodes: by its number, −1 for the last; 0 for all of them."""
    if not position:
        return expression
    return f"({expression})[{'last()' if position < 0 else position}]"


def _is_any_of(texts: Sequence[str]) -> str:
    """Return the test that a node has one of these texts."""
    return " or ".join(f"{squeezed_xpath('.')}={xpath_literal(text)}" for text in texts) or "false()"


def _inside_record(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Return the features without the root of a record page, which is no element of the list page."""
    return tuple(feature for feature in features if RECORD_TAG not in feature.values)


def _left_out_of_xpath(selector: Selector) -> Iterator[str]:
    for feature in selector.features:
        if feature.kind == CAPTION:
            yield "words of the template that look different from captions: what follows them is not excluded"


# CSS


def _translate_to_css(selector: Selector, many: bool) -> _Translation | None:
    """Return a selector as CSS; None if no condition of it is about elements."""
    left_out = list(_left_out_of_css(selector, many))
    alternatives = []
    for features in _variants(selector):
        expressible = [feature for feature in features if _is_css(feature)]
        if not expressible:
            return None
        alternatives.append(_css_path(expressible))
    if selector.region and _is_css_region(selector):
        region = _css_path(selector.region.features)
        alternatives = [f"{region} {path}" for path in alternatives]
    return _Translation(", ".join(alternatives), tuple(left_out))


def _left_out_of_css(selector: Selector, many: bool) -> Iterator[str]:
    """Yield in words the conditions of a selector that CSS cannot express."""
    for feature in selector.features:
        if not feature.is_structural:
            yield f"the condition: {describe_text(feature)}"
        elif not _is_css(feature):
            yield f"a condition on {feature.type} at level {feature.level}"
    if selector.region and not _is_css_region(selector):
        yield f"the condition: {describe_region(selector.region)}"
    if selector.position and (selector.position != 1 or many):
        position = "the last" if selector.position < 0 else f"number {selector.position}"
        yield f"the choice of {position} of these elements"


def _is_css(feature: Feature) -> bool:
    """Return True if CSS can express a feature: one of an element whose names CSS can spell."""
    if not feature.is_structural or feature.level == 0:
        return False
    if "" in feature.values:
        return feature.values == ("",)
    if feature.kind == "tag":
        return all(map(SAFE_NAME.fullmatch, feature.values))
    return not feature.kind.startswith("@") or SAFE_NAME.fullmatch(feature.kind[1:]) is not None


def _is_css_region(selector: Selector) -> bool:
    region = selector.region
    return region is not None and not region.position and all(map(_is_css, region.features))


def _css_path(features: Sequence[Feature]) -> str:
    """Return one step for each level, from the highest to the element itself."""
    top = max(feature.level for feature in features)
    return " > ".join(_css_step([f for f in features if f.level == level]) for level in range(top, 0, -1))


def _css_step(features: Sequence[Feature]) -> str:
    """Return one element with its conditions, after the siblings before it that have conditions."""
    siblings: dict[int, list[Feature]] = {}
    own: list[Feature] = []
    suffix = ""
    ordered = sorted(features, key=lambda feature: (feature.axis or "", feature.sibling))
    for (axis, distance), group in groupby(ordered, key=lambda feature: (feature.axis, feature.sibling)):
        at_sibling = list(group)
        if axis is None:
            own = at_sibling
        elif any(feature.counts_siblings for feature in at_sibling):
            suffix += _css_missing_sibling(axis, distance)
        elif axis == "following":
            suffix += f":has(+ {'* + ' * (distance - 1)}{_css_element(at_sibling)})"
        else:
            siblings[distance] = at_sibling
    steps = [_css_element(siblings.get(distance, [])) for distance in range(max(siblings, default=0), 0, -1)]
    return " + ".join([*steps, _css_element(own, suffix)])


def _css_missing_sibling(axis: str, distance: int) -> str:
    """Return the test that fewer siblings than this are before or after an element."""
    side = "" if axis == "preceding" else "last-"
    return f":nth-{side}child(-n+2)" if distance == 2 else ":first-child" if not side else ":last-child"


def _css_element(features: Sequence[Feature], suffix: str = "") -> str:
    """Return the conditions on one element, its tag first."""
    ordered = sorted(features, key=lambda feature: (feature.kind != "tag", len(feature.values) != 1))
    conditions = ""
    for number, feature in enumerate(ordered):
        tests = [_css_test(feature.kind, value) for value in feature.values]
        is_plain = len(tests) == 1 and (feature.kind != "tag" or number == 0)
        conditions += tests[0] if is_plain else f":is({', '.join(tests)})"
    return (conditions + suffix) or "*"


def _css_test(kind: str, value: str) -> str:
    """Return one condition on the tag or an attribute of an element."""
    match kind:
        case "tag":
            return value.replace(".", "\\.")
        case "id" | "class" if not value:
            return f":not([{kind}])"  # parsel accepts no way to include class=""
        case "cell":
            return f":is({', '.join(CELL_TAGS)}):nth-child({value})"
        case "token":
            return f"[class~={_quote_css(value)}]"
        case _:
            return f"[{kind.removeprefix('@')}={_quote_css(value)}]"


def _quote_css(text: str) -> str:
    """Return a text as a CSS string, with what may not be in one escaped."""
    escaped = "".join(f"\\{ord(char):x} " if char in '"\\' or char < " " else char for char in text)
    return f'"{escaped}"'
