"""Traits: what a page's markup is made of, to tell templates apart that share a frame.

There are two kinds, both read from the bytes of a page without building a tree:

- tag runs: four tags in a row, opening or closing;
- class pairs: an opening tag with its classes, alone and together with the next one. Digits are squashed, so that
  `post-17` and `post-23` are the same class.

The core of a template are the tag runs that nearly all of its pages have. Most of them may belong to the frame, which
all templates of a site share; the others are the template's own. A page belongs to a template if it has enough of
both. This is a departure from the paper, which compares signatures: a signature cannot tell templates apart if most
of their markup is the frame.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from untemplate.page.arrays import Bools, Doubles, Hashes, Longs
from untemplate.page.tag_arrays import TagSequence, hash_runs, mix_bits
from untemplate.page.template_cores import RUN_BITS, RUN_LENGTH, Core

__all__ = [
    "CoreIndex",
    "RunTable",
    "Runs",
    "class_pairs",
    "run_table",
    "table_of_runs",
    "tag_runs",
]

Runs = NDArray[np.uint32]
"""Distinct tag runs in ascending order, each a number of 18 bits."""

RunTable = Bools
"""Which of all possible tag runs a page has."""

_RUN_MASK = np.uint64((1 << RUN_BITS) - 1)

_CLASS = re.compile(rb"""class=["']?([^"'<>]*)""")
_DIGITS = re.compile(rb"\d+")
_MAX_CACHED_CLASSES = 1 << 16


def tag_runs(tags: TagSequence) -> Runs:
    """Return the distinct tag runs of a page in ascending order."""
    return np.flatnonzero(run_table(tags)).astype(np.uint32)


def run_table(tags: TagSequence) -> RunTable:
    """Return the tag runs of a page as a table, which is faster than sorting them."""
    return table_of_runs((tags.runs(RUN_LENGTH) & _RUN_MASK).astype(np.uint32))


def table_of_runs(runs: Runs) -> RunTable:
    """Return a table that is true at the place of each of these runs."""
    table = np.zeros(1 << RUN_BITS, np.bool_)
    table[runs] = True
    return table


def class_pairs(tags: TagSequence) -> Hashes:
    """Return the distinct tags of a page with their classes, alone and in pairs."""
    is_opening = ~tags.closing
    starts = tags.starts[is_opening]
    positions: list[int] = []
    classes: list[int] = []
    for match in _CLASS.finditer(tags.html):
        positions.append(match.start())
        classes.append(_CLASS_HASHES[match[1]])
    # A class belongs to the last tag before it; what is before the first tag gets a place that is cut off.
    class_of_tag = np.zeros(len(starts) + 1, np.uint64)
    class_of_tag[np.searchsorted(starts, np.array(positions, np.intp))] = np.array(classes, np.uint64)
    named = mix_bits(tags.names[is_opening] ^ class_of_tag[1:])
    return np.unique(np.concatenate([named, hash_runs(named, 2)]))


class _ClassHashes(dict[bytes, int]):
    """The hash of each class attribute, whatever the order of its classes. Sites repeat theirs on every page."""

    def __missing__(self, attribute: bytes) -> int:
        words = sorted(set(_DIGITS.sub(b"0", attribute.lower()).split()))
        number = int.from_bytes(blake2b(b" ".join(words), digest_size=8).digest(), "little") if words else 0
        if len(self) >= _MAX_CACHED_CLASSES:
            self.clear()
        self[attribute] = number
        return number


_CLASS_HASHES = _ClassHashes()


class CoreIndex:
    """The cores of several templates, to find the template of a page with a few operations on arrays.

    >>> from untemplate.page.tag_arrays import read_tags
    >>> pages = [read_tags(b"<h1>a</h1><p>b</p>"), read_tags(b"<ul><li>c</li></ul>")]
    >>> index = CoreIndex([Core(tuple(tag_runs(page).tolist()), (), 0.65, 0.85) for page in pages])
    >>> index.find_best(run_table(pages[1]))
    1
    """

    def __init__(self, cores: Sequence[Core]) -> None:
        self._own = np.array([run for core in cores for run in core.own], np.intp)
        self._frame = np.array([run for core in cores for run in core.frame], np.intp)
        self._own_sizes = np.array([len(core.own) for core in cores])
        self._frame_sizes = np.array([len(core.frame) for core in cores])
        self._min_own_shares = np.array([core.min_own_share for core in cores])
        self._min_shares = np.array([core.min_share for core in cores])

    def find_best(self, page: RunTable) -> int | None:
        """Return the number of the template that the page belongs to; None if there is none.

        If the cores of several match, the page belongs to the one of which it has most own runs: a template with few
        of its own is often a part of another one.
        """
        own = _count_by_template(page[self._own], self._own_sizes)
        frame = _count_by_template(page[self._frame], self._frame_sizes)
        has_own = _shares(own, self._own_sizes) >= self._min_own_shares
        has_core = _shares(own + frame, self._own_sizes + self._frame_sizes) >= self._min_shares
        fits = has_own & has_core
        return int(np.where(fits, own, -1).argmax()) if fits.any() else None


def _count_by_template(present: Bools, sizes: NDArray[np.intp]) -> Longs:
    """Return how many are true in each of consecutive parts of these sizes."""
    sums = np.concatenate([[0], np.cumsum(present)])
    ends = np.cumsum(sizes)
    counts: Longs = sums[ends] - sums[ends - sizes]
    return counts


def _shares(counts: Longs, sizes: NDArray[np.intp]) -> Doubles:
    """Return counts as shares; 1 where there is nothing to count."""
    shares: Doubles = np.where(sizes > 0, counts / np.maximum(1, sizes), 1.0)
    return shares
