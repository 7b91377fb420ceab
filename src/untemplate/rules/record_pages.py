"""Split a list page into its records, each as a small page, so that rules work inside a record as on a page.

The root of such a page is an element `record` with copies of the record's elements. Nothing outside the record can
influence its rules, and what surrounds the record may change.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import chain, islice, takewhile

from lxml import etree

from untemplate.page import Node, Page, visible_text
from untemplate.page.dom import NumberedXPaths
from untemplate.rules.node_selection import select
from untemplate.rules.rule import LinkKind, RecordRule

__all__ = ["RECORD_TAG", "RecordPage", "link_kind", "link_kinds", "split_records", "text_beginnings"]

RECORD_TAG = "record"
"""The tag of each record page's root element."""


# Words of a text that all records of a list begin with.
MAX_REQUIRED_WORDS = 6
_NOT_LINKS = ("#", "javascript:", "mailto:", "tel:")
_DOCUMENT = re.compile(r"\.(pdf|docx?|wpd|rtf|odt|xlsx?|pptx?|csv|zip|epub)(?![a-z0-9])", re.IGNORECASE)


_Content = tuple[str, ...]
"""The text of a record, and the addresses of its links."""


class RecordPage(Page):
    """One record of a list page, as a page of its own."""

    def __init__(
        self,
        page: Page,
        elements: Sequence[etree._Element],
        position: int,
        paths: NumberedXPaths,
        lead: Node | None = None,
        ends_in_text: bool = False,
    ) -> None:
        """Make a page of a part of another page.

        Args:
            page: the list page.
            elements: adjacent siblings on that page.
            position: the record's number on the page, counted from 1.
            paths: computes the XPaths of the list page's elements; shared by all its records.
            lead: a text before the elements, with which the record begins.
            ends_in_text: True if the text after the last element belongs to the record.
        """
        super().__init__(page.url, id=f"{page.id}, record {position}")
        self.elements = tuple(elements)
        self.position = position
        self.lead = lead
        self._ends_in_text = ends_in_text
        self._paths = paths

    @property
    def start(self) -> tuple[etree._Element, str]:
        """Where the record begins: an element, or a text, as the element and the kind of a node."""
        return (self.lead.element, self.lead.kind) if self.lead else (self.elements[0], "element")

    @cached_property
    def tree(self) -> etree._Element:
        """The root element, with copies of the record's elements."""
        root = etree.Element(RECORD_TAG)
        root.text = self.lead.text if self.lead else None
        root.extend(map(deepcopy, self.elements))
        if self.elements and not self._ends_in_text:
            root[-1].tail = None
        return root

    def xpath(self, node: Node) -> str:
        """Return the XPath on the list page of a node of this page; for the root, that of the first element."""
        if node.element is self.tree:
            return self._xpath_of_root(node)
        top = node.parent
        if top is self.tree:  # a text between the elements of the record
            return Node(self.elements[top.index(node.element)], "tail", node.text).numbered_xpath
        while (above := top.getparent()) is not self.tree:
            top = above
        inside = node.numbered_xpath.split("/")[3:]
        return "/".join([self._paths.xpath(self.elements[self.tree.index(top)]), *inside])

    def _xpath_of_root(self, node: Node) -> str:
        if self.lead and (node.is_text or not self.elements):
            return self.lead.numbered_xpath
        return self._paths.xpath(self.elements[0])


def split_records(rule: RecordRule, page: Page) -> list[RecordPage]:
    """Return the records of a list page in their order, none inside another.

    Raises:
        PageError: the page cannot be read.
    """
    for selector in rule.selectors:
        nodes = select(selector, page.tree, frozenset())
        if selector.node == "element()":
            starts = _outermost(node for node in nodes if _has_path(node.element, rule.required_path))
        else:
            starts = _starts_above(list(nodes), rule.levels)
        if records := _records_from(rule, page, starts):
            return records
    return []


def _outermost(nodes: Iterable[Node]) -> list[Node]:
    """Return the elements, given in document order, that are not inside another of them."""
    outermost: dict[etree._Element, Node] = {}
    for node in nodes:
        if not any(ancestor in outermost for ancestor in node.element.iterancestors()):
            outermost[node.element] = node
    return list(outermost.values())


def _starts_above(anchors: Sequence[Node], levels: int) -> list[Node]:
    """Return where the record of each anchor begins: in the largest element around it that has no other anchor."""
    counts: Counter[etree._Element] = Counter()
    for anchor in anchors:
        counts.update(_elements_around(anchor, levels))
    starts = []
    for anchor in anchors:
        alone = takewhile(lambda element: counts[element] == 1, _elements_around(anchor, levels))
        top = deque(alone, maxlen=1)
        starts.append(Node(top[0], "element", "") if top else anchor)
    return starts


