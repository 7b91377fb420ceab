"""How alike neighbouring blocks are: tree, shape and type distances, with thresholds, as types of triangles."""

from __future__ import annotations

import numpy as np

from untemplate.lists.survey import Survey
from untemplate.lists.tree import Ints
from untemplate.lists.vision import VisionTree

__all__ = ["BITS", "KINDS", "TRIANGLES", "like_siblings"]

# Left and right child: two leaves, a leaf and an inner block, an inner block and a leaf, two inner blocks.
KINDS = 4
# Two inner blocks have three bits more: whether their distance is at most this for trees, shapes and types.
BITS = 3
NEAR = 0.2
TRIANGLES = KINDS - 1 + (1 << BITS)
# The types of so many leaves of a block are compared.
MAX_TYPES = 12


def like_siblings(survey: Survey, vision: VisionTree) -> Ints:
    """The type of each block's triangle with its parent and the sibling before it; of first children their kind."""
    types = np.zeros(len(vision), np.int64)
    codes = _type_codes(survey, vision)
    for siblings in vision.children:
        for number, block in enumerate(siblings):
            is_inner = bool(vision.children[block])
            if number == 0:
                types[block] = is_inner
                continue
            before = siblings[number - 1]
            kind = 2 * bool(vision.children[before]) + is_inner
            if kind == KINDS - 1:
                near = (
                    1 - survey.shapes.likeness(vision.rows[before][0], vision.rows[block][0]) <= NEAR,
                    _shape_distance(vision, before, block) <= NEAR,
                    _edit_distance(codes[before], codes[block]) <= NEAR,
                )
                kind += sum(bit << number for number, bit in enumerate(near))
            types[block] = kind
    return types


def _shape_distance(vision: VisionTree, one: int, other: int) -> float:
    """How different the sizes of two boxes are, from 0 to 1."""
    a, b = vision.boxes[one, 2:], vision.boxes[other, 2:]
    return float(np.max(np.abs(a - b) / np.maximum(np.maximum(a, b), 1.0)))


def _type_codes(survey: Survey, vision: VisionTree) -> list[str]:
    """The types of the leaves of each block, repeated ones once."""
    tree = survey.tree
    codes = [""] * len(vision)
    for block in range(len(vision) - 1, -1, -1):
        children = vision.children[block]
        if not children:
            row = vision.rows[block][0]
            is_text = survey.chars[row] > 0
            has_currency = is_text and any(
                isinstance(item, str) and "$" in item for item in tree.items[row : int(tree.end[row])]
            )
            codes[block] = (
                "$" if has_currency else "l" if is_text and survey.in_link[row] else "t" if is_text else "i"
            )
            continue
        code = ""
        for child in children:
            for letter in codes[child]:
                if not code.endswith(letter) and len(code) < MAX_TYPES:
                    code += letter
        codes[block] = code
    return codes


def _edit_distance(one: str, other: str) -> float:
    if one == other:
        return 0.0
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        corner, row[0] = row[0], number
        for place, own in enumerate(other, 1):
            corner, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, corner + (letter != own))
    return row[-1] / max(len(one), len(other))
