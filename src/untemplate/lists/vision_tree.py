"""The vision tree of a page: nested blocks as people see them, by their boxes on screen (VIPS, Cai et al. 2003).

Departures from the paper: blocks start from the elements of the page instead of from rules for single tags, and the
siblings in an element are split once, at its heaviest separators, instead of until all blocks are coherent enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from untemplate.lists.cells import EMPHASIS_TAGS, Line
from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import MEDIA_TAGS, TEXT, Run
from untemplate.page.arrays import Doubles, Longs

__all__ = ["VisionTree", "build_vision_tree"]

# A separator splits siblings if it is wider than the median separator between them by this factor and these pixels.
MIN_WIDTH_FACTOR = 2.0
MIN_EXTRA_PIXELS = 8.0
# Pixels that a larger font below a separator adds to its weight, as in VIPS.
LARGER_FONT_PIXELS = 8.0
# The coherence of a leaf; an inner block loses one for this many pixels of its widest separator.
MAX_COHERENCE = 10.0
PIXELS_PER_COHERENCE = 10.0

_Edges = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(eq=False, slots=True)
class _Block:
    rows: tuple[int, ...]
    children: list[_Block]
    box: _Edges
    font: float
    widest: float = 0.0
    #: the elements around this block that contain nothing else
    wrappers: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class VisionTree:
    """The blocks of a page as columns, in page order. Every inner block has at least two children."""

    #: the number of the parent block; -1 for the root
    parent: Longs
    #: the adjacent rows of the page tree that form the block
    rows: list[tuple[int, ...]]
    #: x, y, width, height in pixels
    boxes: Doubles
    #: how much the contents belong together, from 1 to 10
    coherence: Doubles
    #: row of the page tree -> the block that shows this row and nothing else
    by_row: dict[int, int]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def children(self) -> list[list[int]]:
        """The numbers of the children of each block."""
        children: list[list[int]] = [[] for _ in self.rows]
        for block, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                children[parent].append(block)
        return children

    @cached_property
    def end(self) -> Longs:
        """The number after the last descendant of each block."""
        end = np.arange(1, len(self) + 1)
        for block in range(len(self) - 1, 0, -1):
            parent = self.parent[block]
            end[parent] = max(end[parent], end[block])
        return end

    def leaf_of_row(self, row_ends: Longs) -> Longs:
        """Return the leaf that shows each row of the page tree, -1 for none; `row_ends` is the tree's `end`."""
        leaf_of = np.full(len(row_ends), -1)
        for block, children in enumerate(self.children):
            if children:
                continue
            for row in self.rows[block]:
                leaf_of[row : row_ends[row]] = block
        return leaf_of

    def find(self, run: Run) -> int | None:
        """Return the block that shows these rows and nothing else; None if there is no such block.

        Rows without a block show nothing. Several blocks are the children of the block that we look for.
        """
        blocks = [self.by_row[row] for row in run if row in self.by_row]
        if len(blocks) <= 1:
            return next(iter(blocks), None)
        parent = int(self.parent[blocks[0]])
        if parent < 0 or self.children[parent] != blocks:
            return None
        return parent


def build_vision_tree(
    profile: PageProfile, runs: Iterable[Run] = (), lines: Iterable[Line] = ()
) -> VisionTree:
    """Return the vision tree of a page; an empty one if the page shows nothing.

    Args:
        profile: the page.
        runs: records. Adjacent siblings that form a run become one block, and colored words in records become leaves.
        lines: cells of these records. Lines of several rows become leaves.
    """
    return _Builder(profile, list(runs), lines).build()


