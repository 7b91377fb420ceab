"""Where the labeled values of an attribute are in the sample: the rows that a rule may select.

A value may occur in several places and in several modes (see `page/locating.py`). All are kept here; the rule that
generalizes best decides among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from untemplate.labeling import Label
from untemplate.learning.sample_table import SampleTable
from untemplate.page.locating import (
    MATCH_STEPS,
    MAX_OCCURRENCES,
    Occurrence,
    locate_elements,
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
    nodes, start = table.rows_of_page(page), table.starts[page]
    if label.xpath is not None:
        found = locate_xpath(nodes, table.pages[page].tree, label.xpath, label.value)
    else:
        is_link = attribute.type in ("url", "image")
        found = locate_value(nodes, label.value or "", table.pages[page].url, prefers_links=is_link)
    return [replace(occurrence, row=start + occurrence.row) for occurrence in found]


def find_element_occurrences(table: SampleTable, page: int, label: Label) -> list[Occurrence]:
    """Return the elements of a page, in a table with elements, whose texts together are a labeled value."""
    found = locate_elements(table.rows_of_page(page), label.value, table.pages[page].tree, label.xpath)
    return [replace(occurrence, row=table.starts[page] + occurrence.row) for occurrence in found]


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
    """Find all labels, each by the strictest step that finds it as the complete text of a node or an element."""
    in_nodes = {page: list(found) for page, found in occurrences_in_nodes(table, labels, attribute).items()}
    in_elements = {
        page: list(found) for page, found in occurrences_in_elements(table.with_elements, labels).items()
    }
    remarks: list[str] = []
    for page, page_labels in labels.items():
        for number, label in enumerate(page_labels):
            complete = [found for found in in_nodes[page][number] if found.mode != "part"]
            if complete or in_elements[page][number] or label.xpath is not None:
                continue
            similar = _find_similar(table, page, label)
            if similar:
                in_nodes[page][number], in_elements[page][number] = similar[0], similar[1]
                remarks += similar[2]
    return LocatedLabels(in_nodes, in_elements, remarks)


def _find_similar(
    table: SampleTable, page: int, label: Label
) -> tuple[list[Occurrence], list[Occurrence], list[str]] | None:
    """Return nodes and elements that equal a value in a looser step, and a remark if only letters and digits do."""
    value, elements = label.value or "", table.with_elements
    for step in MATCH_STEPS[1:]:
        start = elements.starts[page]
        rows = [
            replace(o, row=start + o.row) for o in locate_similar(elements.rows_of_page(page), value, step)
        ]
        of_elements = [occurrence for occurrence in rows if occurrence.mode == "element"]
        start = table.starts[page]
        of_nodes = [
            replace(o, row=start + o.row) for o in locate_similar(table.rows_of_page(page), value, step)
        ]
        if of_elements or of_nodes:
            is_loose = step == "letters"
            text = (of_nodes or of_elements)[0].text
            remark = (
                f"{table.pages[page].id}: read {value!r} as {text!r}, which has the same letters and digits"
            )
            return of_nodes, of_elements, [remark] if is_loose else []
    return None


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
        return f"the XPath {label.xpath} selects no text"
    closest = closest_text(table, page, label.value or "")
    hint = f"; the closest text is {closest!r}" if closest else ""
    return f"{label.value!r} is not on the page{hint}"


def closest_text(table: SampleTable, page: int, value: str) -> str | None:
    """Return the text of the page that is most similar to a value that is not on it."""
    texts = {node.text for node in table.rows_of_page(page)}
    likely = [text for text in texts if len(text) < 3 * len(value) + 20]
    return next(iter(get_close_matches(value, likely, n=1, cutoff=0.5)), None)
