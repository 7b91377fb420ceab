"""Cells: the texts of a record, rejoined where markup only colors, links or breaks parts of one text.

Two neighboring texts meet at one pair of siblings, a *seam*. The seams in the same context are decided
together, for all records of a list, by a linear score of what the two texts and their elements look like.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.lists.page_profile import HEADINGS, PageProfile
from untemplate.lists.page_tree import BREAK, MEDIA_TAGS, TEXT, PageTree, Run
from untemplate.page import INLINE_TAGS, squeeze
from untemplate.page.arrays import Bools, Doubles, Longs

__all__ = [
    "EMPHASIS_TAGS",
    "SEAM_FEATURES",
    "SEAM_WEIGHTS",
    "CellFinder",
    "Line",
    "Seams",
    "Unit",
    "find_joined_rows",
    "find_seams",
    "shipped_seam_weights",
]

Line = tuple[int, ...]
"""Adjacent sibling rows of the tree that together are one text."""

SEAM_FEATURES = {
    "always": "bias",
    "blocks": "both texts are in block elements",
    "right_block": "the right text is in a block element",
    "paragraph": "both siblings are in a paragraph",
    "down": "distance of the right text below the left one, in units of 50 pixels",
    "left_text": "the left sibling is a text",
    "right_span": "the right sibling is a span",
    "same_tag": "both siblings are elements with the same tag",
    "link_text": "a link, then a text",
    "text_class": "a text, then an element with a class",
    "class_text": "a first child with a class, then a text",
    "last_text": "the right sibling is a text and the last child",
    "bare": "both siblings are elements, and their parent contains no text outside of elements",
    "small": "one sibling is emphasized, small, raised or lowered",
    "one_word": "the left text is a single word",
    "same_text": "both texts are equal",
    "colon": "the left text ends with a colon",
    "dash": "the left text ends with a dash",
    "lower": "the right text begins with a lower-case letter",
    "digit": "the right text begins with a digit",
    "long": "length of the right text, in units of 100 characters",
    "share": "share of records with such a seam",
    "alone": "share of records with the right sibling, where it has no such seam",
    "varied": "share of different texts among the right texts",
    "own": "share of the parent's characters outside of elements",
    "often": "number of such seams per record within a line, log",
    "often_elements": "number of such seams per record between elements, log",
    "break": "a line break within a line",
}
# `python -m benchmarks.measure.cells --choose` prints these: a logistic regression on the seams for which the
# true cells of the 222 pages of `lists` say whether they join. Selected from about 80 features by
# cross-validation over sites.
SEAM_WEIGHTS = {
    "always": -0.128,
    "blocks": -0.780,
    "right_block": -1.398,
    "paragraph": 1.084,
    "down": -2.474,
    "left_text": 2.866,
    "right_span": -0.963,
    "same_tag": -1.060,
    "link_text": -3.799,
    "text_class": -2.080,
    "class_text": -3.003,
    "last_text": 2.682,
    "bare": -2.554,
    "small": -1.524,
    "one_word": 1.380,
    "same_text": 5.445,
    "colon": 2.226,
    "dash": 4.748,
    "lower": 1.176,
    "digit": -1.670,
    "long": -1.559,
    "share": -1.289,
    "alone": 1.510,
    "varied": -1.061,
    "own": 3.924,
    "often": 2.164,
    "often_elements": -1.056,
    "break": -2.991,
}
# Tags that only color or stress words of a text.
EMPHASIS_TAGS = frozenset({"b", "strong", "em", "i", "u", "mark", "font", "big", "tt"})
_SMALL_TAGS = frozenset({"em", "i", "small", "sup", "sub"})
_INLINE = INLINE_TAGS | MEDIA_TAGS | {TEXT, BREAK, "label", "button"}
_TITLE_TAGS = HEADINGS | {"a"}
_SEPARATORS = frozenset("|·•")
_CURRENCIES = frozenset("$€£¥")
_DASHES = ("-", "–", "—")
_FAR_PIXELS = 50.0
_LONG_TEXT = 100


class Unit(NamedTuple):
    """A part of a record: an element to look into, or the rows of a line that is a cell."""

    rows: tuple[int, ...]
    is_cell: bool


class CellFinder:
    """Finds the cells inside elements.

    Args:
        tree: the page.
        joined: rows that form one text with the sibling before them, as from `find_joined_rows`.
        shown: rows that people see; hidden texts are no cells.
    """

    def __init__(self, tree: PageTree, joined: Bools, shown: Bools) -> None:
        self._tree, self._shown = tree, shown
        meaningful = _meaningful_texts(tree) & shown
        self._is_meaningful: list[bool] = (tree.total(meaningful.astype(np.float64)) > 0).tolist()
        self._joined: list[bool] = joined.tolist()
        #: whether everything inside a row is one text
        self._is_one_text = self._find_single_texts()

    def _find_single_texts(self) -> list[bool]:
        """Return which rows are one text: all meaningful children are, and each is joined with the one before."""
        single = [True] * len(self._tree)
        for row, children in self._tree.children.items():
            later = [child for child in children if self._is_meaningful[child]][1:]
            single[row] &= all(self._joined[child] for child in later)
        parents = self._tree.parent.tolist()
        for row in range(len(self._tree) - 1, 0, -1):
            single[parents[row]] &= single[row]
        return single

    def units(self, row: int) -> list[Unit]:
        """Return the parts of an element, in order.

        A title whose words are all emphasized, because they were searched for, has the parts of a title without
        emphasis.
        """
        lines = self._lines(row)
        while self._tree.tags[row] in _TITLE_TAGS and len(lines) == 1 and len(lines[0]) == 1:
            if self._tree.tags[lines[0][0]] not in EMPHASIS_TAGS:
                break
            lines = self._lines(lines[0][0])
        return [Unit(tuple(line), len(line) > 1 or self._tree.tags[line[0]] == TEXT) for line in lines]

    def _lines(self, row: int) -> list[list[int]]:
        """Return the children of an element with a text, those together that are one text."""
        lines: list[list[int]] = []
        punctuation: list[int] = []
        for child in self._tree.children.get(row, ()):
            if not self._is_meaningful[child]:
                punctuation.append(child)
                continue
            if lines and self._continues(lines[-1][-1], child):
                lines[-1] += [*punctuation, child]
            else:
                lines.append([child])
            punctuation = []
        return lines

    def _continues(self, left: int, right: int) -> bool:
        return self._joined[right] and self._is_one_text[right] and self._is_one_text[left]

    def text(self, rows: Line) -> str:
        """Return the visible text of a line; block elements and line breaks separate words."""
        parts: list[str] = []
        block_ends: set[int] = set()
        for row in self._tree.rows_inside(rows):
            if row in block_ends:
                parts.append(" ")
            tag = self._tree.tags[row]
            if tag == TEXT:
                parts.append(self._tree.texts[row] if self._shown[row] else "")
            elif tag not in INLINE_TAGS:
                parts.append(" ")
                block_ends.add(int(self._tree.end[row]))
        return squeeze("".join(parts))


class Seams(NamedTuple):
    """Where the texts of records meet, and the features of each kind of seam."""

    #: per seam: the row of the right sibling, the rows of the two texts, and the number of its kind
    right: Longs
    texts: Longs
    kind: Longs
    #: per kind, in the order of SEAM_FEATURES
    features: Doubles


class _SeamColumns(NamedTuple):
    """One entry per seam."""

    kind: Longs
    record: Longs
    parent: Longs
    #: the two siblings, and the two texts inside them
    left: Longs
    right: Longs
    left_text: Longs
    right_text: Longs
    has_break: Longs


def shipped_seam_weights() -> Doubles:
    """Return SEAM_WEIGHTS as a vector, in the order of SEAM_FEATURES."""
    return np.array([SEAM_WEIGHTS[name] for name in SEAM_FEATURES])


def find_joined_rows(profile: PageProfile, runs: Sequence[Run], weights: Doubles) -> Bools:
    """Return which rows form one text with the sibling before them.

    Args:
        profile: the page.
        runs: the records of one list.
        weights: the weights of SEAM_FEATURES. A seam with a positive score joins its texts.
    """
    joined = np.zeros(len(profile.tree), np.bool_)
    seams = find_seams(profile, runs)
    is_joining = seams.features @ weights > 0
    joined[seams.right[is_joining[seams.kind]]] = True
    return joined


def find_seams(profile: PageProfile, runs: Sequence[Run]) -> Seams:
    """Return the seams of these records, except where a separator such as "|" parts the texts.

    Args:
        profile: the page.
        runs: the records of one list. Seams of the same kind in different records share their features.
    """
    finder = _SeamFinder(profile)
    for record, run in enumerate(runs):
        finder.add_record(record, run)
    seams = finder.columns()
    features = _seam_features(profile, seams, finder.records_with_right(), len(runs))
    return Seams(seams.right, np.stack([seams.left_text, seams.right_text], axis=1), seams.kind, features)


class _SeamFinder:
    """Collects the seams of records. Seams between the same contexts in their records are of one kind."""

    def __init__(self, profile: PageProfile) -> None:
        self._tree = tree = profile.tree
        self._end, self._parent = tree.end.tolist(), tree.parent.tolist()
        rows = np.arange(len(tree))
        is_text = _meaningful_texts(tree) & profile.shown
        #: the nearest meaningful text up to, and from, each row
        self._text_before = np.maximum.accumulate(np.where(is_text, rows, -1)).tolist()
        following = np.minimum.accumulate(np.where(is_text, rows, len(tree))[::-1])
        self._text_after = following[::-1].tolist()
        #: the number of separators and of line breaks up to each row
        self._separators = np.cumsum(list(map(_is_separator, tree.texts))).tolist()
        self._breaks = np.cumsum(tree.has_tag({BREAK})).tolist()
        self._looks = profile.look_ids.tolist()
        self._contexts: dict[tuple[int, str, int], int] = {}
        self._context = [-1] * len(tree)
        #: per context: how many records have it, and the last of them
        self._records_with: list[int] = []
        self._last_record: list[int] = []
        self._kinds: dict[tuple[int, int, bool], int] = {}
        self._seams: list[tuple[int, ...]] = []

    def add_record(self, record: int, run: Run) -> None:
        """Add the seams of a record: the pairs of adjacent siblings that both contain a text."""
        rows = self._tree.rows_inside(run)
        for row in rows:
            self._set_context(row, record, run)
        for row in rows:
            children = self._tree.children.get(row, ())
            with_text = [child for child in children if self._text_after[child] < self._end[child]]
            for left, right in pairwise(with_text):
                self._add_seam(record, row, left, right)

    def columns(self) -> _SeamColumns:
        table = np.array(self._seams, np.int64).reshape(-1, len(_SeamColumns._fields))
        return _SeamColumns(*table.T)

    def records_with_right(self) -> Doubles:
        """Return how many records have the right sibling of each kind of seam, beside whatever it is."""
        return np.array([self._records_with[right] for _, right, _ in self._kinds], np.float64)

    def _set_context(self, row: int, record: int, run: Run) -> None:
        """Number the path of tags and classes, whatever their numbers are, from the record down to a row."""
        above = -1 if row in run else self._context[self._parent[row]]
        path = (above, self._tree.tags[row], self._looks[row])
        context = self._context[row] = self._contexts.setdefault(path, len(self._contexts))
        if context == len(self._records_with):
            self._records_with.append(0)
            self._last_record.append(-1)
        self._records_with[context] += self._last_record[context] != record
        self._last_record[context] = record

    def _add_seam(self, record: int, parent: int, left: int, right: int) -> None:
        """Add the seam between two siblings, unless a separator is between their texts."""
        left_text, right_text = self._text_before[self._end[left] - 1], self._text_after[right]
        if self._separators[left_text] != self._separators[right_text]:
            return
        has_break = self._breaks[left_text] < self._breaks[right_text]
        contexts = (self._context[left], self._context[right], has_break)
        kind = self._kinds.setdefault(contexts, len(self._kinds))
        self._seams.append((kind, record, parent, left, right, left_text, right_text, has_break))


def _seam_features(
    profile: PageProfile, seams: _SeamColumns, records_with_right: Doubles, records: int
) -> Doubles:
    """Return the features of each kind of seam: the means over its seams, and how often records have it."""
    kinds = len(records_with_right)
    count = np.maximum(np.bincount(seams.kind, minlength=kinds), 1)
    measured = _markup_features(profile, seams) | _wording_features(profile, seams)

    def mean(column: npt.ArrayLike) -> Doubles:
        return np.bincount(seams.kind, column, kinds) / count

    features = {name: mean(column) for name, column in measured.items()}
    in_line = 1 - features.pop("in_block")
    between_elements = features.pop("elements")
    pairs = np.unique(seams.kind * records + seams.record)
    records_with = np.bincount(pairs // max(records, 1), minlength=kinds)
    times = np.log(count / np.maximum(records_with, 1))
    features["share"] = records_with / max(records, 1)
    features["alone"] = 1 - records_with / np.maximum(records_with_right, 1)
    features["varied"] = _count_right_texts(profile.tree, seams, kinds) / count
    features["often"] = in_line * times
    features["often_elements"] = between_elements * times
    features["break"] = in_line * np.bincount(seams.kind, seams.has_break, kinds) / count
    return np.stack([features[name] for name in SEAM_FEATURES], axis=1)


def _markup_features(profile: PageProfile, seams: _SeamColumns) -> dict[str, npt.ArrayLike]:
    """Return columns about the elements at each seam; "in_block" and "elements" are parts of other features."""
    tree, left, right = profile.tree, seams.left, seams.right
    tags = np.array(tree.tags, object)
    block_depth = tree.depth(~tree.has_tag(_INLINE))
    is_text, is_small = tree.has_tag({TEXT}), tree.has_tag(_SMALL_TAGS)
    has_class = np.array(tree.classes, object) != ""
    own_share = _share_outside_elements(profile)[seams.parent]
    siblings = [tree.children[row] for row in seams.parent.tolist()]
    is_first = np.array([children[0] for children in siblings], np.int64) == left
    is_last = np.array([children[-1] for children in siblings], np.int64) == right
    left_block = block_depth[seams.left_text] > block_depth[seams.parent]
    right_block = block_depth[seams.right_text] > block_depth[seams.parent]
    left_box, right_box = profile.boxes[seams.left_text], profile.boxes[seams.right_text]
    down = right_box[:, 1] - left_box[:, 1] - left_box[:, 3]
    elements = ~is_text[left] & ~is_text[right]
    return {
        "always": np.ones(len(left)),
        "in_block": left_block | right_block,
        "elements": elements,
        "blocks": left_block & right_block,
        "right_block": right_block,
        "paragraph": tags[seams.parent] == "p",
        "down": np.clip(down / _FAR_PIXELS, 0, 1),
        "left_text": is_text[left],
        "right_span": tags[right] == "span",
        "same_tag": (tags[left] == tags[right]) & elements,
        "link_text": (tags[left] == "a") & is_text[right],
        "text_class": is_text[left] & has_class[right],
        "class_text": is_first & has_class[left] & is_text[right],
        "last_text": is_text[right] & is_last,
        "bare": elements & (own_share == 0),
        "small": is_small[left] | is_small[right],
        "own": own_share,
    }


def _wording_features(profile: PageProfile, seams: _SeamColumns) -> dict[str, npt.ArrayLike]:
    """Return columns about the two texts at each seam."""
    texts = profile.tree.texts
    before = [texts[row].strip() for row in seams.left_text.tolist()]
    after = [texts[row].strip() for row in seams.right_text.tolist()]
    return {
        "one_word": [" " not in text for text in before],
        "same_text": [left.lower() == right.lower() for left, right in zip(before, after, strict=True)],
        "colon": [text.endswith(":") for text in before],
        "dash": [text.endswith(_DASHES) for text in before],
        "lower": [text[0].islower() for text in after],
        "digit": [text[0].isdigit() for text in after],
        "long": np.minimum([len(text) for text in after], _LONG_TEXT) / _LONG_TEXT,
    }


def _count_right_texts(tree: PageTree, seams: _SeamColumns, kinds: int) -> Longs:
    """Count the different right texts of each kind of seam."""
    texts = [tree.texts[row].strip() for row in seams.right_text.tolist()]
    pairs = set(zip(seams.kind.tolist(), texts, strict=True))
    return np.bincount(np.array([kind for kind, _ in pairs], np.int64), minlength=kinds)


def _share_outside_elements(profile: PageProfile) -> Doubles:
    """Return the share of each element's characters that are in its own texts, not in child elements."""
    tree = profile.tree
    text_chars = np.where(tree.has_tag({TEXT}), profile.chars, 0.0)
    own_chars = np.bincount(np.maximum(tree.parent, 0), text_chars, len(tree))
    share: Doubles = own_chars / np.maximum(profile.chars, 1)
    return share


def _meaningful_texts(tree: PageTree) -> Bools:
    return np.array(list(map(_is_meaningful, tree.texts)), np.bool_)


def _is_meaningful(text: str) -> bool:
    """Return True if a text contains a letter, digit or currency sign, not only brackets and the like."""
    return any(char.isalnum() or char in _CURRENCIES for char in text)


def _is_separator(text: str) -> bool:
    return not _SEPARATORS.isdisjoint(text) and not _is_meaningful(text)
