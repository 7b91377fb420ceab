"""Appearance: what people see in groups, as numbers: the features by which the records of a page are chosen.

All groups of a page are described at once, as columns: one by one would take longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from untemplate.layout import VIEWPORT
from untemplate.lists.groups import Group
from untemplate.lists.survey import ITEMS, Survey
from untemplate.lists.tree import Floats, Ints

__all__ = ["FEATURES", "describe"]

# So many records of a group are looked at where one by one is slow.
SOME = 20
# Groups are described together until they have so many rows: what that takes is kept in memory.
BATCH = 200_000

FEATURES = {
    "number": "how many records, log",
    "two": "only two",
    "coverage": "share of the page's letters",
    "length": "letters of a record, log",
    "links": "share of its letters in links",
    "headed": "records with a heading",
    "likeness": "likeness to the middle record",
    "paths": "different tag paths in the middle record, log",
    "distinct": "records whose text no other has",
    "variety": "different texts among some of them, log",
    "repeats": "letters in parts that are alike, inside a record",
    "parents": "parents a record",
    "uneven": "deviation of lengths",
    "item": "list items, table rows, articles",
    "compact": "share of the letters from the first record to the last",
    "gaps": "places where much stands between records, log",
    "left_out": "siblings of the same tag and size that are not in the group",
    "left_any": "siblings of the same tag that are not, of any size",
    "consistent": "deviation of how many siblings make a record",
    "uniform": "records with the class that most of them have",
    "aside": "records in parts named navigation, footer and the like",
    "near_aside": "records of which the nearest named part is so named, not main",
    "main": "records in parts named main, results and the like",
    "own_main": "records that are so named",
    "area": "share of the page's area",
    "center": "distance from the middle of the window",
    "top": "how far down",
    "shown": "records that are visible",
    "columns": "different left edges, log",
}


def describe(survey: Survey, groups: Sequence[Group]) -> Floats:
    """What people see in each group, in the order of FEATURES."""
    described = [_Batch(survey, batch).describe() for batch in _batches(groups)]
    return np.concatenate(described) if described else np.zeros((0, len(FEATURES)))


def _batches(groups: Sequence[Group]) -> Iterator[list[Group]]:
    batch: list[Group] = []
    rows = 0
    for group in groups:
        batch.append(group)
        rows += sum(map(len, group.runs))
        if rows > BATCH:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


class _Batch:
    """Some groups as columns: of all rows of their runs, of the runs, of the groups."""

    def __init__(self, survey: Survey, groups: Sequence[Group]) -> None:
        self._survey = survey
        runs = [run for group in groups for run in group.runs]
        self._rows = np.array([row for run in runs for row in run])
        #: how many siblings make each run, and where they begin among the rows
        self._lengths = np.array([len(run) for run in runs])
        self._run_starts = np.cumsum(self._lengths) - self._lengths
        self._first = self._rows[self._run_starts]
        self._last = self._rows[self._run_starts + self._lengths - 1]
        #: how many runs make each group, and where they begin among the runs
        self._counts = np.array([len(group) for group in groups])
        self._starts = np.cumsum(self._counts) - self._counts
        self._group = np.repeat(np.arange(len(groups)), self._counts)
        number = np.arange(len(runs)) - self._starts[self._group]
        self._some = number % np.maximum(1, self._counts // SOME)[self._group] == 0

    def describe(self) -> Floats:
        survey, first, counts = self._survey, self._first, self._counts
        tree, boxes = survey.tree, survey.boxes[first]
        end, parents = tree.end[self._last], tree.parent[first]
        chars = self._per_run(survey.chars)
        total = np.maximum(self._sum(chars), 1.0)
        mean = np.maximum(self._mean(chars), 1.0)
        middle = self._middle()
        texts = survey.codes_before[end] - survey.codes_before[first]
        span = survey.before[end[self._starts + counts - 1]] - survey.before[first[self._starts]]
        values = {
            "number": np.log(counts),
            "two": counts == 2,
            "coverage": self._sum(chars) / survey.all_chars,
            "length": np.log1p(mean),
            "links": self._sum(self._per_run(survey.link_chars)) / total,
            "headed": self._mean(self._per_run(survey.headings) > 0),
            "likeness": self._likeness(middle),
            "paths": np.log1p([survey.shapes.size(row) for row in middle.tolist()]),
            "distinct": self._different(texts) / counts,
            "variety": np.log1p(self._different(texts, self._some)),
            "repeats": self._mean(survey.repeats[first]),
            "parents": self._different(parents) / counts,
            "uneven": self._deviation(chars) / mean,
            "item": [tree.tags[row] in ITEMS for row in middle.tolist()],
            "compact": total / np.maximum(span, 1.0),
            "gaps": np.log1p(self._gaps(end, 2 * mean)),
            "left_out": self._left_out(parents, tree.tag_ids[middle], mean / 2),
            "left_any": self._left_out(parents, tree.tag_ids[middle], np.zeros(len(mean))),
            "consistent": self._deviation(self._lengths) / self._mean(self._lengths),
            "uniform": self._most(survey.classes[first]) / counts,
            "aside": self._mean(survey.aside[first]),
            "near_aside": self._mean(survey.near_aside[first]),
            "main": self._mean(survey.main[parents]),
            "own_main": self._mean(survey.own_main[first]),
            "area": self._sum(boxes[:, 2] * boxes[:, 3]) / survey.area,
            "center": self._mean(np.abs(boxes[:, 0] + boxes[:, 2] / 2 - VIEWPORT / 2)) / VIEWPORT,
            "top": self._mean(boxes[:, 1]) / survey.height,
            "shown": self._mean(survey.displayed[first]),
            "columns": np.log(self._different(np.round(boxes[:, 0] / 20))),
        }
        return np.stack([np.asarray(values[name], np.float64) for name in FEATURES], axis=1)

    def _per_run(self, column: Floats) -> Floats:
        return np.add.reduceat(column[self._rows], self._run_starts)

    def _sum(self, column: npt.NDArray[np.generic]) -> Floats:
        """Of each group the sum over its runs."""
        return np.add.reduceat(column.astype(np.float64), self._starts)

    def _mean(self, column: npt.NDArray[np.generic]) -> Floats:
        mean: Floats = self._sum(column) / self._counts
        return mean

    def _deviation(self, column: npt.NDArray[np.generic]) -> Floats:
        away = column.astype(np.float64) - self._mean(column)[self._group]
        return np.sqrt(self._mean(away * away))

    def _middle(self) -> Ints:
        """Of each group the row of the record with a middling number of texts."""
        order = np.lexsort((self._per_run(self._survey.texts), self._group))
        middle: Ints = self._first[order[self._starts + self._counts // 2]]
        return middle

    def _likeness(self, middle: Ints) -> Floats:
        """Of each group how like some of its records are to the middle one."""
        some, group = self._first[self._some], self._group[self._some]
        shapes = self._survey.shapes
        pairs = zip(middle[group].tolist(), some.tolist(), strict=True)
        like = np.array([shapes.likeness(one, other) for one, other in pairs])
        return np.bincount(group, like, len(middle)) / np.bincount(group, minlength=len(middle))

    def _different(
        self, column: npt.NDArray[np.generic], chosen: npt.NDArray[np.bool_] | None = None
    ) -> Floats:
        """Of each group how many different values its runs have, or those chosen."""
        group = self._group
        if chosen is not None:
            column, group = column[chosen], group[chosen]
        _, new = _sorted(group, column)
        return np.add.reduceat(new.astype(np.float64), np.flatnonzero(np.diff(group, prepend=-1)))

    def _most(self, column: Ints) -> Floats:
        """Of each group how many runs have the value that most of them have."""
        order, new = _sorted(self._group, column)
        begins = np.flatnonzero(new)
        times = np.diff(begins, append=len(order)).astype(np.float64)
        return np.maximum.reduceat(times, np.flatnonzero(np.diff(self._group[order[begins]], prepend=-1)))

    def _gaps(self, end: Ints, limit: Floats) -> Floats:
        """Of each group how often more letters than its limit stand between neighbours."""
        before = self._survey.before
        between = np.zeros(len(end))
        between[1:] = before[self._first[1:]] - before[end[:-1]]
        between[self._starts] = 0
        return self._sum(between > limit[self._group])

    def _left_out(self, parents: Ints, tags: Ints, chars: Floats) -> Floats:
        """Of each group the share of siblings of its tag, with so many letters, that are not in it.

        They are counted in a few of its parents.
        """
        tree, survey = self._survey.tree, self._survey
        size, kinds = int(survey.chars.max()) + 2, int(tree.tag_ids.max()) + 1
        siblings = np.sort((tree.parent * kinds + tree.tag_ids) * size + survey.chars.astype(np.int64))
        order, new = _sorted(self._group, parents)
        begins = np.flatnonzero(new)
        taken = np.diff(begins, append=len(order))
        group, parent = self._group[order[begins]], parents[order[begins]]
        number = np.arange(len(begins)) - np.searchsorted(group, group)
        group, parent, taken = (column[number < SOME] for column in (group, parent, taken))
        kind = (parent * kinds + tags[group]) * size
        least = np.minimum(np.ceil(chars[group]).astype(np.int64), size - 1)
        alike = np.searchsorted(siblings, kind + size) - np.searchsorted(siblings, kind + least)
        others = np.bincount(group, np.maximum(alike - taken, 0), len(tags))
        share: Floats = others / (others + np.bincount(group, taken, len(tags)))
        return share


def _sorted(
    group: Ints, column: npt.NDArray[np.generic]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The order of a column within each group, and where in it another value or group begins."""
    order = np.lexsort((column, group))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(group[order]) != 0) | (column[order][1:] != column[order][:-1])
    return order, new
