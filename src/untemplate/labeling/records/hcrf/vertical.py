"""What seed sites teach of the blocks of a vertical's pages: detail pages by labels of pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from untemplate.errors import LabelError
from untemplate.labeling.label import Label
from untemplate.labeling.records.hcrf.model import Hcrf
from untemplate.labeling.records.hcrf.teaching import learn_details, teach
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["BlockModels", "learn_blocks"]


@dataclass(frozen=True)
class BlockModels:
    """A model of detail pages."""

    details: Hcrf
    #: how many sites taught each attribute
    taught: Mapping[str, int]


def learn_blocks(sites: Sequence[tuple[Sequence[Page], Sequence[Label]]], schema: Schema) -> BlockModels:
    """The models that the pages and labels of seed sites teach."""
    lessons = [teach(pages, labels, schema) for pages, labels in sites]
    taught = Counter(name for own in lessons for name in {name for one in own for name in one.sets[0]})
    if not taught:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    return BlockModels(learn_details([own for own in lessons if own], schema), taught)
