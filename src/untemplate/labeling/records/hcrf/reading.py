"""A list page read by a model: how likely groups are its records, and what their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from untemplate.labeling.records.cells import Line
from untemplate.labeling.records.groups import Group, Run
from untemplate.labeling.records.hcrf.features import MAX_GROUPS, observe
from untemplate.labeling.records.hcrf.labels import RECORD, Labels
from untemplate.labeling.records.hcrf.model import Hcrf
from untemplate.labeling.records.hcrf.scene import HALF, Scene, look
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import Floats

__all__ = ["IMAGE", "Reading", "list_model", "read"]

# The attribute that is no text.
IMAGE = "image"
SHIPPED = Path(__file__).with_name("lists.npz")


@cache
def list_model() -> Hcrf:
    """The model that is shipped: it finds titles, links, images, prices, dates and other texts in lists.

    `python -m benchmarks.hcrf --ship` makes it.
    """
    return Hcrf.load(SHIPPED)


class Reading:
    """What a model says about a page, given how likely each label of each block is."""

    def __init__(self, labels: Labels, scene: Scene, shares: Floats) -> None:
        self._labels, self._scene, self._shares = labels, scene, shares

    def likelihood(self, group: Group) -> float:
        """How well the parts of a group are what the model expects to be records, from 0 to 1: an F1 measure."""
        vision, expected = self._scene.vision, self._records
        shares = [expected[block] for run in group.runs if (block := vision.find(run)) is not None]
        return float(2 * sum(shares) / (expected.sum() + len(group)))

    @cached_property
    def _records(self) -> Floats:
        """How likely each block is a record."""
        is_inner = np.array([bool(children) for children in self._scene.vision.children], np.float64)
        shares: Floats = self._shares[:, self._labels.inner.index(RECORD)] * is_inner
        return shares

    def columns(self, lines: Sequence[Sequence[Line | None]]) -> list[str | None]:
        """The attribute of each column of aligned records: what its cells together most likely are."""
        return self._name(self._column_shares(lines))

    def names(self, lines: Sequence[Sequence[Line | None]]) -> list[dict[str, int]]:
        """Of each record the column of each attribute, the likeliest if there are several."""
        shares = self._column_shares(lines)
        kinds = self._name(shares)
        sure = np.argsort(-shares.max(axis=1), kind="stable").tolist()
        order = [number for number in sure if kinds[number]]
        found: list[dict[str, int]] = []
        for row in lines:
            own: dict[str, int] = {}
            for number in order:
                if row[number] is not None and (kind := kinds[number]):
                    own.setdefault(kind, number)
            found.append(own)
        return found

    def image(self, run: Run) -> int | None:
        """The leaf that is the image of a record, if it has one."""
        if IMAGE not in self._labels.attributes:
            return None
        number, end = self._labels.attributes.index(IMAGE), self._scene.survey.tree.end
        leaves = {int(leaf) for row in run for leaf in self._scene.leaf[row : end[row]]} - {-1}
        likely = [leaf for leaf in sorted(leaves) if not self._scene.texts[leaf]]
        best = max(likely, key=lambda leaf: float(self._shares[leaf, number]), default=None)
        return best if best is not None and self._shares[best, number] >= HALF else None

    def source(self, run: Run) -> str | None:
        """The address of the image of a record."""
        leaf = self.image(run)
        return None if leaf is None else self._scene.source(leaf) or None

    def _name(self, shares: Floats) -> list[str | None]:
        names = (*self._labels.attributes, None)
        return [names[best] for best in shares.argmax(axis=1).tolist()]

    def _column_shares(self, lines: Sequence[Sequence[Line | None]]) -> Floats:
        """How likely each column is each attribute, or none."""
        labels = len(self._labels.leaf)
        found = np.zeros((len(lines[0]), labels))
        found[:, -1] = 1.0
        for number in range(len(lines[0])):
            first = [line[0] for row in lines if (line := row[number]) is not None]
            leaves = np.unique(self._scene.leaf[first])
            if leaves[-1] >= 0:
                found[number] = self._shares[leaves[leaves >= 0], :labels].mean(axis=0)
        return found


def read(
    model: Hcrf,
    title: str,
    survey: Survey,
    groups: Sequence[Group],
    lines: Sequence[Sequence[Line | None]],
) -> Reading:
    """What a model says about a page; `groups` are its likely records, best first, `lines` the cells of the first."""
    scene = look(survey, groups[0].runs if groups else (), lines)
    if not len(scene.vision):
        return Reading(model.labels, scene, np.zeros((0, len(model.labels))))
    observed = observe(title, scene, groups[:MAX_GROUPS])
    return Reading(model.labels, scene, model.marginals(observed).vertex)
