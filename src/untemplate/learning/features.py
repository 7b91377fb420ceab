"""Which features a labelled node has: the paper's missing page, as the design fills it.

Values that look generated are kept out: those seen on one page of the sample only, or, where the sample is too
small to tell, those with long numbers or the looks of a hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from untemplate.extraction.feature import Feature, element_values
from untemplate.learning.table import MAX_LABEL, Table

__all__ = ["label_feature", "names", "node_features", "tag_path"]

# Ancestors further up than this say nothing about one node.
MAX_LEVEL = 8
# From this many pages on, a value seen on one of them only is taken for generated.
ENOUGH_PAGES = 3
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
    """The class, else the id, of the nearest elements that have a stable one."""
    found: list[Feature] = []
    level = 1
    while (element := int(table.ancestor(level)[row])) and len(found) < count:
        for kind in ("class", "id"):
            value = table.element(element).get(kind)
            if value and is_stable(table, kind, value):
                found.append(Feature(kind, level, (value,)))
                break
        level += 1
    return tuple(found)


def label_feature(table: Table, row: int) -> Feature:
    """The nearest static text before a node."""
    return Feature("label", 0, (table.labels[row],))


def is_stable(table: Table, kind: str, value: str) -> bool:
    """Whether an element's value looks like part of the template, not generated for one page."""
    if kind == "tag":
        return True
    if not value.strip() or len(value) > MAX_LABEL:
        return False
    if len(table.pages) < ENOUGH_PAGES:
        return not _GENERATED.search(value)
    return table.pages_with(kind, value) > 1


def _is_stable_text(table: Table, kind: str, value: str) -> bool:
    if len(value) > MAX_LABEL:
        return False
    if len(table.pages) < ENOUGH_PAGES:
        return not _GENERATED.search(value)
    return table.pages_with_text(kind, value) > 1


def _structural_features(table: Table, row: int) -> Iterator[Feature]:
    is_text = not table.rows[row].is_attribute
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
    for side, edge in (("left", "last"), ("right", "first")):
        text = table.neighbor_text(row, side)
        if text and _is_stable_text(table, "text", text):
            yield Feature(f"out-{side}-text", 0, (text,))
        word = text.rpartition(" ")[2] if side == "left" else text.partition(" ")[0]
        if word and _is_stable_text(table, edge, word):
            yield Feature(f"out-{side}-word", 0, (word,))
    if table.labels[row]:
        yield label_feature(table, row)
    for word in set(table.rows[row].text.split(" ")):
        if any(map(str.isalpha, word)) and _is_stable_text(table, "word", word):
            yield Feature("inside-word", 0, (word,))