def _elements_around(node: Node, levels: int) -> Iterator[etree._Element]:
    """Return the elements around a text, at most so many."""
    return islice(chain([node.parent], node.parent.iterancestors()), levels)


def _records_from(rule: RecordRule, page: Page, starts: Sequence[Node]) -> list[RecordPage]:
    """Return the records that begin at some nodes and contain the path that the rule requires."""
    is_start = {(start.element, start.kind) for start in starts}
    for start in starts:
        around = islice(start.parent.iterancestors(), rule.levels)
        is_start.update((element, "element") for element in around)
    paths = NumberedXPaths()
    known: set[_Content] = set()
    records: list[RecordPage] = []
    for start in starts:
        elements = list(_elements_of_record(rule, start, is_start))
        if not _has_required(rule, elements) or (rule.distinct and _is_repeated(elements, known)):
            continue
        records.append(
            RecordPage(
                page,
                elements,
                len(records) + 1,
                paths,
                start if start.is_text else None,
                _ends_in_text(rule, elements, is_start),
            )
        )
    return records


def _has_path(element: etree._Element, path: str) -> bool:
    return not path or element.find(path) is not None


def _has_required(rule: RecordRule, elements: Sequence[etree._Element]) -> bool:
    """Return True if a record has the path, the text and the link that the rule requires."""
    if rule.required_path and not any(_has_path(element, rule.required_path) for element in elements):
        return False
    if rule.required_text and rule.required_text not in text_beginnings(elements):
        return False
    return rule.required_link is None or rule.required_link in link_kinds(elements)


def text_beginnings(elements: Iterable[etree._Element]) -> set[str]:
    """Return the first words of each text inside elements: `Tax Court` gives `Tax` and `Tax Court`."""
    beginnings: set[str] = set()
    for text in chain.from_iterable(element.itertext(etree.Element) for element in elements):
        words = text.split()[:MAX_REQUIRED_WORDS]
        beginnings.update(" ".join(words[: count + 1]) for count in range(len(words)))
    return beginnings


def _is_repeated(elements: Sequence[etree._Element], known: set[_Content]) -> bool:
    """Return True if a record has the texts and links of a known one; otherwise it is known from now on.

    Records without links, such as rows of numbers, may be equal by chance.
    """
    links: list[str] = []
    for element in elements:
        addresses = (link.get("href", "") for link in element.iter("a"))
        links += [address for address in addresses if link_kind(address)]
    content = (" ".join(map(visible_text, elements)), *links)
    if not links or content not in known:
        known.add(content)
        return False
    return True


def link_kinds(elements: Iterable[etree._Element]) -> set[LinkKind]:
    """Return the kinds of links inside elements: "link" if there is any, "document" if one is to a document."""
    kinds: set[LinkKind] = set()
    for element in elements:
        for link in element.iter("a"):
            kinds.update(link_kind(link.get("href", "")))
    return kinds


def link_kind(address: str) -> tuple[LinkKind, ...]:
    """Return the kinds of an address: none for places on the page, scripts, and people."""
    if not address or address.startswith(_NOT_LINKS):
        return ()
    return ("link", "document") if _DOCUMENT.search(address) else ("link",)


def _ends_in_text(
    rule: RecordRule, elements: Sequence[etree._Element], is_start: set[tuple[etree._Element, str]]
) -> bool:
    """Return True if the text after the last element of a record belongs to it."""
    if not elements or (elements[-1], "tail") in is_start:
        return False
    return rule.with_texts or len(elements) > 1


def _elements_of_record(
    rule: RecordRule, start: Node, is_start: set[tuple[etree._Element, str]]
) -> Iterator[etree._Element]:
    """Yield the elements of a record: the first one, and the siblings after it that belong to it."""
    if not start.is_text:
        yield start.element
    if (start.element, "tail") in is_start and not start.is_text:
        return
    for sibling in islice(_siblings_after(start), rule.siblings):
        if (sibling, "element") in is_start or sibling.tag not in rule.tags:
            return
        yield sibling
        if (sibling, "tail") in is_start:
            return


def _siblings_after(start: Node) -> Iterator[etree._Element]:
    """Yield the sibling elements after a node."""
    yield from start.element.iterchildren("*") if start.kind == "text" else start.element.itersiblings("*")
