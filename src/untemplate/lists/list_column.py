"""One column of a list: its cells, what is around them, and what this says about their meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain

from lxml import etree

from untemplate.lists.cells import EMPHASIS_TAGS, Line
from untemplate.lists.list_headers import MAX_CAPTION_LETTERS, MAX_NAME_LETTERS, split_caption, to_name
from untemplate.lists.page_profile import HEADINGS
from untemplate.lists.page_tree import TEXT, PageTree, Run
from untemplate.lists.scene import MIN_MOST, Column
from untemplate.page.dom import CROSSED_OUT_TAGS, split_name

__all__ = ["ListColumn"]

# Texts with more words are descriptions.
MIN_DESCRIPTION_WORDS = 12.0
# Levels of elements around a cell whose names count.
MAX_NAMING_LEVELS = 4

_CAPTION_TAGS = frozenset({"dt", "th", "label", *EMPHASIS_TAGS})
_CAPTION_WORDS = frozenset({"label", "caption", "term", "key", "heading", "legend", "lbl"})
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


class ListColumn:
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

    def without(self, records: Collection[int]) -> ListColumn:
        """Return the column without the cells of some records."""
        lines = [None if record in records else line for record, line in enumerate(self.lines)]
        column = ListColumn(self.number, self._tree, self._runs, lines, self.texts)
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
