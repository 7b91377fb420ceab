"""The input of the HCRF: the blocks of a page with hashed features and the types of their cliques.

Features are words that are hashed into a fixed number of slots, so that a model is one matrix, whatever it was
trained on. The cliques are triangles of a parent and two adjacent children. A triangle's type says which of the
children are leaves and how similar they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import Ints
from untemplate.lists.vision_tree import VisionTree

__all__ = [
    "COMMON_SLOTS_END",
    "PAIR_KINDS",
    "SIMILARITY_BITS",
    "SLOTS",
    "STRONG_SLOTS_END",
    "TRIANGLE_TYPES",
    "FeatureSlots",
    "ObservedBlocks",
    "triangle_types",
]

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


@dataclass(frozen=True, eq=False)
class ObservedBlocks:
    """The blocks of a page as the model sees them."""

    parent: Ints
    #: the slots of all features, block after block, and the number of features of each block
    slots: Ints
    counts: Ints
    #: per block, the type of the triangle with its parent and the sibling before it; for first children, of the pair
    types: Ints

    def part(self, block: int, end: int) -> ObservedBlocks:
        """Return a block with its descendants, which end before `end`, as a page of its own."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        slots = self.slots[starts[block] : starts[end]]
        return ObservedBlocks(
            subtree_parents(self.parent, block, end), slots, self.counts[block:end], self.types[block:end]
        )


def subtree_parents(parent: Ints, block: int, end: int) -> Ints:
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

    def encode(self, blocks: Iterable[Iterable[str]]) -> tuple[Ints, Ints]:
        """Return the slots of all features, block after block, and the number of features of each block."""
        slots: list[int] = []
        counts: list[int] = []
        for features in blocks:
            before = len(slots)
            slots += map(self.__getitem__, features)
            counts.append(len(slots) - before)
        return np.array(slots, np.int64), np.array(counts, np.int64)


def triangle_types(profile: PageProfile, vision: VisionTree) -> Ints:
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
