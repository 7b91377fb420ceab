"""Boxes: where everything on a page is on screen. Chromium and the estimate return the same type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from lxml import etree

from untemplate.errors import PageError
from untemplate.page import Node, Page
from untemplate.page.arrays import Bools, Floats, Ints

__all__ = ["VIEWPORT", "Box", "Boxes", "Layout"]

# CSS pixels: the width of the window that pages are laid out in.
VIEWPORT = 1280
# Width and height of an image whose size the page does not give, since images are not loaded. About the median of the
# sizes that are given on SWDE's sites: `python -m benchmarks.measure.layout --choose`.
IMAGE = (80.0, 36.0)


class Box(NamedTuple):
    """A rectangle in CSS pixels, from the page's top left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of one page as columns: x, y, width, height in CSS pixels in a window 1280 pixels wide.

    Elements are in document order, as in `page.tree.iter(etree.Element)`, nodes as in `page.nodes`. A text has its
    own box, other nodes have that of their element. Whatever is not shown has a box of zeros.
    """

    page: Page
    elements: Floats
    nodes: Floats
    #: CSS pixels, of each element
    font_size: Floats
    #: 400 is normal, 700 is bold
    font_weight: Ints
    #: of each element: False if it is hidden, or an element around it is not displayed
    visible: Bools
    #: why the page could not be laid out; then its boxes are zeros, and there are none if it cannot be parsed
    reason: str | None = None

    @classmethod
    def blank(cls, page: Page, reason: str | None = None) -> Boxes:
        """Return boxes of zeros, to be filled in or for a page that could not be laid out."""
        try:
            nodes, elements = len(page.nodes), sum(1 for _ in page.tree.iter(etree.Element))
        except PageError:
            nodes = elements = 0
        return cls(
            page,
            np.zeros((elements, 4), np.float32),
            np.zeros((nodes, 4), np.float32),
            np.zeros(elements, np.float32),
            np.zeros(elements, np.int32),
            np.zeros(elements, np.bool_),
            reason,
        )

    @cached_property
    def numbers(self) -> dict[etree._Element, int]:
        """The row of each element."""
        return {element: row for row, element in enumerate(self.page.tree.iter(etree.Element))}

    @cached_property
    def node_elements(self) -> Ints:
        """The row of each node's element: `font_size[node_elements]` are the font sizes of the nodes."""
        numbers = self.numbers
        rows = (numbers[node.parent] for node in self.page.nodes)
        return np.fromiter(rows, np.int32, len(self.nodes))

    @cached_property
    def _node_rows(self) -> dict[tuple[etree._Element, str], int]:
        return {(node.element, node.kind): row for row, node in enumerate(self.page.nodes)}

    def element(self, element: etree._Element) -> Box:
        """Return the box of an element of the page."""
        return Box(*self.elements[self.numbers[element]].tolist())

    def node(self, node: Node) -> Box:
        """Return the box of a node of the page; the node may also be an element with several texts."""
        if node.kind == "element":
            return self.element(node.element)
        return Box(*self.nodes[self._node_rows[node.element, node.kind]].tolist())


class Layout(Protocol):
    """Lays out pages. `ChromiumLayout` and `EstimatedLayout` implement it, so users of boxes accept either."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Return one Boxes a page, in their order; a page that cannot be laid out gets a reason."""
        ...
