"""The method of "From One Tree to a Forest": knowledge of a seed site, adapted to a new one.

Formulas that the text lost are reconstructed: a solution's confidence is the geometric mean of its fields' relevance,
times the cosine of the two layout matrices; a context is relevant as far as its words are those of a known one.
Departures:
- What precedes a value on one site is its prefix on another, so the three kinds of context have one look-up table.
  Only what mostly stands with the attribute on the seed site is in it, and one match is enough.
- Static text, text that is not shown and mere punctuation are no data.
- The unigram feature of a seed's own nodes counts the other nodes' words only, as for a new site's.
- The sigmoid of a classifier's distances is fixed: fitted on the seed site it is too sure of another.
- A field's mean relevance is multiplied with the share of the pages that it is on.
- The classifier is trained on some of the nodes; solutions are formed from a few fields an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from untemplate.errors import MissingExtra
from untemplate.labeling.nodes import NodeTable, Screen
from untemplate.labeling.seed.context import (
    REDUNDANT,
    Context,
    best_match,
    context_of,
    page_shares,
    visual_distance,
)
from untemplate.layout import VIEWPORT, EstimatedLayout, Layout
from untemplate.page import Page
from untemplate.page.arrays import Bools, Floats, Ints, count_distinct, group_rows

__all__ = [
    "Adapted",
    "PaperSite",
    "SeedAttribute",
    "SeedSite",
    "adapt",
    "adapt_fields",
    "adapt_jointly",
    "adapt_pages",
    "learn_seed",
    "merge_solutions",
]

MAX_POSITIVE, MAX_NEGATIVE = 1000, 2000
MAX_CANDIDATES = 8
MAX_SOLUTIONS = 3000
# Of the radial kernel. Weak on purpose: F1 of labels on SWDE 0.682 with these, 0.646 with 2 and 1, three seed sites a
# vertical; with each site as seed 0.706, and 0.695 with 0.2 and 10.
GAMMA, PENALTY = 0.5, 10.0
# Of the sigmoid; 0.697 with 1, 0.701 with 4, 0.717 with this.
SLOPE = 2.0
# Unigrams as frequent as those of the most typical tenth of the seed's nodes count as 1.
TYPICAL = 0.9
# Counts are at most so many times the largest of the seed's nodes.
MAX_COUNT = 2.0
# A context is known if this share of the seed's nodes has it, and this share of what has it are the seed's nodes.
# 0.03 to 0.3 are alike, and 0.2 to 0.8.
CONTEXT_SHARE, CONTEXT_PRECISION = 0.1, 0.3
# A data field has nodes on at least this share of the pages; 0.1 to 0.4 are alike.
MIN_SUPPORT = 0.2
# A data field less relevant than this is none: the site lacks the attribute.
THRESHOLD = 0.01

FEATURES = ("unigrams", "tokens", "characters", "types", "redundancy")


class PaperSite:
    """The text nodes of a site with the paper's features."""

    def __init__(self, pages: Sequence[Page], layout: Layout | None = None) -> None:
        self.table = table = NodeTable(pages)
        screen = Screen(table, layout or EstimatedLayout())
        self.boxes = screen.boxes
        #: whether each row could hold an attribute: it is shown, and not the template's own
        self.eligible: Bools = ~table.is_excluded & screen.is_shown & (self.boxes[:, 3] > 0)
        if len(table):
            worded = np.array([any(map(str.isalnum, text)) for text in table.texts], np.bool_)
            self.eligible &= worded[table.text]
            self.eligible &= page_shares(table, group_rows(table.path, table.text)) <= REDUNDANT
        self.context: Context = context_of(table, self.boxes, self.eligible)
        self.unigrams = [text.lower().split() for text in table.texts]
        self.tokens = np.array([len(words) for words in self.unigrams], np.float32)
        self.characters = np.array([sum(map(len, words)) for words in self.unigrams], np.float32)
        self.types = np.array([_types(text) for text in table.texts], np.float32).reshape(-1, 3)
        count = len(table.pages)
        #: on which share of the other pages each text stands: small and large sites are alike
        self.redundancy = ((table.redundancy * count - 1) / max(1, count - 1)).astype(np.float32)


def _types(text: str) -> tuple[float, float, float]:
    """Return the shares of letters, digits and other signs among the characters that are no white space."""
    shown = [char for char in text[:1000] if not char.isspace()]
    letters, digits = sum(map(str.isalpha, shown)), sum(map(str.isdigit, shown))
    total = max(1, len(shown))
    return letters / total, digits / total, (len(shown) - letters - digits) / total


