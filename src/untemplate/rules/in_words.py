"""Rules in words, and the differences between two versions of a site's rules: what a person reads to judge them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.rule import EmbeddedSelector, RecordRule, Region, Rule, Selector, Wrapper
from untemplate.rules.value_range import Range
from untemplate.schema import Attribute, Schema

__all__ = [
    "ComparableRules",
    "RuleChange",
    "compare_rules",
    "count_noun",
    "describe_range",
    "describe_region",
    "describe_text",
    "explain_embedded",
    "explain_records",
    "explain_rule",
    "explain_selector",
]

LOST = "no rule: the site changed"
# Compared with the wrapper of a cluster that only one of two versions has.
NO_WRAPPER = Wrapper(cluster="", signatures=(), importance=0, url_pattern="", rules={})

_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}
# Tags whose spelled name begins with a vowel sound: an h1, an li.
_VOWEL_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "hr", "html", "li", "s", "svg"})
_ATTRIBUTE_WORDS = {
    "class": "of class {}",
    "token": "with {} in its class",
    "id": "with id {}",
    "cell": "that is cell {} of its row",
}
_INSIDE_WORDS = {
    "inside-left-text": "that begins with",
    "inside-right-text": "that ends with",
    "inside-word": "that contains the word",
}


def explain_rule(rule: Rule) -> str:
    """Say what a rule extracts, and where it looks first.

    Example:
        >>> from untemplate.rules.feature import Feature
        >>> selector = Selector("text()", (Feature("tag", 1, ("h1",)), Feature("class", 1, ("title",))))
        >>> explain_rule(Rule("name", (selector,)))
        'the text in an `h1` of class `title`'
    """
    if not rule.selectors:
        return explain_embedded(rule.embedded[0]) + _count_alternatives(rule.embedded)
    words = explain_selector(rule.selectors[0], with_path=False)
    if rule.classifier is not None:
        words = f"the likeliest of {words}"
    if rule.nodes > 1:
        words = f"{rule.nodes} texts in a row from {words}"
    if rule.range:
        words += describe_range(rule.range)
    words += _count_alternatives(rule.selectors)
    if rule.embedded:
        words = f"{explain_embedded(rule.embedded[0])}, if the page shows it; else {words}"
    return words


def explain_records(rule: RecordRule) -> str:
    """Say where the records of a list page are, and where they are looked for first."""
    words = _explain_start(rule)
    if rule.required_path:
        words += f" that contains `{rule.required_path}`"
    if rule.required_link:
        words += f", with a link{' to a document' if rule.required_link == 'document' else ''}"
    if rule.required_text:
        words += f", with a text that begins with “{rule.required_text}”"
    if rule.siblings:
        tags = _join_alternatives(rule.tags, "`{}`")
        words += f", with up to {count_noun(rule.siblings, 'element')} after it ({tags})"
    if rule.with_texts:
        words += ", with the texts beside them"
    if rule.distinct:
        words += ", without repetitions"
    return words + _count_alternatives(rule.selectors)


def _explain_start(rule: RecordRule) -> str:
    """Say with which element or text a record begins."""
    selector = rule.selectors[0]
    if selector.node == "text()":
        anchor = explain_selector(selector)
        if not rule.levels:
            return f"each begins with {anchor}"
        levels = count_noun(rule.levels, "level")
        return f"each is the largest element, up to {levels} above, that has only one of: {anchor}"
    where = explain_selector(selector).removeprefix("all text ")
    element = where.removeprefix("in ") if where.startswith("in ") else f"an element {where}"
    return f"each is {element}"


def explain_selector(selector: Selector, with_path: bool = True) -> str:
    """Say which nodes a selector selects.

    Args:
        selector: the selector.
        with_path: False leaves out the path of tags where other conditions identify the nodes.
    """
    features = selector.features
    tags = _tag_path(features)
    conditions = [*_describe_elements(features, bool(tags)), *_describe_texts(features)]
    if "/" in tags and (with_path or len(conditions) < 2):
        conditions.append(f"on the path `{tags}`")
    if selector.region:
        conditions.append(describe_region(selector.region))
    text = f"{_describe_node(selector.node)} {', '.join(conditions)}".rstrip()
    if selector.position:
        ordinal = _ORDINALS.get(selector.position, f"{selector.position}th")
        text = f"the {ordinal} of: {text}"
    return text


def describe_region(region: Region) -> str:
    """Describe the part of the page in which nodes are selected: "within the second `div` of class `x`"."""
    conditions = list(_describe_elements(region.features, bool(_tag_path(region.features))))
    words = ", ".join(conditions).removeprefix("in ")
    if region.position:
        ordinal = _ORDINALS.get(region.position, f"{region.position}th")
        words = f"the {ordinal} of: {words}"
    return f"within {words}"


def explain_embedded(selector: EmbeddedSelector) -> str:
    """Say which embedded values a selector selects.

    Example:
        >>> from untemplate.page.embedded_data import DataPath
        >>> explain_embedded(EmbeddedSelector(DataPath("ld+json", "Recipe", ("name",))))
        'the embedded value `ld+json Recipe.name`'
    """
    words = f"the embedded value `{selector.path}`"
    if selector.position:
        ordinal = _ORDINALS.get(selector.position, f"{selector.position}th")
        words = f"the {ordinal} of: {words}"
    if selector.lines:
        words += ", line by line"
    if selector.skips_repeats:
        words += " without repeats"
    return words


def _describe_node(node: str) -> str:
    """Return what is selected: "the text", "all text" of an element, or an attribute such as "the `src`"."""
    if node == "element()":
        return "all text"
    if node.startswith("@"):
        return f"the `{node[1:]}`"
    return "the text"


def _describe_elements(features: Sequence[Feature], has_path: bool) -> Iterator[str]:
    """Describe the node's siblings, then the elements around it with their siblings, the nearest first.

    The path, if there is one, names the elements higher up of which nothing but the tag is known.
    """
    structural = sorted((f for f in features if f.is_structural), key=_level)
    for level, group in groupby(structural, key=_level):
        at_level = list(group)
        if level == 0:
            yield from _describe_siblings(at_level)
        elif level == 1 or not has_path or not all(map(_is_own_tag, at_level)):
            yield _describe_ancestor(level, at_level)


def _level(feature: Feature) -> int:
    return feature.level


def _is_own_tag(feature: Feature) -> bool:
    """Return True if a feature is the tag of the element at its level, not of a sibling."""
    return feature.kind == "tag" and not feature.axis


def _describe_ancestor(level: int, features: Sequence[Feature]) -> str:
    """Describe an element around the node: "in a `td` right after a `th`", "inside a `tr` (2 up)"."""
    element = _describe_element([feature for feature in features if not feature.axis])
    words = f"in {element}" if level == 1 else f"inside {element} ({level} up)"
    return " ".join([words, *_describe_siblings(features)])


def _describe_element(features: Sequence[Feature]) -> str:
    """Describe an element by its own features: "an `a` of class `x` and with id `y`"."""
    tags = [feature for feature in features if feature.kind == "tag"]
    words = _with_article(tags[0].values) if tags else "an element"
    attributes = [_describe_attribute(feature) for feature in features if feature.kind != "tag"]
    if attributes:
        words += f" {' and '.join(attributes)}"
    return words


def _with_article(tags: Sequence[str]) -> str:
    """Return tags with the article that fits the first: "a `td` or `th`", "an `h1`"."""
    article = "a"
    if tags[0][:1] in "aeio" or tags[0] in _VOWEL_TAGS:
        article = "an"
    return f"{article} {_join_alternatives(tags, '`{}`')}"


def _describe_attribute(feature: Feature) -> str:
    """Describe an attribute of an element: "of class `x`", "with itemprop `price`"."""
    values = _join_alternatives(feature.values, "`{}`")
    words = _ATTRIBUTE_WORDS.get(feature.kind)
    if feature.kind == "class" and "" in feature.values:
        named = [value for value in feature.values if value]
        return f"of class {_join_alternatives(named, '`{}`')} or none" if named else "without class"
    if words is None:
        return f"with {feature.kind[1:]} {values}"
    return words.format(values)


def _describe_siblings(features: Sequence[Feature]) -> Iterator[str]:
    """Describe the siblings that features are about: those before the element first, the farthest first."""
    groups: dict[tuple[str, int], list[Feature]] = {}
    for feature in features:
        if feature.axis:
            groups.setdefault((feature.axis, feature.sibling), []).append(feature)
    for (axis, distance), group in sorted(groups.items(), reverse=True):
        yield _describe_sibling(axis, distance, group)


def _describe_sibling(axis: str, distance: int, features: Sequence[Feature]) -> str:
    """Describe one sibling: "right after a `b`", "two before an `a`", or that it is missing."""
    is_missing = any("" in feature.values for feature in features)
    if is_missing:
        count = "no" if distance == 1 else "at most one"
        side = "before" if axis == "preceding" else "after"
        return f"with {count} element {side} it"
    steps = "right" if distance == 1 else "two"
    side = "after" if axis == "preceding" else "before"
    return f"{steps} {side} {_describe_element(features)}"


def _describe_texts(features: Sequence[Feature]) -> Iterator[str]:
    """Describe the conditions on texts, in their order."""
    for feature in features:
        if not feature.is_structural:
            yield describe_text(feature)


def describe_text(feature: Feature) -> str:
    """Describe one condition on texts: "right after the word “by”", "after the caption “Tel:”"."""
    values = _join_alternatives(feature.values, "“{}”")
    if feature.side:
        side = "after" if feature.side == "left" else "before"
        return f"right {side} the {feature.kind} {values}"
    if feature.kind != CAPTION:
        return f"{_INSIDE_WORDS[feature.kind]} {values}"
    if not any(feature.values):
        return "before any caption"
    return f"after the caption {values}"


def _tag_path(features: Sequence[Feature]) -> str:
    """Return the tags of consecutive levels above the node, from the top; empty if one is unknown."""
    own_tags = [feature for feature in features if _is_own_tag(feature)]
    tags = {feature.level: feature.values[0] for feature in own_tags if len(feature.values) == 1}
    levels = range(1, max(tags, default=0) + 1)
    if not all(map(tags.get, levels)):
        return ""
    return "/".join(tags[level] for level in reversed(levels))


def describe_range(range_: Range) -> str:
    """Describe which part of a text is the value, and how a list is split: ", word 2", ", split at “/”"."""
    return _describe_part(range_) + _describe_separators(range_)


def _describe_separators(range_: Range) -> str:
    """Describe how a text with several values is split; empty if it has one."""
    if not range_.separators:
        return ""
    if range_.keeps_lines:
        return ", line by line"
    return f", split at {_join_alternatives(range_.separators, '“{}”')}"


def _describe_part(range_: Range) -> str:
    """Describe which part of a text is meant: ", the part after “Price:”"; empty for all of it."""
    if range_.type is not None:
        return f", the part that looks like a {range_.type}"
    if range_.start is not None:
        words = _describe_tokens(range_.start, range_.stop or 0)
        if range_.delimiter == " ":
            return f", {words}"
        return f", {words.replace('word', 'part')} between “{range_.delimiter}”"
    parts = []
    if range_.after:
        parts.append(f"after {'the last ' if range_.last else ''}“{range_.after}”")
    if range_.before:
        parts.append(f"before “{range_.before}”")
    if not parts:
        return ""
    return f", the part {' and '.join(parts)}"


def _describe_tokens(start: int, stop: int) -> str:
    """Describe a slice of words; a stop of 0 is the end."""
    if start >= 0 and stop == start + 1:
        return f"word {stop}"
    if start >= 0 and stop > 0:
        return f"words {start + 1} to {stop}"
    words = "all words"
    if start < 0:
        words = count_noun(-start, "last word")
    elif start > 0:
        words = f"from word {start + 1} on"
    if stop:
        words += f" without {count_noun(-stop, 'last word')}"
    return words


def _count_alternatives(selectors: Sequence[Selector] | Sequence[EmbeddedSelector]) -> str:
    """Return how many selectors follow the first: "; else in 2 other ways", or nothing."""
    alternatives = len(selectors) - 1
    if not alternatives:
        return ""
    return f"; else in {count_noun(alternatives, 'other way')}"


def _join_alternatives(values: Sequence[str], form: str) -> str:
    """Return the values, each put into the form, as alternatives: "`a` or `b`"."""
    return " or ".join(form.format(value) for value in values)


def count_noun(number: int, noun: str) -> str:
    """Return a number and a noun: "1 word", "2 words"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class RuleChange:
    """One difference between two versions of a site's rules, in words.

    Attributes:
        cluster: the cluster that changed; None for a change of the schema.
        attribute: the attribute that changed; None for a change of the cluster itself.
        before: what the old version says; empty if it says nothing.
        after: what the new version says; empty if it says nothing.
    """

    cluster: str | None
    attribute: str | None
    before: str
    after: str


