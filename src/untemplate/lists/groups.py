"""Groups: all that might be the records of a page, found by repetition.

As in MDR, a record is a run of adjacent siblings, mostly of one. Elements that stand in places of the same kind (the
same tags and classes around them) and have like shapes make a group, wherever their parents are, so that the rows of
a grid or the sections of a list are one. Runs are found where siblings of different shapes take turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from lxml import etree

from untemplate.lists.shapes import Shapes
from untemplate.lists.tree import BREAK, TEXT, Tree

__all__ = ["Group", "Run", "find_groups"]

Run = tuple[int, ...]
"""The rows of adjacent siblings that make a record, mostly one."""

# Shapes that are as like as this are one group. Groups of every threshold compete.
LIKENESS = (0.0, 0.4, 0.65)
# So many different shapes are told apart in one kind of place; what is like none of them is left out.
MAX_SHAPES = 8
# Of runs: so many kinds of siblings are tried as their beginning, and how alike neighbouring runs are, at least.
MAX_HEADS = 3
RUN_LIKENESS = 0.6
# Never records themselves.
_NEVER = frozenset(
    {"html", "body", "head", "option", "optgroup", "br", "thead", "tfoot", "tbody", "colgroup"}
)
_BOLD = frozenset({"th", "b", "strong"})


@dataclass(frozen=True)
class Group:
    """Parts of a page that look as if made by one template, in page order."""

    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.runs)


def find_groups(tree: Tree, shapes: Shapes) -> list[Group]:
    """Every group of at least two, the same runs never twice."""
    usable = _usable(tree)
    by_place = _by_place(tree, usable)
    by_name = _by_name(tree, usable)
    found: dict[tuple[Run, ...], None] = {}
    labels = np.zeros(len(tree), np.int64)
    for threshold in LIKENESS:
        for rows in by_name:
            for members in _alike(rows, shapes, threshold):
                found[tuple((row,) for row in members)] = None
        kinds = 0
        for rows in by_place:
            for members in _alike(rows, shapes, threshold):
                kinds += 1
                labels[members] = kinds
                if usable[members[0]]:
                    found[tuple((row,) for row in members)] = None
    for siblings in tree.children.values():
        children = [row for row in siblings if tree.tags[row] != BREAK]
        for runs in _find_runs(children, labels[children].tolist()):
            found[runs] = None
    return [Group(runs) for runs in found if len(runs) > 1]


def _usable(tree: Tree) -> list[bool]:
    """Which rows may be records: elements, but not what is all of another one, nor the headers of a table."""
    usable = [
        tag != TEXT and tag not in _NEVER and (tree.tags[parent] in _NEVER or len(tree.children[parent]) > 1)
        for tag, parent in zip(tree.tags, tree.parent.tolist(), strict=True)
    ]
    for row in _headers(tree):
        usable[row] = False
    return usable


def _headers(tree: Tree) -> Iterator[int]:
    """Table rows of header cells only, beside rows that have other cells, and a first row that alone is all bold."""
    texts = np.array([tag == TEXT for tag in tree.tags])
    bold = tree.depth(np.array([tag in _BOLD for tag in tree.tags])) > 0
    plain = tree.total((texts & ~bold).astype(np.float64))
    tables: dict[int, dict[int, set[str]]] = {}
    for row, (tag, parent) in enumerate(zip(tree.tags, tree.parent.tolist(), strict=True)):
        if tag == "tr":
            tables.setdefault(parent, {})[row] = {tree.tags[child] for child in tree.children[row]}
    for rows in tables.values():
        if any("td" in tags for tags in rows.values()):
            yield from (row for row, tags in rows.items() if tags == {"th"})
        first, *others = rows
        if len(tree.children[first]) > 1 and not plain[first] and all(plain[row] for row in others):
            yield first


def _by_place(tree: Tree, usable: Sequence[bool]) -> Iterable[list[int]]:
    """Rows in places of the same kind: of one tag, with the same tags and classes around them."""
    kinds: dict[tuple[int, str, str], int] = {}
    inside = [0] * len(tree)
    rows: dict[int, list[int]] = {}
    for row, (item, tag, parent) in enumerate(zip(tree.items, tree.tags, tree.parent.tolist(), strict=True)):
        around = inside[parent] if parent >= 0 else -1
        place = kinds.setdefault((around, tag, ""), len(kinds))
        name = _class(item)
        inside[row] = kinds.setdefault((around, tag, name), len(kinds)) if name else place
        if usable[row] or tag == TEXT:
            rows.setdefault(place, []).append(row)
    return rows.values()


def _by_name(tree: Tree, usable: Sequence[bool]) -> Iterable[list[int]]:
    """Rows of one tag that share a class, wherever they stand; of those inside another only the outer one."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, (item, tag) in enumerate(zip(tree.items, tree.tags, strict=True)):
        if usable[row]:
            for name in dict.fromkeys(_class(item).split()):
                members = rows.setdefault((tag, name), [])
                if not members or tree.end[members[-1]] <= row:
                    members.append(row)
    return rows.values()


def _class(item: etree._Element | str) -> str:
    return "" if isinstance(item, str) else item.get("class", "")


def _alike(rows: Sequence[int], shapes: Shapes, threshold: float) -> list[list[int]]:
    """The rows in groups of like shape: each goes to the most like of those that came first."""
    if threshold == 0:
        return [list(rows)]
    groups: list[list[int]] = []
    known: dict[int, int] = {}
    for row in rows:
        code = shapes.codes[row]
        if code not in known:
            best, group = max(
                ((shapes.likeness(members[0], row), -number) for number, members in enumerate(groups)),
                default=(0.0, 0),
            )
            if best < threshold:
                if len(groups) == MAX_SHAPES:
                    continue
                group = -len(groups)
                groups.append([])
            known[code] = -group
        groups[known[code]].append(row)
    return groups


def _find_runs(children: Sequence[int], labels: Sequence[int]) -> Iterator[tuple[Run, ...]]:
    """Ways to part siblings into runs that begin with the same kind and are alike."""
    counts = Counter(labels)
    heads = [label for label, count in counts.most_common() if count > 1]
    if len(counts) < 2:
        return
    for head in heads[:MAX_HEADS]:
        starts = [index for index, label in enumerate(labels) if label == head]
        runs = [range(start, after) for start, after in pairwise(starts)]
        longest = max(len(run) for run in runs)
        usual = {labels[index] for run in runs for index in run}
        end = starts[-1] + 1
        while end < len(labels) and end < starts[-1] + longest and labels[end] in usual:
            end += 1
        runs.append(range(starts[-1], end))
        if sum(len(run) > 1 for run in runs) * 2 <= len(runs):
            continue
        kinds = [{labels[index] for index in run} for run in runs]
        alike = [2 * len(a & b) / (len(a) + len(b)) for a, b in pairwise(kinds)]
        if sum(alike) / len(alike) >= RUN_LIKENESS:
            yield tuple(tuple(children[index] for index in run) for run in runs)
