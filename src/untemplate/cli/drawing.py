"""Pictures: how well rules held over time, and a list page with its blocks and records. Needs the extra `plot`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from untemplate.errors import InputError, MissingExtra, why
from untemplate.layout import VIEWPORT, Boxes, EstimatedLayout, Layout
from untemplate.lists import Row, Rows
from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import build_page_tree
from untemplate.lists.vision_tree import build_vision_tree
from untemplate.page import Page, visible_text

try:
    from matplotlib.axes import Axes
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
except ImportError as error:
    raise MissingExtra("plot", "Support for pictures") from error

if TYPE_CHECKING:
    from untemplate.catalog import Run

__all__ = ["draw_coverage", "draw_rows"]

# Lines of a chart that a reader can distinguish; of more, those with the lowest last value are drawn.
MAX_LINES = 8

_Points = dict[datetime, float]

# Pixels of the picture per pixel of the page, and the height above which a page is cut off.
SCALE = 0.75
DPI = 100
MAX_HEIGHT = 16_000
# Font points per pixel on the page; less than the scale, because the font of the picture is wider than most.
FONT = 0.85 * SCALE * 72 / DPI
# Width of a narrow letter in font sizes: estimates how much of a text fits into its first line.
NARROW_LETTER = 0.4
# Smaller boxes, in pixels, are not drawn.
MIN_BOX = 2.0
COLORS = ("tab:red", "tab:blue", "tab:green", "tab:orange", "tab:purple", "tab:brown")


def draw_coverage(runs: Iterable[Run], site: str, path: Path) -> None:
    """Draw each cluster's coverage and each attribute's fill rate over the runs of watch.

    Args:
        runs: the runs of `untemplate watch` that the catalog knows; a red line marks each that raised alarms.
        site: the name for the title.
        path: the picture to write: .png, .svg or .pdf.

    Raises:
        InputError: if the picture cannot be written.
    """
    finished = [run for run in runs if run.finished]
    figure = Figure(figsize=(10, 7), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    _draw_lines(upper, f"{site}: pages that look as before, by cluster", _matched_shares(finished))
    _draw_lines(lower, "Pages on which an attribute is found", _fill_rates(finished))
    lower.set_xlabel("UTC")
    alarmed = _moments(run.started for run in finished if run.figures["alarms"])
    for axes in (upper, lower):
        axes.vlines(alarmed, 0, 1, color="red", alpha=0.3, zorder=0)
    _save(figure, path)


def _matched_shares(runs: Sequence[Run]) -> dict[str, _Points]:
    """For each cluster, map the time of a run to the share of pages that look as before."""
    lines: defaultdict[str, _Points] = defaultdict(dict)
    for run in runs:
        for cluster in run.figures["clusters"]:
            lines[cluster["cluster"]][run.started] = cluster["coverage"]
    return lines


def _fill_rates(runs: Sequence[Run]) -> dict[str, _Points]:
    """For each attribute, compute the share of pages with a value, over all clusters that have the attribute."""
    lines: defaultdict[str, _Points] = defaultdict(dict)
    for run in runs:
        for name, share in _fill_of_run(run.figures["clusters"]).items():
            lines[name][run.started] = share
    return lines


def _fill_of_run(clusters: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Compute the mean fill rate of each attribute, weighted by the pages of the clusters."""
    filled: defaultdict[str, float] = defaultdict(float)
    pages: defaultdict[str, int] = defaultdict(int)
    for cluster in clusters:
        for name, share in cluster["fill"].items():
            filled[name] += share * cluster["pages"]
            pages[name] += cluster["pages"]
    return {name: filled[name] / pages[name] for name in filled}


