"""EstimatedLayout: boxes estimated from the page alone; the default.

One walk places everything in reading order: blocks below each other, texts along lines, and table cells, floats and
inline blocks beside each other as long as there is room. The cells of a table row share its width. Declared widths,
heights and alignment are ignored, and columns of a table are not aligned. `docs/layout.md` says what that costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lxml import etree

from untemplate.errors import PageError
from untemplate.layout.boxes import IMAGE, VIEWPORT, Boxes
from untemplate.layout.cascade import ROOT_STYLE, Display, Style, StyleContext, load_style_sheet, parse_length
from untemplate.page import Page
from untemplate.sources.assets import NO_ASSETS, Assets

__all__ = ["EstimatedLayout"]

# In font sizes: the width of an average letter of Times New Roman and of a blank, and the height of a line.
LETTER, BLANK, LINE = 0.44, 0.25, 1.15
# Pixels that must be left of a line to start a text there, or to put something beside what is there.
MIN_TEXT_ROOM, MIN_BESIDE_ROOM = 40.0, 100.0
# Pixels of elements that show something other than their content, unless the page gives their size.
REPLACED_SIZES = {
    **dict.fromkeys(("audio", "svg", "video"), (300.0, 150.0)),
    **dict.fromkeys(("input", "meter", "progress", "select", "textarea"), (160.0, 20.0)),
    "img": IMAGE,
}

Edges = tuple[float, float, float, float]
NOWHERE: Edges = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class EstimatedLayout:
    """Estimates boxes without a browser, from the page and its style sheets.

    Whether something is hidden, its font and what is above what are mostly right; widths and columns are rough.

    Args:
        assets: the style sheets that were saved beside the pages; by default only those inside a page are used.
    """

    assets: Assets = NO_ASSETS

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Return one Boxes a page; a page that cannot be read gets a reason."""
        return [self._estimate(page) for page in pages]

    def _estimate(self, page: Page) -> Boxes:
        """Return the boxes of one page, placed in one walk over its tree."""
        try:
            flow = _Flow(page, self.assets)
        except PageError as error:
            return Boxes.blank(page, str(error))
        for event, element in etree.iterwalk(page.tree, events=("start", "end", "comment", "pi")):
            if event == "start":
                flow.open(element)
                kind = "text"
            else:
                if event == "end":
                    flow.close()
                kind = "tail"
            if element is flow.next_element and kind == flow.next_kind:
                flow.add_next_text()
        return flow.boxes()


class _Lines:
    """The lines of a block: its edges, and where the next text goes.

    Attributes:
        y: the top of the open line.
        pen: where the next text of the open line goes.
        line: height of the open line; 0 if it is empty.
        images: height of the images in the open line; texts after them are at their bottom.
        space: blank pixels above the line, left by margins; the next margin shares them.
        cells_left: of a table row, its cells that are not placed yet.
    """

    __slots__ = ("cells_left", "images", "left", "line", "pen", "right", "space", "top", "y")

    def __init__(self, left: float, right: float, y: float, space: float) -> None:
        self.left = self.pen = left
        self.right = right
        self.top = self.y = y
        self.space = space
        self.line = self.images = 0.0
        self.cells_left = 0

    def end_line(self) -> None:
        """Go on below the open line."""
        if self.line:
            self.y += self.line
            self.line = self.space = self.images = 0.0
        self.pen = self.left

    def leave_margin(self, margin: float) -> None:
        """Leave a margin; margins that meet overlap."""
        if margin > self.space:
            self.y += margin - self.space
            self.space = margin


class _Placed:
    """An element of the page and its place.

    Attributes:
        context: None if its content is not shown.
        lines: where its texts go: its own lines if it is a block, else those of the nearest block around it.
        edges: left, top, right and bottom of its content so far.
    """

    __slots__ = ("context", "edges", "is_visible", "lines", "outer", "style")

    def __init__(self, style: Style, lines: _Lines, outer: _Placed | None = None) -> None:
        self.style = style
        self.lines = lines
        self.outer = outer
        self.context: StyleContext | None = None
        self.is_visible = False
        self.edges: Edges | None = None

    def start(self) -> None:
        """Start it below what is in the block around it, or beside that; inline elements just continue."""
        block, display = self.lines, self.style.display
        if display is Display.INLINE:
            return
        right, space = block.right, 0.0
        if display is not Display.BESIDE:
            block.end_line()
            block.leave_margin(self.style.margin_top)
            space = block.space
        elif block.cells_left > 0:  # the cells of a row share its width, so none of them is below another
            right = block.pen + max(MIN_TEXT_ROOM, (right - block.pen) / block.cells_left)
            block.cells_left -= 1
        elif right - block.pen < MIN_BESIDE_ROOM:
            block.end_line()
        self.lines = _Lines(min(block.pen + self.style.indent, right), right, block.y, space)

    def end_block(self, block: _Lines) -> None:
        """End it, and go on below it or beside it."""
        lines, style = self.lines, self.style
        lines.end_line()
        right, bottom = lines.right, max(lines.top, lines.y - lines.space)
        if style.display is not Display.BLOCK:
            right = self.edges[2] if self.edges else lines.left
        self.edges = lines.left - style.indent, lines.top, right, bottom
        if style.display is Display.BESIDE:
            block.pen = right + BLANK * style.font_size
            block.line = max(block.line, bottom - lines.top)
        else:
            block.y, block.space = lines.y, lines.space
            block.leave_margin(style.margin_bottom)

    def place_image(self, width: float, height: float) -> None:
        """Place it as an image or a control in the open line, or in a line of its own."""
        block = self.lines
        is_block = self.style.display is Display.BLOCK
        if is_block or block.pen + width > block.right:
            block.end_line()
        self.include((block.pen, block.y, block.pen + width, block.y + height))
        block.pen += width
        block.line = max(block.line, height)
        block.images = max(block.images, height)
        if is_block:
            block.end_line()

    def include(self, edges: Edges) -> None:
        """Extend it by a text, an image or the content of an element inside."""
        if self.edges is None:
            self.edges = edges
            return
        left, top, right, bottom = self.edges
        self.edges = min(left, edges[0]), min(top, edges[1]), max(right, edges[2]), max(bottom, edges[3])

    def clipped_edges(self) -> Edges:
        """Return its edges, no wider than the element around it, whose edges are clipped already."""
        if self.edges is None:
            return NOWHERE
        left, top, right, bottom = self.edges
        outer_right = self.outer.edges[2] if self.outer and self.outer.edges else right
        if right > outer_right > left:
            self.edges = left, top, outer_right, bottom
        return self.edges


