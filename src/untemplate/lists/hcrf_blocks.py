"""The blocks of a page as the HCRF sees them: their classes, their hashed features and the types of their cliques.

A leaf is an attribute or a note. An inner block is a record, contains some attributes of a record, or is a part
of the page that any page may have, such as its head or navigation.

Features are words that are hashed into a fixed number of slots, so that a model is one matrix, whatever it was
trained on. The cliques are triangles of a parent and two adjacent children. A triangle's type says which of the
children are leaves and how similar they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from untemplate.lists.page_profile import PageProfile
from untemplate.lists.vision_tree import VisionTree
from untemplate.page.arrays import Bools, Doubles, Longs

__all__ = [
    "COMMON_SLOTS_END",
    "NOTE",
    "PAIR_KINDS",
    "RECORD",
    "SIMILARITY_BITS",
    "SLOTS",
    "STRONG_SLOTS_END",
    "TRIANGLE_TYPES",
    "BlockClasses",
    "FeatureSlots",
    "ObservedBlocks",
    "attributes_inside",
    "subtree_parents",
    "triangle_types",
    "true_classes",
]

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

# The slots have three ranges with different priors. Features that begin with "!" say what a leaf is (strong
# evidence). Features that begin with "~" contain words of the page. The range between is for features that any
# page may have.
SLOTS = 1 << 14
STRONG_SLOTS_END = 1 << 10
COMMON_SLOTS_END = 1 << 13
_SLOT_RANGES = {"!": (0, STRONG_SLOTS_END), "~": (COMMON_SLOTS_END, SLOTS)}

# Left and right child: two leaves, a leaf and an inner block, an inner block and a leaf, two inner blocks.
PAIR_KINDS = 4
# Pairs of inner blocks have three more bits: whether their tag trees, boxes and contents differ by at most this.
SIMILARITY_BITS = 3
MAX_NEAR_DISTANCE = 0.2
TRIANGLE_TYPES = PAIR_KINDS - 1 + (1 << SIMILARITY_BITS)
# Leaf types of a block that are compared.
MAX_TYPE_CODE = 12


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

    def allowed(self, is_leaf: Bools) -> Doubles:
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
) -> Longs:
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


@dataclass(frozen=True, eq=False)
class ObservedBlocks:
    """The blocks of a page as the model sees them."""

    parent: Longs
    #: the slots of all features, block after block, and the number of features of each block
    slots: Longs
    counts: Longs
    #: per block, the type of the triangle with its parent and the sibling before it; for first children, of the pair
    types: Longs

    def part(self, block: int, end: int) -> ObservedBlocks:
        """Return a block with its descendants, which end before `end`, as a page of its own."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        slots = self.slots[starts[block] : starts[end]]
        return ObservedBlocks(
            subtree_parents(self.parent, block, end), slots, self.counts[block:end], self.types[block:end]
        )


def subtree_parents(parent: Longs, block: int, end: int) -> Longs:
    """Return the parents of a block and its descendants, numbered from the block."""
    parents = parent[block:end] - block
    parents[0] = -1
    return parents


class FeatureSlots(dict[str, int]):
    """Maps each feature to its slot. The same feature always has the same one."""

    def __missing__(self, feature: str) -> int:
        start, end = _SLOT_RANGES.get(feature[0], (STRONG_SLOTS_END, COMMON_SLOTS_END))
        slot = self[feature] = start + crc32(feature.encode("utf-8", "replace")) % (end - start)
        return slot

    def encode(self, blocks: Iterable[Iterable[str]]) -> tuple[Longs, Longs]:
        """Return the slots of all features, block after block, and the number of features of each block."""
        slots: list[int] = []
        counts: list[int] = []
        for features in blocks:
            before = len(slots)
            slots += map(self.__getitem__, features)
            counts.append(len(slots) - before)
        return np.array(slots, np.int64), np.array(counts, np.int64)


def triangle_types(profile: PageProfile, vision: VisionTree) -> Longs:
    """Return the type of each block's triangle with its parent and the sibling before it.

    For first children, the type says whether they are inner blocks.
    """
    types = np.zeros(len(vision), np.int64)
    type_codes = _type_codes(profile, vision)
    is_inner = [bool(children) for children in vision.children]
    for siblings in vision.children:
        for number, block in enumerate(siblings):
            if number == 0:
                types[block] = is_inner[block]
                continue
            before = siblings[number - 1]
            kind = 2 * is_inner[before] + is_inner[block]
            if kind == PAIR_KINDS - 1:
                kind += _similarity_bits(profile, vision, type_codes, before, block)
            types[block] = kind
    return types


def _similarity_bits(
    profile: PageProfile, vision: VisionTree, type_codes: list[str], left: int, right: int
) -> int:
    """Return a bit each for similar tag trees, similar boxes and similar sequences of leaf types."""
    tree_distance = 1 - profile.shapes.similarity(vision.rows[left][0], vision.rows[right][0])
    bits = int(tree_distance <= MAX_NEAR_DISTANCE)
    bits += 2 * (_box_distance(vision, left, right) <= MAX_NEAR_DISTANCE)
    bits += 4 * (_edit_distance(type_codes[left], type_codes[right]) <= MAX_NEAR_DISTANCE)
    return bits


def _box_distance(vision: VisionTree, left: int, right: int) -> float:
    """Return how different the sizes of two boxes are, from 0 to 1."""
    sizes, other_sizes = vision.boxes[left, 2:], vision.boxes[right, 2:]
    largest = np.maximum(np.maximum(sizes, other_sizes), 1.0)
    return float(np.max(np.abs(sizes - other_sizes) / largest))


def _type_codes(profile: PageProfile, vision: VisionTree) -> list[str]:
    """Return the sequence of leaf types of each block, a letter per type, without repetition."""
    codes = [""] * len(vision)
    for block in range(len(vision) - 1, -1, -1):
        children = vision.children[block]
        if children:
            codes[block] = _collapse_repeats("".join(codes[child] for child in children))
        else:
            codes[block] = _leaf_type(profile, vision.rows[block][0])
    return codes


def _leaf_type(profile: PageProfile, row: int) -> str:
    """Return "i" for images, "$" for texts with a dollar sign, "l" for links, "t" for other texts."""
    if not profile.chars[row] > 0:
        return "i"
    if any("$" in text for text in profile.tree.texts_inside((row,))):
        return "$"
    return "l" if profile.in_link[row] else "t"


def _collapse_repeats(letters: str) -> str:
    """Return a sequence without letters that repeat the one before, at most MAX_TYPE_CODE letters."""
    code = ""
    for letter in letters:
        if len(code) == MAX_TYPE_CODE:
            break
        if not code.endswith(letter):
            code += letter
    return code


def _edit_distance(left: str, right: str) -> float:
    """Return the Levenshtein distance of two sequences, as a share of the longer one."""
    if left == right:
        return 0.0
    row = list(range(len(right) + 1))
    for number, letter in enumerate(left, 1):
        corner, row[0] = row[0], number
        for index, other in enumerate(right, 1):
            replaced = corner + (letter != other)
            corner, row[index] = row[index], min(row[index] + 1, row[index - 1] + 1, replaced)
    return row[-1] / max(len(left), len(right))
