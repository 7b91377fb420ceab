"""The method "paper": "From One Tree to a Forest", knowledge of a seed site adapted to a new one.

Formulas that the text lost are reconstructed: a solution's confidence is the geometric mean of its fields' relevance,
times the cosine of the two layout matrices; a context is relevant as far as its words are those of a known one.
Departures:
- What precedes a value on one site is its prefix on another, so the three kinds of context have one look-up table.
  It contains only contexts that appear mostly with the attribute on the seed site, and one match is enough.
- Static text, text that is not shown and mere punctuation are no data.
- The unigram feature of a seed's own nodes counts the other nodes' words only, as for a new site's.
- The sigmoid of a classifier's distances is fixed: fitted on the seed site it is too sure of another.
- A field's mean relevance is multiplied by the share of the pages that have the field.
- The classifier is trained on some of the nodes; solutions are formed from a few fields an attribute, those nearly
  as relevant as the best one, not those before the largest drop.
- Nodes of a page with equal path and contexts are different fields, by their order.
- Layouts are compared by the logarithms of distances, and count less: boxes are estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
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
from untemplate.labeling.nodes.fields import locate_examples
from untemplate.labeling.seed.paper_site import (
    FEATURES,
    FirstBoxes,
    PaperSite,
    SeedAttribute,
    SeedSite,
    first_boxes,
    learn_seed,
    mean_distance,
)
from untemplate.page import Page
from untemplate.page.arrays import Bools, Doubles, Floats, Ints, count_distinct, group_rows, ordinals
from untemplate.schema import Schema

__all__ = [
    "Adapted",
    "PaperModel",
    "adapt",
    "adapt_fields",
    "adapt_jointly",
    "adapt_pages",
    "make_paper_findings",
    "merge_solutions",
]

# Fields of an attribute among which solutions choose, and solutions that are compared.
MAX_CANDIDATES = 8
MAX_SOLUTIONS = 3000
# Equal nodes of a page are different fields by their order, up to this many.
MAX_POSITION = 10
# A field competes for an attribute if it is at least this part as relevant as the best one: layouts decide nearly
# equal cases only. F1 of labels on SWDE, four seed sites a vertical: 0.695 with this, 0.686 with 0.95, 0.677 with
# 0.7, 0.684 without layouts. Any three verticals choose this or no layouts.
MIN_RELATIVE_RELEVANCE = 0.98
# Distances are compared by the logarithm of their tenths, and the similarity counts with this power. Without both,
# the layout step lowers F1 on SWDE by 0.03: boxes are estimated.
TENTHS, LAYOUT_POWER = 10.0, 0.5
# A data field has nodes on at least this share of the pages; 0.1 to 0.4 are alike.
MIN_SUPPORT = 0.2
# If its best field is less relevant than this, the site lacks an attribute.
MIN_RELEVANCE = 0.01
# Findings on unlabeled sites become training data if they are at least this relevant: the classifier then counts them
# as examples. Relevance is no probability.
MIN_TRAINING_RELEVANCE = 0.5

FILE = "paper"
_ARRAYS = ("mean_types", "high", "support", "dual")


@dataclass
class Adapted:
    """A solution for a new site.

    Attributes:
        rows: The rows of each attribute, one per page.
        relevance: The mean relevance of each attribute's rows.
        confidence: How well the solution fits the seed site.
    """

    rows: dict[str, Ints] = field(default_factory=dict)
    relevance: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.0


def adapt(site: PaperSite, seeds: Sequence[SeedSite]) -> Adapted:
    """Adapt the knowledge of each seed site to a new site, and return the most confident solution."""
    return merge_solutions([adapt_jointly(site, seed) for seed in seeds])


def merge_solutions(solutions: Sequence[Adapted]) -> Adapted:
    """Return the most confident solution, as in the paper; attributes that it lacks come from the next ones."""
    best = Adapted()
    for solution in sorted(solutions, key=lambda solution: -solution.confidence):
        for name in solution.rows.keys() - best.rows.keys():
            best.rows[name], best.relevance[name] = solution.rows[name], solution.relevance[name]
        best.confidence = max(best.confidence, solution.confidence)
    return best


def adapt_pages(site: PaperSite, seed: SeedSite) -> Adapted:
    """Choose the most relevant node of each page by itself: the paper's step PL."""
    if not site.eligible.any():
        return Adapted()
    relevance = {name: attribute.relevance(site) for name, attribute in seed.attributes.items()}
    rows = {name: _best_rows(site, scores, site.eligible) for name, scores in relevance.items()}
    means = {name: float(relevance[name][chosen].mean()) for name, chosen in rows.items()}
    return Adapted(rows, means, float(np.mean(list(means.values()))))


