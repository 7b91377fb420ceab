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

from untemplate.lists.groups import Run
from untemplate.lists.survey import Survey
from untemplate.lists.tree import BREAK, SHOWN, TEXT, Floats, Ints
from untemplate.page import INLINE_TAGS

__all__ = ["FEATURES", "WEIGHTS", "Seams", "find_joins", "find_seams", "speaks"]

FEATURES = {
    "always": "bias",
    "blocks": "both are in blocks",
    "down": "how far the right one stands below the left one, of 50 pixels",
    "left_text": "the left sibling is a text",
    "right_span": "the right one is a span",
    "same_tag": "both are elements of one tag",
    "link_text": "a link, then a text",
    "text_class": "a text, then an element with a class",
    "class_text": "an element with a class that is the first around, then a text",
    "last_text": "the right one is a text and the last around",
    "bare": "both are elements, and no letters around them are in none",
    "small": "one is emphasized, small, raised or lowered",
    "one_word": "the left one is a single word",
    "same_text": "both say the same",
    "colon": "the left one ends with a colon",
    "dash": "it ends with a dash",
    "lower": "the right one begins with a small letter",
    "digit": "it begins with a digit",
    "long": "its length, of 100 letters",
    "share": "records with such a pair",
    "own": "share of the letters around them that are in no element",
    "often": "how often a record has such a pair in a line, log",
    "often_elements": "how often it has such a pair of elements, log",
    "break": "a line break in a line",
}
# `python -m benchmarks.measure.cells --choose` prints these: a logistic regression on the pairs of texts of which the
# true cells of the 222 pages of `lists` tell whether they are one. Chosen from some 80 features by cross-validation
# over sites.
WEIGHTS = {
    "always": -0.335,
    "blocks": -1.274,
    "down": -3.606,
    "left_text": 2.702,
    "right_span": -0.855,
    "same_tag": -1.028,
    "link_text": -3.248,
    "text_class": -2.225,
    "class_text": -3.076,
    "last_text": 2.538,
    "bare": -2.924,
    "small": -1.656,
    "one_word": 1.359,
    "same_text": 4.367,
    "colon": 2.652,
    "dash": 4.789,
    "lower": 1.352,
    "digit": -1.954,
    "long": -1.680,
    "share": -1.653,
    "own": 4.147,
    "often": 2.228,
    "often_elements": -1.293,
    "break": -2.841,
}
# Tags that color words of a text.
COLORS = frozenset({"b", "strong", "em", "i", "u", "mark", "font", "big", "tt"})
SEPARATORS = frozenset("|·•")
CURRENCIES = frozenset("$€£¥")
DASHES = "-–—"
_SMALL = frozenset({"em", "i", "small", "sup", "sub"})
_IN_LINE = INLINE_TAGS | SHOWN | {TEXT, BREAK, "label", "button"}
_FAR = 50.0
_LONG = 100


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
    said = np.array([isinstance(item, str) and speaks(item) for item in tree.items]) & survey.shown
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
                one, other = last[end[left] - 1], following[right]
                if parted[one] == parted[other]:
                    broken = breaks[one] < breaks[other]
                    kind = kinds.setdefault((place[left], place[right], broken), len(kinds))
                    pairs.append((kind, record, row, left, right, one, other, broken))
    return _describe(survey, np.array(pairs, np.int64).reshape(-1, 8), len(kinds), len(runs))


def _describe(survey: Survey, pairs: Ints, kinds: int, records: int) -> Seams:
    """The kinds of pairs with the mean of what is known about each pair."""
    tree = survey.tree
    kind, record, around, left, right, one, other, broken = pairs.T
    tags = np.array(tree.tags, object)
    blocks = tree.depth(np.array([tag not in _IN_LINE for tag in tree.tags]))
    is_text = tags == TEXT
    is_small = np.array([tag in _SMALL for tag in tree.tags])
    has_class = np.array([not isinstance(item, str) and bool(item.get("class")) for item in tree.items])
    texts = np.where(is_text, survey.chars, 0.0)
    own = np.bincount(np.maximum(tree.parent, 0), texts, len(tree)) / np.maximum(survey.chars, 1)
    before = [str(tree.items[row]).strip() for row in one.tolist()]
    after = [str(tree.items[row]).strip() for row in other.tolist()]
    siblings = [tree.children[row] for row in around.tolist()]
    is_first = np.array([children[0] for children in siblings], np.int64) == left
    is_last = np.array([children[-1] for children in siblings], np.int64) == right
    in_left, in_right = blocks[one] > blocks[around], blocks[other] > blocks[around]
    down = survey.boxes[other, 1] - survey.boxes[one, 1] - survey.boxes[one, 3]
    elements = ~is_text[left] & ~is_text[right]
    values = {
        "always": np.ones(len(pairs)),
        "blocks": in_left & in_right,
        "down": np.clip(down / _FAR, 0, 1),
        "left_text": is_text[left],
        "right_span": tags[right] == "span",
        "same_tag": (tags[left] == tags[right]) & elements,
        "link_text": (tags[left] == "a") & is_text[right],
        "text_class": is_text[left] & has_class[right],
        "class_text": is_first & has_class[left] & is_text[right],
        "last_text": is_text[right] & is_last,
        "bare": elements & (own[around] == 0),
        "small": is_small[left] | is_small[right],
        "one_word": [" " not in text for text in before],
        "same_text": [text.lower() == then.lower() for text, then in zip(before, after, strict=True)],
        "colon": [text.endswith(":") for text in before],
        "dash": [text.endswith(tuple(DASHES)) for text in before],
        "lower": [text[0].islower() for text in after],
        "digit": [text[0].isdigit() for text in after],
        "long": np.minimum([len(text) for text in after], _LONG) / _LONG,
        "own": own[around],
    }
    count = np.maximum(np.bincount(kind, minlength=kinds), 1)
    means = {name: np.bincount(kind, column, kinds) / count for name, column in values.items()}
    having = np.bincount(np.unique(kind * records + record) // max(records, 1), minlength=kinds)
    in_line = 1 - np.bincount(kind, in_left | in_right, kinds) / count
    times = np.log(count / np.maximum(having, 1))
    means["share"] = having / max(records, 1)
    means["often"] = in_line * times
    means["often_elements"] = np.bincount(kind, elements, kinds) / count * times
    means["break"] = in_line * np.bincount(kind, broken, kinds) / count
    features = np.stack([means[name] for name in FEATURES], axis=1)
    return Seams(right, np.stack([one, other], axis=1), kind, features)


def _parts(text: str) -> bool:
    return not SEPARATORS.isdisjoint(text) and not speaks(text)
