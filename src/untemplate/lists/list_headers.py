"""Texts of a list that say what its values are: headers of tables, captions in records, headings between records.

A header is above a column of a table (`TableHeaders`). A caption is in front of a value, in a text of its own or
in the same text, as `Genre:` (`RecordCaptions`). A heading between records says to which section of the list the
records below it belong (`find_sections`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

import numpy as np
from lxml import etree

from untemplate.lists.cells import Line
from untemplate.lists.page_profile import HEADINGS
from untemplate.lists.page_tree import TEXT, PageTree, Run
from untemplate.page import squeeze, visible_text
from untemplate.page.arrays import Bools
from untemplate.page.dom import split_name

__all__ = [
    "MAX_CAPTION_LETTERS",
    "MAX_NAME_LETTERS",
    "TABLE_CELLS",
    "CaptionedCells",
    "RecordCaptions",
    "TableHeaders",
    "find_hidden_values",
    "find_sections",
    "is_lone_caption",
    "pair_captions",
    "split_caption",
    "table_column",
    "to_name",
]

TABLE_CELLS = frozenset({"td", "th"})
"""The tags of table cells."""

_CELL_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
# Longer texts are no header of a column, and no heading of a section.
MAX_HEADER_LETTERS = 60
MAX_HEADING_LETTERS = 120
# Rows of a table that are searched for the header, and cells of a row that are counted.
MAX_HEADER_ROWS = 20
MAX_ROW_CELLS = 200
# Levels from a hidden caption up to the element with its value, and rows of that element that are read.
MAX_CAPTION_LEVELS = 4
MAX_VALUE_ROWS = 200
# Words and letters of a name.
MAX_NAME_WORDS = 5
MAX_NAME_LETTERS = 40
# Letters of a caption, and how many records must have the same text in front of a colon to make it a caption.
MAX_CAPTION_LETTERS = 30
MIN_CAPTION_RECORDS = 2
_CAPTION = re.compile(rf"\s*([^\W\d_][^:]{{0,{MAX_CAPTION_LETTERS - 1}}}?)\s*:(?=\s|$)")


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
        headers: dict[int, str] = {}
        for row in self._header_rows(table, record):
            # the last row of several is the most exact one
            headers |= {number: text for number, text in _texts_by_number(row).items() if text}
        return headers

    def _header_rows(self, table: etree._Element, record: etree._Element) -> list[etree._Element]:
        """Return the rows that are marked as headers; without any, the first row if it may be one."""
        rows = _first_rows(table)
        marked = [row for row in rows if row not in self._records and _is_header_row(row)]
        if marked:
            return marked
        return [row for row in rows[:1] if row not in self._records and _may_be_header(row, record)]


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


def split_caption(text: str) -> tuple[str, str]:
    """Return the caption at the start of a text, and the rest; the caption is "" if the text has none.

    Example:
        >>> split_caption("Author: Jane Austen"), split_caption("12:30 o'clock")
        (('Author', 'Jane Austen'), ('', "12:30 o'clock"))
    """
    match = _CAPTION.match(text)
    return (match.group(1), text[match.end() :].strip()) if match else ("", text)


def to_name(text: str) -> str:
    """Return the name that a header or caption gives: its words in lower case, joined by underscores.

    Example:
        >>> to_name("Case No.:"), to_name("datePublished")
        ('case_no', 'date_published')
    """
    words = split_name(text)[:MAX_NAME_WORDS]
    return "_".join(words)[:MAX_NAME_LETTERS].strip("_")


class RecordCaptions:
    """The texts in front of a colon that several records have, and which parts of the records begin with one.

    Args:
        tree: the page.
        runs: the records.
    """

    def __init__(self, tree: PageTree, runs: Sequence[Run]) -> None:
        self._tree = tree
        captions = [_captions_inside(tree, run) for run in runs]
        records: Counter[str] = Counter()
        for own in captions:
            records.update({*own.values()})
        repeated: dict[int, str] = {}
        for own in captions:
            repeated |= {row: text for row, text in own.items() if records[text] >= MIN_CAPTION_RECORDS}
        #: row of a text -> its caption
        self.by_row = _drop_colons_of_titles(tree, runs, repeated)
        marked = np.zeros(len(tree), np.int64)
        marked[list(self.by_row)] = 1
        self._before = np.concatenate([[0], np.cumsum(marked)])
        following = np.where(tree.has_tag({TEXT}), np.arange(len(tree)), len(tree))[::-1]
        #: the first text from each row on
        self._first_text = np.minimum.accumulate(following)[::-1]
        self._end = tree.end

    def split_column(self, lines: Sequence[Line | None]) -> list[tuple[list[Line | None], list[str | None]]]:
        """Split a column at the captions in its texts: `Fat: 2 g, Protein: 1 g` are two columns.

        Args:
            lines: the cells of the column; None for records without it.

        Returns:
            The cells and texts of each new column; an empty list if most cells have one caption at most.
        """
        cells = [self.split_line(line) if line else {} for line in lines]
        several = sum(len(parts) > 1 for parts in cells)
        if several * 2 <= sum(line is not None for line in lines):
            return []
        captions = dict.fromkeys(chain.from_iterable(cells))
        return [self._captioned_column(caption, cells) for caption in captions]

    def _captioned_column(
        self, caption: str, cells: Sequence[Mapping[str, Sequence[int]]]
    ) -> tuple[list[Line | None], list[str | None]]:
        """Return the parts of cells that follow a caption, and their texts; None for cells without it."""
        lines = [tuple(parts.get(caption, ())) or None for parts in cells]
        texts = [squeeze("".join(self._tree.texts[row] for row in line)) if line else None for line in lines]
        return lines, texts

    def space_texts(self, lines: Sequence[Line | None], texts: Sequence[str | None]) -> list[str | None]:
        """Return the texts of cells with a blank after a caption in an element of its own: `Fat:2 g` → `Fat: 2 g`."""
        return [
            self._spaced(line, text) if line and text else text
            for line, text in zip(lines, texts, strict=True)
        ]

    def _spaced(self, line: Line, text: str) -> str:
        first = self._tree.texts[int(self._first_text[line[0]])].strip()
        if not is_lone_caption(first) or not text.startswith(first):
            return text
        return f"{first} {text[len(first) :].lstrip()}"

    def split_line(self, line: Sequence[int]) -> dict[str, list[int]]:
        """Return the texts of a line by the caption that they follow; "" for those before the first caption."""
        parts: dict[str, list[int]] = {}
        caption = ""
        for row in self._tree.rows_inside(tuple(line)):
            caption = self.by_row.get(row, caption)
            if self._tree.texts[row]:
                parts.setdefault(caption, []).append(row)
        return parts

    def of_rows(self, rows: Sequence[int]) -> str:
        """Return the caption that adjacent siblings begin with; "" if they have none or several."""
        count = self._before[self._end[rows[-1]]] - self._before[rows[0]]
        return self.by_row.get(int(self._first_text[rows[0]]), "") if count == 1 else ""


class CaptionedCells(NamedTuple):
    """The cells that follow a caption in the records of a list.

    Attributes:
        caption: the caption, with its colon.
        number: the column of most of these cells.
        cells: the column of the cell of each record; -1 for records without the caption.
    """

    caption: str
    number: int
    cells: list[int]


def pair_captions(texts: Sequence[Sequence[str | None]]) -> list[CaptionedCells]:
    """Return the cells that follow captions in cells of their own, such as `Genre:`, in several records.

    Records may have a caption in different columns, and lack its value. So captions are read record by record. A
    column belongs to a caption if it follows the caption in most of the records that have the column.

    Args:
        texts: the texts of each column, by record; None where a record lacks the column.
    """
    following: dict[str, dict[int, int]] = {}
    records = list(zip(*texts, strict=True))
    for record, cells in enumerate(records):
        for caption, number in _captioned_numbers(cells):
            following.setdefault(caption, {})[record] = number
    filled = [sum(map(bool, column)) for column in texts]
    pairs = [_own_cells(caption, numbers, filled, len(records)) for caption, numbers in following.items()]
    return [pair for pair in pairs if sum(number >= 0 for number in pair.cells) >= MIN_CAPTION_RECORDS]


def _own_cells(
    caption: str, numbers: Mapping[int, int], filled: Sequence[int], records: int
) -> CaptionedCells:
    """Return the cells after a caption, without those in columns that mostly do not follow it.

    Args:
        caption: the caption.
        numbers: record → the column after the caption.
        filled: how many records have each column.
        records: how many records there are.
    """
    uses = Counter(numbers.values())
    own = {record: number for record, number in numbers.items() if uses[number] * 2 > filled[number]}
    usual = Counter(own.values()).most_common(1)
    return CaptionedCells(caption, usual[0][0] if usual else -1, [own.get(n, -1) for n in range(records)])


def _captioned_numbers(cells: Sequence[str | None]) -> Iterator[tuple[str, int]]:
    """Yield the captions among the cells of a record, each with the number of the cell after it."""
    filled = [(number, text) for number, text in enumerate(cells) if text]
    for (_, caption), (number, text) in pairwise(filled):
        if is_lone_caption(caption) and not is_lone_caption(text):
            yield caption, number


def is_lone_caption(text: str) -> bool:
    """Return True if a text is nothing but a caption with its colon."""
    caption, rest = split_caption(text)
    return bool(caption) and not rest


def find_hidden_values(tree: PageTree, shown: Bools, runs: Sequence[Run]) -> dict[str, list[str | None]]:
    """Return the captioned values in hidden parts of records, which a click would show, by caption.

    Only values that differ from record to record, and that most records have, are data.

    Args:
        tree: the page.
        shown: the rows of the page that readers see.
        runs: the records.
    """
    values: dict[str, list[str | None]] = {}
    for record, run in enumerate(runs):
        for caption, value in _hidden_pairs(tree, shown, run):
            column = values.setdefault(caption, [None] * len(runs))
            column[record] = column[record] or value
    return {caption: column for caption, column in values.items() if _is_usual_data(column)}


def _hidden_pairs(tree: PageTree, shown: Bools, run: Run) -> Iterator[tuple[str, str]]:
    """Yield the captions in the hidden texts of a record, each with its value."""
    for row in tree.rows_inside(run):
        caption, rest = ("", "") if shown[row] else split_caption(tree.texts[row])
        value = rest or (_text_after(tree, row, run) if caption else "")
        if caption and value:
            yield caption, value


def _text_after(tree: PageTree, row: int, run: Run) -> str:
    """Return the text after a caption, inside the smallest element around the caption that has any."""
    around = int(tree.parent[row])
    for _ in range(MAX_CAPTION_LEVELS):
        texts = tree.texts[row + 1 : min(int(tree.end[around]), row + MAX_VALUE_ROWS)]
        if around in run:
            return ""
        if any(texts):
            # The text of the next caption is no value of this one.
            own = takewhile(lambda text: not split_caption(text)[0], texts)
            return squeeze(" ".join(filter(None, own)))
        around = int(tree.parent[around])
    return ""


def _is_usual_data(column: Sequence[str | None]) -> bool:
    texts = list(filter(None, column))
    return len(texts) * 2 >= len(column) and len({*texts}) > 1


def _captions_inside(tree: PageTree, run: Run) -> dict[int, str]:
    """Map the texts of a record that begin with a caption to the caption."""
    split = {row: split_caption(tree.texts[row])[0] for row in tree.rows_inside(run) if tree.texts[row]}
    return {row: caption for row, caption in split.items() if caption}


def _drop_colons_of_titles(tree: PageTree, runs: Sequence[Run], captions: dict[int, str]) -> dict[int, str]:
    """Return the captions without those in places where most texts have none, such as `Doctor Who: Season 4`.

    A text that is nothing but a caption is one in any place.
    """
    paths = tree.path_ids
    texts: Counter[int] = Counter()
    for run in runs:
        texts.update(paths[row] for row in tree.rows_inside(run) if tree.texts[row])
    captioned = Counter(paths[row] for row in captions)
    return {
        row: caption
        for row, caption in captions.items()
        if captioned[paths[row]] * 2 >= texts[paths[row]] or is_lone_caption(tree.texts[row].strip())
    }


def find_sections(tree: PageTree, runs: Sequence[Run]) -> list[str | None]:
    """Return the heading above each record; an empty list if no headings part the records.

    Headings are `h1` to `h6`, and table rows with a single cell, that are between records and alike. So a heading
    above the whole list does not count, unless others of its kind follow between the records.

    Args:
        tree: the page.
        runs: the records in page order.
    """
    headings = _section_headings(tree, runs)
    texts = [squeeze("".join(tree.texts_inside((row,)))) for row in headings]
    # The number of the last heading before each record; -1 for records before the first heading.
    numbers = np.searchsorted(np.array(headings, np.int64), [run[0] for run in runs]) - 1
    sections = [texts[number] if number >= 0 else None for number in numbers.tolist()]
    return sections if len({*filter(None, sections)}) > 1 else []


def _section_headings(tree: PageTree, runs: Sequence[Run]) -> list[int]:
    """Return the rows of the headings of the kind that is most frequent between records, in page order."""
    headings = _headings_outside(tree, runs)
    kinds = Counter(tree.path_ids[row] for row in headings if runs[0][0] < row < runs[-1][0])
    if not kinds:
        return []
    usual_kind = kinds.most_common(1)[0][0]
    return [row for row in headings if tree.path_ids[row] == usual_kind]


def _headings_outside(tree: PageTree, runs: Sequence[Run]) -> list[int]:
    """Return the rows of headings that are in no record, in page order."""
    is_top = np.zeros(len(tree), np.bool_)
    for run in runs:
        is_top[list(run)] = True
    is_outside = tree.depth(is_top) == 0
    is_heading = tree.has_tag(HEADINGS)
    for row in np.flatnonzero(tree.has_tag({"tr"}) & is_outside).tolist():
        is_heading[row] = len(tree.children[row]) == 1
    lengths = tree.total(np.array(list(map(len, tree.texts)), np.float64))
    is_short = (lengths > 0) & (lengths <= MAX_HEADING_LETTERS)
    rows: list[int] = np.flatnonzero(is_heading & is_outside & is_short).tolist()
    return rows
