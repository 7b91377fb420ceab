"""A rule in words: what a person reads to judge it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from untemplate.rules.feature import Feature
from untemplate.rules.ranges import Range
from untemplate.rules.rule import RecordRule, Rule, Selector

__all__ = ["explain_records", "explain_rule", "explain_selector"]

_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}
# Tags that are spelt with a vowel sound first: an h1, an li.
_SPELT_OPEN = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "hr", "html", "li", "s", "svg"})


def explain_rule(rule: Rule) -> str:
    """What a rule extracts, and from where it does so first."""
    words = explain_selector(rule.selectors[0], path=False)
    if rule.classifier is not None:
        words = f"the likeliest of {words}"
    words = "".join((_extent(rule), words, _range(rule.range) if rule.range else ""))
    others = len(rule.selectors) - 1
    return f"{words}; else in {_count(others, 'other way')}" if others else words


def explain_records(rule: RecordRule) -> str:
    """Where the records of a list page are, and where they are looked for first."""
    where = explain_selector(rule.selectors[0]).removeprefix("all text ")
    words = f"each is {where.removeprefix('in ') if where.startswith('in ') else f'an element {where}'}"
    if rule.holds:
        words += f" that holds `{rule.holds}`"
    if rule.siblings:
        words += f", with up to {_count(rule.siblings, 'element')} after it ({_either(rule.tags, '`{}`')})"
    others = len(rule.selectors) - 1
    return f"{words}; else in {_count(others, 'other way')}" if others else words


def explain_selector(selector: Selector, path: bool = True) -> str:
    """Which nodes a selector selects; without the path of tags if something else says which are meant."""
    features = selector.features
    tags = _tag_path(features)
    conditions = [*_surroundings(features, bool(tags)), *_texts(features)]
    if "/" in tags and (path or len(conditions) < 2):
        conditions.append(f"on the path `{tags}`")
    text = f"{_noun(selector.node)} {', '.join(conditions)}".rstrip()
    if selector.position:
        ordinal = _ORDINALS.get(selector.position, f"{selector.position}th")
        text = f"the {ordinal} of: {text}"
    return text


def _noun(node: str) -> str:
    if node == "element()":
        return "all text"
    return f"the `{node[1:]}`" if node.startswith("@") else "the text"


def _surroundings(features: Sequence[Feature], has_path: bool) -> Iterator[str]:
    """The siblings of the node, then the elements around it with theirs, the nearest first.

    An element further up with nothing to tell but its tag is left to the path, if there is one.
    """
    structural = [feature for feature in features if feature.is_structural]
    for level in sorted({feature.level for feature in structural}):
        here = [feature for feature in structural if feature.level == level]
        own = [feature for feature in here if not feature.axis]
        if level == 0:
            yield from _siblings(here)
        elif level == 1:
            yield " ".join(["in", _element(own), *_siblings(here)])
        elif not has_path or any(feature.kind != "tag" for feature in own) or len(own) < len(here):
            yield " ".join(["inside", _element(own), f"({level} up)", *_siblings(here)])


def _element(features: Sequence[Feature]) -> str:
    tags = [feature for feature in features if feature.kind == "tag"]
    names = [_named(feature) for feature in features if feature.kind != "tag"]
    tag = _article(tags[0].values) if tags else "an element"
    return " ".join([tag, " and ".join(names)]) if names else tag


def _article(tags: Sequence[str]) -> str:
    sounds_open = tags[0][:1] in "aeio" or tags[0] in _SPELT_OPEN
    return f"{'an' if sounds_open else 'a'} {_either(tags, '`{}`')}"


def _named(feature: Feature) -> str:
    values = _either(feature.values, "`{}`")
    match feature.kind:
        case "class":
            return f"of class {values}"
        case "token":
            return f"with {values} in its class"
        case "id":
            return f"with id {values}"
        case _:
            return f"with {feature.kind[1:]} {values}"


def _siblings(features: Sequence[Feature]) -> Iterator[str]:
    groups: dict[tuple[str, int], list[Feature]] = {}
    for feature in features:
        if feature.axis:
            groups.setdefault((feature.axis, feature.sibling), []).append(feature)
    for (axis, distance), group in sorted(groups.items(), reverse=True):
        if any("" in feature.values for feature in group):
            before = "before" if axis == "preceding" else "after"
            yield f"with {'no' if distance == 1 else 'at most one'} element {before} it"
        else:
            after = "after" if axis == "preceding" else "before"
            yield f"{'right' if distance == 1 else 'two'} {after} {_element(group)}"


def _texts(features: Sequence[Feature]) -> Iterator[str]:
    for feature in features:
        values = _either(feature.values, "“{}”")
        match feature.kind, feature.side:
            case "label", _:
                yield f"after the label {values}" if any(feature.values) else "before any label"
            case "text", side:
                yield f"right {'after' if side == 'left' else 'before'} the text {values}"
            case "word", side:
                yield f"right {'after' if side == 'left' else 'before'} the word {values}"
            case "inside-left-text", _:
                yield f"that begins with {values}"
            case "inside-right-text", _:
                yield f"that ends with {values}"
            case "inside-word", _:
                yield f"that contains the word {values}"


def _tag_path(features: Sequence[Feature]) -> str:
    """The tags of consecutive levels above the node, from the top."""
    tags = {f.level: f.values[0] for f in features if f.kind == "tag" and not f.axis and len(f.values) == 1}
    levels = range(1, max(tags, default=0) + 1)
    return "/".join(tags[level] for level in reversed(levels)) if all(map(tags.get, levels)) else ""


def _extent(rule: Rule) -> str:
    return f"{rule.nodes} texts in a row from " if rule.nodes > 1 else ""


def _range(range_: Range) -> str:
    if range_.type is not None:
        return f", the part that looks like a {range_.type}"
    if range_.start is not None:
        return f", {_tokens(range_.start, range_.stop or 0)}"
    parts = [f"after “{range_.after}”"] if range_.after else []
    parts += [f"before “{range_.before}”"] if range_.before else []
    return f", the part {' and '.join(parts)}" if parts else ""


def _tokens(start: int, stop: int) -> str:
    if start < 0:
        words = _count(-start, "last word")
        return words if not stop else f"{words} without {_count(-stop, 'last word')}"
    if stop > 0:
        return f"word {stop}" if stop == start + 1 else f"words {start + 1} to {stop}"
    words = f"from word {start + 1} on" if start else "all words"
    return f"{words} without {_count(-stop, 'last word')}" if stop else words


def _either(values: Sequence[str], form: str) -> str:
    return " or ".join(form.format(value) for value in values)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
