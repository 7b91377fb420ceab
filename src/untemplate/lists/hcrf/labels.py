"""The label spaces of the model, and the labels of all blocks of a page whose records and values are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from untemplate.lists.survey import Survey
from untemplate.lists.tree import Floats, Ints
from untemplate.lists.vision import VisionTree

__all__ = ["NOTE", "RECORD", "Labels", "label_blocks", "value_sets"]

# Labels of inner blocks whatever a page is about, as in the paper.
HEAD, TAIL, NAV, INFO, REGION, RECORD, NOTE = "head", "tail", "nav", "info", "region", "record", "note"
INDEPENDENT = (HEAD, TAIL, NAV, INFO, REGION, RECORD, NOTE)
# So many combinations of attributes are told apart, those that most blocks of the training records have.
MAX_COMBINATIONS = 6
# What people take for navigation: this share of its letters in links, and so many of them.
MOSTLY_LINKS = 0.8
SEVERAL = 3
# Head and tail of a page: this share of its height.
EDGE = 0.15


@dataclass(frozen=True)
class Labels:
    """Labels of leaves, an attribute or NOTE; and of inner blocks, among them combinations of attributes."""

    attributes: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...] = ()

    @property
    def leaf(self) -> tuple[str, ...]:
        return (*self.attributes, NOTE)

    @property
    def inner(self) -> tuple[str, ...]:
        return INDEPENDENT + tuple("con_" + "_".join(names) for names in self.combinations)

    def __len__(self) -> int:
        return max(len(self.leaf), len(self.inner))

    def allowed(self, is_leaf: Iterable[bool]) -> Floats:
        """Which labels each node may have: 1 or 0."""
        of_leaf = np.arange(len(self)) < len(self.leaf)
        of_inner = np.arange(len(self)) < len(self.inner)
        return np.where(np.asarray(is_leaf)[:, None], of_leaf, of_inner).astype(np.float64)

    def combination(self, values: frozenset[str]) -> str:
        """The label of a block in a record with these values: the combination most like it."""
        if not values or not self.combinations:
            return NOTE
        best = max(self.combinations, key=lambda names: (len(values & {*names}), -len({*names} - values)))
        return "con_" + "_".join(best) if values & {*best} else NOTE

    @classmethod
    def choose(cls, attributes: Iterable[str], seen: Iterable[frozenset[str]]) -> Labels:
        """The labels of a schema, with the combinations that blocks of records have most often."""
        common = Counter(names for names in seen if names).most_common(MAX_COMBINATIONS)
        order = tuple(attributes)
        return cls(order, tuple(tuple(name for name in order if name in names) for names, _ in common))


def value_sets(vision: VisionTree, values: Mapping[int, str]) -> list[frozenset[str]]:
    """Which attributes stand in each block; `values` gives the attribute of leaves that have one."""
    found: list[set[str]] = [set() for _ in vision.rows]
    for block in range(len(vision) - 1, -1, -1):
        if block in values:
            found[block].add(values[block])
        if vision.parent[block] >= 0:
            found[int(vision.parent[block])] |= found[block]
    return [frozenset(names) for names in found]


def label_blocks(
    labels: Labels, survey: Survey, vision: VisionTree, records: Iterable[int], values: Mapping[int, str]
) -> Ints:
    """The number of the label of each block, given the blocks of records and the attributes of leaves."""
    is_record = np.zeros(len(vision), np.bool_)
    is_record[list(records)] = True
    sets = value_sets(vision, values)
    within = np.zeros(len(vision), np.bool_)
    holds = np.zeros(len(vision), np.int64)
    for block in range(1, len(vision)):
        around = vision.parent[block]
        within[block] = is_record[around] or within[around]
    for block in range(len(vision) - 1, 0, -1):
        holds[vision.parent[block]] += holds[block] + is_record[block]
    first, last = (np.flatnonzero(is_record)[[0, -1]]) if is_record.any() else (len(vision), -1)
    height = max(float((vision.boxes[:, 1] + vision.boxes[:, 3]).max(initial=1.0)), 1.0)
    of_leaf = {name: number for number, name in enumerate(labels.leaf)}
    of_inner = {name: number for number, name in enumerate(labels.inner)}
    found = np.zeros(len(vision), np.int64)
    for block, children in enumerate(vision.children):
        if not children:
            found[block] = of_leaf[values.get(block, NOTE)]
        elif is_record[block]:
            found[block] = of_inner[RECORD]
        elif within[block]:
            found[block] = of_inner[labels.combination(sets[block])]
        elif holds[block]:
            own = sum(bool(is_record[child]) for child in children)
            found[block] = of_inner[REGION if own * 2 > len(children) else INFO]
        elif _is_navigation(survey, vision, block):
            found[block] = of_inner[NAV]
        else:
            top, bottom = vision.boxes[block, 1], vision.boxes[block, 1] + vision.boxes[block, 3]
            is_head = block < first and bottom < EDGE * height
            is_tail = block > last and top > (1 - EDGE) * height
            found[block] = of_inner[HEAD if is_head else TAIL if is_tail else NOTE]
    return found


def _is_navigation(survey: Survey, vision: VisionTree, block: int) -> bool:
    rows = vision.rows[block]
    linked = sum(survey.link_chars[row] for row in rows)
    return bool(
        linked >= MOSTLY_LINKS * sum(survey.chars[row] for row in rows)
        and sum(survey.texts[row] for row in rows) >= SEVERAL
    )
