"""The few nodes of a page that a selector may select.

A selector that speaks of elements is an XPath. One that speaks of texts alone would have to look at every text of the
page; instead the page is searched for one of the texts it names, and the nodes beside or behind that are candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from untemplate.page import Node, squeeze, visible_text
from untemplate.page.captions import nodes_after, nodes_before, static_key
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Selector

__all__ = ["Candidates"]

# More candidates than this are not a place but a page's whole text; the rest is left alone.
MAX_CANDIDATES = 10_000


class Candidates:
    """The nodes of one page that selectors may select; what several of them look for is searched once."""

    def __init__(self, tree: etree._Element, static: frozenset[str]) -> None:
        self._tree = tree
        self._static = static
        self._results: dict[str, list[Any]] = {}

    def of(self, selector: Selector) -> Iterator[Node]:
        """Nodes in document order, among them all that the selector selects."""
        path = selector.find.path
        results = self._results.get(path)
        if results is None:
            results = self._results[path] = selector.find(self._tree)[:MAX_CANDIDATES]
        nodes = _read(results)
        anchor = selector.anchor
        if anchor is None or anchor.kind.startswith("inside"):
            return nodes
        found = [other for node in nodes for other in _beside(anchor, node, self._static)]
        return iter(found)


def _read(results: list[Any]) -> Iterator[Node]:
    for result in results:
        if isinstance(result, etree._Element):
            if text := visible_text(result):
                yield Node(result, "element", text)
            continue
        if not result or result.isspace():
            continue
        kind = f"@{result.attrname}" if result.is_attribute else "tail" if result.is_tail else "text"
        yield Node(result.getparent(), kind, squeeze(result))


def _beside(anchor: Feature, node: Node, static: frozenset[str]) -> Iterator[Node]:
    """The nodes of which the anchor may hold because of this one."""
    if anchor.kind != "label":
        return islice(nodes_after(node) if anchor.side == "left" else nodes_before(node), 1)
    if node.text not in anchor.values or static_key(node.parent, node.text) not in static:
        return iter(())
    return _until_static(node, static)


def _until_static(node: Node, static: frozenset[str]) -> Iterator[Node]:
    for other in nodes_after(node):
        yield other
        if static_key(other.parent, other.text) in static:
            return
