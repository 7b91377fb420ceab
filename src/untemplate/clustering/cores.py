"""The core of each template: what the markup of nearly all its pages has in common, and how much a page must have.

How much of a core a page has differs from site to site. On some, every page has all of it, and pages of another kind
have 90 %, because they share a big frame. On others, pages of the template itself have 75 %. So each core comes with
its own limits, from how much each page has of the core of the other pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from untemplate.clustering.site_sample import KeptPage
from untemplate.page.arrays import Bools, Doubles, Longs
from untemplate.page.traits import Core, Runs

__all__ = ["find_cores"]

MAX_CORE_PAGES = 100
"""Pages of a template from which its core is computed."""

MAX_CORE_RUNS = 256
"""Tag runs that a core stores of the template's own, and as many of the frame."""

CORE_SHARE = 0.9
"""A tag run on this share of a template's pages is in its core; if on this share of all others, too, in the frame."""

# The constants below were set on blogs and shops. `python -m benchmarks.measure.whole_sites --choose` compares
# values.

ALWAYS_SHARE = 0.97
"""Own runs that decide are on this share of the pages, so that pages without an optional part are not rejected."""

MIN_OWN_SHARE = 0.75
"""The share of the own runs that a page must have."""

ENOUGH_OWN_RUNS = 10
"""With this many own runs, less of the whole core is enough."""

# All but the lowest 2 % of a template's pages have more of the whole core than the limit, and new pages may have 3
# points less. The limit is never lower than the first of these values, against templates with one odd page, and never
# higher than the second, or than the third if the template has enough own runs.
LOWEST_SHARE_OF_PAGES = 0.02
SHARE_MARGIN = 0.03
MIN_SHARE, MAX_SHARE, MAX_SHARE_WITH_OWN = 0.65, 0.93, 0.85


def find_cores(groups: Sequence[Sequence[int]], pages: Sequence[KeptPage]) -> list[Core]:
    """Return the core of each group of pages.

    Args:
        groups: page numbers of each template.
        pages: all pages of the sample, by number.
    """
    if not groups:
        return []
    tables, names = _tabulate([_choose_pages(group, pages) for group in groups])
    counts = np.array([table.sum(axis=0) for table in tables])
    sizes = np.array([len(table) for table in tables])
    cores: list[Core] = []
    for table, count in zip(tables, counts, strict=True):
        other_counts = counts.sum(axis=0) - count
        in_frame = other_counts >= CORE_SHARE * (sizes.sum() - len(table))
        cores.append(_make_core(table, in_frame, names))
    return cores


def _choose_pages(group: Sequence[int], pages: Sequence[KeptPage]) -> list[KeptPage]:
    chosen = group if len(group) <= MAX_CORE_PAGES else Random(0).sample(group, MAX_CORE_PAGES)
    return [pages[number] for number in chosen]


def _tabulate(groups: Sequence[Sequence[KeptPage]]) -> tuple[list[Bools], Runs]:
    """Return a table for each group, with a row per page and a column per tag run, and the runs of the columns."""
    names = np.unique(np.concatenate([kept.runs for group in groups for kept in group]))
    tables: list[Bools] = []
    for group in groups:
        table = np.zeros((len(group), len(names)), np.bool_)
        for row, kept in zip(table, group, strict=True):
            row[np.searchsorted(names, kept.runs)] = True
        tables.append(table)
    return tables, names


def _make_core(table: Bools, in_frame: Bools, names: Runs) -> Core:
    in_core = table.sum(axis=0) >= CORE_SHARE * len(table)
    own = names[(table.sum(axis=0) >= ALWAYS_SHARE * len(table)) & ~in_frame]
    if len(own) < ENOUGH_OWN_RUNS:
        own = names[in_core & ~in_frame]
    frame = names[in_core & in_frame]
    highest = MAX_SHARE if len(own) < ENOUGH_OWN_RUNS else MAX_SHARE_WITH_OWN
    usual = float(np.quantile(_shares_of_others_core(table), LOWEST_SHARE_OF_PAGES)) - SHARE_MARGIN
    min_share = round(min(highest, max(MIN_SHARE, usual)), 3)
    return Core(_select_runs(own), _select_runs(frame), MIN_OWN_SHARE, min_share)


def _shares_of_others_core(table: Bools) -> Doubles:
    """Return for each page which share it has of the core of the other pages."""
    shares = np.ones(len(table))
    if len(table) < 2:
        return shares
    counts: Longs = table.sum(axis=0)
    for number, row in enumerate(table):
        core = counts - row >= CORE_SHARE * (len(table) - 1)
        shares[number] = row[core].mean() if core.any() else 1.0
    return shares


def _select_runs(runs: Runs) -> tuple[int, ...]:
    """Return the first of the runs in ascending order. They are hashes, so these are a random choice."""
    return tuple(runs[:MAX_CORE_RUNS].tolist())
