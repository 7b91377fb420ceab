"""Names for the columns of a list, from what the page says about them.

These sources are tried in order: the header of a table column; a caption that most records repeat in front of the
value or inside it (`Author: …`); `itemprop` and similar attributes; the title; the kind "price" or "date" if only one
column has it; the words of a class; and at last the kind of the text.

Pages of one site have the same columns: pass the same `SiteColumns` for all of them. A column is recognized by its
place in the record (tags, classes, table cell, caption), so an optional column does not rename those after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from untemplate.lists.cells import Line
from untemplate.lists.list_column import ListColumn
from untemplate.lists.list_headers import (
    CaptionedCells,
    RecordCaptions,
    TableHeaders,
    find_sections,
    pair_captions,
    to_name,
)
from untemplate.lists.page_tree import PageTree, Run
from untemplate.lists.rows import ADDRESS_COLUMNS, ROW_COLUMNS, SECTION_COLUMN
from untemplate.lists.scene import MIN_HALF
from untemplate.page.dom import split_name

__all__ = ["TITLE", "NamedColumn", "SiteColumns", "name_columns"]

TITLE = "title"
"""The name of the column that readers see as the heading of a record, unless a header gives it another one."""

# A column with such a header gets a number: every row of a file has these columns.
RESERVED_NAMES = frozenset({*ADDRESS_COLUMNS, *ROW_COLUMNS, SECTION_COLUMN})

# A class that more columns have does not say what one of them means.
MAX_CLASS_COLUMNS = 2
# A column is constant, and not written, if all records have the same text in it. Fewer records may agree by chance.
MIN_CONSTANT_RECORDS = 3

# Signs between a captioned value and the next caption.
_TRAILING_SIGNS = " ,;|·•"
# Kinds of texts that name a column if no other column of the list has them.
_NAMING_KINDS = ("price", "date", "old_price")
_NAMING_ATTRIBUTES = ("itemprop", "property")
_CAPTION_ATTRIBUTES = ("data-label", "data-title", "data-th", "data-header", "data-heading", "data-column")


@dataclass(frozen=True)
class NamedColumn:
    """A column of a list: its name, its number in the table, and its texts without captions."""

    name: str
    number: int
    texts: list[str | None]


class SiteColumns:
    """The columns of a site so far: their names, by their place in records.

    Example:
        >>> columns = SiteColumns()
        >>> columns.name_all([("li/b", "title"), ("li/i", "detail"), ("li/u", "detail")])
        ['title', 'detail', 'detail_2']
        >>> columns.name_all([("li/b/a", "title"), ("li/u", "price")])
        ['title', 'detail_2']
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        #: name -> what was wished when it was given
        self._wishes: dict[str, str] = {}

    def name_all(self, columns: Sequence[tuple[str, str]]) -> list[str]:
        """Return the names of the columns of one page.

        A column at a known place has the name it had, unless it is the only title of this page. Another one gets the
        wished name: that of a column which this page lacks, or else a new one, with a number if the name is used.

        Args:
            columns: the place and the wished name of each column.
        """
        self._name_new_places(columns)
        if any(self._names[place] == TITLE for place, _ in columns):
            return [self._names[place] for place, _ in columns]
        # Another page has something else at the place of this page's titles. They are titles all the same.
        return [TITLE if wish == TITLE else self._names[place] for place, wish in columns]

    def _name_new_places(self, columns: Sequence[tuple[str, str]]) -> None:
        taken = {self._names[place] for place, _ in columns if place in self._names}
        for place, wish in columns:
            if place not in self._names:
                self._names[place] = self._earlier_name(wish, taken) or self._new_name(wish)
                taken.add(self._names[place])

    def _earlier_name(self, wish: str, taken: Collection[str]) -> str | None:
        """Return a name that was given for the same wish and that no column of this page has; None without one."""
        for name, earlier_wish in self._wishes.items():
            if earlier_wish == wish and name not in taken:
                return name
        return None

    def _new_name(self, wish: str) -> str:
        name, number = wish, 1
        while name in self._wishes or name in RESERVED_NAMES:
            number += 1
            name = f"{wish}_{number}"
        self._wishes[name] = wish
        return name


