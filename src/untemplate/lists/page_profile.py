"""Facts about each row of a page's tree: its text, its names, whether and where people see it.

Every fact is a column with one value per row. So all groups of a page are measured at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import copy
from functools import lru_cache
from itertools import chain

import numpy as np
from lxml import etree

from untemplate.errors import PageError
from untemplate.layout import Boxes, Layout
from untemplate.lists.hiding_names import hides_on_wide_screens, is_for_screen_readers, shows_on_wide_screens
from untemplate.lists.page_hints import PageHints
from untemplate.lists.page_tree import TEXT, PageTree, Run, Shapes, build_page_tree
from untemplate.page import Page
from untemplate.page.arrays import Bools, Doubles, Longs
from untemplate.page.dom import split_name

__all__ = ["HEADINGS", "ITEM_TAGS", "MAX_ROWS", "RESULT_WORDS", "PageProfile", "profile_page"]

# Words in tags, classes and ids of parts that are not the page's main content.
ASIDE_WORDS = frozenset(
    {
        *("nav", "navbar", "navigation", "menu", "submenu", "foot", "footer", "header", "head"),
        *("sidebar", "aside", "breadcrumb", "breadcrumbs", "filter", "filters", "facet", "facets"),
        *("refine", "refinement", "related", "recommended", "recommendations", "promo", "pagination"),
        *("pager", "paging", "social", "share", "login", "cookie", "modal", "popup", "dropdown"),
        *("tabs", "toolbar", "autocomplete", "suggestions", "suggest", "banner", "sitemap"),
        *("copyright", "form", "select", "language", "languages", "sort"),
    }
)
# Words of parts that are.
MAIN_WORDS = frozenset(
    {
        *("main", "result", "results", "search", "searchresults", "content", "list", "listing"),
        *("listings", "item", "items", "product", "products", "article", "articles", "post", "posts"),
        *("record", "records", "entry", "entries", "card", "cards", "feed", "stream", "catalog"),
        *("grid", "hits"),
    }
)
# Those of them that pages about one thing rarely use.
RESULT_WORDS = frozenset({"result", "results", "searchresults", "listing", "listings", "hits"})
# Words of parts that scripts and style sheets, which we do not read, show only at times or never.
CONCEALED_WORDS = frozenset(
    {
        *("hidden", "hide", "invisible", "offscreen", "visually", "screenreader", "sr", "accessibility"),
        *("assistive", "accessible", "tooltip", "popup", "popover", "modal", "overlay", "dropdown"),
        *("collapsed", "expandable", "hover"),
    }
)
# Words of the contents of tabs, and of the open one. The handles of tabs have the same names, but these tags.
TAB_WORDS = frozenset({"tab", "tabpanel"})
OPEN_TAB_WORDS = frozenset({"active", "selected", "current"})
_TAB_HANDLES = frozenset({"li", "a", "button", "span", "dt"})
# Longer parts are not only for screen readers, unless a class says exactly that.
MAX_SPOKEN_CHARS = 200
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ITEM_TAGS = frozenset({"li", "tr", "article", "dt"})
_NAVIGATION_TAGS = frozenset({"nav", "footer"})
# A `header` inside of these is that of a part of the page.
_PARTS = frozenset({"article", "main", "section", "li", "tr"})
# Time and memory are linear in the rows of a page. This many need about 10 s and 0.4 GB; real pages have a few
# thousand.
MAX_ROWS = 300_000
TOO_LARGE = "page shows {:,} elements and texts: records are looked for among {:,} at most"
# Paths of texts that are not in the tree: those that only browsers without scripts show, and those of the head.
_UNSHOWN_PATH = re.compile(r"/(head|noscript)[/\[]")
# What makes classes of one kind different: numbers, and variants by the naming rules of BEM, `result--product`.
_VARIANT = re.compile(r"\d+|--\S*")
_64_BITS = (1 << 64) - 1
# This class clips what is too wide. It does not hide anything.
_CLIPPING_CLASS = re.compile(r"overflow-?hidden", re.IGNORECASE)


class PageProfile:
    """Columns with facts about each row of a page's tree.

    Sums such as `chars` include the descendants of a row.

    Args:
        tree: the rows of the page.
        boxes: the layout of the same page.
    """

    def __init__(self, tree: PageTree, boxes: Boxes) -> None:
        self.tree, self.shapes = tree, Shapes(tree)
        self._profile_texts()
        self._profile_names()
        self.repeats = np.minimum(1.0, tree.total(self._twin_chars()) / np.maximum(self.chars, 1))
        self._profile_boxes(boxes)
        self.hints = PageHints(boxes.page, tree, self.words, self.chars)

    def _profile_texts(self) -> None:
        tree, is_text = self.tree, self.tree.has_tag({TEXT})
        lengths = np.array(list(map(len, tree.texts)), np.float64)
        codes = [hash(text) & _64_BITS for text in tree.texts]  # 0 for elements, whose text is empty
        self.chars = tree.total(lengths)
        #: the characters before each row, and a running sum of text hashes: its differences are equal for equal texts
        self.chars_before = np.concatenate([[0.0], np.cumsum(lengths)])
        self.codes_before = np.concatenate([[np.uint64(0)], np.cumsum(np.array(codes, np.uint64))])
        self.all_chars = max(float(lengths.sum()), 1.0)
        self.texts = tree.total(is_text.astype(np.float64))
        self.in_link = self._is_inside(tree.has_tag({"a"}))
        self.link_chars = tree.total(lengths * self.in_link)
        self.headings = tree.total(tree.has_tag(HEADINGS).astype(np.float64))

    def _profile_names(self) -> None:
        tree = self.tree
        #: the words in the tag, class, id and role of each row; many rows have the same ones
        numbers: dict[frozenset[str], int] = {}
        rows = zip(tree.elements, tree.tags, strict=True)
        named = [_name_words(element) if tag != TEXT else frozenset[str]() for element, tag in rows]
        self._word_sets = np.array([numbers.setdefault(words, len(numbers)) for words in named], np.int64)
        self._different_words = list(numbers)
        self.words = named
        class_names = list(map(_base_classes, tree.classes))
        #: a number per class of each row, row after row, equal for `post-1` and `post-2`; 0 for rows without one
        self.class_ids = _number_values(chain([""], chain.from_iterable(class_names)))[1:]
        self.class_starts = np.concatenate([[0], np.cumsum(list(map(len, class_names)))])
        #: a number per tag and set of classes, equal for rows that have the same; 0 for rows without classes
        keys = zip(tree.tags, class_names, strict=True)
        looks = (" ".join((tag, *sorted({*names}))) if any(names) else "" for tag, names in keys)
        self.look_ids = _number_values(chain([""], looks))[1:]
        # A part with most of the text, or with the `main` element, is the main content, whatever its name.
        has_main = tree.total(tree.has_tag({"main"}).astype(np.float64)) > 0
        is_aside = self._has_words(ASIDE_WORDS) & (self.chars < self.all_chars / 2) & ~has_main
        self.aside = self._is_inside(is_aside)
        self.own_main = self._has_words(MAIN_WORDS).astype(np.float64)
        self.main = self._is_inside(self.own_main > 0)
        self.near_aside = self._nearest_nonzero(self.own_main - is_aside) < 0
        #: 1 for rows inside of elements for navigation and of the page's header, whatever their classes are
        is_page_header = tree.has_tag({"header"}) & (tree.depth(tree.has_tag(_PARTS)) == 0)
        self.in_navigation = self._is_inside(tree.has_tag(_NAVIGATION_TAGS) | is_page_header)
        #: how many of a row and its ancestors have a name that says "hidden" or the like
        self.concealed = tree.depth(self._has_words(CONCEALED_WORDS) & ~self._has_showing_class())

    def _profile_boxes(self, boxes: Boxes) -> None:
        tree = self.tree
        elements = self._element_numbers(boxes)
        self.boxes = boxes.elements[elements].astype(np.float64)
        self.boxes[tree.has_tag({TEXT})] = boxes.nodes[_text_node_numbers(boxes)]
        self.font_size, self.font_weight = boxes.font_size[elements], boxes.font_weight[elements]
        #: whether the layout shows a row and no closed tab contains it; `shown`: and no class hides it by its name
        self.displayed: Bools = boxes.visible[elements] & (tree.depth(self._is_closed_tab()) == 0)
        self._hiding_classes = tree.depth(self._has_hiding_class())
        self.shown: Bools = self.displayed & (self._hiding_classes == 0)
        right, bottom = (self.boxes[:, axis] + self.boxes[:, axis + 2] for axis in (0, 1))
        self.height = max(float(bottom.max()), 1.0)
        self.area = max(float(right.max()), 1.0) * self.height

    def revealed(self) -> PageProfile:
        """Return a copy in which every row counts as shown."""
        revealed = copy(self)
        revealed.shown = np.ones_like(self.shown)
        return revealed

    def unfolded(self, runs: Sequence[Run]) -> PageProfile:
        """Return a copy in which these records count as shown if some are, as after a click on "Show more".

        What a class hides inside of a record stays hidden.
        """
        shown = self.shown[[run[0] for run in runs]]
        if shown.all() or not shown.any():
            return self
        unfolded = copy(self)
        unfolded.shown = self.shown.copy()
        for number in np.flatnonzero(~shown).tolist():
            first, end = runs[number][0], int(self.tree.end[runs[number][-1]])
            is_hidden_inside = self._hiding_classes[first:end] > self._hiding_classes[first]
            unfolded.shown[first:end] = self.displayed[first:end] & ~is_hidden_inside
        return unfolded

    def find_single_record(self) -> int | None:
        """Return the row of a record that is alone on its page; None if there is none.

        Nothing repeats on such a page. We select the longest visible list item, table row or article with
        several texts inside a part whose name says that it contains results.
        """
        is_item = self.tree.has_tag(ITEM_TAGS) & (self.texts > 1)
        in_results = self._is_inside(self._has_words(RESULT_WORDS)) > 0
        rows = np.flatnonzero(is_item & in_results & (self.aside == 0) & self.shown)
        return max(rows.tolist(), key=lambda row: self.chars[row], default=None)

    def _is_inside(self, marked: Bools) -> Doubles:
        """Return 1 for rows that are marked or have a marked ancestor, else 0."""
        inside: Doubles = (self.tree.depth(marked) > 0).astype(np.float64)
        return inside

    def _nearest_nonzero(self, column: Doubles) -> Doubles:
        """Return the column's value in the nearest of each row and its ancestors where it is not 0."""
        nearest: list[float] = []
        for value, parent in zip(column.tolist(), self.tree.parent.tolist(), strict=True):
            inherited = nearest[parent] if parent >= 0 else 0.0
            nearest.append(value or inherited)
        return np.array(nearest)

    def _twin_chars(self) -> Doubles:
        """Count the characters of each row's children that have several texts and the shape of a sibling."""
        counts = np.zeros(len(self.tree))
        for parent, children in self.tree.children.items():
            if parent >= 0 and len(children) > 1:
                counts[parent] = sum(self.chars[twins].sum() for twins in self._twins(children))
        return counts

    def _twins(self, siblings: list[int]) -> list[list[int]]:
        """Return the sets of siblings with the same shape and several texts."""
        by_shape: dict[int, list[int]] = {}
        for row in siblings:
            if self.texts[row] > 1:
                by_shape.setdefault(self.shapes.codes[row], []).append(row)
        return [rows for rows in by_shape.values() if len(rows) > 1]

    def _has_words(self, vocabulary: frozenset[str]) -> Bools:
        has_words = [not words.isdisjoint(vocabulary) for words in self._different_words]
        return np.array(has_words, np.bool_)[self._word_sets]

    def _has_showing_class(self) -> Bools:
        """Return which rows have a class that shows them where there is room."""
        return np.array(list(map(shows_on_wide_screens, self.tree.classes)), np.bool_)

    def _has_hiding_class(self) -> Bools:
        """Return which rows have a class by which style sheets hide them."""
        classes = self.tree.classes
        hidden = np.array(list(map(hides_on_wide_screens, classes)), np.bool_)
        for row in np.flatnonzero(list(map(is_for_screen_readers, classes))).tolist():
            is_named = hidden[row] or self.chars[row] <= MAX_SPOKEN_CHARS
            hidden[row] = is_named and not self._is_spoken_instead(row)
        return hidden

    def _is_spoken_instead(self, row: int) -> bool:
        """Return True if a text for screen readers replaces a sibling in pieces, such as `$` and `5` for `$5.00`."""
        siblings = self.tree.children[int(self.tree.parent[row])]
        pieces = (other for other in siblings if self.tree.elements[other].get("aria-hidden") == "true")
        return any(self.chars[other] > 0 and self.tree.tags[other] != TEXT for other in pieces)

    def _is_closed_tab(self) -> Bools:
        """Return which rows are the contents of a tab while exactly one sibling of the same name is open."""
        closed = np.zeros(len(self.tree), np.bool_)
        for rows in self._tabs().values():
            not_open = [row for row in rows if self.words[row].isdisjoint(OPEN_TAB_WORDS)]
            if len(not_open) == len(rows) - 1:
                closed[not_open] = True
        return closed

    def _tabs(self) -> dict[tuple[int, str], list[int]]:
        """Group the contents of tabs by their parent and by each class or role that says "tab".

        The handles on which people click have the same names. They are recognized by their tags.
        """
        tabs: dict[tuple[int, str], list[int]] = {}
        for row, (element, words) in enumerate(zip(self.tree.elements, self.words, strict=True)):
            if words.isdisjoint(TAB_WORDS) or element.tag in _TAB_HANDLES:
                continue
            for name in f"{element.get('class', '')} {element.get('role', '')}".split():
                if not TAB_WORDS.isdisjoint(split_name(name)):
                    tabs.setdefault((int(self.tree.parent[row]), name), []).append(row)
        return tabs

    def _element_numbers(self, boxes: Boxes) -> Longs:
        """Return the number of each row's element in the layout; a text has that of its parent."""
        return np.array([boxes.numbers[element] for element in self.tree.elements], np.int64)