class ComparableRules(Protocol):
    """The part of `Rules` that comparing needs. (`Rules` itself belongs to a later stage.)"""

    @property
    def schema(self) -> Schema: ...
    @property
    def wrappers(self) -> tuple[Wrapper, ...]: ...


def compare_rules(old: ComparableRules, new: ComparableRules) -> list[RuleChange]:
    """Return how new rules differ from old ones: first the schema, then cluster by cluster."""
    changes = []
    old_attributes, new_attributes = old.schema.attributes, new.schema.attributes
    for name in old_attributes | new_attributes:
        before = _describe_schema_attribute(old_attributes.get(name))
        after = _describe_schema_attribute(new_attributes.get(name))
        changes.append(RuleChange(None, name, before, after))
    old_wrappers = {wrapper.cluster: wrapper for wrapper in old.wrappers}
    new_wrappers = {wrapper.cluster: wrapper for wrapper in new.wrappers}
    for cluster in old_wrappers | new_wrappers:
        old_wrapper = old_wrappers.get(cluster, NO_WRAPPER)
        new_wrapper = new_wrappers.get(cluster, NO_WRAPPER)
        changes += _compare_wrappers(cluster, old_wrapper, new_wrapper)
    return [change for change in changes if change.before != change.after]


def _compare_wrappers(cluster: str, old: Wrapper, new: Wrapper) -> Iterator[RuleChange]:
    """Yield the changes of one cluster; NO_WRAPPER means that a version does not have the cluster."""
    after = _describe_wrapper(new)
    if NO_WRAPPER not in (old, new) and set(old.signatures) != set(new.signatures):
        after += ", pages of another structure"
    yield RuleChange(cluster, None, _describe_wrapper(old), after)
    yield RuleChange(cluster, None, _describe_record_rule(old), _describe_record_rule(new))
    # Attributes with rules, or that had rules until the site changed.
    for name in dict.fromkeys([*old.rules, *old.lost, *new.rules, *new.lost]):
        yield _compare_attribute(cluster, name, old, new)


