"""Labels to rows: which nodes of a seed site hold an attribute, and which do not."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from untemplate.labeling.label import Label
from untemplate.labeling.nodes import Fields, NodeTable
from untemplate.page import nodes_at, squeeze
from untemplate.page.arrays import Bools, Floats
from untemplate.schema import Attribute, Type

__all__ = ["Examples", "find_examples", "kinds_of", "pinned", "presume_examples"]

# A text that is a label's value here and there by chance is no example: of the rows of its field at least this share
# must hold the attribute, on at least this share of the labelled pages.
MIN_PRECISION = 0.5
MIN_SHARE = 0.02

_KINDS: dict[Type, tuple[str, ...]] = {"image": ("@src", "@data-src"), "url": ("@href", "text()")}


@dataclass(frozen=True)
class Examples:
    """Of one attribute on one seed site."""

    positive: Bools  # rows that hold it
    negative: Bools  # rows of labelled pages that do not, and could; no whole elements if none holds it
    weight: Floats  # of each field, how well it holds the attribute
    bare: int = 0  # texts with a label in them, such as `Tel: 555`, that are labelled without it
    full: int = 0  # and as a whole


def kinds_of(attribute: Attribute) -> tuple[str, ...]:
    """The kinds of nodes that hold an attribute."""
    return _KINDS.get(attribute.type, ("text()",))


def find_examples(fields: Fields, labels: Iterable[Label], attribute: Attribute) -> Examples | None:
    """The examples of an attribute; None if its labels are nowhere on the pages."""
    table = fields.table
    named = {name: number for number, page in enumerate(table.pages) for name in (page.url, page.id)}
    given: dict[int, list[Label]] = {}
    for label in labels:
        if label.attribute == attribute.name and label.page in named:
            given.setdefault(named[label.page], []).append(label)
    eligible = table.has_kind(kinds_of(attribute)) & ~table.is_excluded
    held, judged = np.zeros(len(table), np.bool_), np.zeros(len(table), np.bool_)
    bare = full = 0
    for page, found in given.items():
        start, stop = int(table.starts[page]), int(table.starts[page + 1])
        judged[start:stop] = True
        rows = _rows_of(table, start, stop, found, eligible)
        held[rows] = True
        values = {_plain(label.value) for label in found if label.value is not None}
        for row in rows:
            text, inside = table.nodes[row].text, fields.bare(row, attribute.type)
            bare += text != inside and inside in values
            full += text != inside and text in values
    labelled = sum(any(not label.is_gap for label in found) for found in given.values())
    precision = _mean_over(fields, held, judged)
    share = np.bincount(fields.field, weights=held[fields.row], minlength=len(fields)) / max(1, labelled)
    good = (precision >= MIN_PRECISION) & (share >= MIN_SHARE)
    consistent = np.zeros(len(table), np.bool_)
    consistent[fields.row[good[fields.field]]] = True
    positive = held & consistent
    if not positive.any():
        return None
    negative = _others(table, positive, judged & eligible & ~held)
    weight = np.where(good, precision * share, 0)
    return Examples(positive, negative, (weight / weight.sum()).astype(np.float32), bare, full)


def presume_examples(fields: Fields, field: int) -> Examples:
    """The examples of an attribute that a field is believed to hold; other rows with its values tell nothing."""
    table = fields.table
    positive = np.zeros(len(table), np.bool_)
    positive[fields.rows_of(field)] = True
    texts = table.page.astype(np.int64) * len(table.texts) + table.text
    on_page = np.isin(table.page, table.page[positive]) & ~np.isin(texts, texts[positive])
    negative = _others(table, positive, table.has_kind(["text()"]) & ~table.is_excluded & on_page)
    weight = np.zeros(len(fields), np.float32)
    weight[field] = 1
    return Examples(positive, negative, weight)


def _others(table: NodeTable, positive: Bools, among: Bools) -> Bools:
    """What of these rows does not hold an attribute, and could."""
    spans_nodes = (positive & table.spans_nodes).any()
    return among & ~table.is_static & (spans_nodes | ~table.spans_nodes)


def _mean_over(fields: Fields, column: Bools, among: Bools) -> Floats:
    """The mean of a column over those of each field's rows that are among some."""
    inside = among[fields.row]
    counts = np.bincount(fields.field[inside], minlength=len(fields))
    sums = np.bincount(fields.field[inside], weights=column[fields.row[inside]], minlength=len(fields))
    return (sums / np.maximum(1, counts)).astype(np.float32)


def _rows_of(table: NodeTable, start: int, stop: int, labels: list[Label], eligible: Bools) -> list[int]:
    """The rows of a page that its labels mean: the pinned node, all texts that are the value, else whole elements,
    else the shortest row around it.
    """
    rows = [row for row in range(start, stop) if eligible[row]]
    found: list[int] = []
    for label in labels:
        if label.xpath is not None:
            found += pinned(table, rows, label.xpath)
        elif label.value is not None:
            value = _plain(label.value)
            texts = [(row, table.nodes[row].text) for row in rows]
            same = [row for row, text in texts if text == value]
            around = [(len(text), row) for row, text in texts if value in text] if not same else []
            single = [row for row in same if not table.spans_nodes[row]]
            found += single or same or [row for _, row in sorted(around)[:1]]
    return found


def _plain(value: str) -> str:
    return squeeze(html.unescape(value))


def pinned(table: NodeTable, rows: Sequence[int], xpath: str) -> list[int]:
    """Those of the rows of a page that an XPath means."""
    if not rows:
        return []
    # The page may have been parsed anew since, so it is asked of the tree of its rows.
    root = table.nodes[rows[0]].parent.getroottree().getroot()
    by_node = {(table.nodes[row].element, table.nodes[row].kind): row for row in rows}
    found: list[int] = []
    for element, kind in nodes_at(root, xpath):
        if kind == "element":
            elements = set(element.iter())
            inside = [row for row in rows if table.nodes[row].parent in elements]
            wholes = [row for row in inside if table.spans_nodes[row]]
            found += sorted(wholes, key=lambda row: -len(table.nodes[row].text))[:1] or inside[:1]
        elif (element, kind) in by_node:
            found.append(by_node[element, kind])
    return found
