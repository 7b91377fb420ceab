"""Attributes with several values on a page: from one of them to all of the list that it stands in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from lxml import etree

from untemplate.labeling.nodes.node_table import NodeTable
from untemplate.page import Node
from untemplate.page.arrays import Ints

__all__ = ["all_values"]

# Values of one attribute on a page; more are a list of something else.
MAX_VALUES = 20
# Characters of what separates two values; a longer text is the label of the second.
SEPARATOR = 3


def all_values(table: NodeTable, rows: Ints) -> Ints:
    """Rows of an attribute, and those around them at the same place of the same list."""
    found: set[int] = set()
    for row in rows.tolist():
        page = table.page[row]
        first, last = table.starts[page], table.starts[page + 1]
        alike = np.flatnonzero(table.slot[first:last] == table.slot[row]) + first
        block = _block(table.nodes[row])
        alike = alike[[_block(table.nodes[other]) is block for other in alike.tolist()]]
        lists = np.cumsum([0, *(not _are_listed(table, *pair) for pair in pairwise(alike.tolist()))])
        own = alike[lists == lists[np.searchsorted(alike, row)]]
        found.update(own.tolist() if len(own) <= MAX_VALUES else [row])
    return np.array(sorted(found), np.int32)


def _block(node: Node) -> etree._Element:
    """What holds the values of a list: the element two levels above theirs, the `ul` of `ul/li/a`."""
    element = node.parent
    for _ in range(2):
        parent = element.getparent()
        element = element if parent is None else parent
    return element


def _are_listed(table: NodeTable, one: int, other: int) -> bool:
    """Whether nothing but a comma or an `and` stands between two rows."""
    between = range(table.last[one] + 1, table.first[other])
    return all(len(table.texts[table.text[row]]) <= SEPARATOR for row in between)
