"""Candidate extractors of a site: XPaths for anchors, offsets from them for what stands near.

An XPath is a data field: a tag path with its nearest classes or ids, or the label before it, and the position among
those alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from untemplate.labeling.anchors.leaves import Leaves
from untemplate.labeling.nodes import Fields
from untemplate.page.arrays import Bools, Floats, Ints

__all__ = ["OFFSET", "WINDOW", "XPATHS", "Extractors", "choose_xpaths", "threshold"]

# Leaves from an anchor within which other attributes are looked for: the paper's ω.
WINDOW = 7
# XPaths of an anchor that offsets start from, the most often annotated first; the paper finds about 2.
XPATHS = 3
# What `Fields.grouping` says of an extractor by offset.
OFFSET = 3
# An XPath is annotated on this share of the pages on which the analysis of section 6 expects it: new sites are not
# better than those that the recall was measured on.
MARGIN = 0.5
# Bounds of the threshold.
LEAST, MOST = 0.04, 0.5


def threshold(recall: float, share: float) -> float:
    """On which share of all pages an XPath must be annotated (section 6: τ ≤ φ R).

    `recall` is the annotator's, `share` that of the pages which have the attribute.
    """
    return min(MOST, max(LEAST, MARGIN * recall * share))


def choose_xpaths(fields: Fields, marks: Bools, among: Ints, share: float) -> Ints:
    """Algorithm 1: the XPaths with annotated nodes on at least this share of the pages, the most annotated first."""
    counts = np.bincount(fields.field, weights=marks[fields.row], minlength=len(fields))[among]
    enough = counts >= max(1.0, share * len(fields.table.pages))
    order = np.argsort(-counts[enough], kind="stable")
    return among[enough][order]


class Extractors(Fields):
    """The fields of a site, and after them extractors at offsets from some of them."""

    def __init__(self, base: Fields, leaves: Leaves, anchors: Sequence[int], window: int = WINDOW) -> None:
        self.table = base.table
        self._base = base
        rows, numbers, exceptions = [base.row], [base.field], [0.0] * len(base)
        #: of each extractor, the anchor's field and the offset from it; itself and 0 for XPaths
        origins = [(number, 0) for number in range(len(base))]
        seen = {base.rows_of(number).tobytes() for number in range(len(base))}
        for anchor in anchors:
            own = base.rows_of(anchor)
            for offset in (*range(-window, 0), *range(1, window + 1)):
                moved = leaves.at(own, offset)
                there = moved[moved >= 0]
                if len(there) < 2 or there.tobytes() in seen:
                    continue
                seen.add(there.tobytes())
                rows.append(there)
                numbers.append(np.full(len(there), len(origins), np.int32))
                exceptions.append(1 - len(there) / len(own))
                origins.append((anchor, offset))
        self.row = np.concatenate(rows)
        self.field = np.concatenate(numbers)
        self.grouping = np.concatenate([base.grouping, np.full(len(origins) - len(base), OFFSET, np.int32)])
        self.origins = origins
        #: of each extractor, the share of its anchor's pages on which there is no such leaf
        self.exceptions: Floats = np.array(exceptions, np.float32)

    @cached_property
    def _stripped(self) -> tuple[Ints, list[str], Ints, list[str]]:
        return self._base._stripped
