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
from untemplate.layout.sheet import StyleContext, load_style_sheet
from untemplate.layout.style import BESIDE, BLOCK, BREAK, NONE, ROOT_STYLE, TABLE, Style, parse_length
from untemplate.page import Page

__all__ = ["EstimatedLayout"]

# In font sizes: the width of an average letter of Times New Roman and of a blank, and the height of a line.
LETTER = 0.44
BLANK = 0.25
LINE = 1.15
# Pixels that must be left of a line to start a text there, or to put something beside what is there.
MIN_TEXT_ROOM = 40.0
MIN_BESIDE_ROOM = 100.0
# Pixels of elements that show something other than their content, unless the page gives their size.
REPLACED_SIZES = {
    **dict.fromkeys(("svg", "video"), (300.0, 150.0)),
    **dict.fromkeys(("meter", "progress"), (80.0, 16.0)),
    "audio": (300.0, 54.0),
    "img": IMAGE,
    "input": (177.0, 21.0),
    "select": (120.0, 19.0),
    "textarea": (182.0, 36.0),
}

Edges = tuple[float, float, float, float]
NOWHERE: Edges = (0.0, 0.0, 0.0, 0.0)


class EstimatedLayout:
    """Estimates boxes without a browser, from the page and the style sheets inside it.

    Whether something is hidden, its font and what is above what are mostly right; widths and columns are rough.
    """

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Return one Boxes a page; a page that cannot be read gets a reason."""
        return [_estimate(page) for page in pages]


def _estimate(page: Page) -> Boxes:
    """Return the boxes of one page, placed in one walk over its tree."""
    try:
        flow = _Flow(page)
    except PageError as error:
        return Boxes.blank(page, str(error))
    for event, element in etree.iterwalk(page.tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            flow.open(element)
            flow.add_text(element, "text")
        else:
            if event == "end":
                flow.close()
            flow.add_text(element, "tail")
    return flow.boxes()


@dataclass(eq=False, slots=True)
class _OpenElement:
    """An element whose content is being placed.

    A block contains lines: `y` is the top of the open line, `pen` is where its next text goes.
    """

    row: int
    style: Style
    #: None if its content is not shown
    context: StyleContext | None
    #: the block around it; None if it is a block itself
    around: _OpenElement | None = None
    #: left, top, right and bottom of its texts and images so far
    content: Edges | None = None
    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    y: float = 0.0
    pen: float = 0.0
    #: height of the open line; 0 if it is empty
    line: float = 0.0
    #: height of the images in the open line; texts after them are at their bottom
    images: float = 0.0
    #: blank pixels above the line, left by margins; the next margin shares them
    space: float = 0.0
    #: of a table row: its cells that are not placed yet
    cells_left: int = 0

    @property
    def block(self) -> _OpenElement:
        """The block that its texts are in: itself, or the nearest one around it."""
        return self.around or self

    def start_block(self, left: float, right: float, y: float, space: float) -> None:
        """Make it a block between two edges, from y on."""
        self.left = self.pen = min(left + self.style.indent, right)
        self.right = right
        self.top = self.y = y
        self.space = space

    def end_line(self) -> None:
        """Go on below the open line."""
        if self.line:
            self.y += self.line
            self.line = self.images = self.space = 0.0
        self.pen = self.left

    def leave_margin(self, margin: float) -> None:
        """Leave a margin; margins that meet overlap."""
        added = max(0.0, margin - self.space)
        self.y += added
        self.space += added

    def include(self, edges: Edges) -> None:
        """Extend its content by a text, an image or the content of an element inside."""
        left, top, right, bottom = self.content or edges
        self.content = min(left, edges[0]), min(top, edges[1]), max(right, edges[2]), max(bottom, edges[3])


class _Flow:
    """Places the elements and texts of one page in document order."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._sheet = load_style_sheet(page.tree)
        self._nodes = {(node.element, node.kind): row for row, node in enumerate(page.nodes) if node.is_text}
        # Of each element, in document order.
        self._edges: list[Edges] = []
        self._parents: list[int] = []
        self._styles: list[Style] = []
        self._shown: list[bool] = []
        self._text_edges: dict[int, Edges] = {}
        root = _OpenElement(-1, ROOT_STYLE, None)
        root.start_block(0.0, float(VIEWPORT), 0.0, 0.0)
        self._open = [root]

    def open(self, element: etree._Element) -> None:
        """Start an element: place it, unless it or an element around it is hidden."""
        parent = self._open[-1]
        if self._edges and parent.context is None:
            self._add(parent, parent.style, None)
            return
        context = self._sheet.context(element, parent.context)
        style = context.style
        if style.display == NONE:
            self._add(parent, style, None)
        elif element.tag in REPLACED_SIZES:
            inner = self._add(parent, style, None, style.is_visible)
            self._place_replaced(inner, *_replaced_size(element))
        else:
            inner = self._add(parent, style, context, style.is_visible)
            if element.tag == "tr":
                inner.cells_left = len(element)
            self._start(inner, parent.block)

    def _add(
        self, parent: _OpenElement, style: Style, context: StyleContext | None, is_shown: bool = False
    ) -> _OpenElement:
        """Add an element inside `parent` to the open ones."""
        is_block = context is not None and style.display in (BLOCK, TABLE, BESIDE)
        inner = _OpenElement(len(self._edges), style, context, None if is_block else parent.block)
        self._open.append(inner)
        self._edges.append(NOWHERE)
        self._parents.append(parent.row)
        self._styles.append(style)
        self._shown.append(is_shown)
        return inner

    def close(self) -> None:
        """End an element: its box is known now."""
        inner = self._open.pop()
        parent = self._open[-1]
        if inner.content:
            parent.include(inner.content)
            self._edges[inner.row] = inner.content
        if inner.around is None:
            self._end_block(inner, parent.block)

    def add_text(self, element: etree._Element, kind: str) -> None:
        """Place a text in as many lines as it needs, if it is one of the page's nodes and shown."""
        row = self._nodes.get((element, kind))
        inner = self._open[-1]
        if row is None or inner.context is None:
            return
        block, size = inner.block, inner.style.font_size
        width, height = LETTER * size * len(self._page.nodes[row].text), LINE * size
        if block.right - block.pen < min(width, MIN_TEXT_ROOM):
            block.end_line()
        block.line = max(block.line, height)
        top = block.y + max(0.0, block.images - height)
        edges = (block.pen, top, block.pen + width, top + height)
        room = max(block.right - block.left, MIN_TEXT_ROOM)
        end = block.pen + width - block.left
        if end > room:
            further_lines = int(end // room)
            edges = (block.left, block.y, block.left + room, block.y + (1 + further_lines) * height)
            block.y += further_lines * height
            end -= further_lines * room
        block.pen = block.left + end + BLANK * size
        self._text_edges[row] = edges
        inner.include(edges)

    def _start(self, inner: _OpenElement, block: _OpenElement) -> None:
        """Start a block below what is there, or beside it if there is room; inline elements just continue."""
        display = inner.style.display
        if display == BREAK:
            block.line = block.line or LINE * inner.style.font_size
            inner.include((block.pen, block.y, block.pen, block.y + block.line))
            block.end_line()
        elif display in (BLOCK, TABLE):
            block.end_line()
            block.leave_margin(inner.style.margin_top)
            inner.start_block(block.pen, block.right, block.y, block.space)
        elif display == BESIDE:
            right = block.right
            if block.cells_left > 0:  # the cells of a row share its width, so none of them is below another
                right = block.pen + max(MIN_TEXT_ROOM, (right - block.pen) / block.cells_left)
                block.cells_left -= 1
            elif right - block.pen < MIN_BESIDE_ROOM:
                block.end_line()
            inner.start_block(block.pen, right, block.y, 0.0)

    def _end_block(self, inner: _OpenElement, block: _OpenElement) -> None:
        """End a block, and go on below it or beside it."""
        inner.end_line()
        display, bottom = inner.style.display, max(inner.top, inner.y - inner.space)
        right = inner.right
        if display != BLOCK:
            right = inner.content[2] if inner.content else inner.left
        self._edges[inner.row] = inner.left - inner.style.indent, inner.top, right, bottom
        if display == BESIDE:
            block.pen = right + BLANK * inner.style.font_size
            block.line = max(block.line, bottom - inner.top)
        else:
            block.y, block.space = inner.y, inner.space
            block.leave_margin(inner.style.margin_bottom)

    def _place_replaced(self, inner: _OpenElement, width: float, height: float) -> None:
        """Place an image or a control in the open line, or in a line of its own."""
        block = inner.block
        if inner.style.display == BLOCK or block.pen + width > block.right:
            block.end_line()
        inner.include((block.pen, block.y, block.pen + width, block.y + height))
        block.pen += width
        block.line = max(block.line, height)
        block.images = max(block.images, height)
        if inner.style.display == BLOCK:
            block.end_line()

    def boxes(self) -> Boxes:
        """Return the boxes of the page. No box is wider than the one around it."""
        edges = self._edges
        for row, parent in enumerate(self._parents):
            if parent >= 0 and edges[row][2] > edges[parent][2] > edges[row][0]:
                left, top, _, bottom = edges[row]
                edges[row] = left, top, edges[parent][2], bottom
        boxes = Boxes.blank(self._page)
        boxes.elements[:] = edges
        boxes.nodes[:] = boxes.elements[boxes.node_elements]
        boxes.nodes[[node.is_text for node in self._page.nodes]] = NOWHERE
        if self._text_edges:
            boxes.nodes[list(self._text_edges)] = list(self._text_edges.values())
        for rows in (boxes.elements, boxes.nodes):
            rows[:, 2:] -= rows[:, :2]
        boxes.font_size[:] = [style.font_size for style in self._styles]
        boxes.font_weight[:] = [style.font_weight for style in self._styles]
        boxes.visible[:] = self._shown
        return boxes


def _replaced_size(element: etree._Element) -> tuple[float, float]:
    """Return the size of an image or a control; an image keeps its shape if only one side is given."""
    width, height = (parse_length(element.get(side, "")) for side in ("width", "height"))
    usual_width, usual_height = REPLACED_SIZES[element.tag]
    if element.tag == "img" and width is not None:
        usual_height = width * usual_height / usual_width
    elif element.tag == "img" and height is not None:
        usual_width = height * usual_width / usual_height
    return _length_or(width, usual_width), _length_or(height, usual_height)


def _length_or(length: float | None, usual: float) -> float:
    return max(0.0, usual if length is None else length)