class _Flow:
    """Places the elements and texts of one page in document order."""

    def __init__(self, page: Page, assets: Assets) -> None:
        self._page = page
        self._sheet = load_style_sheet(page, assets)
        self._text_rows = [row for row, node in enumerate(page.nodes) if node.is_text]
        self._texts: dict[int, Edges] = {}
        self._placed: list[_Placed] = []
        self._open = [_Placed(ROOT_STYLE, _Lines(0.0, float(VIEWPORT), 0.0, 0.0))]
        #: the element and the kind of the next text: texts and elements are in the same order
        self.next_element: etree._Element | None = None
        self.next_kind = ""
        self._passed_texts = -1
        self._pass_text()

    def _pass_text(self) -> None:
        """Go on to the next text of the page."""
        self._passed_texts += 1
        if self._passed_texts == len(self._text_rows):
            self.next_element = None
            return
        node = self._page.nodes[self._text_rows[self._passed_texts]]
        self.next_element, self.next_kind = node.element, node.kind

    def open(self, element: etree._Element) -> None:
        """Start an element: place it, unless it or an element around it is hidden."""
        parent = self._open[-1]
        inner = _Placed(parent.style, parent.lines, parent)
        if parent.context is not None or not self._placed:
            self._start(inner, element, parent.context)
        self._placed.append(inner)
        self._open.append(inner)

    def _start(self, inner: _Placed, element: etree._Element, around: StyleContext | None) -> None:
        context = self._sheet.context(element, around)
        inner.style = context.style
        if inner.style.display is Display.NONE:
            return
        inner.is_visible = inner.style.is_visible
        if element.tag in REPLACED_SIZES:
            inner.place_image(*_replaced_size(element))
            return
        inner.context = context
        inner.start()
        if element.tag == "tr" and inner.style.display is not Display.INLINE:
            inner.lines.cells_left = len(element)

    def close(self) -> None:
        """End an element: its box is known now."""
        inner = self._open.pop()
        parent = self._open[-1]
        if inner.edges:
            parent.include(inner.edges)
        if inner.lines is not parent.lines:
            inner.end_block(parent.lines)

    def add_next_text(self) -> None:
        """Place the next text in as many lines as it needs, if it is shown."""
        row = self._text_rows[self._passed_texts]
        self._pass_text()
        inner = self._open[-1]
        if inner.context is None:
            return
        lines, size = inner.lines, inner.style.font_size
        width, height = LETTER * size * len(self._page.nodes[row].text), LINE * size
        if lines.right - lines.pen < min(width, MIN_TEXT_ROOM):
            lines.end_line()
        lines.line = max(lines.line, height)
        top = lines.y + max(0.0, lines.images - height)
        edges = (lines.pen, top, lines.pen + width, top + height)
        room = max(lines.right - lines.left, MIN_TEXT_ROOM)
        end = lines.pen + width - lines.left
        if end > room:
            further_lines = int(end // room)
            edges = (lines.left, lines.y, lines.left + room, lines.y + (1 + further_lines) * height)
            lines.y += further_lines * height
            end -= further_lines * room
        lines.pen = lines.left + end + BLANK * size
        self._texts[row] = edges
        inner.include(edges)

    def boxes(self) -> Boxes:
        """Return the boxes of the page."""
        boxes = Boxes.blank(self._page)
        boxes.elements[:] = [placed.clipped_edges() for placed in self._placed]
        boxes.nodes[:] = boxes.elements[boxes.node_elements]
        boxes.nodes[[node.is_text for node in self._page.nodes]] = NOWHERE
        if self._texts:
            boxes.nodes[list(self._texts)] = list(self._texts.values())
        for rows in (boxes.elements, boxes.nodes):
            rows[:, 2:] -= rows[:, :2]
        boxes.font_size[:] = [placed.style.font_size for placed in self._placed]
        boxes.font_weight[:] = [placed.style.font_weight for placed in self._placed]
        boxes.visible[:] = [placed.is_visible for placed in self._placed]
        return boxes


def _replaced_size(element: etree._Element) -> list[float]:
    """Return width and height of an image or a control."""
    size: list[float] = []
    for side, usual in zip(("width", "height"), REPLACED_SIZES[element.tag], strict=True):
        given = element.get(side)
        length = None if given is None else parse_length(given)
        size.append(usual if length is None else max(0.0, length))
    return size
