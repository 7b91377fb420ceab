"""Names for the columns of a list, from what the page says about them.

These are tried in order: the header of a table column, a caption that most records repeat in front of the value or
inside of it (`Author: …`), `itemprop` and the like, the title, prices and dates if there is one column of them, words
of the class, and at last the kind of the text.

Pages of one site have the same columns: pass the same `SiteColumns` for all of them. A column is known by its place
in the record (tags, classes, table cell, caption), so that an optional column does not rename those after it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from lxml import etree

from untemplate.lists.cells import EMPHASIS_TAGS, Line
from untemplate.lists.page_profile import HEADINGS
from untemplate.lists.page_tree import TEXT, PageTree, Run
from untemplate.lists.row_captions import MAX_CAPTION_LETTERS, RecordCaptions, split_caption
from untemplate.lists.rows import ADDRESS_COLUMNS, ROW_COLUMNS
from untemplate.lists.scene import MIN_HALF, MIN_MOST, Column
from untemplate.lists.sections import find_sections
from untemplate.lists.table_headers import TableHeaders
from untemplate.page import squeeze
from untemplate.page.dom import CROSSED_OUT_TAGS, split_name

__all__ = ["TITLE", "NamedColumn", "SiteColumns", "name_columns", "to_name"]

TITLE = "title"
"""The name of the column that readers see as the heading of a record, unless a header gives it another one."""

# A column with such a header gets a number: every row of a file has these columns.
RESERVED_NAMES = frozenset({*ADDRESS_COLUMNS, *ROW_COLUMNS})

# Words and letters of a name.
MAX_NAME_WORDS = 5
MAX_NAME_LETTERS = 40
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
        taken = {self._names[place] for place, _ in columns if place in self._names}
        for place, wish in columns:
            if place not in self._names:
                given = (
                    name for name, wished in self._wishes.items() if wished == wish and name not in taken
                )
                self._names[place] = next(given, None) or self._free_name(wish)
                taken.add(self._names[place])
        # A page whose titles are at a place that another page uses for something else has titles all the same.
        has_title = TITLE in taken
        return [TITLE if wish == TITLE and not has_title else self._names[place] for place, wish in columns]

    def _free_name(self, wish: str) -> str:
        name, number = wish, 1
        while name in self._wishes or name in RESERVED_NAMES:
            number += 1
            name = f"{wish}_{number}"
        self._wishes[name] = wish
        return name


def to_name(text: str) -> str:
    """Return the name that a header or caption gives: its words in lower case, joined by underscores.

    Example:
        >>> to_name("Case No.:"), to_name("datePublished")
        ('case_no', 'date_published')
    """
    words = split_name(text)[:MAX_NAME_WORDS]
    return "_".join(words)[:MAX_NAME_LETTERS].strip("_")


def name_columns(
    tree: PageTree,
    runs: Sequence[Run],
    lines: Sequence[Sequence[Line | None]],
    texts: Sequence[Sequence[str | None]],
    site: SiteColumns,
) -> list[NamedColumn]:
    """Name the columns of a list that say something: captions and texts that all records share are left out.

    Args:
        tree: the page.
        runs: the records.
        lines: the aligned cells of each record.
        texts: their texts.
        site: the columns of earlier pages of the site.
    """
    columns = list(_PlacedColumns(tree, runs, lines, texts).informative())
    sections = find_sections(tree, runs)
    placed = [("section", "section")] * bool(sections) + [(column.place, column.wish) for column in columns]
    names = site.name_all(placed)
    named = [NamedColumn(names[0], -1, sections)] if sections else []
    for name, column in zip(names[len(named) :], columns, strict=True):
        named.append(NamedColumn(name, column.number, column.values))
    return named


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
        self.number, self._tree = number, tree
        self.texts = [text if line else None for line, text in zip(lines, texts, strict=True)]
        self.records = [record for record, text in enumerate(self.texts) if text]
        self.rows = [line[0] for line in lines if line]
        self.own_texts = [text for text in self.texts if text]
        first = next((record for record, line in enumerate(lines) if line), None)
        self._paths = (
            []
            if first is None
            else [
                path
                for line, run in zip(lines, runs, strict=True)
                if line
                for path in [self._path(line[0], run)]
            ]
        )
        self.place, self.wish = "", ""
        #: the caption of the column; whether it is one of another column; whether it was split off at its caption
        self.caption: str | None = None
        self.is_in_front = self.is_part = False
        self.values = self.texts
        self.total = len(lines)

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
        elements = [{element.tag for element in self._around(path)} for path in self._paths]
        linked = [float("a" in tags) for tags in elements]
        headed = [not HEADINGS.isdisjoint(tags) for tags in elements]
        records = dict(zip(self.records, self.records, strict=True))
        return Column.measure(records, self.total, self.own_texts, linked, headed)

    def _around(self, path: tuple[int, ...]) -> list[etree._Element]:
        return [self._tree.elements[row] for row in path]

    @cached_property
    def is_constant(self) -> bool:
        """Whether all records that have the column have the same text in it."""
        return len({*self.own_texts}) == 1

    def is_caption(self) -> bool:
        """Return True if the column is the same caption in front of another column: `Tel:` or a `dt`."""
        text = self.own_texts[0] if self.own_texts else ""
        if not self.is_constant or len(text) > MAX_CAPTION_LETTERS or not to_name(text):
            return False
        nearest = [element for elements in self.elements(2) for element in elements]
        words = {word for element in nearest for word in split_name(element.get("class", ""))}
        has_tag = any(element.tag in _CAPTION_TAGS for element in nearest)
        return text.rstrip().endswith(":") or has_tag or not words.isdisjoint(_CAPTION_WORDS)

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
            tokens = Counter(token for element in elements for token in element.get("class", "").split())
            usual += [token for token, count in tokens.items() if count * 2 > len(elements)]
        return usual

    def class_name(self, is_own: Callable[[str], bool], ignored: frozenset[str]) -> str | None:
        """Return the telling words of the nearest class that no other column has."""
        for token in filter(is_own, self.class_tokens):
            words = [word for word in split_name(token) if _is_telling(word) and word not in ignored]
            if words:
                return "_".join(words[:3])[:MAX_NAME_LETTERS]
        return None

    @property
    def is_crossed_out(self) -> bool:
        """Whether most texts are crossed out, or in elements whose class says that the price is a former one."""
        for elements in self.elements():
            crossed = [
                e.tag in CROSSED_OUT_TAGS or not _OLD_WORDS.isdisjoint(split_name(e.get("class", "")))
                for e in elements
            ]
            if sum(crossed) * 2 > len(crossed):
                return True
        return False

    @property
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
            parts = _split_at_captions(tree, captions, own_lines)
            for part in parts or [(list(own_lines), list(own_texts))]:
                columns.append(_ListColumn(number, tree, runs, *part))
                columns[-1].is_part = bool(parts)
        self._columns = [column for column in columns if column.own_texts]

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
            is_together = set(column.records) <= set(following.records)
            if is_together and column.is_caption() and not following.is_caption() and len(column.records) > 1:
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
        record_words = frozenset(split_name(" ".join(self._tree.classes[run[0]] for run in self._runs[:3])))
        unnamed = [column for column in columns if not column.wish]
        for column in unnamed:
            column.wish = column.attribute_name(_NAMING_ATTRIBUTES) or ""
        unnamed = [column for column in unnamed if not column.wish]
        title = _find_title(columns)
        kinds = Counter(column.kind for column in unnamed)
        tokens = Counter(token for column in columns for token in set(column.class_tokens))
        for column in unnamed:
            kind = column.kind
            is_only = kind in ("price", "date", "old_price") and kinds[kind] == 1
            if column is title:
                column.wish = TITLE
            else:
                column.wish = (
                    kind
                    if is_only
                    else column.class_name(lambda token: tokens[token] <= MAX_CLASS_COLUMNS, record_words)
                ) or kind


def _split_at_captions(
    tree: PageTree, captions: RecordCaptions, lines: Sequence[Line | None]
) -> list[tuple[list[Line | None], list[str | None]]]:
    """Return the columns, as lines and texts, that a column of texts with several captions consists of.

    None if most of its cells have one caption at most: `Fat: 2 g, Protein: 1 g` are two columns.
    """
    split = [captions.split_line(line) if line else {} for line in lines]
    several = sum(len(parts) > 1 for parts in split)
    if several * 2 <= sum(line is not None for line in lines):
        return []
    names = dict.fromkeys(name for parts in split for name in parts)
    columns = []
    for name in names:
        own = [tuple(parts[name]) if name in parts else None for parts in split]
        columns.append(
            (own, [squeeze("".join(tree.texts[row] for row in line)) if line else None for line in own])
        )
    return columns


def _find_title(columns: Sequence[_ListColumn]) -> _ListColumn | None:
    """Return the first column of the most prominent ones that may be titles: headings, then links."""
    candidates = [column for column in columns if column.statistics.may_be_title]
    usual = [column for column in candidates if column.statistics.filled >= MIN_HALF] or candidates
    return max(usual, key=lambda column: column.statistics.prominence, default=None)


def _is_telling(word: str) -> bool:
    return bool(_WORDY.fullmatch(word)) and word not in _LOOK_WORDS and _VOWEL.search(word) is not None
