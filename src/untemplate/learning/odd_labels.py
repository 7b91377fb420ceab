"""Labels that contradict the others: whoever labels makes mistakes, and a rule must not learn them.

Labels of one attribute agree if their values are at the same place of their pages. A place is described in several
ways (by its XPath, its caption, the texts beside it, its order among similar nodes), because templates shift values.
A label is odd if the place that most labels share exists on its page with another value, while the label's own place
is that of few or no other labels. A value that is nowhere on its page is odd, too, where others are found.

Odd labels do not teach. They stay labels: the rule does not return them, which `learn` reports with their page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice

from untemplate.labeling import Label
from untemplate.learning.occurrences import PageLabels, find_element_occurrences, find_occurrences
from untemplate.learning.sample_table import SampleTable
from untemplate.page.dom import element_names
from untemplate.schema import Attribute, Schema

__all__ = ["drop_odd_labels"]

# With fewer labeled pages three that agree by chance look like a majority.
MIN_LABELED_PAGES = 5
# The shared place is that of more than this share of the labeled pages.
MIN_PLACE_SHARE = 0.5
# A place is shared by at least this many times as many labels as the place of an odd one.
MIN_SUPPORT_RATIO = 2.0
# Occurrences of a value on its page that are compared; the first ones.
MAX_COMPARED = 12
# Last tags of a path that nodes with the same caption share.
TAIL = 3

_Key = tuple[Hashable, ...]
"""A description of a place."""


def drop_odd_labels(
    table: SampleTable, labels: Mapping[int, Sequence[Label]], schema: Schema
) -> dict[int, list[Label]]:
    """Return the labels without those that contradict most others of their attribute.

    Args:
        table: the sample.
        labels: labels of any attributes, by the page's number in the table.
        schema: the attributes; labels of others are kept.
    """
    by_attribute: defaultdict[str, dict[int, list[Label]]] = defaultdict(dict)
    for page, page_labels in labels.items():
        for label in page_labels:
            if label.attribute in schema.attributes and not label.is_gap:
                by_attribute[label.attribute].setdefault(page, []).append(label)
    odd: set[tuple[int, str]] = set()
    for name, of_pages in by_attribute.items():
        if len(of_pages) >= MIN_LABELED_PAGES:
            odd |= {(page, name) for page in _find_odd_pages(table, of_pages, schema.attributes[name])}
    return {
        page: [label for label in page_labels if (page, label.attribute) not in odd]
        for page, page_labels in labels.items()
    }


def _find_odd_pages(table: SampleTable, labels: PageLabels, attribute: Attribute) -> Iterator[int]:
    """Yield the pages on which the label of an attribute contradicts the others."""
    is_list = attribute.many and any(len(page_labels) > 1 for page_labels in labels.values())
    keys = {
        page: _keys_of_labels(table, page, page_labels, attribute, is_list)
        for page, page_labels in labels.items()
    }
    pages_at: defaultdict[_Key, set[int]] = defaultdict(set)
    for page, page_keys in keys.items():
        for key in page_keys:
            pages_at[key].add(page)
    most = max(map(len, pages_at.values()), default=0)
    if most <= MIN_PLACE_SHARE * len(labels):
        return
    shared = [key for key, pages in pages_at.items() if len(pages) == most]
    for page, page_keys in keys.items():
        own = max((len(pages_at[key]) for key in page_keys), default=0)
        if own * MIN_SUPPORT_RATIO <= most and (not own or _has_place(table, page, shared)):
            yield page


def _keys_of_labels(
    table: SampleTable, page: int, labels: Sequence[Label], attribute: Attribute, is_list: bool
) -> set[_Key]:
    """Return the descriptions of the places where the values of a page are; of a list, those of most members."""
    counts: defaultdict[_Key, int] = defaultdict(int)
    for label in labels:
        for key in set(_keys_of_label(table, page, label, attribute, is_list)):
            counts[key] += 1
    return {key for key, count in counts.items() if 2 * count >= len(labels)}


def _keys_of_label(
    table: SampleTable, page: int, label: Label, attribute: Attribute, is_list: bool
) -> Iterator[_Key]:
    occurrences = find_occurrences(table, page, label, attribute)
    for occurrence in islice(occurrences, MAX_COMPARED):
        yield from _describe(table, page, occurrence.row, is_list)
    if not occurrences:
        with_elements = table.with_elements
        for occurrence in islice(find_element_occurrences(with_elements, page, label), MAX_COMPARED):
            yield from _describe(with_elements, page, occurrence.row, is_list)


def _describe(table: SampleTable, page: int, row: int, is_list: bool) -> Iterator[_Key]:
    """Yield the descriptions of the place of a row. Members of a list have no order."""
    node = table.rows[row]
    slot = _slot(table, row)
    yield "caption", _tail(node.path), table.captions[row]
    for side in ("left", "right"):
        yield side, _tail(node.path), table.neighbor_text(row, side)
    if is_list:
        yield "slot", slot
        return
    yield "xpath", node.xpath
    before = (other for other in range(table.starts[page], row) if table.rows[other].path == node.path)
    yield "order", slot, sum(_slot(table, other) == slot for other in before)


def _slot(table: SampleTable, row: int) -> tuple[str, str]:
    """Return the tag path and the names of a row's element."""
    node = table.rows[row]
    return node.path, element_names(node.parent)


def _tail(path: str) -> str:
    return "/".join(path.split("/")[-TAIL:])


def _has_place(table: SampleTable, page: int, keys: Sequence[_Key]) -> bool:
    """Return True if a page has one of these places."""
    wanted = set(keys)
    is_list = any(key[0] == "slot" for key in keys)
    paths = {key[1][0] for key in keys if key[0] in ("order", "slot")}  # type: ignore[index]
    tails = {key[1] for key in keys if key[0] in ("caption", "left", "right")}
    tables = [table, table.with_elements] if any(not path.endswith("()") for path in paths) else [table]
    for one in tables:
        for row in range(one.starts[page], one.starts[page + 1]):
            path = one.rows[row].path
            if (path in paths or _tail(path) in tails) and wanted.intersection(
                _describe(one, page, row, is_list)
            ):
                return True
    return False
