"""A page as the flow sees it: elements and texts in one numbering, with their styles."""

from __future__ import annotations

import numpy as np
from lxml import etree

from untemplate.layout.cascade import Cascade
from untemplate.layout.defaults import TELLING
from untemplate.layout.sheet import Place, read_sheet
from untemplate.layout.style import NONE, REPLACED, TEXT, Style
from untemplate.layout.text import text_widths
from untemplate.page import Node, Page

__all__ = ["Outline", "read_outline"]


class Outline:
    """Slots are elements and texts in document order; parallel lists say what is known of each."""

    def __init__(self) -> None:
        self.display: list[int] = []
        self.style: list[Style] = []  # of a text, that of the element it stands in
        self.parent: list[int] = []  # -1 for the root
        self.last: list[int] = []  # the last slot inside
        self.spaced: list[bool] = []  # whether white space stands before it
        #: slots as they open, and their complements as they close; nothing inside what is not shown
        self.events: list[int] = []
        self.element_slots: list[int] = []
        self.text_slots: list[int] = []
        #: of texts: the width on one line, and of the longest word
        self.width: list[float] = []
        self.word: list[float] = []


def read_outline(page: Page, cascade: Cascade) -> Outline:
    """The outline of a page; PageError if it cannot be read."""
    outline = Outline()
    display, styles, parents, last = outline.display, outline.style, outline.parent, outline.last
    spaced, events = outline.spaced, outline.events
    nodes = iter([node for node in page.nodes if node.is_text])
    node: Node | None = next(nodes, None)
    texts: list[str] = []
    open_slots, open_styles = [-1], [cascade.root]
    hidden = -1  # the slot in which nothing is shown
    blank = False
    styled = _Styling(page, cascade)
    for event, element in etree.iterwalk(page.tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            slot = len(display)
            if hidden < 0:
                style = styled(element, open_styles[-1])
                kind = style.display
                if kind != NONE:
                    events.append(slot)
                if kind == NONE or kind == REPLACED:  # noqa: SIM109
                    hidden = slot
            else:
                style, kind = open_styles[-1], NONE
            display.append(kind)
            styles.append(style)
            parents.append(open_slots[-1])
            last.append(slot)
            spaced.append(blank)
            outline.element_slots.append(slot)
            open_slots.append(slot)
            open_styles.append(style)
            blank = False
            text = element.text
        else:
            if event == "end":
                slot = open_slots.pop()
                open_styles.pop()
                last[slot] = len(display) - 1
                styled.leave()
                if hidden < 0:
                    events.append(~slot)
                elif hidden == slot:
                    hidden = -1
                    if display[slot] == REPLACED:
                        events.append(~slot)
            text = element.tail
        if not text:
            continue
        if node is not None and node.element is element and (node.kind == "text") == (event == "start"):
            slot = len(display)
            display.append(TEXT if hidden < 0 else NONE)
            styles.append(open_styles[-1])
            parents.append(open_slots[-1])
            last.append(slot)
            spaced.append(blank or text[0].isspace())
            outline.text_slots.append(slot)
            texts.append(node.text)
            if hidden < 0:
                events.append(slot)
                blank = text[-1].isspace()
            node = next(nodes, None)
        else:
            blank = True
    _measure_texts(outline, texts)
    return outline


class _Styling:
    """Gives each element its style, and remembers the elements around it if the page has style sheets."""

    def __init__(self, page: Page, cascade: Cascade) -> None:
        self._style = cascade.style
        self._sheet = read_sheet(page.tree)
        self._above: list[Place] = []

    def __call__(self, element: etree._Element, parent: Style) -> Style:
        attributes = tuple([pair for pair in element.items() if pair[0] in TELLING])
        if self._sheet is None:
            return self._style(parent, element.tag, attributes)
        place = self._sheet.place(element, self._above)
        self._above.append(place)
        return self._style(parent, element.tag, attributes, place.declared)

    def leave(self) -> None:
        if self._above:
            self._above.pop()


def _measure_texts(outline: Outline, texts: list[str]) -> None:
    whole, longest = text_widths(texts)
    slots = outline.text_slots
    scale = np.array([outline.style[slot].scale for slot in slots])
    widths = np.zeros((2, len(outline.display)))
    if slots:
        widths[:, slots] = whole * scale, longest * scale
    outline.width, outline.word = widths.tolist()
