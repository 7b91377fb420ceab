"""Context as the paper has it: the static text to the top left of a node, and what its value begins and ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.labeling.ground import Ground
from untemplate.labeling.ground.nodes import Floats, Ints, Numbered, group

__all__ = ["REDUNDANT", "Context", "context_of", "visual_distance"]

# The preceding text lies within a rectangle so many times as wide and as high as the node, at least that of a line of
# text. The paper says "proportional"; 5 and 3 were best among 2, 5, 10 and 2, 3, 5 on made-up sites.
WIDTHS, HEIGHTS = 5.0, 3.0
LEAST_WIDTH, LEAST_HEIGHT = 60.0, 18.0
# Static texts before a node, in document order, among which the preceding one is looked for.
LOOK_BACK = 20
# Above this page redundancy a text is static.
REDUNDANT = 0.5
# A prefix or suffix is shared by this share of a format's nodes, on this share of the pages.
AFFIX_SHARE = 0.2
# Words of a prefix or suffix.
MAX_AFFIX = 5


class Context(NamedTuple):
    """Of each row the number of a text in `texts`, −1 for none."""

    texts: list[str]
    preceding: Ints
    prefix: Ints
    suffix: Ints


def visual_distance(one: npt.NDArray[np.floating], other: npt.NDArray[np.floating]) -> Floats:
    """The distance of the top left corners of boxes."""
    return np.hypot(one[..., 0] - other[..., 0], one[..., 1] - other[..., 1]).astype(np.float32)


def context_of(ground: Ground, boxes: Floats) -> Context:
    """The three context features of each row."""
    texts: Numbered[str] = Numbered()
    preceding = _preceding(ground, boxes)
    numbers = np.array([texts[_plain(text)] for text in ground.texts], np.int32)
    words = [text.split(" ") for text in ground.texts]
    prefix = _affixes(ground, words, texts)
    suffix = _affixes(ground, [each[::-1] for each in words], texts, backwards=True)
    return Context(list(texts), np.where(preceding >= 0, numbers[preceding], -1), prefix, suffix)


def _preceding(ground: Ground, boxes: Floats) -> Ints:
    """The text number of the nearest redundant text to the top left of each row, within its rectangle."""
    redundant = (
        np.flatnonzero(ground.redundancy[ground.text] > REDUNDANT) if len(ground) else np.zeros(0, int)
    )
    found = np.full(len(ground), -1, np.int32)
    if not len(redundant):
        return found
    rows = np.arange(len(ground))
    last = np.searchsorted(redundant, rows) - 1
    best = np.full(len(ground), np.inf, np.float32)
    share = np.zeros(len(ground), np.float32)
    width = WIDTHS * np.maximum(boxes[:, 2], LEAST_WIDTH)
    height = HEIGHTS * np.maximum(boxes[:, 3], LEAST_HEIGHT)
    for back in range(LOOK_BACK):
        at = redundant[np.maximum(last - back, 0)]
        left, up = boxes[:, 0] - boxes[at, 0], boxes[:, 1] - boxes[at, 1]
        inside = (last >= back) & (ground.page[at] == ground.page)
        inside &= (left >= 0) & (left <= width) & (up >= 0) & (up <= height) & (left + up > 0)
        distance = np.where(inside, np.hypot(left, up), np.inf)
        redundancy = ground.redundancy[ground.text[at]]
        closer = (distance < best) | ((distance == best) & inside & (redundancy > share))
        best[closer], share[closer] = distance[closer], redundancy[closer]
        found[closer] = ground.text[at][closer]
    return found


def _affixes(
    ground: Ground, words: Sequence[list[str]], texts: Numbered[str], backwards: bool = False
) -> Ints:
    """What many values of one format begin with: the longest run of words that enough of them share.

    The format is the tag path and whether the value begins with a word or a number; values of a format are parted
    by their first word, then by their second, as long as enough of them stay together.
    """
    found = np.full(len(ground), -1, np.int32)
    if not len(ground):
        return found
    least = max(2.0, AFFIX_SHARE * len(ground.pages))
    kinds = np.array([_kind(each[0]) for each in words], np.int32)
    together = group(ground.path, kinds[ground.text])
    rows = np.flatnonzero(ground.redundancy[ground.text] <= REDUNDANT)
    firsts: Numbered[str] = Numbered()
    for length in range(MAX_AFFIX):
        word = np.array(
            [
                firsts[each[length]] if len(each) > length + 1 and not each[length].isdigit() else -1
                for each in words
            ],
            np.int32,
        )
        rows = rows[word[ground.text[rows]] >= 0]
        if not len(rows):
            break
        parted = group(together[rows], word[ground.text[rows]])
        pages = np.unique(parted.astype(np.int64) * len(ground.pages) + ground.page[rows]) // len(
            ground.pages
        )
        distinct = np.unique(parted.astype(np.int64) * len(ground.texts) + ground.text[rows]) // len(
            ground.texts
        )
        size, whole = np.bincount(parted), np.bincount(together[rows])
        enough = (np.bincount(pages, minlength=len(size)) >= least) & (
            np.bincount(distinct, minlength=len(size)) > 2
        )
        kept = enough[parted] & (size[parted] >= AFFIX_SHARE * whole[together[rows]])
        rows = rows[kept]
        together = together.copy()
        together[rows] = parted[kept]
        for row in rows.tolist():
            affix = words[ground.text[row]][: length + 1]
            found[row] = texts[_plain(" ".join(reversed(affix) if backwards else affix))]
    return found


def _plain(text: str) -> str:
    """How labels are compared: `Height:` and `HEIGHT` are alike."""
    return text.lower().rstrip(" :.*")


def _kind(word: str) -> int:
    return 0 if word[:1].isalpha() else 1 if word[:1].isdigit() else 2
