"""Where the labeled values of an attribute are in the sample: the rows that a rule may select.

A value may occur in several places and in several modes (see `page/locating.py`). All are kept here; the rule that
generalizes best decides among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NamedTuple

from untemplate.input_files import shorten
from untemplate.labeling import Label
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Node
from untemplate.page.locating import (
    MATCH_STEPS,
    MAX_OCCURRENCES,
    MatchStep,
    Occurrence,
    clean_value,
    locate_elements,
    locate_pairs,
    locate_parts,
    locate_similar,
    locate_value,
    locate_xpath,
)
from untemplate.schema import Attribute

__all__ = [
    "LabeledOccurrences",
    "LocatedLabels",
    "PageLabels",
    "closest_text",
    "explain_missing_labels",
    "find_element_occurrences",
    "find_occurrences",
    "locate_labels",
    "most_alike_pages",
    "occurrences_in_elements",
    "occurrences_in_nodes",
]

PageLabels = Mapping[int, Sequence[Label]]
"""Labels by the number of their page in the sample."""

LabeledOccurrences = Mapping[int, Sequence[Sequence[Occurrence]]]
"""For each labeled page, for each label, where its value occurs."""


def find_occurrences(table: SampleTable, page: int, label: Label, attribute: Attribute) -> list[Occurrence]:
    """Return all rows of a page where a labeled value occurs."""
    nodes = table.rows_of_page(page)
    if label.xpath is not None:
        found = locate_xpath(nodes, table.pages[page].tree, label.xpath, label.value)
    else:
        is_link = attribute.type in ("url", "image")
        found = locate_value(nodes, label.value or "", table.pages[page].url, prefers_links=is_link)
    return _on_page(table, page, found)


def find_element_occurrences(table: SampleTable, page: int, label: Label) -> list[Occurrence]:
    """Return the elements of a page, in a table with elements, whose texts together are a labeled value."""
    found = locate_elements(table.rows_of_page(page), label.value, table.pages[page].tree, label.xpath)
    return _on_page(table, page, found)


def occurrences_in_nodes(table: SampleTable, labels: PageLabels, attribute: Attribute) -> LabeledOccurrences:
    """Find all labels among the text nodes and attributes of their pages."""
    return {
        page: [_find_dynamic(table, page, label, attribute) for label in page_labels]
        for page, page_labels in labels.items()
    }


def occurrences_in_elements(table: SampleTable, labels: PageLabels) -> LabeledOccurrences:
    """Find all labels among the elements of a table that has them."""
    return {
        page: [find_element_occurrences(table, page, label) for label in page_labels]
        for page, page_labels in labels.items()
    }


@dataclass(frozen=True)
class LocatedLabels:
    """Where the labels of an attribute are.

    Attributes:
        in_nodes: among the text nodes and attributes of the sample.
        in_elements: among the elements of the sample with elements.
        remarks: labels that are only similar to a text of their page, as sentences.
    """

    in_nodes: LabeledOccurrences
    in_elements: LabeledOccurrences
    remarks: list[str]


def locate_labels(table: SampleTable, labels: PageLabels, attribute: Attribute) -> LocatedLabels:
    """Find all labels, each by the strictest step that finds it.

    A complete text that is only similar to a value counts more than a part of a text that equals it.
    """
    in_nodes: dict[int, list[list[Occurrence]]] = {}
    in_elements: dict[int, list[list[Occurrence]]] = {}
    remarks: list[str] = []
    for page, page_labels in labels.items():
        located = [_locate_label(table, page, label, attribute) for label in page_labels]
        in_nodes[page] = [places.nodes for places in located]
        in_elements[page] = [places.elements for places in located]
        remarks += [places.remark for places in located if places.remark]
    return LocatedLabels(in_nodes, in_elements, remarks)


class _Places(NamedTuple):
    """Where one label is: among nodes, among elements, and a remark if only letters and digits are the same."""

    nodes: list[Occurrence]
    elements: list[Occurrence]
    remark: str = ""


def _locate_label(table: SampleTable, page: int, label: Label, attribute: Attribute) -> _Places:
    """Return where a label is: exactly, as a similar text, as a part of a node, or as a part of several."""
    nodes = _find_dynamic(table, page, label, attribute)
    elements = find_element_occurrences(table.with_elements, page, label)
    exact = _Places(nodes, elements)
    if elements or label.xpath is not None or any(found.mode != "part" for found in nodes):
        return exact
    value = label.value or ""
    similar = _find_by_steps(table, page, value, locate_similar, MATCH_STEPS[1:])
    if nodes:
        return _without_signs_around(similar, clean_value(value)) or exact
    return similar or _locate_parts(table, page, value)


def _without_signs_around(similar: _Places | None, value: str) -> _Places | None:
    """Return the places whose text is not the value itself with signs around it, such as "» Tea": these are parts."""
    if similar is None:
        return None
    nodes = [occurrence for occurrence in similar.nodes if value not in occurrence.text]
    elements = [occurrence for occurrence in similar.elements if value not in occurrence.text]
    return similar._replace(nodes=nodes, elements=elements) if nodes or elements else None


def _locate_parts(table: SampleTable, page: int, value: str) -> _Places:
    """Return where a value is a part of a text or of an element, or begins in one node and ends in another."""
    pairs = _on_page(table, page, locate_pairs(table.rows_of_page(page), value))
    parts = _find_by_steps(table, page, value, locate_parts, MATCH_STEPS)
    if parts is None:
        return _Places(pairs, [])
    return parts._replace(nodes=parts.nodes or pairs)


def _find_by_steps(
    table: SampleTable,
    page: int,
    value: str,
    locate: Callable[[Sequence[Node], str, MatchStep], list[Occurrence]],
    steps: Sequence[MatchStep],
) -> _Places | None:
    """Return nodes and elements by the first step that finds any, with a remark if that is the loosest one."""
    with_elements = table.with_elements
    for step in steps:
        nodes = _on_page(table, page, locate(table.rows_of_page(page), value, step))
        found = _on_page(with_elements, page, locate(with_elements.rows_of_page(page), value, step))
        elements = [
            occurrence for occurrence in found if with_elements.rows[occurrence.row].kind == "element"
        ]
        if nodes or elements:
            text = (nodes or elements)[0].text
            remark = (
                f"{table.pages[page].id}: read {value!r} as {text!r}, which has the same letters and digits"
            )
            return _Places(nodes, elements, remark if step == "letters" else "")
    return None


def _on_page(table: SampleTable, page: int, occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Return occurrences among the nodes of a page as rows of the table."""
    start = table.starts[page]
    return [replace(occurrence, row=start + occurrence.row) for occurrence in occurrences]