def profile_page(page: Page, layout: Layout) -> PageProfile:
    """Return the profile of a page.

    Raises:
        PageError: the page cannot be parsed, shows nothing, or shows more than MAX_ROWS elements and texts.
    """
    tree = build_page_tree(page)
    if not len(tree):
        raise PageError("page shows nothing")
    if len(tree) > MAX_ROWS:
        raise PageError(TOO_LARGE.format(len(tree), MAX_ROWS))
    return PageProfile(tree, layout.boxes([page])[0])


def _text_node_numbers(boxes: Boxes) -> list[int]:
    """Return the numbers of the page's nodes that are text rows of the tree, in order."""
    nodes = enumerate(boxes.page.nodes)
    return [number for number, node in nodes if node.is_text and not _UNSHOWN_PATH.search(node.path)]


def _number_values(values: Iterable[str]) -> Longs:
    """Return a number per value, equal for equal values."""
    ids: dict[str, int] = {}
    return np.array([ids.setdefault(value, len(ids)) for value in values], np.int64)


@lru_cache(maxsize=10_000)
def _base_classes(names: str) -> list[str]:
    """Return the classes in an attribute without what distinguishes variants; one empty class for none."""
    return _VARIANT.sub("", names).split() or [""]


def _name_words(element: etree._Element) -> frozenset[str]:
    """Return the words in an element's tag, class, id and role, in lower case."""
    names = (element.tag, element.get("class"), element.get("id"), element.get("role"))
    return frozenset[str]().union(*(_words_of_name(name) for name in names if name))


@lru_cache(maxsize=10_000)
def _words_of_name(name: str) -> frozenset[str]:
    words = split_name(_CLIPPING_CLASS.sub("", name))
    return frozenset(word for word in words if not word.isdigit())