def name_columns(
    tree: PageTree,
    runs: Sequence[Run],
    lines: Sequence[Sequence[Line | None]],
    texts: Sequence[Sequence[str | None]],
    site: SiteColumns,
    hidden: Mapping[str, list[str | None]],
) -> list[NamedColumn]:
    """Name the columns of a list that say something: captions and texts that all records share are left out.

    Args:
        tree: the page.
        runs: the records.
        lines: the aligned cells of each record.
        texts: their texts.
        site: the columns of earlier pages of the site.
        hidden: the texts of further columns by caption, which are in no cell because readers do not see them.
    """
    columns = list(_PlacedColumns(tree, runs, lines, texts).informative())
    wishes = [(column.place, column.wish) for column in columns]
    texts_by_number = [(column.number, column.values) for column in columns]
    said = {column.wish for column in columns}
    for caption, values in hidden.items():
        if (name := to_name(caption)) and name not in said:
            wishes.append((f"hidden:{name}", name))
            texts_by_number.append((-1, values))
    names = site.name_all(wishes)
    named = [NamedColumn(name, *column) for name, column in zip(names, texts_by_number, strict=True)]
    sections = find_sections(tree, runs)
    return [NamedColumn(SECTION_COLUMN, -1, sections), *named] if sections else named


class _PlacedColumns:
    """The columns of a list, with the place and the wished name of each."""

    def __init__(
        self,
        tree: PageTree,
        runs: Sequence[Run],
        lines: Sequence[Sequence[Line | None]],
        texts: Sequence[Sequence[str | None]],
    ) -> None:
        self._tree, self._runs = tree, runs
        captions = RecordCaptions(tree, runs)
        by_column = zip(zip(*lines, strict=True), zip(*texts, strict=True), strict=True)
        columns: list[ListColumn] = []
        for number, (own_lines, own_texts) in enumerate(by_column):
            parts = captions.split_column(own_lines)
            for part in parts or [(list(own_lines), captions.space_texts(own_lines, own_texts))]:
                columns.append(ListColumn(number, tree, runs, *part))
                columns[-1].is_part = bool(parts)
        self._columns = [column for column in self._with_captioned(columns) if column.own_texts]

    def _with_captioned(self, columns: Sequence[ListColumn]) -> list[ListColumn]:
        """Return the columns, and one for each caption in a cell of its own; its cells are in no other column."""
        pairs = pair_captions([column.texts for column in columns])
        captions = {pair.caption for pair in pairs}
        captioned: dict[int, list[ListColumn]] = {}
        taken: dict[int, set[int]] = {}
        for pair in pairs:
            captioned.setdefault(pair.number, []).append(self._captioned_column(pair, columns))
            for record, number in enumerate(pair.cells):
                taken.setdefault(number, set()).add(record)
        ordered: list[ListColumn] = []
        for number, column in enumerate(columns):
            of_captions = {record for record in column.records if column.texts[record] in captions}
            ordered += captioned.get(number, ())
            ordered.append(column.without(of_captions | taken.get(number, set())))
        return ordered

    def _captioned_column(self, pair: CaptionedCells, columns: Sequence[ListColumn]) -> ListColumn:
        lines = [columns[at].lines[record] if at >= 0 else None for record, at in enumerate(pair.cells)]
        texts = [columns[at].texts[record] if at >= 0 else None for record, at in enumerate(pair.cells)]
        column = ListColumn(columns[pair.number].number, self._tree, self._runs, lines, texts)
        column.caption = pair.caption
        return column

    def informative(self) -> Iterator[ListColumn]:
        """Yield the columns that are neither captions nor constant, with their places and wishes."""
        headers = TableHeaders(self._tree, self._runs)
        self._find_captions()
        remaining: list[ListColumn] = []
        for column in self._columns:
            said = self._said_name(column, headers)
            if column.is_in_front or self._is_noise(column, said):
                continue
            column.wish = said
            if said:
                column.place = f"said:{said}:{self._count(column, remaining)}"
            else:
                column.place = self._place(column, remaining, headers)
            remaining.append(column)
        self._wish_kinds(remaining)
        yield from remaining

    def _find_captions(self) -> None:
        """Find the captions of columns, in the column before or in their own texts; values do not contain them."""
        for column, following in pairwise(self._columns):
            if _is_caption_of(column, following):
                following.caption = column.own_texts[0]
                column.is_in_front = True
        for column in self._columns:
            if inner := column.inner_caption():
                column.values = column.without_caption(inner)
                column.caption = column.caption or inner
            if column.caption:
                column.values = [text and text.rstrip(_TRAILING_SIGNS) for text in column.values]

    @staticmethod
    def _said_name(column: ListColumn, headers: TableHeaders) -> str:
        """Return the name that a header or caption gives to a column; "" without one."""
        header = headers.header_of(column.rows) or column.attribute_name(_CAPTION_ATTRIBUTES)
        first, second = (column.caption, header) if column.is_part else (header, column.caption)
        return to_name(first or second or "")

    def _is_noise(self, column: ListColumn, said: str) -> bool:
        """Return True for a text that all records share, unless a header or caption says what it is."""
        return (
            not said
            and column.is_constant
            and len(column.records) >= max(MIN_CONSTANT_RECORDS, len(self._runs) / 2)
        )

    @staticmethod
    def _count(column: ListColumn, before: Iterable[ListColumn]) -> int:
        return sum(other.wish == column.wish for other in before)

    def _place(self, column: ListColumn, before: Iterable[ListColumn], headers: TableHeaders) -> str:
        path = f"{headers.usual_number(column.rows)}:{column.usual_path}"
        count = sum(other.place.startswith(f"{path}#") for other in before)
        return f"{path}#{count}"

    def _wish_kinds(self, columns: Sequence[ListColumn]) -> None:
        """Wish names for columns without a header or caption."""
        title = _find_title(columns)
        for column in [column for column in columns if not column.wish]:
            column.wish = _attribute_wish(column, column is title)
        unnamed = [column for column in columns if not column.wish]
        single_kinds = _single_kinds(unnamed)
        common_classes, record_words = _common_classes(columns), self._record_words()
        for column in unnamed:
            if column is title:
                column.wish = TITLE
            elif column.kind in single_kinds:
                column.wish = column.kind
            else:
                column.wish = column.class_name(common_classes, record_words) or column.kind

    def _record_words(self) -> frozenset[str]:
        """Return the words in the classes of the first records, which say nothing about a column."""
        return frozenset(split_name(" ".join(self._tree.classes[run[0]] for run in self._runs[:3])))


