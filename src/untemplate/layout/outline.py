"""A page as the flow sees it: elements and texts in one numbering, with their styles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from lxml import etree

from untemplate.layout.cascade import Cascade
from untemplate.layout.defaults import TELLING
from untemplate.layout.sheet import Place, read_sheet
from untemplate.layout.style import NONE, REPLACED, TEXT, Style
from untemplate.layout.text import TextWidths, text_widths
from untemplate.page import Page

__all__ = ["Outline", "read_outline"]

# What browsers squeeze; a hard blank is not among it.
WHITE_SPACE = " \t\n\r\f"
# Pixels of a select box around its longest option.
SELECT = 22.0


@dataclass
class Outline:
    """Slots are elements and texts in document order; parallel lists say what is known of each."""

    display: list[int]
    style: list[Style]  # of a text, that of the element it stands in
    parent: list[int]  # -1 for the root
    spaced: list[bool]  # whether white space stands before it
    #: of elements: the last slot inside
    last: dict[int, int]
    #: of texts and select boxes: the width on one line, and the least; 0 for other elements
    width: list[float]
    least: list[float]
    texts: TextWidths
    #: which of these texts stands in a slot
    text_rows: dict[int, int]
    #: slots as they open, and their complements as they close; nothing inside what is not shown
    events: list[int]
    element_slots: list[int]
    #: of each of the page's nodes: its own if it is a text, else that of its element
    node_slots: list[int]

    def words(self, slot: int) -> list[float]:
        """The widths of a text's words."""
        row = self.text_rows[slot]
        words = self.texts.words[self.texts.starts[row] : self.texts.starts[row + 1]]
        return list((words * self.style[slot].scale).tolist())


def read_outline(page: Page, cascade: Cascade) -> Outline:
    """The outline of a page; PageError if it cannot be read."""
    slots: list[tuple[int, Style, int, bool]] = []  # display, style, parent, spaced
    last: dict[int, int] = {}
    events: list[int] = []
    element_slots: list[int] = []
    node_slots: list[int] = []
    texts: list[tuple[int, str]] = []
    selects: list[int] = []
    nodes = iter(page.nodes)
    node = next(nodes, None)
    sheet, places = read_sheet(page.tree), list[Place]()
    slot, style = -1, cascade.root
    around: list[tuple[int, Style]] = []  # of the open elements, without the innermost
    hidden = -1  # the slot in which nothing is shown
    blank = False
    for event, element in etree.iterwalk(page.tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            around.append((slot, style))
            kind = NONE
            if hidden < 0:
                attributes = tuple([pair for pair in element.items() if pair[0] in TELLING])
                if sheet is None:
                    style = cascade.style(style, element.tag, attributes)
                else:
                    places.append(sheet.place(element, places))
                    style = cascade.style(style, element.tag, attributes, places[-1].declared)
                kind = style.display
            parent, slot = slot, len(slots)
            slots.append((kind, style, parent, blank))
            element_slots.append(slot)
            blank = False
            if hidden < 0:
                if kind != NONE:
                    events.append(slot)
                if kind in (NONE, REPLACED):
                    hidden = slot
                    if element.tag == "select":
                        selects.append(slot)
            while node is not None and node.element is element and node.kind[0] == "@":
                node_slots.append(slot)
                node = next(nodes, None)
            text = element.text
        else:
            if event == "end":
                last[slot] = len(slots) - 1
                if hidden in (-1, slot):
                    hidden = -1
                    if sheet is not None:
                        places.pop()
                    if slots[slot][0] != NONE:
                        events.append(~slot)
                slot, style = around.pop()
            text = element.tail
        if not text:
            continue
        is_node = node is not None and node.element is element and (node.kind == "text") == (event == "start")
        if is_node or (hidden < 0 and "\xa0" in text):  # a hard blank is no value, but takes its place
            if node is not None and is_node:
                node_slots.append(len(slots))
                texts.append((len(slots), node.text))
                node = next(nodes, None)
            else:
                texts.append((len(slots), text.strip(WHITE_SPACE)))
            if hidden < 0:
                events.append(len(slots))
            slots.append((TEXT if hidden < 0 else NONE, style, slot, blank or text[0] in WHITE_SPACE))
            blank = text[-1] in WHITE_SPACE
        else:
            blank = True
    displays, styles, parents, spaced = map(list, zip(*slots, strict=True))
    measured = text_widths([text for _, text in texts])
    text_rows = {slot: row for row, (slot, _) in enumerate(texts)}
    widths = np.zeros((2, len(slots)))
    if texts:
        scale = np.array([styles[slot].scale for slot in text_rows])
        widths[:, list(text_rows)] = measured.whole * scale, measured.longest * scale
    for slot in selects:
        widths[:, slot] = SELECT + widths[0, slot : last[slot] + 1].max()
    width, least = widths.tolist()
    return Outline(
        display=displays,
        style=styles,
        parent=parents,
        spaced=spaced,
        last=last,
        width=width,
        least=least,
        texts=measured,
        text_rows=text_rows,
        events=events,
        element_slots=element_slots,
        node_slots=node_slots,
    )
