"""A list page read by a model: how likely groups are its records, and what their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from untemplate.labeling.records.cells import Line
from untemplate.labeling.records.groups import Group, Run
from untemplate.labeling.records.hcrf.features import MAX_GROUPS, observe
from untemplate.labeling.records.hcrf.labels import RECORD
from untemplate.labeling.records.hcrf.model import Hcrf
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import Floats
from untemplate.labeling.records.vision import see

__all__ = ["IMAGE", "Reading", "list_model"]

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
    """What a model says about a page; `groups` are its likely records, best first."""

    def __init__(self, model: Hcrf, title: str, survey: Survey, groups: Sequence[Group]) -> None:
        self._labels, self._tree = model.labels, survey.tree
        self._vision = see(survey, groups[0].runs if groups else ())
        observed = observe(title, survey, self._vision, groups[:MAX_GROUPS])
        self._shares = (
            model.marginals(observed).vertex if len(self._vision) else np.zeros((0, len(self._labels)))
        )
        self._leaf = np.full(len(survey.tree), -1)
        for block, (rows, children) in enumerate(zip(self._vision.rows, self._vision.children, strict=True)):
            if not children:
                self._leaf[rows[0] : survey.tree.end[rows[0]]] = block

    def likelihood(self, group: Group) -> float:
        """How likely the parts of a group are records, on average."""
        record = self._labels.inner.index(RECORD)
        blocks = [self._vision.find(run) for run in group.runs]
        shares = [
            self._shares[block, record] if block is not None and self._vision.children[block] else 0.0
            for block in blocks
        ]
        return float(np.mean(shares))

    def names(self, lines: Sequence[Sequence[Line | None]]) -> list[dict[str, int]]:
        """Of each record the column of each attribute. A column is what its cells together most likely are.

        It is something if it is as likely some attribute as none.
        """
        columns = self._columns(lines)
        values, nothing = columns[:, :-1], columns[:, -1]
        best = values.argmax(axis=1)
        order = [
            number for number in np.argsort(-values.max(axis=1), kind="stable") if nothing[number] <= 0.5
        ]
        found: list[dict[str, int]] = []
        for row in lines:
            own: dict[str, int] = {}
            for number in order:
                if row[number] is not None:
                    own.setdefault(self._labels.attributes[best[number]], int(number))
            found.append(own)
        return found

    def image(self, run: Run) -> str | None:
        """The address of the image of a record, if it has one."""
        if IMAGE not in self._labels.attributes:
            return None
        number = self._labels.attributes.index(IMAGE)
        rows = [
            row
            for top in run
            for row in range(top, int(self._tree.end[top]))
            if self._tree.tags[row] == "img"
        ]
        likely = [
            row for row in rows if self._leaf[row] >= 0 and self._shares[self._leaf[row], number] >= 0.5
        ]
        best = max(likely, key=lambda row: float(self._shares[self._leaf[row], number]), default=None)
        item = None if best is None else self._tree.items[best]
        return None if item is None or isinstance(item, str) else item.get("src")

    def _columns(self, lines: Sequence[Sequence[Line | None]]) -> Floats:
        """How likely each column is each attribute, or none."""
        labels = len(self._labels.leaf)
        found = np.zeros((len(lines[0]), labels))
        for number in range(len(lines[0])):
            leaves = [self._leaf[line[0]] for row in lines if (line := row[number]) is not None]
            known = [leaf for leaf in leaves if leaf >= 0]
            found[number, -1] = 1.0
            if known:
                found[number] = self._shares[known, :labels].mean(axis=0)
        return found
