"""The method "paper": "From One Tree to a Forest" as published; `paper` has its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from untemplate.errors import LabelError
from untemplate.labeling.label import Finding, Label
from untemplate.labeling.methods import (
    Arrays,
    CheckedArrays,
    LabeledSite,
    StrictFile,
    read_model,
    write_model,
)
from untemplate.labeling.nodes import Fields
from untemplate.labeling.nodes.fields import find_examples
from untemplate.labeling.seed.paper import (
    FEATURES,
    Adapted,
    PaperSite,
    SeedAttribute,
    SeedSite,
    adapt,
    learn_seed,
)
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = ["PaperModel", "make_paper_findings"]

# Findings on unlabeled sites become training data if they are at least this relevant: the classifier then counts them
# as examples. Relevance is no probability.
MIN_TRAINING_RELEVANCE = 0.5

FILE = "paper"
_ARRAYS = ("mean_types", "high", "support", "dual")


@dataclass(frozen=True)
class PaperModel:
    """What each seed site taught. The most confident of them labels a new site."""

    seeds: Sequence[SeedSite]

    @property
    def taught(self) -> Counter[str]:
        """How many sites taught each attribute."""
        return Counter(name for seed in self.seeds for name in seed.attributes)

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> PaperModel:
        """Learn from labeled sites, and from unlabeled sites on which something is surely right."""
        seeds = [_learn_labeled(pages, labels, schema) for pages, labels in sites]
        bootstrapped = [_learn_unlabeled(pages, seeds) for pages in unlabeled]
        return cls([*seeds, *(seed for seed in bootstrapped if seed is not None)])

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        site = PaperSite(pages)
        return make_paper_findings(site, adapt(site, self.seeds))

    def save(self, folder: Path) -> None:
        """Write `paper.json` and `paper.npz`."""
        arrays: Arrays = {}
        content = []
        for number, seed in enumerate(self.seeds):
            arrays[f"{number}/layout"] = seed.layout
            content.append({"attributes": {name: _content(model) for name, model in seed.attributes.items()}})
            for name, model in seed.attributes.items():
                arrays |= {f"{number}/{name}/{key}": getattr(model, key) for key in _ARRAYS}
        write_model(folder, FILE, {"seeds": content}, arrays)

    @classmethod
    def load(cls, folder: Path) -> PaperModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _PaperFile)
        if not file.seeds:
            raise ValueError(f"{FILE}.json has no seed sites")
        return cls([seed.build(str(number), arrays) for number, seed in enumerate(file.seeds)])


def make_paper_findings(site: PaperSite, adapted: Adapted) -> list[Finding]:
    """Return a finding for each attribute of an adapted solution."""
    findings = []
    for name, rows in adapted.rows.items():
        places, share = site.table.nodes_with_pages(rows), site.table.page_share(rows)
        findings.append(Finding(name, adapted.relevance[name], places, share, found=True))
    return findings


def _learn_labeled(pages: Sequence[Page], labels: Sequence[Label], schema: Schema) -> SeedSite:
    site = PaperSite(pages)
    fields = Fields(site.table)
    positive = {}
    for name, attribute in schema.attributes.items():
        examples = find_examples(fields, labels, attribute)
        if examples is not None:
            positive[name] = examples.positive
    if not positive:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    return learn_seed(site, positive)


def _learn_unlabeled(pages: Sequence[Page], seeds: Sequence[SeedSite]) -> SeedSite | None:
    """Return an unlabeled site as a further seed if something on it is surely right: the paper's bootstrapping."""
    site = PaperSite(pages)
    adapted = adapt(site, seeds)
    positive = {}
    for name, rows in adapted.rows.items():
        if adapted.relevance[name] >= MIN_TRAINING_RELEVANCE:
            positive[name] = np.zeros(len(site.table), np.bool_)
            positive[name][rows] = True
    return learn_seed(site, positive) if positive else None


# The file


class _SeedAttributeFile(StrictFile):
    intercept: float
    frequencies: dict[str, float]
    contexts: frozenset[str]

    def build(self, key: str, arrays: CheckedArrays) -> SeedAttribute:
        support = arrays.get(f"{key}/support", np.float32, (None, len(FEATURES)))
        return SeedAttribute(
            mean_types=arrays.get(f"{key}/mean_types", np.float32, (3,)),
            high=arrays.get(f"{key}/high", np.float32, (3,)),
            support=support,
            dual=arrays.get(f"{key}/dual", np.float32, (len(support),)),
            **vars(self),
        )


class _SeedSiteFile(StrictFile):
    attributes: dict[str, _SeedAttributeFile]

    def build(self, key: str, arrays: CheckedArrays) -> SeedSite:
        size = len(self.attributes)
        attributes = {name: stored.build(f"{key}/{name}", arrays) for name, stored in self.attributes.items()}
        return SeedSite(attributes, arrays.get(f"{key}/layout", np.float32, (size, size)))


class _PaperFile(StrictFile):
    seeds: list[_SeedSiteFile]


def _content(model: SeedAttribute) -> dict[str, object]:
    return {
        "intercept": model.intercept,
        "frequencies": model.frequencies,
        "contexts": sorted(model.contexts),
    }
