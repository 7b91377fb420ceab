"""Static text, captions, and the texts before and after a node.

Static text is what a template writes on nearly every page: `Tel:`, `Add to basket`. A caption is the static text in
front of a value. Rules remember static texts as keys (`static_key`), since the same text elsewhere on the page may be
a value.

There are two ways to a caption, with the same result. Tables of nodes, of learning and of labeling, know all rows of
many pages and find all captions at once (`nearest_before` in `page/arrays.py`). Extraction needs the captions of a
few nodes of one page, so `CaptionFinder` walks its tree backward from these and numbers no other nodes. Which texts
are static is decided by each table, and differs: labeling excludes values that most pages share, learning does not.

XPath's `preceding` and `following` axes visit the whole page for each node. The walks here stop when they find what
they look for.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Generic, TypeVar

from lxml import etree

from untemplate.errors import PageError
from untemplate.native import core, is_native
from untemplate.page.dom import HIDDEN_TAGS, INLINE_TAGS, squeeze
from untemplate.page.page import Node, Page

__all__ = [
    "MAX_CAPTION_LENGTH",
    "MAX_STEPS",
    "CaptionFinder",
    "count_pages_with_texts",
    "find_caption_places",
    "find_captions",
    "join_texts",
    "may_be_caption",
    "min_static_pages",
    "nodes_after",
    "nodes_before",
    "static_key",
    "static_key_at",
    "static_text",
    "text_after",
    "text_before",
]

MAX_STEPS = 1000
"""A walk gives up after this many slots, so that hostile pages cost linear time."""

MAX_CAPTION_LENGTH = 80
"""Characters of a caption; longer texts are content."""

# Set on made-up infoboxes (`tests/learning/trials.py`) and not swept; SWDE is the same with and without.
# A place is one of captions if at least this share of the texts there also occurs there on other pages …
MIN_REPEATED_SHARE = 0.8
# … if it has at least this many texts on a page: the frequent values of a field are alone …
MIN_CAPTIONS_PER_PAGE = 2.0
# … and if at most this share of them is followed by another text of the place, as links of a menu are.
MAX_SUCCESSIVE_SHARE = 0.5

_Place = TypeVar("_Place", bound=Hashable)

# Where a text may be: the start of an element ("text"), or right after it ("tail").
_Slot = tuple[etree._Element, str]
# … with the text that is there.
_SlotText = tuple[etree._Element, str, str]


def count_pages_with_texts(pages: Iterable[Iterable[Node]]) -> Counter[tuple[str, str]]:
    """Count on how many pages each text appears at the same tag path, from the nodes of each page.

    Returns:
        The counts by (path, text). A text that appears twice on one page counts once.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for nodes in pages:
        counts.update({(node.path, node.text) for node in nodes})
    return counts


def static_text(pages: Iterable[Page], share: float = 0.8) -> frozenset[tuple[str, str]]:
    """Return the (path, text) pairs that appear on at least this share of the pages: the words of the template.

    Pages that cannot be read are ignored. The time is linear in the number of nodes.

    Args:
        pages: pages of one template; at least two of them must be readable to find anything
        share: the smallest share of pages, from 0 to 1

    Example:
        >>> from untemplate import Page, static_text
        >>> pages = [Page(html=f"<b>Tel:</b> {number}") for number in ("555-0100", "555-0199")]
        >>> static_text(pages)
        frozenset({('html/body/b/text()', 'Tel:')})
    """
    readable = list(_readable_nodes(pages))
    if len(readable) < 2:
        return frozenset()
    counts = count_pages_with_texts(readable)
    return frozenset(pair for pair, count in counts.items() if count >= share * len(readable))


def _readable_nodes(pages: Iterable[Page]) -> Iterator[list[Node]]:
    """Yield the nodes of each page that can be parsed."""
    for page in pages:
        try:
            yield page.nodes
        except PageError:
            continue


def min_static_pages(pages: int, share: float) -> float:
    """Return on how many of some pages a text must appear to be static: on this share of them, never on one alone."""
    return max(2.0, share * pages)


def find_caption_places(pages: Sequence[Sequence[tuple[_Place, str]]]) -> dict[_Place, frozenset[str]]:
    """Return the places whose texts are captions, with these texts: the first cells of the rows of a table.

    The rows of a table may be optional, so each caption is on some pages only. What they have in common is that
    nearly all texts at their place occur there on several pages, at most once on each, and that something else
    follows each of them.

    Args:
        pages: for each page, the places of its texts and the texts, in document order. A place is what texts of one
            kind have in common, such as a tag path.

    Example:
        >>> rows = ["Born", "1950", "Died", "2001"], ["Born", "1987", "Kin", "Ada"], ["Died", "1833", "Kin", "Bo"]
        >>> pages = [[(number % 2, text) for number, text in enumerate(texts)] for texts in rows]
        >>> sorted(find_caption_places(pages)[0])
        ['Born', 'Died', 'Kin']
    """
    places = _count_at_places(pages)
    captions: dict[_Place, set[str]] = {}
    repeated: Counter[_Place] = Counter()
    for (place, text), count in places.pages_with.items():
        if count > 1 and may_be_caption(text):
            repeated[place] += count
            captions.setdefault(place, set()).add(text)
    return {
        place: frozenset(texts)
        for place, texts in captions.items()
        if places.are_of_captions(place, repeated[place])
    }


