"""Find a list of the embedded data on the page, where the page writes some of its members in another way.

Embedded data may say `0.25 cup oil` where the page shows `¼ cup oil`. The other members show where the list is, and
the page's own writing of it counts. They may also say `Oil` where the page shows `2 tbsp Oil`: then they leave out a
part of each member.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from lxml import etree

from untemplate.page import HIDDEN_TAGS, Node, visible_text
from untemplate.page.locating import letters_and_digits

__all__ = ["are_mostly_same", "are_own_texts", "find_shown_list"]

# Elements around a text that may be the member of a list, from the one that contains it on.
MAX_LEVELS = 4

_Shape = tuple[str, ...]
"""The tags of an element and of those around it."""


def are_mostly_same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True if lists have the same number of members, and over half are the same in letters and digits."""
    if len(first) != len(second):
        return False
    pairs = zip(map(letters_and_digits, first), map(letters_and_digits, second), strict=True)
    return 2 * sum(a == b for a, b in pairs) > len(first)


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
    longest = max(map(len, keys), default=0)
    seen: set[etree._Element] = set()
    for body in tree.iterchildren("body"):
        for leaf in body.iter(etree.Element):
            if leaf.tag in HIDDEN_TAGS or not (leaf.text and leaf.text.strip()):
                continue
            for element in islice(_with_ancestors(leaf), MAX_LEVELS):
                if element in seen:
                    break
                seen.add(element)
                key = letters_and_digits(visible_text(element))
                if key in keys:
                    yield element
                if len(key) > longest:
                    break


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
