"""Named features of groups of elements, for a linear model of what a group contains.

Four kinds of evidence describe a group: what the template calls it, its texts, its place on the page, and what the
page's own data call its texts, such as `og:description`. Tried on `recipes` without gain: whether other pages of the
site have the same texts, words of the attribute's own name, the distance from the main heading.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import log2

from lxml import etree

from untemplate.labeling.groups.element_groups import ElementGroup
from untemplate.labeling.nodes.node_features import without_plural
from untemplate.page.dom import element_names, split_name
from untemplate.page.locating import letters_and_digits

__all__ = ["describe_group"]

# Ancestors whose names describe an element, and words of names and texts that count.
NAMED_LEVELS, MAX_NAME_WORDS, MAX_TEXT_WORDS = 5, 24, 40
# Members whose words are read.
MAX_DESCRIBED = 25

# Tags of elements that contain blocks of text rather than one.
BLOCKS = frozenset({"li", "p", "div", "ul", "ol", "tr", "h2", "h3"})


def describe_group(
    group: ElementGroup, is_list: bool, named_texts: Mapping[str, set[str]]
) -> dict[str, float]:
    """Return the features of a group.

    Args:
        group: The group.
        is_list: Whether it is a candidate for a list of values, or for the single value that its first member is.
        named_texts: What the page's own data call its texts (`name_texts`).
    """
    texts = group.texts[:MAX_DESCRIBED] if is_list else group.texts[:1]
    features = dict(chain(_name_features(group), _place_features(group), _text_features(group, texts)))
    features.update(_data_features(texts, named_texts))
    if is_list:
        features[f"members {_bucket(len(group.elements))}"] = 1.0
        features["titled"] = float(bool(group.titled))
    return features


def _data_features(texts: Sequence[str], named_texts: Mapping[str, set[str]]) -> Iterator[tuple[str, float]]:
    """Yield the names that the page's data give to texts of a group, each with the share of the texts."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(named_texts.get(letters_and_digits(text), ()))
    for name, count in counts.items():
        yield f"data {name}", count / len(texts)


def _name_features(group: ElementGroup) -> Iterator[tuple[str, float]]:
    """Yield what the template calls the group: class names and ids, captions and headings."""
    element: etree._Element | None = group.elements[0]
    words: list[tuple[str, int]] = []
    for level in range(NAMED_LEVELS):
        if element is None:
            break
        words += [(word, level) for word in split_name(element_names(element)) if word.isalpha()]
        element = element.getparent()
    for word, level in words[:MAX_NAME_WORDS]:
        yield f"name {without_plural(word)}", 1.0
        if level == 0:
            yield f"own name {without_plural(word)}", 1.0
    for word in split_name(group.heading)[:8]:
        yield f"heading {without_plural(word)}", 1.0
    for word in split_name(group.before[0] if group.before else "")[:4]:
        yield f"before {without_plural(word)}", 1.0


def _text_features(group: ElementGroup, texts: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield what texts are like: their words, length and signs."""
    for word, count in _count_words(texts).items():
        if count * 5 >= len(texts):
            yield f"word {word}", count / len(texts)
    for name, has_trait in _TEXT_TRAITS.items():
        yield name, sum(map(has_trait, texts)) / len(texts)
    length = sum(map(len, texts)) / len(texts)
    yield f"length {_bucket(length)}", 1.0
    title = set(split_name(group.page.title))
    own = set(split_name(texts[0][:200]))
    yield "in title", len(own & title) / max(1, len(own))
    yield "title in it", len(own & title) / max(1, len(title))


def _place_features(group: ElementGroup) -> Iterator[tuple[str, float]]:
    """Yield where the group is: its tags, whether its parents contain anything else, how far down the page."""
    element = group.elements[0]
    parent = element.getparent()
    yield f"tag {element.tag}", 1.0
    if parent is not None:
        yield f"parent {parent.tag}", 1.0
    yield "complete", group.share
    yield "all alike", group.part
    yield f"part {round(group.order * 5)}", 1.0
    yield f"key {group.key[1].split(' ')[0]}", 1.0
    yield "only", float(len(group.elements) == 1)
    yield "has blocks", float(any(child.tag in BLOCKS for child in element))


def _count_words(texts: Iterable[str]) -> Counter[str]:
    """Return for each word how many texts contain it near their start."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({without_plural(word) for word in split_name(text[:400])[:MAX_TEXT_WORDS]})
    return counts


def _begins_with_number(text: str) -> bool:
    return text[:1].isdigit() or text[:1] in "½¼¾⅓⅔⅛"


def _begins_with_capital(text: str) -> bool:
    return text[:1].isupper()


def _is_sentence(text: str) -> bool:
    return text.endswith((".", "!"))


def _ends_with_colon(text: str) -> bool:
    return text.endswith(":")


# What a text may be like, by the name of the feature.
_TEXT_TRAITS: dict[str, Callable[[str], bool]] = {
    "digit first": _begins_with_number,
    "capital first": _begins_with_capital,
    "sentence": _is_sentence,
    "colon": _ends_with_colon,
    "empty": operator.not_,
}


def _bucket(value: float) -> int:
    """Return the size of a number, in powers of two."""
    return round(log2(value + 1))
