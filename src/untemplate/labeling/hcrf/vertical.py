"""What seed sites teach of the blocks of a vertical's pages.

Labels of pages teach a model of detail pages, labels of records one of list pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from untemplate.errors import LabelError
from untemplate.labeling.hcrf.naming import learn_lists, teach_lists
from untemplate.labeling.hcrf.teaching import learn_details, teach
from untemplate.labeling.label import Label
from untemplate.lists.hcrf.model import Hcrf
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["BlockModels", "learn_blocks"]


@dataclass(frozen=True)
class BlockModels:
    """Models of the detail pages and of the list pages of a vertical; None of what nobody labelled."""

    details: Hcrf | None
    lists: Hcrf | None
    #: how many sites taught each attribute
    taught: Mapping[str, int]


def learn_blocks(sites: Sequence[tuple[Sequence[Page], Sequence[Label]]], schema: Schema) -> BlockModels:
    """The models that the pages and labels of seed sites teach."""
    details = [teach(pages, labels, schema) for pages, labels in sites]
    lists = [teach_lists(pages, labels, schema) for pages, labels in sites]
    taught: Counter[str] = Counter()
    for of_details, of_lists in zip(details, lists, strict=True):
        values = [*(one.values for one in of_details), *(one.values for one in of_lists)]
        taught.update({name for own in values for name in own.values()})
    if not taught:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    return BlockModels(
        learn_details([own for own in details if own], schema) if any(details) else None,
        learn_lists([own for own in lists if own], schema) if any(lists) else None,
        taught,
    )
