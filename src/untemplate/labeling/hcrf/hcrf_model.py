"""The method "hcrf": what labeled sites teach about the blocks of a vertical's pages.

Labels of pages teach a model of detail pages, labels of records one of list pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from untemplate.errors import KnowledgeError, LabelError
from untemplate.labeling.finding import Finding
from untemplate.labeling.hcrf.details import find_details, read_details
from untemplate.labeling.hcrf.naming import learn_lists, teach_lists
from untemplate.labeling.hcrf.teaching import learn_details, teach
from untemplate.labeling.methods import (
    Arrays,
    CheckedArrays,
    LabeledSite,
    StrictFile,
    read_model,
    write_model,
)
from untemplate.labeling.site_templates import find_in_rounds
from untemplate.lists.block_classes import BlockClasses
from untemplate.lists.hcrf import Hcrf, Weights
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
        """Learn from the pages and labels of sites; unlabeled sites are ignored."""
        details = [teach(pages, labels, schema) for pages, labels in sites]
        lists = [teach_lists(pages, labels, schema) for pages, labels in sites]
        taught: Counter[str] = Counter()
        for of_details, of_lists in zip(details, lists, strict=True):
            values = [*(lesson.values for lesson in of_details), *(lesson.values for lesson in of_lists)]
            taught.update({name for leaves in values for name in leaves.values()})
        if not taught:
            raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
        return cls(
            learn_details([lessons for lessons in details if lessons], schema) if any(details) else None,
            learn_lists([lessons for lessons in lists if lessons], schema) if any(lists) else None,
            taught,
        )

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on detail pages of one template.

        Raises:
            KnowledgeError: Only labels of list pages taught the model.
        """
        return find_in_rounds(self._find_once, pages, schema)

    def _find_once(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        if not self.details:
            raise KnowledgeError("this knowledge is of lists only; to train it for pages, label pages too")
        return find_details(self.details, schema, read_details(pages))

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


class _LabelsFile(StrictFile):
    attributes: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]

    def build(self, key: str, arrays: CheckedArrays) -> Hcrf:
        labels = BlockClasses(self.attributes, self.combinations)
        weights = {
            name: arrays.get(f"{key}/{name}", np.float16, part.shape).astype(np.float64)
            for name, part in Weights.zeros(len(labels))._asdict().items()
        }
        return Hcrf(labels, Weights(**weights))


class _HcrfFile(StrictFile):
    details: _LabelsFile | None = None
    lists: _LabelsFile | None = None
    taught: dict[str, int]
