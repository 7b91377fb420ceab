"""What the elements around a text say about it: names, stress, and the labels of tables and definition lists."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from untemplate.page import squeeze
from untemplate.page.class_words import element_names, split_name

__all__ = ["OUTSIDE", "Headers", "Surroundings"]

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
STRESSED = frozenset({"b", "strong", "em", "th", "big", *HEADINGS})
CELLS = frozenset({"td", "th"})
# Where a search for the cell around a text ends.
OUTSIDE_CELLS = frozenset({"table", "dl", "body", "html"})

# Words of names that are remembered, the nearest first.
MAX_NAMES = 12
# Characters of a header that are read; longer ones are content.
MAX_HEADER = 80

# `12`, and words such as `k5dfc0`, which differ from page to page as numbers do.
_NUMBERS = re.compile(r"[^\W_]*\d[^\W\d_][^\W_]*|\d+")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an element and those around it say about the text inside."""

    marks: tuple[str, ...] = ()  # the two nearest classes or ids, numbers and codes made alike
    names: tuple[str, ...] = ()  # the words of classes, ids and item properties, the nearest first
    heading: bool = False
    main_heading: bool = False
    stressed: bool = False
    link: bool = False

    def inside(self, element: etree._Element) -> Surroundings:
        """The surroundings of a text in a child element of this one."""
        tag, own = element.tag, element_names(element)
        if not own and tag not in STRESSED and tag != "a":
            return self
        marks, names = self.marks, self.names
        if own:
            marks = (_NUMBERS.sub("0", own), *marks[:1])
            names = (*split_name(own)[:MAX_NAMES], *names)[:MAX_NAMES]
        return Surroundings(
            marks,
            names,
            self.heading or tag in HEADINGS,
            self.main_heading or tag == "h1",
            self.stressed or tag in STRESSED,
            self.link or tag == "a",
        )


OUTSIDE = Surroundings()


class Headers:
    """The labels that tables and definition lists give their cells, of one page; every element is passed once."""

    def __init__(self) -> None:
        self._cell: dict[etree._Element, etree._Element | None] = {}
        self._position: dict[etree._Element, int] = {}
        self._term: dict[etree._Element, str] = {}
        self._first_row: dict[etree._Element, list[etree._Element]] = {}

    def of(self, element: etree._Element) -> str:
        """The label of the cell that an element is or stands in: its column's header, its term; empty if none."""
        cell = self._cell_of(element)
        if cell is None:
            return ""
        if cell.tag == "dd":
            return self._term_of(cell)
        row = cell.getparent()
        table = row.getparent() if row is not None else None
        while table is not None and table.tag in ("tbody", "thead", "tfoot"):
            table = table.getparent()
        if table is None or table.tag != "table":
            return ""
        if table not in self._first_row:
            first = next(table.iter("tr"), None)
            self._first_row[table] = [] if first is None else list(first.iterchildren("td", "th"))
        cells = self._first_row[table]
        if not cells or cells[0].getparent() is row:
            return ""
        if cell not in self._position:
            self._position.update((c, i) for i, c in enumerate(row.iterchildren("td", "th")))
        position = self._position[cell]
        return _text_of(cells[position]) if position < len(cells) else ""

    def _cell_of(self, element: etree._Element | None) -> etree._Element | None:
        passed = []
        found: etree._Element | None = None
        while element is not None:
            if element in self._cell:
                found = self._cell[element]
                break
            passed.append(element)
            if element.tag in CELLS or element.tag == "dd":
                found = element
                break
            if element.tag in OUTSIDE_CELLS:
                break
            element = element.getparent()
        for each in passed:
            self._cell[each] = found
        return found

    def _term_of(self, cell: etree._Element) -> str:
        if cell not in self._term:
            parent, term = cell.getparent(), ""
            for child in parent.iterchildren("dt", "dd"):
                if child.tag == "dt":
                    term = _text_of(child)
                else:
                    self._term[child] = term
        return self._term[cell]


def _text_of(element: etree._Element) -> str:
    """The text of a label; empty if it is too long to be one."""
    length, parts = 0, []
    for part in element.itertext(etree.Element):
        length += len(part)
        if length > 4 * MAX_HEADER:
            return ""
        parts.append(part)
    text = squeeze(" ".join(parts))
    return text if len(text) <= MAX_HEADER else ""
