"""Embedded values: which a selector selects, and how the page shows them.

Both embedded data and visible nodes fail in their own way. Embedded data may be those of another template, or say
more than the page shows. Rules for visible nodes may select the wrong place. So an embedded value counts if the page
shows it, else the visible value does, and values on which both agree are nearly always right.

Embedded data may say `0.25 cup oil` where the page shows `¼ cup oil`. The other members show where the list is, and
the page's own writing of it counts. They may also say `Oil` where the page shows `2 tbsp Oil`: then they leave out a
part of each member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import eq

from lxml import etree

from untemplate.native import core, is_native
from untemplate.page import HIDDEN_TAGS, Node, visible_text
from untemplate.page.embedded_data import NAMING_KEYS, TYPED_SOURCES, EmbeddedData
from untemplate.page.embedded_formats import html_lines, html_to_text
from untemplate.page.locating import letters_and_digits
from untemplate.rules.rule import EmbeddedSelector

__all__ = [
    "MAX_EMBEDDED_TEXT",
    "EmbeddedNodes",
    "are_mostly_same",
    "are_own_texts",
    "embedded_texts",
    "find_shown_list",
    "same_texts",
    "with_other_syntax",
]

# Longer texts are not values.
MAX_EMBEDDED_TEXT = 20_000


# Elements around a text that may be the member of a list, from the one that contains it on.
MAX_LEVELS = 4

_Shape = tuple[str, ...]
"""The tags of an element and of those around it."""


def embedded_texts(selector: EmbeddedSelector, embedded: EmbeddedData) -> list[str]:
    """Return the values that a selector selects in embedded data, as a page would show them."""
    texts = _readable_texts(embedded.read(selector.path), html_lines if selector.lines else _read_line)
    if selector.skips_repeats:
        texts = _without_repeats(texts)
    if selector.position:
        return texts[selector.position - 1 : selector.position]
    return texts


def with_other_syntax(selector: EmbeddedSelector, embedded: EmbeddedData) -> Iterator[EmbeddedSelector]:
    """Yield a selector of the same names in the other syntaxes of a vocabulary, if its own has no such object.

    A redesigned page may say in JSON-LD what it said in microdata. There, texts may be inside objects, as steps are.
    """
    path = selector.path
    if path.source not in TYPED_SOURCES or not path.type:
        return
    if embedded.has_type(path.source, path.type):
        return
    ends = path.ends or NAMING_KEYS
    for source in TYPED_SOURCES:
        if source != path.source:
            yield replace(selector, path=replace(path, source=source, ends=ends), skips_repeats=True)


@dataclass(frozen=True, slots=True)
class EmbeddedNodes:
    """The nodes of embedded values. Most values only confirm what the page shows, so their nodes are never made.

    Attributes:
        selector: selected the values.
        root: the root element of the page.
        texts: all values that it selected.
        numbers: which of them are meant, counted from 0.
    """

    selector: EmbeddedSelector
    root: etree._Element
    texts: Sequence[str]
    numbers: Sequence[int]

    def __iter__(self) -> Iterator[Node]:
        path, position = str(self.selector.path), self.selector.position
        if len(self.texts) == 1 and not position:
            yield Node(self.root, "data", self.texts[0], path)
            return
        first = max(position, 1)
        for number in self.numbers:
            yield Node(self.root, "data", self.texts[number], f"{path}[{first + number}]")


def same_texts(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True if two lists of texts are the same in letters and digits, in this order."""
    if len(first) != len(second):
        return False
    return first == second or all(map(eq, map(letters_and_digits, first), map(letters_and_digits, second)))


def _readable_texts(values: list[str], read_lines: Callable[[str], list[str]]) -> list[str]:
    """Return texts without HTML, one for each value or line; texts without letters and digits are dropped."""
    if core:
        readable: list[str] = core.readable_texts(values, MAX_EMBEDDED_TEXT, read_lines)
        return readable
    lines = chain.from_iterable(read_lines(value[:MAX_EMBEDDED_TEXT]) for value in values)
    return [line for line in lines if any(map(str.isalnum, line))]


