"""Names for the columns of a list, from what the page says about them.

These sources are tried in order: the header of a table column; a caption that most records repeat in front of the
value or inside it (`Author: …`); `itemprop` and similar attributes; the title; the kind "price" or "date" if only one
column has it; the words of a class; and at last the kind of the text.

Pages of one site have the same columns: pass the same `SiteColumns` for all of them. A column is recognized by its
place in the record (tags, classes, table cell, caption), so an optional column does not rename those after it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

from lxml import etree

from untemplate.lists.cells import EMPHASIS_TAGS, Line
from untemplate.lists.list_headers import (
    MAX_CAPTION_LETTERS,
    MAX_NAME_LETTERS,
    CaptionedCells,
    RecordCaptions,
    TableHeaders,
    find_sections,
    pair_captions,
    split_caption,
    to_name,
)
from untemplate.lists.page_profile import HEADINGS
from untemplate.lists.page_tree import TEXT, PageTree, Run
from untemplate.lists.rows import ADDRESS_COLUMNS, ROW_COLUMNS
from untemplate.lists.scene import MIN_HALF, MIN_MOST, Column
from untemplate.page.dom import CROSSED_OUT_TAGS, split_name

__all__ = ["TITLE", "NamedColumn", "SiteColumns", "name_columns"]

TITLE = "title"
"""The name of the column that readers see as the heading of a record, unless a header gives it another one."""

# A column with such a header gets a number: every row of a file has these columns.
RESERVED_NAMES = frozenset({*ADDRESS_COLUMNS, *ROW_COLUMNS})

# Texts with more words are descriptions.
MIN_DESCRIPTION_WORDS = 12.0
# A class that more columns have does not say what one of them means.
MAX_CLASS_COLUMNS = 2
# Levels of elements around a cell whose names count.
MAX_NAMING_LEVELS = 4
# A column is constant, and not written, if all records have the same text in it. Fewer records may agree by chance.
MIN_CONSTANT_RECORDS = 3

# Signs between a captioned value and the next caption.
_TRAILING_SIGNS = " ,;|·•"
_CAPTION_TAGS = frozenset({"dt", "th", "label", *EMPHASIS_TAGS})
_CAPTION_WORDS = frozenset({"label", "caption", "term", "key", "heading", "legend", "lbl"})
# Kinds of texts that name a column if no other column of the list has them.
_NAMING_KINDS = ("price", "date", "old_price")
_NAMING_ATTRIBUTES = ("itemprop", "property")
_CAPTION_ATTRIBUTES = ("data-label", "data-title", "data-th", "data-header", "data-heading", "data-column")
_OLD_WORDS = frozenset(
    {"old", "was", "regular", "strike", "strikethrough", "original", "before", "msrp", "rrp"}
)
# Words of classes that say how something looks or where it is, not what it means.
_LOOK_WORDS = frozenset(
    {
        *("col", "cols", "column", "columns", "row", "rows", "grid", "flex", "block", "inline"),
        *("container", "wrap", "wrapper", "wrapped", "inner", "outer", "box", "left", "right", "center"),
        *("top", "bottom", "middle", "first", "last", "odd", "even", "clear", "clearfix", "float"),
        *("pull", "align", "small", "large", "medium", "big", "bold", "normal", "base", "mini", "tiny"),
        *("size", "font", "color", "spacing", "none", "text", "txt", "span", "div", "item", "items"),
        *("list", "listing", "element", "node", "cell", "field", "fields", "value", "values", "data"),
        *("content", "contents", "body", "main", "section", "area", "group", "part", "detail"),
        *("details", "info", "information", "meta", "card", "media", "panel", "module", "view", "views"),
        *("result", "results", "search", "product", "entry", "post", "article", "link", "links", "url"),
        *("button", "btn", "icon", "hover", "active", "selected", "hidden", "visible", "show", "hide"),
        *("width", "height", "margin", "padding", "primary", "secondary", "light", "dark", "line"),
        *("lines", "clamp", "truncate", "ellipsis", "nowrap", "default", "style", "styled", "css"),
        *("component", "not", "has", "with", "and", "the", "for", "heading", "headline", "header"),
        *("head", "footer", "label", "tooltip", "popup", "overlay", "lazy", "mobile", "desktop", "only"),
        *("full", "auto", "table", "woocommerce", "loop"),
    }
)
_VOWEL = re.compile(r"[aeiouyáéíóúàèìòùäöüâêîôûа-я]", re.IGNORECASE)
_WORDY = re.compile(r"[^\W\d_]{3,20}")


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
    sections = find_sections(tree, runs)
    wishes = [(column.place, column.wish) for column in columns]
    texts_by_number = [(column.number, column.values) for column in columns]
    if sections:
        wishes.insert(0, ("section", "section"))
        texts_by_number.insert(0, (-1, sections))
    said = {column.wish for column in columns}
    for caption, values in hidden.items():
        if (name := to_name(caption)) and name not in said:
            wishes.append((f"hidden:{name}", name))
            texts_by_number.append((-1, values))
    names = site.name_all(wishes)
    return [NamedColumn(name, *column) for name, column in zip(names, texts_by_number, strict=True)]


class _ListColumn:
    """The cells of one column and what is around them."""

    def __init__(
        self,
        number: int,
        tree: PageTree,
        runs: Sequence[Run],
        lines: Sequence[Line | None],
        texts: Sequence[str | None],
    ) -> None:
        self.number, self.lines, self._tree, self._runs = number, lines, tree, runs
        self.texts = [text if line else None for line, text in zip(lines, texts, strict=True)]
        cells = [(line[0], run) for line, run in zip(lines, runs, strict=True) if line]
        self.rows = [row for row, _ in cells]
        self._paths = [self._path(row, run) for row, run in cells]
        self.place, self.wish = "", ""
        #: the column's caption
        self.caption: str | None = None
        #: whether the column is the caption of the next one; whether it was split off another one at its caption
        self.is_in_front = self.is_part = False
        self.values, self.total = self.texts, len(lines)

    def without(self, records: Collection[int]) -> _ListColumn:
        """Return the column without the cells of some records."""
        lines = [None if record in records else line for record, line in enumerate(self.lines)]
        column = _ListColumn(self.number, self._tree, self._runs, lines, self.texts)
        column.is_part = self.is_part
        return column

    @cached_property
    def own_texts(self) -> list[str]:
        """The texts of the records that have one."""
        return [text for text in self.texts if text]

    @cached_property
    def records(self) -> list[int]:
        """The numbers of the records that have a text."""
        return [record for record, text in enumerate(self.texts) if text]

    def _path(self, row: int, run: Run) -> tuple[int, ...]:
        """Return the rows of the elements around a cell, the nearest first, up to the record."""
        rows = [row]
        while rows[-1] not in run and self._tree.parent[rows[-1]] >= 0:
            rows.append(int(self._tree.parent[rows[-1]]))
        return tuple(row for row in rows if self._tree.tags[row] != TEXT)

    @cached_property
    def usual_path(self) -> str:
        """The tags and classes from the record down to the cells, as most cells have them."""
        steps = Counter("/".join(map(self._step, reversed(path))) for path in self._paths)
        return steps.most_common(1)[0][0] if steps else ""

    def _step(self, row: int) -> str:
        classes = sorted(self._tree.classes[row].split())
        tag = self._tree.tags[row]
        return ".".join([tag, *(name for name in classes if _WORDY.search(name))])

    def elements(self, levels: int = MAX_NAMING_LEVELS) -> Iterator[list[etree._Element]]:
        """Yield the elements around the cells, level by level, the nearest first; never the record itself."""
        for level in range(levels):
            rows = [path[level] for path in self._paths if level < len(path) - 1]
            if not rows:
                return
            yield [self._tree.elements[row] for row in rows]

    @cached_property
    def statistics(self) -> Column:
        elements = [{self._tree.tags[row] for row in path} for path in self._paths]
        linked = [float("a" in tags) for tags in elements]
        headed = [not HEADINGS.isdisjoint(tags) for tags in elements]
        records = dict(zip(self.records, self.records, strict=True))
        return Column.measure(records, self.total, self.own_texts, linked, headed)

    @cached_property
    def is_constant(self) -> bool:
        """Whether all records that have the column have the same text in it."""
        return len({*self.own_texts}) == 1

    def is_caption(self) -> bool:
        """Return True if the column is the same caption in front of another column: `Tel:` or a `dt`."""
        if not self.is_constant:
            return False
        text = self.own_texts[0]
        if len(text) > MAX_CAPTION_LETTERS or not to_name(text):
            return False
        return text.rstrip().endswith(":") or any(
            map(_is_marked_as_caption, chain.from_iterable(self.elements(2)))
        )

    def inner_caption(self) -> str | None:
        """Return the caption that most texts begin with, as in `Author: Jane`; None if there is none."""
        captions = Counter(split_caption(text)[0] for text in self.own_texts if split_caption(text)[1])
        [(caption, count)] = captions.most_common(1) or [("", 0)]
        is_usual = count >= max(2.0, MIN_MOST * len(self.own_texts))
        return caption if is_usual and to_name(caption) else None

    def attribute_name(self, attributes: Sequence[str]) -> str | None:
        """Return the name that an attribute such as `itemprop` gives to most cells."""
        for elements in self.elements():
            for attribute in attributes:
                names = Counter(name for element in elements if (name := to_name(element.get(attribute, ""))))
                if names and names.most_common(1)[0][1] * 2 > len(elements):
                    return names.most_common(1)[0][0]
        return None

    @cached_property
    def class_tokens(self) -> list[str]:
        """The classes that most elements around the cells have, the nearest first."""
        usual: list[str] = []
        for elements in self.elements():
            tokens = Counter(" ".join(element.get("class", "") for element in elements).split())
            usual += [token for token, count in tokens.items() if count * 2 > len(elements)]
        return usual

    def class_name(self, ignored_classes: Collection[str], ignored_words: Collection[str]) -> str | None:
        """Return the meaningful words of the nearest class that is not ignored; None if no class has any."""
        for token in self.class_tokens:
            words = [
                word for word in split_name(token) if _says_something(word) and word not in ignored_words
            ]
            if words and token not in ignored_classes:
                return "_".join(words[:3])[:MAX_NAME_LETTERS]
        return None

    @property
    def is_crossed_out(self) -> bool:
        """Whether most texts are crossed out, or in elements whose class says that the price is a former one."""
        return any(sum(map(_is_marked_as_old, elements)) * 2 > len(elements) for elements in self.elements())

    @cached_property
    def kind(self) -> str:
        """What the texts are by their content alone."""
        statistics = self.statistics
        if statistics.content_type == "price" and self.is_crossed_out:
            return "old_price"
        if statistics.content_type:
            return "address" if statistics.content_type == "link" else statistics.content_type
        if statistics.words >= MIN_DESCRIPTION_WORDS:
            return "description"
        if all(re.fullmatch(r"[\W\d_]*\d[\W\d_]*", text) for text in self.own_texts):
            return "number"
        return "detail"

    def without_caption(self, caption: str) -> list[str | None]:
        """Return the texts without this caption in front of them."""
        split = [split_caption(text) if text else ("", None) for text in self.texts]
        return [rest if own == caption else text for (own, rest), text in zip(split, self.texts, strict=True)]


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
        columns: list[_ListColumn] = []
        for number, (own_lines, own_texts) in enumerate(by_column):
            parts = captions.split_column(own_lines)
            for part in parts or [(list(own_lines), captions.space_texts(own_lines, own_texts))]:
                columns.append(_ListColumn(number, tree, runs, *part))
                columns[-1].is_part = bool(parts)
        self._columns = [column for column in self._with_captioned(columns) if column.own_texts]

    def _with_captioned(self, columns: Sequence[_ListColumn]) -> list[_ListColumn]:
        """Return the columns, and one for each caption in a cell of its own; its cells are in no other column."""
        pairs = pair_captions([column.texts for column in columns])
        captions = {pair.caption for pair in pairs}
        captioned: dict[int, list[_ListColumn]] = {}
        taken: dict[int, set[int]] = {}
        for pair in pairs:
            captioned.setdefault(pair.number, []).append(self._captioned_column(pair, columns))
            for record, number in enumerate(pair.cells):
                taken.setdefault(number, set()).add(record)
        ordered: list[_ListColumn] = []
        for number, column in enumerate(columns):
            of_captions = {record for record in column.records if column.texts[record] in captions}
            ordered += captioned.get(number, ())
            ordered.append(column.without(of_captions | taken.get(number, set())))
        return ordered

    def _captioned_column(self, pair: CaptionedCells, columns: Sequence[_ListColumn]) -> _ListColumn:
        lines = [columns[at].lines[record] if at >= 0 else None for record, at in enumerate(pair.cells)]
        texts = [columns[at].texts[record] if at >= 0 else None for record, at in enumerate(pair.cells)]
        column = _ListColumn(columns[pair.number].number, self._tree, self._runs, lines, texts)
        column.caption = pair.caption
        return column

    def informative(self) -> Iterator[_ListColumn]:
        """Yield the columns that are neither captions nor constant, with their places and wishes."""
        headers = TableHeaders(self._tree, self._runs)
        self._find_captions()
        remaining: list[_ListColumn] = []
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
    def _said_name(column: _ListColumn, headers: TableHeaders) -> str:
        """Return the name that a header or caption gives to a column; "" without one."""
        header = headers.header_of(column.rows) or column.attribute_name(_CAPTION_ATTRIBUTES)
        first, second = (column.caption, header) if column.is_part else (header, column.caption)
        return to_name(first or second or "")

    def _is_noise(self, column: _ListColumn, said: str) -> bool:
        """Return True for a text that all records share, unless a header or caption says what it is."""
        return (
            not said
            and column.is_constant
            and len(column.records) >= max(MIN_CONSTANT_RECORDS, len(self._runs) / 2)
        )

    @staticmethod
    def _count(column: _ListColumn, before: Iterable[_ListColumn]) -> int:
        return sum(other.wish == column.wish for other in before)

    def _place(self, column: _ListColumn, before: Iterable[_ListColumn], headers: TableHeaders) -> str:
        path = f"{headers.usual_number(column.rows)}:{column.usual_path}"
        count = sum(other.place.startswith(f"{path}#") for other in before)
        return f"{path}#{count}"

    def _wish_kinds(self, columns: Sequence[_ListColumn]) -> None:
        """Wish names for columns without a header or caption."""
        title = _find_title(columns)
        for column in columns:
            if not column.wish:
                name = column.attribute_name(_NAMING_ATTRIBUTES) or ""
                # Names such as `og:title`, which a site may have on some pages only.
                column.wish = TITLE if column is title and name.endswith(f"_{TITLE}") else name
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


def _is_caption_of(column: _ListColumn, following: _ListColumn) -> bool:
    """Return True if a column is the caption of the next one in every record that has it.

    A word without a colon in front of a heading is a badge such as `New`, whatever its class is.
    """
    if len(column.records) < 2 or not set(column.records) <= set(following.records):
        return False
    if not column.is_caption() or following.is_caption():
        return False
    return column.own_texts[0].endswith(":") or not following.statistics.is_heading


def _single_kinds(columns: Iterable[_ListColumn]) -> set[str]:
    """Return the kinds that name a column and that only one of these columns has."""
    counts = Counter(column.kind for column in columns)
    return {kind for kind in _NAMING_KINDS if counts[kind] == 1}


def _common_classes(columns: Iterable[_ListColumn]) -> set[str]:
    """Return the classes of so many columns that they do not say what one of them means."""
    counts = Counter(chain.from_iterable(set(column.class_tokens) for column in columns))
    return {token for token, count in counts.items() if count > MAX_CLASS_COLUMNS}


def _find_title(columns: Sequence[_ListColumn]) -> _ListColumn | None:
    """Return the first column of the most prominent ones that may be titles: headings, then links."""
    candidates = [column for column in columns if column.statistics.may_be_title]
    usual = [column for column in candidates if column.statistics.filled >= MIN_HALF] or candidates
    return max(usual, key=lambda column: column.statistics.prominence, default=None)


def _is_marked_as_caption(element: etree._Element) -> bool:
    """Return True if the tag or a class of an element says that it contains a caption."""
    return element.tag in _CAPTION_TAGS or not _CAPTION_WORDS.isdisjoint(_class_words(element))


def _is_marked_as_old(element: etree._Element) -> bool:
    """Return True if the tag or a class of an element says that its text no longer counts, as a former price."""
    return element.tag in CROSSED_OUT_TAGS or not _OLD_WORDS.isdisjoint(_class_words(element))


def _class_words(element: etree._Element) -> list[str]:
    return split_name(element.get("class", ""))


def _says_something(word: str) -> bool:
    return bool(_WORDY.fullmatch(word)) and word not in _LOOK_WORDS and _VOWEL.search(word) is not None
