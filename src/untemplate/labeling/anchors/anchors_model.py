"""The method "anchors": annotators, candidate extractors, features, the extractor that scores best.

Departures: weights are shared by all attributes, so that a few training sites are enough; what seed labelling knows
of a field is a feature; plain texts have XPaths besides offsets, by classifiers that the training sites taught; a
site may lack an attribute, which makes its extractor less sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import numpy as np

from untemplate.errors import LabelError
from untemplate.labeling.anchors.annotators import annotate
from untemplate.labeling.anchors.candidates import threshold
from untemplate.labeling.anchors.features import FEATURES, PAIR, Features
from untemplate.labeling.anchors.problem import Options, Orders, find_options, pose
from untemplate.labeling.anchors.scoring import GOOD, Scorer, ScorerKind, learn_scorer, solve
from untemplate.labeling.finding import Finding
from untemplate.labeling.label import Label
from untemplate.labeling.methods import LabeledSite, StrictFile, read_model, write_model
from untemplate.labeling.nodes.examples import Examples, find_examples
from untemplate.labeling.seed.attribute_model import AttributeModel, learn_attribute
from untemplate.labeling.seed.field_evidence import EVIDENCE, gather_evidence
from untemplate.labeling.seed.ranking import Rankers, load_rankers
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.labeling.seed.solution import find_other_fields, join_fields
from untemplate.labeling.site_templates import find_in_rounds
from untemplate.page import Page
from untemplate.page.arrays import Doubles, Floats, Ints
from untemplate.schema import Schema

__all__ = ["AnchorsModel", "Chosen", "Lessons", "learn_lessons"]

Models = dict[str, AttributeModel]

SOURCE = FILE = "anchors"

# Combinations of options that are scored at once, all of them; and options of an attribute that are among them.
LIMIT = 100_000
MAX_OPTIONS = 15
# Attributes that are decided at once; those after them in view of these.
MAX_ATTRIBUTES = 8
# Pages that the models of attributes learn from.
PAGES = 50
# What scores are multiplied with before they become chances: by themselves they are none. Swept from 0.5 to 30 for
# the likelihood of what is right on SWDE; between half and twice as much there is little to choose.
SHARPNESS: dict[ScorerKind, float] = {"LR": 8, "NN": 20, "SVM": 20, "rank": 8}
# Exponentials of more overflow.
MAX_EXPONENT = 500.0
# When it was chosen the best on average over the verticals of SWDE, and over any three of them, so that none chose
# its own. Ranking is as good on books and better on restaurants.
MODEL: ScorerKind = "LR"
# Sub-sites of a training site at most, and the pages of each at least.
SUB_SITES, SUB_SITE = 4, 25


@dataclass(frozen=True)
class Chosen:
    """The rows of an attribute's extractor, one a page at most, and the chance that it is right."""

    rows: Ints
    confidence: float


