"""The method "seed": one labeled site teaches the attributes, and rankers that know no vertical weigh the evidence.

It goes beyond "From One Tree to a Forest", whose method as published is in `paper_model`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from untemplate.errors import LabelError
from untemplate.labeling.label import Finding
from untemplate.labeling.methods import (
    Arrays,
    CheckedArrays,
    LabeledSite,
    StrictFile,
    read_model,
    write_model,
)
from untemplate.labeling.nodes.fields import Examples, all_values, locate_examples, presume_examples
from untemplate.labeling.nodes.node_features import HASHED_FEATURES
from untemplate.labeling.seed.attribute_model import NAME_ONLY, AttributeModel, PartModel, learn_attribute
from untemplate.labeling.seed.field_ranking import BestField, Rankers, find_best_fields, load_rankers
from untemplate.labeling.seed.site_fields import PARTS, PROFILE, SiteFields
from untemplate.labeling.site_templates import find_in_rounds, split_templates
from untemplate.page import Page
from untemplate.page.arrays import Ints
from untemplate.schema import Schema

__all__ = ["SeedModel", "Vote", "Votes"]

# Attributes with a lower confidence count as not found: the first limit if one or two sites taught the attribute, the
# second if at least MANY_SITES did, since their knowledge is surer. `python -m benchmarks.train.rankers` prints what
# several limits lose and report on fields of SWDE, with rankers that saw other verticals only.
MIN_CONFIDENCE, MIN_CONFIDENCE_OF_MANY = 0.15, 0.4
MANY_SITES = 3
# Findings above this confidence on unlabeled sites teach others. F1 on fields of auto and nbaplayer: 0.878, 0.949;
# with 0.85 it was 0.869 and 0.952. This many sites teach an attribute at most, the surest ones: each costs time on
# every new site. That number was set by hand.
MIN_TEACHING_CONFIDENCE, MAX_TEACHERS = 0.7, 10

FILE = "seed"


@dataclass(frozen=True)
class Vote:
    """What one unlabeled site teaches about an attribute, and how sure the finding is that it relies on."""

    model: AttributeModel
    confidence: float


Votes = Mapping[str, Vote]
"""What one unlabeled site teaches, by attribute."""


@dataclass(frozen=True)
class SeedModel:
    """What labeled sites taught about each attribute, and the rankers that weigh the evidence for it.

    The rankers come with the package. Only benchmarks, which hold verticals back, train or build a model with others.

    Attributes:
        attributes: What the labeled sites taught, all together.
        rankers: Weigh the evidence.
        others: What unlabeled sites taught, a model for each site. All have a vote of the same weight.
    """

    attributes: Mapping[str, AttributeModel]
    rankers: Rankers = field(default_factory=load_rankers, repr=False)
    others: Mapping[str, Sequence[AttributeModel]] = field(default_factory=dict)

    @property
    def taught(self) -> dict[str, int]:
        """How many sites taught each attribute."""
        return {name: sum(len(model.profiles) for model in models) for name, models in self._teachers.items()}

    @cached_property
    def _teachers(self) -> dict[str, Sequence[AttributeModel]]:
        """All models of each attribute that any site taught."""
        teachers: dict[str, Sequence[AttributeModel]] = {
            name: [model] for name, model in self.attributes.items()
        }
        for name, models in self.others.items():
            teachers[name] = [*teachers.get(name, ()), *models]
        return teachers

    @property
    def _spans_nodes(self) -> bool:
        """Whether values of any attribute are known to span several text nodes."""
        return any(model.spans_nodes for models in self._teachers.values() for model in models)

    @classmethod
    def train(
        cls,
        sites: Sequence[LabeledSite],
        schema: Schema,
        unlabeled: Sequence[Sequence[Page]] = (),
        rankers: Rankers | None = None,
    ) -> SeedModel:
        """Learn each attribute from the sites that have it.

        Unlabeled sites teach what is surely found on them.

        Args:
            sites: Pages and labels of each seed site.
            schema: The attributes to learn.
            unlabeled: Pages of more sites of the vertical.
            rankers: Weigh the evidence; those of the package if not given.

        Raises:
            LabelError: No label of the schema is found on the pages.
        """
        rankers = rankers or load_rankers()
        examples = _find_all_examples(sites, schema)
        if not examples:
            raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
        model = cls(_learn_attributes(examples), rankers)
        return model.taught_by([model.learn_votes(pages, schema) for pages in unlabeled])

    def teach_together(self, sites: Sequence[Sequence[Page]], schema: Schema) -> list[SeedModel]:
        """Return a model for each of several sites of a vertical, which all teach each other.

        What is surely found on a site is evidence on all other sites, never on the site itself. This helps most
        with a single seed site, since new sites have more in common with each other than with one of them.

        Args:
            sites: The pages of each site.
            schema: The attributes to find.

        Returns:
            For each site, this model and what the other sites taught.
        """
        votes = [self.learn_votes(pages, schema) for pages in sites]
        return [self.taught_by([*votes[:number], *votes[number + 1 :]]) for number in range(len(sites))]

    def learn_votes(self, pages: Sequence[Page], schema: Schema) -> Votes:
        """Return what a site that nobody labeled teaches: a model of each attribute that is surely found on it.

        Only the template with the surest findings teaches.
        """
        best: tuple[float, SiteFields, dict[str, BestField]] | None = None
        for template in split_templates(pages):
            site = SiteFields(template, schema, with_spans=self._spans_nodes)
            found = find_best_fields(site, self._teachers, schema, self.rankers)
            total = sum(one.confidence for one in found.values())
            if best is None or total > best[0]:
                best = (total, site, found)
        if best is None:
            return {}
        _, site, found = best
        votes = {}
        for name, chosen in found.items():
            if chosen.confidence >= MIN_TEACHING_CONFIDENCE:
                examples = presume_examples(site.fields, chosen.field)
                votes[name] = Vote(learn_attribute([(site, examples)]), chosen.confidence)
        return votes

    def taught_by(self, sites: Sequence[Votes]) -> SeedModel:
        """Return a model that more unlabeled sites taught, each attribute by the surest of them."""
        by_attribute: dict[str, list[Vote]] = {}
        for votes in sites:
            for name, vote in votes.items():
                by_attribute.setdefault(name, []).append(vote)
        others = dict(self.others)
        for name, of_sites in by_attribute.items():
            surest = sorted(of_sites, key=lambda vote: -vote.confidence)
            models = [*others.get(name, ()), *(vote.model for vote in surest)]
            others[name] = models[:MAX_TEACHERS]
        return replace(self, others=others)

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_in_rounds(self._find_once, pages, schema)

    def _find_once(self, pages: Sequence[Page], schema: Schema) -> Iterator[Finding]:
        """Yield a finding for each attribute that has any candidate field on these pages."""
        site = SiteFields(pages, schema, with_spans=self._spans_nodes)
        for name, best in find_best_fields(site, self._teachers, schema, self.rankers).items():
            yield self.make_finding(site, schema, name, best.rows, best.confidence)

    def make_finding(
        self, site: SiteFields, schema: Schema, name: str, rows: Ints, confidence: float
    ) -> Finding:
        """Return the finding that some rows contain an attribute.

        It has all values of a list if the attribute may have many. Captions such as `Tel:` inside of a text are
        stripped if the labels of the seed sites left them out.
        """
        table, attribute = site.table, schema.attributes[name]
        if attribute.many:
            rows = all_values(table, rows)
        places = table.nodes_with_pages(rows)
        if self.strips_captions(name):
            texts = [site.fields.strip_caption(row, attribute.type) for row in rows.tolist()]
            places = [(page, node.with_text(text)) for (page, node), text in zip(places, texts, strict=True)]
        is_found = confidence >= self._min_confidence(name)
        return Finding(name, confidence, places, table.page_share(rows), is_found)

    def _min_confidence(self, name: str) -> float:
        """Return the confidence below which an attribute counts as not found."""
        labeled_sites = len(self.attributes.get(name, NAME_ONLY).profiles)
        return MIN_CONFIDENCE_OF_MANY if labeled_sites >= MANY_SITES else MIN_CONFIDENCE

    def strips_captions(self, name: str) -> bool:
        """Return True if the labels of seed sites leave out captions.

        If no text of the attribute has a caption inside, the other attributes decide.
        """
        model = self.attributes.get(name, NAME_ONLY)
        models = [model] if model.stripped + model.unstripped else self.attributes.values()
        return sum(model.stripped for model in models) > sum(model.unstripped for model in models)

    def save(self, folder: Path) -> None:
        """Write `seed.json` and `seed.npz`."""
        arrays: Arrays = {}
        content = {}
        for name, model in self.attributes.items():
            content[name] = _attribute_content(model)
            arrays |= {f"{name}/{key}": array for key, array in _attribute_arrays(model).items()}
        others: dict[str, list[dict[str, Any]]] = {}
        for name, models in self.others.items():
            others[name] = [_attribute_content(model) for model in models]
            for number, model in enumerate(models):
                stored = _attribute_arrays(model).items()
                arrays |= {f"{_other_name(name, number)}/{key}": array for key, array in stored}
        write_model(folder, FILE, {"attributes": content, "others": others}, arrays)

    @classmethod
    def load(cls, folder: Path) -> SeedModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _SeedFile)
        if not file.attributes:
            raise ValueError(f"{FILE}.json has no attributes")
        attributes = {name: stored.build(name, arrays) for name, stored in file.attributes.items()}
        others = {
            name: [one.build(_other_name(name, number), arrays) for number, one in enumerate(stored)]
            for name, stored in file.others.items()
        }
        return cls(attributes, others=others)


_ExamplesByAttribute = dict[str, list[tuple[SiteFields, Examples]]]


def _find_all_examples(sites: Sequence[LabeledSite], schema: Schema) -> _ExamplesByAttribute:
    """Return for each attribute its examples on each seed site that has it."""
    examples: _ExamplesByAttribute = {}
    for pages, labels in sites:
        site = SiteFields(pages, schema)
        for name, attribute in schema.attributes.items():
            site_examples = locate_examples(site.fields, labels, attribute)
            if site_examples is not None:
                examples.setdefault(name, []).append((site, site_examples))
    return examples


def _learn_attributes(examples: _ExamplesByAttribute) -> dict[str, AttributeModel]:
    return {name: learn_attribute(site_examples) for name, site_examples in examples.items()}


# The file


class _PartFile(StrictFile):
    intercept: float
    low: float
    high: float
    reliability: float


class _AttributeModelFile(StrictFile):
    parts: dict[str, _PartFile]
    stripped: int
    unstripped: int
    crossed_out: bool = False

    def build(self, name: str, arrays: CheckedArrays) -> AttributeModel:
        """Return the stored model of an attribute; a ValueError says what is wrong with the file."""
        if set(self.parts) != set(PARTS):
            raise ValueError(f"{name}: expected the parts {', '.join(PARTS)}")
        parts = {}
        for part, numbers in self.parts.items():
            weights = arrays.get(f"{name}/{part}/weights", np.float32, (None,))
            indices = arrays.get(f"{name}/{part}/indices", np.int32, (len(weights),))
            if len(indices) and not 0 <= indices.min() <= indices.max() < HASHED_FEATURES:
                raise ValueError(f"array {name}/{part}/indices points beyond {HASHED_FEATURES:,}")
            parts[part] = PartModel(indices, weights, **vars(numbers))
        return AttributeModel(
            parts,
            arrays.get(f"{name}/profiles", np.float32, (None, len(PROFILE))),
            arrays.get(f"{name}/values", np.uint64, (None,)),
            arrays.get(f"{name}/others", np.uint64, (None,)),
            self.stripped,
            self.unstripped,
            self.crossed_out,
        )


class _SeedFile(StrictFile):
    attributes: dict[str, _AttributeModelFile]
    others: dict[str, list[_AttributeModelFile]] = Field(default_factory=dict)


def _other_name(attribute: str, number: int) -> str:
    """Return the name of the arrays of what an unlabeled site taught about an attribute."""
    return f"{attribute}/other {number}"


def _attribute_content(model: AttributeModel) -> dict[str, Any]:
    numbers = _PartFile.model_fields
    parts = {name: {key: getattr(part, key) for key in numbers} for name, part in model.parts.items()}
    return {
        "parts": parts,
        "stripped": model.stripped,
        "unstripped": model.unstripped,
        "crossed_out": model.crossed_out,
    }


def _attribute_arrays(model: AttributeModel) -> Arrays:
    arrays: Arrays = {"profiles": model.profiles, "values": model.values, "others": model.others}
    for name, part in model.parts.items():
        arrays |= {f"{name}/indices": part.indices, f"{name}/weights": part.weights}
    return arrays
