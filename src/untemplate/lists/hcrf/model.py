"""Hcrf: a hierarchical conditional random field over the blocks of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.lists.hcrf.distances import BITS, KINDS, TRIANGLES
from untemplate.lists.hcrf.features import SLOTS, Observed
from untemplate.lists.hcrf.forest import Forest, plant
from untemplate.lists.hcrf.inference import NEVER, Marginals, Potentials, best_labels, marginals
from untemplate.lists.hcrf.labels import Labels
from untemplate.lists.tree import Floats, Ints

__all__ = ["Hcrf", "Weights"]


class Weights(NamedTuple):
    """What a model learnt, by the cliques it is about; the last axes are labels."""

    #: slot of a feature, label
    vertex: Floats
    #: whether the child is an inner block, label of the parent, of the child
    down: Floats
    #: kinds of neighbours and the bits of their likeness, label of the left one, of the right one
    across: Floats
    #: kind of neighbours, label of the parent, of the left one, of the right one
    triangle: Floats

    @classmethod
    def zeros(cls, labels: int) -> Weights:
        pair = (labels, labels)
        return cls(
            np.zeros((SLOTS, labels)),
            np.zeros((2, *pair)),
            np.zeros((KINDS + BITS, *pair)),
            np.zeros((KINDS, labels, *pair)),
        )

    def rounded(self) -> dict[str, npt.NDArray[np.float16]]:
        """The weights by name in half precision, which is enough."""
        return {name: part.astype(np.float16) for name, part in self._asdict().items()}

    def tables(self) -> tuple[Floats, Floats]:
        """The potentials of first children and of triangles, by type."""
        kinds = [min(kind, KINDS - 1) for kind in range(TRIANGLES)]
        across = np.stack([bits @ self.across.reshape(KINDS + BITS, -1) for bits in _bits()])
        across = across.reshape(TRIANGLES, *self.across.shape[1:])
        down = self.down[[kind & 1 for kind in kinds]]
        return self.down, self.triangle[kinds] + across[:, None, :, :] + down[:, :, None, :]

    def gather(self, first: Floats, triangle: Floats) -> tuple[Floats, Floats, Floats]:
        """The sums of what is counted by type over what shares a weight: the transpose of `tables`."""
        down, joint = first.copy(), np.zeros_like(self.triangle)
        across = np.tensordot(_bits().T, triangle.sum(axis=1), 1)
        for number, counts in enumerate(triangle):
            kind = min(number, KINDS - 1)
            down[kind & 1] += counts.sum(axis=1)
            joint[kind] += counts
        return down, across, joint


def _bits() -> Floats:
    """Of each type of triangle which weights across it has: its kind, and the bits of likeness."""
    found = np.zeros((TRIANGLES, KINDS + BITS))
    for number in range(TRIANGLES):
        found[number, min(number, KINDS - 1)] = 1
        for bit in range(BITS):
            found[number, KINDS + bit] = max(number - KINDS + 1, 0) >> bit & 1
    return found


@dataclass(frozen=True, eq=False)
class Hcrf:
    """A trained model: labels for the blocks of pages."""

    labels: Labels
    weights: Weights

    def potentials(self, forest: Forest, pages: Sequence[Observed]) -> Potentials:
        """What the model says of each clique alone."""
        slots = np.concatenate([page.slots for page in pages])
        counts = np.concatenate([page.counts for page in pages])
        vertex = np.add.reduceat(self.weights.vertex[slots], np.cumsum(counts) - counts)
        return self.with_vertex(forest, pages, vertex)

    def with_vertex(self, forest: Forest, pages: Sequence[Observed], vertex: Floats) -> Potentials:
        allowed = self.labels.allowed(forest.is_leaf)
        types = np.concatenate([page.types for page in pages])
        return Potentials(np.where(allowed > 0, vertex, NEVER), *self.weights.tables(), types)

    def best(self, page: Observed) -> Ints:
        """The most likely labels of all blocks of a page together, as numbers."""
        forest = plant([page.parent])
        return best_labels(forest, self.potentials(forest, [page]))

    def marginals(self, *pages: Observed) -> Marginals:
        """How likely each label of each block is, of pages or parts of them one after the other."""
        forest = plant([page.parent for page in pages])
        return marginals(forest, self.potentials(forest, pages))

    def save(self, path: Path) -> None:
        """Write the model as plain arrays."""
        np.savez_compressed(
            path,
            **self.weights.rounded(),  # type: ignore[arg-type]
            attributes=np.array(self.labels.attributes, np.str_),
            combinations=np.array([",".join(names) for names in self.labels.combinations], np.str_),
        )

    @classmethod
    def load(cls, path: Path) -> Hcrf:
        """A model that was saved."""
        with np.load(path, allow_pickle=False) as arrays:
            labels = Labels(
                tuple(arrays["attributes"].tolist()),
                tuple(tuple(names.split(",")) for names in arrays["combinations"].tolist()),
            )
            return cls(labels, Weights(*(arrays[name].astype(np.float64) for name in Weights._fields)))