def _find_dynamic(table: SampleTable, page: int, label: Label, attribute: Attribute) -> list[Occurrence]:
    """Ignore static text such as navigation, which repeats values, unless the value occurs nowhere else."""
    occurrences = find_occurrences(table, page, label, attribute)
    dynamic = [occurrence for occurrence in occurrences if not table.is_static(occurrence.row)]
    return (dynamic or occurrences)[:MAX_OCCURRENCES]


def most_alike_pages(table: SampleTable, labels: PageLabels, attribute: Attribute) -> PageLabels:
    """Return the labels of the pages whose values are at the place that is most frequent.

    Returns nothing if these are all labeled pages, or less than half of them.
    """
    pages_at: dict[tuple[str, ...], list[int]] = {}
    for page, page_labels in labels.items():
        present = [label for label in page_labels if not label.is_gap]
        occurrences = [_find_dynamic(table, page, label, attribute)[:1] for label in present]
        xpaths = tuple(table.rows[first[0].row].xpath for first in occurrences if first)
        pages_at.setdefault(xpaths, []).append(page)
    most = max(pages_at.values(), key=len)
    if len(labels) / 2 <= len(most) < len(labels):
        return {page: labels[page] for page in most}
    return {}


def explain_missing_labels(
    table: SampleTable, labels: PageLabels, nodes: LabeledOccurrences, elements: LabeledOccurrences
) -> Iterator[str]:
    """Yield a message for each label whose value is nowhere on its page."""
    for page, page_labels in labels.items():
        for number, label in enumerate(page_labels):
            in_elements = page in elements and elements[page][number]
            if not nodes[page][number] and not in_elements:
                yield f"{table.pages[page].id}: {_explain_label(table, page, label)}"


def _explain_label(table: SampleTable, page: int, label: Label) -> str:
    if label.xpath is not None:
        return f"the XPath {shorten(label.xpath)} selects no text"
    closest = closest_text(table, page, label.value or "")
    hint = f"; the closest text is {shorten(closest)!r}" if closest else ""
    return f"{shorten(label.value or '')!r} is not on the page{hint}"


def closest_text(table: SampleTable, page: int, value: str) -> str | None:
    """Return the text of the page that is most similar to a value that is not on it."""
    texts = {node.text for node in table.rows_of_page(page)}
    likely = [text for text in texts if len(text) < 3 * len(value) + 20]
    return next(iter(get_close_matches(value, likely, n=1, cutoff=0.5)), None)
