"""Shingle signatures: eight bytes that identify a page's template, read from its bytes without a tree.

Vertex III-A. A page is the sequence of its tags, opening and closing; a shingle is ten of them in a row; each
of eight hash functions keeps its minimum over the page's shingles. Pages of one template share most shingles,
so most of their eight bytes agree.

Departure from the paper: we take minima over 64-bit hashes and keep one byte of each, since the minimum of 8-bit
hashes over a few hundred shingles is 0 for nearly every page.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TypeAlias

from lxml import etree

from untemplate.native import core

__all__ = [
    "LENGTH",
    "MAX_TAG_BYTES",
    "MULTIPLIERS",
    "NO_TAGS",
    "SHINGLE",
    "Markup",
    "Signature",
    "bytes_with_tags",
    "markup_with_tags",
    "signature",
]

Markup: TypeAlias = bytes | etree._Element
"""Where the tags of a page are: its bytes, or the root element if the native core has parsed the page."""

MAX_TAG_BYTES = 4 << 20
"""Bytes of a page whose tags are read: a template shows long before, and memory stays bounded."""

LENGTH = 8
"""Bytes of a signature, as in the paper."""

SHINGLE = 10
"""Tags of a shingle, as in the paper."""

# Odd constants, drawn once at random. Saved rules contain signatures, so these never change.
MULTIPLIERS = array(
    "Q",
    (
        0x9E3779B97F4A7C15,
        0xD1B54A32D192ED03,
        0xABC98388FB8FAC03,
        0x8CB92BA72F3D8DD7,
        0xF1357AEA2E62A9C5,
        0xC2B2AE3D27D4EB4F,
        0xE7037ED1A0B428DB,
        0xA0761D6478BD642F,
    ),
)
_MULTIPLIER_BYTES = MULTIPLIERS.tobytes()
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

    @property
    def word(self) -> int:
        """The bytes as one number, with 0 for wild cards."""
        return int.from_bytes(bytes([value or 0 for value in self.values]), "big")

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


def signature(markup: Markup) -> Signature:
    """Return the signature of a page, from its raw bytes or from what `Page.markup` returns."""
    if core is None and isinstance(markup, bytes):
        from untemplate.page.tag_arrays import read_tags, tags_signature  # here, as the core needs no numpy

        return tags_signature(read_tags(markup))
    values = core.read_signature(markup_with_tags(markup), SHINGLE, _MULTIPLIER_BYTES)  # type: ignore[union-attr]
    return Signature(values) if values else NO_TAGS


def markup_with_tags(markup: Markup) -> Markup:
    """Return what the native core reads tags from."""
    return bytes_with_tags(markup) if isinstance(markup, bytes) else markup


def bytes_with_tags(html: bytes) -> bytes:
    """Return the bytes of a page whose tags are read: not too many, and no NUL among them."""
    html = html[:MAX_TAG_BYTES]
    return html.replace(b"\0", b"")  # of UTF-16, or junk that parsers drop too
