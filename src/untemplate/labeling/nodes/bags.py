"""Bags of features: what a model looks at, hashed, one bag for each distinct text, label or place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from untemplate.labeling.nodes.surroundings import Surroundings
from untemplate.page.arrays import Floats, Ints
from untemplate.page.class_words import split_name

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "SIZE",
    "Bags",
    "label_features",
    "name_features",
    "shape_features",
    "topic_features",
    "word_features",
]

# Features are hashed to so many numbers; seed sites have some ten thousand.
SIZE = 1 << 17
# What is read of a text: the rest of a long one says nothing new.
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
    """Bags of hashed features, each of length 1 as a vector, so that long texts weigh no more than short ones."""

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
        """What a linear model with these weights says of each bag."""
        sums = np.concatenate([[0.0], np.cumsum(weights[self.indices], dtype=np.float64)])
        found: Floats = (sums[self.starts[1:]] - sums[self.starts[:-1]]).astype(np.float32)
        return found / self._lengths + np.float32(intercept)

    def matrix(self) -> csr_matrix:
        """The bags as a sparse matrix, for learning."""
        from scipy.sparse import csr_matrix

        values = np.repeat(1 / self._lengths, np.diff(self.starts))
        return csr_matrix((values, self.indices, self.starts), shape=(len(self), SIZE))


def word_features(text: str) -> list[str]:
    """The words of a text; of numbers, how many digits they have."""
    features = []
    for token in _TOKENS.findall(text[:MAX_TEXT])[:MAX_WORDS]:
        if token[0].isdigit():
            features.append(f"digits {len(token)}")
            if len(token) > 3:
                continue
        features.append(f"word {token.lower()}")
    return features


def shape_features(text: str) -> list[str]:
    """What a text looks like: letters, digits and signs, its length, and three characters at a time."""
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


def label_features(labels: Iterable[str]) -> list[str]:
    """The words of labels, and the labels as a whole."""
    features = []
    for label in labels:
        words = split_name(label)
        features += [f"label {word}" for word in words]
        features.append(f"whole label {' '.join(words)}")
    return features


def name_features(around: Surroundings, path: str, after: str) -> list[str]:
    """The words of class names and ids, the nearest tags, and the static text that follows."""
    return [
        *(f"name {name}" for name in around.names),
        *(f"tag {tag}" for tag in path.split("/")[-4:-1]),
        *(f"after {word}" for word in split_name(after)),
    ]


def topic_features(text: str, labels: Iterable[str]) -> list[str]:
    """The words of a text and its labels without telling which is which: `mpg` may be part of either."""
    words = {word for label in labels for word in split_name(label)}
    words.update(split_name(text[:MAX_TEXT])[:MAX_WORDS])
    return [f"topic {word}" for word in words if not word.isdigit()]
