"""The tags of a page as arrays, for work on many pages: clustering, and everything that runs without the native core.

Reading the tags, from which traits are computed, too, costs about a seventh of parsing the page; a signature a fifth.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from untemplate.native import core
from untemplate.page.arrays import Bools, Hashes
from untemplate.page.signatures import MULTIPLIERS, NO_TAGS, SHINGLE, Signature, bytes_with_tags

__all__ = ["TagSequence", "hash_runs", "mix_bits", "read_tags", "tags_signature"]

_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)

_TAG_STARTS = np.zeros(256, np.bool_)
_TAG_STARTS[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), ord("/"), ord("!")]] = True


def _repeat(byte: int) -> np.uint64:
    """Return a word of eight times this byte."""
    return np.uint64(byte * 0x0101010101010101)


_CLOSING = np.uint64(1 << 63)  # no ASCII name of eight letters has this bit
_RAW_TEXT = tuple(np.uint64(int.from_bytes(name, "little")) for name in (b"script", b"style"))
_ONES, _BITS_5, _BITS_7 = _repeat(0x01), _repeat(0x20), _repeat(0x80)
_SEVEN, _ONE = np.uint64(7), np.uint64(1)
_FACTORS = np.array(MULTIPLIERS, np.uint64).reshape(-1, 1)


@dataclass(frozen=True, slots=True)
class TagSequence:
    """The tags of a page in order, opening and closing. Those inside scripts, styles and comments are left out.

    Attributes:
        html: the bytes that were read.
        starts: the position of each tag in these bytes.
        names: a number per tag: the first eight letters of its name, in lower case.
        closing: which tags are closing ones.
    """

    html: bytes
    starts: NDArray[np.intp]
    names: Hashes
    closing: Bools

    @property
    def words(self) -> Hashes:
        """One number per tag: its name, and one bit for closing tags."""
        words: Hashes = self.names | self.closing * _CLOSING
        return words

    def runs(self, length: int) -> Hashes:
        """Return a hash of each run of this many tags in a row. A shorter page is padded to one run."""
        if core and len(self.names) >= length:
            hashes = core.hash_runs(self.names.tobytes(), self.closing.tobytes(), length)
            return np.frombuffer(hashes, np.uint64)
        return hash_runs(mix_bits(self.words), length)


def hash_runs(words: Hashes, length: int) -> Hashes:
    """Return a hash of each run of this many words in a row; words that are too few are padded to one run."""
    if len(words) < length:
        words = np.pad(words, (0, length - len(words)))
    count = len(words) - length + 1
    hashes = words[:count].copy()
    for offset in range(1, length):
        hashes *= _MIX
        hashes += words[offset : offset + count]
    return mix_bits(hashes)


def mix_bits(values: Hashes) -> Hashes:
    """Return the values with every bit spread over all others."""
    values = (values ^ (values >> _HALF)) * _MIX
    values = (values ^ (values >> _HALF)) * _MIX
    return values ^ (values >> _HALF)


def read_tags(html: bytes) -> TagSequence:
    """Return the tags of a page.

    The time is linear whatever the bytes: an unclosed comment or script swallows the rest of the page.
    """
    html = bytes_with_tags(html)
    return _read_natively(html) if core else _read_by_arrays(html)


def _read_natively(html: bytes) -> TagSequence:
    """Return the tags that the native core reads."""
    starts, names, closing = core.read_tags(html)  # type: ignore[union-attr]
    return TagSequence(
        html,
        np.frombuffer(starts, np.int64),
        np.frombuffer(names, np.uint64),
        np.frombuffer(closing, np.bool_),
    )


def _read_by_arrays(html: bytes) -> TagSequence:
    """Return the tags, found with operations on arrays."""
    data = np.frombuffer(html + bytes(16), np.uint8)
    starts = np.flatnonzero(data == ord("<"))
    starts = starts[_TAG_STARTS[data[starts + 1]]]
    second = data[starts + 1]
    closing = second == ord("/")
    names = _read_names(data, starts + 1 + closing)
    skipped = _skipped_spans(html, starts, second, names)
    is_tag = _outside(skipped, starts) & (names != 0) & (second != ord("!"))
    return TagSequence(html, starts[is_tag], names[is_tag], closing[is_tag])


def _read_names(data: NDArray[np.uint8], starts: NDArray[np.intp]) -> Hashes:
    """Return the eight bytes from each start, up to the first that ends a tag name, in lower case.

    This works on all bytes of a word at once: in each difference, the lowest byte whose high bit is set is the
    first one that ends a name.
    """
    window = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    words = window[starts].astype(np.uint64)
    ends = (words - _repeat(0x21)) & ~words  # white space and control characters
    for end in b"/>":
        difference = words ^ _repeat(end)
        ends |= (difference - _ONES) & ~difference
    ends &= _BITS_7
    first = ends & (~ends + _ONE)
    kept = (first >> _SEVEN) - _ONE
    return (words | _BITS_5) & kept & ~_BITS_7


def _skipped_spans(
    html: bytes, starts: NDArray[np.intp], second: NDArray[np.uint8], names: Hashes
) -> list[tuple[int, int]]:
    """Return the start and end of each comment, script and style, in order."""
    openings = second == ord("!")
    closers: dict[int, list[int]] = {}
    for name in _RAW_TEXT:
        is_named = names == name
        is_closing = second == ord("/")
        closers[int(name)] = starts[is_named & is_closing].tolist()
        openings |= is_named & ~is_closing
    spans: list[tuple[int, int]] = []
    end = 0
    for start, name in zip(starts[openings].tolist(), names[openings].tolist(), strict=True):
        if start < end:
            continue
        if html.startswith(b"<!", start):
            if not html.startswith(b"<!--", start):
                continue
            end = html.find(b"-->", start + 2)
        else:
            end = _first_from(closers[name], start)
        if end < 0:
            end = len(html)
        spans.append((start, end))
    return spans


def _first_from(positions: list[int], start: int) -> int:
    """Return the first of the sorted positions that is not before the start; -1 if there is none."""
    index = bisect_left(positions, start)
    return positions[index] if index < len(positions) else -1


def _outside(spans: list[tuple[int, int]], starts: NDArray[np.intp]) -> Bools:
    """Return which starts are in none of the spans; the tag that opens a span is outside it."""
    if not spans:
        return np.ones(len(starts), np.bool_)
    froms, tos = np.array(spans, np.intp).T
    last = np.searchsorted(froms, starts, side="left") - 1
    outside: Bools = (last < 0) | (starts >= tos[last])
    return outside


def tags_signature(tags: TagSequence) -> Signature:
    """Return the signature of a page whose tags were read already."""
    if not len(tags.starts):
        return NO_TAGS
    minima = (_FACTORS * tags.runs(SHINGLE)).min(axis=1)
    return Signature(tuple((mix_bits(minima) & np.uint64(0xFF)).tolist()))
