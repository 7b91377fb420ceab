"""The method "hcrf": what labeled sites teach about the blocks of a vertical's pages.

Labels of pages teach a model of detail pages, labels of records one of list pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from untemplate.errors import KnowledgeError, LabelError
from untemplate.labeling.hcrf.detail_pages import find_attributes, read_detail_pages
from untemplate.labeling.hcrf.lessons import (
    DetailLesson,
    ListLesson,
    make_detail_lessons,
    make_list_lessons,
    train_details,
    train_lists,
)
from untemplate.labeling.label import Finding
from untemplate.labeling.methods import (
    Arrays,
    CheckedArrays,
    LabeledSite,
    StrictFile,
    read_model,
    write_model,
)
from untemplate.labeling.site_templates import find_in_rounds
from untemplate.lists.hcrf import Hcrf, Weights
from untemplate.lists.hcrf_blocks import BlockClasses
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["HcrfModel"]

FILE = "hcrf"


@dataclass(frozen=True)
class HcrfModel:
    """Models of the detail pages and of the list pages of a vertical; None for pages that nobody labeled."""

    details: Hcrf | None
    lists: Hcrf | None
    #: How many sites taught each attribute.
    taught: Mapping[str, int]

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> HcrfModel:
        """Learn from the pages and labels of sites; unlabeled sites are ignored.

        Raises:
            LabelError: no label of the schema is found on the pages.
        """
        detail_lessons = [make_detail_lessons(pages, labels, schema) for pages, labels in sites]
        list_lessons = [make_list_lessons(pages, labels, schema) for pages, labels in sites]
        taught: Counter[str] = Counter()
        for lessons in zip(detail_lessons, list_lessons, strict=True):
            taught.update(_taught_attributes(*lessons))
        if not taught:
            raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
        return cls(train_details(detail_lessons, schema), train_lists(list_lessons, schema), taught)

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on detail pages of one template.

        Raises:
            KnowledgeError: Only labels of list pages taught the model.
        """
        return find_in_rounds(self._find_once, pages, schema)

    def _find_once(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        if not self.details:
            raise KnowledgeError("this knowledge is of lists only; to train it for pages, label pages too")
        return find_attributes(self.details, schema, read_detail_pages(pages))

    def save(self, folder: Path) -> None:
        """Write `hcrf.json` and `hcrf.npz`."""
        arrays: Arrays = {}
        content: dict[str, object] = {"taught": dict(self.taught)}
        for key, model in (("details", self.details), ("lists", self.lists)):
            if model:
                content[key] = asdict(model.classes)
                arrays |= {f"{key}/{name}": part for name, part in model.weights.rounded().items()}
        write_model(folder, FILE, content, arrays)

    @classmethod
    def load(cls, folder: Path) -> HcrfModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _HcrfFile)
        for model in (file.details, file.lists):
            for name in model.attributes if model else ():
                if name not in file.taught:
                    raise ValueError(f"no site taught {name!r}, but {FILE}.json has a model of it")
        return cls(
            file.details.build("details", arrays) if file.details else None,
            file.lists.build("lists", arrays) if file.lists else None,
            file.taught,
        )


def _taught_attributes(
    detail_lessons: Iterable[DetailLesson], list_lessons: Iterable[ListLesson]
) -> set[str]:
    """Return the attributes with a value in the lessons of one site."""
    values = [*(lesson.values for lesson in detail_lessons), *(lesson.values for lesson in list_lessons)]
    return set[str]().union(*(leaves.values() for leaves in values))


class _ClassesFile(StrictFile):
    attributes: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]

    def build(self, key: str, arrays: CheckedArrays) -> Hcrf:
        classes = BlockClasses(self.attributes, self.combinations)
        weights = {
            name: arrays.get(f"{key}/{name}", np.float16, part.shape).astype(np.float64)
            for name, part in Weights.zeros(len(classes))._asdict().items()
        }
        return Hcrf(classes, Weights(**weights))


class _HcrfFile(StrictFile):
    details: _ClassesFile | None = None
    lists: _ClassesFile | None = None
    taught: dict[str, int]
