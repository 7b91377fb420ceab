"""The blocks of a list page with their true classes, derived from its true records and cells.

A cell's text locates its leaves; a record is the block of the best group's record that holds its cells. The records
are aligned, and what stands in a column is of one kind: link, price or date if most of it is by its content, else
text if the truth has most of it. The title of a record is the first of its most prominent texts: headings, else
links. Its image is the largest, if most records have one of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.data.list_pages import Sheet, hits
from untemplate.labeling.hcrf.lessons import ListLesson, locate_cells
from untemplate.lists.alignment import align_records
from untemplate.lists.block_features import BlockFeatures, observe_page
from untemplate.lists.cells import CellFinder, Line, find_joined_rows
from untemplate.lists.groups import Group
from untemplate.lists.hcrf_blocks import BlockClasses, ObservedBlocks, true_classes
from untemplate.lists.scene import MIN_MOST, Scene, build_scene
from untemplate.page.arrays import Doubles, Longs
from untemplate.page.locating import letters_and_digits

KINDS = ("title", "link", "image", "price", "date", "text")
# A page whose best group has a lower score than this teaches nothing: what its records are is not clear.
CLEAR = 0.8


@dataclass(frozen=True, eq=False)
class Lesson:
    """A list page with its blocks, what the model sees of them, and what they are."""

    sheet: Sheet
    #: its groups, those that build_scene best first
    groups: list[Group]
    scores: Doubles
    join_weights: Doubles
    scene: Scene
    observed: ObservedBlocks
    #: the same without global features
    local: ObservedBlocks
    records: list[int]
    #: the kinds of leaves that hold values
    values: dict[int, str]

    @property
    def is_clear(self) -> bool:
        """Whether its true records are where a group is."""
        return bool(self.records and self.sheet.f1.max(initial=0) >= CLEAR)

    def within(self, page: ObservedBlocks) -> ListLesson:
        """Its records alone, seen as on this page."""
        end = self.scene.vision.end
        parts = {record: page.part(record, int(end[record])) for record in self.records}
        return ListLesson(self.scene, parts, self.values)

    def lines(self, group: Group) -> list[list[Line | None]]:
        """The cells of a group's records, aligned."""
        return _lines(self.sheet, group, self.join_weights)


def lesson(sheet: Sheet, weights: Doubles, join_weights: Doubles) -> Lesson:
    """The page as the model sees it; likely records and joins are those of these weights."""
    found = sheet.found
    scores = found.features @ weights
    order = np.argsort(-scores, kind="stable")
    groups = [found.groups[number] for number in order.tolist()]
    lines = _lines(sheet, groups[0], join_weights) if groups else []
    scene = build_scene(found.profile, groups[0].runs if groups else (), lines)
    title = sheet.page.tree.findtext(".//title") or ""
    observed = observe_page(title, scene, groups)
    local = BlockFeatures(title, scene, groups, global_features={}).observe()
    records: list[int] = []
    values: dict[int, str] = {}
    if sheet.f1.max(initial=0) > 0:
        best = found.groups[int(sheet.f1.argmax())]
        records = [block for run in best.runs if (block := scene.vision.find(run)) is not None]
        values = _values(sheet, scene, best, join_weights)
    return Lesson(sheet, groups, scores[order], join_weights, scene, observed, local, records, values)


def _values(sheet: Sheet, scene: Scene, group: Group, join_weights: Doubles) -> dict[int, str]:
    """The kinds of the leaves of a group's records."""
    tree = sheet.found.tree
    texts = list(map(letters_and_digits, tree.texts))
    inside = ["".join("".join(texts[row : tree.end[row]]) for row in run) for run in group.runs]
    right = hits(inside, sheet.records)
    known: set[int] = set()
    true: set[int] = set()
    for number, record in right.items():
        leaves = scene.leaves_inside(group.runs[number])
        known.update(leaves)
        true |= locate_cells(scene, leaves, sheet.records[record])
    columns = scene.columns_of(_lines(sheet, group, join_weights))
    values: dict[int, str] = {}
    for column in columns:
        has = len(true.intersection(column.leaves)) * 2 > len(known.intersection(column.leaves))
        if kind := column.content_type or ("text" if has else None):
            values |= dict.fromkeys(column.leaves, kind)
    of_truth = [column for column in columns if not values.keys().isdisjoint(column.leaves)]
    values |= dict.fromkeys(scene.titles(of_truth), "title")
    images = scene.largest_images(group.runs)
    sources = {scene.image_address(leaf) for leaf in images}
    if len(images) >= MIN_MOST * len(group) and len(sources) >= MIN_MOST * len(images):
        values |= dict.fromkeys(images, "image")
    return values


def _lines(sheet: Sheet, group: Group, join_weights: Doubles) -> list[list[Line | None]]:
    survey = sheet.found.profile
    cells = CellFinder(survey.tree, find_joined_rows(survey, group.runs, join_weights), survey.shown)
    return align_records(survey.tree, survey.shapes, cells, group.runs)


def lesson_classes(lesson: Lesson, classes: BlockClasses) -> Longs:
    """The number of the true class of each block."""
    return true_classes(
        classes, lesson.sheet.found.profile, lesson.scene.vision, lesson.records, lesson.values
    )