@dataclass(frozen=True)
class _PlaceCounts(Generic[_Place]):
    """Counts of texts: pages with a text at a place; at a place all texts, pages, and texts that one more follows."""

    pages_with: Counter[tuple[_Place, str]]
    texts: Counter[_Place]
    pages: Counter[_Place]
    successive: Counter[_Place]

    def are_of_captions(self, place: _Place, repeated: int) -> bool:
        """Return True if a place of which this many texts are on several pages is one of captions."""
        texts = self.texts[place]
        if repeated < MIN_REPEATED_SHARE * texts or texts < MIN_CAPTIONS_PER_PAGE * self.pages[place]:
            return False
        return self.successive[place] <= MAX_SUCCESSIVE_SHARE * texts


def _count_at_places(pages: Sequence[Sequence[tuple[_Place, str]]]) -> _PlaceCounts[_Place]:
    counts = _PlaceCounts[_Place](Counter(), Counter(), Counter(), Counter())
    for texts in pages:
        places = [place for place, _ in texts]
        counts.pages_with.update(set(texts))
        counts.texts.update(places)
        counts.pages.update(set(places))
        counts.successive.update(place for place, following in pairwise(places) if place == following)
    return counts


def find_captions(pages: Sequence[Sequence[tuple[Node, bool]]]) -> set[tuple[str, str]]:
    """Return the path and text of captions that may be on some pages only, by how texts repeat at their place.

    A place is a path or, where captions and values share it, the elements there that come first in their parent.

    Args:
        pages: the text nodes of each page, each with True if its element is the first child of its parent.
    """
    by_path = [[((node.path, None), node.text) for node, _ in page] for page in pages]
    by_cell = [[((node.path, is_first), node.text) for node, is_first in page] for page in pages]
    captions: set[tuple[str, str]] = set()
    for (path, _), texts in (*find_caption_places(by_path).items(), *find_caption_places(by_cell).items()):
        captions |= {(path, text) for text in texts}
    return captions


def may_be_caption(text: str, max_length: int = MAX_CAPTION_LENGTH) -> bool:
    """Return True if a static text is short enough for a caption and contains a letter."""
    return len(text) <= max_length and any(map(str.isalpha, text))


def static_key(element: etree._Element, text: str) -> str:
    """Return the key of a static text inside this element: depth, tag and text."""
    depth = element.depth() if is_native(element) else sum(1 for _ in element.iterancestors())
    return f"{depth} {element.tag} {text}"


def static_key_at(path: str, text: str) -> str:
    """Return the key of a static text from the tag path of its node, the same as `static_key`."""
    tags = path.split("/")[:-1]
    return f"{len(tags) - 1} {tags[-1]} {text}"


class CaptionFinder:
    """Finds the captions of one page's nodes.

    It remembers what it found. If you ask in document order, it visits every text of the page once.

    Args:
        static: the static texts of the page's template, as `static_key` writes them

    Attributes:
        native: the same search of the native core; None without it
    """

    def __init__(self, static: frozenset[str]) -> None:
        self.static = static
        self._texts = _texts_of_keys(static)
        self._captions: dict[_Slot, str] = {}  # by the slot where a search started
        self.native = core.CaptionSearch(static, self._texts) if core else None

    def caption(self, node: Node) -> str:
        """Return the nearest static text before the node; empty if there is none."""
        if self.native and is_native(node.element):
            found: str = self.native.find(node.element, node.kind)
            return found
        first_slot: _Slot | None = None
        for element, kind, text in _nearest_texts_before(node):
            caption = self._captions.get((element, kind))
            if caption is None:
                first_slot = first_slot or (element, kind)
                caption = self._as_static(element, kind, squeeze(text))
            if caption is not None:
                break
        else:
            caption = ""
        if first_slot is not None:
            self._captions[first_slot] = caption
        return caption

    def is_static(self, node: Node) -> bool:
        """Return True if a node is a text of the template, as captions are."""
        # Most texts are none of the template, which saves computing their keys.
        return node.text in self._texts and node.is_text and static_key(node.parent, node.text) in self.static

    def _as_static(self, element: etree._Element, kind: str, text: str) -> str | None:
        """Return the text if it is static in this slot, else None."""
        if text not in self._texts:
            return None
        parent = element if kind == "text" else element.getparent()
        return text if static_key(parent, text) in self.static else None


