"""Microdata and RDFa: data that a page marks in its own tags, read as objects in the form of JSON-LD.

Only what vocabularies such as schema.org need is read: types, properties, and items inside items. Prefixes, languages
and `itemref` are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from untemplate.page.dom import squeeze

__all__ = ["read_microdata", "read_rdfa"]

# Marked elements of a page that are read.
MAX_MARKED = 20_000
# Longer texts are not values.
MAX_TEXT = 20_000

# Elements whose value is in an attribute.
_VALUE_ATTRIBUTE = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("data", "meter"), "value"),
    "meta": "content",
    "object": "data",
    "time": "datetime",
}


@dataclass(frozen=True)
class _Syntax:
    """The attributes of a way to mark data: what begins an item, its type, and the name of a property."""

    scope: str
    type: str
    property_: str


_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop")
_RDFA = _Syntax("typeof", "typeof", "property")


def read_microdata(tree: etree._Element) -> list[dict[str, Any]]:
    """Return the top items of a page's microdata.

    >>> from lxml import etree
    >>> html = '<p itemscope itemtype="http://schema.org/Book"><b itemprop="name">Emma</b></p>'
    >>> read_microdata(etree.HTML(html))
    [{'@type': ['http://schema.org/Book'], 'name': ['Emma']}]
    """
    return _read_items(tree, _MICRODATA)


def read_rdfa(tree: etree._Element) -> list[dict[str, Any]]:
    """Return the top items of a page's RDFa."""
    return _read_items(tree, _RDFA)


def _read_items(tree: etree._Element, syntax: _Syntax) -> list[dict[str, Any]]:
    """Return the items that are not inside another one, in document order."""
    items: dict[etree._Element, dict[str, Any]] = {}
    tops: list[dict[str, Any]] = []
    marked = tree.xpath(f".//*[@{syntax.scope} or @{syntax.property_}]")
    for element in marked[:MAX_MARKED]:
        owner = next((items[above] for above in element.iterancestors() if above in items), None)
        if element.get(syntax.scope) is not None:
            item: dict[str, Any] = {"@type": (element.get(syntax.type) or "").split()}
            items[element] = item
            if owner is None:
                tops.append(item)
        if owner is not None:
            value = items[element] if element in items else _value_of(element)
            for name in _names_of(element, syntax):
                owner.setdefault(name, []).append(value)
    return tops


def _names_of(element: etree._Element, syntax: _Syntax) -> Iterator[str]:
    """Yield the properties that an element has, without the address or the prefix of the vocabulary."""
    for name in (element.get(syntax.property_) or "").split():
        short = name.rstrip("/#").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
        if short and not short.startswith("@"):
            yield short


def _value_of(element: etree._Element) -> str:
    """Return the value of a property: an attribute such as `content` or `href`, or the text of the element.

    The text of an element with others inside is its HTML: blocks and line breaks in it may separate values.
    """
    attribute = _VALUE_ATTRIBUTE.get(element.tag, "content")
    if (value := element.get("content") or element.get(attribute)) is not None:
        return squeeze(value)
    if not len(element):
        return squeeze(element.text or "")
    return str(etree.tostring(element, encoding="unicode", method="html", with_tail=False))[:MAX_TEXT]
