"""Labels that contradict the others: whoever labels makes mistakes, and a rule must not learn them.

Labels of one attribute surely agree if their values are at the same place of their pages. A place is described in
three ways (by its XPath, its caption, its order among similar nodes), because templates shift values. Where no place
is that of all labels, rules decide: pages whose labels support each other form a group (see `label_groups.py`).
A label is odd if its group is small and the rules of the largest group find another value on its page. A value that
is nowhere on its page is odd, too, where others are found. Labels that are no phones have no say about an attribute
that is one, where others are phones.

Odd labels do not teach. They stay labels: the rule does not return them, which `learn` reports with their page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, islice

from untemplate.labeling import Label
from untemplate.learning.label_groups import LabelGroups, LabelsOfPages, is_mostly_found
from untemplate.learning.occurrences import find_element_occurrences, find_occurrences
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Node, Page
from untemplate.page.dom import element_names
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Attribute
from untemplate.value_types import find_typed

__all__ = ["drop_odd_labels"]

# With fewer labeled pages, one that differs is more often an exception that somebody labeled on purpose.
MIN_LABELED_PAGES = 5
# Labels whose values have the attribute's type decide alone if there are at least this many.
MIN_TYPED_PAGES = 2
# The largest group has at least this many pages, and this many times as many as that of an odd label.
MIN_GROUP_PAGES = 2
MIN_SUPPORT_RATIO = 2.0
# Occurrences of a value on its page that are compared; the first ones.
MAX_COMPARED = 12
# Last tags of a path that nodes with the same caption share.
TAIL = 3

_Place = tuple[Hashable, ...]
"""A description of a place, of which a page has one at most."""


def drop_odd_labels(groups: LabelGroups, labels: LabelsOfPages) -> dict[Page, list[Label]]:
    """Return the labels without those that contradict most others of their attribute.

    Args:
        groups: the sample with its schema; labels of attributes that the schema does not have are kept.
        labels: labels of any attributes, by page.
    """
    odd: set[tuple[Page, Label]] = set()
    for name, attribute in groups.schema.attributes.items():
        own = _labels_of_attribute(labels, name)
        values = {page: page_labels for page, page_labels in own.items() if not page_labels[0].is_gap}
        if len(own) >= MIN_LABELED_PAGES and not _share_a_place(groups.table, values, attribute):
            odd.update(_find_odd_labels(groups, values, attribute))
    kept = {}
    for page, page_labels in labels.items():
        kept[page] = [label for label in page_labels if (page, label) not in odd]
    return kept


def _labels_of_attribute(labels: LabelsOfPages, name: str) -> dict[Page, list[Label]]:
    own: defaultdict[Page, list[Label]] = defaultdict(list)
    for page, page_labels in labels.items():
        for label in page_labels:
            if label.attribute == name:
                own[page].append(label)
    return own


def _find_odd_labels(
    groups: LabelGroups, values: LabelsOfPages, attribute: Attribute
) -> Iterator[tuple[Page, Label]]:
    """Yield the labels that contradict those of the largest group, with their pages."""
    typed = {page: labels for page, labels in values.items() if _has_type(labels, attribute)}
    by_size = groups.find_groups(attribute, typed if len(typed) >= MIN_TYPED_PAGES else values)
    most = by_size[0] if by_size else []
    if len(most) < MIN_GROUP_PAGES:
        return
    large = [group for group in by_size if len(group) * MIN_SUPPORT_RATIO > len(most)]
    kept = set(chain.from_iterable(large))
    teachers = {page: values[page] for page in most}
    for page, labels in values.items():
        found = groups.find_values(attribute, teachers, page)
        if page in kept:
            yield from ((page, label) for label in _unsupported_alternatives(labels, found, attribute))
        elif is_mostly_found(found) or not _places_of_labels(groups.table, page, labels, attribute):
            yield from ((page, label) for label in labels)


def _unsupported_alternatives(
    labels: Sequence[Label], found: Sequence[Sequence[str]], attribute: Attribute
) -> list[Label]:
    """Return those of several labels of a single value that no other page supports, if another label is supported."""
    if attribute.many:
        return []
    supported = set(map(letters_and_digits, chain.from_iterable(found)))
    others = [label for label in labels if letters_and_digits(label.value or "") not in supported]
    return others if len(others) < len(labels) else []


def _has_type(labels: Sequence[Label], attribute: Attribute) -> bool:
    """Return True if all values contain one of the attribute's type; False for types without a pattern."""
    return all(find_typed(label.value or "", attribute.type) for label in labels)


def _share_a_place(table: SampleTable, values: LabelsOfPages, attribute: Attribute) -> bool:
    """Return True if some place is that of the values of all pages."""
    places = [_places_of_labels(table, page, labels, attribute) for page, labels in values.items()]
    return not places or bool(set[_Place].intersection(*places))


def _places_of_labels(
    table: SampleTable, page: Page, labels: Sequence[Label], attribute: Attribute
) -> set[_Place]:
    """Return the places of the value of a page; of a list, those of its first value that is found."""
    places: set[_Place] = set()
    for label in labels:
        places |= set(_places_of_label(table, table.pages.index(page), label, attribute))
        if places and attribute.many:
            break
    return places


def _places_of_label(table: SampleTable, page: int, label: Label, attribute: Attribute) -> Iterator[_Place]:
    """Yield the places where a value is; parts of longer texts only if it is not all of another one."""
    occurrences = find_occurrences(table, page, label, attribute)
    complete = [occurrence for occurrence in occurrences if occurrence.mode not in ("part", "pair")]
    for occurrence in islice(complete or occurrences, MAX_COMPARED):
        yield from _describe(table, page, occurrence.row, occurrence.mode)
    if not complete:
        with_elements = table.with_elements
        for occurrence in islice(find_element_occurrences(with_elements, page, label), MAX_COMPARED):
            yield from _describe(with_elements, page, occurrence.row, occurrence.mode)


def _describe(table: SampleTable, page: int, row: int, mode: str) -> Iterator[_Place]:
    """Yield the descriptions of the place of a row."""
    node, caption = table.rows[row], table.captions[row]
    yield mode, "xpath", node.xpath
    names = element_names(node.parent)
    alike = _rows_before(table, page, row, node.path)
    yield mode, "order", node.path, names, sum(element_names(other.parent) == names for other in alike)
    if caption:
        tail = _tail(node.path)
        start = table.starts[page]
        captioned = (other for other in range(start, row) if table.captions[other] == caption)
        order = sum(_tail(table.rows[other].path) == tail for other in captioned)
        yield mode, "caption", tail, caption, order


def _rows_before(table: SampleTable, page: int, row: int, path: str) -> Iterator[Node]:
    """Yield the nodes in front of a row that have a path."""
    return (node for node in table.rows[table.starts[page] : row] if node.path == path)


def _tail(path: str) -> str:
    return "/".join(path.split("/")[-TAIL:])