def _compare_attribute(cluster: str, name: str, old: Wrapper, new: Wrapper) -> RuleChange:
    """Return how the rule of one attribute changed; before and after are the same if it did not.

    Rules that read the same may still differ in what words leave out. Then the change names those parts.
    """
    before, after = _describe_wrapper_rule(name, old), _describe_wrapper_rule(name, new)
    old_rule, new_rule = old.rules.get(name), new.rules.get(name)
    if old_rule and new_rule and old_rule != new_rule and before == after:
        after += f"; with {_name_unspoken_changes(old_rule, new_rule)}"
    return RuleChange(cluster, name, before, after)


def _name_unspoken_changes(old: Rule, new: Rule) -> str:
    """Name the parts that differ between two rules that read the same in words."""
    is_changed = {
        "other XPaths": [s.xpath for s in old.selectors] != [s.xpath for s in new.selectors],
        "other selectors that confirm values": old.committee != new.committee,
        "another classifier": old.classifier != new.classifier,
        "other embedded values": old.embedded != new.embedded,
    }
    return " and ".join(words for words, changed in is_changed.items() if changed) or "other details"


def _describe_schema_attribute(attribute: Attribute | None) -> str:
    """Describe what the schema says of an attribute: "price, mandatory, like \\d+"."""
    if attribute is None:
        return ""
    flags = [flag for flag in ("mandatory", "constant", "many") if getattr(attribute, flag)]
    words = [attribute.type, *flags]
    if attribute.pattern:
        words.append(f"like {attribute.pattern}")
    return ", ".join(words)


def _describe_wrapper(wrapper: Wrapper) -> str:
    """Describe which pages a wrapper is for, and whether they still need labels."""
    if wrapper == NO_WRAPPER:
        return ""
    if wrapper.rules or wrapper.lost:
        return wrapper.url_pattern
    return f"{wrapper.url_pattern}, needs labels"


def _describe_record_rule(wrapper: Wrapper) -> str:
    """Describe where a wrapper finds records; empty if it is not for list pages."""
    if wrapper.records is None:
        return ""
    return f"records: {explain_records(wrapper.records)}"


def _describe_wrapper_rule(attribute: str, wrapper: Wrapper) -> str:
    """Describe a wrapper's rule for an attribute; empty if it never had one."""
    if rule := wrapper.rules.get(attribute):
        return explain_rule(rule)
    return LOST if attribute in wrapper.lost else ""
