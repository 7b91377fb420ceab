"""Elements of a page that look alike, as candidates for values that span several nodes or are lists.

A group consists of the elements with the same tags and class names around them. All groups of a page are candidates
for lists of values, and the first element of a group is a candidate for a single value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from lxml import etree

from untemplate.labeling.groups.list_members import (
    TextRange,
    find_titled_members,
    node_of_member,
    strip_numbers,
)
from untemplate.page import Node, Page, visible_text
from untemplate.page.dom import element_names
from untemplate.page.locating import letters_and_digits

__all__ = ["ALL_MEMBERS", "ElementGroup", "GroupKey", "find_element_groups"]

# An element with more texts or characters is a section of a page and not a value.
MAX_TEXTS, MAX_LENGTH = 60, 4000
# Elements of a page that are read, and groups that are described: hostile pages cost no more.
MAX_ELEMENTS, MAX_GROUPS = 30_000, 1500
# Members of one list, and lists of one page whose members look alike.
MAX_MEMBERS, MAX_PARTS = 80, 8
# Texts before a group in which its caption is looked for.
CAPTION_TEXTS = 4

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary", "caption"})
NUMBERS = re.compile(r"\d+")

GroupKey = tuple[str, str]
"""Names a group on all pages of a site: the tags and names around it, and which of several such lists it is."""


_Ranges = dict[etree._Element, TextRange]
"""Elements with the texts that they contain."""


ALL_MEMBERS = "all"
"""The part of a key that stands for all elements that look alike."""


@dataclass(frozen=True)
class ElementGroup:
    """Elements of one page that look alike.

    Attributes:
        key: the same on other pages of the site.
        page: the page.
        elements: the members, in page order.
        before: the texts before the first member, the nearest first.
        heading: the nearest heading before the first member.
        order: how far down the page the first member is, from 0 to 1.
        share: how much of the text of the members' parents the members are, from 0 to 1.
        part: how many of the page's elements that look alike are members, from 0 to 1.
        titled: the members and the titles of their sections, in page order; empty if titles are no values.
    """

    key: GroupKey
    page: Page
    elements: tuple[etree._Element, ...]
    before: tuple[str, ...]
    heading: str
    order: float
    share: float
    part: float
    titled: tuple[etree._Element, ...] = ()

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each member, without a number that only counts it."""
        return strip_numbers([visible_text(element) for element in self.elements[:MAX_MEMBERS]])

    @cached_property
    def _values(self) -> list[tuple[etree._Element, str]]:
        """The elements that are values, each with its text: the members, and titles of sections if they count."""
        texts = dict(zip(self.elements, self.texts, strict=False))
        values = self.titled or self.elements
        return [(element, texts.get(element) or visible_text(element)) for element in values[:MAX_MEMBERS]]

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Letters and digits of each value."""
        return tuple(letters_and_digits(text) for _, text in self._values)

    def nodes(self, is_list: bool) -> list[Node]:
        """Return the values as nodes; of a single value the first."""
        values = self._values if is_list else self._values[:1]
        return [node_of_member(element, text) for element, text in values if text]


def find_element_groups(page: Page) -> list[ElementGroup]:
    """Return the groups of a page whose members have text, and are not too large to be values."""
    texts = [node for node in page.nodes if node.is_text and "/title/" not in node.path]
    by_slot: dict[str, list[tuple[etree._Element, int]]] = {}
    ranges = _value_elements(texts)
    for element, texts_inside in ranges.items():
        by_slot.setdefault(_slot_of_element(element), []).append((element, texts_inside.first))
    headings = _headings_before(texts)
    groups: list[ElementGroup] = []
    for slot, members in by_slot.items():
        for part, of_part in _parts(members, headings):
            first = of_part[0][1]
            before = tuple(node.text for node in reversed(texts[max(0, first - CAPTION_TEXTS) : first]))
            elements = tuple(element for element, _ in of_part)
            order, size = first / max(1, len(texts)), len(of_part) / len(members)
            share = _share_of_parents(elements, ranges)
            group = ElementGroup((slot, part), page, elements, before, headings[first], order, share, size)
            groups.append(group)
            if part == ALL_MEMBERS:
                titled = find_titled_members(elements, texts, ranges, _slot_of_element)
                groups += [replace(group, titled=titled)] if titled else []
    return groups[:MAX_GROUPS]


def _share_of_parents(elements: Sequence[etree._Element], ranges: _Ranges) -> float:
    """Return how much of the text of their parents some elements are; 0 if one of these is too large for a value."""
    parents = {element.getparent() for element in elements}
    if not all(parent in ranges for parent in parents):
        return 0.0
    length = sum(ranges[element].length for element in elements)
    return length / sum(ranges[parent].length for parent in parents)


def _value_elements(texts: Sequence[Node]) -> _Ranges:
    """Return the elements that contain some texts, but not too many."""
    first: dict[etree._Element, int] = {}
    counts: Counter[etree._Element] = Counter()
    lengths: Counter[etree._Element] = Counter()
    too_large: set[etree._Element] = set()
    for number, node in enumerate(texts):
        element: etree._Element | None = node.parent
        while element is not None and element not in too_large and len(first) < MAX_ELEMENTS:
            first.setdefault(element, number)
            counts[element] += 1
            lengths[element] += len(node.text)
            if counts[element] > MAX_TEXTS or lengths[element] > MAX_LENGTH:
                too_large.update(_and_ancestors(element))
                break
            element = element.getparent()
    small = (element for element in first if element not in too_large)
    return {element: TextRange(first[element], counts[element], lengths[element]) for element in small}


def _and_ancestors(element: etree._Element) -> Iterable[etree._Element]:
    return [element, *element.iterancestors()]


def _slot_of_element(element: etree._Element) -> str:
    """Return the tags from the root to an element, with the names of the nearest two."""
    tags = [element.tag, *(ancestor.tag for ancestor in element.iterancestors())]
    names = [NUMBERS.sub("0", element_names(element))]
    parent = element.getparent()
    if parent is not None:
        names.append(NUMBERS.sub("0", element_names(parent)))
    return f"{'/'.join(reversed(tags))} {'|'.join(names)}"


def _headings_before(texts: Sequence[Node]) -> list[str]:
    """Return for each text the nearest heading before it."""
    heading = ""
    headings: list[str] = []
    for node in texts:
        headings.append(heading)
        around = (node.parent, *islice(node.parent.iterancestors(), 2))
        if any(element.tag in HEADINGS for element in around):
            heading = node.text
    return headings


def _parts(
    members: Sequence[tuple[etree._Element, int]], headings: Sequence[str]
) -> Iterator[tuple[str, Sequence[tuple[etree._Element, int]]]]:
    """Yield all members as one list, and those of each parent if there are several."""
    yield ALL_MEMBERS, members
    by_parent: dict[etree._Element | None, list[tuple[etree._Element, int]]] = {}
    for member in members:
        by_parent.setdefault(member[0].getparent(), []).append(member)
    if 1 < len(by_parent) < len(members):
        for number, part in enumerate(islice(by_parent.values(), MAX_PARTS)):
            yield f"part {headings[part[0][1]] or number}", part
