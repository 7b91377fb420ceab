"""The sequence of a page's tags, straight from its bytes: about a fifth of the cost of parsing it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_BYTES", "read_tags"]

MAX_BYTES = 4 << 20
"""What lies beyond is not looked at: a template shows long before, and memory stays bounded."""

_Words = NDArray[np.uint64]

_TAG_STARTS = np.zeros(256, np.bool_)
_TAG_STARTS[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), ord("/"), ord("!")]] = True


def _word(name: bytes) -> int:
    return int.from_bytes(name, "little")


def _repeat(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


_CLOSING = np.uint64(1 << 63)  # no ASCII name of eight letters has this bit
_RAW_TEXT = tuple(np.uint64(_word(name)) for name in (b"script", b"style"))
_ONES, _BITS_5, _BITS_7 = _repeat(0x01), _repeat(0x20), _repeat(0x80)
_SEVEN, _ONE = np.uint64(7), np.uint64(1)


def read_tags(html: bytes) -> _Words:
    """One number per tag, opening or closing, in order; what is in scripts, styles and comments is not seen.

    The number is the first eight letters of the name, in lower case, and one bit for closing tags.
    Takes linear time whatever the bytes: an unclosed comment or script swallows the rest of the page.
    """
    html = html[:MAX_BYTES]
    if b"\0" in html:  # UTF-16, or junk that parsers drop too
        html = html.replace(b"\0", b"")
    data = np.frombuffer(html + bytes(16), np.uint8)
    starts = np.flatnonzero(data == ord("<"))
    starts = starts[_TAG_STARTS[data[starts + 1]]]
    second = data[starts + 1]
    closing = second == ord("/")
    names = _names(data, starts + 1 + closing)
    seen = _outside(_unseen(html, starts, second, names), starts)
    seen &= (names != 0) & (second != ord("!"))
    tags: _Words = (names | closing * _CLOSING)[seen]
    return tags


def _names(data: NDArray[np.uint8], starts: NDArray[np.intp]) -> _Words:
    """The eight bytes from each start, up to the first that ends a tag name, in lower case.

    All bytes of a word at once: in each difference, the lowest byte whose high bit is set is the first one
    that ends a name.
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


def _unseen(
    html: bytes, starts: NDArray[np.intp], second: NDArray[np.uint8], names: _Words
) -> list[tuple[int, int]]:
    """The stretches inside comments, scripts and styles, in order."""
    openings = second == ord("!")
    ends: dict[int, list[int]] = {}
    for name in _RAW_TEXT:
        named = names == name
        closing = second == ord("/")
        ends[int(name)] = starts[named & closing].tolist()
        openings |= named & ~closing
    stretches: list[tuple[int, int]] = []
    end = 0
    for start, name in zip(starts[openings].tolist(), names[openings].tolist(), strict=True):
        if start < end:
            continue
        if html.startswith(b"<!", start):
            if not html.startswith(b"<!--", start):
                continue
            found = html.find(b"-->", start + 2)
            end = len(html) if found < 0 else found
        else:
            closers = ends[name]
            index = bisect_left(closers, start)
            end = closers[index] if index < len(closers) else len(html)
        stretches.append((start, end))
    return stretches


def _outside(stretches: list[tuple[int, int]], starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which starts lie in none of the stretches; the tag that opens a stretch lies outside it."""
    if not stretches:
        return np.ones(len(starts), np.bool_)
    froms, tos = np.array(stretches, np.intp).T
    last = np.searchsorted(froms, starts, side="left") - 1
    outside: NDArray[np.bool_] = (last < 0) | (starts >= tos[last])
    return outside