def _attribute_wish(column: ListColumn, is_title: bool) -> str:
    """Return the name that attributes such as `itemprop` give a column; empty if they give none."""
    name = column.attribute_name(_NAMING_ATTRIBUTES) or ""
    # Names such as `og:title`, which a site may have on some pages only.
    return TITLE if is_title and name.endswith(f"_{TITLE}") else name


def _is_caption_of(column: ListColumn, following: ListColumn) -> bool:
    """Return True if a column is the caption of the next one in every record that has it.

    A word without a colon in front of a heading is a badge such as `New`, whatever its class is.
    """
    if len(column.records) < 2 or not set(column.records) <= set(following.records):
        return False
    if not column.is_caption() or following.is_caption():
        return False
    return column.own_texts[0].endswith(":") or not following.statistics.is_heading


def _single_kinds(columns: Iterable[ListColumn]) -> set[str]:
    """Return the kinds that name a column and that only one of these columns has."""
    counts = Counter(column.kind for column in columns)
    return {kind for kind in _NAMING_KINDS if counts[kind] == 1}


def _common_classes(columns: Iterable[ListColumn]) -> set[str]:
    """Return the classes of so many columns that they do not say what one of them means."""
    counts = Counter(chain.from_iterable(set(column.class_tokens) for column in columns))
    return {token for token, count in counts.items() if count > MAX_CLASS_COLUMNS}


def _find_title(columns: Sequence[ListColumn]) -> ListColumn | None:
    """Return the first column of the most prominent ones that may be titles: headings, then links."""
    candidates = [column for column in columns if column.statistics.may_be_title]
    usual = [column for column in candidates if column.statistics.filled >= MIN_HALF] or candidates
    return max(usual, key=lambda column: column.statistics.prominence, default=None)
