"""Text nodes of a set of pages as arrays: the table that all automatic labelling stands on.

Rows are the nodes of all readable pages, page after page, in document order. Whatever recurs (texts, tag paths,
class names) is kept once, and rows hold its number, so that work is done per distinct thing and not per node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from math import log

import numpy as np
from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling.nodes.surroundings import OUTSIDE, Headers, Surroundings
from untemplate.labeling.nodes.wholes import find_wholes
from untemplate.page import Node, Page
from untemplate.page.arrays import Bools, Floats, Ints, Numbered, count_distinct, group_rows
from untemplate.page.captions import may_be_caption, min_static_pages
from untemplate.page.class_words import split_name

__all__ = ["ELEMENT", "NodeTable"]

# A text on this share of the pages, at the same path, is the template's own: the threshold of "From One Tree to a
# Forest" for preceding texts.
STATIC_SHARE = 0.5
# So many different texts right after the same label are its values.
MIN_VARIANTS = 4
# Words of a node that are compared with the page's title.
MAX_WORDS = 40

# The kind of whole elements.
ELEMENT = "element"

# Texts inside these elements are no values of the page.
BARRED = ("/title/", "/option/", "/textarea/")


class NodeTable:
    """The text nodes of pages as columns, and besides them the kinds that are asked for: attributes such as `@src`,
    and `element`, which are whole elements that hold several texts. These come after all others of their page.
    """

    def __init__(self, pages: Iterable[Page], kinds: Collection[str] = ()) -> None:
        self.pages: list[Page] = []
        self.nodes: list[Node] = []
        self._texts: Numbered[str] = Numbered()
        self._paths: Numbered[str] = Numbered()
        self._surroundings: Numbered[Surroundings] = Numbered()
        self._headers: Numbered[str] = Numbered()
        self._counts: list[int] = []
        self._columns: list[tuple[int, int, int, int]] = []
        self._kinds = frozenset(kinds)
        self._spans: dict[int, tuple[int, int]] = {}
        for page in pages:
            self._add(page)
        columns = np.array(self._columns, np.int32).reshape(-1, 4)
        self._columns.clear()
        #: of each row, the number of its text, its tag path, its surroundings
        self.text, self.path, self.around, self._header = columns.T.copy()
        self.texts, self.paths = list(self._texts), list(self._paths)
        self.surroundings, self.headers = list(self._surroundings), list(self._headers)

    def includes(self, node: Node) -> bool:
        """Whether a node of a page is a row."""
        return node.is_text or node.kind in self._kinds

    def _add(self, page: Page) -> None:
        try:
            nodes = list(filter(self.includes, page.nodes))
        except PageError:
            return
        if ELEMENT in self._kinds:
            start = len(self.nodes)
            wholes = find_wholes(nodes)
            self._spans.update(
                (start + row, (start + first, start + last))
                for row, (_, first, last) in enumerate(wholes, len(nodes))
            )
            nodes += [node for node, _, _ in wholes]
        self.pages.append(page)
        self._counts.append(len(nodes))
        self.nodes += nodes
        known: dict[etree._Element | None, Surroundings] = {None: OUTSIDE}
        numbers: dict[etree._Element, tuple[int, int]] = {}
        headers = Headers()
        for node in nodes:
            parent = node.parent
            if parent not in numbers:
                header = headers.of(parent)
                numbers[parent] = (
                    self._surroundings[_surroundings(parent, known)],
                    self._headers[header] if header else -1,
                )
            self._columns.append((self._texts[node.text], self._paths[node.path], *numbers[parent]))

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def starts(self) -> Ints:
        """Where the rows of each page start; at the end, how many rows there are."""
        return np.concatenate([[0], np.cumsum(self._counts)]).astype(np.int32)

    @cached_property
    def page(self) -> Ints:
        """The page of each row."""
        return np.repeat(np.arange(len(self.pages), dtype=np.int32), self._counts)

    @cached_property
    def is_text(self) -> Bools:
        """Whether each row is a text node, no attribute and no whole element."""
        return self._ends_with("text()")

    def _ends_with(self, *tests: str) -> Bools:
        right = np.array([path.endswith(tests) for path in self.paths], np.bool_)
        return right[self.path] if len(self) else np.zeros(0, np.bool_)

    @cached_property
    def spans_nodes(self) -> Bools:
        """Whether each row is a whole element."""
        whole = np.zeros(len(self), np.bool_)
        whole[list(self._spans)] = True
        return whole

    def has_kind(self, kinds: Collection[str]) -> Bools:
        """Whether each row is of these kinds (`text()`, `@src` …); a whole element is one of texts."""
        right = self._ends_with(*kinds)
        return right | self.spans_nodes if "text()" in kinds else right

    @cached_property
    def first(self) -> Ints:
        """Of a whole element the row of its first text; of other rows the row itself."""
        return self._edges(0)

    @cached_property
    def last(self) -> Ints:
        """Of a whole element the row of its last text; of other rows the row itself."""
        return self._edges(1)

    def _edges(self, which: int) -> Ints:
        edges = np.arange(len(self), dtype=np.int32)
        edges[list(self._spans)] = [span[which] for span in self._spans.values()]
        return edges

    @cached_property
    def is_excluded(self) -> Bools:
        """Whether each row is where no value is looked for: the title element, the choices of a form."""
        barred = np.array([any(tag in path for tag in BARRED) for path in self.paths], np.bool_)
        return barred[self.path][self.first] if len(self) else np.zeros(0, np.bool_)

    def drop_spans_around(self, column: Bools) -> Bools:
        """The column, but for whole elements with a text of which it is true already: that is enough of them."""
        counts = np.concatenate([[0], np.cumsum(column & self.is_text)])
        return column & ~(self.spans_nodes & (counts[self.last + 1] > counts[self.first]))

    def join_spans(self, texts: Sequence[int]) -> list[int]:
        """Rows of texts in page order, those that are all of a whole element as that: a value that spans nodes."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for row, (first, last) in self._spans.items():
            spans.setdefault(first, []).append((last, row))
        given, joined, beyond = set(texts), list[int](), -1
        for text in texts:
            if text > beyond:
                fitting = [
                    span
                    for span in spans.get(text, ())
                    if all(row in given for row in range(text, span[0] + 1) if self.is_text[row])
                ]
                beyond, row = max(fitting, default=(text, text))
                joined.append(row)
        return joined

    # Redundancy, and the template's own words

    @cached_property
    def redundancy(self) -> Floats:
        """On which share of the pages each text stands: the paper's page redundancy, by text."""
        counts = count_distinct(self.text, self.page, len(self.texts))
        return (counts / max(1, len(self.pages))).astype(np.float32)

    @cached_property
    def is_static(self) -> Bools:
        """Whether each row is the template's own: its text stands at its path on most pages, or is a recurring
        `Label:`. Whole elements are as their first text is."""
        places = group_rows(self.path, self.text)
        counts = count_distinct(places, self.page)
        colon = np.array([text.endswith(":") for text in self.texts], np.bool_)
        if not len(self):
            return np.zeros(0, np.bool_)
        enough = counts[places] >= min_static_pages(len(self.pages), STATIC_SHARE)
        enough &= colon[self.text] | ~self._varies_after_caption(enough)
        static: Bools = self.is_text & (enough | ((counts[places] > 1) & colon[self.text]))
        return static[self.first]

    def _varies_after_caption(self, recurring: Bools) -> Bools:
        """Whether each row follows a recurring text, as others at the same path do that differ from it: most players
        of one team are a common value, not the template's own.
        """
        previous = np.concatenate([[-1], np.where(recurring, self.text, -1)[:-1]])
        previous[self.starts[:-1][self.starts[:-1] < len(self)]] = -1
        kind = group_rows(self.path, previous)
        distinct = count_distinct(kind, self.text)
        varies: Bools = (previous >= 0) & (distinct[kind] >= MIN_VARIANTS)
        return varies

    @cached_property
    def caption(self) -> Ints:
        """The number of the nearest static text before each row that can be a label; −1 if there is none."""
        return self._nearest_caption[0]

    @cached_property
    def caption_distance(self) -> Ints:
        """How many rows before each row that label stands."""
        return self._nearest_caption[1]

    @cached_property
    def _nearest_caption(self) -> tuple[Ints, Ints]:
        rows = np.arange(len(self))
        latest = np.maximum.accumulate(np.where(self._is_caption, rows, -1)) if len(self) else rows
        previous = np.concatenate([[-1], latest[:-1]]) if len(self) else rows
        previous = np.where(previous >= self.starts[self.page], previous, -1)
        label = np.where(previous >= 0, self.text[previous], -1).astype(np.int32)
        distance = np.where(previous >= 0, rows - previous, len(self)).astype(np.int32)
        return label[self.first], distance[self.first]

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
        """The number of the static label that a table or definition list gives each row; −1 if there is none."""
        found = self._header >= 0
        counts = count_distinct(self._header[found], self.page[found], len(self.headers) + 1)
        enough = counts >= min_static_pages(len(self.pages), STATIC_SHARE)
        return np.where(found & enough[self._header], self._header, -1).astype(np.int32)

    # Where a row stands on its page

    @cached_property
    def order(self) -> Floats:
        """How far down its page each row stands, from 0 to 1."""
        counts = np.bincount(self.page[~self.spans_nodes], minlength=len(self.pages))[self.page]
        return ((self.first - self.starts[self.page]) / np.maximum(1, counts)).astype(np.float32)

    def nodes_with_pages(self, rows: Ints) -> list[tuple[Page, Node]]:
        """Return the node of each row with its page."""
        return [(self.pages[self.page[row]], self.nodes[row]) for row in rows.tolist()]

    def page_share(self, rows: Ints) -> float:
        """Return the share of the pages that have any of these rows."""
        return len(np.unique(self.page[rows])) / max(1, len(self.pages))

    @cached_property
    def slot(self) -> Ints:
        """The tag path and the two nearest classes or ids of each row, as a number."""
        marks: Numbered[tuple[str, ...]] = Numbered()
        numbers = np.array([marks[around.marks] for around in self.surroundings], np.int32)
        return group_rows(self.path, numbers[self.around]) if len(self) else np.zeros(0, np.int32)

    @cached_property
    def in_title(self) -> Floats:
        """How well each row's text and its page's title agree in words that tell pages apart, from 0 to 1."""
        agreement = np.zeros(len(self), np.float32)
        titles = [frozenset(split_name(page.title)[:MAX_WORDS]) for page in self.pages]
        counts: dict[str, int] = {}
        for title in titles:
            for word in title:
                counts[word] = counts.get(word, 0) + 1
        rare = log(len(titles) + 1)
        weights = {word: rare - log(count) for word, count in counts.items()}
        words: dict[int, frozenset[str]] = {}
        for number, title in enumerate(titles):
            whole = sum(weights[word] for word in title)
            known: dict[int, float] = {}
            for row in range(self.starts[number], self.starts[number + 1]):
                text = int(self.text[row])
                if text not in known:
                    if text not in words:
                        words[text] = frozenset(split_name(self.texts[text][:400])[:MAX_WORDS])
                    shared = sum(weights[word] for word in words[text] & title)
                    own = sum(weights.get(word, rare) for word in words[text])
                    known[text] = 2 * shared / (own + whole) if shared else 0.0
                agreement[row] = known[text]
        return agreement


def _surroundings(
    element: etree._Element | None, known: dict[etree._Element | None, Surroundings]
) -> Surroundings:
    chain = []
    while element not in known:
        assert element is not None
        chain.append(element)
        element = element.getparent()
    found = known[element]
    for element in reversed(chain):
        found = known[element] = found.inside(element)
    return found