class _Builder:
    """Builds blocks from the last row of a page to the first, so that children come before their parents."""

    def __init__(self, profile: PageProfile, runs: list[Run], lines: Iterable[Line]) -> None:
        self._profile, tree = profile, profile.tree
        self._tree = tree
        self._run_heads = {run[0]: run for run in runs if len(run) > 1}
        self._line_heads = {line[0]: frozenset(line) for line in lines if len(line) > 1}
        self._blocks: list[_Block | None] = [None] * len(tree)
        #: rows that contain nothing but colored words; inside records these words are blocks of their own
        self._is_colored: list[bool] = tree.has_tag(EMPHASIS_TAGS | {TEXT}).tolist()
        for run in runs:
            start, end = run[0], int(tree.end[run[-1]])
            self._is_colored[start:end] = [False] * (end - start)

    def build(self) -> VisionTree:
        shown = np.flatnonzero(self._profile.shown)
        for row in reversed(shown.tolist()):
            self._blocks[row] = self._build_block(row)
        return _flatten(self._blocks[0] if self._blocks else None)

    def _build_block(self, row: int) -> _Block | None:
        """Return the block of a row from the blocks of its children; None if it shows nothing.

        Texts and images are leaves, and so are elements with nothing but colored words. An element with one block
        inside is the same block. Other elements become inner blocks.
        """
        tag, children = self._tree.tags[row], self._tree.children.get(row, [])
        inside = self._child_blocks(children)
        only_colored = all(self._is_colored[child] for child in children)
        self._is_colored[row] &= only_colored
        is_one_text = tag == TEXT or (len(inside) > 1 and only_colored)
        if is_one_text or (not inside and tag in MEDIA_TAGS):
            font = float(self._profile.font_size[row])
            return _Block((row,), [], _edges(self._profile.boxes[row]), font)
        if len(inside) == 1:
            inside[0].wrappers.append(row)
            return inside[0]
        if not inside:
            return None
        return _make_parent((row,), self._wrap_runs(inside) or _split_at_separators(inside))

    def _child_blocks(self, children: Sequence[int]) -> list[_Block]:
        """Return the blocks of siblings, with the texts of each line in one leaf."""
        if self._line_heads:
            return self._join_lines(children)
        return [block for row in children if (block := self._blocks[row]) is not None]

    def _join_lines(self, children: Sequence[int]) -> list[_Block]:
        """Put the texts of each line into one leaf, after the images between them."""
        joined: list[_Block] = []
        line_parts: list[tuple[int, _Block]] = []
        line: frozenset[int] = frozenset()
        for row in children:
            block = self._blocks[row]
            if block is None:
                continue
            if row not in line:
                joined += _make_leaf(line_parts)
                line_parts, line = [], self._line_heads.get(row, frozenset())
            if row in line and self._profile.chars[row] > 0:
                line_parts.append((row, block))
            else:
                joined.append(block)
        return joined + _make_leaf(line_parts)

    def _wrap_runs(self, siblings: Sequence[_Block]) -> list[_Block]:
        """Put the siblings of each run into one block; return nothing if no run begins among them.

        Blocks of the same run are adjacent. If everything belongs to one run, the siblings stay as they are: their
        parent is the block of the run.
        """
        run_of_row = self._runs_among(siblings)
        if not run_of_row:
            return []
        wrapped: list[_Block] = []
        members: list[_Block] = []
        current: Run | None = None
        for block in siblings:
            rows = (*block.rows, *block.wrappers)
            run = next((run_of_row[row] for row in rows if row in run_of_row), None)
            if run is not current:
                wrapped += _group(members)
                members = []
            current = run
            if run is None:
                wrapped.append(block)
            else:
                members.append(block)
        wrapped += _group(members)
        return wrapped if len(wrapped) > 1 else list(siblings)

    def _runs_among(self, siblings: Sequence[_Block]) -> dict[int, Run]:
        """Map the rows of all runs that begin at one of these siblings to their run."""
        run_of_row: dict[int, Run] = {}
        for block in siblings:
            for row in (block.rows[0], *block.wrappers):
                run = self._run_heads.get(row, ())
                run_of_row |= dict.fromkeys(run, run)
        return run_of_row


def _make_leaf(parts: Sequence[tuple[int, _Block]]) -> list[_Block]:
    """Return one leaf of the rows of these blocks, in a list; an empty list for no blocks."""
    if not parts:
        return []
    rows = tuple(row for row, _ in parts)
    blocks = [block for _, block in parts]
    return [_Block(rows, [], _outline(blocks), blocks[0].font)]


def _make_parent(rows: tuple[int, ...], children: list[_Block]) -> _Block:
    font = max(child.font for child in children)
    return _Block(rows, children, _outline(children), font, max(_separators(children)))


def _group(blocks: list[_Block]) -> list[_Block]:
    """Return one block around several, in a list; none or a single one stay as they are."""
    if len(blocks) <= 1:
        return blocks
    rows = tuple(chain.from_iterable(block.rows for block in blocks))
    return [_make_parent(rows, blocks)]


def _outline(blocks: Sequence[_Block]) -> _Edges:
    left, top, right, bottom = zip(*(block.box for block in blocks), strict=True)
    return min(left), min(top), max(right), max(bottom)


def _edges(box: Doubles) -> _Edges:
    x, y, width, height = box.tolist()
    return x, y, x + width, y + height


def _separators(siblings: Sequence[_Block]) -> list[float]:
    """Return the weight of the gap between neighbors: its pixels, and more if a larger font follows below."""
    weights: list[float] = []
    for left, right in pairwise(siblings):
        down, across = right.box[1] - left.box[3], right.box[0] - left.box[2]
        is_heading = right.font > left.font and down >= 0
        weights.append(max(down, across, 0.0) + LARGER_FONT_PIXELS * is_heading)
    return weights


def _split_at_separators(siblings: list[_Block]) -> list[_Block]:
    """Group siblings where some separators between them are much heavier than the others."""
    weights = _separators(siblings)
    limit = MIN_WIDTH_FACTOR * sorted(weights)[len(weights) // 2] + MIN_EXTRA_PIXELS
    cuts = [number for number, weight in enumerate(weights, 1) if weight >= limit]
    if not cuts or len(siblings) == 2:
        return siblings
    blocks: list[_Block] = []
    for start, stop in pairwise([0, *cuts, len(siblings)]):
        blocks += _group(siblings[start:stop])
    return blocks


def _flatten(root: _Block | None) -> VisionTree:
    """Number the blocks in page order, and return them as columns."""
    parents: list[int] = []
    blocks: list[_Block] = []
    by_row: dict[int, int] = {}
    waiting = [(root, -1)] if root is not None else []
    while waiting:
        block, parent = waiting.pop()
        number = len(blocks)
        parents.append(parent)
        blocks.append(block)
        if len(block.rows) == 1:
            by_row |= dict.fromkeys([block.rows[0], *block.wrappers], number)
        waiting += [(child, number) for child in reversed(block.children)]
    boxes = np.array([block.box for block in blocks], np.float64).reshape(-1, 4)
    boxes[:, 2:] -= boxes[:, :2]
    widest = np.array([block.widest for block in blocks])
    coherence = np.clip(MAX_COHERENCE - np.round(widest / PIXELS_PER_COHERENCE), 1, MAX_COHERENCE)
    return VisionTree(np.array(parents, np.int64), [block.rows for block in blocks], boxes, coherence, by_row)