def _read_line(value: str) -> list[str]:
    return [html_to_text(value)]


def _without_repeats(texts: Sequence[str]) -> list[str]:
    """Return the texts without those that a neighbor repeats and continues."""
    keys = ["", *map(letters_and_digits, texts), ""]
    kept = []
    for number, text in enumerate(texts, 1):
        before, key, after = keys[number - 1 : number + 2]
        is_continued_before = before != key and before.startswith(key)
        if not is_continued_before and not after.startswith(key):
            kept.append(text)
    return kept


def are_mostly_same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True if lists have the same number of members, and over half are the same in letters and digits."""
    if len(first) != len(second):
        return False
    same = sum(map(eq, map(letters_and_digits, first), map(letters_and_digits, second)))
    return bool(2 * same > len(first))


def find_shown_list(tree: etree._Element, texts: Sequence[str]) -> list[Node]:
    """Return the elements of a page that show a list, most of whose members they write like these texts.

    They have the same tags around them, and nothing else with these tags is among them. There are as many as texts.

    Returns:
        The elements in document order; none if the page does not show the list once.
    """
    by_shape: dict[_Shape, list[etree._Element]] = {}
    for element in _elements_with(tree, set(map(letters_and_digits, texts))):
        by_shape.setdefault(_shape(element), []).append(element)
    for shape, anchors in sorted(by_shape.items(), key=lambda item: (-len(item[1]), len(item[0]))):
        members = list(_members_among(anchors, shape))
        if are_mostly_same([node.text for node in members], texts):
            return members
    return []


def are_own_texts(tree: etree._Element, texts: Sequence[str]) -> bool:
    """Return True if more than half of these are the text of an element, and not a part of longer texts only."""
    keys = list(map(letters_and_digits, texts))
    own = {letters_and_digits(visible_text(element)) for element in _elements_with(tree, set(keys))}
    return 2 * sum(key in own for key in keys) > len(keys)


def _elements_with(tree: etree._Element, keys: set[str]) -> Iterator[etree._Element]:
    """Yield the elements whose text is one of these in letters and digits."""
    for body in tree.iterchildren("body"):
        if is_native(body):
            yield from core.elements_with_letters(body, keys, MAX_LEVELS)  # type: ignore[union-attr]
        else:
            yield from _elements_around_texts(body, keys)


def _elements_around_texts(body: etree._Element, keys: set[str]) -> Iterator[etree._Element]:
    """Do the same for a tree of lxml."""
    longest = max(map(len, keys), default=0)
    all_keys = "\n".join(keys)
    seen: set[etree._Element] = set()
    for leaf in _leaves_in_keys(body, all_keys):
        for element in islice(_with_ancestors(leaf), MAX_LEVELS):
            if element in seen:
                break
            seen.add(element)
            key = letters_and_digits(visible_text(element))
            if key in keys:
                yield element
            if len(key) > longest:
                break


def _leaves_in_keys(body: etree._Element, all_keys: str) -> Iterator[etree._Element]:
    """Yield the elements whose first text is a part of the keys: the text of an element contains those inside it."""
    for leaf in body.iter(etree.Element):
        text = (leaf.text or "").strip()
        if text and leaf.tag not in HIDDEN_TAGS and letters_and_digits(text) in all_keys:
            yield leaf


def _with_ancestors(element: etree._Element) -> Iterator[etree._Element]:
    yield element
    yield from element.iterancestors()


def _shape(element: etree._Element) -> _Shape:
    return tuple(ancestor.tag for ancestor in _with_ancestors(element))


def _members_among(anchors: Sequence[etree._Element], shape: _Shape) -> Iterator[Node]:
    """Yield the elements of a shape, as nodes, inside the smallest element around all anchors."""
    around_last = set(anchors[-1].iterancestors())
    region = next((element for element in anchors[0].iterancestors() if element in around_last), None)
    if region is None:
        return
    for element in region.iterdescendants(shape[0]):
        if _shape(element) == shape and (text := visible_text(element)):
            yield Node(element, "element", text)
