"""The table of a list: its records as rows, their cells in common columns, and names for the columns.

`build_table` aligns the cells of the records. `ColumnNamer` finds the columns of a model's attributes, such as the
title or the price. `RowMaker` puts cells, names and addresses together to the rows that callers get.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from untemplate.lists.addresses import RecordAddresses, base_address, find_addresses
from untemplate.lists.alignment import AlignedLines, align_records
from untemplate.lists.block_features import observe_records
from untemplate.lists.cells import CellFinder, Line, find_joined_rows, shipped_seam_weights
from untemplate.lists.column_names import TITLE, NamedColumn, SiteColumns, name_columns
from untemplate.lists.groups import Group, drop_hidden_members
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.hcrf_blocks import BlockClasses
from untemplate.lists.list_headers import find_hidden_values
from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import Run
from untemplate.lists.rows import Row
from untemplate.lists.scene import MIN_HALF, Scene, build_scene
from untemplate.page import NumberedXPaths, Page, squeeze
from untemplate.page.arrays import Doubles
from untemplate.page.dom import complete_text
from untemplate.value_types import absolute_url

__all__ = [
    "SHIPPED_MODEL",
    "ColumnNamer",
    "ListTable",
    "RowMaker",
    "build_table",
    "classify_records",
    "list_model",
]

SHIPPED_MODEL = Path(__file__).with_name("lists.npz")
# Cells of only these characters mean nothing.
PUNCTUATION = frozenset(string.punctuation + " ·•–—»›«‹…") - {"$"}
# A column whose name says "hidden" is dropped if this share of its cells are equal, as "Add to cart": what differs is
# mostly shown. From 0.2 to 0.9 cell F1 on the 222 pages of `lists` is the same within 0.003.
MIN_EQUAL_CELLS = 0.5
# Steps of a scale on which readers rate a record, and records that must have all of them.
MIN_SCALE_STEPS, MIN_SCALE_RECORDS = 3, 3
_NUMBER = re.compile(r"\d{1,3}")


class ListTable(NamedTuple):
    """The aligned cells of records, and their texts; None where a record lacks a column."""

    lines: AlignedLines
    texts: list[list[str | None]]

    @classmethod
    def from_columns(cls, columns: Sequence[_TextColumn], records: int) -> ListTable:
        """Return the table that has these columns, and a row for each record even if there are no columns."""
        lines = [[column.lines[record] for column in columns] for record in range(records)]
        texts = [[column.texts[record] or None for column in columns] for record in range(records)]
        return cls(lines, texts)


def build_table(profile: PageProfile, group: Group, seam_weights: Doubles) -> ListTable:
    """Return the cells of a group's records in common columns, without columns that mean nothing.

    Args:
        profile: the page.
        group: the records.
        seam_weights: which texts form one cell, as from `shipped_seam_weights`.
    """
    runs, tree = group.runs, profile.tree
    if not profile.shown[[run[0] for run in runs]].any():
        # All records wait for a script that shows them. Then their contents are not hidden either.
        profile = profile.revealed()
    profile = profile.unfolded(runs)
    cells = CellFinder(tree, find_joined_rows(profile, runs, seam_weights), profile.shown)
    aligned = align_records(tree, profile.shapes, cells, runs)
    columns = [_TextColumn(column, cells) for column in zip(*aligned, strict=True)]
    kept = [column for column in columns if not column.is_noise(profile, runs)]
    return ListTable.from_columns(_without_scales(kept), len(runs))


def _without_scales(columns: Sequence[_TextColumn]) -> list[_TextColumn]:
    """Return the columns without scales for a rating, such as `1 of 5 stars`, `2 of 5 stars`: people see stars."""
    kept: list[_TextColumn] = []
    for text, same in groupby(columns, key=_TextColumn.text_around_number):
        steps = list(same)
        is_scale = text and [column.first_number for column in steps] == [*range(1, len(steps) + 1)]
        if not is_scale or len(steps) < MIN_SCALE_STEPS:
            kept += steps
    return kept


class _TextColumn:
    """The cells of one column, and their texts; "" where a record lacks it."""

    def __init__(self, lines: Sequence[Line | None], cells: CellFinder) -> None:
        self.lines = lines
        self.texts = [cells.text(line) if line else "" for line in lines]

    def is_noise(self, profile: PageProfile, runs: Sequence[Run]) -> bool:
        """Return True if the column contains only punctuation, or the same hidden text in most records."""
        if all(map(PUNCTUATION.issuperset, self.texts)):
            return True
        return self._is_concealed(profile, runs) and self._is_constant()

    def text_around_number(self) -> str:
        """Return the text that all records share, without its number; "" if they differ, or for a number alone."""
        texts = Counter(filter(None, self.texts))
        if len(texts) != 1 or texts.total() < MIN_SCALE_RECORDS:
            return ""
        rest = _NUMBER.sub("", next(iter(texts)), count=1).strip()
        return rest.removesuffix("s")

    @property
    def first_number(self) -> int | None:
        """The first number in the text of the first record."""
        match = _NUMBER.search(next(filter(None, self.texts), ""))
        return int(match[0]) if match else None

    def _is_concealed(self, profile: PageProfile, runs: Sequence[Run]) -> bool:
        """Return True if most cells are in parts of their record whose name says "hidden" or the like."""
        depth = profile.concealed
        cells = [(run, line) for run, line in zip(runs, self.lines, strict=True) if line]
        concealed = [bool(depth[line[0]] > depth[run[0]]) for run, line in cells]
        return sum(concealed) * 2 > len(concealed)

    def _is_constant(self) -> bool:
        """Return True if most records that have the column have the same text in it."""
        counts = Counter(filter(None, self.texts))
        return bool(counts) and max(counts.values()) >= MIN_EQUAL_CELLS * counts.total()


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


class RowMaker:
    """Makes the rows of the lists of one page.

    Args:
        page: the page.
        profile: its profile.
        columns: the columns of earlier pages of the site, which this page adds to.
    """

    def __init__(self, page: Page, profile: PageProfile, columns: SiteColumns | None = None) -> None:
        self._page, self._profile, self._tree = page, profile, profile.tree
        self._paths = NumberedXPaths()
        self._columns = SiteColumns() if columns is None else columns
        self._base = base_address(page)

    def make_rows(
        self, group: Group, confidence: float, list_id: int = 0, model: Hcrf | None = None
    ) -> list[Row]:
        """Return the records of a group as rows with the same columns.

        Args:
            group: the records; members that are hidden or duplicates are dropped.
            confidence: how likely they are the main list of the page.
            list_id: the number of the list on its page.
            model: names the columns.
        """
        group = drop_hidden_members(self._profile, group)
        table = build_table(self._profile, group, shipped_seam_weights())
        hidden = find_hidden_values(self._tree, self._profile.unfolded(group.runs).shown, group.runs)
        columns = name_columns(self._tree, group.runs, table.lines, table.texts, self._columns, hidden)
        addresses = self._find_addresses(group, table, columns)
        if model is None:
            named = {column.name: column.texts for column in columns}
        else:
            named = self._name_by_model(model, group, table)
        own = {"url": [record.url for record in addresses], "image": [record.image for record in addresses]}
        named = {name: texts for name, texts in own.items() if any(texts)} | named
        return [
            Row(
                self._text(run),
                table.texts[record],
                self._xpath(run),
                confidence,
                list_id,
                {name: texts[record] for name, texts in named.items()},
                self._page.id,
                addresses[record].links,
            )
            for record, run in enumerate(group.runs)
        ]

    def _find_addresses(
        self, group: Group, table: ListTable, columns: Sequence[NamedColumn]
    ) -> list[RecordAddresses]:
        title = next((column.number for column in columns if column.name == TITLE), None)
        lines = [] if title is None else [cells[title] for cells in table.lines]
        return find_addresses(
            [self._tree.elements_of(run) for run in group.runs],
            self._base,
            [self._tree.elements[line[0]] for line in lines if line],
        )

    def _name_by_model(self, model: Hcrf, group: Group, table: ListTable) -> dict[str, list[str | None]]:
        """Return the cells and images of all records by the names that a model gives to them."""
        title = self._page.tree.findtext(".//title") or ""
        namer = classify_records(model, title, self._profile, group, table.lines)
        values: dict[str, list[str | None]] = {}
        columns = namer.attribute_columns(table.lines)
        for record, (run, cells, numbers) in enumerate(zip(group.runs, table.texts, columns, strict=True)):
            addresses = namer.image_addresses(run).items()
            images = {name: absolute_url(path, self._base) for name, path in addresses}
            for name, text in (images | {name: cells[number] for name, number in numbers.items()}).items():
                values.setdefault(name, [None] * len(group))[record] = text
        return {name: values[name] for name in model.attributes if name in values}

    def _text(self, run: Run) -> str:
        return squeeze(" ".join(map(self._text_of_row, run)))

    def _text_of_row(self, row: int) -> str:
        if row in self._tree.cut:
            return " ".join(self._tree.texts_inside((row,)))
        return self._tree.texts[row] or complete_text(self._tree.elements[row])

    def _xpath(self, run: Run) -> str:
        """Return the XPath of a run's first element; of a run of texts, that of the element around them."""
        elements = self._tree.elements_of(run) or [self._tree.elements[run[0]]]
        return self._paths.xpath(elements[0])
