"""The records of a list page, each cut out as a small page of its own, so that rules work inside it as on a page.

Its root is an element `record` that holds copies of the record's elements. So nothing outside of the record can
matter to its rules, and what stands beside the record may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cached_property

from lxml import etree

from untemplate.page import Node, Page
from untemplate.page.xpaths import NumberedXPaths
from untemplate.rules.apply import select
from untemplate.rules.rule import RecordRule

__all__ = ["ROOT", "Part", "cut"]

ROOT = "record"
"""The tag of the root of each part."""


class Part(Page):
    """One record of a list page, as a page."""

    def __init__(
        self, page: Page, elements: Sequence[etree._Element], position: int, paths: NumberedXPaths
    ) -> None:
        """`elements` are adjacent siblings of the page; `position` counts its records from 1."""
        super().__init__(page.url, id=f"{page.id}, record {position}")
        self.elements = tuple(elements)
        self.position = position
        self._paths = paths

    @cached_property
    def tree(self) -> etree._Element:
        root = etree.Element(ROOT)
        root.extend(map(deepcopy, self.elements))
        if len(self.elements) == 1:
            root[0].tail = None  # what follows a single element is not inside it
        return root

    def xpath(self, node: Node) -> str:
        """Where on the page a node of the part stands; all of a record is where it begins."""
        if node.element is self.tree:
            return self._paths.xpath(self.elements[0])
        top = node.parent
        if top is self.tree:  # a text between the elements of the record
            return Node(self.elements[top.index(node.element)], "tail", node.text).numbered_xpath
        while (above := top.getparent()) is not self.tree:
            top = above
        inside = node.numbered_xpath.split("/")[3:]
        return "/".join([self._paths.xpath(self.elements[self.tree.index(top)]), *inside])


def cut(rule: RecordRule, page: Page) -> list[Part]:
    """The records of a page in their order, none inside another. Raises PageError when it cannot be read."""
    for selector in rule.selectors:
        elements = (node.element for node in select(selector, page.tree, frozenset()))
        heads = _outermost(one for one in elements if not rule.holds or one.find(rule.holds) is not None)
        if heads:
            break
    else:
        return []
    starts, paths = set(heads), NumberedXPaths()
    return [
        Part(page, [head, *_following(rule, head, starts)], position, paths)
        for position, head in enumerate(heads, 1)
    ]


def _outermost(elements: Iterator[etree._Element]) -> list[etree._Element]:
    """The elements, in document order, that are not inside another of them."""
    found: dict[etree._Element, None] = {}
    for element in elements:
        if not any(above in found for above in element.iterancestors()):
            found[element] = None
    return list(found)


def _following(
    rule: RecordRule, head: etree._Element, starts: set[etree._Element]
) -> Iterator[etree._Element]:
    """The siblings after a record's first element that belong to it."""
    sibling = head
    for _ in range(rule.siblings):
        sibling = next(sibling.itersiblings("*"), None)
        if sibling is None or sibling in starts or sibling.tag not in rule.tags:
            return
        yield sibling
