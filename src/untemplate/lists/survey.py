"""Survey: what is known about each row of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy

import numpy as np
import numpy.typing as npt
from lxml import etree

from untemplate.errors import PageError
from untemplate.layout import Boxes, Layout
from untemplate.lists.shapes import Shapes
from untemplate.lists.tree import TEXT, Floats, Ints, Tree, read_tree
from untemplate.page import Page

__all__ = ["ITEMS", "MAX_ROWS", "Survey", "survey_page"]

# What words in tags, classes and ids say of what is inside.
ASIDE = frozenset(
    {
        *("nav", "navbar", "navigation", "menu", "submenu", "foot", "footer", "header", "head"),
        *("sidebar", "aside", "breadcrumb", "breadcrumbs", "filter", "filters", "facet", "facets"),
        *("refine", "refinement", "related", "recommended", "recommendations", "promo", "pagination"),
        *("pager", "paging", "social", "share", "login", "cookie", "modal", "popup", "dropdown"),
        *("tabs", "toolbar", "autocomplete", "suggestions", "suggest", "banner", "sitemap"),
        *("copyright", "form", "select", "language", "languages", "sort"),
    }
)
MAIN = frozenset(
    {
        *("main", "result", "results", "search", "searchresults", "content", "list", "listing"),
        *("listings", "item", "items", "product", "products", "article", "articles", "post", "posts"),
        *("record", "records", "entry", "entries", "card", "cards", "feed", "stream", "catalog"),
        *("grid", "hits"),
    }
)
# What scripts and style sheets that we do not read show at times only, or never.
CONCEALED = frozenset(
    {
        *("hidden", "hide", "invisible", "offscreen", "visually", "screenreader", "sr", "accessibility"),
        *("assistive", "accessible", "tooltip", "popup", "popover", "modal", "overlay", "dropdown"),
        *("collapsed", "expandable", "hover"),
    }
)
# What the contents of a tab are called, and those of the open one; and the handles of tabs, which are called so too.
TABS = frozenset({"tab", "tabpanel"})
OPEN = frozenset({"active", "selected", "current"})
_HANDLES = frozenset({"li", "a", "button", "span", "dt"})
# Classes by which the style sheets of Bootstrap, Tailwind, Foundation, Bulma, Angular, Magento, WordPress, Drupal and
# HTML5 Boilerplate hide an element, or keep it for screen readers.
UNSEEN = frozenset(
    {
        *("hidden", "hide", "d-none", "is-hidden", "ng-hide", "no-display", "nodisplay", "display-none"),
        *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "show-for-sr"),
        *("element-invisible", "element-hidden", "invisible"),
    }
)
# Classes by which Bootstrap and Tailwind show an element again on screens of some size.
_ON_SCREENS = re.compile(r"(?<!\S)(d-(sm|md|lg|xl|xxl)-|(sm|md|lg|xl|2xl):)(block|inline|flex|grid|table)")
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ITEMS = frozenset({"li", "tr", "article", "dt"})
# Time and memory are linear in what a page shows: so much takes some 10 s and 0.4 GB. Real pages have a few thousand.
MAX_ROWS = 300_000
TOO_LARGE = "page shows {:,} elements and texts: records are looked for among {:,} at most"
_BITS = (1 << 64) - 1
# A class that cuts off what is too wide, and hides nothing.
_CLIPPED = re.compile(r"overflow-?hidden", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


class Survey:
    """What is known about each row of a page's tree, as columns."""

    def __init__(self, tree: Tree, shapes: Shapes, boxes: Boxes) -> None:
        self.tree, self.shapes = tree, shapes
        chars = np.array([len(item) if isinstance(item, str) else 0 for item in tree.items], np.float64)
        #: the letters before each row, and a sum that is equal for equal texts
        self.before = np.concatenate([[0.0], np.cumsum(chars)])
        self.text_chars, self.chars = chars, tree.total(chars)
        codes = [hash(item) & _BITS if isinstance(item, str) else 0 for item in tree.items]
        self.codes_before = np.concatenate([[np.uint64(0)], np.cumsum(np.array(codes, np.uint64))])
        self.texts = tree.total(_is(tree, {TEXT}))
        self.all_chars = max(float(chars.sum()), 1.0)
        self.in_link = self._inside(_is(tree, {"a"}) > 0)
        self.link_chars = tree.total(chars * self.in_link)
        self.headings = tree.total(_is(tree, HEADINGS))
        #: the words in the tag, class, id and role of each row
        self.words = words = [frozenset(_words(item)) for item in tree.items]
        small = self.chars < self.all_chars / 2
        own_aside = np.array([not own.isdisjoint(ASIDE) for own in words]) & small
        self.aside = self._inside(own_aside)
        self.own_main = np.array([not own.isdisjoint(MAIN) for own in words], np.float64)
        self.main = self._inside(self.own_main > 0)
        self.near_aside = self._nearest(self.own_main - own_aside) < 0
        self.classes = _classes(tree)
        self.repeats = np.minimum(1.0, tree.total(self._twins()) / np.maximum(self.chars, 1))
        at_times = self._at_times()
        #: in how many elements that are named so each row stands, itself counted
        self.concealed = tree.depth(np.array([not own.isdisjoint(CONCEALED) for own in words]) & ~at_times)
        elements = self._element_numbers(boxes)
        self.boxes = boxes.elements[elements].astype(np.float64)
        self.boxes[_is(tree, {TEXT}) > 0] = boxes.nodes[_text_nodes(boxes)]
        self.font_size, self.font_weight = boxes.font_size[elements], boxes.font_weight[elements]
        #: what is there to see; of that what no class hides, by its name
        self.displayed: npt.NDArray[np.bool_] = boxes.visible[elements] & (tree.depth(self._closed()) == 0)
        self.shown: npt.NDArray[np.bool_] = self.displayed & (tree.depth(self._unseen() & ~at_times) == 0)
        right, bottom = (self.boxes[:, axis] + self.boxes[:, axis + 2] for axis in (0, 1))
        self.height = max(float(bottom.max()), 1.0)
        self.area = max(float(right.max()), 1.0) * self.height

    def revealed(self) -> Survey:
        """The same as if all of the page were shown."""
        revealed = copy(self)
        revealed.shown = np.ones_like(self.shown)
        return revealed

    def find_alone(self) -> int | None:
        """The row of a record that is the only one on its page: an item with several texts among what is named so."""
        rows = [
            row
            for row, tag in enumerate(self.tree.tags)
            if tag in ITEMS
            and self.texts[row] > 1
            and self.main[row]
            and not self.aside[row]
            and self.shown[row]
        ]
        return max(rows, key=lambda row: self.chars[row], default=None)

    def _inside(self, marked: npt.NDArray[np.bool_]) -> Floats:
        """Which rows are marked or stand in one that is."""
        inside: Floats = (self.tree.depth(marked) > 0).astype(np.float64)
        return inside

    def _nearest(self, named: Floats) -> Floats:
        """Of each row the value of the nearest one around it, or of itself, that is not 0."""
        found: list[float] = []
        for own, parent in zip(named.tolist(), self.tree.parent.tolist(), strict=True):
            found.append(own or (found[parent] if parent >= 0 else 0.0))
        return np.array(found)

    def _twins(self) -> Floats:
        """The letters of each element in children that have several texts and the same shape as another."""
        found = np.zeros(len(self.tree))
        for parent, children in self.tree.children.items():
            if parent >= 0 and len(children) > 1:
                by_shape: dict[int, list[int]] = {}
                for child in children:
                    if self.texts[child] > 1:
                        by_shape.setdefault(self.shapes.codes[child], []).append(child)
                found[parent] = sum(self.chars[twins].sum() for twins in by_shape.values() if len(twins) > 1)
        return found

    def _at_times(self) -> npt.NDArray[np.bool_]:
        """Which rows have a class that shows them where there is room for it."""
        classes = ("" if isinstance(item, str) else item.get("class", "") for item in self.tree.items)
        return np.array([bool(_ON_SCREENS.search(names)) for names in classes])

    def _unseen(self) -> npt.NDArray[np.bool_]:
        """Which rows have a class by which style sheets hide them."""
        items = self.tree.items
        classes = (() if isinstance(item, str) else item.get("class", "").lower().split() for item in items)
        return np.array([not UNSEEN.isdisjoint(names) for names in classes])

    def _closed(self) -> npt.NDArray[np.bool_]:
        """Which rows are the contents of a tab while one beside them, that is called the same, is open."""
        tree, words = self.tree, self.words
        closed = np.zeros(len(tree), np.bool_)
        tabs: dict[tuple[int, str], list[int]] = {}
        for row, (item, tag) in enumerate(zip(tree.items, tree.tags, strict=True)):
            if not isinstance(item, str) and not words[row].isdisjoint(TABS) and tag not in _HANDLES:
                names = (item.get("class", "") + " " + item.get("role", "")).split()
                for name in (name for name in names if not TABS.isdisjoint(_split(name))):
                    tabs.setdefault((int(tree.parent[row]), name), []).append(row)
        for rows in tabs.values():
            others = [row for row in rows if words[row].isdisjoint(OPEN)]
            if len(others) == len(rows) - 1:
                closed[others] = True
        return closed

    def _element_numbers(self, boxes: Boxes) -> Ints:
        """Which box is that of each row; of texts that of their element."""
        numbers, rows = boxes.numbers, np.zeros(len(self.tree), np.int64)
        for row, (item, parent) in enumerate(zip(self.tree.items, self.tree.parent.tolist(), strict=True)):
            rows[row] = rows[parent] if isinstance(item, str) else numbers[item]
        return rows


