"""The texts before and after a node, in document order, one step at a time.

XPath's `preceding` and `following` axes visit the whole page for each node; these walks stop when they have found
what they look for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from lxml import etree

from untemplate.page import HIDDEN_TAGS, Node, squeeze

__all__ = ["MAX_LABEL", "Labels", "nodes_after", "nodes_before", "static_key", "text_after", "text_before"]

# How many places are looked at before giving up, so that hostile pages cost linear time.
MAX_STEPS = 1000
# Longer texts are content, not labels.
MAX_LABEL = 80

_Slot = tuple[etree._Element, str]


def text_before(node: Node) -> str:
    """The nearest visible text before the node; empty if there is none."""
    return next((other.text for other in nodes_before(node)), "")


def text_after(node: Node) -> str:
    """The nearest visible text after the node's start; empty if there is none."""
    return next((other.text for other in nodes_after(node)), "")


def static_key(element: etree._Element, text: str) -> str:
    """How a static text inside an element is remembered: elsewhere the same text may be a value."""
    return f"{len(list(element.iterancestors()))} {element.tag} {text}"


class Labels:
    """The labels of one page's nodes. Asked in document order, it passes every place of the page once."""

    def __init__(self, static: frozenset[str]) -> None:
        self.static = static
        self._texts = _texts_of(static)
        self._known: dict[_Slot, str] = {}  # by the place from which a label was looked for

    def of(self, node: Node) -> str:
        """The nearest text before the node that is static on the site; empty if there is none."""
        known = self._known
        first: _Slot | None = None
        label: str | None = None
        for slot in _slots_before(node):
            label = known.get(slot)
            if label is not None:
                break
            first = first or slot
            element, where = slot
            text = element.text if where == "text" else element.tail
            if text and not text.isspace():
                label = self._static_text(element, where, text)
                if label is not None:
                    break
        if first is not None:
            known[first] = label or ""
        return label or ""

    def _static_text(self, element: etree._Element, where: str, text: str) -> str | None:
        text = squeeze(text)
        if text not in self._texts:
            return None
        parent = element if where == "text" else element.getparent()
        return text if static_key(parent, text) in self.static else None


@lru_cache(maxsize=1024)
def _texts_of(static: frozenset[str]) -> frozenset[str]:
    """The texts alone of static keys: most texts of a page are none, which is told without their place."""
    return frozenset(key.split(" ", 2)[2] for key in static)


def nodes_before(node: Node) -> Iterator[Node]:
    """Visible text nodes before the node, the nearest first."""
    return _texts_at(_slots_before(node))


def nodes_after(node: Node) -> Iterator[Node]:
    """Visible text nodes after the node, the nearest first; those inside an attribute's element count."""
    return _texts_at(_slots_after(node))


def _texts_at(slots: Iterator[_Slot]) -> Iterator[Node]:
    for element, where in islice(slots, MAX_STEPS):
        text = element.text if where == "text" else element.tail
        if text and not text.isspace():
            yield Node(element, where, squeeze(text))


def _slots_before(node: Node) -> Iterator[_Slot]:
    """The places before a node where visible text may stand, the nearest first."""
    element, where = node.element, node.kind
    while True:
        if where == "tail" and _is_open(element):
            element, where = (element[-1], "tail") if len(element) else (element, "text")
        elif (previous := element.getprevious()) is not None:
            element, where = previous, "tail"
        else:
            element, where = element.getparent(), "text"
            if element is None:
                return
        yield element, where


def _slots_after(node: Node) -> Iterator[_Slot]:
    """The places after a node where visible text may stand, the nearest first."""
    element, where = node.element, node.kind
    if where not in ("text", "tail"):  # an attribute stands before its element's text
        where = "text" if where != "element" and _is_open(element) else "tail"
        yield element, where
    while True:
        if where == "text" and len(element):
            element = element[0]
        elif where == "text":
            where = "tail"
            yield element, where
            continue
        elif (following := element.getnext()) is not None:
            element = following
        else:
            element = element.getparent()
            if element is None:
                return
            yield element, where
            continue
        where = "text" if _is_open(element) else "tail"
        yield element, where


def _is_open(element: etree._Element) -> bool:
    """Whether text inside the element is seen: it is no comment, no script."""
    return isinstance(element.tag, str) and element.tag not in HIDDEN_TAGS
