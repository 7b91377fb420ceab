"""Shingle signatures: eight bytes that identify a page's template, computed from its bytes without building a tree.

Vertex III-A. A page is the sequence of its tags, opening and closing; a shingle is ten of them in a row; each
of eight hash functions keeps its minimum over the page's shingles. Pages of one template share most shingles,
so most of their eight bytes agree.

Departure from the paper: we take minima over 64-bit hashes and keep one byte of each, since the minimum of 8-bit
hashes over a few hundred shingles is 0 for nearly every page.

A signature costs about a fifth of parsing the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from untemplate.page.tags import TagSequence, mix_bits, read_tags

__all__ = ["LENGTH", "NO_TAGS", "SHINGLE", "Signature", "signature", "tags_signature"]

LENGTH = 8
"""Bytes of a signature, as in the paper."""

SHINGLE = 10
"""Tags of a shingle, as in the paper."""

# Odd constants, drawn once at random. Saved rules contain signatures, so these never change.
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
_TEXT = re.compile(r"([0-9a-f]{2}|\*)(\.([0-9a-f]{2}|\*))*")


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a page, or of a cluster: eight bytes, of which None is a wild card that matches any byte.

    >>> cluster = Signature.parse("1f.a0.*.33.07.c4.*.9e")
    >>> cluster.covers(Signature.parse("1f.a0.55.33.07.c4.66.9e"))
    True
    """

    values: tuple[int | None, ...]

    def __post_init__(self) -> None:
        if len(self.values) != LENGTH:
            raise ValueError(f"a signature has {LENGTH} values, not {len(self.values)}")

    def covers(self, other: Signature) -> bool:
        """Return True if the other agrees wherever this one has no wild card."""
        pairs = zip(self.values, other.values, strict=True)
        return all(mine is None or mine == theirs for mine, theirs in pairs)

    def matches(self, other: Signature) -> bool:
        """Return True if one of the two covers the other."""
        return self.covers(other) or other.covers(self)

    def agreement(self, other: Signature) -> int:
        """Return the number of positions at which both have the same byte."""
        pairs = zip(self.values, other.values, strict=True)
        return sum(mine is not None and mine == theirs for mine, theirs in pairs)

    def __str__(self) -> str:
        """Return hexadecimal bytes and wild cards, such as `1f.a0.*.33.07.c4.*.9e`."""
        return ".".join("*" if value is None else f"{value:02x}" for value in self.values)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Return the signature that `str` wrote. Raises ValueError if the text is not a signature."""
        if not _TEXT.fullmatch(text):
            raise ValueError(f"not a signature: {text!r}")
        return cls(tuple(None if value == "*" else int(value, 16) for value in text.split(".")))


NO_TAGS = Signature((0,) * LENGTH)
"""The signature of a page without tags."""


def signature(html: bytes) -> Signature:
    """Return the signature of a page, from its raw bytes."""
    return tags_signature(read_tags(html))


def tags_signature(tags: TagSequence) -> Signature:
    """Return the signature of a page whose tags were read already."""
    if not len(tags.starts):
        return NO_TAGS
    minima = (_MULTIPLIERS * tags.runs(SHINGLE)).min(axis=1)
    return Signature(tuple((mix_bits(minima) & np.uint64(0xFF)).tolist()))
