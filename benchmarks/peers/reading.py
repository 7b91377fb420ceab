"""What every peer needs: pages as text, and where on a page a value stands. Imports nothing of untemplate."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import lxml.html
from lxml import etree

__all__ = ["Example", "Extract", "Place", "choose_places", "clean", "decode", "find_places"]

_HIDDEN = frozenset({"head", "noscript", "script", "style", "template", "title"})
# More places than this of one value are navigation and lists.
_MAX_PLACES = 20

Extract = Callable[[str], dict[str, str | None]]
"""HTML to the text of each attribute"""


@dataclass(frozen=True)
class Example:
    """A page: its HTML, and per attribute its true values."""

    html: str
    values: dict[str, list[str]]


@dataclass(frozen=True)
class Place:
    """An element by its absolute XPath, and which of its texts is meant, from 1."""

    xpath: str
    number: int

    @property
    def text_xpath(self) -> str:
        return f"{self.xpath}/text()[{self.number}]"


def decode(path: Path) -> str:
    """SWDE pages are stored as UTF-8; a few bytes are not."""
    return path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")


def clean(text: str) -> str:
    """Entities decoded, white space squeezed: how values are compared."""
    return " ".join(html.unescape(text).split())


def find_places(tree: etree._Element, values: Sequence[str]) -> Iterator[Place]:
    """The visible places of a value, in document order."""
    wanted = {clean(value) for value in values}
    for element in tree.iter(etree.Element):
        for number, text in enumerate(element.xpath("text()"), 1):
            if clean(text) in wanted and not _is_hidden(element):
                yield Place(element.getroottree().getpath(element), number)


def choose_places(examples: Sequence[Example], tested: Sequence[Example]) -> list[dict[str, Place]]:
    """For each labeled page, per attribute the place of its value that holds on most tested pages.

    Generous: a person sees which of several places is meant, and so would not choose one that holds nowhere;
    but no person sees the tested pages.
    """
    candidates = [_candidates(example) for example in examples]
    places = {(name, place) for found in candidates for name, own in found.items() for place in own}
    hits: Counter[tuple[str, Place]] = Counter()
    compiled = {place: etree.XPath(place.text_xpath) for _, place in places}
    for example in tested:
        tree = lxml.html.document_fromstring(example.html)
        texts = {place: clean("".join(xpath(tree)[:1])) for place, xpath in compiled.items()}
        hits.update((name, place) for name, place in places if texts[place] in example.values.get(name, ()))

    def best(name: str, own: Sequence[Place]) -> Place:
        return max(own, key=lambda place: hits[name, place])

    return [{name: best(name, own) for name, own in found.items() if own} for found in candidates]


def _candidates(example: Example) -> dict[str, list[Place]]:
    tree = lxml.html.document_fromstring(example.html)
    return {name: list(find_places(tree, values))[:_MAX_PLACES] for name, values in example.values.items()}


def _is_hidden(element: etree._Element) -> bool:
    return element.tag in _HIDDEN or next(element.iterancestors(*_HIDDEN), None) is not None
