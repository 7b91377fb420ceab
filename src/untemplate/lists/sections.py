"""Headings between the records of a list: each says to which part of the list the records below it belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from untemplate.lists.page_profile import HEADINGS
from untemplate.lists.page_tree import PageTree, Run
from untemplate.page import squeeze

__all__ = ["find_sections"]

# Letters of a heading. Longer texts are content.
MAX_HEADING_LETTERS = 120


def find_sections(tree: PageTree, runs: Sequence[Run]) -> list[str | None]:
    """Return the heading above each record; an empty list if no headings part the records.

    Headings are `h1` to `h6`, and table rows with a single cell, that are between records and alike. So a heading
    above the whole list does not count, unless others of its kind follow between the records.

    Args:
        tree: the page.
        runs: the records in page order.
    """
    headings = _headings_outside(tree, runs)
    between = [row for row in headings if runs[0][0] < row < runs[-1][0]]
    kinds = Counter(tree.path_ids[row] for row in between)
    if not kinds:
        return []
    usual = kinds.most_common(1)[0][0]
    alike = np.array([row for row in headings if tree.path_ids[row] == usual], np.int64)
    numbers = np.searchsorted(alike, [run[0] for run in runs]) - 1
    texts = [squeeze("".join(tree.texts_inside((row,)))) for row in alike.tolist()]
    sections = [texts[number] if number >= 0 else None for number in numbers.tolist()]
    return sections if len({*filter(None, sections)}) > 1 else []


def _headings_outside(tree: PageTree, runs: Sequence[Run]) -> list[int]:
    """Return the rows of headings that are in no record, in page order."""
    is_top = np.zeros(len(tree), np.bool_)
    for run in runs:
        is_top[list(run)] = True
    is_outside = tree.depth(is_top) == 0
    is_heading = tree.has_tag(HEADINGS)
    for row in np.flatnonzero(tree.has_tag({"tr"}) & is_outside).tolist():
        is_heading[row] = len(tree.children[row]) == 1
    lengths = tree.total(np.array(list(map(len, tree.texts)), np.float64))
    is_short = (lengths > 0) & (lengths <= MAX_HEADING_LETTERS)
    rows: list[int] = np.flatnonzero(is_heading & is_outside & is_short).tolist()
    return rows
