"""Values that share one text: `apples, pears and plums` is a list of three values.

The labels of a page teach both where the text is and what separates its values. The place is learned as that of a
single value, the list; the range of the rule then cuts the list out of its text and splits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from untemplate.labeling import Label
from untemplate.learning.occurrences import (
    LocatedLabels,
    PageLabels,
    occurrences_in_elements,
    occurrences_in_nodes,
)
from untemplate.learning.refining import learn_range
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.selectors import pick_rows
from untemplate.learning.variants import LearningTarget
from untemplate.page import Node
from untemplate.page.captions import join_texts
from untemplate.page.locating import Occurrence, is_separator, locate_list
from untemplate.rules.rule import Range, Selector
from untemplate.schema import Attribute
from untemplate.value_types import Type

__all__ = [
    "ListExample",
    "explain_lost_values",
    "learn_list_range",
    "learn_part_range",
    "locate_shared_texts",
]


class ListExample(NamedTuple):
    """A text that contains a list of several values.

    Attributes:
        text: the text of the node.
        part: the list in it, from the first value to the last.
        start: where the list starts.
        values: the labeled values in it, in order.
        lost: how many values of the list may have no label that was found.
    """

    text: str
    part: str
    start: int
    values: tuple[str, ...]
    lost: int = 0


def locate_shared_texts(table: SampleTable, labels: PageLabels, attribute: Attribute) -> LocatedLabels | None:
    """Find texts that contain all labeled values of their page, with separators between them.

    Each page counts as having one label, the list. On a page with one label, the list is that value.

    Returns:
        None if no page has several labels, or if one has them in several texts.
    """
    several = {page: page_labels for page, page_labels in labels.items() if len(page_labels) > 1}
    if not several:
        return None
    one = {page: page_labels for page, page_labels in labels.items() if page not in several}
    in_nodes = dict(occurrences_in_nodes(table, one, attribute))
    in_elements = dict(occurrences_in_elements(table.with_elements, one))
    remarks: list[str] = []
    for page, page_labels in several.items():
        of_nodes = _find_list(table, page, page_labels)
        of_elements = _find_list(table.with_elements, page, page_labels, only_elements=True)
        in_nodes[page], in_elements[page] = [of_nodes], [of_elements]
        if not of_nodes and not of_elements:
            return None
        remarks += _explain_list(table, page, (of_nodes or of_elements)[0])
    return LocatedLabels(in_nodes, in_elements, remarks)


def _explain_list(table: SampleTable, page: int, found: Occurrence) -> list[str]:
    """Return a sentence about labeled values that are not in the list; none if all are."""
    if not found.lost:
        return []
    return [explain_lost_values(table, page, found.lost, len(found.values) + found.lost)]


def _find_list(
    table: SampleTable, page: int, labels: Sequence[Label], only_elements: bool = False
) -> list[Occurrence]:
    """Return the rows of a page whose texts are, or contain, a list of labeled values."""
    values = [label.value or "" for label in labels]
    start, nodes = table.starts[page], table.rows_of_page(page)
    rows = [row for row, node in enumerate(nodes) if node.kind == "element" or not only_elements]
    found = locate_list([nodes[row] for row in rows], values)
    return [replace(occurrence, row=start + rows[occurrence.row]) for occurrence in found]


def explain_lost_values(table: SampleTable, page: int, lost: int, labeled: int) -> str:
    """Return a sentence that says how many values of a labeled list were not found."""
    return f"{table.pages[page].id}: {lost} of {labeled} labeled values are no text of their own on the page"


def learn_part_range(
    target: LearningTarget, selectors: Sequence[Selector], chosen: Sequence[Occurrence], type_: Type
) -> Range | None:
    """Return the range that cuts the values out of the texts in which they were chosen; None if no range does."""
    rows = target.table.rows
    unlabeled: list[Node] = []
    for page in target.unlabeled_pages:
        unlabeled += [rows[row] for row in pick_rows(target, selectors, page)]
    nodes = [rows[occurrence.row] for occurrence in chosen]
    if any(occurrence.values for occurrence in chosen):
        return _learn_shared_range(nodes, chosen, unlabeled)
    count = max(occurrence.nodes for occurrence in chosen)
    joined = [join_texts(node, count) for node in nodes]
    examples = [(text, part.text, part.start) for text, part in zip(joined, chosen, strict=True)]
    return learn_range(examples, [join_texts(node, count) for node in unlabeled], type_)


def _learn_shared_range(
    nodes: Sequence[Node], chosen: Sequence[Occurrence], unlabeled: Sequence[Node]
) -> Range | None:
    """Return the range that splits texts into their labeled values, at separators or else at the ends of lines."""
    for text_of in (attrgetter("text"), Node.lines):
        examples: list[ListExample] = []
        for node, found in zip(nodes, chosen, strict=True):
            text = text_of(node)
            part = text[found.start : found.start + len(found.text)]
            examples.append(ListExample(text, part, found.start, found.values or (part,), found.lost))
        if range_ := learn_list_range(examples, [text_of(node) for node in unlabeled]):
            return range_
    return None


def learn_list_range(examples: Sequence[ListExample], unlabeled: Sequence[str]) -> Range | None:
    """Return the range that cuts lists out of their texts and splits them into the labeled values.

    The separators are the texts between labeled values, alone and combined: `, ` and ` and ` also mean `, and `.
    Returns None if no range gives the values of all examples.
    """
    separators = _learn_separators(examples)
    range_: Range | None = Range()
    if any(example.part != example.text for example in examples):
        parts = [(example.text, example.part, example.start) for example in examples]
        range_ = learn_range(parts, unlabeled, "text")
    if range_ is None or not separators:
        return None
    range_ = replace(range_, separators=separators)
    return range_ if all(_gives_values(range_, example) for example in examples) else None


def _learn_separators(examples: Iterable[ListExample]) -> tuple[str, ...]:
    """Return the texts between the values of lists, and their combinations, without those inside a value."""
    seen: set[str] = set()
    for example in examples:
        seen.update(gap for gap in _gaps(example) if is_separator(gap))
    values = "\n".join(chain.from_iterable(example.values for example in examples))
    derived = {separator for separator in _derive_separators(seen) if separator not in values}
    return tuple(sorted(seen | derived, key=lambda separator: (-len(separator), separator)))


def _derive_separators(seen: set[str]) -> Iterator[str]:
    """Yield the words among separators alone, and after each sign: `, ` and ` and ` also mean `, and `."""
    with_words = {separator for separator in seen if any(map(str.isalpha, separator))}
    signs = {separator.rstrip() for separator in seen - with_words} - {""}
    for word in {separator.split()[-1] for separator in with_words}:
        yield f" {word} "
        for sign in signs:
            yield f"{sign} {word} "


def _gaps(example: ListExample) -> Iterator[str]:
    """Yield the texts between the values of a list."""
    end = example.start + len(example.values[0])
    for value in example.values[1:]:
        start = example.text.find(value, end)
        yield example.text[end : max(start, end)]
        end = start + len(value)


def _gives_values(range_: Range, example: ListExample) -> bool:
    """Return True if a range gives the values of a list in order, and no others than may have been lost."""
    found = range_.cut_values(example.text)
    rest = iter(found)
    has_all = all(value in rest for value in example.values)
    return has_all and len(found) <= len(example.values) + example.lost
