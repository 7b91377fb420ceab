"""Scene: the blocks of a page with the columns of its likeliest records.

The paper tells whether an element repeats in the neighbouring record. Here all records of the likeliest group are
aligned, so that a leaf has the evidence of its whole column: the global features of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from untemplate.lists.cells import Line
from untemplate.lists.groups import Run
from untemplate.lists.hcrf.contents import TYPED, content
from untemplate.lists.survey import HEADINGS, Survey
from untemplate.lists.tree import Ints
from untemplate.lists.vision import VisionTree, see
from untemplate.page import squeeze

__all__ = ["Column", "Scene", "look", "read_scene"]

# What people call most and half. These and the next ones define kinds; chosen by looking at the titles that they give
# on the first pages of `lists`.
MOST = 0.7
HALF = 0.5
# Columns that may be titles: this share of their texts differ, and they are so many words at most.
DIFFERENT = 0.5
MAX_TITLE = 25
MAX_PROMINENCE = 2
# A text is a heading if one of so many elements around it is.
NEAR_HEADING = 4
# Attributes of images that name their source: those that scripts read first, since `src` is the same for all then.
SOURCES = (
    *("data-src", "data-original", "data-original-src", "data-lazy", "data-lazy-src"),
    *("src", "data-srcset", "srcset"),
)


@dataclass(frozen=True)
class Column:
    """Leaves in the same place of their records, and what they have in common."""

    leaves: list[int]
    #: the number of the record of each
    records: list[int]
    #: the share of records that have one
    filled: float
    #: the share of different texts
    distinct: float
    #: the share of texts of each of TYPED
    typed: dict[str, float]
    words: float
    #: the shares of texts that are mostly letters, links, headings
    lettered: float
    linked: float
    headed: float

    @property
    def kind(self) -> str | None:
        """Which of TYPED most of it is."""
        return next((kind for kind, share in self.typed.items() if share >= MOST), None)

    @property
    def is_wordy(self) -> bool:
        """Whether it may be a title by what it says."""
        return (
            self.kind is None
            and self.distinct >= DIFFERENT
            and self.lettered >= MOST
            and self.words <= MAX_TITLE
        )

    @property
    def prominence(self) -> int:
        """Headings are more prominent than links, and links than other texts."""
        return MAX_PROMINENCE if self.headed >= MOST else 1 if self.linked >= MOST else 0

    @classmethod
    def of(
        cls,
        records: Mapping[int, int],
        total: int,
        texts: Sequence[str],
        linked: Sequence[float],
        headed: Sequence[bool],
    ) -> Column:
        """The column of these leaves, of each of which the record is given, the text, and how it stands."""
        found, count = [content(text) for text in texts], len(texts)
        return cls(
            list(records),
            list(records.values()),
            count / total,
            len({*texts}) / count,
            {kind: found.count(kind) / count for kind in TYPED},
            sum(len(text.split()) for text in texts) / count,
            sum(sum(map(str.isalpha, text)) * 2 > len(text) for text in texts) / count,
            sum(linked) / count,
            sum(headed) / count,
        )

    def features(self) -> Iterator[str]:
        yield f"column filled {round(4 * self.filled)}"
        yield f"column distinct {round(4 * self.distinct)} of {min(len(self.leaves), 3)}"
        for kind, share in self.typed.items():
            yield f"column {kind} {round(4 * share)}"
        yield f"column words {int(2 * np.log2(self.words + 1))}"
        yield f"column letters {round(4 * self.lettered)}"
        yield f"column linked {round(2 * self.linked)} headed {round(2 * self.headed)}"


@dataclass(frozen=True, eq=False)
class Scene:
    """A page as people see it: its blocks, and the columns of the records that are likeliest."""

    survey: Survey
    vision: VisionTree
    #: of each block its text; "" for inner blocks and images
    texts: list[str]
    #: of each row of the tag tree the leaf that shows it; -1 for none
    leaf: Ints
    runs: Sequence[Run]
    columns: list[Column]

    @staticmethod
    def titles(columns: Iterable[Column]) -> list[int]:
        """The titles of records: the first of the most prominent texts that may be, as most records have them."""
        wordy = [column for column in columns if column.is_wordy]
        usual = max((column.prominence for column in wordy if column.filled >= HALF), default=MAX_PROMINENCE)
        found: dict[int, int] = {}
        for level in range(usual, min(usual, 1) - 1, -1):
            for column in wordy:
                if column.prominence == level:
                    for record, leaf in zip(column.records, column.leaves, strict=True):
                        found.setdefault(record, leaf)
        return list(found.values())

    def columns_of(self, lines: Sequence[Sequence[Line | None]]) -> list[Column]:
        """The columns of records that are aligned; what is not shown is left out."""
        found: list[Column] = []
        for number in range(len(lines[0]) if lines else 0):
            leaves = {
                int(self.leaf[line[0]]): record
                for record, row in enumerate(lines)
                if (line := row[number]) is not None
            }
            shown = {leaf: record for leaf, record in leaves.items() if leaf >= 0 and self.texts[leaf]}
            if shown:
                texts = [self.texts[leaf] for leaf in shown]
                linked, headed = zip(*map(self.standing, shown), strict=True)
                found.append(Column.of(shown, len(lines), texts, linked, headed))
        return found

    def images(self, runs: Sequence[Run]) -> list[int]:
        """The largest image of each record that has one."""
        found = []
        for run in runs:
            images = [leaf for leaf in self.leaves(run) if not self.texts[leaf]]
            if images:
                found.append(max(images, key=self.area))
        return found

    def leaves(self, run: Run) -> list[int]:
        """The leaves of a record, in page order."""
        end = self.survey.tree.end
        return sorted({int(leaf) for row in run for leaf in self.leaf[row : end[row]]} - {-1})

    def standing(self, leaf: int) -> tuple[bool, bool]:
        """Whether a leaf is in a link, and whether in a heading."""
        row = self.vision.rows[leaf][0]
        return bool(self.survey.in_link[row]), self._is_heading(row)

    def area(self, block: int) -> float:
        return float(self.vision.boxes[block, 2] * self.vision.boxes[block, 3])

    def source(self, leaf: int) -> str:
        """The address of an image, as far as the page tells; "" if it is not known."""
        item = self.survey.tree.items[self.vision.rows[leaf][0]]
        if isinstance(item, str):
            return ""
        for name in SOURCES:
            source, *_ = (item.get(name) or "").split() or [""]
            if source and not source.startswith("data:"):
                return source
        return ""

    def _is_heading(self, row: int) -> bool:
        tree = self.survey.tree
        for _ in range(NEAR_HEADING):
            if row < 0:
                return False
            if tree.tags[row] in HEADINGS:
                return True
            row = int(tree.parent[row])
        return False


def look(survey: Survey, runs: Sequence[Run] = (), lines: Sequence[Sequence[Line | None]] = ()) -> Scene:
    """A page whose records are most likely these runs, with their cells aligned: leaves in them are cells."""
    cells = (line for row in lines for line in row if line)
    scene = read_scene(survey, see(survey, runs, cells), runs)
    scene.columns.extend(scene.columns_of(lines))
    return scene


def read_scene(survey: Survey, vision: VisionTree, runs: Sequence[Run] = ()) -> Scene:
    """A page whose blocks are known, without columns."""
    texts = [
        "" if children else squeeze("".join(_texts(survey, rows)))
        for rows, children in zip(vision.rows, vision.children, strict=True)
    ]
    return Scene(survey, vision, texts, vision.leaf_of(survey.tree.end), runs, [])


def _texts(survey: Survey, rows: Iterable[int]) -> Iterator[str]:
    for row in rows:
        yield from (
            item for item in survey.tree.items[row : int(survey.tree.end[row])] if isinstance(item, str)
        )
