"""The method "anchors": learn from labeled sites, and choose the extractors of a new site.

Labeled sites teach models of attributes, thresholds of annotators, and a scorer of candidate extractors. Candidates
of a training site are found by models of the other sites only, because they will be found so on new sites.

Departures from the paper: weights are shared by all attributes, so a few training sites are enough. What the method
"seed" knows about a field is a feature. Plain texts have XPaths besides offsets, by classifiers that the training
sites taught. A site may lack an attribute, which makes its extractor less sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from pathlib import Path

import numpy as np

from untemplate.errors import LabelError
from untemplate.labeling.anchors.extractor_options import (
    FEATURE_SETS,
    PAIR_FEATURES,
    AttributeOptions,
    ChoiceProblem,
    FeatureName,
    Orders,
    find_options,
    make_problem,
)
from untemplate.labeling.anchors.extractor_scoring import (
    MAX_ATTRIBUTES,
    MIN_RIGHT_F1,
    ChosenExtractor,
    Scorer,
    ScorerKind,
    choose_extractors,
    learn_scorer,
    make_scorer,
    options_per_attribute,
)
from untemplate.labeling.anchors.extractors import annotate_site, annotation_threshold
from untemplate.labeling.label import Finding, Label
from untemplate.labeling.methods import LabeledSite, StrictFile, read_model, write_model
from untemplate.labeling.nodes.fields import Examples, locate_examples
from untemplate.labeling.seed.attribute_model import (
    AttributeModel,
    gather_evidence,
    learn_attribute,
)
from untemplate.labeling.seed.field_ranking import (
    Rankers,
    find_other_fields,
    join_fields,
    load_rankers,
    rank_jointly,
)
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.labeling.site_templates import find_in_rounds
from untemplate.page import Page
from untemplate.page.arrays import Floats, Ints
from untemplate.schema import Schema

__all__ = [
    "AnchorsModel",
    "AttributeModels",
    "Lessons",
    "TrainingSite",
    "learn_attribute_models",
    "learn_lessons",
    "make_lessons",
]

# Pages of a site or sub-site to learn from, at most.
MAX_PAGES = 50
# Sub-sites of a training site at most, and the pages of each at least.
MAX_SUB_SITES, MIN_SUB_SITE_PAGES = 4, 25

AttributeModels = dict[str, AttributeModel]
SubSiteOptions = Mapping[str, AttributeOptions]
"""The candidates of a sub-site by attribute, with their F1."""


@dataclass(frozen=True)
class Lessons:
    """What labeled sites teach, before a scorer learns from it.

    Attributes:
        seed: Models of the attributes.
        thresholds: By attribute, the share of pages on which an XPath must be annotated.
        examples: The candidates of the training sites' sub-sites.
    """

    seed: SeedModel
    thresholds: Mapping[str, float]
    examples: Sequence[SubSiteOptions]

    @cached_property
    def orders(self) -> Orders:
        """For two attributes, the mean share of pages on which the first comes first."""
        shares: dict[tuple[str, str], list[float]] = {}
        for example in self.examples:
            for pair, share in _pair_orders(example):
                shares.setdefault(pair, []).append(share)
        return {pair: float(np.mean(values)) for pair, values in shares.items()}

    def make_problems(self, features: FeatureName = "ours") -> list[ChoiceProblem]:
        """Return the problems that a scorer learns from."""
        problems = []
        for example in self.examples:
            if example:
                count = options_per_attribute(min(len(example), MAX_ATTRIBUTES))
                problems.append(make_problem(example, self.orders, FEATURE_SETS[features], count))
        return problems


def _pair_orders(example: SubSiteOptions) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield for each two attributes the share of pages on which the first comes first, if they are found together."""
    leaves = {}
    for name, options in example.items():
        if options.f1.max() >= MIN_RIGHT_F1:
            leaves[name] = options.leaves[np.argmax(options.f1)]
    for first, second in permutations(leaves, 2):
        both = (leaves[first] >= 0) & (leaves[second] >= 0)
        if both.any():
            yield (first, second), float((leaves[first] < leaves[second])[both].mean())


def learn_lessons(sites: Sequence[LabeledSite], schema: Schema, rankers: Rankers) -> Lessons:
    """Learn from labeled sites.

    Raises:
        LabelError: There is one site only, or the sites have no attribute in common.
    """
    if len(sites) < 2:
        raise LabelError(
            "labels of at least two sites are needed: one shows how reliable those of the other are"
        )
    training_sites = [TrainingSite(pages, labels, schema) for pages, labels in sites]
    models = learn_attribute_models(training_sites, schema)
    if not models:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    blind_models = []
    for site in training_sites:
        other_sites = [other for other in training_sites if other is not site]
        blind_models.append(learn_attribute_models(other_sites, schema))
    lessons = make_lessons(training_sites, models, blind_models, schema, rankers)
    if not any(_has_right_option(example) for example in lessons.examples):
        raise LabelError(
            f"no two of the sites have an attribute of {schema.name!r} in common that is found on both"
        )
    return lessons


