"""Lessons of list pages: labels of some records tell what columns are called, and these teach a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from untemplate.errors import PageError
from untemplate.labeling.label import Label
from untemplate.labeling.list_labels import letters, locate_runs
from untemplate.layout import EstimatedLayout
from untemplate.lists.block_classes import BlockClasses, attributes_inside, true_classes
from untemplate.lists.block_features import observe_records
from untemplate.lists.cells import Line, shipped_seam_weights
from untemplate.lists.groups import Group
from untemplate.lists.hcrf import ANY_PAGES, ONE_VERTICAL, Hcrf, Prior, train_hcrf
from untemplate.lists.hcrf_input import ObservedBlocks
from untemplate.lists.list_page import ListPage, build_table
from untemplate.lists.page_tree import Run
from untemplate.lists.scene import Scene, build_scene
from untemplate.page import Page, nodes_at
from untemplate.schema import Schema

__all__ = ["ListLesson", "choose_classes", "learn_lists", "learn_names", "locate_cells", "teach_lists"]

# Pages of a site that teach, the first that are labelled: more of a template teach little.
PAGES = 3


@dataclass(frozen=True, eq=False)
class ListLesson:
    """A list page whose records are known, with the attributes of their leaves."""

    scene: Scene
    #: the blocks of records, and what the model sees of each
    records: Mapping[int, ObservedBlocks]
    #: the attributes of leaves that hold values
    values: Mapping[int, str]


def teach_lists(pages: Iterable[Page], labels: Iterable[Label], schema: Schema) -> list[ListLesson]:
    """The lessons of a site: of some pages on which labelled records are found what their columns are called."""
    given: dict[str, list[Label]] = {}
    for label in labels:
        if label.record is not None and label.attribute in schema.attributes:
            given.setdefault(label.page, []).append(label)
    own = ((page, page.entry_in(given)) for page in pages)
    labelled = [(page, found) for page, found in own if found]
    lessons = (_teach(page, found) for page, found in labelled[:PAGES])
    return [lesson for lesson in lessons if lesson is not None]


def _teach(page: Page, labels: Sequence[Label]) -> ListLesson | None:
    try:
        found = ListPage(page, EstimatedLayout())
    except PageError:
        return None
    located = locate_runs(page, found, labels)
    if not located:
        return None
    group = Group(tuple(run for run, _ in located))
    lines, _ = build_table(found.profile, group, shipped_seam_weights())
    scene = build_scene(found.profile, group.runs, lines)
    values = _values(_Marks(page, scene, located), scene, group, lines)
    return ListLesson(scene, observe_records(page.title, scene, group), values) if values else None


class _Marks:
    """The leaves of labelled records, and which of them hold a value."""

    def __init__(self, page: Page, scene: Scene, located: Sequence[tuple[Run, Sequence[Label]]]) -> None:
        self._page, self._scene = page, scene
        self.known: set[int] = set()
        self.held: dict[int, str] = {}
        for run, labels in located:
            if labels:
                leaves = scene.leaves_inside(run)
                self.known.update(leaves)
                for label in labels:
                    for leaf in self._find(leaves, label):
                        self.held.setdefault(leaf, label.attribute)

    def _find(self, leaves: Sequence[int], label: Label) -> list[int]:
        if label.xpath is not None:
            return self._pinned(leaves, label.xpath)
        value = (label.value or "").strip()
        pictures = [leaf for leaf in leaves if value and self._scene.image_address(leaf) == value]
        return pictures or sorted(locate_cells(self._scene, leaves, [letters(value)]))

    def _pinned(self, leaves: Sequence[int], xpath: str) -> list[int]:
        """The leaves that show what an XPath selects."""
        tree, found = self._scene.profile.tree, set()
        for element, kind in nodes_at(self._page.tree, xpath):
            if kind in ("text", "tail"):
                text = element.tail if kind == "tail" else element.text
                found |= locate_cells(self._scene, leaves, [letters(text or "")])
            else:
                rows = (row for row, item in enumerate(tree.items) if item is element)
                found |= {leaf for row in rows for leaf in self._scene.leaves_inside((row,))}
        return sorted(found.intersection(leaves))

    def name(self, leaves: Iterable[int]) -> str | None:
        """What most of these leaves that are known hold, if most of them hold the same."""
        known = self.known.intersection(leaves)
        held = Counter(self.held[leaf] for leaf in known if leaf in self.held)
        best = max(held, key=lambda name: held[name], default=None)
        return best if best is not None and 2 * held[best] > len(known) else None


def _values(
    marks: _Marks, scene: Scene, group: Group, lines: Sequence[Sequence[Line | None]]
) -> dict[int, str]:
    """The attributes of the leaves of all records, column by column, and of their largest images."""
    found: dict[int, str] = {}
    for leaves in (*(column.leaves for column in scene.columns_of(lines)), scene.largest_images(group.runs)):
        if name := marks.name(leaves):
            found |= dict.fromkeys(leaves, name)
    return found


def locate_cells(scene: Scene, leaves: Sequence[int], cells: Iterable[str]) -> set[int]:
    """The leaves of a record that hold its cells, given by their letters."""
    said = {leaf: text for leaf in leaves if (text := letters(scene.texts[leaf]))}
    spoken = list(said)
    places = np.cumsum([0, *map(len, said.values())]).tolist()
    starts = {place: index for index, place in enumerate(places)}
    whole = "".join(said.values())
    found: set[int] = set()
    for cell in filter(None, cells):
        place = whole.find(cell)
        while place >= 0 and not (place in starts and place + len(cell) in starts):
            place = whole.find(cell, place + 1)
        if place >= 0:
            found.update(spoken[starts[place] : starts[place + len(cell)]])
        else:
            part = [leaf for leaf, text in said.items() if cell in text and 2 * len(cell) >= len(text)]
            found.update(part[:1])
    return found


def choose_classes(names: Iterable[str], lessons: Iterable[ListLesson]) -> BlockClasses:
    """The attributes, with the combinations that stand together in parts of records."""
    seen: list[frozenset[str]] = []
    for one in lessons:
        vision = one.scene.vision
        sets = attributes_inside(vision, one.values)
        for record in one.records:
            inside = range(record + 1, int(vision.end[record]))
            seen += [sets[block] for block in inside if vision.children[block]]
    return BlockClasses.choose(names, seen)


def learn_lists(sites: Sequence[Sequence[ListLesson]], schema: Schema) -> Hcrf:
    """A model of what the columns of a vertical's lists are called, from the lessons of sites."""
    lessons = [one for own in sites for one in own]
    taught = {name for one in lessons for name in one.values.values()}
    return learn_names([name for name in schema.attributes if name in taught], lessons, ONE_VERTICAL)


def learn_names(names: Sequence[str], lessons: Sequence[ListLesson], prior: Prior = ANY_PAGES) -> Hcrf:
    """A model of what is in records."""
    labels = choose_classes(names, lessons)
    parts: list[ObservedBlocks] = []
    truth = []
    for one in lessons:
        vision = one.scene.vision
        blocks = true_classes(labels, one.scene.profile, vision, one.records, one.values)
        for record, observed in one.records.items():
            parts.append(observed)
            truth.append(blocks[record : int(vision.end[record])])
    return train_hcrf(labels, parts, truth, prior)
