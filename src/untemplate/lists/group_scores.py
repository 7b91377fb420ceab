"""Which group is the list of a page: features of groups as people see them, and linear scores of these features.

All groups of a page are measured together, as NumPy columns. Measuring one group at a time would take longer than
everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from untemplate.layout import VIEWPORT
from untemplate.lists.groups import Group, drop_hidden_members, dropped_members
from untemplate.lists.page_profile import ITEM_TAGS, PageProfile
from untemplate.page.arrays import Bools, Doubles, Longs

__all__ = [
    "GROUP_FEATURES",
    "GROUP_WEIGHTS",
    "disjoint_lists",
    "largest_groups",
    "measure_groups",
    "mostly_aside",
    "mostly_hidden",
    "score_groups",
    "shipped_group_weights",
]

GROUP_FEATURES = {
    "number": "number of records, log",
    "two": "there are only two",
    "coverage": "share of the page's characters",
    "length": "characters per record, log",
    "links": "share of these characters in links",
    "headed": "share of records with a heading",
    "similarity": "mean similarity to the middle record",
    "paths": "different tag paths in the middle record, log",
    "distinct": "share of different texts",
    "variety": "number of different texts in a sample of records, log",
    "repeats": "share of a record's characters in parts that repeat inside it",
    "parents": "number of parents per record",
    "uneven": "relative deviation of lengths",
    "item": "the middle record is a list item, table row or article",
    "wrapper": "the middle record is a list (`ul`, `ol`), whose items are likelier records",
    "compact": "share of the characters from the first record to the last",
    "gaps": "number of long texts between records, log",
    "left_out": "share of siblings with the same tag and a similar size that are not in the group",
    "left_any": "share of siblings with the same tag that are not in the group",
    "left_alike": "share of parts with the same tag and classes and a similar size that are not in the group",
    "uniform": "share of records with the most frequent class",
    "aside": "share of records in parts named navigation, footer and the like",
    "near_aside": "share of records whose nearest named part has such a name, not one like main",
    "in_navigation": "share of records in `nav` and `footer` elements and in the header of the page",
    "main": "share of records in parts named main, results and the like",
    "own_main": "share of records with such a name",
    "area": "share of the page's area",
    "center": "distance from the middle of the window",
    "top": "distance from the top of the page",
    "shown": "share of visible records",
    "columns": "number of different left edges, log",
    "documents": "share of records with a link to a document",
    "declared": "share of records that the page's data list",
    "inner": "share of the parents' elements outside of the records, where each record has its own parent",
    "paged": "share of the characters of the part that ends with links to further pages",
    "stated": "the page states this number of records, and hardly any similar sibling is left out",
}
# `python -m benchmarks.train.list_choice` prints these: the weights with which a softmax over the
# groups of a page selects its records, on 814 pages of `lists`, `courts`, `shops` and `blogs`. Too few of them
# declare their items in JSON-LD to fit that weight: it is as large as that of the best other hint.
GROUP_WEIGHTS = {
    "number": 0.284,
    "two": -0.894,
    "coverage": 1.574,
    "length": 0.396,
    "links": -0.052,
    "headed": 1.520,
    "similarity": 1.755,
    "paths": 1.538,
    "distinct": 0.017,
    "variety": 1.796,
    "repeats": -3.248,
    "parents": -0.105,
    "uneven": -1.309,
    "item": 0.264,
    "wrapper": -2.374,
    "compact": 1.250,
    "gaps": -0.256,
    "left_out": -0.758,
    "left_any": -0.602,
    "left_alike": -1.249,
    "uniform": 1.622,
    "aside": -0.990,
    "near_aside": -1.128,
    "in_navigation": -1.725,
    "main": 0.593,
    "own_main": 0.467,
    "area": -0.413,
    "center": 1.479,
    "top": 0.663,
    "shown": 1.601,
    "columns": -0.500,
    "documents": 3.433,
    "declared": 3.000,
    "inner": 0.444,
    "paged": 1.433,
    "stated": 0.510,
}
# Records per group that are compared one by one, which is slow; and parents per group whose children are counted.
MAX_SAMPLE = 20
# Groups are measured together until they have this many rows, which limits the memory.
MAX_BATCH_ROWS = 200_000
# Groups that are scored: those with the most text. Real pages have a few hundred.
MAX_GROUPS = 2_000
# Items of these are records, not they themselves.
_WRAPPER_TAGS = frozenset({"ul", "ol"})
# A number of records that the page states is that of a group only if at most this share of similar siblings is left
# out: pages do not count advertisements among the results.
MAX_LEFT_OUT = 0.1
# More than any difference of scores.
_HIDDEN_PENALTY = 1_000.0
_SHOWN = list(GROUP_FEATURES).index("shown")
_NEAR_ASIDE = list(GROUP_FEATURES).index("near_aside")


def shipped_group_weights() -> Doubles:
    """Return GROUP_WEIGHTS as a vector, in the order of GROUP_FEATURES."""
    return np.array([GROUP_WEIGHTS[name] for name in GROUP_FEATURES])


def largest_groups(profile: PageProfile, groups: Sequence[Group]) -> list[Group]:
    """Return the groups with the most text, at most MAX_GROUPS, in their order."""
    if len(groups) <= MAX_GROUPS:
        return list(groups)
    chars = [sum(profile.chars[list(run)].sum() for run in group.runs) for group in groups]
    return [groups[number] for number in sorted(np.argsort(chars)[-MAX_GROUPS:].tolist())]


def score_groups(features: Doubles, weights: Doubles) -> Doubles:
    """Return how much each group looks like the records of its page; hidden groups rank after all others.

    Args:
        features: a row per group, as from `measure_groups`.
        weights: the weights of GROUP_FEATURES, as from `shipped_group_weights`.
    """
    scores: Doubles = features @ weights - _HIDDEN_PENALTY * mostly_hidden(features)
    return scores


def mostly_hidden(features: Doubles) -> Bools:
    """Return which groups are hidden for the most part."""
    hidden: Bools = features[:, _SHOWN] <= 0.5
    return hidden


def mostly_aside(features: Doubles) -> Bools:
    """Return which groups are for the most part in navigation, footers and the like.

    The list of none of the 520 pages of `lists`, `courts` and `shops` is.
    """
    aside: Bools = features[:, _NEAR_ASIDE] > 0.5
    return aside


def disjoint_lists(profile: PageProfile, groups: Sequence[Group], scores: Doubles) -> list[Group]:
    """Select groups that do not overlap, the best first, then groups of the members that these drop.

    Args:
        profile: the page.
        groups: all groups of the page.
        scores: their scores, higher is better.
    """
    is_taken = np.zeros(len(profile.tree) + 1, np.bool_)
    waiting = [groups[number] for number in np.argsort(-scores, kind="stable").tolist()]
    chosen: list[Group] = []
    while waiting:
        dropped: list[Group] = []
        for group in waiting:
            if any(is_taken[start:end].any() for start, end in _row_spans(profile, group)):
                continue
            chosen.append(group)
            for start, end in _row_spans(profile, drop_hidden_members(profile, group)):
                is_taken[start:end] = True
            dropped.append(dropped_members(profile, group))
        waiting = [group for group in dropped if len(group) > 1]
    return chosen


def _row_spans(profile: PageProfile, group: Group) -> list[tuple[int, int]]:
    return [(run[0], int(profile.tree.end[run[-1]])) for run in group.runs]


def measure_groups(profile: PageProfile, groups: Sequence[Group]) -> Doubles:
    """Return a row of features per group, in the order of GROUP_FEATURES."""
    features = [_GroupBatch(profile, batch).measure() for batch in _split_batches(groups)]
    return np.concatenate(features) if features else np.zeros((0, len(GROUP_FEATURES)))


def _split_batches(groups: Sequence[Group]) -> Iterator[list[Group]]:
    batch: list[Group] = []
    rows = 0
    for group in groups:
        batch.append(group)
        rows += sum(map(len, group.runs))
        if rows > MAX_BATCH_ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


class _GroupBatch:
    """Some groups as columns on three levels: the rows of all runs, the runs, and the groups."""

    def __init__(self, profile: PageProfile, groups: Sequence[Group]) -> None:
        self._profile = profile
        runs = list(chain.from_iterable(group.runs for group in groups))
        self._rows = np.array(list(chain.from_iterable(runs)))
        #: the number of siblings in each run, and where they begin among the rows
        self._lengths = np.array([len(run) for run in runs])
        self._run_starts = np.cumsum(self._lengths) - self._lengths
        self._first = self._rows[self._run_starts]
        self._last = self._rows[self._run_starts + self._lengths - 1]
        #: the number of runs in each group, and where they begin among the runs
        self._counts = np.array([len(group) for group in groups])
        self._starts = np.cumsum(self._counts) - self._counts
        self._group = np.repeat(np.arange(len(groups)), self._counts)
        number = np.arange(len(runs)) - self._starts[self._group]
        self._in_sample = number % np.maximum(1, self._counts // MAX_SAMPLE)[self._group] == 0

    def measure(self) -> Doubles:
        """Return the features of the groups."""
        profile, first, counts = self._profile, self._first, self._counts
        tree, boxes = profile.tree, profile.boxes[first]
        end, parents = tree.end[self._last], tree.parent[first]
        chars = self._per_run(profile.chars)
        total = np.maximum(self._sum(chars), 1.0)
        mean = np.maximum(self._mean(chars), 1.0)
        middle = self._middle()
        texts = profile.codes_before[end] - profile.codes_before[first]
        left_out = self._share_left_out(parents, tree.tag_ids[middle], mean / 2)
        span = (
            profile.chars_before[end[self._starts + counts - 1]] - profile.chars_before[first[self._starts]]
        )
        values = {
            "number": np.log(counts),
            "two": counts == 2,
            "coverage": self._sum(chars) / profile.all_chars,
            "length": np.log1p(mean),
            "links": self._sum(self._per_run(profile.link_chars)) / total,
            "headed": self._mean(self._per_run(profile.headings) > 0),
            "similarity": self._similarity(middle),
            "paths": np.log1p([profile.shapes.size(row) for row in middle.tolist()]),
            "distinct": self._count_different(texts) / counts,
            "variety": np.log1p(self._count_different(texts, self._in_sample)),
            "repeats": self._mean(self._per_run(profile.repeats * profile.chars) / np.maximum(chars, 1.0)),
            "parents": self._count_different(parents) / counts,
            "uneven": self._deviation(chars) / mean,
            "item": [tree.tags[row] in ITEM_TAGS for row in middle.tolist()],
            "wrapper": [tree.tags[row] in _WRAPPER_TAGS for row in middle.tolist()],
            "compact": total / np.maximum(span, 1.0),
            "gaps": np.log1p(self._count_gaps(end, 2 * mean)),
            "left_out": left_out,
            "left_any": self._share_left_out(parents, tree.tag_ids[middle], np.zeros(len(mean))),
            "left_alike": self._share_left_alike(),
            "uniform": self._share_of_class(),
            "aside": self._mean(profile.aside[first]),
            "near_aside": self._mean(profile.near_aside[first]),
            "in_navigation": self._mean(profile.in_navigation[first]),
            "main": self._mean(profile.main[parents]),
            "own_main": self._mean(profile.own_main[first]),
            "area": self._sum(boxes[:, 2] * boxes[:, 3]) / profile.area,
            "center": self._mean(np.abs(boxes[:, 0] + boxes[:, 2] / 2 - VIEWPORT / 2)) / VIEWPORT,
            "top": self._mean(boxes[:, 1]) / profile.height,
            "shown": self._mean(profile.displayed[first]),
            "columns": np.log(self._count_different(np.round(boxes[:, 0] / 20))),
        }
        values |= self._measure_hints(end, parents, chars)
        values["stated"] = self._states_number() & (left_out < MAX_LEFT_OUT)
        return np.stack([np.asarray(values[name], np.float64) for name in GROUP_FEATURES], axis=1)

    def _measure_hints(self, end: Longs, parents: Longs, chars: Doubles) -> dict[str, Doubles]:
        """Return the features that come from what the page says about its own records."""
        hints, first = self._profile.hints, self._first
        return {
            "documents": self._mean(hints.documents[end] > hints.documents[first]),
            "declared": self._mean(hints.declared[end] > hints.declared[first]),
            "inner": self._share_outside(end, parents),
            "paged": self._share_of_paged(end, chars),
        }

    def _share_outside(self, end: Longs, parents: Longs) -> Doubles:
        """Return the share of the parents' elements outside of the records where each record has its own parent."""
        elements, parent_end = self._profile.hints.elements, self._profile.tree.end[parents]
        inside = self._sum(elements[end] - elements[self._first])
        around = np.maximum(self._sum(elements[parent_end] - elements[parents] - 1), 1.0)
        has_own_parent = self._count_different(parents) == self._counts
        return np.where(has_own_parent, 1 - np.minimum(inside / around, 1), 0.0)

    def _share_of_paged(self, end: Longs, chars: Doubles) -> Doubles:
        """Return the share of each group in the smallest part around it that has links to further pages."""
        profile = self._profile
        starts, stops = self._first[self._starts], np.maximum.reduceat(end, self._starts)
        total, shares = self._sum(chars), np.zeros(len(starts))
        for row in profile.hints.paging_parents.tolist():
            is_inside = (starts > row) & (stops <= profile.tree.end[row])
            share = np.minimum(total / max(float(profile.chars[row]), 1.0), 1.0)
            shares = np.where(is_inside, np.maximum(shares, share), shares)
        return shares

    def _states_number(self) -> Bools:
        """Return for which groups the page states that it shows as many records."""
        stated = np.array(sorted(self._profile.hints.stated_counts), np.int64)
        return np.isin(self._counts, stated)

    def _share_of_class(self) -> Doubles:
        """Return the share of each group's records that have its most frequent class."""
        starts = self._profile.class_starts
        lengths = starts[self._first + 1] - starts[self._first]
        runs = np.repeat(np.arange(len(self._first)), lengths)
        number = np.arange(len(runs)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        classes = self._profile.class_ids[starts[self._first[runs]] + number]
        _, times = _most_frequent(self._group[runs], classes)
        share: Doubles = times / self._counts
        return share

    def _share_left_alike(self) -> Doubles:
        """Return the share of visible parts with a group's usual tag and classes that are not in the group.

        Only parts with at least half of the characters of its records count. Groups without classes have 0.
        """
        profile = self._profile
        size = int(profile.chars.max()) + 2
        keys = np.sort((profile.look_ids * size + profile.chars.astype(np.int64))[profile.shown])
        chars = profile.chars[self._first]
        least = np.ceil(self._mean(chars) / 2)
        look, _ = _most_frequent(self._group, profile.look_ids[self._first])
        start = look * size + np.minimum(least, size - 1).astype(np.int64)
        alike = np.searchsorted(keys, (look + 1) * size) - np.searchsorted(keys, start)
        has_look = profile.look_ids[self._first] == look[self._group]
        is_counted = has_look & profile.shown[self._first] & (chars >= least[self._group])
        outside = np.maximum(alike - self._sum(is_counted), 0)
        return np.where(look > 0, outside / np.maximum(alike, 1), 0.0)

    def _per_run(self, column: Doubles) -> Doubles:
        """Sum a column of tree rows over the siblings of each run."""
        return np.add.reduceat(column[self._rows], self._run_starts)

    def _sum(self, column: npt.NDArray[np.generic]) -> Doubles:
        """Sum a column of runs over each group."""
        return np.add.reduceat(column.astype(np.float64), self._starts)

    def _mean(self, column: npt.NDArray[np.generic]) -> Doubles:
        mean: Doubles = self._sum(column) / self._counts
        return mean

    def _deviation(self, column: npt.NDArray[np.generic]) -> Doubles:
        away = column.astype(np.float64) - self._mean(column)[self._group]
        return np.sqrt(self._mean(away * away))

    def _middle(self) -> Longs:
        """Return the row of each group's record with the median number of texts."""
        order = np.lexsort((self._per_run(self._profile.texts), self._group))
        middle: Longs = self._first[order[self._starts + self._counts // 2]]
        return middle

    def _similarity(self, middle: Longs) -> Doubles:
        """Return the mean similarity of each group's sample to its middle record."""
        sample, group = self._first[self._in_sample], self._group[self._in_sample]
        shapes = self._profile.shapes
        pairs = zip(middle[group].tolist(), sample.tolist(), strict=True)
        similarities = np.array([shapes.similarity(left, right) for left, right in pairs])
        return np.bincount(group, similarities, len(middle)) / np.bincount(group, minlength=len(middle))

    def _count_different(self, column: npt.NDArray[np.generic], chosen: Bools | None = None) -> Doubles:
        """Count the different values of each group's runs, or of the chosen runs only."""
        group = self._group
        if chosen is not None:
            column, group = column[chosen], group[chosen]
        _, new = _sort_in_groups(group, column)
        return np.add.reduceat(new.astype(np.float64), np.flatnonzero(np.diff(group, prepend=-1)))

    def _count_gaps(self, end: Longs, limit: Doubles) -> Doubles:
        """Count per group the neighbors with more characters between them than the group's limit."""
        before = self._profile.chars_before
        between = np.zeros(len(end))
        between[1:] = before[self._first[1:]] - before[end[:-1]]
        between[self._starts] = 0
        return self._sum(between > limit[self._group])

    def _share_left_out(self, parents: Longs, tags: Longs, chars: Doubles) -> Doubles:
        """Return the share of siblings of each group's tag that are not in the group.

        Only siblings with at least the given number of characters count, in the first MAX_SAMPLE parents of a group.
        All counts are searches in one sorted array, whose keys combine parent, tag and length.
        """
        tree, profile = self._profile.tree, self._profile
        size, kinds = int(profile.chars.max()) + 2, int(tree.tag_ids.max()) + 1
        siblings = np.sort((tree.parent * kinds + tree.tag_ids) * size + profile.chars.astype(np.int64))
        order, new = _sort_in_groups(self._group, parents)
        begins = np.flatnonzero(new)
        taken = np.diff(begins, append=len(order))
        group, parent = self._group[order[begins]], parents[order[begins]]
        number = np.arange(len(begins)) - np.searchsorted(group, group)
        group, parent, taken = (column[number < MAX_SAMPLE] for column in (group, parent, taken))
        kind = (parent * kinds + tags[group]) * size
        least = np.minimum(np.ceil(chars[group]).astype(np.int64), size - 1)
        alike = np.searchsorted(siblings, kind + size) - np.searchsorted(siblings, kind + least)
        outside = np.bincount(group, np.maximum(alike - taken, 0), len(tags))
        share: Doubles = outside / (outside + np.bincount(group, taken, len(tags)))
        return share


def _most_frequent(group: Longs, column: Longs) -> tuple[Longs, Doubles]:
    """Return the most frequent value of each group in a column, the smallest of several, and how often it occurs."""
    order, new = _sort_in_groups(group, column)
    begins = np.flatnonzero(new)
    times = np.diff(begins, append=len(order)).astype(np.float64)
    groups = group[order[begins]]
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    most = np.maximum.reduceat(times, starts)
    first = np.minimum.reduceat(np.where(times == most[groups], np.arange(len(begins)), len(begins)), starts)
    values: Longs = column[order[begins[first]]]
    return values, most


def _sort_in_groups(group: Longs, column: npt.NDArray[np.generic]) -> tuple[npt.NDArray[np.intp], Bools]:
    """Return the order of a column within each group, and where in this order a new value or group begins."""
    order = np.lexsort((column, group))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(group[order]) != 0) | (column[order][1:] != column[order][:-1])
    return order, new
