"""Shingle signatures: eight bytes that tell a page's template, read from its bytes without building a tree.

Vertex III-A. A page is the sequence of its tags, opening and closing; a shingle is ten of them in a row; each
of eight hash functions keeps its minimum over the page's shingles. Pages of one template share most shingles,
so most of their eight bytes agree.

Departures from the paper: minima are taken over 64-bit hashes and one byte of each minimum is kept, since the
minimum of 8-bit hashes over a few hundred shingles is 0 for nearly every page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from untemplate.page.tags import read_tags

__all__ = ["LENGTH", "NO_TAGS", "SHINGLE", "Signature", "signature"]

LENGTH = 8
"""Bytes of a signature, as in the paper."""

SHINGLE = 10
"""Tags of a shingle, as in the paper."""

# Odd constants, drawn once at random. Saved rules hold signatures, so these never change.
_MULTIPLIERS = np.array(
    [
        [0x9E3779B97F4A7C15],
        [0xD1B54A32D192ED03],
        [0xABC98388FB8FAC03],
        [0x8CB92BA72F3D8DD7],
        [0xF1357AEA2E62A9C5],
        [0xC2B2AE3D27D4EB4F],
        [0xE7037ED1A0B428DB],
        [0xA0761D6478BD642F],
    ],
    np.uint64,
)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)

_TEXT = re.compile(r"([0-9a-f]{2}|\*)(\.([0-9a-f]{2}|\*))*")


@dataclass(frozen=True, slots=True)
class Signature:
    """A byte or a wild card (None) for each of eight positions: one page, or with wild cards many."""

    values: tuple[int | None, ...]

    def __post_init__(self) -> None:
        if len(self.values) != LENGTH:
            raise ValueError(f"a signature has {LENGTH} values, not {len(self.values)}")

    def covers(self, other: Signature) -> bool:
        """Whether the other agrees wherever this one has no wild card."""
        pairs = zip(self.values, other.values, strict=True)
        return all(mine is None or mine == theirs for mine, theirs in pairs)

    def matches(self, other: Signature) -> bool:
        """Whether one of the two covers the other."""
        return self.covers(other) or other.covers(self)

    def agreement(self, other: Signature) -> int:
        """The number of positions at which both have the same byte."""
        pairs = zip(self.values, other.values, strict=True)
        return sum(mine is not None and mine == theirs for mine, theirs in pairs)

    def __str__(self) -> str:
        """Hexadecimal bytes and wild cards, such as `1f.a0.*.33.07.c4.*.9e`."""
        return ".".join("*" if value is None else f"{value:02x}" for value in self.values)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that this text is the `str` of."""
        if not _TEXT.fullmatch(text):
            raise ValueError(f"not a signature: {text!r}")
        return cls(tuple(None if value == "*" else int(value, 16) for value in text.split(".")))


NO_TAGS = Signature((0,) * LENGTH)
"""The signature of a page without tags."""


def signature(html: bytes) -> Signature:
    """The signature of a page, from its raw bytes."""
    tags = read_tags(html)
    if not len(tags):
        return NO_TAGS
    if len(tags) < SHINGLE:
        tags = np.pad(tags, (0, SHINGLE - len(tags)))
    minima = (_MULTIPLIERS * _shingles(_mixed(tags))).min(axis=1)
    return Signature(tuple((_mixed(minima) & np.uint64(0xFF)).tolist()))


def _shingles(tags: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A 64-bit hash of each run of ten tags."""
    count = len(tags) - SHINGLE + 1
    hashes = np.zeros(count, np.uint64)
    for offset in range(SHINGLE):
        hashes *= _MIX
        hashes += tags[offset : offset + count]
    return _mixed(hashes)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others."""
    values = (values ^ (values >> _HALF)) * _MIX
    values = (values ^ (values >> _HALF)) * _MIX
    return values ^ (values >> _HALF)
