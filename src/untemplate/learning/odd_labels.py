"""Labels that contradict the others: whoever labels makes mistakes, and a rule must not learn them.

Labels of one attribute agree if their values are at the same place of their pages. A place is described in several
ways (by its XPath, its caption, the texts beside it, its order among similar nodes), because templates shift values.
A label is odd if the place that most labels share exists on its page with another value, while the label's own place
is that of few or no other labels. A value that is nowhere on its page is odd, too, where others are found. So is a
value that is no phone if the attribute is one, where other labels are phones.

Odd labels do not teach. They stay labels: the rule does not return them, which `learn` reports with their page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from untemplate.labeling import Label
from untemplate.learning.occurrences import PageLabels, find_element_occurrences, find_occurrences
from untemplate.learning.sample_table import SampleTable
from untemplate.page.dom import element_names
from untemplate.schema import Attribute, Schema
from untemplate.value_types import find_typed

__all__ = ["drop_odd_labels"]

# With fewer labeled pages three that agree by chance look like a majority.
MIN_LABELED_PAGES = 5
# The shared place is that of more than this share of the labeled pages.
MIN_PLACE_SHARE = 0.5
# Labels whose values have the attribute's type decide alone if there are at least this many.
MIN_TYPED_PAGES = 2
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
    odd: set[tuple[int, str]] = set()
    for name, attribute_labels in _group_by_name(labels, schema).items():
        if len(attribute_labels) >= MIN_LABELED_PAGES:
            odd_pages = _find_odd_pages(table, attribute_labels, schema.attributes[name])
            odd.update((page, name) for page in odd_pages)
    kept = {}
    for page, page_labels in labels.items():
        kept[page] = [label for label in page_labels if (page, label.attribute) not in odd]
    return kept


def _group_by_name(
    labels: Mapping[int, Sequence[Label]], schema: Schema
) -> dict[str, dict[int, list[Label]]]:
    """Return the labels with a value for each attribute of the schema, by page."""
    by_name: defaultdict[str, dict[int, list[Label]]] = defaultdict(dict)
    for page, page_labels in labels.items():
        for label in page_labels:
            if label.attribute in schema.attributes and not label.is_gap:
                by_name[label.attribute].setdefault(page, []).append(label)
    return by_name


def _find_odd_pages(table: SampleTable, labels: PageLabels, attribute: Attribute) -> Iterator[int]:
    """Yield the pages on which the label of an attribute contradicts the others.

    Labels without a value of the attribute's type, such as a phone, have no say if enough others have one.
    """
    keys_by_page = _keys_of_pages(table, labels, attribute)
    typed = {page: keys for page, keys in keys_by_page.items() if _has_type(labels[page], attribute)}
    voting = typed if len(typed) >= MIN_TYPED_PAGES else keys_by_page
    page_counts = Counter(chain.from_iterable(voting.values()))
    most = max(page_counts.values(), default=0)
    if most <= MIN_PLACE_SHARE * len(voting):
        return
    shared = [key for key, count in page_counts.items() if count == most]
    for page, keys in keys_by_page.items():
        support = max((page_counts[key] for key in keys), default=0)
        if page in voting and support * MIN_SUPPORT_RATIO > most:
            continue
        if not keys or _has_place(table, page, shared):
            yield page


def _has_type(labels: Sequence[Label], attribute: Attribute) -> bool:
    """Return True if all values contain one of the attribute's type; False for types without a pattern."""
    return all(find_typed(label.value or "", attribute.type) for label in labels)


def _keys_of_pages(table: SampleTable, labels: PageLabels, attribute: Attribute) -> dict[int, set[_Key]]:
    """Return for each page the descriptions of the places where its values are."""
    is_list = attribute.many and any(len(page_labels) > 1 for page_labels in labels.values())
    keys_by_page = {}
    for page, page_labels in labels.items():
        keys_by_page[page] = _keys_of_labels(table, page, page_labels, attribute, is_list)
    return keys_by_page


def _keys_of_labels(
    table: SampleTable, page: int, labels: Sequence[Label], attribute: Attribute, is_list: bool
) -> set[_Key]:
    """Return the descriptions of the places where the values of a page are; for a list, those of most members."""
    counts: Counter[_Key] = Counter()
    for label in labels:
        counts.update(set(_keys_of_label(table, page, label, attribute, is_list)))
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
    slot = _slot_of_row(table, row)
    yield "caption", _tail(node.path), table.captions[row]
    for side in ("left", "right"):
        yield side, _tail(node.path), table.neighbor_text(row, side)
    if is_list:
        yield "slot", slot
        return
    yield "xpath", node.xpath
    before = (other for other in range(table.starts[page], row) if table.rows[other].path == node.path)
    yield "order", slot, sum(_slot_of_row(table, other) == slot for other in before)


def _slot_of_row(table: SampleTable, row: int) -> tuple[str, str]:
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
    for searched in _tables_with(table, paths):
        for row in _rows_at(searched, page, paths, tails):
            if not wanted.isdisjoint(_describe(searched, page, row, is_list)):
                return True
    return False


def _tables_with(table: SampleTable, paths: Iterable[str]) -> list[SampleTable]:
    """Return the tables to search for these paths: the one with elements only if a path is that of an element."""
    has_elements = any(not path.endswith("()") for path in paths)
    return [table, table.with_elements] if has_elements else [table]


def _rows_at(
    table: SampleTable, page: int, paths: Collection[str], tails: Collection[Hashable]
) -> Iterator[int]:
    """Yield the rows of a page whose path is one of these, or ends with one of these tails."""
    for row in range(table.starts[page], table.starts[page + 1]):
        path = table.rows[row].path
        if path in paths or _tail(path) in tails:
            yield row
