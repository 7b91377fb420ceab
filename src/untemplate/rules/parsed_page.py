"""A page as rules read it: its tree, its embedded data, and what its readers see."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from lxml import etree

from untemplate.native import is_native
from untemplate.native.shown_text import UNSHOWN_TAGS
from untemplate.page import Page
from untemplate.page.embedded_data import EmbeddedData
from untemplate.page.locating import letters_and_digits

__all__ = ["ParsedPage", "parse_page"]


class ParsedPage:
    """A parsed page.

    Args:
        tree: the root element.
        page: the page itself, which keeps its embedded data; None for a part of a page.
    """

    def __init__(self, tree: etree._Element, page: Page | None = None) -> None:
        self.tree = tree
        self._page = page

    @cached_property
    def embedded(self) -> EmbeddedData:
        """The embedded data."""
        return self._page.embedded if self._page else EmbeddedData(self.tree)

    def has_title_with(self, text: str) -> bool:
        """Return True if the page's title, as in a browser's tab, contains this text in letters and digits."""
        title = next(self.tree.iter("title"), None)
        wanted = letters_and_digits(text)
        return title is not None and bool(wanted) and wanted in letters_and_digits(title.text or "")

    def shows(self, text: str) -> bool:
        """Return True if a reader of the page can read this text, comparing letters and digits."""
        return letters_and_digits(text) in self._shown_text

    @cached_property
    def _shown_text(self) -> str:
        """The letters and digits of all text that browsers show."""
        return "".join(map(_shown_letters, self.tree.iterchildren("body")))


def parse_page(page: Page) -> ParsedPage:
    """Parse a page for extraction.

    Raises:
        PageError: the page cannot be read.
    """
    return ParsedPage(page.root, page)


def _shown_letters(body: etree._Element) -> str:
    """Return the letters and digits of the texts in a body, without those of scripts and the like."""
    if is_native(body):
        letters: str = body.shown_letters()
        return letters
    return letters_and_digits("".join(_shown_texts(body)))


def _shown_texts(body: etree._Element) -> Iterator[str]:
    for element in body.iter():
        tag = element.tag
        if element.text and isinstance(tag, str) and tag not in UNSHOWN_TAGS:
            yield element.text
        if element.tail:
            yield element.tail
