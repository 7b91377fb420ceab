"""The vision tree of a page: blocks as people see them, by the boxes on screen (VIPS, Cai et al. 2003).

Departures from the paper: blocks start from the elements of the page instead of from rules for single tags, and the
siblings in an element are parted once, at its heaviest separators, instead of until all blocks are coherent enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from untemplate.lists.cells import Line
from untemplate.lists.groups import Run
from untemplate.lists.joins import COLORS
from untemplate.lists.survey import Survey
from untemplate.lists.tree import SHOWN, TEXT, Floats, Ints

__all__ = ["VisionTree", "see"]

# A separator parts siblings when it is that much wider than the usual one between them, and by that many pixels.
WIDER = 2.0
MORE = 8.0
# Pixels that a larger font below a separator adds to it, as VIPS raises its weight.
LARGER_FONT = 8.0
# The degree of coherence is that of a leaf, 10, less one for so many pixels of the widest separator inside.
PIXELS_A_DEGREE = 10.0
MOST_COHERENT = 10.0


@dataclass(eq=False, slots=True)
class _Block:
    rows: tuple[int, ...]
    children: list[_Block]
    box: tuple[float, float, float, float]
    font: float
    widest: float = 0.0
    #: elements around it that hold nothing else
    around: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class VisionTree:
    """The blocks of a page in page order, as columns; every inner block has at least two children."""

    #: the block around each; -1 for the root
    parent: Ints
    #: the rows of the tag tree that each block is made of, side by side
    rows: list[tuple[int, ...]]
    #: x, y, width, height in pixels
    boxes: Floats
    #: how much what is inside belongs together, from 1 to 10
    coherence: Floats
    #: the block that shows each row of the tag tree and nothing else
    by_row: dict[int, int]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def children(self) -> list[list[int]]:
        """The blocks inside each, its own children only."""
        found: list[list[int]] = [[] for _ in self.rows]
        for block, around in enumerate(self.parent.tolist()):
            if around >= 0:
                found[around].append(block)
        return found

    @cached_property
    def end(self) -> Ints:
        """The block after the last one inside each."""
        end = np.arange(1, len(self) + 1)
        for block in range(len(self) - 1, 0, -1):
            around = self.parent[block]
            end[around] = max(end[around], end[block])
        return end

    def leaf_of(self, end: Ints) -> Ints:
        """Of each row of the tag tree, whose ends are given, the leaf that shows it; -1 for none."""
        found = np.full(len(end), -1)
        for block, (rows, children) in enumerate(zip(self.rows, self.children, strict=True)):
            if not children:
                for row in rows:
                    found[row : end[row]] = block
        return found

    def find(self, run: Run) -> int | None:
        """The block that shows these rows and nothing else."""
        if len(run) == 1:
            return self.by_row.get(run[0])
        seen = [block for row in run if (block := self.by_row.get(row)) is not None]
        if len(seen) == 1:
            return seen[0]
        if not seen or len({int(self.parent[block]) for block in seen}) > 1:
            return None
        around = int(self.parent[seen[0]])
        return around if around >= 0 and self.children[around] == seen else None


def see(survey: Survey, runs: Iterable[Run] = (), lines: Iterable[Line] = ()) -> VisionTree:
    """The vision tree of a page. Empty if the page shows nothing.

    Adjacent siblings that are runs become blocks. Lines of several rows, which stand in the runs, become leaves.
    """
    tree = survey.tree
    known = list(runs)
    starts = {run[0]: run for run in known if len(run) > 1}
    heads = {line[0]: frozenset(line) for line in lines if len(line) > 1}
    blocks: list[_Block | None] = [None] * len(tree)
    is_color = [tag in COLORS or tag == TEXT for tag in tree.tags]
    for run in known:
        is_color[run[0] : tree.end[run[-1]]] = [False] * int(tree.end[run[-1]] - run[0])
    for row in range(len(tree) - 1, -1, -1):
        if not survey.shown[row]:
            continue
        tag, font = tree.tags[row], float(survey.font_size[row])
        children = tree.children.get(row, [])
        seen = [(child, block) for child in children if (block := blocks[child]) is not None]
        inside = _join(survey, seen, heads) if heads else [block for _, block in seen]
        is_flat = len(inside) > 1 and all(is_color[child] for child in children)
        is_color[row] &= all(is_color[child] for child in children)
        if tag == TEXT or is_flat or (not inside and tag in SHOWN):
            blocks[row] = _Block((row,), [], _box(survey.boxes[row]), font)
        elif len(inside) == 1:
            inside[0].around.append(row)
            blocks[row] = inside[0]
        elif inside:
            blocks[row] = _aggregate((row,), _wrap(inside, starts) or _part(inside))
    return _flatten(blocks[0] if blocks else None)


def _join(
    survey: Survey, children: Sequence[tuple[int, _Block]], heads: dict[int, frozenset[int]]
) -> list[_Block]:
    """Siblings with the texts of a line in one leaf; what is no text stands before it."""
    found: list[_Block] = []
    waiting: list[tuple[int, _Block]] = []
    line: frozenset[int] = frozenset()
    for row, block in children:
        if row not in line:
            found += _leaf(waiting)
            waiting, line = [], heads.get(row, frozenset())
        if row in line and survey.chars[row] > 0:
            waiting.append((row, block))
        else:
            found.append(block)
    return found + _leaf(waiting)


def _leaf(parts: Sequence[tuple[int, _Block]]) -> list[_Block]:
    if not parts:
        return []
    left, top, right, bottom = zip(*(block.box for _, block in parts), strict=True)
    box = min(left), min(top), max(right), max(bottom)
    return [_Block(tuple(row for row, _ in parts), [], box, parts[0][1].font)]


def _box(box: Floats) -> tuple[float, float, float, float]:
    x, y, width, height = box.tolist()
    return x, y, x + width, y + height


def _aggregate(rows: tuple[int, ...], children: list[_Block]) -> _Block:
    left, top, right, bottom = zip(*(child.box for child in children), strict=True)
    box = min(left), min(top), max(right), max(bottom)
    return _Block(rows, children, box, max(child.font for child in children), max(_separators(children)))


def _separators(siblings: Sequence[_Block]) -> list[float]:
    """The weight of what parts neighbours: the pixels between them, more if larger letters begin."""
    weights: list[float] = []
    for one, other in pairwise(siblings):
        down, across = other.box[1] - one.box[3], other.box[0] - one.box[2]
        weights.append(max(down, across, 0.0) + LARGER_FONT * (other.font > one.font and down >= 0))
    return weights


def _wrap(siblings: Sequence[_Block], starts: dict[int, Run]) -> list[_Block]:
    """Siblings with those of a run in one block; none if there are no runs among them."""
    heads = [starts.get(row) for block in siblings for row in (block.rows[0], *block.around)]
    if not any(heads):
        return []
    members = {row: run for run in heads if run for row in run}
    found: list[_Block] = []
    waiting: list[_Block] = []
    current: Run | None = None
    for block in [*siblings, None]:
        run = (
            None
            if block is None
            else next((members[r] for r in (*block.rows, *block.around) if r in members), None)
        )
        if waiting and run is not current:
            found.append(waiting[0] if len(waiting) == 1 else _group(waiting))
            waiting = []
        current = run
        if block is not None:
            if run is None:
                found.append(block)
            else:
                waiting.append(block)
    return found if len(found) > 1 else list(siblings)


def _part(siblings: list[_Block]) -> list[_Block]:
    """Siblings in blocks, where some separators between them are much heavier than the others."""
    weights = _separators(siblings)
    limit = WIDER * sorted(weights)[len(weights) // 2] + MORE
    cuts = [number for number, weight in enumerate(weights, 1) if weight >= limit]
    if not cuts or len(siblings) == 2:
        return siblings
    parts = [siblings[start:stop] for start, stop in pairwise([0, *cuts, len(siblings)])]
    return [part[0] if len(part) == 1 else _group(part) for part in parts]


def _group(blocks: list[_Block]) -> _Block:
    return _aggregate(tuple(row for block in blocks for row in block.rows), blocks)


def _flatten(root: _Block | None) -> VisionTree:
    parent: list[int] = []
    blocks: list[_Block] = []
    by_row: dict[int, int] = {}
    waiting = [(root, -1)] if root is not None else []
    while waiting:
        block, around = waiting.pop()
        number = len(blocks)
        parent.append(around)
        blocks.append(block)
        if len(block.rows) == 1:
            by_row.update(dict.fromkeys([block.rows[0], *block.around], number))
        waiting += [(child, number) for child in reversed(block.children)]
    boxes = np.array([block.box for block in blocks], np.float64).reshape(-1, 4)
    boxes[:, 2:] -= boxes[:, :2]
    widest = np.array([block.widest for block in blocks])
    coherence = np.clip(MOST_COHERENT - np.round(widest / PIXELS_A_DEGREE), 1, MOST_COHERENT)
    return VisionTree(np.array(parent, np.int64), [block.rows for block in blocks], boxes, coherence, by_row)
