"""A page as the flow sees it: elements and texts in one numbering, with their styles."""

from __future__ import annotations

import numpy as np
from lxml import etree

from untemplate.layout.style import TELLING, Display, Style, root_style
from untemplate.layout.text import text_widths
from untemplate.page import Page

__all__ = ["Outline", "read_outline"]


class Outline:
    """Slots are elements and texts in document order; parallel lists say what is known of each."""

    def __init__(self) -> None:
        self.display: list[int] = []
        self.style: list[Style] = []  # of a text, that of the element it stands in
        self.parent: list[int] = []  # -1 for the root
        self.last: list[int] = []  # the last slot inside
        self.spaced: list[bool] = []  # white space stands before it
        #: slots as they open; their complements as they close. Nothing inside what is not shown.
        self.events: list[int] = []
        self.element_slots: list[int] = []
        self.text_slots: list[int] = []
        self.width: list[float] = []  # of texts on one line
        self.word: list[float] = []  # of their longest words


def read_outline(page: Page) -> Outline:
    """The outline of a page; PageError if it cannot be read."""
    outline = Outline()
    display, styles, parents, last = outline.display, outline.style, outline.parent, outline.last
    spaced, events, texts = outline.spaced, outline.events, outline.text_slots
    nodes = (node for node in page.nodes if node.kind in ("text", "tail"))
    node = next(nodes, None)
    words: list[str] = []
    open_slots = [-1]
    open_styles = [root_style()]
    shown = True
    hidden_at = 0
    blank = False
    for event, element in etree.iterwalk(page.tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            slot = len(display)
            above = open_styles[-1]
            tag = element.tag
            if shown:
                attributes = tuple([pair for pair in element.items() if pair[0] in TELLING])
                style = (
                    above.child(tag, attributes) if attributes else above.below.get(tag) or above.child(tag)
                )
                kind = style.display
            else:
                style, kind = above, Display.NONE
            display.append(kind)
            styles.append(style)
            parents.append(open_slots[-1])
            last.append(slot)
            spaced.append(blank)
            outline.element_slots.append(slot)
            open_slots.append(slot)
            open_styles.append(style)
            if shown:
                blank = False
                if kind == Display.NONE:
                    shown, hidden_at = False, slot
                else:
                    events.append(slot)
                    if kind == Display.REPLACED:
                        shown, hidden_at = False, slot
            text = element.text
            kind_of_text = "text"
        else:
            if event == "end":
                slot = open_slots.pop()
                open_styles.pop()
                last[slot] = len(display) - 1
                if not shown and slot == hidden_at:
                    shown = True
                    if display[slot] != Display.NONE:
                        events.append(~slot)
                elif shown:
                    events.append(~slot)
            text = element.tail
            kind_of_text = "tail"
        if not text:
            continue
        if node is not None and node.element is element and node.kind == kind_of_text:
            slot = len(display)
            display.append(Display.TEXT if shown else Display.NONE)
            styles.append(open_styles[-1])
            parents.append(open_slots[-1])
            last.append(slot)
            spaced.append(blank or text[0].isspace())
            texts.append(slot)
            words.append(node.text)
            if shown:
                events.append(slot)
                blank = text[-1].isspace()
            node = next(nodes, None)
        elif shown:
            blank = True
    _measure_texts(outline, words)
    return outline


def _measure_texts(outline: Outline, words: list[str]) -> None:
    whole, longest = text_widths(words)
    styles = [outline.style[slot] for slot in outline.text_slots]
    scale = np.array([style.size * style.factor * (BOLD if style.weight > 400 else 1.0) for style in styles])
    outline.width = [0.0] * len(outline.display)
    outline.word = [0.0] * len(outline.display)
    wide = (whole * scale).tolist()
    longest_word = (longest * scale).tolist()
    for slot, width, word in zip(outline.text_slots, wide, longest_word, strict=True):
        outline.width[slot] = width
        outline.word[slot] = word


# Bold letters are wider.
BOLD = 1.07