@dataclass(frozen=True)
class SeedAttribute:
    """Semantics of one attribute: what its contents are compared with, a classifier, and a look-up table."""

    frequencies: dict[str, float]
    mean_types: Floats
    high: Floats  # what counts as 1: typical unigrams, the most tokens, the most characters
    support: Floats  # support vectors
    dual: Floats
    intercept: float
    contexts: frozenset[str]


@dataclass(frozen=True)
class SeedSite:
    """What one seed site taught: semantics of each attribute, and the mean distances between them."""

    attributes: dict[str, SeedAttribute]
    layout: Floats


def learn_seed(site: PaperSite, positive: dict[str, Bools]) -> SeedSite:
    """Learn from the rows of a seed site that contain each attribute."""
    attributes = {name: _learn(site, rows) for name, rows in positive.items() if rows.any()}
    return SeedSite(attributes, _distances(site, {name: positive[name] for name in attributes}))


def _learn(site: PaperSite, positive: Bools) -> SeedAttribute:
    table = site.table
    numbers = table.text[positive]
    frequencies: dict[str, float] = {}
    for number in numbers.tolist():
        for word in set(site.unigrams[number]):
            frequencies[word] = frequencies.get(word, 0.0) + 1 / len(numbers)
    mean_types = site.types[numbers].mean(axis=0)
    elsewhere = _elsewhere(site, numbers, frequencies)
    high = np.array(
        [
            max(1e-6, float(np.quantile(elsewhere, TYPICAL))),
            max(1.0, float(site.tokens[numbers].max())),
            max(1.0, float(site.characters[numbers].max())),
        ],
        np.float32,
    )
    features = _features(site, frequencies, mean_types, high)
    own = features[numbers]
    own[:, 0] = np.clip(elsewhere / high[0], 0, 1)
    others = table.text[site.eligible & ~positive]
    others = others[~np.isin(others, numbers)]
    shuffled = np.random.default_rng(0)
    few = shuffled.permutation(others)[:MAX_NEGATIVE]
    classifier = _classifier(shuffled.permutation(own)[:MAX_POSITIVE], features[few])
    contexts = frozenset(
        site.context.texts[number]
        for column in site.context[1:]
        for number in _telling(column, positive, site.eligible)
    )
    return SeedAttribute(frequencies, mean_types, high, *classifier, contexts)


def _elsewhere(site: PaperSite, numbers: Ints, frequencies: dict[str, float]) -> Floats:
    """Return the unigram feature of the seed's nodes, each computed from all the other nodes."""
    count = len(numbers)
    means = [np.mean([frequencies[word] for word in site.unigrams[number]]) for number in numbers.tolist()]
    return np.maximum(0, (np.array(means) * count - 1) / max(1, count - 1)).astype(np.float32)


def _telling(column: Ints, positive: Bools, eligible: Bools) -> list[int]:
    """Return contexts that enough of the positive rows have, and few other rows."""
    found, counts = np.unique(column[positive], return_counts=True)
    everywhere = np.bincount(column[eligible | positive] + 1, minlength=int(column.max()) + 2)
    enough = (counts >= CONTEXT_SHARE * positive.sum()) & (
        counts >= CONTEXT_PRECISION * everywhere[found + 1]
    )
    return [int(number) for number in found[enough & (found >= 0)]]


def _features(site: PaperSite, frequencies: dict[str, float], mean_types: Floats, high: Floats) -> Floats:
    """Return the content features of each distinct text, mostly from 0 to 1."""
    unigrams = [sum(frequencies.get(word, 0.0) for word in words) / len(words) for words in site.unigrams]
    lengths = np.linalg.norm(site.types, axis=1) * np.linalg.norm(mean_types)
    cosine = site.types @ mean_types / np.maximum(lengths, 1e-9)
    return np.column_stack(
        [
            np.clip(np.array(unigrams) / high[0], 0, 1),
            np.clip(site.tokens / high[1], 0, MAX_COUNT),
            np.clip(site.characters / high[2], 0, MAX_COUNT),
            cosine,
            site.redundancy,
        ]
    ).astype(np.float32)


def _classifier(positive: Floats, negative: Floats) -> tuple[Floats, Floats, float]:
    """Train a support vector machine and return its support vectors, their weights, and its intercept."""
    try:
        from sklearn.svm import SVC
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    if not len(negative):
        return np.zeros((0, len(FEATURES)), np.float32), np.zeros(0, np.float32), 0.0
    features = np.concatenate([positive, negative])
    held = np.arange(len(features)) < len(positive)
    machine = SVC(gamma=GAMMA, C=PENALTY).fit(features, held)
    return (
        machine.support_vectors_.astype(np.float32),
        machine.dual_coef_[0].astype(np.float32),
        float(machine.intercept_[0]),
    )


