"""How wide texts are: the letters of Times New Roman, all texts of a page at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["SPACE", "TextWidths", "text_widths"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Advance widths of printable ASCII in Times New Roman, thousandths of the font size (its AFM file says so).
_ASCII = (
    "250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 "
    "500 278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 "
    "667 556 611 722 722 944 722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 "
    "500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541 "
)
SPACE = 0.25
_WIDTHS = np.full(1 << 16, 0.5, np.float64)
_WIDTHS[:32] = 0.0
_WIDTHS[32:127] = np.array(_ASCII.split(), np.float64) / 1000
_WIDTHS[0x0300:0x0370] = 0.0  # combining marks
_WIDTHS[0x1100:0x1200] = _WIDTHS[0x2E80:0xD800] = _WIDTHS[0xF900:0xFB00] = _WIDTHS[0xFF00:0xFF61] = 1.0


class TextWidths(NamedTuple):
    """Widths in font sizes: of each text on one line, of its longest word, and of all words of all texts."""

    whole: Floats
    longest: Floats
    words: Floats
    #: the first word of each text, and the number of all words
    starts: Ints


def text_widths(texts: Sequence[str]) -> TextWidths:
    """The widths of texts that are squeezed and not empty."""
    if not texts:
        return TextWidths(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(1, np.int64))
    joined = " ".join(texts)
    codes = np.frombuffer(joined.encode("utf-16-le", "surrogatepass"), np.uint16)
    widths = _WIDTHS[codes]
    lengths = [len(text) for text in texts]
    if len(joined) != len(codes):  # characters beyond the basic plane take two codes
        lengths = [len(text.encode("utf-16-le", "surrogatepass")) // 2 for text in texts]
    text_starts = np.cumsum([0, *lengths[:-1]]) + np.arange(len(lengths))  # a blank stands between two texts
    word_starts = np.append(0, np.flatnonzero(codes == 32) + 1)
    whole = np.add.reduceat(widths, text_starts)
    words = np.add.reduceat(widths, word_starts)
    whole[:-1] -= SPACE  # the blank after each
    words[:-1] -= SPACE
    starts = np.searchsorted(word_starts, text_starts)
    return TextWidths(whole, np.maximum.reduceat(words, starts), words, np.append(starts, len(words)))
