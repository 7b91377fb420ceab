"""The columns that a model names: which one is the title, the price, or an attribute of a schema."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from untemplate.lists.block_features import observe_records
from untemplate.lists.cells import Line
from untemplate.lists.groups import Group
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.hcrf_blocks import BlockClasses
from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import Run
from untemplate.lists.scene import MIN_HALF, Scene, build_scene
from untemplate.page.arrays import Doubles

__all__ = ["SHIPPED_MODEL", "ColumnNamer", "classify_records", "list_model"]

SHIPPED_MODEL = Path(__file__).with_name("lists.npz")


@cache
def list_model() -> Hcrf:
    """Return the shipped model, which names titles, links, images, prices, dates and other texts of lists.

    Pass it to `find_records`. `python -m benchmarks.train.list_model` trained it on list pages of 74 sites.
    For the attributes of a schema, call `train(sites, schema, method="hcrf")` and use the `list_model` of the
    knowledge.

    Returns:
        The model. It is read once and shared, so do not change it.

    Example:
        >>> import untemplate as ut
        >>> ut.list_model().attributes
        ('title', 'link', 'image', 'price', 'date', 'text')
    """
    return Hcrf.load(SHIPPED_MODEL)


class ColumnNamer:
    """Names columns and images of records by the probabilities of their leaves' classes.

    Args:
        classes: the classes of the model.
        scene: the page.
        probabilities: block, class. A row of zeros means that the model did not classify the block.
    """

    def __init__(self, classes: BlockClasses, scene: Scene, probabilities: Doubles) -> None:
        self._classes, self._scene, self._probabilities = classes, scene, probabilities

    def column_attributes(self, lines: Sequence[Sequence[Line | None]]) -> list[str | None]:
        """Return the most likely attribute of each column of aligned records; None for no attribute."""
        return self._most_likely(self._column_probabilities(lines))

    def attribute_columns(self, lines: Sequence[Sequence[Line | None]]) -> list[dict[str, int]]:
        """Return per record the column of each attribute: the likeliest one in which the record has a cell."""
        probabilities = self._column_probabilities(lines)
        attributes = self._most_likely(probabilities)
        order = np.argsort(-probabilities.max(axis=1), kind="stable").tolist()
        named = [(number, attribute) for number in order if (attribute := attributes[number])]
        return [_first_columns(row, named) for row in lines]

    def image_leaves(self, run: Run) -> dict[str, int]:
        """Return the images of a record by attribute."""
        images = self._scene.images_inside(run)
        if not images:
            return {}
        names = self._classes.attributes
        probabilities = self._probabilities[images, : len(names)]
        best = probabilities.argmax(axis=0).tolist()
        is_likely = (probabilities.max(axis=0) >= MIN_HALF).tolist()
        leaves = {name: images[index] for name, index in zip(names, best, strict=True)}
        return {name: leaf for (name, leaf), likely in zip(leaves.items(), is_likely, strict=True) if likely}

    def image_addresses(self, run: Run) -> dict[str, str]:
        """Return the addresses of a record's images by attribute."""
        leaves = self.image_leaves(run).items()
        addresses = {name: self._scene.image_address(leaf) for name, leaf in leaves}
        return {name: address for name, address in addresses.items() if address}

    def _most_likely(self, probabilities: Doubles) -> list[str | None]:
        names = (*self._classes.attributes, None)
        return [names[best] for best in probabilities.argmax(axis=1).tolist()]

    def _column_probabilities(self, lines: Sequence[Sequence[Line | None]]) -> Doubles:
        """Return how likely each column is each attribute, or none: the mean over its classified leaves."""
        classes = len(self._classes.leaf)
        means = np.zeros((len(lines[0]), classes))
        means[:, -1] = 1.0
        for number in range(len(lines[0])):
            cells = [row[number] for row in lines]
            leaves = np.unique(self._scene.leaf[[cell[0] for cell in cells if cell is not None]])
            is_classified = (leaves >= 0) & (self._probabilities[leaves].sum(axis=1) > 0)
            if is_classified.any():
                means[number] = self._probabilities[leaves[is_classified], :classes].mean(axis=0)
        return means


def _first_columns(row: Sequence[Line | None], named: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Return the first column of each attribute in which a row has a cell."""
    columns: dict[str, int] = {}
    for number, attribute in named:
        if row[number] is not None:
            columns.setdefault(attribute, number)
    return columns


def classify_records(
    model: Hcrf, title: str, profile: PageProfile, group: Group, lines: Sequence[Sequence[Line | None]]
) -> ColumnNamer:
    """Classify the leaves of a group's records.

    Args:
        model: a trained model.
        title: the title of the page.
        profile: the page.
        group: the records.
        lines: their aligned cells.
    """
    scene = build_scene(profile, group.runs, lines)
    probabilities = np.zeros((len(scene.vision), len(model.classes)))
    records = observe_records(title, scene, group)
    if records:
        inside = [np.arange(block, scene.vision.end[block]) for block in records]
        probabilities[np.concatenate(inside)] = model.marginals(*records.values()).vertex
    return ColumnNamer(model.classes, scene, probabilities)