def _has_right_option(example: SubSiteOptions) -> bool:
    return any(options.f1.max() >= MIN_RIGHT_F1 for options in example.values())


def make_lessons(
    sites: Sequence[TrainingSite],
    models: AttributeModels,
    blind_models: Sequence[AttributeModels],
    schema: Schema,
    rankers: Rankers,
) -> Lessons:
    """Return the lessons of sites.

    Args:
        sites: The labeled sites.
        models: The models of attributes that all sites taught.
        blind_models: Of each site, the models that the other sites taught.
        schema: The attributes.
        rankers: Score fields, as the method "seed" does.
    """
    thresholds = _learn_thresholds(sites, blind_models, schema)
    examples: list[SubSiteOptions] = []
    for site, blind in zip(sites, blind_models, strict=True):
        examples += (part.find_options(schema, blind, rankers, thresholds) for part in site.parts)
    return Lessons(SeedModel(models, rankers), thresholds, examples)


class TrainingSite:
    """A labeled site.

    Attributes:
        sample: Some of its pages, for models of attributes.
        parts: Its sub-sites: more training examples, of the size of a new site's sample.
    """

    def __init__(self, pages: Sequence[Page], labels: Sequence[Label], schema: Schema) -> None:
        pages = _select_labeled(pages, labels)
        count = max(1, min(MAX_SUB_SITES, len(pages) // MIN_SUB_SITE_PAGES))
        self.sample = SubSite(_select_evenly(pages), labels, schema)
        self.parts = [self.sample]
        if count > 1:
            parts = [pages[number::count] for number in range(count)]
            self.parts = [SubSite(_select_evenly(part), labels, schema) for part in parts]


def _select_labeled(pages: Sequence[Page], labels: Sequence[Label]) -> list[Page]:
    """Return the labeled pages; if they are few, with some unlabeled ones."""
    names = {label.page for label in labels}
    labeled = [page for page in pages if page.is_named_in(names)]
    if len(labeled) >= MIN_SUB_SITE_PAGES:
        return labeled
    unlabeled = [page for page in pages if not page.is_named_in(names)]
    return labeled + unlabeled[: MAX_PAGES - len(labeled)]


def _select_evenly(pages: Sequence[Page]) -> Sequence[Page]:
    """Return up to `MAX_PAGES` pages, evenly spread."""
    return pages[:: max(1, len(pages) // MAX_PAGES)][:MAX_PAGES]


class SubSite:
    """Some pages of a labeled site.

    Attributes:
        site: The fields of the pages.
        examples: By attribute, the rows that contain it, and those that do not.
    """

    def __init__(self, pages: Sequence[Page], labels: Sequence[Label], schema: Schema) -> None:
        self.site = SiteFields(pages, schema)
        self.examples: dict[str, Examples] = {}
        for name, attribute in schema.attributes.items():
            examples = locate_examples(self.site.fields, labels, attribute)
            if examples is not None:
                self.examples[name] = examples

    def find_options(
        self, schema: Schema, models: AttributeModels, rankers: Rankers, thresholds: Mapping[str, float]
    ) -> SubSiteOptions:
        """Return the candidates of the labeled attributes, with their F1."""
        options = find_options(self.site, schema, models, rankers, thresholds)
        labeled: dict[str, AttributeOptions] = {}
        for name, candidates in options.items():
            if name in self.examples:
                labeled[name] = candidates.with_f1(self._f1(candidates, self.examples[name]))
        return labeled

    def _f1(self, options: AttributeOptions, examples: Examples) -> Floats:
        """Return how well the rows of each option are those that contain the attribute, on labeled pages."""
        page = self.site.table.page
        labeled = np.zeros(len(self.site.table.pages), np.bool_)
        labeled[page[examples.positive | examples.negative]] = True
        extracted = (options.rows >= 0) & labeled
        hits = (extracted & examples.positive[options.rows]).sum(axis=1)
        true = len(np.unique(page[examples.positive]))
        f1: Floats = (2 * hits / np.maximum(1, extracted.sum(axis=1) + true)).astype(np.float32)
        return f1

    def annotation_thresholds(self, schema: Schema, models: AttributeModels) -> dict[str, float]:
        """Return for each labeled attribute the threshold of algorithm 1, by the recall of its annotator."""
        page = self.site.table.page
        thresholds = {}
        for name, marks in annotate_site(self.site, schema, models).items():
            if name in self.examples:
                positive = self.examples[name].positive
                labeled = len(np.unique(page[positive | self.examples[name].negative]))
                share = len(np.unique(page[positive])) / labeled
                thresholds[name] = annotation_threshold(float(marks[positive].mean()), share)
        return thresholds


def learn_attribute_models(sites: Sequence[TrainingSite], schema: Schema) -> AttributeModels:
    """Learn the model of each attribute from the sites that have it."""
    models = {}
    for name in schema.attributes:
        samples = [site.sample for site in sites if name in site.sample.examples]
        if samples:
            models[name] = learn_attribute([(sample.site, sample.examples[name]) for sample in samples])
    return models


def _learn_thresholds(
    sites: Sequence[TrainingSite], blind_models: Sequence[AttributeModels], schema: Schema
) -> dict[str, float]:
    """Return the lowest threshold of each attribute: that of the site on which its annotator finds least."""
    thresholds: dict[str, float] = {}
    for site, models in zip(sites, blind_models, strict=True):
        for name, threshold in site.sample.annotation_thresholds(schema, models).items():
            thresholds[name] = min(threshold, thresholds.get(name, threshold))
    return thresholds


SOURCE = FILE = "anchors"


@dataclass(frozen=True)
class AnchorsModel:
    """What labeled sites taught: models of attributes, where to search candidates, and how to score them.

    Attributes:
        seed: Models of the attributes.
        thresholds: By attribute, the share of pages on which an XPath must be annotated.
        orders: For two attributes, the share of pages on which the first comes first.
        scorer: Scores combinations of extractors.
        features: The features that it uses.
        ranker: The model that taught it.
    """

    seed: SeedModel
    thresholds: Mapping[str, float]
    orders: Orders
    scorer: Scorer
    features: FeatureName = "ours"
    ranker: ScorerKind = "LR"

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.seed.taught

    @classmethod
    def train(
        cls,
        sites: Sequence[LabeledSite],
        schema: Schema,
        unlabeled: Sequence[Sequence[Page]] = (),
        features: FeatureName = "ours",
        ranker: ScorerKind = "LR",
    ) -> AnchorsModel:
        """Learn from two labeled sites or more; the registry refuses unlabeled sites."""
        lessons = learn_lessons(sites, schema, load_rankers())
        return cls.from_lessons(lessons, features, ranker)

    @classmethod
    def from_lessons(
        cls, lessons: Lessons, features: FeatureName = "ours", ranker: ScorerKind = "LR"
    ) -> AnchorsModel:
        """Learn a scorer from what labeled sites teach."""
        scorer = learn_scorer(lessons.make_problems(features), features, ranker)
        return cls(lessons.seed, lessons.thresholds, lessons.orders, scorer, features, ranker)

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_in_rounds(self._find_once, pages, schema)

    def _find_once(self, pages: Sequence[Page], schema: Schema) -> Iterator[Finding]:
        site = SiteFields(pages, schema)
        options = find_options(site, schema, self.seed.attributes, self.seed.rankers, self.thresholds)
        for name, extractor in choose_extractors(options, self.orders, self.scorer).items():
            rows, confidence = self._with_other_fields(site, schema, name, extractor)
            yield replace(self.seed.make_finding(site, schema, name, rows, confidence), source=SOURCE)

    def _with_other_fields(
        self, site: SiteFields, schema: Schema, name: str, extractor: ChosenExtractor
    ) -> tuple[Ints, float]:
        """Add fields with the attribute on pages where the extractor finds nothing."""
        attribute, model, rankers = schema.attributes[name], self.seed.attributes[name], self.seed.rankers
        fields = site.candidates(attribute, model.spans_nodes)
        evidence = gather_evidence(site, fields, attribute, model)
        ranked = rank_jointly(site, {name: attribute}, {name: fields}, {name: evidence}, rankers)
        other_fields = find_other_fields(site, ranked[name], extractor.rows, rankers)
        return join_fields([(extractor.rows, extractor.confidence), *other_fields])

    def save(self, folder: Path) -> None:
        """Write `anchors.json`, `anchors.npz` and the files of the method "seed"."""
        content = {
            "model": self.ranker,
            "features": self.features,
            "thresholds": dict(self.thresholds),
            "orders": [[*pair, share] for pair, share in self.orders.items()],
        }
        arrays = {"weights": self.scorer.weights, "bias": self.scorer.bias, "out": self.scorer.out}
        write_model(folder, FILE, content, arrays)
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> AnchorsModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _AnchorsFile)
        height = len(FEATURE_SETS[file.features].names) + 1 + len(PAIR_FEATURES)
        weights = arrays.get("weights", np.float64, (height, None))
        bias, out = (arrays.get(name, np.float64, (weights.shape[1],)) for name in ("bias", "out"))
        orders = {(first, second): share for first, second, share in file.orders}
        scorer = make_scorer(file.model, file.features, weights, bias, out)
        return cls(SeedModel.load(folder), file.thresholds, orders, scorer, file.features, file.model)


class _AnchorsFile(StrictFile):
    """The content of `anchors.json`."""

    model: ScorerKind
    features: FeatureName
    thresholds: dict[str, float]
    orders: list[tuple[str, str, float]]
