"""Boxes: where everything on a page stands on screen, whoever laid it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from lxml import etree

from untemplate.errors import PageError
from untemplate.page import Node, Page

__all__ = ["VIEWPORT", "Box", "Boxes", "Layout"]

# CSS pixels: the width of the window that pages are laid out in.
VIEWPORT = 1280
# An image whose size the page does not tell. Images are not loaded, so something must stand for them: about the
# median of the sizes that are told on SWDE's sites, `python -m benchmarks.measure.layout --choose`.
IMAGE = (80.0, 36.0)

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class Box(NamedTuple):
    """A rectangle in CSS pixels, from the page's top left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of one page as columns: x, y, width, height in CSS pixels at a window 1280 pixels wide.

    Elements stand in document order, as in `page.tree.iter(etree.Element)`, nodes as in `page.nodes`. A text has
    its own box, other nodes that of their element. What is not shown has a box of zeros.
    """

    page: Page
    elements: Floats
    nodes: Floats
    #: CSS pixels, of each element
    font_size: Floats
    #: 400 is normal, 700 is bold
    font_weight: Ints
    #: of each element; not if it, or an element around it, is not displayed
    visible: Flags
    #: why the page could not be laid out; then its boxes are zeros, none if it cannot even be read
    reason: str | None = None

    @classmethod
    def blank(cls, page: Page, reason: str | None = None) -> Boxes:
        """Boxes of zeros: to be filled in, or of a page that could not be laid out."""
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
        """The row of the element that holds each node: `font_size[node_elements]` are the nodes' font sizes."""
        numbers = self.numbers
        rows = (numbers[node.parent] for node in self.page.nodes)
        return np.fromiter(rows, np.int32, len(self.nodes))

    @cached_property
    def is_image(self) -> Flags:
        """Whether each element is an image."""
        return np.fromiter((element.tag == "img" for element in self.numbers), np.bool_, len(self.elements))

    @cached_property
    def is_link(self) -> Flags:
        """Whether each element is a link or stands in one."""
        flags: list[bool] = []
        for element in self.numbers:
            around = self.numbers.get(element.getparent())
            inside = around is not None and flags[around]
            flags.append(inside or (element.tag == "a" and "href" in element.attrib))
        return np.array(flags, np.bool_)

    def element(self, element: etree._Element) -> Box:
        """The box of an element of the page."""
        return Box(*self.elements[self.numbers[element]].tolist())

    @cached_property
    def _nodes(self) -> dict[tuple[etree._Element, str], int]:
        return {(node.element, node.kind): row for row, node in enumerate(self.page.nodes)}

    def node(self, node: Node) -> Box:
        """The box of a node of the page; a whole element counts too."""
        if node.kind == "element":
            return self.element(node.element)
        return Box(*self.nodes[self._nodes[node.element, node.kind]].tolist())


class Layout(Protocol):
    """Lays pages out: one Boxes a page, with a reason for those that could not be laid out."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]: ...
