"""Labels that contradict the others: whoever labels makes mistakes, and a rule must not learn them.

Labels of one attribute surely agree if their values are at the same place of their pages. A place is described by its
XPath, its order among similar nodes, and its order after its caption. Templates shift values, so two of these must be
the same. Where they are not, rules decide: pages whose labels agree form a group (`label_groups.py`). A label is odd
if its group is small and the rules of the largest group find another value on its page. A value that is nowhere on
its page is odd, too, where others are found. Labels that are no phones have no say about an attribute that is one,
where others are phones, and words of the template have none where other labels are values.

Odd labels do not teach. They stay labels: the rule does not return them, which `learn` reports with their page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, islice

from untemplate.labeling import Label
from untemplate.learning.label_fit import comparison_key
from untemplate.learning.label_groups import LabelGroups, LabelsOfPages, is_mostly_found
from untemplate.learning.occurrences import find_element_occurrences, find_occurrences
from untemplate.learning.sample_table import STATIC_SHARE, SampleTable
from untemplate.page import Page
from untemplate.page.captions import min_static_pages
from untemplate.page.dom import element_names
from untemplate.schema import Attribute
from untemplate.value_types import find_typed

__all__ = ["drop_odd_labels"]

# With fewer labeled pages, one that differs is more often an exception that somebody labeled on purpose.
MIN_LABELED_PAGES = 4
# Labels that are likely right, by type or because pages differ there, decide alone if there are at least this many.
MIN_VOTERS = 2
# The largest group has at least two pages, but three if fewer than five are labeled: where places vary, two labels
# agree by chance. It has at least this many times as many pages as that of an odd label.
MIN_GROUP_PAGES = 2
MIN_MAJORITY_PAGES = 3
MIN_PLURALITY_PAGES = 5
MIN_SUPPORT_RATIO = 2.0
# Descriptions of a place that all labels share if they surely agree.
MIN_SHARED_DESCRIPTIONS = 2
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
    by_size = groups.find_groups(attribute, _select_voters(groups.table, values, attribute))
    most = by_size[0] if by_size else []
    if len(most) < (MIN_GROUP_PAGES if len(values) >= MIN_PLURALITY_PAGES else MIN_MAJORITY_PAGES):
        return
    large = [group for group in by_size if len(group) * MIN_SUPPORT_RATIO > len(most)]
    kept = set(chain.from_iterable(large))
    teachers = {page: values[page] for page in most}
    for page, labels in values.items():
        has_alternatives = len(labels) > 1 and not attribute.many
        if page in kept and not has_alternatives:
            continue
        found = groups.find_values(attribute, teachers, page)
        is_odd = page not in kept and _is_refuted(groups.table, page, labels, attribute, found)
        for label in _select_odd(labels, found, attribute, is_odd):
            yield page, label


def _select_odd(
    labels: Sequence[Label], found: Sequence[Sequence[str]], attribute: Attribute, is_odd: bool
) -> Sequence[Label]:
    """Return the odd labels of a page, all of which are odd or not unless rules of other pages return some.

    Several labels of a single value are alternatives, so those that no rule returns are odd. Members of a list are
    judged together.
    """
    supported = set(map(comparison_key, chain.from_iterable(found)))
    others = [label for label in labels if comparison_key(label.value or "") not in supported]
    if len(others) < len(labels) and not attribute.many:
        return others
    return labels if is_odd else []


def _is_refuted(
    table: SampleTable,
    page: Page,
    labels: Sequence[Label],
    attribute: Attribute,
    found: Sequence[Sequence[str]],
) -> bool:
    """Return True if most rules find something else than the labels of a page, or these are not on the page."""
    return is_mostly_found(found) or not _places_of_labels(table, page, labels, attribute)


def _select_voters(table: SampleTable, values: LabelsOfPages, attribute: Attribute) -> LabelsOfPages:
    """Return the labels that have a say: those of the attribute's type that are no words of the template.

    If there are too few of them, the others have a say, too.
    """
    typed = {page: labels for page, labels in values.items() if _has_type(labels, attribute)}
    voters = typed if len(typed) >= MIN_VOTERS else values
    dynamic = {page: labels for page, labels in voters.items() if _is_dynamic(table, page, labels, attribute)}
    return dynamic if len(dynamic) >= MIN_VOTERS else voters


def _has_type(labels: Sequence[Label], attribute: Attribute) -> bool:
    """Return True if all values contain one of the attribute's type; False for types without a pattern."""
    return all(find_typed(label.value or "", attribute.type) for label in labels)


def _is_dynamic(table: SampleTable, page: Page, labels: Sequence[Label], attribute: Attribute) -> bool:
    """Return True unless the values of a page are only found as words of the template."""
    rows: list[int] = []
    for label in labels:
        occurrences = find_occurrences(table, table.pages.index(page), label, attribute)
        rows += [occurrence.row for occurrence in occurrences if occurrence.mode == "node"]
    return not rows or not all(_is_template_word(table, row) for row in rows)


def _is_template_word(table: SampleTable, row: int) -> bool:
    """Return True if most pages of the sample have the text of a row at its path."""
    node = table.rows[row]
    same = [other for other in table.rows_by("text", node.text) if table.rows[other].path == node.path]
    pages = len({int(table.row_page[other]) for other in same})
    return pages >= min_static_pages(len(table.pages), STATIC_SHARE)


def _share_a_place(table: SampleTable, values: LabelsOfPages, attribute: Attribute) -> bool:
    """Return True if some place is that of the values of all pages, by most of its descriptions."""
    places = [_places_of_labels(table, page, labels, attribute) for page, labels in values.items()]
    return not places or len(set[_Place].intersection(*places)) >= MIN_SHARED_DESCRIPTIONS


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
        yield from _describe_place(table, page, occurrence.row, occurrence.mode)
    if not complete:
        with_elements = table.with_elements
        for occurrence in islice(find_element_occurrences(with_elements, page, label), MAX_COMPARED):
            yield from _describe_place(with_elements, page, occurrence.row, occurrence.mode)


def _describe_place(table: SampleTable, page: int, row: int, mode: str) -> Iterator[_Place]:
    """Yield the descriptions of the place of a row: two, or three with a caption."""
    node, caption, start = table.rows[row], table.captions[row], table.starts[page]
    yield mode, caption, "xpath", node.xpath
    names = element_names(node.parent)
    before = (other for other in table.rows[start:row] if other.path == node.path)
    yield mode, caption, "order", node.path, names, sum(element_names(one.parent) == names for one in before)
    if caption:
        tail = _tail(node.path)
        captioned = (other for other in range(start, row) if table.captions[other] == caption)
        yield mode, caption, "tail", tail, sum(_tail(table.rows[other].path) == tail for other in captioned)


def _tail(path: str) -> str:
    return "/".join(path.split("/")[-TAIL:])