@dataclass(frozen=True)
class AnchorsModel:
    """What labeled sites taught: models of attributes, where to look for candidates, and how they score."""

    seed: SeedModel
    thresholds: Mapping[str, float]
    orders: Orders
    scorer: Scorer
    features: Features = "ours"

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
        rankers: Rankers | None = None,
    ) -> AnchorsModel:
        """Learn from two labeled sites or more; unlabeled sites are ignored."""
        return learn_lessons(sites, schema, rankers or load_rankers()).fit()

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template."""
        return find_in_rounds(self._find_once, pages, schema)

    def _find_once(self, pages: Sequence[Page], schema: Schema) -> Iterator[Finding]:
        site = SiteFields(pages, schema)
        for name, best in self.choose(site, schema).items():
            rows, confidence = self._with_other_fields(site, schema, name, best)
            yield replace(self.seed.make_finding(site, schema, name, rows, confidence), source=SOURCE)

    def _with_other_fields(
        self, site: SiteFields, schema: Schema, name: str, best: Chosen
    ) -> tuple[Ints, float]:
        """Add fields with the attribute on pages where the extractor finds nothing."""
        attribute, model, rankers = schema.attributes[name], self.seed.attributes[name], self.seed.rankers
        fields = site.candidates(attribute, model.spans_nodes)
        evidence = gather_evidence(site, fields, attribute, model)
        score = rankers.score(evidence, EVIDENCE)
        others = find_other_fields(site, fields, evidence, score, best.rows, rankers)
        return join_fields([(best.rows, best.confidence), *others])

    def choose(self, site: SiteFields, schema: Schema) -> dict[str, Chosen]:
        """The extractor of each attribute that has candidates."""
        options = find_options(site, schema, self.seed.attributes, self.seed.rankers, self.thresholds)
        return self.decide(options)

    def decide(self, options: Mapping[str, Options]) -> dict[str, Chosen]:
        """The best of all combinations of options; of many attributes in blocks, each in view of those before."""
        found: dict[str, Chosen] = {}
        given: dict[str, Ints] = {}
        names = list(options)
        for first in range(0, len(names), MAX_ATTRIBUTES):
            block = {name: options[name] for name in names[first : first + MAX_ATTRIBUTES]}
            problem = pose(block, self.orders, FEATURES[self.features], count_of(len(block)), given)
            solved = solve(problem, self.scorer)
            for name, own, best, scores in zip(
                block, problem.options, solved.chosen, solved.marginals, strict=True
            ):
                given[name] = own.leaves[best]
                rows = own.rows[best]
                found[name] = Chosen(rows[rows >= 0], confidence_of(scores, best, self.scorer.model))
        return found

    def save(self, folder: Path) -> None:
        """Write `anchors.json`, `anchors.npz` and the files of the method "seed"."""
        content = {
            "model": self.scorer.model,
            "features": self.features,
            "thresholds": dict(self.thresholds),
            "orders": [[*pair, share] for pair, share in self.orders.items()],
        }
        scorer = self.scorer
        write_model(
            folder, FILE, content, {"weights": scorer.weights, "bias": scorer.bias, "out": scorer.out}
        )
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> AnchorsModel:
        """Read what `save` wrote."""
        file, arrays = read_model(folder, FILE, _AnchorsFile)
        height = len(FEATURES[file.features].names) + 1 + len(PAIR)
        weights = arrays.get("weights", np.float64, (height, None))
        bias, out = (arrays.get(name, np.float64, weights.shape[1:]) for name in ("bias", "out"))
        orders = {(first, second): share for first, second, share in file.orders}
        scorer = Scorer(file.model, weights, bias, out)
        return cls(SeedModel.load(folder), file.thresholds, orders, scorer, file.features)


def count_of(attributes: int) -> int:
    """Options of each attribute such that all their combinations, with none of them, are not too many."""
    return max(1, min(MAX_OPTIONS, int(LIMIT ** (1 / attributes) + 1e-9) - 1))


def confidence_of(scores: Doubles, best: int, model: ScorerKind) -> float:
    """The share of the best option in what all of them score at best, as exponentials."""
    above = np.minimum(SHARPNESS[model] * (scores - scores[best]), MAX_EXPONENT)
    return float(1 / np.exp(above).sum())


class _AnchorsFile(StrictFile):
    model: ScorerKind
    features: Features
    thresholds: dict[str, float]
    orders: list[tuple[str, str, float]]


Example = Mapping[str, Options]
"""The candidates of a sub-site, with their F1 as a column."""


@dataclass(frozen=True)
class Lessons:
    """What labelled sites teach, before a model that scores learns from it: the candidates of their sub-sites."""

    seed: SeedModel
    thresholds: Mapping[str, float]
    examples: Sequence[Example]

    def fit(self, model: ScorerKind = MODEL, features: Features = "ours") -> AnchorsModel:
        """A model that scores site-level extractors."""
        orders = learn_orders(self.examples)
        problems = [
            pose(one, orders, FEATURES[features], count_of(min(len(one), MAX_ATTRIBUTES)))
            for one in self.examples
            if one
        ]
        scorer = learn_scorer(problems, model)
        return AnchorsModel(self.seed, self.thresholds, orders, scorer, features)


def learn_lessons(sites: Sequence[LabeledSite], schema: Schema, rankers: Rankers) -> Lessons:
    """Learn from labelled sites: models of attributes from all, and candidates of each by models of the others."""
    if len(sites) < 2:
        raise LabelError("labels of at least two sites are needed: one tells how reliable the other's are")
    seeds = [Seed(pages, labels, schema) for pages, labels in sites]
    models = learn_models(seeds, schema)
    if not models:
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    blind = [learn_models([other for other in seeds if other is not seed], schema) for seed in seeds]
    lessons = Lessons(SeedModel(models, rankers), *learn_candidates(seeds, blind, schema, rankers))
    if not any(one.f1.max() >= GOOD for example in lessons.examples for one in example.values()):
        raise LabelError(
            f"no two of the sites have an attribute of {schema.name!r} in common that is found on both"
        )
    return lessons


class Seed:
    """A labelled site: some pages of it for models, and its sub-sites."""

    def __init__(self, pages: Sequence[Page], labels: Sequence[Label], schema: Schema) -> None:
        named = {label.page for label in labels}
        labelled = [page for page in pages if page.is_named_in(named)]
        if len(labelled) < SUB_SITE:
            chosen = {id(page) for page in labelled}
            labelled += [page for page in pages if id(page) not in chosen][: PAGES - len(labelled)]
        count = max(1, min(SUB_SITES, len(labelled) // SUB_SITE))
        step = max(1, len(labelled) // PAGES)
        self.whole = SubSite(labelled[::step][:PAGES], labels, schema)
        parts = [labelled[number::count] for number in range(count)]
        self.parts = (
            [self.whole]
            if count == 1
            else [SubSite(part[:: max(1, len(part) // PAGES)][:PAGES], labels, schema) for part in parts]
        )

    def examples(
        self, schema: Schema, models: Models, rankers: Rankers, thresholds: Mapping[str, float]
    ) -> Iterator[Example]:
        """The candidates of each sub-site by models that did not learn from the site."""
        for part in self.parts:
            options = find_options(part.site, schema, models, rankers, thresholds)
            yield {
                name: one.judged(f1_of(one, part.examples[name], part.site))
                for name, one in options.items()
                if name in part.examples
            }


class SubSite:
    """Pages of a labelled site, and where its attributes stand."""

    def __init__(self, pages: Sequence[Page], labels: Sequence[Label], schema: Schema) -> None:
        self.site = SiteFields(pages, schema)
        found = {
            name: find_examples(self.site.fields, labels, one) for name, one in schema.attributes.items()
        }
        self.examples: dict[str, Examples] = {name: one for name, one in found.items() if one is not None}


def f1_of(options: Options, examples: Examples, site: SiteFields) -> Floats:
    """Of each option, how well its rows are those that hold the attribute, on labelled pages."""
    page = site.table.page
    judged = np.zeros(len(site.table.pages), np.bool_)
    judged[page[examples.positive | examples.negative]] = True
    there = (options.rows >= 0) & judged
    hits = (there & examples.positive[options.rows]).sum(axis=1)
    true = len(np.unique(page[examples.positive]))
    shares: Floats = (2 * hits / np.maximum(1, there.sum(axis=1) + true)).astype(np.float32)
    return shares


def learn_models(seeds: Sequence[Seed], schema: Schema) -> Models:
    """The models of attributes, each from the sites that have it."""
    found = {}
    for name in schema.attributes:
        having = [(one.whole.site, one.whole.examples[name]) for one in seeds if name in one.whole.examples]
        if having:
            found[name] = learn_attribute(having)
    return found


def learn_candidates(
    seeds: Sequence[Seed], blind: Sequence[Models], schema: Schema, rankers: Rankers
) -> tuple[dict[str, float], list[Example]]:
    """Thresholds, and the candidates of all sub-sites, each by models that are blind to its site."""
    thresholds = learn_thresholds(seeds, blind, schema)
    examples = [
        example
        for seed, models in zip(seeds, blind, strict=True)
        for example in seed.examples(schema, models, rankers, thresholds)
    ]
    return thresholds, examples


def learn_thresholds(seeds: Sequence[Seed], blind: Sequence[Models], schema: Schema) -> dict[str, float]:
    """Per attribute the threshold of algorithm 1, by the site on which its annotator finds least."""
    found: dict[str, float] = {}
    for seed, models in zip(seeds, blind, strict=True):
        sub_site = seed.whole
        page = sub_site.site.table.page
        for name, marks in annotate(sub_site.site, schema, models).items():
            if name in sub_site.examples:
                positive = sub_site.examples[name].positive
                judged = len(np.unique(page[positive | sub_site.examples[name].negative]))
                share = len(np.unique(page[positive])) / judged
                least = threshold(float(marks[positive].mean()), share)
                found[name] = min(least, found.get(name, least))
    return found


def learn_orders(examples: Sequence[Example]) -> dict[tuple[str, str], float]:
    """Of two attributes, the mean share of pages on which the first stands first."""
    found: dict[tuple[str, str], list[float]] = {}
    for example in examples:
        best = {name: one.leaves[np.argmax(one.f1)] for name, one in example.items() if one.f1.max() >= GOOD}
        for one, other in permutations(best, 2):
            both = (best[one] >= 0) & (best[other] >= 0)
            if both.any():
                found.setdefault((one, other), []).append(float((best[one] < best[other])[both].mean()))
    return {pair: float(np.mean(shares)) for pair, shares in found.items()}
