"""A picture of a list page: its blocks in gray, its records in color, where they stand on screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from warnings import catch_warnings, simplefilter

from lxml import etree

from untemplate.errors import InputError, MissingExtra, why
from untemplate.layout import VIEWPORT, Boxes, EstimatedLayout, Layout
from untemplate.lists import Row, Rows
from untemplate.lists.shapes import Shapes
from untemplate.lists.survey import Survey
from untemplate.lists.tree import read_tree
from untemplate.lists.vision import see
from untemplate.page import Page, visible_text

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
except ImportError as error:
    raise MissingExtra("plot", "A picture") from error

__all__ = ["draw_rows"]

# Pixels of the picture for one of the page, and how long a picture may be: longer pages are cut.
SCALE = 0.75
DPI = 100
MAX_HEIGHT = 16_000
# Points of a font for a pixel on the page: the font of the picture is wider than most.
FONT = 0.85 * SCALE * 72 / DPI
# The width of a narrow letter in font sizes: what of a long text stands in its first line. The smallest boxes.
NARROW = 0.4
SMALLEST = 2.0
COLORS = ("tab:red", "tab:blue", "tab:green", "tab:orange", "tab:purple", "tab:brown")


def draw_rows(page: Page, rows: Rows, path: Path, layout: Layout | None = None) -> None:
    """Draw a page with its rows, each list in another color, as a `.png`, `.svg` or `.pdf` file.

    Raises PageError when the page cannot be read.
    """
    (boxes,) = (layout or EstimatedLayout()).boxes([page])
    height = min(float((boxes.elements[:, 1] + boxes.elements[:, 3]).max(initial=100.0)), MAX_HEIGHT)
    figure = Figure(figsize=(VIEWPORT * SCALE / DPI, height * SCALE / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, VIEWPORT), ylim=(height, 0))
    axes.axis("off")
    _draw_page(axes, boxes, height)
    for number, row in enumerate(rows, 1):
        _draw_row(
            axes,
            boxes,
            _elements(page, row),
            str(number),
            COLORS[row.list_id % len(COLORS)],
        )
    try:
        with catch_warnings():
            simplefilter("ignore", UserWarning)  # of letters that the font lacks
            figure.savefig(path)
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: cannot draw: {why(error)}") from error


def _draw_page(axes: Axes, boxes: Boxes, height: float) -> None:
    tree = read_tree(boxes.page)
    for x, y, width, tall in see(Survey(tree, Shapes(tree), boxes)).boxes.tolist():
        if min(width, tall) > SMALLEST and y < height:
            axes.add_patch(Rectangle((x, y), width, tall, fill=False, edgecolor="0.75", linewidth=0.5))
    sizes = boxes.font_size[boxes.node_elements].tolist()
    for node, (x, y, width, _), size in zip(boxes.page.nodes, boxes.nodes.tolist(), sizes, strict=True):
        if node.is_text and width > 0 and y < height:
            text = node.text[: int(width / (NARROW * size)) + 1]
            axes.text(x, y, text, fontsize=size * FONT, va="top", color="0.3", clip_on=True, parse_math=False)


def _draw_row(axes: Axes, boxes: Boxes, elements: Sequence[etree._Element], name: str, color: str) -> None:
    own = [box for element in elements if min((box := boxes.element(element)).width, box.height) > 0]
    if not own:
        return
    x, y = min(box.x for box in own), min(box.y for box in own)
    right, bottom = max(box.x + box.width for box in own), max(box.y + box.height for box in own)
    shape = Rectangle(
        (x, y), right - x, bottom - y, facecolor=color, edgecolor=color, alpha=0.15, linewidth=2
    )
    axes.add_patch(shape)
    axes.text(right, y, name, fontsize=8, ha="right", va="top", color=color, clip_on=True)


def _elements(page: Page, row: Row) -> list[etree._Element]:
    """The elements of a row: its first, and those after it that its text goes on with."""
    elements: list[etree._Element] = page.tree.xpath(row.xpath)[:1]
    text = visible_text(elements[0]) if elements else row.text
    while len(text) < len(row.text) and (following := next(elements[-1].itersiblings("*"), None)) is not None:
        elements.append(following)
        text = f"{text} {visible_text(following)}".strip()
    return elements
