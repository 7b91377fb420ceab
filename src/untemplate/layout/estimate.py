"""EstimatedLayout: boxes computed from the page alone, by a small flow layout; the default."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from lxml import etree

from untemplate.errors import PageError
from untemplate.layout.boxes import Boxes
from untemplate.layout.cascade import Cascade
from untemplate.layout.flow import place
from untemplate.layout.outline import read_outline
from untemplate.layout.style import NONE
from untemplate.layout.widths import measure_widths
from untemplate.page import Page

__all__ = ["EstimatedLayout"]


class EstimatedLayout:
    """Estimates boxes without a browser, in a few times what parsing takes."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        """One Boxes a page; a page that cannot be read gets a reason."""
        cascades: dict[bool, Cascade] = {}
        return [_estimate(page, cascades) for page in pages]


def _estimate(page: Page, cascades: dict[bool, Cascade]) -> Boxes:
    try:
        quirks = _quirks(page.tree)
        cascade = cascades.get(quirks)
        if cascade is None or cascade.full:
            cascade = cascades[quirks] = Cascade(quirks)
        outline = read_outline(page, cascade)
    except PageError as error:
        return Boxes.blank(page, str(error))
    boxes = place(outline, measure_widths(outline))
    slots = outline.element_slots
    styles = [outline.style[slot] for slot in slots]
    shown = [
        outline.display[slot] != NONE and style.visible for slot, style in zip(slots, styles, strict=True)
    ]
    return Boxes(
        page,
        boxes[slots],
        boxes[outline.node_slots],
        np.array([style.size for style in styles], np.float32),
        np.array([style.weight for style in styles], np.int32),
        np.array(shown, np.bool_),
    )


def _quirks(root: etree._Element) -> bool:
    """Whether browsers lay the page out as in the old days: it has no doctype, or an old one."""
    information = root.getroottree().docinfo
    public = (information.public_id or "").lower()
    if not information.doctype or "html 4.0 " in public or "html 3" in public or "html 2" in public:
        return True
    return "html 4.01" in public and "strict" not in public and not information.system_url
