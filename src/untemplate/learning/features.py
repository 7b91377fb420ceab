"""Which features a labelled node has: the paper's missing page, as the design fills it.

Values that look generated are kept out: those seen on one page of the sample only, or, where the sample is too
small to tell, those with long numbers or the looks of a hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from untemplate.learning.sample_table import Table
from untemplate.page.captions import MAX_CAPTION_LENGTH
from untemplate.rules.feature import Feature, element_values

__all__ = ["inside_feature", "label_feature", "names", "node_features", "tag_path"]

# Ancestors further up than this say nothing about one node.
MAX_LEVEL = 8
# From this many pages on, a value seen on one of them only is taken for generated.
ENOUGH_PAGES = 3
# What names an element.
NAMING = frozenset({"class", "token", "id", "@itemprop", "@property", "@name"})
_GENERATED = re.compile(r"\d{3,}|(?=.*\d)[0-9a-f]{6,}|(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{5,}")


def node_features(table: Table, row: int) -> set[Feature]:
    """All features of one node."""
    return {*_structural_features(table, row), *_text_features(table, row)}


def tag_path(table: Table, row: int) -> tuple[Feature, ...]:
    """The tags of all elements above a node, up to the root."""
    path = []
    level = 1
    while element := int(table.ancestor(level)[row]):
        path.append(Feature("tag", level, (table.element(element).tag,)))
        level += 1
    return tuple(path)


def names(table: Table, row: int, count: int = 2) -> tuple[Feature, ...]:
    """What the nearest elements that have stable names are called."""
    found: list[Feature] = []
    level, named = 1, 0
    while (element := int(table.ancestor(level)[row])) and named < count:
        own = [
            Feature(kind, level, (value,))
            for kind, value in _element_names(table.element(element))
            if is_stable(table, kind, value)
        ]
        found += _without_repetition(own)
        named += bool(own)
        level += 1
    return tuple(found)


def _element_names(element: etree._Element) -> Iterator[tuple[str, str]]:
    return (pair for pair in sorted(element_values(element)) if pair[0] in NAMING)


def _without_repetition(features: list[Feature]) -> list[Feature]:
    """A whole class says all that its words say; where it is not stable, those of its words that are do."""
    kinds = {feature.kind for feature in features}
    less = {"token"} if "class" in kinds else set()
    less |= {"id"} if kinds & {"class", "token"} else set()
    return [feature for feature in features if feature.kind not in less]


def label_feature(table: Table, row: int) -> Feature:
    """The nearest static text before a node."""
    return Feature("label", 0, (table.labels[row],))


def inside_feature(table: Table, before: str) -> tuple[Feature, ...]:
    """How the texts of a place begin whose value is a part: what stands before it, if other pages have it too."""
    start = before.strip()
    if not start or len(start) > MAX_CAPTION_LENGTH:
        return ()
    alike = (r for r in table.rows_by("first", start.split(" ")[0]) if table.rows[r].text.startswith(start))
    pages = {int(table.row_page[other]) for other in alike}
    return (Feature("inside-left-text", 0, (start,)),) if len(pages) > 1 or len(table.pages) == 1 else ()


def is_stable(table: Table, kind: str, value: str) -> bool:
    """Whether an element's value looks like part of the template, not generated for one page."""
    if kind == "tag":
        return True
    if not value.strip() or len(value) > MAX_CAPTION_LENGTH:
        return False
    if len(table.pages) < ENOUGH_PAGES:
        return not _GENERATED.search(value)
    return table.pages_with(kind, value) > 1


def _is_stable_text(table: Table, kind: str, value: str) -> bool:
    if len(value) > MAX_CAPTION_LENGTH:
        return False
    if len(table.pages) < ENOUGH_PAGES:
        return not _GENERATED.search(value)
    return table.pages_with_text(kind, value) > 1


def _structural_features(table: Table, row: int) -> Iterator[Feature]:
    is_text = table.rows[row].is_text
    for level in range(0 if is_text else 1, MAX_LEVEL + 1):
        element = int(table.ancestor(level)[row]) if level else 0
        if level and not element:
            return
        if level:
            yield from _element_features(table, element, "{}", level)
        for axis in ("preceding", "following"):
            sibling = int(table.sibling[axis][element] if level else table.row_sibling[axis][row])
            for distance in (1, 2):
                type_ = f"{axis}-sibling-{{}}-{distance}"
                if not sibling:
                    yield Feature(type_.format("tag"), level, ("",))
                    break
                yield from _element_features(table, sibling, type_, level)
                sibling = int(table.sibling[axis][sibling])


def _element_features(table: Table, element: int, type_: str, level: int) -> Iterator[Feature]:
    for kind, value in element_values(table.element(element)):
        if is_stable(table, kind, value):
            yield Feature(type_.format(kind), level, (value,))


def _text_features(table: Table, row: int) -> Iterator[Feature]:
    if table.rows[row].kind == "element":
        return
    for side, edge in (("left", "last"), ("right", "first")):
        text = table.neighbor_text(row, side)
        if text and _is_stable_text(table, "text", text):
            yield Feature(f"out-{side}-text", 0, (text,))
        word = text.rpartition(" ")[2] if side == "left" else text.partition(" ")[0]
        if word and _is_stable_text(table, edge, word):
            yield Feature(f"out-{side}-word", 0, (word,))
    if table.labels[row]:
        yield label_feature(table, row)
    if len(table.pages) < ENOUGH_PAGES:  # nothing tells the template's words from the value's
        return
    for word in set(table.rows[row].text.split(" ")):
        if any(map(str.isalpha, word)) and _is_stable_text(table, "word", word):
            yield Feature("inside-word", 0, (word,))
