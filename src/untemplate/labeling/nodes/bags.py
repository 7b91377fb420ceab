"""Bags of hashed features: the input of linear models, one bag per distinct text, caption or slot.

Features are hashed by their names, which begin with the kind of feature. To rename a kind, train all models anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from untemplate.labeling.nodes.elements import Surroundings
from untemplate.page.arrays import Floats, Ints
from untemplate.page.dom import split_name

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "SIZE",
    "Bags",
    "caption_features",
    "name_features",
    "shape_features",
    "topic_features",
    "word_features",
]

# Features are hashed to this many numbers; labeled sites have about ten thousand features.
SIZE = 1 << 17
# Characters of a text that are read for words and for its shape, and words that are used.
MAX_TEXT = 300
MAX_SHAPE = 60
MAX_WORDS = 40

_TOKENS = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_RUNS = re.compile(r"(.)\1+")
_SHAPES = str.maketrans(
    {**{chr(code): "A" for code in range(ord("A"), ord("Z") + 1)}, **dict.fromkeys("123456789", "0")}
    | {chr(code): "a" for code in range(ord("b"), ord("z") + 1)}
)


class Bags:
    """Bags of hashed features. As vectors they have length 1, so that long texts weigh no more than short ones."""

    def __init__(self, bags: Iterable[Iterable[str]]) -> None:
        indices: list[int] = []
        starts = [0]
        for bag in bags:
            indices += {crc32(feature.encode("utf-8", "replace")) % SIZE for feature in bag}
            starts.append(len(indices))
        self.indices: Ints = np.array(indices, np.int32)
        self.starts: Ints = np.array(starts, np.int32)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def _lengths(self) -> Floats:
        lengths: Floats = np.sqrt(np.maximum(1, np.diff(self.starts))).astype(np.float32)
        return lengths

    def score(self, weights: Floats, intercept: float) -> Floats:
        """Return the score of each bag by a linear model with these weights."""
        sums = np.concatenate([[0.0], np.cumsum(weights[self.indices], dtype=np.float64)])
        totals: Floats = (sums[self.starts[1:]] - sums[self.starts[:-1]]).astype(np.float32)
        return totals / self._lengths + np.float32(intercept)

    def matrix(self) -> csr_matrix:
        """Return the bags as a sparse matrix, for training."""
        from scipy.sparse import csr_matrix

        values = np.repeat(1 / self._lengths, np.diff(self.starts))
        return csr_matrix((values, self.indices, self.starts), shape=(len(self), SIZE))


def word_features(text: str) -> list[str]:
    """Return the words of a text, and for numbers also the number of digits.

    >>> word_features("Tel: 55512")
    ['word tel', 'word :', 'digits 5']
    """
    features = []
    for token in _TOKENS.findall(text[:MAX_TEXT])[:MAX_WORDS]:
        if token[0].isdigit():
            features.append(f"digits {len(token)}")
            if len(token) > 3:
                continue
        features.append(f"word {token.lower()}")
    return features


def shape_features(text: str) -> list[str]:
    """Return what a text looks like: its letters, digits and signs, its length, and all runs of three characters."""
    shape = text[:MAX_SHAPE].translate(_SHAPES)
    runs = _RUNS.sub(r"\1+", shape)
    words = shape.split() or [""]
    characters = "^" + re.sub(r"\d", "0", text[:MAX_SHAPE].lower()) + "$"
    return [
        f"runs {runs}",
        f"shape {shape[:30]}",
        f"first {words[0]}",
        f"last {words[-1]}",
        f"tokens {min(12, len(_TOKENS.findall(text[:MAX_TEXT])))}",
        f"length {min(18, int(2 * np.log2(len(text) + 1)))}",
        *(f"three {characters[at : at + 3]}" for at in range(len(characters) - 2)),
    ]


def caption_features(captions: Iterable[str]) -> list[str]:
    """Return the words of captions, and each caption as a whole."""
    features = []
    for caption in captions:
        words = split_name(caption)
        features += [f"label {word}" for word in words]
        features.append(f"whole label {' '.join(words)}")
    return features


def name_features(around: Surroundings, path: str, following: str) -> list[str]:
    """Return the words of class names and ids, the nearest tags, and the words of the static text that follows."""
    return [
        *(f"name {name}" for name in around.names),
        *(f"tag {tag}" for tag in path.split("/")[-4:-1]),
        *(f"after {word}" for word in split_name(following)),
    ]


def topic_features(text: str, captions: Iterable[str]) -> list[str]:
    """Return the words of a text and its captions, all alike: `mpg` may be part of either."""
    words: set[str] = set()
    for caption in captions:
        words.update(split_name(caption))
    words.update(split_name(text[:MAX_TEXT])[:MAX_WORDS])
    return [f"topic {word}" for word in words if not word.isdigit()]
