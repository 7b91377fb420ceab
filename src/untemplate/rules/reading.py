"""What is read of a page: its beginning where that is enough, for most pages end with much that no rule looks at.

Parsing is most of what a page costs. A wrapper knows tags before which reading may stop, as its rules found all
they look for before them on the pages they were learnt from. On each page it is made sure that the rest cannot
change the outcome; where it might, Unread is raised and the whole page is read instead.

Names of elements, labels and other texts that a selector asks for stand in the bytes of a page as they are. So a
search of the bytes, which costs next to nothing, tells what a selector cannot select.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from untemplate.page import Node, Page
from untemplate.page.captions import CaptionFinder, text_before
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Selector

__all__ = ["Reading", "Unread", "read_beginning", "read_until", "read_whole"]

# Smaller pages are read whole: there is little to gain.
MIN_BYTES = 8_000

# A reference to a letter, a digit, a hyphen or an underscore: what is written with it is not found in the bytes.
_REFERENCE = re.compile(
    rb"&(?:#(?:0*(?:4[5-9]|[5-9]\d|1[012]\d)(?!\d)|[xX]0*(?:2[dD]|[3-7][\da-fA-F])(?![\da-fA-F]))"
    rb"|lowbar|UnderBar|fjlig)"
)


class Unread(Exception):
    """What was not read of a page may matter."""


class Reading:
    """The tree of a page or of its beginning, and what its bytes tell of the rest."""

    def __init__(
        self, tree: etree._Element, html: bytes = b"", length: int = 0, end: etree._Element | None = None
    ) -> None:
        """`end` is the comment that stands where reading stopped, after `length` bytes; None: all was read.

        Without `html` the bytes tell nothing.
        """
        self.tree = tree
        self._html = html
        self._length = length
        self._end = end
        #: the elements to which the rest may add something
        self.open = [] if end is None else list(end.iterancestors())
        self._cut = None if end is None else _slot_before(end)

    @property
    def is_whole(self) -> bool:
        return self._end is None

    def cuts(self, node: Node) -> bool:
        """Whether the text of a node may go on in the rest."""
        return (node.element, node.kind) == self._cut

    def lacks(self, selector: Selector) -> bool:
        """Whether nothing of the page can be selected, as a word that the selector asks for is missing."""
        html = self._html
        missing = any(not any(word in html for word in feature.words) for feature in selector.asking)
        return missing and bool(html) and _REFERENCE.search(html) is None

    def has_all(self, selector: Selector, labels: CaptionFinder) -> bool:
        """Whether all that a selector may select was read, and what it looks at around it.

        So it is if something it asks for, above what it looks at, neither stands in the rest nor is still open.
        """
        if self._end is None:
            return True
        after = Node(self._end, "text", "")
        asking = (feature for feature in selector.asking if feature.level > selector.ahead)
        missing = any(not self._may_hold(feature, labels, after) for feature in asking)
        return missing and _REFERENCE.search(self._html, self._length) is None

    def _may_hold(self, feature: Feature, labels: CaptionFinder, after: Node) -> bool:
        """Whether a feature may hold of something in the rest, which begins with the node `after`."""
        if any(self._html.find(word, self._length) >= 0 for word in feature.words):
            return True
        if feature.is_structural:
            return any(feature.holds_of(element) for element in self.open)
        element, where = _slot_before(after.element)
        text = element.text if where == "text" else element.tail
        if text and not text.isspace():
            return True
        if feature.kind == "label":
            return labels.caption(after) in feature.values
        return feature.side == "left" and text_before(after).endswith(feature.values)


def read_whole(page: Page) -> Reading:
    """All of the page. Raises PageError when it cannot be read."""
    return Reading(page.tree, page.html if page.has_plain_letters else b"")


def read_beginning(page: Page, stops: Iterable[bytes]) -> Reading | None:
    """The page up to where the first of these tags first stands; None if reading cannot stop there."""
    html = page.html
    if len(html) < MIN_BYTES or not page.has_plain_letters:
        return None
    length = next((place for stop in stops if (place := html.find(stop)) > 0), 0)
    return read_until(page, length) if length else None


def read_until(page: Page, length: int) -> Reading | None:
    """The first bytes of a page with plain letters; None if reading cannot stop there."""
    end = page.read(length)
    return None if end is None else Reading(end.getroottree().getroot(), page.html, length, end)


def _slot_before(end: etree._Element) -> tuple[etree._Element, str]:
    """Where the text right before a comment stands."""
    before = end.getprevious()
    return (end.getparent(), "text") if before is None else (before, "tail")