def adapt_fields(site: PaperSite, seed: SeedSite) -> Adapted:
    """Choose the most relevant field of the site for each attribute: the paper's steps PL+IP."""
    return _adapt(site, seed, lambda means: 1)


def adapt_jointly(site: PaperSite, seed: SeedSite) -> Adapted:
    """Choose the fields of all attributes together, by relevance and layout: the paper's steps PL+IP+IA."""
    return _adapt(site, seed, _count_relevant)


def _count_relevant(means: Floats) -> int:
    """Return how many fields are nearly as relevant as the first one."""
    return int((means >= MIN_RELATIVE_RELEVANCE * means[:1]).sum())


def _adapt(site: PaperSite, seed: SeedSite, count_candidates: Callable[[Floats], int]) -> Adapted:
    """Choose a field for each attribute.

    Args:
        site: The new site.
        seed: What a seed site taught.
        count_candidates: Returns how many fields are candidates, given their relevance in descending order.
    """
    if not site.eligible.any():
        return Adapted()
    fields = _form_fields(site)
    candidates = []
    for attribute in seed.attributes.values():
        candidates.append(_find_field_candidates(site, fields, attribute.relevance(site), count_candidates))
    chosen, confidence = _best_solution(seed, candidates)
    rows, relevance = {}, {}
    for name, candidate in zip(seed.attributes, chosen, strict=True):
        if candidate and candidate.relevance >= MIN_RELEVANCE:
            rows[name], relevance[name] = candidate.rows, candidate.relevance
    return Adapted(rows, relevance, confidence)


def _form_fields(site: PaperSite) -> Ints:
    """Return the field of each row, −1 for none: equal tag path and contexts, and the same position among equals."""
    context = site.context
    kinds = group_rows(site.table.path, context.preceding, context.prefix, context.suffix)
    fields = np.full(len(site.table), -1, np.int32)
    rows = np.flatnonzero(site.eligible)
    position = np.minimum(ordinals(site.table.page[rows], kinds[rows]), MAX_POSITION)
    fields[rows] = group_rows(kinds[rows], position)
    return fields


@dataclass(frozen=True)
class _FieldCandidate:
    """A field that may contain an attribute: one row per page, and where they are."""

    rows: Ints
    relevance: float
    boxes: FirstBoxes


def _find_field_candidates(
    site: PaperSite, fields: Ints, scores: Floats, count_candidates: Callable[[Floats], int]
) -> list[_FieldCandidate]:
    """Return the candidate fields of an attribute, the most relevant first.

    Args:
        site: The new site.
        fields: The field of each row, −1 for none.
        scores: The attribute's relevance for each row.
        count_candidates: As in `_adapt`.
    """
    means = _field_relevance(site, fields, scores)
    order = np.argsort(-means, kind="stable")[: MAX_CANDIDATES + 1]
    candidates = []
    for number in order[: count_candidates(means[order])]:
        rows = _best_rows(site, scores, fields == number)
        if len(rows):
            candidates.append(_FieldCandidate(rows, float(means[number]), first_boxes(site, rows)))
    return candidates


def _field_relevance(site: PaperSite, fields: Ints, scores: Floats) -> Floats:
    """Return the mean relevance of each field's rows, times its share of the pages; 0 for fields on few pages."""
    table, rows = site.table, fields >= 0
    support = count_distinct(fields[rows], table.page[rows]) / len(table.pages)
    means = np.bincount(fields[rows], scores[rows]) / np.maximum(1, np.bincount(fields[rows]))
    relevance: Floats = np.where(support >= MIN_SUPPORT, means * support, 0).astype(np.float32)
    return relevance


def _best_rows(site: PaperSite, scores: Floats, among: Bools) -> Ints:
    """Return the best of these rows on each page."""
    rows = np.flatnonzero(among)
    order = rows[np.lexsort((rows, -scores[rows], site.table.page[rows]))]
    return order[np.unique(site.table.page[order], return_index=True)[1]].astype(np.int32)


