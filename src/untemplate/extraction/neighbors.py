"""The texts before and after a node, in document order, one step at a time.

XPath's `preceding` and `following` axes visit the whole page for each node; these walks stop when they have found
what they look for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

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
    return f"{sum(1 for _ in element.iterancestors())} {element.tag} {text}"


class Labels:
    """The labels of one page's nodes. Asked in document order, it passes every place of the page once."""

    def __init__(self, static: frozenset[str]) -> None:
        self._static = static
        self._texts = _texts_of(static)
        self._known: dict[_Slot, str] = {}  # by the place from which a label was looked for

    def of(self, node: Node) -> str:
        """The nearest text before the node that is static on the site; empty if there is none."""
        first = slot = _place_before(node)
        label = ""
        while slot is not None:
            if slot in self._known:
                label = self._known[slot]
                break
            element, where = slot
            text = squeeze((element.text if where == "text" else element.tail) or "")
            if text in self._texts and static_key(Node(element, where, text).parent, text) in self._static:
                label = text
                break
            slot = _inside_end(element) if where == "tail" else _before(element)
        if first is not None:
            self._known[first] = label
        return label


@lru_cache(maxsize=1024)
def _texts_of(static: frozenset[str]) -> frozenset[str]:
    """The texts alone of static keys: most texts of a page are none, which is told without their place."""
    return frozenset(key.split(" ", 2)[2] for key in static)


def nodes_before(node: Node) -> Iterator[Node]:
    """Visible text nodes before the node, the nearest first."""
    slot = _place_before(node)
    for _ in range(MAX_STEPS):
        if slot is None:
            return
        element, where = slot
        text = element.text if where == "text" else element.tail
        if text and not text.isspace():
            yield Node(element, where, squeeze(text))
        slot = _inside_end(element) if where == "tail" else _before(element)


def nodes_after(node: Node) -> Iterator[Node]:
    """Visible text nodes after the node, the nearest first; those inside an attribute's element count."""
    if node.kind == "element":
        slot: _Slot | None = (node.element, "tail")
    else:
        slot = _enter(node.element) if node.is_attribute else _after(node.element, node.kind)
    for _ in range(MAX_STEPS):
        if slot is None:
            return
        element, where = slot
        text = element.text if where == "text" else element.tail
        if text and not text.isspace():
            yield Node(element, where, squeeze(text))
        slot = _after(element, where)


def _place_before(node: Node) -> _Slot | None:
    return _inside_end(node.element) if node.kind == "tail" else _before(node.element)


def _is_open(element: etree._Element) -> bool:
    return isinstance(element.tag, str) and element.tag not in HIDDEN_TAGS


def _inside_end(element: etree._Element) -> _Slot | None:
    """The last place inside an element; if it has no inside, the place before it."""
    if not _is_open(element):
        return _before(element)
    return (element[-1], "tail") if len(element) else (element, "text")


def _before(element: etree._Element) -> _Slot | None:
    previous = element.getprevious()
    if previous is not None:
        return previous, "tail"
    parent = element.getparent()
    return None if parent is None else (parent, "text")


def _enter(element: etree._Element) -> _Slot:
    return (element, "text") if _is_open(element) else (element, "tail")


def _after(element: etree._Element, where: str) -> _Slot | None:
    if where == "text":
        return _enter(element[0]) if len(element) else (element, "tail")
    following = element.getnext()
    if following is not None:
        return _enter(following)
    parent = element.getparent()
    return None if parent is None else (parent, "tail")