_Boxes = dict[int, npt.NDArray[np.float32]]
"""page → x, y, width, height"""


def _distances(site: PaperSite, positive: dict[str, Bools]) -> Floats:
    """Return the mean distance of each two attributes on pages that have both, relative to the window's width."""
    boxes = [_boxes(site, np.flatnonzero(rows)) for rows in positive.values()]
    return np.array([[_distance(one, other) for other in boxes] for one in boxes], np.float32)


def _boxes(site: PaperSite, rows: npt.NDArray[np.integer]) -> _Boxes:
    """Return the box of the first of these rows on each page."""
    pages, first = np.unique(site.table.page[rows], return_index=True)
    return dict(zip(pages.tolist(), site.boxes[rows[first]], strict=True))


def _distance(one: _Boxes, other: _Boxes) -> float:
    both = sorted(one.keys() & other.keys())
    if not both:
        return 0.0
    apart = visual_distance(np.array([one[page] for page in both]), np.array([other[page] for page in both]))
    return float(apart.mean()) / VIEWPORT


# Adapting to a new site


@dataclass
class Adapted:
    """The rows of each attribute on a new site, one per page, and their relevance."""

    rows: dict[str, Ints] = field(default_factory=dict)
    relevance: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.0


def adapt(site: PaperSite, seeds: Sequence[SeedSite]) -> Adapted:
    """Adapt the knowledge of each seed site to a new site, and return the most confident solution."""
    return merge_solutions([adapt_jointly(site, seed) for seed in seeds])


def merge_solutions(solutions: Sequence[Adapted]) -> Adapted:
    """Return the most confident solution, as in the paper; attributes that it lacks come from the next ones."""
    best = Adapted()
    for solution in sorted(solutions, key=lambda one: -one.confidence):
        for name in solution.rows.keys() - best.rows.keys():
            best.rows[name], best.relevance[name] = solution.rows[name], solution.relevance[name]
        best.confidence = max(best.confidence, solution.confidence)
    return best


def adapt_pages(site: PaperSite, seed: SeedSite) -> Adapted:
    """Choose the most relevant node of each page by itself: the paper's step PL."""
    if not site.eligible.any():
        return Adapted()
    relevance = {name: _relevance(site, model) for name, model in seed.attributes.items()}
    rows = {name: _best_rows(site, scores, site.eligible) for name, scores in relevance.items()}
    means = {name: float(relevance[name][chosen].mean()) for name, chosen in rows.items()}
    return Adapted(rows, means, float(np.mean(list(means.values()))))


def adapt_fields(site: PaperSite, seed: SeedSite) -> Adapted:
    """Choose the most relevant field of the site for each attribute: the paper's steps PL+IP."""
    return _adapt(site, seed, lambda means: 1)


def adapt_jointly(site: PaperSite, seed: SeedSite) -> Adapted:
    """Choose the fields of all attributes together, by relevance and layout: the paper's steps PL+IP+IA."""
    return _adapt(site, seed, _count_before_drop)


def _count_before_drop(means: Floats) -> int:
    """Return how many fields come before the largest drop in relevance."""
    drops = means[:-1] - means[1:]
    return int(np.argmax(drops)) + 1 if len(drops) else 1


def _adapt(site: PaperSite, seed: SeedSite, count: Callable[[Floats], int]) -> Adapted:
    """Choose fields among the first of each attribute, `count` of them, given their relevance in descending order."""
    if not site.eligible.any():
        return Adapted()
    context = site.context
    kinds = group_rows(site.table.path, context.preceding, context.prefix, context.suffix)
    fields = np.where(site.eligible, kinds, -1)
    relevances = [_relevance(site, model) for model in seed.attributes.values()]
    candidates = [_find_candidates(site, fields, scores, count) for scores in relevances]
    chosen, confidence = _best_solution(seed, candidates)
    rows, relevance = {}, {}
    for name, candidate in zip(seed.attributes, chosen, strict=True):
        if candidate and candidate.relevance >= THRESHOLD:
            rows[name], relevance[name] = candidate.rows, candidate.relevance
    return Adapted(rows, relevance, confidence)


def _find_candidates(
    site: PaperSite, fields: Ints, scores: Floats, count: Callable[[Floats], int]
) -> list[_Candidate]:
    means = _means(site, fields, scores)
    order = np.argsort(-means, kind="stable")[: MAX_CANDIDATES + 1]
    candidates = []
    for number in order[: count(means[order])]:
        rows = _best_rows(site, scores, fields == number)
        if len(rows):
            candidates.append(_Candidate(rows, float(means[number]), _boxes(site, rows)))
    return candidates


