"""Joins: which texts of a record are one text that markup only colors, links or breaks, and which are cells.

Two neighbouring texts meet at one pair of siblings. Pairs in places of the same kind are decided together, for all
records of a list, by a linear score of what stands between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.labeling.records.groups import Run
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import BREAK, SHOWN, TEXT, Floats, Ints
from untemplate.page import INLINE_TAGS

__all__ = ["FEATURES", "WEIGHTS", "Seams", "find_joins", "find_seams", "speaks"]

FEATURES = {
    "always": "bias",
    "block": "one of them is in a block",
    "blocks": "both are",
    "weight": "one is bold",
    "below": "the right one stands below the left one",
    "down": "how far below, of 50 pixels",
    "left_text": "the left sibling is a text",
    "right_text": "the right one is",
    "left_link": "the left sibling is a link with nothing before it",
    "right_span": "the right one is a span",
    "right_other": "the right one is neither text, span, link nor a color",
    "same_tag": "both are elements of one tag",
    "one_word": "the left one is a single word",
    "share": "records with such a pair",
    "own": "share of the letters around them that are in no element",
    "often": "how often a record has such a pair in a line, log",
    "break": "a line break in a line",
    "text_break": "a line break between two texts",
}
# `python -m benchmarks.cells --choose` prints these: a logistic regression on the pairs of texts of which the true
# cells of the 222 pages of `lists` tell whether they are one. Chosen from 80 features by cross-validation over sites.
WEIGHTS = {
    "always": -1.014,
    "block": -0.609,
    "blocks": -1.117,
    "weight": 1.399,
    "below": -1.113,
    "down": -3.944,
    "left_text": 1.929,
    "right_text": 0.254,
    "left_link": -0.725,
    "right_span": -1.750,
    "right_other": -0.930,
    "same_tag": -0.863,
    "one_word": 1.397,
    "share": -2.229,
    "own": 5.273,
    "often": 1.291,
    "break": -2.361,
    "text_break": 2.833,
}
# Tags that color words of a text.
COLORS = frozenset({"b", "strong", "em", "i", "u", "mark", "font", "big", "tt"})
SEPARATORS = frozenset("|·•")
CURRENCIES = frozenset("$€£¥")
_IN_LINE = INLINE_TAGS | SHOWN | {TEXT, BREAK, "label", "button"}
_FAR = 50.0
_BOLD = 600


class Seams(NamedTuple):
    """Where the texts of records meet: pairs of siblings, and what their kinds are like."""

    #: of each pair the row of the right sibling, those of the texts at its seam, and its kind
    right: Ints
    texts: Ints
    kind: Ints
    #: of each kind, in the order of FEATURES
    features: Floats


def speaks(text: str) -> bool:
    """Whether a text says something; brackets and commas do not."""
    return any(char.isalnum() or char in CURRENCIES for char in text)


def find_joins(survey: Survey, runs: Sequence[Run], weights: Floats) -> npt.NDArray[np.bool_]:
    """Of each row whether it is one text with what stands before it in its parent."""
    joined = np.zeros(len(survey.tree), np.bool_)
    seams = find_seams(survey, runs)
    joined[seams.right[(seams.features @ weights > 0)[seams.kind]]] = True
    return joined


def find_seams(survey: Survey, runs: Sequence[Run]) -> Seams:
    """Where the texts of these records meet; not where a separator parts them."""
    tree = survey.tree
    tags, end, parent = tree.tags, tree.end.tolist(), tree.parent.tolist()
    said = np.array([isinstance(item, str) and speaks(item) for item in tree.items])
    rows = np.arange(len(tree))
    last = np.maximum.accumulate(np.where(said, rows, -1)).tolist()
    following = np.minimum.accumulate(np.where(said, rows, len(tree))[::-1])[::-1].tolist()
    parted = np.cumsum([isinstance(item, str) and _parts(item) for item in tree.items]).tolist()
    breaks = np.cumsum([tag == BREAK for tag in tags]).tolist()
    places: dict[tuple[int, str, str], int] = {}
    kinds: dict[tuple[int, int, bool], int] = {}
    place = [-1] * len(tree)
    pairs: list[tuple[int, ...]] = []
    for record, run in enumerate(runs):
        for row in (row for top in run for row in range(top, end[top])):
            around = -1 if row in run else place[parent[row]]
            item = tree.items[row]
            name = "" if isinstance(item, str) else item.get("class", "")
            place[row] = places.setdefault((around, tags[row], name), len(places))
        for row in (row for top in run for row in range(top, end[top])):
            children = [child for child in tree.children.get(row, ()) if following[child] < end[child]]
            for left, right in pairwise(children):
                begins = tags[left] == "a" and left == children[0]
                one, other = last[end[left] - 1], following[right]
                if parted[one] == parted[other]:
                    broken = breaks[one] < breaks[other]
                    kind = kinds.setdefault((place[left], place[right], broken), len(kinds))
                    pairs.append((kind, record, row, left, right, one, other, broken, begins))
    return _describe(survey, np.array(pairs, np.int64).reshape(-1, 9), len(kinds), len(runs))


def _describe(survey: Survey, pairs: Ints, kinds: int, records: int) -> Seams:
    """The kinds of pairs with the mean of what is known about each pair."""
    tree = survey.tree
    kind, record, around, left, right, one, other, broken, begins = pairs.T
    tags = np.array(tree.tags, object)
    blocks = tree.depth(np.array([tag not in _IN_LINE for tag in tree.tags]))
    is_text, is_span = tags == TEXT, tags == "span"
    is_common = np.array([tag in COLORS or tag in (TEXT, "span", "a") for tag in tree.tags])
    texts = np.where(is_text, survey.chars, 0.0)
    own = np.bincount(np.maximum(tree.parent, 0), texts, len(tree)) / np.maximum(survey.chars, 1)
    one_word = [" " not in str(tree.items[row]).strip() for row in one.tolist()]
    in_left, in_right = blocks[one] > blocks[around], blocks[other] > blocks[around]
    down = survey.boxes[other, 1] - survey.boxes[one, 1] - survey.boxes[one, 3]
    bold = survey.font_weight >= _BOLD
    values = {
        "always": np.ones(len(pairs)),
        "block": in_left | in_right,
        "blocks": in_left & in_right,
        "weight": bold[one] != bold[other],
        "below": down >= -2,
        "down": np.clip(down / _FAR, 0, 1),
        "left_text": is_text[left],
        "right_text": is_text[right],
        "left_link": begins,
        "right_span": is_span[right],
        "right_other": ~is_common[right],
        "same_tag": (tags[left] == tags[right]) & ~is_text[left],
        "one_word": one_word,
        "own": own[around],
    }
    count = np.maximum(np.bincount(kind, minlength=kinds), 1)
    means = {name: np.bincount(kind, column, kinds) / count for name, column in values.items()}
    having = np.bincount(np.unique(kind * records + record) // max(records, 1), minlength=kinds)
    in_line, breaks = 1 - means["block"], np.bincount(kind, broken, kinds) / count
    means["share"] = having / max(records, 1)
    means["often"] = in_line * np.log(count / np.maximum(having, 1))
    means["break"] = in_line * breaks
    means["text_break"] = breaks * means["left_text"] * means["right_text"]
    features = np.stack([means[name] for name in FEATURES], axis=1)
    return Seams(right, np.stack([one, other], axis=1), kind, features)


def _parts(text: str) -> bool:
    return not SEPARATORS.isdisjoint(text) and not speaks(text)