@lru_cache(maxsize=1024)
def _texts_of_keys(static: frozenset[str]) -> frozenset[str]:
    """Return the texts of static keys. Most texts of a page are not among them, which saves computing their keys."""
    return frozenset(key.split(" ", 2)[2] for key in static)


def text_before(node: Node) -> str:
    """Return the nearest visible text before the node; empty if there is none."""
    return next((before.text for before in nodes_before(node)), "")


def text_after(node: Node) -> str:
    """Return the nearest visible text after the node's start; empty if there is none."""
    return next((after.text for after in nodes_after(node)), "")


def nodes_before(node: Node) -> Iterator[Node]:
    """Yield the visible text nodes before the node, the nearest first."""
    return (
        Node(element, kind, squeeze(text)) for element, kind, text in _nearest_texts_before(node, MAX_STEPS)
    )


def nodes_after(node: Node) -> Iterator[Node]:
    """Yield the visible text nodes after the node, the nearest first.

    For an attribute, these include the texts inside its element.
    """
    return (Node(element, kind, squeeze(text)) for element, kind, text in _texts_after(node, MAX_STEPS))


def join_texts(node: Node, count: int) -> str:
    """Return the text of a node and of the text nodes after it, so many in all, with the blanks that readers see.

    >>> page = Page("", "<p>10 <i>minutos</i>.<br>2 <b>tazas</b></p>")
    >>> join_texts(page.nodes[0], 5)
    '10 minutos. 2 tazas'
    """
    is_apart = not node.is_text or _slot_string(node.element, node.kind)[-1:].isspace()
    parts = [node.text]
    for element, kind in islice(_slots_after(node), MAX_STEPS):
        if len(parts) == count:
            break
        text = _slot_string(element, kind)
        is_apart = is_apart or _separates_words(element) or text[:1].isspace()
        if text and not text.isspace():
            parts.append(" " * is_apart + squeeze(text))
            is_apart = text[-1].isspace()
    return "".join(parts)


def _slot_string(element: etree._Element, kind: str) -> str:
    return (element.text if kind == "text" else element.tail) or ""


def _separates_words(element: etree._Element) -> bool:
    """Return True if a new line begins where an element starts or ends, as `visible_text` has it."""
    return _shows_content(element) and element.tag not in INLINE_TAGS


def _nearest_texts_before(node: Node, max_slots: int = sys.maxsize) -> Iterator[_SlotText]:
    """Yield the visible texts before a node, the nearest first, without blank ones; visits at most so many slots."""
    if is_native(node.element):
        texts: Iterator[_SlotText] = node.element.texts_before(node.kind, max_slots)
        return texts
    return _texts_in(islice(_slots_before(node), max_slots))


def _texts_after(node: Node, max_slots: int) -> Iterator[_SlotText]:
    """Yield the visible texts after a node, the nearest first, without blank ones; visits at most so many slots."""
    if is_native(node.element):
        texts: Iterator[_SlotText] = node.element.texts_after(node.kind, max_slots)
        return texts
    return _texts_in(islice(_slots_after(node), max_slots))


def _texts_in(slots: Iterable[_Slot]) -> Iterator[_SlotText]:
    """Yield the texts in these slots that are not blank."""
    for element, kind in slots:
        text = element.text if kind == "text" else element.tail
        if text and not text.isspace():
            yield element, kind, text


def _slots_before(node: Node) -> Iterator[_Slot]:
    """Yield the slots before a node where visible text may be, the nearest first."""
    element, kind = node.element, node.kind
    while True:
        if kind == "tail" and _shows_content(element):
            element, kind = (element[-1], "tail") if len(element) else (element, "text")
        elif (previous := element.getprevious()) is not None:
            element, kind = previous, "tail"
        else:
            element, kind = element.getparent(), "text"
            if element is None:
                return
        yield element, kind


def _slots_after(node: Node) -> Iterator[_Slot]:
    """Yield the slots after a node where visible text may be, the nearest first."""
    slot: _Slot | None
    if node.is_text:
        slot = _next_slot(node.element, node.kind)
    elif node.is_attribute:  # its element's text comes after it
        slot = _enter(node.element)
    else:
        slot = (node.element, "tail")
    while slot is not None:
        yield slot
        slot = _next_slot(*slot)


def _next_slot(element: etree._Element, kind: str) -> _Slot | None:
    """Return the slot after this one in document order; None at the end of the page."""
    if kind == "text":
        return _enter(element[0]) if len(element) else (element, "tail")
    following = element.getnext()
    if following is not None:
        return _enter(following)
    parent = element.getparent()
    return None if parent is None else (parent, "tail")


def _enter(element: etree._Element) -> _Slot:
    """Return the first slot at an element: the text inside it or, if that is hidden, the text after it."""
    return (element, "text") if _shows_content(element) else (element, "tail")


def _shows_content(element: etree._Element) -> bool:
    """Return True if text inside the element is visible: it is no comment and no script."""
    return isinstance(element.tag, str) and element.tag not in HIDDEN_TAGS