def _relevance(site: PaperSite, known: SeedAttribute) -> Floats:
    """Return the relevance of each row: by its content or by its context, whichever is larger."""
    features = _features(site, known.frequencies, known.mean_types, known.high)
    parts = np.array_split(features, max(1, len(features) // 2000))
    distances = np.concatenate([_decision(known, part) for part in parts])
    content = 1 / (1 + np.exp(-SLOPE * np.clip(distances, -3, 3)))
    relevance: Floats = content[site.table.text].astype(np.float32)
    matches = np.zeros(len(site.context.texts) + 1, np.float32)
    for column in site.context[1:]:
        for number in np.unique(column[column >= 0]).tolist():
            matches[number] = best_match(site.context.texts[number], known.contexts)
        relevance = np.maximum(relevance, matches[column])
    return relevance


def _decision(known: SeedAttribute, features: Floats) -> npt.NDArray[np.float64]:
    square = (features**2).sum(axis=1)[:, None] + (known.support**2).sum(axis=1)
    square -= 2 * features @ known.support.T
    distances: npt.NDArray[np.float64] = np.exp(-GAMMA * square) @ known.dual.astype(np.float64)
    return distances + known.intercept


def _means(site: PaperSite, fields: Ints, scores: Floats) -> Floats:
    """Return the mean relevance of each field's rows, times its share of the pages; 0 for fields on few pages."""
    table, rows = site.table, fields >= 0
    pages = len(table.pages)
    support = count_distinct(fields[rows], table.page[rows]) / pages
    means = np.bincount(fields[rows], scores[rows]) / np.maximum(1, np.bincount(fields[rows]))
    relevance: Floats = np.where(support >= MIN_SUPPORT, means * support, 0).astype(np.float32)
    return relevance


def _best_rows(site: PaperSite, scores: Floats, among: Bools) -> Ints:
    """Return the best of the eligible rows on each page."""
    rows = np.flatnonzero(among)
    order = rows[np.lexsort((rows, -scores[rows], site.table.page[rows]))]
    return order[np.unique(site.table.page[order], return_index=True)[1]].astype(np.int32)


@dataclass(frozen=True)
class _Candidate:
    """A field that may contain an attribute: one row per page, and where they are."""

    rows: Ints
    relevance: float
    boxes: _Boxes


def _best_solution(
    seed: SeedSite, candidates: list[list[_Candidate]]
) -> tuple[list[_Candidate | None], float]:
    """Return the combination of fields with the highest confidence: relevance times similarity of the layout."""
    while prod(len(fields) or 1 for fields in candidates) > MAX_SOLUTIONS:
        max(candidates, key=len).pop()
    present = [number for number, fields in enumerate(candidates) if fields]
    options = [candidates[number] for number in present]
    pairs = [(i, j) for i in range(len(options)) for j in range(i)]
    seed_distances = np.array([seed.layout[present[i], present[j]] for i, j in pairs])
    distances = {(i, j): _field_distances(options[i], options[j]) for i, j in pairs}
    best, best_confidence = (0,) * len(options), -1.0
    for solution in product(*map(range, map(len, options))):
        apart = np.array([distances[i, j][solution[i], solution[j]] for i, j in pairs])
        chosen = [fields[number] for fields, number in zip(options, solution, strict=True)]
        confidence = _mean_relevance(chosen) * _likeness(seed_distances, apart)
        if confidence > best_confidence:
            best, best_confidence = solution, confidence
    by_attribute: list[_Candidate | None] = [None] * len(candidates)
    for attribute, fields, number in zip(present, options, best, strict=True):
        by_attribute[attribute] = fields[number]
    return by_attribute, best_confidence


def _field_distances(fields: Sequence[_Candidate], others: Sequence[_Candidate]) -> npt.NDArray[np.float64]:
    return np.array([[_distance(field.boxes, other.boxes) for other in others] for field in fields])


def _mean_relevance(fields: Sequence[_Candidate]) -> float:
    """Return the geometric mean of the fields' relevance."""
    return prod(max(1e-6, field.relevance) for field in fields) ** (1 / max(1, len(fields)))


def _likeness(one: npt.NDArray[np.floating], other: npt.NDArray[np.floating]) -> float:
    """Return the cosine of the distances between attributes on two sites."""
    if not len(one):
        return 1.0
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / norms if norms else 0.0
