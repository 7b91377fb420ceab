"""The records of a list page read by a model: what their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from untemplate.lists.cells import Line
from untemplate.lists.groups import Group, Run
from untemplate.lists.hcrf.features import observe_records
from untemplate.lists.hcrf.labels import Labels
from untemplate.lists.hcrf.model import Hcrf
from untemplate.lists.hcrf.scene import HALF, Scene, look
from untemplate.lists.survey import Survey
from untemplate.lists.tree import Floats

__all__ = ["Reading", "list_model", "read"]

SHIPPED = Path(__file__).with_name("lists.npz")


@cache
def list_model() -> Hcrf:
    """The model that is shipped: it finds titles, links, images, prices, dates and other texts in lists.

    `python -m benchmarks.measure.hcrf --ship` makes it.
    """
    return Hcrf.load(SHIPPED)


class Reading:
    """What a model says about records, given how likely each label of each block is; nothing of some is 0."""

    def __init__(self, labels: Labels, scene: Scene, shares: Floats) -> None:
        self._labels, self._scene, self._shares = labels, scene, shares

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

    def images(self, run: Run) -> dict[str, int]:
        """The leaves of a record that are images, by attribute."""
        pictures = [leaf for leaf in self._scene.leaves(run) if not self._scene.texts[leaf]]
        if not pictures:
            return {}
        names = self._labels.attributes
        likely = self._shares[pictures, : len(names)]
        best = zip(names, likely.argmax(axis=0).tolist(), likely.max(axis=0).tolist(), strict=True)
        return {name: pictures[place] for name, place, share in best if share >= HALF}

    def sources(self, run: Run) -> dict[str, str]:
        """The addresses of the images of a record, by attribute."""
        leaves = self.images(run).items()
        return {name: source for name, leaf in leaves if (source := self._scene.source(leaf))}

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
            known = leaves[(leaves >= 0) & (self._shares[leaves].sum(axis=1) > 0)]
            if len(known):
                found[number] = self._shares[known, :labels].mean(axis=0)
        return found


def read(
    model: Hcrf, title: str, survey: Survey, group: Group, lines: Sequence[Sequence[Line | None]]
) -> Reading:
    """What a model says about the records of a group, whose cells are aligned."""
    scene = look(survey, group.runs, lines)
    shares = np.zeros((len(scene.vision), len(model.labels)))
    records = observe_records(title, scene, group)
    if records:
        inside = [np.arange(block, scene.vision.end[block]) for block in records]
        shares[np.concatenate(inside)] = model.marginals(*records.values()).vertex
    return Reading(model.labels, scene, shares)
