"""What every peer needs: pages as text, and where on a page a value stands. Imports nothing of untemplate."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

__all__ = ["Example", "clean", "decode", "find_value"]

_HIDDEN = frozenset({"head", "noscript", "script", "style", "template", "title"})


@dataclass(frozen=True)
class Example:
    """A labelled page: its HTML, and per attribute its true values."""

    html: str
    values: dict[str, list[str]]


def decode(path: Path) -> str:
    """SWDE pages are stored as UTF-8; a few bytes are not."""
    return path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")


def clean(text: str) -> str:
    """Entities decoded, white space squeezed: how values are compared."""
    return " ".join(html.unescape(text).split())


def find_value(tree: etree._Element, values: Sequence[str]) -> tuple[etree._Element, int] | None:
    """The first visible place of a value: the element, and which of its texts is the value."""
    wanted = {clean(value) for value in values}
    for element in tree.iter(etree.Element):
        if element.tag in _HIDDEN or any(above.tag in _HIDDEN for above in element.iterancestors()):
            continue
        for number, text in enumerate(_texts(element), 1):
            if clean(text) in wanted:
                return element, number
    return None


def _texts(element: etree._Element) -> Iterator[str]:
    """As XPath's text() counts them."""
    yield from element.xpath("text()")
