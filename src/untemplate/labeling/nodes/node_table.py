"""The nodes of a site's pages as a table of NumPy columns: what all automatic labeling works on.

Rows are the nodes of all readable pages, page after page, in document order. Whatever recurs (texts, tag paths, class
names) is kept once, and a column contains its number, so that work is done per distinct thing and not per node.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import log

import numpy as np
from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling.nodes.node_features import HeaderFinder, SurroundingsFinder, find_spans
from untemplate.layout import Boxes, Layout
from untemplate.page import Node, Page
from untemplate.page.arrays import Bools, Floats, Ints, Numbered, count_distinct, group_rows, nearest_before
from untemplate.page.captions import may_be_caption, min_static_pages
from untemplate.page.dom import CROSSED_OUT_TAGS, split_name
from untemplate.value_types import is_one_typed

__all__ = ["ELEMENT", "NodeTable", "Screen", "pause_collector"]

# A text on this share of the pages, at the same path, belongs to the template: the threshold of "From One Tree to a
# Forest" for preceding texts.
STATIC_SHARE = 0.5
# If at least this many different texts follow the same caption, they are its values.
MIN_VARIANTS = 4
# Texts at one place exclude each other if at most this share of its pages has two of them, and if the most frequent
# one is on at most this share of them. On fields of SWDE such as the doors of a car, 0.98 gives the same labels.
MAX_SHARED_SHARE, MAX_COMMON_SHARE = 0.02, 0.95
# Words of a text that are compared with the page's title, and characters in which they are looked for.
MAX_TITLE_WORDS, MAX_TITLE_LENGTH = 40, 400

ELEMENT = "element"
"""The kind of rows that are elements with several texts."""

# Texts inside these elements are no values of the page.
EXCLUDED = ("/title/", "/option/", "/textarea/")


@contextmanager
def pause_collector() -> Iterator[None]:
    """Stop Python's garbage collector inside a `with` block.

    It would visit all nodes of all pages again and again while a table grows, and find nothing to free.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class NodeTable:
    """The text nodes of pages as columns, and rows of other kinds on request.

    Args:
        pages: Pages of one site; those that cannot be parsed are ignored.
        kinds: Other kinds of nodes to include: attributes such as `@src`, and `ELEMENT` for elements with several
            texts. Elements come after all other rows of their page.
    """

    def __init__(self, pages: Iterable[Page], kinds: Collection[str] = ()) -> None:
        self.pages: list[Page] = []
        self.nodes: list[Node] = []
        self._texts: Numbered[str] = Numbered()
        self._paths: Numbered[str] = Numbered()
        self._surroundings = SurroundingsFinder()
        self._headers: Numbered[str] = Numbered()
        self._counts: list[int] = []
        self._columns: list[tuple[int, int, int, int]] = []
        self._kinds = frozenset(kinds)
        self._spans: dict[int, tuple[int, int]] = {}
        for page in pages:
            self._add_page(page)
        columns = np.array(self._columns, np.int32).reshape(-1, 4)
        self._columns.clear()
        #: Of each row, the number of its text, its tag path and its surroundings.
        self.text, self.path, self.around, self._header = columns.T.copy()
        self.texts, self.paths = list(self._texts), list(self._paths)
        self.surroundings, self.headers = self._surroundings.distinct, list(self._headers)

    def includes(self, node: Node) -> bool:
        """Return True if a node of a page is a row of the table."""
        return node.is_text or node.kind in self._kinds

    def _add_page(self, page: Page) -> None:
        try:
            nodes = list(filter(self.includes, page.nodes))
        except PageError:
            return
        if ELEMENT in self._kinds:
            start = len(self.nodes)
            for element, first, last in find_spans(nodes):
                self._spans[start + len(nodes)] = (start + first, start + last)
                nodes.append(element)
        self.pages.append(page)
        self._counts.append(len(nodes))
        self.nodes += nodes
        self._surroundings.start_page()
        numbers: dict[etree._Element, tuple[int, int]] = {}
        headers = HeaderFinder()
        for node in nodes:
            parent = node.parent
            if parent not in numbers:
                header = headers.header(parent)
                numbers[parent] = (
                    self._surroundings.number_of(parent),
                    self._headers[header] if header else -1,
                )
            self._columns.append((self._texts[node.text], self._paths[node.path], *numbers[parent]))

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def starts(self) -> Ints:
        """The first row of each page; the last number is the number of rows."""
        return np.concatenate([[0], np.cumsum(self._counts)]).astype(np.int32)

    @cached_property
    def page(self) -> Ints:
        """The number of each row's page."""
        return np.repeat(np.arange(len(self.pages), dtype=np.int32), self._counts)

    def nodes_with_pages(self, rows: Ints) -> list[tuple[Page, Node]]:
        """Return the page and the node of each of these rows."""
        return [(self.pages[self.page[row]], self.nodes[row]) for row in rows.tolist()]

    def page_share(self, rows: Ints) -> float:
        """Return the share of the pages that have any of these rows."""
        return len(np.unique(self.page[rows])) / max(1, len(self.pages))

    # Kinds of rows

    @cached_property
    def is_text(self) -> Bools:
        """Whether each row is a text node, and no attribute or element."""
        return self._ends_with("text()")

    def _ends_with(self, *kinds: str) -> Bools:
        matches = np.array([path.endswith(kinds) for path in self.paths], np.bool_)
        return matches[self.path] if len(self) else np.zeros(0, np.bool_)

    @cached_property
    def spans_nodes(self) -> Bools:
        """Whether each row is an element with several texts."""
        spans = np.zeros(len(self), np.bool_)
        spans[list(self._spans)] = True
        return spans

    def has_kind(self, kinds: Collection[str]) -> Bools:
        """Whether each row has one of these kinds (`text()`, `@src` …). Elements with several texts are texts."""
        matches = self._ends_with(*kinds)
        return matches | self.spans_nodes if "text()" in kinds else matches

    @cached_property
    def first(self) -> Ints:
        """The first text row inside of an element; for other rows the row itself."""
        return self._edges(0)

    @cached_property
    def last(self) -> Ints:
        """The last text row inside of an element; for other rows the row itself."""
        return self._edges(1)

    def rows_inside(self, row: int) -> slice:
        """Return the rows from the first to the last text of an element; of other rows the row itself."""
        return slice(self.first[row], self.last[row] + 1)

    def _edges(self, which: int) -> Ints:
        edges = np.arange(len(self), dtype=np.int32)
        edges[list(self._spans)] = [span[which] for span in self._spans.values()]
        return edges

    @cached_property
    def is_excluded(self) -> Bools:
        """Whether each row is where no value is looked for: the title element, the options of a form."""
        excluded = np.array([any(tag in path for tag in EXCLUDED) for path in self.paths], np.bool_)
        return excluded[self.path][self.first] if len(self) else np.zeros(0, np.bool_)

    @cached_property
    def is_crossed_out(self) -> Bools:
        """Whether each row is inside of an element such as `del`: a former price, not the price."""
        tags = tuple(f"/{tag}/" for tag in CROSSED_OUT_TAGS)
        crossed_out = np.array([any(tag in f"{path}/" for tag in tags) for path in self.paths], np.bool_)
        return crossed_out[self.path] if len(self) else np.zeros(0, np.bool_)

    def drop_spans_around(self, column: Bools) -> Bools:
        """Return the column without elements that contain a text for which it is true: the text alone is enough."""
        counts = np.concatenate([[0], np.cumsum(column & self.is_text)])
        return column & ~(self.spans_nodes & (counts[self.last + 1] > counts[self.first]))

    def join_spans(self, texts: Sequence[int]) -> list[int]:
        """Replace text rows that are all texts of an element by the row of that element.

        Args:
            texts: Text rows in page order, such as the leaves that a model labeled.
        """
        spans_by_first: dict[int, list[tuple[int, int]]] = {}
        for row, (first, last) in self._spans.items():
            spans_by_first.setdefault(first, []).append((last, row))
        included = set(texts)
        joined: list[int] = []
        last = -1
        for text in texts:
            if text <= last:  # is part of the element before it
                continue
            spans = spans_by_first.get(text, ())
            complete = [span for span in spans if included.issuperset(self._texts_between(text, span[0]))]
            last, row = max(complete, default=(text, text))
            joined.append(row)
        return joined

    def _texts_between(self, first: int, last: int) -> list[int]:
        return [row for row in range(first, last + 1) if self.is_text[row]]

    # Static text and captions

    @cached_property
    def redundancy(self) -> Floats:
        """The share of the pages that contain each text: the paper's page redundancy, by text."""
        counts = count_distinct(self.text, self.page, len(self.texts))
        return (counts / max(1, len(self.pages))).astype(np.float32)

    @cached_property
    def is_static(self) -> Bools:
        """Whether each row belongs to the template: its text is at its path on most pages, or is a recurring `Tel:`.

        Elements with several texts are static if their opening text is.
        """
        if not len(self):
            return np.zeros(0, np.bool_)
        text_at_path = group_rows(self.path, self.text)
        page_counts = count_distinct(text_at_path, self.page)[text_at_path]
        has_colon = np.array([text.endswith(":") for text in self.texts], np.bool_)[self.text]
        is_frequent = page_counts >= min_static_pages(len(self.pages), STATIC_SHARE)
        is_frequent &= has_colon | ~self._varies_after_caption(is_frequent)
        static: Bools = self.is_text & (is_frequent | ((page_counts > 1) & has_colon))
        return static[self._opening]

    @cached_property
    def _opening(self) -> Ints:
        """The first text row inside of an element that is more than a sign; for other rows the row itself.

        A currency sign before an amount is part of the value, unlike `Tel:` before a number.
        """
        is_word = self.is_text & ~self._is_sign
        rows = np.arange(len(self), dtype=np.int32)
        next_word = np.minimum.accumulate(np.where(is_word, rows, len(self))[::-1])[::-1]
        first_word = next_word[self.first]
        return np.where(self.spans_nodes & (first_word <= self.last), first_word, self.first).astype(np.int32)

    @cached_property
    def _is_sign(self) -> Bools:
        """Whether each row is a currency, or has neither letters nor digits."""
        return np.array([_is_sign(text) for text in self.texts], np.bool_)[self.text]

    def _varies_after_caption(self, recurring: Bools) -> Bools:
        """Whether each row follows a recurring text that is followed by different texts at the same path.

        If most players are of one team, the team is a common value and no static text. A currency is no such caption:
        all prices of a page follow one, and those of a list in the footer are static.
        """
        previous = np.concatenate([[-1], np.where(recurring & ~self._is_sign, self.text, -1)[:-1]])
        previous[self.starts[:-1][self.starts[:-1] < len(self)]] = -1
        kind = group_rows(self.path, previous)
        distinct = count_distinct(kind, self.text)
        varies: Bools = (previous >= 0) & (distinct[kind] >= MIN_VARIANTS)
        return varies

    @cached_property
    def is_template(self) -> Bools:
        """Whether each row is static and no value: no other text takes its place on other pages.

        `Yes` and `No`, `New` and `Used` are values although each of them is on many pages. They can be captions as
        well, so `is_static` includes them.
        """
        return self.is_static & ~self._takes_turns[self._opening]

    @cached_property
    def _takes_turns(self) -> Bools:
        """Whether each row is at a place where every page has one of several texts.

        A place is a slot, or a slot after the same static text. A text with a colon at its end is no value.
        """
        has_colon = np.array([text.endswith(":") for text in self.texts], np.bool_)
        after_static, has_static = self._text_before(self.is_static)
        takes_turns = self._excludes_others(self.slot)
        takes_turns |= has_static & self._excludes_others(group_rows(self.slot, after_static))
        return takes_turns & self.is_text & ~has_colon[self.text] if len(self) else takes_turns

    def _excludes_others(self, place: Ints) -> Bools:
        """Whether each row's place has different texts, but nearly never two of them on one page."""
        pages = count_distinct(place, self.page)
        texts = group_rows(place, self.text)
        pages_of_texts = count_distinct(texts, self.page)
        place_of_texts = place[np.unique(texts, return_index=True)[1]]
        total = np.bincount(place_of_texts, weights=pages_of_texts, minlength=len(pages))
        most = np.zeros(len(pages))
        np.maximum.at(most, place_of_texts, pages_of_texts)
        excludes: Bools = (total <= (1 + MAX_SHARED_SHARE) * pages) & (most <= MAX_COMMON_SHARE * pages)
        return excludes[place]

    def _text_before(self, marked: Bools) -> tuple[Ints, Bools]:
        """Return the number of the text right before each text, and whether that is a marked row of the same page."""
        rows = np.flatnonzero(self.is_text)
        previous = np.full(len(self), -1, np.int32)
        is_marked = marked[rows[:-1]] & (self.page[rows[:-1]] == self.page[rows[1:]])
        previous[rows[1:]] = np.where(is_marked, self.text[rows[:-1]], -1)
        return previous, previous >= 0

    @cached_property
    def caption(self) -> Ints:
        """The number of the nearest static text before each row that can be a caption; −1 if there is none."""
        return self._nearest_caption[0]

    @cached_property
    def caption_distance(self) -> Ints:
        """How many rows each row is away from its caption."""
        return self._nearest_caption[1]

    @cached_property
    def _nearest_caption(self) -> tuple[Ints, Ints]:
        rows = np.arange(len(self))
        previous = nearest_before(self._is_caption, self.page)
        caption = np.where(previous >= 0, self.text[previous], -1).astype(np.int32)
        distance = np.where(previous >= 0, rows - previous, len(self)).astype(np.int32)
        return caption[self.first], distance[self.first]

    @cached_property
    def following(self) -> Ints:
        """The number of the text right after each row if that is static; −1 if it is not."""
        following = np.full(len(self), -1, np.int32)
        same = self._is_caption[1:] & (self.page[1:] == self.page[:-1])
        following[:-1][same] = self.text[1:][same]
        return following[self.last]

    @cached_property
    def _is_caption(self) -> Bools:
        short = np.array([may_be_caption(text) for text in self.texts], np.bool_)
        return self.is_static & self.is_text & short[self.text] if len(self) else np.zeros(0, np.bool_)

    @cached_property
    def header(self) -> Ints:
        """The number of the static header that a table or definition list gives each row; −1 if there is none."""
        has_header = self._header >= 0
        counts = count_distinct(self._header[has_header], self.page[has_header], len(self.headers) + 1)
        is_static = counts >= min_static_pages(len(self.pages), STATIC_SHARE)
        return np.where(has_header & is_static[self._header], self._header, -1).astype(np.int32)

    # Where a row is on its page

    @cached_property
    def order(self) -> Floats:
        """How far down its page each row is, from 0 to 1."""
        counts = np.bincount(self.page[~self.spans_nodes], minlength=len(self.pages))[self.page]
        return ((self.first - self.starts[self.page]) / np.maximum(1, counts)).astype(np.float32)

    @cached_property
    def slot(self) -> Ints:
        """The tag path and the two nearest classes or ids of each row, as a number.

        Paths are compared without `ins`, which some pages put around the same value: a reduced price is the price.
        """
        if not len(self):
            return np.zeros(0, np.int32)
        marks: Numbered[tuple[str, ...]] = Numbered()
        numbers = np.array([marks[around.marks] for around in self.surroundings], np.int32)
        paths: Numbered[str] = Numbered()
        path_numbers = np.array([paths[path.replace("/ins/", "/")] for path in self.paths], np.int32)
        return group_rows(path_numbers[self.path], numbers[self.around])

    @cached_property
    def in_title(self) -> Floats:
        """How well each row's text and its page's title agree, from 0 to 1. Words of few titles count more."""
        titles = [frozenset(split_name(page.title)[:MAX_TITLE_WORDS]) for page in self.pages]
        weights = _TitleWeights(titles)
        words: dict[int, frozenset[str]] = {}  # of each text, over all pages
        agreement = np.zeros(len(self), np.float32)
        for page, title in enumerate(titles):
            rows = slice(self.starts[page], self.starts[page + 1])
            texts, place = np.unique(self.text[rows], return_inverse=True)
            on_page = np.zeros(len(texts), np.float32)
            for number, text in enumerate(texts.tolist()):
                if text not in words:
                    words[text] = frozenset(split_name(self.texts[text][:MAX_TITLE_LENGTH])[:MAX_TITLE_WORDS])
                on_page[number] = weights.agreement(words[text], title)
            agreement[rows] = on_page[place]
        return agreement


