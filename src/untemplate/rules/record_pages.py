"""Split a list page into its records, each as a small page, so that rules work inside a record as on a page.

The root of such a page is an element `record` with copies of the record's elements. Nothing outside the record can
influence its rules, and what surrounds the record may change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import islice

from lxml import etree

from untemplate.page import Node, Page
from untemplate.page.dom import NumberedXPaths
from untemplate.rules.node_selection import select
from untemplate.rules.rule import RecordRule

__all__ = ["RECORD_TAG", "RecordPage", "split_records"]

RECORD_TAG = "record"
"""The tag of each record page's root element."""


class RecordPage(Page):
    """One record of a list page, as a page of its own."""

    def __init__(
        self, page: Page, elements: Sequence[etree._Element], position: int, paths: NumberedXPaths
    ) -> None:
        """Make a page of some elements of another page.

        Args:
            page: the list page.
            elements: adjacent siblings on that page.
            position: the record's number on the page, counted from 1.
            paths: computes the XPaths of the list page's elements; shared by all its records.
        """
        super().__init__(page.url, id=f"{page.id}, record {position}")
        self.elements = tuple(elements)
        self.position = position
        self._paths = paths

    @cached_property
    def tree(self) -> etree._Element:
        """The root element, with copies of the record's elements."""
        root = etree.Element(RECORD_TAG)
        root.extend(map(deepcopy, self.elements))
        if len(self.elements) == 1:
            root[0].tail = None  # what follows a single element is not inside it
        return root

    def xpath(self, node: Node) -> str:
        """Return the XPath on the list page of a node of this page; for the root, that of the first element."""
        if node.element is self.tree:
            return self._paths.xpath(self.elements[0])
        top = node.parent
        if top is self.tree:  # a text between the elements of the record
            return Node(self.elements[top.index(node.element)], "tail", node.text).numbered_xpath
        while (above := top.getparent()) is not self.tree:
            top = above
        inside = node.numbered_xpath.split("/")[3:]
        return "/".join([self._paths.xpath(self.elements[self.tree.index(top)]), *inside])


def split_records(rule: RecordRule, page: Page) -> list[RecordPage]:
    """Return the records of a list page in their order, none inside another.

    Raises:
        PageError: the page cannot be read.
    """
    heads = _find_heads(rule, page)
    starts, paths = set(heads), NumberedXPaths()
    return [
        RecordPage(page, [head, *_following_elements(rule, head, starts)], position, paths)
        for position, head in enumerate(heads, 1)
    ]


def _find_heads(rule: RecordRule, page: Page) -> list[etree._Element]:
    """Return the first element of each record, by the first selector that selects any."""
    for selector in rule.selectors:
        elements = (node.element for node in select(selector, page.tree, frozenset()))
        if rule.required_path:
            elements = (element for element in elements if element.find(rule.required_path) is not None)
        if heads := _outermost(elements):
            return heads
    return []


def _outermost(elements: Iterable[etree._Element]) -> list[etree._Element]:
    """Return the elements, given in document order, that are not inside another of them."""
    outermost: dict[etree._Element, None] = {}
    for element in elements:
        if not any(ancestor in outermost for ancestor in element.iterancestors()):
            outermost[element] = None
    return list(outermost)


def _following_elements(
    rule: RecordRule, head: etree._Element, starts: set[etree._Element]
) -> Iterator[etree._Element]:
    """Yield the siblings after a record's first element that belong to it."""
    for sibling in islice(head.itersiblings("*"), rule.siblings):
        if sibling in starts or sibling.tag not in rule.tags:
            return
        yield sibling