def _draw_lines(axes: Axes, title: str, lines: Mapping[str, _Points]) -> None:
    """Draw one line for each name, with a legend and dates below."""
    lowest = sorted(lines, key=lambda name: [*lines[name].values()][-1])[:MAX_LINES]
    left_out = f" (the {MAX_LINES} lowest of {len(lines)})" if len(lines) > MAX_LINES else ""
    drawn = [name for name in lines if name in lowest]
    for number, name in enumerate(drawn):
        width = 1 + 4 * (1 - number / len(drawn))  # each line is thinner, so that none hides another
        shares = [*lines[name].values()]
        axes.plot(_moments(lines[name]), shares, marker="o", linewidth=width, markersize=width, label=name)
    dates = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(dates)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(dates))  # type: ignore[no-untyped-call]
    axes.set(title=title + left_out, ylim=(-0.03, 1.03))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(alpha=0.3)
    if lines:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def _moments(moments: Iterable[datetime]) -> NDArray[np.datetime64]:
    return np.array([moment.replace(tzinfo=None) for moment in moments], "datetime64[ms]")


def draw_rows(page: Page, rows: Rows, path: Path, layout: Layout | None = None) -> None:
    """Draw a page with its blocks in gray and its rows in color, a color for each list.

    Args:
        page: a list page.
        rows: what `find_records` returned for it.
        path: the picture to write: .png, .svg or .pdf.
        layout: where boxes come from; estimated from the page alone if not given.

    Raises:
        PageError: if the page cannot be read.
        InputError: if the picture cannot be written.
    """
    (boxes,) = (layout or EstimatedLayout()).boxes([page])
    height = min(float((boxes.elements[:, 1] + boxes.elements[:, 3]).max(initial=100.0)), MAX_HEIGHT)
    figure = Figure(figsize=(VIEWPORT * SCALE / DPI, height * SCALE / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, VIEWPORT), ylim=(height, 0))
    axes.axis("off")
    _draw_page(axes, boxes, height)
    for number, row in enumerate(rows, 1):
        color = COLORS[row.list_id % len(COLORS)]
        _draw_row(axes, boxes, _row_elements(page, row), str(number), color)
    _save(figure, path)


def _draw_page(axes: Axes, boxes: Boxes, height: float) -> None:
    """Draw the blocks of the page as gray boxes, and its texts where they are on screen."""
    tree = build_page_tree(boxes.page)
    for x, y, width, tall in build_vision_tree(PageProfile(tree, boxes)).boxes.tolist():
        if min(width, tall) > MIN_BOX and y < height:
            axes.add_patch(Rectangle((x, y), width, tall, fill=False, edgecolor="0.75", linewidth=0.5))
    sizes = boxes.font_size[boxes.node_elements].tolist()
    for node, (x, y, width, _), size in zip(boxes.page.nodes, boxes.nodes.tolist(), sizes, strict=True):
        if node.is_text and width > 0 and y < height:
            text = node.text[: int(width / (NARROW_LETTER * size)) + 1]
            axes.text(x, y, text, fontsize=size * FONT, va="top", color="0.3", clip_on=True, parse_math=False)


def _draw_row(axes: Axes, boxes: Boxes, elements: Sequence[etree._Element], name: str, color: str) -> None:
    """Draw a colored box around the elements of a row, with its number in the corner."""
    row_boxes = [boxes.element(element) for element in elements]
    shown = [box for box in row_boxes if min(box.width, box.height) > 0]
    if not shown:
        return
    x, y = min(box.x for box in shown), min(box.y for box in shown)
    right, bottom = max(box.x + box.width for box in shown), max(box.y + box.height for box in shown)
    shape = Rectangle(
        (x, y), right - x, bottom - y, facecolor=color, edgecolor=color, alpha=0.15, linewidth=2
    )
    axes.add_patch(shape)
    axes.text(right, y, name, fontsize=8, ha="right", va="top", color=color, clip_on=True)


def _row_elements(page: Page, row: Row) -> list[etree._Element]:
    """Return the first element of a row, and the siblings after it that contain the rest of its text."""
    elements: list[etree._Element] = page.tree.xpath(row.xpath)[:1]
    text = visible_text(elements[0]) if elements else row.text
    while len(text) < len(row.text) and (following := next(elements[-1].itersiblings("*"), None)) is not None:
        elements.append(following)
        text = f"{text} {visible_text(following)}".strip()
    return elements


def _save(figure: Figure, path: Path) -> None:
    try:
        with catch_warnings():
            simplefilter("ignore", UserWarning)  # about letters that the font lacks
            figure.savefig(path)
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: cannot draw: {why(error)}") from error
