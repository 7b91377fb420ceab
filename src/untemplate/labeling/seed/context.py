"""Context as the paper has it: the static text to the top left of a node, and what its value begins and ends with."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.labeling.nodes import NodeTable
from untemplate.page.arrays import Bools, Floats, Ints, Numbered, count_distinct, group_rows
from untemplate.page.captions import may_be_caption, min_static_pages

__all__ = ["REDUNDANT", "Context", "best_match", "context_of", "page_shares", "visual_distance"]

# The preceding text lies within a rectangle so many times as wide and as high as the node, at least as a short line
# of text. The paper says "proportional". F1 of labels on SWDE, three seed sites a vertical: 0.737 with a height of 1,
# 0.717 with 2; the width does not matter (5, 10).
WIDTHS, HEIGHTS = 5.0, 1.0
LEAST_WIDTH, LEAST_HEIGHT = 60.0, 18.0
# Pixels by which a preceding text may lie lower or further right: estimated boxes are not exact.
SLACK_DOWN, SLACK_RIGHT = 6.0, 2.0
# The middle of a node's first line lies at most so far below its top.
HALF_LINE = 10.0
# Static texts before a node, in document order, among which the preceding one is looked for.
LOOK_BACK = 20
# Longer texts are no captions.
MAX_PRECEDING_LENGTH = 60
# Above this page redundancy a text is static.
REDUNDANT = 0.5
# A text precedes nodes of a tag path on this share of the pages; otherwise it is there by chance. 0.4 is alike.
PRECEDING_SHARE = 0.2
# A prefix or suffix is shared by nodes of a format on this share of the pages; 0.5 is alike.
AFFIX_SHARE = 0.8
# Words of a prefix or suffix.
MAX_AFFIX = 5
# Contexts match that have this share of their words in common.
MIN_MATCH = 0.5


class Context(NamedTuple):
    """Of each row the number of a text in `texts`, −1 for none."""

    texts: list[str]
    preceding: Ints
    prefix: Ints
    suffix: Ints


def visual_distance(one: npt.NDArray[np.floating], other: npt.NDArray[np.floating]) -> Floats:
    """The distance of the top left corners of boxes."""
    return np.hypot(one[..., 0] - other[..., 0], one[..., 1] - other[..., 1]).astype(np.float32)


def page_shares(table: NodeTable, kind: Ints) -> Floats:
    """Of each row, on which share of the pages its kind stands."""
    shares = count_distinct(kind, table.page) / max(1, len(table.pages))
    return shares.astype(np.float32)[kind]


def context_of(table: NodeTable, boxes: Floats, eligible: Bools) -> Context:
    """The three context features of each row; only eligible rows have prefixes and suffixes."""
    texts: Numbered[str] = Numbered()
    preceding = _preceding(table, boxes)
    numbers = np.array([texts[_plain(text)] for text in table.texts], np.int32)
    words = [text.split(" ") for text in table.texts]
    prefix = _affixes(table, words, eligible, texts)
    suffix = _affixes(table, [each[::-1] for each in words], eligible, texts, backwards=True)
    found = np.where(preceding >= 0, numbers[preceding], -1) if len(table) else preceding
    return Context(list(texts), found, prefix, suffix)


def best_match(text: str, known: Collection[str]) -> float:
    """The share of words that a context has in common with the most similar known one; 0 if that is too small."""
    own = _words(text)
    found = max((len(own & words) / len(own | words) for words in map(_words, known) if words), default=0.0)
    return found if found >= MIN_MATCH else 0.0


def _words(text: str) -> frozenset[str]:
    """Words without the s of a plural; `isbn-13` is one word."""
    words = (re.sub(r"[^a-z0-9]", "", word) for word in re.split(r"[\s/():,]+", text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words if word)


def _preceding(table: NodeTable, boxes: Floats) -> Ints:
    """The text number of the nearest redundant text to the top left of each row, within its rectangle."""
    found = np.full(len(table), -1, np.int32)
    label = np.array([may_be_caption(text, MAX_PRECEDING_LENGTH) for text in table.texts], np.bool_)
    static = np.flatnonzero(
        (table.redundancy[table.text] > REDUNDANT) & label[table.text] & (boxes[:, 3] > 0)
        if len(table)
        else []
    )
    if not len(static):
        return found
    last = np.searchsorted(static, np.arange(len(table))) - 1
    best = np.full(len(table), np.inf, np.float32)
    width = WIDTHS * np.maximum(boxes[:, 2], LEAST_WIDTH)
    height = HEIGHTS * np.maximum(boxes[:, 3], LEAST_HEIGHT)
    middle = boxes[:, 1] + np.minimum(boxes[:, 3] / 2, HALF_LINE)
    for back in range(LOOK_BACK):
        at = static[np.maximum(last - back, 0)]
        left, up = boxes[:, 0] - boxes[at, 0], boxes[:, 1] - boxes[at, 1]
        inside = (last >= back) & (table.page[at] == table.page)
        inside &= (left >= -SLACK_RIGHT) & (left <= width) & (up >= -SLACK_DOWN) & (up <= height)
        gap = np.hypot(np.maximum(0, left - boxes[at, 2]), middle - middle[at])
        closer = inside & (gap < best)
        best[closer], found[closer] = gap[closer], table.text[at][closer]
    return np.where(page_shares(table, group_rows(table.path, found)) >= PRECEDING_SHARE, found, -1).astype(
        np.int32
    )


def _affixes(
    table: NodeTable,
    words: Sequence[list[str]],
    eligible: Bools,
    texts: Numbered[str],
    backwards: bool = False,
) -> Ints:
    """What many values of one format begin with: the longest run of words that enough of them share.

    The format is the tag path and whether the value begins with a word or a number; values of a format are parted
    by their first word, then by their second, as long as enough of them stay together.
    """
    found = np.full(len(table), -1, np.int32)
    if not len(table):
        return found
    kinds = np.array([_kind(each[0]) for each in words], np.int32)
    rows = np.flatnonzero(eligible)
    together = group_rows(table.path, kinds[table.text])[rows]
    firsts: Numbered[str] = Numbered()
    least = min_static_pages(len(table.pages), AFFIX_SHARE)
    for length in range(MAX_AFFIX):
        word = np.array(
            [
                firsts[each[length].lower()]
                if len(each) > length + 1 and not any(map(str.isdigit, each[length]))
                else -1
                for each in words
            ],
            np.int32,
        )[table.text[rows]]
        rows, together, word = rows[word >= 0], together[word >= 0], word[word >= 0]
        if not len(rows):
            break
        parted = group_rows(together, word)
        pages = count_distinct(parted, table.page[rows])
        enough = (pages >= least) & (count_distinct(parted, table.text[rows]) > 2)
        rows, together = rows[enough[parted]], parted[enough[parted]]
        for row in rows.tolist():
            affix = words[table.text[row]][: length + 1]
            found[row] = texts[_plain(" ".join(reversed(affix) if backwards else affix))]
    return found


def _plain(text: str) -> str:
    """How labels are compared: `Height:` and `HEIGHT` are alike."""
    return text.lower().strip(" :.*")


def _kind(word: str) -> int:
    return 0 if word[:1].isalpha() else 1 if word[:1].isdigit() else 2
