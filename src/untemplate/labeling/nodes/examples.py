"""From labels to rows: which rows of a labeled site contain an attribute, and which do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from untemplate.labeling.label import Label
from untemplate.labeling.nodes.fields import Fields
from untemplate.labeling.nodes.node_table import NodeTable
from untemplate.page.arrays import Bools, Floats
from untemplate.page.locating import clean_value, match_texts, nodes_by_xpath
from untemplate.schema import Attribute, Type

__all__ = ["Examples", "find_examples", "kinds_of", "pinned_rows", "presume_examples"]

# A text can equal a label's value by chance. Rows become examples only if at least this share of their field's rows
# on labeled pages contain the attribute, and the field covers at least this share of the labeled pages.
MIN_PRECISION = 0.5
MIN_SHARE = 0.02

_KINDS: dict[Type, tuple[str, ...]] = {"image": ("@src", "@data-src"), "url": ("@href", "text()")}


@dataclass(frozen=True)
class Examples:
    """The examples of one attribute on one labeled site."""

    #: Rows that contain the attribute.
    positive: Bools
    #: Rows of labeled pages that could contain it but do not. Elements with several texts only if some are positive.
    negative: Bools
    #: For each field, how well it matches the attribute.
    weight: Floats
    #: How many texts with a caption in them, such as `Tel: 555`, are labeled without it.
    stripped: int = 0
    #: How many of them are labeled with it.
    unstripped: int = 0


def kinds_of(attribute: Attribute) -> tuple[str, ...]:
    """Return the kinds of nodes that can contain an attribute."""
    return _KINDS.get(attribute.type, ("text()",))


def find_examples(fields: Fields, labels: Iterable[Label], attribute: Attribute) -> Examples | None:
    """Return the examples of an attribute; None if its labels match nothing on the pages."""
    table = fields.table
    labels_by_page = _group_by_page(table, labels, attribute.name)
    eligible = table.has_kind(kinds_of(attribute)) & ~table.is_excluded
    is_labeled, on_labeled_page = np.zeros(len(table), np.bool_), np.zeros(len(table), np.bool_)
    stripped = unstripped = 0
    for page, page_labels in labels_by_page.items():
        start, stop = int(table.starts[page]), int(table.starts[page + 1])
        on_labeled_page[start:stop] = True
        rows = _find_rows(table, [row for row in range(start, stop) if eligible[row]], page_labels)
        is_labeled[rows] = True
        without_caption, with_caption = _count_captions(fields, rows, page_labels, attribute.type)
        stripped += without_caption
        unstripped += with_caption
    page_count = sum(
        any(not label.is_gap for label in page_labels) for page_labels in labels_by_page.values()
    )
    precision = _mean_over(fields, is_labeled, on_labeled_page)
    share = np.bincount(fields.field, weights=is_labeled[fields.row], minlength=len(fields)) / max(
        1, page_count
    )
    is_good = (precision >= MIN_PRECISION) & (share >= MIN_SHARE)
    in_good_field = np.zeros(len(table), np.bool_)
    in_good_field[fields.row[is_good[fields.field]]] = True
    positive = is_labeled & in_good_field
    if not positive.any():
        return None
    negative = _choose_negative(table, positive, on_labeled_page & eligible & ~is_labeled)
    weight = np.where(is_good, precision * share, 0)
    return Examples(positive, negative, (weight / weight.sum()).astype(np.float32), stripped, unstripped)


def presume_examples(fields: Fields, field: int) -> Examples:
    """Return the examples of an attribute that a field is believed to contain.

    Other rows with the same values on a page are no examples at all: they may be the attribute as well.
    """
    table = fields.table
    positive = np.zeros(len(table), np.bool_)
    positive[fields.rows_of(field)] = True
    text_on_page = table.page.astype(np.int64) * len(table.texts) + table.text
    differs = np.isin(table.page, table.page[positive]) & ~np.isin(text_on_page, text_on_page[positive])
    eligible = table.has_kind(["text()"]) & ~table.is_excluded
    weight = np.zeros(len(fields), np.float32)
    weight[field] = 1
    return Examples(positive, _choose_negative(table, positive, eligible & differs), weight)


def _group_by_page(table: NodeTable, labels: Iterable[Label], attribute: str) -> dict[int, list[Label]]:
    """Return the labels of an attribute by the number of their page."""
    numbers: dict[str, int] = {}
    for number, page in enumerate(table.pages):
        numbers |= {page.url: number, page.id: number}
    by_page: dict[int, list[Label]] = {}
    for label in labels:
        if label.attribute == attribute and label.page in numbers:
            by_page.setdefault(numbers[label.page], []).append(label)
    return by_page


def _count_captions(
    fields: Fields, rows: Sequence[int], labels: Sequence[Label], type: Type
) -> tuple[int, int]:
    """Return how many labeled texts with a caption in them are labeled without it, and how many with it."""
    values = {clean_value(label.value) for label in labels if label.value is not None}
    without = including = 0
    for row in rows:
        text, stripped = fields.table.nodes[row].text, fields.strip_caption(row, type)
        if text != stripped:
            without += stripped in values
            including += text in values
    return without, including


def _choose_negative(table: NodeTable, positive: Bools, eligible: Bools) -> Bools:
    """Return the eligible rows that can serve as negative examples."""
    some_span = (positive & table.spans_nodes).any()
    return eligible & ~table.is_static & (some_span | ~table.spans_nodes)


def _mean_over(fields: Fields, column: Bools, chosen: Bools) -> Floats:
    """Return the mean of a column over the chosen rows of each field."""
    inside = chosen[fields.row]
    counts = np.bincount(fields.field[inside], minlength=len(fields))
    sums = np.bincount(fields.field[inside], weights=column[fields.row[inside]], minlength=len(fields))
    return (sums / np.maximum(1, counts)).astype(np.float32)


def _find_rows(table: NodeTable, rows: Sequence[int], labels: Iterable[Label]) -> list[int]:
    """Return those of a page's rows that its labels mean."""
    labeled: list[int] = []
    for label in labels:
        if label.xpath is not None:
            labeled += pinned_rows(table, rows, label.xpath)
        elif label.value is not None:
            labeled += _rows_with_value(table, rows, label.value)
    return labeled


def _rows_with_value(table: NodeTable, rows: Sequence[int], value: str) -> list[int]:
    """Return all texts that equal a value; else elements that do; else the shortest row that contains it."""
    matching = match_texts({row: table.nodes[row].text for row in rows}, value)
    return [row for row in matching if not table.spans_nodes[row]] or matching


def pinned_rows(table: NodeTable, rows: Sequence[int], xpath: str) -> list[int]:
    """Return those of a page's rows that an XPath selects.

    For an XPath of an element this is the row of the largest element inside of it that has several texts, or else its
    first text.
    """
    if not rows:
        return []
    # The page may have been parsed again in the meantime, so the XPath is evaluated on the tree of the rows.
    root = table.nodes[rows[0]].parent.getroottree().getroot()
    pinned: list[int] = []
    for _, inside in nodes_by_xpath({row: table.nodes[row] for row in rows}, root, xpath):
        spans = [row for row in inside if table.spans_nodes[row]]
        pinned += sorted(spans, key=lambda row: -len(table.nodes[row].text))[:1] or inside[:1]
    return pinned
