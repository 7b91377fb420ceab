"""EstimatedLayout: boxes computed from the page alone, by a small flow layout; the default."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untemplate.errors import PageError
from untemplate.layout.boxes import Boxes
from untemplate.layout.flow import place
from untemplate.layout.outline import Outline, read_outline
from untemplate.layout.style import Display
from untemplate.layout.widths import measure_widths
from untemplate.page import Page

__all__ = ["EstimatedLayout"]


class EstimatedLayout:
    """Estimates boxes without a browser, in about the time that parsing takes."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """One Boxes a page; a page that cannot be read gets a reason."""
        return [_estimate(page) for page in pages]


def _estimate(page: Page) -> Boxes:
    try:
        outline = read_outline(page)
    except PageError as error:
        return Boxes.failed(page, str(error))
    placed = place(outline, measure_widths(outline))
    slots = outline.element_slots
    styles = [outline.style[slot] for slot in slots]
    elements = placed[slots]
    return Boxes(
        page,
        elements,
        _node_boxes(page, outline, placed),
        np.array([style.size for style in styles], np.float32),
        np.array([style.weight for style in styles], np.int32),
        np.array(
            [outline.display[slot] != Display.NONE and outline.style[slot].visible for slot in slots],
            np.bool_,
        ),
    )


def _node_boxes(page: Page, outline: Outline, placed: np.ndarray) -> np.ndarray:
    slots = iter(outline.text_slots)
    elements = dict(zip(page.tree.iter("*"), outline.element_slots, strict=True))
    rows = [elements[node.element] if node.is_attribute else next(slots) for node in page.nodes]
    return placed[rows]
