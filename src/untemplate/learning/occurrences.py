"""Labels to places: where on a page a labelled value stands.

A value may stand in a whole node, span consecutive nodes, be part of a node, or be an attribute's value; and it
may stand in several places. All are candidates; the rule that generalises best decides among them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from urllib.parse import urljoin

from lxml import etree

from untemplate.labeling import Label
from untemplate.learning.sample_table import Table
from untemplate.page import nodes_at, squeeze
from untemplate.schema import Attribute

__all__ = ["MAX_PLACES", "Place", "closest_text", "find_elements", "find_places"]

# A value over more nodes than this is not looked for.
MAX_SPAN = 12
# A text that stands in more places is told apart by none of them; to look at all would take quadratic time.
MAX_PLACES = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A row at which a value starts, and how it stands there.

    `mode` is "whole", "span" (`nodes` consecutive text nodes), "element" (all text of an element), "part" (within
    the text) or "attribute".
    """

    row: int
    mode: str
    text: str
    start: int = 0  # of a part, where it starts in the node's text
    nodes: int = 1


def find_places(table: Table, page: int, label: Label, attribute: Attribute) -> list[Place]:
    """All places on a page where a labelled value stands."""
    if label.xpath is not None:
        return list(islice(_places_by_xpath(table, page, label), MAX_PLACES))
    assert label.value is not None
    value = squeeze(html.unescape(label.value))
    rows = range(table.starts[page], table.starts[page + 1])
    texts = [row for row in rows if table.rows[row].is_text]
    attributes = [row for row in rows if table.rows[row].is_attribute]
    url = table.pages[page].url
    linked = [
        Place(row, "attribute", value)
        for row in attributes
        if (text := table.rows[row].text) == value or _same_link(url, text, value)
    ]
    if linked and attribute.type in ("url", "image"):
        return linked
    whole = [Place(row, "whole", value) for row in texts if table.rows[row].text == value]
    spans = islice(_spans(table, texts, value), MAX_PLACES)
    return [*whole, *spans, *_parts(table, texts, value), *linked]


def find_elements(table: Table, page: int, label: Label) -> list[Place]:
    """The elements on a page, in a table that has them, all of whose text is a labelled value."""
    rows = (r for r in range(table.starts[page], table.starts[page + 1]) if table.rows[r].kind == "element")
    if label.xpath is not None:
        pinned = set(_elements_at(table.pages[page].tree, label.xpath))
        return [Place(r, "element", table.rows[r].text) for r in rows if table.rows[r].element in pinned]
    value = squeeze(html.unescape(label.value or ""))
    same = (Place(row, "element", value) for row in rows if table.rows[row].text == value)
    return list(islice(same, MAX_PLACES))


def closest_text(table: Table, page: int, value: str) -> str | None:
    """The text on the page that looks most like a value that is not there."""
    texts = {table.rows[row].text for row in range(table.starts[page], table.starts[page + 1])}
    likely = [text for text in texts if len(text) < 3 * len(value) + 20]
    return next(iter(get_close_matches(value, likely, n=1, cutoff=0.5)), None)


def _same_link(url: str, text: str, value: str) -> bool:
    if "/" not in value or text.rpartition("/")[2] != value.rpartition("/")[2]:
        return False
    try:
        return urljoin(url, text) == value
    except ValueError:
        return False


def _spans(table: Table, texts: Sequence[int], value: str) -> Iterator[Place]:
    """Runs of text rows that together are the value."""
    for index, row in enumerate(texts):
        joined = table.rows[row].text
        if not value.startswith(joined):
            continue
        for end in range(index + 1, min(index + MAX_SPAN, len(texts))):
            joined = f"{joined} {table.rows[texts[end]].text}"
            if joined == value:
                yield Place(row, "span", value, nodes=end - index + 1)
            if not value.startswith(joined):
                break


def _parts(table: Table, texts: Sequence[int], value: str) -> Iterator[Place]:
    """Rows whose text contains the value, not in the middle of a word."""
    start = r"(?<!\w)" if value[:1].isalnum() else ""
    end = r"(?!\w)" if value[-1:].isalnum() else ""
    pattern = re.compile(start + re.escape(value) + end)
    for row in texts:
        text = table.rows[row].text
        if value in text and value != text and (match := pattern.search(text)):
            yield Place(row, "part", value, match.start())


def _places_by_xpath(table: Table, page: int, label: Label) -> Iterator[Place]:
    for element, kind in nodes_at(table.pages[page].tree, label.xpath or ""):
        if kind == "element":
            yield from _element_place(table, page, element, label)
        else:
            yield from _text_place(table, page, element, kind, label)


def _elements_at(tree: etree._Element, xpath: str) -> Iterator[etree._Element]:
    return (element for element, kind in nodes_at(tree, xpath) if kind == "element")


def _element_place(table: Table, page: int, element: etree._Element, label: Label) -> Iterator[Place]:
    """A pinned element: its only text node, or its whole text."""
    inside = set(element.iter())
    rows = [
        row
        for row in range(table.starts[page], table.starts[page + 1])
        if table.rows[row].is_text and table.rows[row].parent in inside
    ]
    if not rows:
        return
    text = " ".join(table.rows[row].text for row in rows)
    value = squeeze(label.value) if label.value is not None else text
    if value != text:
        matching = [row for row in rows if value in table.rows[row].text]
        for row in matching[:1]:
            mode = "whole" if table.rows[row].text == value else "part"
            yield Place(row, mode, value, table.rows[row].text.index(value))
    elif len(rows) == 1:
        yield Place(rows[0], "whole", text)
    else:
        yield Place(rows[0], "span", text, nodes=len(rows))


def _text_place(table: Table, page: int, element: etree._Element, kind: str, label: Label) -> Iterator[Place]:
    """A pinned text node or attribute."""
    for row in range(table.starts[page], table.starts[page + 1]):
        node = table.rows[row]
        if node.element is element and node.kind == kind:
            value = node.text if label.value is None else squeeze(label.value)
            if node.is_attribute:
                yield Place(row, "attribute", value)
            elif value == node.text:
                yield Place(row, "whole", value)
            elif value in node.text:
                yield Place(row, "part", value, node.text.index(value))
