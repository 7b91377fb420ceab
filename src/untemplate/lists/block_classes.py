"""The classes that the HCRF assigns to blocks, and the true classes of pages whose records and values are known.

A leaf is an attribute or a note. An inner block is a record, contains some attributes of a record, or is a part
of the page that any page may have, such as its head or navigation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import Bools, Floats, Ints
from untemplate.lists.vision_tree import VisionTree

__all__ = ["NOTE", "RECORD", "BlockClasses", "attributes_inside", "true_classes"]

# Classes of inner blocks that do not depend on what a page is about, as in the paper.
HEAD, TAIL, NAV, INFO, REGION, RECORD, NOTE = "head", "tail", "nav", "info", "region", "record", "note"
PAGE_CLASSES = (HEAD, TAIL, NAV, INFO, REGION, RECORD, NOTE)
# Combinations of attributes that are classes: the most frequent ones in blocks of the training records.
MAX_COMBINATIONS = 6
# A block is navigation if this share of its characters and at least this many texts are in links.
MIN_NAV_LINK_SHARE = 0.8
MIN_NAV_TEXTS = 3
# The head and the tail are this share of the page's height.
MAX_EDGE_SHARE = 0.15


@dataclass(frozen=True)
class BlockClasses:
    """The classes of a model.

    Args:
        attributes: classes of leaves, besides NOTE.
        combinations: sets of attributes, each a class of inner blocks inside records, besides PAGE_CLASSES.
    """

    attributes: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...] = ()

    @property
    def leaf(self) -> tuple[str, ...]:
        """The classes of leaves; the index is the class number."""
        return (*self.attributes, NOTE)

    @property
    def inner(self) -> tuple[str, ...]:
        """The classes of inner blocks; the index is the class number."""
        return PAGE_CLASSES + tuple(map(_combination_name, self.combinations))

    def __len__(self) -> int:
        return max(len(self.leaf), len(self.inner))

    def allowed(self, is_leaf: Bools) -> Floats:
        """Return 1 for the classes that each block may have, else 0."""
        of_leaf = np.arange(len(self)) < len(self.leaf)
        of_inner = np.arange(len(self)) < len(self.inner)
        return np.where(is_leaf[:, None], of_leaf, of_inner).astype(np.float64)

    def combination(self, attributes: frozenset[str]) -> str:
        """Return the class of an inner block of a record with these attributes: the most similar combination."""

        def similarity(names: tuple[str, ...]) -> tuple[int, int]:
            return len(attributes & {*names}), -len({*names} - attributes)

        best = max(self.combinations, key=similarity, default=())
        return NOTE if attributes.isdisjoint(best) else _combination_name(best)

    @classmethod
    def choose(cls, attributes: Iterable[str], seen: Iterable[frozenset[str]]) -> BlockClasses:
        """Return the classes for some attributes, with the combinations that blocks of records have most often."""
        order = tuple(attributes)
        counts = Counter(names for names in seen if names)
        combinations = []
        for names, _ in counts.most_common(MAX_COMBINATIONS):
            combinations.append(tuple(name for name in order if name in names))
        return cls(order, tuple(combinations))


def _combination_name(attributes: Sequence[str]) -> str:
    return "con_" + "_".join(attributes)


def attributes_inside(vision: VisionTree, values: Mapping[int, str]) -> list[frozenset[str]]:
    """Return the attributes inside each block.

    Args:
        vision: the blocks of a page.
        values: leaf -> its attribute, for leaves that contain a value.
    """
    inside: list[set[str]] = [set() for _ in vision.rows]
    for block in range(len(vision) - 1, -1, -1):
        if block in values:
            inside[block].add(values[block])
        if vision.parent[block] >= 0:
            inside[int(vision.parent[block])] |= inside[block]
    return [frozenset(names) for names in inside]


def true_classes(
    classes: BlockClasses,
    profile: PageProfile,
    vision: VisionTree,
    records: Iterable[int],
    values: Mapping[int, str],
) -> Ints:
    """Return the number of the true class of each block.

    Args:
        classes: the classes of the model.
        profile: the page.
        vision: its blocks.
        records: the blocks that are records.
        values: leaf -> its attribute, for leaves that contain a value.
    """
    naming = _TrueClasses(classes, profile, vision, records, values)
    leaf_numbers = {name: number for number, name in enumerate(classes.leaf)}
    inner_numbers = {name: number for number, name in enumerate(classes.inner)}
    numbers = np.zeros(len(vision), np.int64)
    for block, children in enumerate(vision.children):
        if children:
            numbers[block] = inner_numbers[naming.inner_class(block)]
        else:
            numbers[block] = leaf_numbers[values.get(block, NOTE)]
    return numbers


class _TrueClasses:
    """Names the classes of inner blocks by the records and values of their page."""

    def __init__(
        self,
        classes: BlockClasses,
        profile: PageProfile,
        vision: VisionTree,
        records: Iterable[int],
        values: Mapping[int, str],
    ) -> None:
        self._classes, self._profile, self._vision = classes, profile, vision
        self._is_record = np.zeros(len(vision), np.bool_)
        self._is_record[list(records)] = True
        self._attributes = attributes_inside(vision, values)
        self._in_record = np.zeros(len(vision), np.bool_)
        self._records_inside = np.zeros(len(vision), np.int64)
        for block in range(1, len(vision)):
            parent = vision.parent[block]
            self._in_record[block] = self._is_record[parent] or self._in_record[parent]
        for block in range(len(vision) - 1, 0, -1):
            self._records_inside[vision.parent[block]] += self._records_inside[block] + self._is_record[block]
        numbers = np.flatnonzero(self._is_record)
        self._first_record = int(numbers.min(initial=len(vision)))
        self._last_record = int(numbers.max(initial=-1))
        bottom = vision.boxes[:, 1] + vision.boxes[:, 3]
        self._height = max(float(bottom.max(initial=1.0)), 1.0)

    def inner_class(self, block: int) -> str:
        """Return the class of an inner block."""
        if self._is_record[block]:
            return RECORD
        if self._in_record[block]:
            return self._classes.combination(self._attributes[block])
        if self._records_inside[block]:
            children = self._vision.children[block]
            return REGION if self._is_record[children].sum() * 2 > len(children) else INFO
        if self._is_navigation(block):
            return NAV
        return self._edge_class(block)

    def _is_navigation(self, block: int) -> bool:
        rows = list(self._vision.rows[block])
        chars, link_chars = self._profile.chars[rows].sum(), self._profile.link_chars[rows].sum()
        is_linked = link_chars >= MIN_NAV_LINK_SHARE * chars
        return bool(is_linked and self._profile.texts[rows].sum() >= MIN_NAV_TEXTS)

    def _edge_class(self, block: int) -> str:
        top, height = self._vision.boxes[block, 1], self._vision.boxes[block, 3]
        if block < self._first_record and top + height < MAX_EDGE_SHARE * self._height:
            return HEAD
        if block > self._last_record and top > (1 - MAX_EDGE_SHARE) * self._height:
            return TAIL
        return NOTE
