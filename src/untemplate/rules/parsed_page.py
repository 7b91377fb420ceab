"""Pages parsed completely or only up to where the rules have found everything.

Parsing is most of what a page costs, and most pages end with much that no rule uses. A wrapper knows tags before
which its rules found everything on the pages they were learned from (`Wrapper.stops`), so parsing stops there. On
each page the rest is then checked: if it might change the result, NeedsCompletePage is raised and the complete
page is parsed.

The check is cheap. Names of elements, captions and other texts that a selector requires appear literally in the bytes
of a page, so searching the bytes shows what a selector cannot select.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from lxml import etree

from untemplate.page import HIDDEN_TAGS, Node, Page
from untemplate.page.captions import CaptionFinder, text_before
from untemplate.page.embedded_data import JSON_LD, META, MICRODATA, RDFA, EmbeddedData
from untemplate.page.locating import letters_and_digits
from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.rule import Selector

__all__ = [
    "NeedsCompletePage",
    "ParsedPage",
    "read_complete_page",
    "read_page_beginning",
    "read_page_until",
]

# Smaller pages are parsed completely: there is little to gain.
MIN_PARTIAL_BYTES = 8_000

# A character reference to a letter, a digit, a hyphen or an underscore. A word written with it is not found in the
# bytes, so a page that contains one is never judged by its bytes.
_REFERENCE = re.compile(
    rb"&(?:#(?:0*(?:4[5-9]|[5-9]\d|1[012]\d)(?!\d)|[xX]0*(?:2[dD]|[3-7][\da-fA-F])(?![\da-fA-F]))"
    rb"|lowbar|UnderBar|fjlig)"
)
# What the bytes of every page with such embedded data contain.
_MARKS = {JSON_LD: b"ld+json", META: b"<meta", MICRODATA: b"itemprop", RDFA: b"property"}

# Elements whose own text browsers do not show, scripts being on.
_UNSHOWN_TAGS = HIDDEN_TAGS | {"noscript"}


class NeedsCompletePage(Exception):
    """The unread rest of a page may change what the rules find."""


class ParsedPage:
    """The tree of a page or of its beginning, and what its bytes reveal about the rest."""

    def __init__(
        self,
        tree: etree._Element,
        html: bytes = b"",
        length: int = 0,
        end: etree._Element | None = None,
        embedded: EmbeddedData | None = None,
    ) -> None:
        """Describe a tree that was parsed from the first `length` bytes of a page.

        Args:
            tree: the root element.
            html: all bytes of the page; empty if they must not be searched.
            length: how many bytes were parsed. Only used with `end`.
            end: the comment at which parsing stopped; None if the complete page was parsed.
            embedded: the embedded data in the tree, if they are kept elsewhere, too.
        """
        self.tree = tree
        self._embedded = embedded or EmbeddedData(tree)
        self._html = html
        self._length = length
        self._end = end
        #: the elements to which the rest may add something
        self.open_elements = [] if end is None else list(end.iterancestors())
        self._last_text = None if end is None else _text_slot_before(end)

    @property
    def is_complete(self) -> bool:
        """True if all of the page was parsed."""
        return self._end is None

    def may_truncate(self, node: Node) -> bool:
        """Return True if the text of a node may continue in the unread rest."""
        return (node.element, node.kind) == self._last_text

    def rules_out(self, selector: Selector) -> bool:
        """Return True if the selector cannot select anything, because a word it requires is not in the bytes."""
        html = self._html
        is_missing = any(_lacks_words(html, feature, 0) for feature in selector.required_features)
        return is_missing and self._is_searchable

    def contains_all_matches(self, selector: Selector, captions: CaptionFinder) -> bool:
        """Return True if the selector can select nothing in the rest, and the rest cannot change what it selects.

        That is certain if one of its features, above everything it looks ahead to, neither appears in the rest nor
        matches an element that is still open.
        """
        if self._end is None:
            return True
        above = (f for f in selector.required_features if f.level > selector.lookahead_level)
        is_missing = any(not self._may_match_in_rest(feature, captions, self._end) for feature in above)
        return is_missing and _REFERENCE.search(self._html, self._length) is None

    def embedded_with(self, source: str) -> EmbeddedData:
        """Return the embedded data, in which this source is complete.

        Raises:
            NeedsCompletePage: the unread rest of the page may have more of that source.
        """
        mark = _MARKS.get(source, b"<script")
        if not self.is_complete and self._html.find(mark, self._length) >= 0:
            raise NeedsCompletePage
        return self._embedded

    def has_title_with(self, text: str) -> bool:
        """Return True if the page's title, as in a browser's tab, contains this text in letters and digits."""
        title = self.tree.find(".//title")
        wanted = letters_and_digits(text)
        return title is not None and bool(wanted) and wanted in letters_and_digits(title.text or "")

    def shows(self, text: str) -> bool:
        """Return True if a reader of the page can read this text, comparing letters and digits.

        Raises:
            NeedsCompletePage: the text is not in the part that was read.
        """
        if letters_and_digits(text) in self._shown_text:
            return True
        if not self.is_complete:
            raise NeedsCompletePage
        return False

    @cached_property
    def _is_searchable(self) -> bool:
        """True if words can be searched for in the bytes of the page."""
        return bool(self._html) and _REFERENCE.search(self._html) is None

    @cached_property
    def _shown_text(self) -> str:
        """The letters and digits of all text that browsers show."""
        text = "".join(_shown_texts(self.tree))
        return letters_and_digits("".join(text.split()))  # most signs are white space, and this is faster

    def _may_match_in_rest(self, feature: Feature, captions: CaptionFinder, end: etree._Element) -> bool:
        """Return True if a feature may match a node in the unread rest of the page, which begins at `end`."""
        if not _lacks_words(self._html, feature, self._length):
            return True
        if feature.is_structural:
            return any(feature.matches_element(element) for element in self.open_elements)
        element, kind = _text_slot_before(end)
        text = element.text if kind == "text" else element.tail
        if text and not text.isspace():
            return True
        first_unread = Node(end, "text", "")
        if feature.kind == CAPTION:
            return captions.caption(first_unread) in feature.values
        return feature.side == "left" and text_before(first_unread).endswith(feature.values)


def read_complete_page(page: Page) -> ParsedPage:
    """Parse all of a page.

    Raises:
        PageError: the page cannot be read.
    """
    return ParsedPage(page.tree, page.html if page.has_plain_letters else b"", embedded=page.embedded)


def read_page_beginning(page: Page, stops: Iterable[bytes]) -> ParsedPage | None:
    """Parse a page up to the first of these tags that occurs in it; None if parsing cannot stop there."""
    html = page.html
    if len(html) < MIN_PARTIAL_BYTES or not page.has_plain_letters:
        return None
    length = next((place for stop in stops if (place := html.find(stop)) > 0), 0)
    return read_page_until(page, length) if length else None


def read_page_until(page: Page, length: int) -> ParsedPage | None:
    """Parse the first bytes of a page with plain letters; None if parsing cannot stop there."""
    end = page.read(length)
    if end is None:
        return None
    return ParsedPage(end.getroottree().getroot(), page.html, length, end)


def _shown_texts(tree: etree._Element) -> Iterator[str]:
    """Yield the texts in the body of a page, without those of scripts and the like."""
    for body in tree.iterchildren("body"):
        for element in body.iter():
            tag = element.tag
            if element.text and isinstance(tag, str) and tag not in _UNSHOWN_TAGS:
                yield element.text
            if element.tail:
                yield element.tail


def _lacks_words(html: bytes, feature: Feature, start: int) -> bool:
    """Return True if none of a feature's words occurs in the bytes from `start` on."""
    return all(html.find(word, start) < 0 for word in feature.words)


def _text_slot_before(end: etree._Element) -> tuple[etree._Element, str]:
    """Return where the text right before a comment is stored: an element, and `text` or `tail`."""
    before = end.getprevious()
    return (end.getparent(), "text") if before is None else (before, "tail")
