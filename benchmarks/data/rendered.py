"""What a browser showed of the pages of `lists`: the boxes of all elements, after scripts and style sheets.

The pages come without their style sheets, so `EstimatedLayout` does not know what these hide. `N.boxes.txt` beside
a page has the elements that a browser had, with their boxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks.data.swde import unpacked
from untemplate import Page
from untemplate.layout import Boxes, EstimatedLayout
from untemplate.page.arrays import Bools

__all__ = ["RenderedLayout", "common_pairs"]

# The file has several trees. The first one has all elements; each begins with the body.
_BODY = "  BODY:"
_ELEMENT = re.compile(r"\s+(?:\| )*\|- (.+?): left=(.+?),top=(.+?),right=(.+?),bottom=(.+?); DOM")
# Elements without texts, of which scripts add and remove many.
_IGNORED_TAGS = frozenset(
    {
        *("script", "style", "noscript", "link", "meta", "iframe", "tbody"),
        *("svg", "path", "g", "use", "symbol", "polygon"),
    }
)
# Pixels. Texts for screen readers have boxes of at most one pixel.
MIN_SHOWN_PIXELS = 1.0
# Edits from the tags of the browser to those of the page. More mean that they are two pages.
MAX_EDITS = 4_000


@dataclass(frozen=True)
class RenderedElement:
    """An element as the browser had it."""

    tag: str
    is_shown: bool


class RenderedLayout(EstimatedLayout):
    """The estimate, but what is shown is what a browser showed. Only for the pages of `lists`."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """Return one Boxes a page."""
        estimated = super().boxes(pages)
        for page, boxes in zip(pages, estimated, strict=True):
            path = (unpacked("lists") / page.id).with_suffix(".boxes.txt")
            boxes.visible[:] &= _shown_elements(page, list(_rendered_elements(path)))
        return estimated


def _rendered_elements(path: Path) -> Iterator[RenderedElement]:
    """Yield the elements of a file of boxes, in document order."""
    bodies = 0
    for line in path.read_text("utf-8", "replace").splitlines():
        bodies += line.startswith(_BODY)
        if bodies == 1 and (match := _ELEMENT.match(line)):
            yield RenderedElement(match[1].lower(), _is_shown(match.groups()[1:]))


def _is_shown(sides: Sequence[str]) -> bool:
    """Return True if a box with these sides has an area on the screen; also if it is unknown, as for drawings."""
    try:
        left, top, right, bottom = map(float, sides)
    except ValueError:
        return True
    is_large = min(right - left, bottom - top) > MIN_SHOWN_PIXELS
    return bool(np.isnan([left, top, right, bottom]).any()) or (is_large and min(right, bottom) > 0)


def _shown_elements(page: Page, rendered: Sequence[RenderedElement]) -> Bools:
    """Return which elements of a page were shown, or contain one that was.

    An element that is not found again counts as the one around it does.
    """
    elements = list(page.tree.iter(etree.Element))
    rows = {element: row for row, element in enumerate(elements)}
    parents = [-1 if (parent := element.getparent()) is None else rows[parent] for element in elements]
    found = _find_again(elements, rendered)
    shown = np.ones(len(elements), np.bool_)
    for row, parent in enumerate(parents):
        shown[row] = found.get(row, parent < 0 or bool(shown[parent]))
    for row in range(len(elements) - 1, 0, -1):
        shown[parents[row]] |= shown[row]
    return shown


def _find_again(elements: Sequence[etree._Element], rendered: Sequence[RenderedElement]) -> dict[int, bool]:
    """Map the numbers of elements to whether they were shown, by the longest common sequence of tags."""
    body = next(row for row, element in enumerate(elements) if element.tag == "body")
    numbered = enumerate(elements[body + 1 :], body + 1)
    rows = [row for row, element in numbered if element.tag not in _IGNORED_TAGS]
    kept = [element for element in rendered if element.tag not in _IGNORED_TAGS]
    pairs = common_pairs([element.tag for element in kept], [str(elements[row].tag) for row in rows])
    return {rows[right]: kept[left].is_shown for left, right in pairs}


def common_pairs(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of a longest common subsequence, by the algorithm of Myers; none after MAX_EDITS edits.

    Example:
        >>> common_pairs(["ul", "li", "a"], ["ul", "a"])
        [(0, 0), (2, 1)]
    """
    furthest, history = {1: 0}, []
    for edits in range(MAX_EDITS + 1):
        history.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            x = _next_column(furthest, edits, diagonal)
            while x < len(left) and x - diagonal < len(right) and left[x] == right[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= len(left) and x - diagonal >= len(right):
                return _trace(history, len(left), len(right))
    return []


def _next_column(furthest: dict[int, int], edits: int, diagonal: int) -> int:
    """Return where a path enters a diagonal: after a step down or a step to the right."""
    is_down = diagonal == -edits or (
        diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
    )
    return furthest.get(diagonal + 1, 0) if is_down else furthest.get(diagonal - 1, -1) + 1


def _trace(history: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """Return the pairs on the path that the history of `common_pairs` ends with."""
    pairs: list[tuple[int, int]] = []
    for edits in range(len(history) - 1, -1, -1):
        start = _next_column(history[edits], edits, x - y)
        diagonal = x - y
        while x > start and x > 0 and y > 0:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if not edits:
            break
        is_down = x == history[edits].get(diagonal + 1, -1)
        x, y = (x, y - 1) if is_down else (x - 1, y)
    return pairs[::-1]
