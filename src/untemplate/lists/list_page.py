"""Find the records of a list page, without labels or training, and name their columns by a model.

The method is that of MDR and DEPTA (Liu et al., KDD 2003; Zhai and Liu, WWW 2005): find repeated parts of the
tag tree, then align them. Departures: similarity is the share of common tag paths instead of an edit distance,
records of one kind may have different parents, and their position on screen helps to select the main list of
the page.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from untemplate.errors import PageError
from untemplate.layout import EstimatedLayout, Layout
from untemplate.lists.alignment import AlignedLines, align_records
from untemplate.lists.block_features import observe_records
from untemplate.lists.cells import CellFinder, Line, find_joined_rows, shipped_seam_weights
from untemplate.lists.group_scores import (
    disjoint_lists,
    largest_groups,
    list_confidence,
    measure_groups,
    mostly_hidden,
    score_groups,
    shipped_group_weights,
)
from untemplate.lists.groups import Group, drop_hidden_members, find_groups
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.hcrf_blocks import BlockClasses
from untemplate.lists.page_profile import PageProfile, profile_page
from untemplate.lists.page_tree import Run
from untemplate.lists.rows import Row, Rows, next_page
from untemplate.lists.scene import MIN_HALF, Scene, build_scene
from untemplate.page import NumberedXPaths, Page, squeeze
from untemplate.page.arrays import Bools, Doubles
from untemplate.page.dom import complete_text

__all__ = [
    "MIN_LIST_CONFIDENCE",
    "SHIPPED_MODEL",
    "ColumnNamer",
    "ListPage",
    "ListTable",
    "build_table",
    "classify_records",
    "find_records",
    "list_model",
]

SHIPPED_MODEL = Path(__file__).with_name("lists.npz")

NOTHING_REPEATS = "nothing on the page repeats"
TOO_UNLIKELY = "nothing that repeats looks like records (the most likely has confidence {:.2f})"
# Groups with a lower confidence are no records. Callers expect a list page, so doubtful groups count as records: of
# 0.05, 0.1 and 0.2 the one that loses no page of `lists`, five folds over sites.
MIN_LIST_CONFIDENCE = 0.05
# The confidence of a record that is alone on its page, where nothing repeats.
SINGLE_RECORD_CONFIDENCE = 0.5
# Cells of only these characters mean nothing.
PUNCTUATION = frozenset(string.punctuation + " ·•–—»›«‹…") - {"$"}
# A column whose name says "hidden" is dropped if this share of its cells are equal, as "Add to cart": what differs is
# mostly shown. From 0.2 to 0.9 cell F1 on the 222 pages of `lists` is the same within 0.003.
MIN_EQUAL_CELLS = 0.5


def find_records(
    page: Page, all_lists: bool = False, layout: Layout | None = None, model: Hcrf | None = None
) -> Rows:
    """Find the records of a list page, such as search results, and return them as rows of cells.

    Nothing needs to be labeled or learned: records are found because they repeat.

    Args:
        page: the list page.
        all_lists: also return the other lists of the page, such as navigation, after the main one.
            `row.list_id` numbers the lists.
        layout: where elements are on screen. By default it is estimated from tags and style sheets; pass a
            `ChromiumLayout` for that of a browser.
        model: names the columns of the main list: `row.values`. See `list_model`.

    Returns:
        The rows in page order. If there are none, `rows.reason` says why. A page that cannot be parsed, that
        shows nothing or far too much, gives no rows and a reason too. `rows.next_page` is the link to the next
        page of the list.

    Raises:
        InputError: a `ChromiumLayout` was given, and Chromium does not start.

    Example:
        >>> import untemplate as ut
        >>> item = "<li><h3>{}</h3><p>tea from {}</p></li>"
        >>> teas = {"Assam": "India", "Sencha": "Japan", "Keemun": "China", "Oolong": "Taiwan"}
        >>> items = "".join(item.format(name, land) for name, land in teas.items())
        >>> rows = ut.find_records(ut.Page(html=f"<h1>Teas</h1><ul>{items}</ul>"))
        >>> len(rows), rows[1].cells
        (4, ['Sencha', 'tea from Japan'])
    """
    try:
        list_page = ListPage(page, layout or EstimatedLayout(), model)
    except PageError as error:
        return Rows(reason=str(error))
    rows = list_page.all_lists() if all_lists else list_page.main_list()
    return Rows((replace(row, page=page.id) for row in rows), rows.reason, next_page(page))


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
    cells = CellFinder(tree, find_joined_rows(profile, runs, seam_weights), profile.shown)
    aligned = align_records(tree, profile.shapes, cells, runs)
    columns = [_TextColumn(column, cells) for column in zip(*aligned, strict=True)]
    kept = [column for column in columns if not column.is_noise(profile, runs)]
    return ListTable.from_columns(kept, len(runs))


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


class ListPage:
    """A page and the groups on it that may be its records.

    Args:
        page: the list page.
        layout: where its elements are on screen.
        model: names the columns of the main list.

    Raises:
        PageError: the page cannot be parsed, shows nothing or too much.
    """

    def __init__(self, page: Page, layout: Layout, model: Hcrf | None = None) -> None:
        self.profile = profile_page(page, layout)
        self.tree, self.shapes = self.profile.tree, self.profile.shapes
        self.groups = largest_groups(self.profile, find_groups(self.tree, self.shapes))
        self.features: Doubles = measure_groups(self.profile, self.groups)
        self.scores = score_groups(self.features, shipped_group_weights())
        self._model, self._page = model, page
        self._paths = NumberedXPaths()

    def main_list(self) -> Rows:
        """Return the rows of the likeliest group; of a record that is alone if no group is likely enough."""
        best, confidence = self._main_group()
        if confidence >= MIN_LIST_CONFIDENCE:
            return Rows(self.rows(self.groups[best], confidence))
        single = self.profile.find_single_record()
        if single is not None:
            return Rows(self.rows(Group(((single,),)), SINGLE_RECORD_CONFIDENCE))
        return Rows(reason=TOO_UNLIKELY.format(confidence) if self.groups else NOTHING_REPEATS)

    def all_lists(self) -> Rows:
        """Return the rows of all groups that do not overlap, the main one first, then by their scores."""
        if not self.groups:
            return Rows(reason=NOTHING_REPEATS)
        scores = self.scores.copy()
        scores[self._main_group()[0]] = np.inf
        rows = Rows()
        lists = disjoint_lists(self.profile, self.groups, scores)
        confidences = map(list_confidence, measure_groups(self.profile, lists))
        for list_id, (group, confidence) in enumerate(zip(lists, confidences, strict=True)):
            rows += self.rows(group, confidence, list_id)
        return rows

    def _main_group(self) -> tuple[int, float]:
        """Return the number of the main group and its confidence; a hidden one only if no other is likely."""
        is_hidden = mostly_hidden(self.features)
        shown, hidden = self._best_of(~is_hidden), self._best_of(is_hidden)
        if shown[1] < MIN_LIST_CONFIDENCE <= hidden[1]:
            return hidden
        return shown if not is_hidden.all() else hidden

    def _best_of(self, eligible: Bools) -> tuple[int, float]:
        """Return the number of the eligible group with the highest score and its confidence; (-1, 0.0) for none."""
        numbers = np.flatnonzero(eligible)
        if not len(numbers):
            return -1, 0.0
        best = int(numbers[np.argmax(self.scores[numbers])])
        return best, list_confidence(self.features[best])

    def rows(self, group: Group, confidence: float, list_id: int = 0) -> list[Row]:
        """Return the records of a group as rows with the same columns."""
        group = drop_hidden_members(self.profile, group)
        table = build_table(self.profile, group, shipped_seam_weights())
        values: list[dict[str, str]] = [{} for _ in group.runs]
        if self._model is not None and list_id == 0:
            values = self._name_values(self._model, group, table)
        return [
            Row(self._text(run), cells, self._xpath(run), confidence, list_id, named)
            for run, cells, named in zip(group.runs, table.texts, values, strict=True)
        ]

    def _name_values(self, model: Hcrf, group: Group, table: ListTable) -> list[dict[str, str]]:
        """Return the cells and images of each record by the names that a model gives to them."""
        title = self._page.tree.findtext(".//title") or ""
        namer = classify_records(model, title, self.profile, group, table.lines)
        values: list[dict[str, str]] = []
        columns = namer.attribute_columns(table.lines)
        for run, cells, numbers in zip(group.runs, table.texts, columns, strict=True):
            texts = {name: text for name, number in numbers.items() if (text := cells[number])}
            values.append(namer.image_addresses(run) | texts)
        return values

    def _text(self, run: Run) -> str:
        texts = (self.tree.texts[row] or complete_text(self.tree.elements[row]) for row in run)
        return squeeze(" ".join(texts))

    def _xpath(self, run: Run) -> str:
        """Return the XPath of a run's first element; of a run of texts, that of the element around them."""
        elements = self.tree.elements_of(run) or [self.tree.elements[run[0]]]
        return self._paths.xpath(elements[0])


# Names of columns: which one is the title, the price, or an attribute of a schema


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