class _TitleWeights:
    """Weights of words: the fewer titles contain a word, the better it distinguishes pages."""

    def __init__(self, titles: Sequence[frozenset[str]]) -> None:
        counts: Counter[str] = Counter()
        for title in titles:
            counts.update(title)
        self._unknown = log(len(titles) + 1)
        self._weights = {word: self._unknown - log(count) for word, count in counts.items()}

    def agreement(self, words: frozenset[str], title: frozenset[str]) -> float:
        """Return the weight of the words that a text and a title share, relative to all their words, from 0 to 1."""
        shared = self._sum(words & title)
        return 2 * shared / (self._sum(words) + self._sum(title)) if shared else 0.0

    def _sum(self, words: frozenset[str]) -> float:
        return sum(self._weights.get(word, self._unknown) for word in words)


# Of a page that cannot be laid out: as if all its text were shown alike.
UNKNOWN_LAYOUT = (0, 0, 0, 0, 1, 0, 400)


def _is_sign(text: str) -> bool:
    """Return True if a text is a currency, or has neither letters nor digits."""
    return not any(map(str.isalnum, text)) or is_one_typed(f"{text} 1", "price")


class Screen:
    """The layout of a table's pages as columns: where each row is on screen, and how large.

    Elements with several texts have the layout of their first text.
    """

    def __init__(self, table: NodeTable, layout: Layout) -> None:
        parts = [_layout_columns(table, page, boxes) for page, boxes in enumerate(layout.boxes(table.pages))]
        columns = np.concatenate(parts) if parts else np.zeros((0, len(UNKNOWN_LAYOUT)), np.float32)
        #: x, y, width, height in CSS pixels; zeros if the row is not shown.
        self.boxes: Floats = columns[:, :4]
        self.is_shown: Bools = columns[:, 4] > 0
        #: Logarithm of the font size, relative to the font that most of the page's text has.
        self.size: Floats = columns[:, 5]
        #: 400 is normal, 700 is bold.
        self.weight: Floats = columns[:, 6]


def _layout_columns(table: NodeTable, page: int, boxes: Boxes) -> Floats:
    start, stop = int(table.starts[page]), int(table.starts[page + 1])
    if boxes.reason is not None or start == stop:
        return np.tile(np.array(UNKNOWN_LAYOUT, np.float32), (stop - start, 1))
    picked = np.flatnonzero([table.includes(node) for node in boxes.page.nodes])
    elements = boxes.node_elements[picked]
    size = np.maximum(boxes.font_size[elements], 1)
    columns = np.column_stack(
        [
            boxes.nodes[picked],
            boxes.visible[elements],
            np.log(size / np.median(size)),
            boxes.font_weight[elements],
        ]
    )
    return columns[table.first[start:stop] - start].astype(np.float32)