def _best_solution(
    seed: SeedSite, candidates: Sequence[list[_FieldCandidate]]
) -> tuple[list[_FieldCandidate | None], float]:
    """Return the combination of fields with the highest confidence: relevance times similarity of the layout.

    Args:
        seed: What a seed site taught.
        candidates: For each attribute of the seed site, its candidate fields.

    Returns:
        The field of each attribute, None if it has no candidates; and the confidence.
    """
    limited = _limit_combinations(candidates)
    present = [number for number, fields in enumerate(limited) if fields]
    options = [limited[number] for number in present]
    layout = _LayoutComparison(seed.layout[np.ix_(present, present)], options)
    best, best_confidence = (0,) * len(options), -1.0
    for solution in product(*(range(len(fields)) for fields in options)):
        chosen = [fields[number] for fields, number in zip(options, solution, strict=True)]
        confidence = _mean_relevance(chosen) * layout.similarity(solution)
        if confidence > best_confidence:
            best, best_confidence = solution, confidence
    by_attribute: list[_FieldCandidate | None] = [None] * len(candidates)
    for attribute, fields, number in zip(present, options, best, strict=True):
        by_attribute[attribute] = fields[number]
    return by_attribute, best_confidence


def _limit_combinations(candidates: Sequence[list[_FieldCandidate]]) -> list[list[_FieldCandidate]]:
    """Drop the least relevant fields of the attributes with the most fields until few enough can be combined."""
    limited = [list(fields) for fields in candidates]
    while prod(len(fields) or 1 for fields in limited) > MAX_SOLUTIONS:
        max(limited, key=len).pop()
    return limited


class _LayoutComparison:
    """Compares the distances between attributes on the seed site and on a new site.

    Args:
        seed_layout: The distance of each two attributes on the seed site.
        options: The candidate fields of each of these attributes on the new site.
    """

    def __init__(self, seed_layout: Floats, options: Sequence[Sequence[_FieldCandidate]]) -> None:
        self._seed_distances: list[float] = []
        self._distances: dict[tuple[int, int], Doubles] = {}
        for row, fields in enumerate(options):
            for column in range(row):
                self._seed_distances.append(seed_layout[row, column])
                self._distances[row, column] = _field_distances(fields, options[column])

    def similarity(self, solution: Sequence[int]) -> float:
        """Return how similar the distances on both sites are if these options are chosen; 1 for one attribute.

        It is the cosine of the logarithms.
        """
        if not self._distances:
            return 1.0
        seed_distances = np.log1p(TENTHS * np.array(self._seed_distances))
        pairs = self._distances.items()
        chosen = np.array([matrix[solution[row], solution[column]] for (row, column), matrix in pairs])
        distances = np.log1p(TENTHS * chosen)
        norms = float(np.linalg.norm(seed_distances) * np.linalg.norm(distances))
        return float(seed_distances @ distances / norms) ** LAYOUT_POWER if norms else 0.0


def _field_distances(fields: Sequence[_FieldCandidate], other_fields: Sequence[_FieldCandidate]) -> Doubles:
    return np.array([[mean_distance(field.boxes, other.boxes) for other in other_fields] for field in fields])


def _mean_relevance(fields: Sequence[_FieldCandidate]) -> float:
    """Return the geometric mean of the fields' relevance."""
    return prod(max(1e-6, field.relevance) for field in fields) ** (1 / max(1, len(fields)))


# The model


@dataclass(frozen=True)
class PaperModel:
    """What each seed site taught. A new site is labeled by the most confident of their solutions.

    Attributes:
        seeds: The knowledge of each seed site. The sites are not merged, because their layouts differ.
    """

    seeds: Sequence[SeedSite]

    @property
    def taught(self) -> Counter[str]:
        """How many sites taught each attribute."""
        taught: Counter[str] = Counter()
        for seed in self.seeds:
            taught.update(seed.attributes.keys())
        return taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> PaperModel:
        """Learn from labeled sites, and from unlabeled sites on which something is surely right.

        Raises:
            LabelError: A labeled site has no label of the schema that is found on its pages.
        """
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
            stored = {}
            for name, model in seed.attributes.items():
                stored[name] = _seed_attribute_content(model)
                arrays |= {f"{number}/{name}/{key}": getattr(model, key) for key in _ARRAYS}
            content.append({"attributes": stored})
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
    """Return what a labeled site teaches."""
    site = PaperSite(pages)
    fields = Fields(site.table)
    positive = {}
    for name, attribute in schema.attributes.items():
        examples = locate_examples(fields, labels, attribute)
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


def _seed_attribute_content(model: SeedAttribute) -> dict[str, object]:
    return {
        "intercept": model.intercept,
        "frequencies": model.frequencies,
        "contexts": sorted(model.contexts),
    }
