"""The headers of the tables that records are rows of, by the number of a cell within its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lxml import etree

from untemplate.lists.page_tree import PageTree, Run
from untemplate.page import squeeze, visible_text

__all__ = ["TABLE_CELLS", "TableHeaders", "table_column"]

TABLE_CELLS = frozenset({"td", "th"})
"""The tags of table cells."""

_CELL_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
# A longer text is no header.
MAX_HEADER_LETTERS = 60
# Rows of a table that are searched for the header, and cells of a row that are counted.
MAX_HEADER_ROWS = 20
MAX_ROW_CELLS = 200


class TableHeaders:
    """Finds the header above a cell of a record.

    A header row is one of `th` cells or of `columnheader` roles, or else the first row of the table if it is not a
    record and has as many cells as records have.

    Args:
        tree: the page.
        runs: the records of a list.
    """

    def __init__(self, tree: PageTree, runs: Sequence[Run]) -> None:
        self._tree = tree
        self._records = {tree.elements[run[0]] for run in runs}
        self._headers: dict[etree._Element, dict[int, str]] = {}

    def header_of(self, rows: Sequence[int]) -> str | None:
        """Return the header of the cells at these rows of the page tree; None if most have none."""
        headers = Counter(filter(None, map(self._header_of_row, rows)))
        if not headers:
            return None
        [(header, count)] = headers.most_common(1)
        return header if count * 2 > len(rows) else None

    def usual_number(self, rows: Sequence[int]) -> int:
        """Return the number of the table cell that most of these rows are in; -1 if they are in none."""
        numbers = Counter(
            table_column(cell) if cell is not None else -1 for cell in map(self._cell_around, rows)
        )
        return numbers.most_common(1)[0][0] if numbers else -1

    def _header_of_row(self, row: int) -> str | None:
        cell = self._cell_around(row)
        parent = None if cell is None else cell.getparent()
        if cell is None or parent is None:
            return None
        table = _table_of(parent)
        if table not in self._headers:
            self._headers[table] = self._read_headers(table, parent)
        return self._headers[table].get(table_column(cell))

    def _cell_around(self, row: int) -> etree._Element | None:
        """Return the nearest table cell that contains a row."""
        element: etree._Element | None = self._tree.elements[row]
        while element is not None and element.tag != "table":
            if _is_cell(element):
                return element
            element = element.getparent()
        return None

    def _read_headers(self, table: etree._Element, record: etree._Element) -> dict[int, str]:
        """Return the headers of a table by cell number; none if no row before the records looks like a header."""
        rows = _first_rows(table)
        header_rows = [row for row in rows if row not in self._records and _is_header_row(row)]
        if not header_rows and rows and rows[0] not in self._records:
            header_rows = rows[:1] if _may_be_header(rows[0], record) else []
        headers: dict[int, str] = {}
        for row in header_rows:
            # the last row of several is the most exact one
            headers |= {number: text for number, text in _texts_by_number(row).items() if text}
        return headers


def _table_of(row: etree._Element) -> etree._Element:
    """Return the table around a row: `table`, or an element with such a role, or the parent of the row."""
    for element in row.iterancestors():
        if element.tag == "table" or element.get("role") in ("table", "grid", "treegrid"):
            return element
    parent = row.getparent()
    return row if parent is None else parent


def _first_rows(table: etree._Element) -> list[etree._Element]:
    rows: list[etree._Element] = []
    for element in table.iter(etree.Element):
        if element.tag == "tr" or element.get("role") == "row":
            rows.append(element)
        if len(rows) == MAX_HEADER_ROWS:
            break
    return [row for row in rows if _table_of(row) is table]


def _is_cell(element: etree._Element) -> bool:
    return element.tag in TABLE_CELLS or element.get("role") in _CELL_ROLES


def _cells_of(row: etree._Element) -> list[etree._Element]:
    return [child for child in row.iterchildren(etree.Element) if _is_cell(child)][:MAX_ROW_CELLS]


def _is_header_row(row: etree._Element) -> bool:
    """Return True if a row has several cells, all of them header cells, or is in the head of its table."""
    cells = _cells_of(row)
    parent = row.getparent()
    in_head = parent is not None and parent.tag == "thead"
    are_headers = all(cell.tag == "th" or cell.get("role") == "columnheader" for cell in cells)
    return len(cells) > 1 and (in_head or are_headers)


def _may_be_header(row: etree._Element, record: etree._Element) -> bool:
    """Return True if a row of plain cells may be the header: as wide as a record, different words, no digits."""
    texts = list(_texts_by_number(row).values())
    are_words = all(text and not any(map(str.isdigit, text)) for text in texts)
    return _width(row) == _width(record) > 1 and are_words and len({*texts}) == len(texts)


def _span(cell: etree._Element) -> int:
    span = cell.get("colspan", "1").strip()
    return min(int(span), MAX_ROW_CELLS) if span.isdecimal() and int(span) else 1


def _width(row: etree._Element) -> int:
    return sum(map(_span, _cells_of(row)))


def table_column(cell: etree._Element) -> int:
    """Return the number of columns before a cell in its row."""
    number = 0
    for count, sibling in enumerate(cell.itersiblings(etree.Element, preceding=True)):
        if count == MAX_ROW_CELLS:
            return -1
        number += _span(sibling) if _is_cell(sibling) else 0
    return number


def _texts_by_number(row: etree._Element) -> dict[int, str]:
    texts: dict[int, str] = {}
    number = 0
    for cell in _cells_of(row):
        text = squeeze(visible_text(cell)) or squeeze(cell.get("aria-label", ""))
        texts[number] = text if len(text) <= MAX_HEADER_LETTERS else ""
        number += _span(cell)
    return texts
