"""The features of a node in the sample: what selectors can be made of (Vertex III-C.1).

The paper lists feature types only in part; this module completes the list. Values that look generated are skipped:
those that appear on one sample page only or, where the sample is too small to judge, those that contain long numbers
or look like a hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from untemplate.learning.sample_table import SampleTable
from untemplate.page.captions import MAX_CAPTION_LENGTH
from untemplate.rules.feature import Feature, element_values

__all__ = ["caption_feature", "features_of_row", "nearby_names", "prefix_feature", "tag_path"]

# Ancestors further up do not distinguish one node from its neighbors.
MAX_LEVEL = 8
# In a sample of at least this many pages, a value that appears on a single page counts as generated.
MIN_PAGES_TO_JUDGE = 3
# Nearest named ancestors that describe a node.
MAX_NAMED_ANCESTORS = 2
# Kinds of element values that name an element.
NAMING_KINDS = frozenset({"class", "token", "id", "@itemprop", "@property", "@name"})
_GENERATED = re.compile(r"\d{3,}|(?=.*\d)[0-9a-f]{6,}|(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{5,}")


def features_of_row(table: SampleTable, row: int) -> set[Feature]:
    """Return all stable features of one node."""
    return {*_structural_features(table, row), *_features_of_texts(table, row)}


def tag_path(table: SampleTable, row: int) -> tuple[Feature, ...]:
    """Return the tags of all elements above a node, up to the root."""
    path = []
    level = 1
    while element := int(table.ancestor(level)[row]):
        path.append(Feature("tag", level, (table.element(element).tag,)))
        level += 1
    return tuple(path)


def nearby_names(table: SampleTable, row: int) -> tuple[Feature, ...]:
    """Return the stable names of the nearest ancestors that have any."""
    names: list[Feature] = []
    level, named_ancestors = 1, 0
    while (element := int(table.ancestor(level)[row])) and named_ancestors < MAX_NAMED_ANCESTORS:
        element_names = _stable_names(table, element, level)
        names += _without_redundant(element_names)
        named_ancestors += bool(element_names)
        level += 1
    return tuple(names)


def _stable_names(table: SampleTable, element: int, level: int) -> list[Feature]:
    names = []
    for kind, value in sorted(element_values(table.element(element))):
        if kind in NAMING_KINDS and _is_stable(table, kind, value):
            names.append(Feature(kind, level, (value,)))
    return names


def _without_redundant(names: list[Feature]) -> list[Feature]:
    """Drop names that repeat others: a class includes its tokens, and either is better than an id."""
    kinds = {feature.kind for feature in names}
    redundant = set()
    if "class" in kinds:
        redundant.add("token")
    if kinds & {"class", "token"}:
        redundant.add("id")
    return [feature for feature in names if feature.kind not in redundant]


def caption_feature(table: SampleTable, row: int) -> Feature:
    """Return the caption of a node, which is the nearest static text before it, as a feature."""
    return Feature("label", 0, (table.captions[row],))


def prefix_feature(table: SampleTable, before: str) -> tuple[Feature, ...]:
    """Return a feature for the text in front of a value inside its node; empty unless other pages have it too.

    Args:
        table: the sample.
        before: the node's text up to the value, such as `"Tel: "`.
    """
    prefix = before.strip()
    if not prefix or len(prefix) > MAX_CAPTION_LENGTH:
        return ()
    if len(table.pages) > 1 and _pages_with_prefix(table, prefix) <= 1:
        return ()
    return (Feature("inside-left-text", 0, (prefix,)),)


def _pages_with_prefix(table: SampleTable, prefix: str) -> int:
    first_word = prefix.split(" ")[0]
    rows = table.rows_by("first", first_word)
    return len({int(table.row_page[row]) for row in rows if table.rows[row].text.startswith(prefix)})


def _is_stable(table: SampleTable, kind: str, value: str) -> bool:
    """Return True if an element's value looks like part of the template, not generated for one page."""
    if kind == "tag":
        return True
    if not value.strip() or len(value) > MAX_CAPTION_LENGTH:
        return False
    if len(table.pages) < MIN_PAGES_TO_JUDGE:
        return not _GENERATED.search(value)
    return table.pages_with(kind, value) > 1


def _is_stable_text(table: SampleTable, kind: str, value: str) -> bool:
    if len(value) > MAX_CAPTION_LENGTH:
        return False
    if len(table.pages) < MIN_PAGES_TO_JUDGE:
        return not _GENERATED.search(value)
    return table.pages_with_text(kind, value) > 1


def _structural_features(table: SampleTable, row: int) -> Iterator[Feature]:
    """Yield the features of a node's ancestors, of their siblings and, for a text node, of its own siblings."""
    if table.rows[row].is_text:
        for axis in ("preceding", "following"):
            yield from _sibling_features(table, int(table.row_sibling[axis][row]), axis, 0)
    for level in range(1, MAX_LEVEL + 1):
        element = int(table.ancestor(level)[row])
        if not element:
            return
        yield from _element_features(table, element, "{}", level)
        for axis in ("preceding", "following"):
            yield from _sibling_features(table, int(table.sibling[axis][element]), axis, level)


def _sibling_features(table: SampleTable, sibling: int, axis: str, level: int) -> Iterator[Feature]:
    """Yield the features of the two nearest siblings in one direction; the first missing one is a feature, too."""
    for distance in (1, 2):
        type_ = f"{axis}-sibling-{{}}-{distance}"
        if not sibling:
            yield Feature(type_.format("tag"), level, ("",))
            return
        yield from _element_features(table, sibling, type_, level)
        sibling = int(table.sibling[axis][sibling])


def _element_features(table: SampleTable, element: int, type_: str, level: int) -> Iterator[Feature]:
    for kind, value in element_values(table.element(element)):
        if _is_stable(table, kind, value):
            yield Feature(type_.format(kind), level, (value,))


def _features_of_texts(table: SampleTable, row: int) -> Iterator[Feature]:
    if table.rows[row].kind == "element":
        return
    left, right = table.neighbor_text(row, "left"), table.neighbor_text(row, "right")
    yield from _neighbor_features(table, "left", left, ("last", left.rpartition(" ")[2]))
    yield from _neighbor_features(table, "right", right, ("first", right.partition(" ")[0]))
    if table.captions[row]:
        yield caption_feature(table, row)
    if len(table.pages) < MIN_PAGES_TO_JUDGE:  # too few to distinguish words of the template and of the value
        return
    for word in set(table.rows[row].text.split(" ")):
        if any(map(str.isalpha, word)) and _is_stable_text(table, "word", word):
            yield Feature("inside-word", 0, (word,))


def _neighbor_features(
    table: SampleTable, side: str, text: str, edge_word: tuple[str, str]
) -> Iterator[Feature]:
    """Yield the text beside a node, and the word of it that is nearest to the node."""
    edge, word = edge_word
    if text and _is_stable_text(table, "text", text):
        yield Feature(f"out-{side}-text", 0, (text,))
    if word and _is_stable_text(table, edge, word):
        yield Feature(f"out-{side}-word", 0, (word,))