def survey_page(page: Page, layout: Layout) -> Survey:
    """The survey of a page. Raises PageError when the page cannot be read, shows nothing or too much."""
    tree = read_tree(page)
    if not len(tree):
        raise PageError("page shows nothing")
    if len(tree) > MAX_ROWS:
        raise PageError(TOO_LARGE.format(len(tree), MAX_ROWS))
    return Survey(tree, Shapes(tree), layout.boxes([page])[0])


def _text_nodes(boxes: Boxes) -> list[int]:
    """The numbers of the nodes that are texts of the tree, in order."""
    nodes = enumerate(boxes.page.nodes)
    return [number for number, node in nodes if node.is_text and "/head/" not in node.path]


def _classes(tree: Tree) -> Ints:
    """A number for each different class attribute."""
    ids: dict[str, int] = {}
    names = ("" if isinstance(item, str) else item.get("class", "") for item in tree.items)
    return np.array([ids.setdefault(name, len(ids)) for name in names], np.int64)


def _is(tree: Tree, tags: frozenset[str] | set[str]) -> Floats:
    return np.array([tag in tags for tag in tree.tags], np.float64)


def _words(item: etree._Element | str) -> Iterator[str]:
    """The words in an element's tag, class, id and role, in small letters."""
    if not isinstance(item, str):
        for text in (item.tag, item.get("class"), item.get("id"), item.get("role")):
            yield from _split(_CLIPPED.sub("", text or ""))


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]
