"""The method of "From One Tree to a Forest", as its text has it: knowledge of a seed site, adapted to a new one.

Departures: formulas that the text lost are reconstructed (the confidence of a solution is the mean relevance of its
fields; a context's relevance is the share of its features that are known); the classifier is trained on at most
`MAX_NEGATIVE` negative nodes; solutions are formed from at most `MAX_CANDIDATES` fields an attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt

from untemplate.errors import MissingExtra
from untemplate.labeling.ground import Ground, Screen
from untemplate.labeling.ground.nodes import Bools, Floats, Ints, group
from untemplate.labeling.seed.context import REDUNDANT, Context, context_of, visual_distance
from untemplate.layout import VIEWPORT, EstimatedLayout, Layout
from untemplate.page import Page

__all__ = ["Adapted", "PaperSite", "SeedAttribute", "SeedSite", "Step", "adapt", "learn_seed"]

Step = Literal["PL", "PL+IP", "PL+IP+IA"]

MAX_NEGATIVE = 3000
MAX_CANDIDATES = 8
MAX_SOLUTIONS = 20_000
# A context feature is looked up if this share of the seed's nodes has it.
CONTEXT_SHARE = 0.1
# A data field has nodes on at least this share of the pages.
MIN_SUPPORT = 0.1
# A data field less relevant than this is none: the site lacks the attribute.
THRESHOLD = 0.01

FEATURES = ("unigrams", "tokens", "characters", "types", "redundancy")


class PaperSite:
    """The text nodes of a site with the paper's features."""

    def __init__(self, pages: Sequence[Page], layout: Layout | None = None) -> None:
        self.ground = Ground(pages)
        self.boxes = Screen(self.ground, layout or EstimatedLayout()).boxes
        self.context: Context = context_of(self.ground, self.boxes)
        texts = self.ground.texts
        self.unigrams = [text.lower().split() for text in texts]
        self.tokens = np.array([len(words) for words in self.unigrams], np.float32)
        self.characters = np.array([sum(map(len, words)) for words in self.unigrams], np.float32)
        self.types = np.array([_types(text) for text in texts], np.float32).reshape(-1, 3)

    @property
    def eligible(self) -> Bools:
        """Whether each row could hold an attribute: it is not the template's own."""
        return ~self.ground.is_barred & (self.ground.redundancy[self.ground.text] <= REDUNDANT)


def _types(text: str) -> tuple[float, float, float]:
    """The shares of letters, digits and other signs among what is not white space."""
    shown = [char for char in text[:1000] if not char.isspace()]
    letters, digits = sum(map(str.isalpha, shown)), sum(map(str.isdigit, shown))
    total = max(1, len(shown))
    return letters / total, digits / total, (len(shown) - letters - digits) / total


@dataclass(frozen=True)
class SeedAttribute:
    """Semantics of one attribute: what its contents are compared with, a classifier, and three look-up tables."""

    frequencies: dict[str, float]
    mean_types: Floats
    low: Floats
    high: Floats
    support: Floats  # support vectors
    dual: Floats
    gamma: float
    intercept: float
    slope: float  # of the sigmoid that makes a probability of a distance
    offset: float
    contexts: dict[str, frozenset[str]]


@dataclass(frozen=True)
class SeedSite:
    """What one seed site taught: semantics of each attribute, and the mean distances between them."""

    attributes: dict[str, SeedAttribute]
    layout: Floats


def learn_seed(site: PaperSite, positive: dict[str, Bools]) -> SeedSite:
    """Knowledge from the rows that hold each attribute of a seed site."""
    attributes = {name: _learn(site, rows) for name, rows in positive.items() if rows.any()}
    return SeedSite(attributes, _distances(site, {name: positive[name] for name in attributes}))


def _learn(site: PaperSite, positive: Bools) -> SeedAttribute:
    ground = site.ground
    numbers = ground.text[positive]
    frequencies: dict[str, float] = {}
    for number in numbers.tolist():
        for word in set(site.unigrams[number]):
            frequencies[word] = frequencies.get(word, 0.0) + 1 / len(numbers)
    mean_types = site.types[numbers].mean(axis=0)
    raw = _raw(site, frequencies, mean_types)
    low, high = raw[numbers].min(axis=0), raw[numbers].max(axis=0)
    scaled = _scaled(raw, low, high)
    others = np.unique(ground.text[site.eligible & ~positive])
    others = np.setdiff1d(others, numbers)
    few = np.random.default_rng(0).permutation(others)[:MAX_NEGATIVE]
    classifier = _classifier(scaled[numbers][:MAX_NEGATIVE], scaled[few])
    contexts = {
        name: frozenset(site.context.texts[number] for number in _frequent(column[positive]))
        for name, column in _columns(site.context)
    }
    return SeedAttribute(frequencies, mean_types, low, high, *classifier, contexts)


def _frequent(numbers: Ints) -> Ints:
    """What enough of the nodes have in common; −1 stands for nothing."""
    found, counts = np.unique(numbers, return_counts=True)
    return found[(counts >= CONTEXT_SHARE * len(numbers)) & (found >= 0)]


def _columns(context: Context) -> list[tuple[str, Ints]]:
    return [("preceding", context.preceding), ("prefix", context.prefix), ("suffix", context.suffix)]


def _raw(site: PaperSite, frequencies: dict[str, float], mean_types: Floats) -> Floats:
    """The content features of each distinct text."""
    unigrams = [sum(frequencies.get(word, 0.0) for word in words) / len(words) for words in site.unigrams]
    lengths = np.linalg.norm(site.types, axis=1) * np.linalg.norm(mean_types)
    cosine = site.types @ mean_types / np.maximum(lengths, 1e-9)
    return np.column_stack([unigrams, site.tokens, site.characters, cosine, site.ground.redundancy]).astype(
        np.float32
    )


def _scaled(raw: Floats, low: Floats, high: Floats) -> Floats:
    """Counts between the seed's smallest and largest; what lies beyond is cut a range further."""
    scaled = raw.copy()
    for column in (1, 2):
        span = max(float(high[column] - low[column]), 1.0)
        scaled[:, column] = np.clip((raw[:, column] - low[column]) / span, -1, 2)
    return scaled


def _classifier(positive: Floats, negative: Floats) -> tuple[Floats, Floats, float, float, float, float]:
    """A support vector machine, and the sigmoid of its distances, fitted on nodes held out."""
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import SVC
    except ImportError as error:
        raise MissingExtra("models", "training") from error
    features = np.concatenate([positive, negative])
    held = np.arange(len(features)) < len(positive)
    gamma = float(1 / max(1e-6, features.shape[1] * features.var()))
    folds = np.arange(len(features)) % 3
    distances = np.zeros(len(features))
    for fold in range(3):
        train = folds != fold
        if held[train].all() or not held[train].any():
            continue
        distances[~train] = (
            SVC(gamma=gamma, class_weight="balanced")
            .fit(features[train], held[train])
            .decision_function(features[~train])
        )
    machine = SVC(gamma=gamma, class_weight="balanced").fit(features, held)
    sigmoid = LogisticRegression().fit(distances[:, None], held)
    return (
        machine.support_vectors_.astype(np.float32),
        machine.dual_coef_[0].astype(np.float32),
        gamma,
        float(machine.intercept_[0]),
        float(sigmoid.coef_[0, 0]),
        float(sigmoid.intercept_[0]),
    )


def _distances(site: PaperSite, positive: dict[str, Bools]) -> Floats:
    """The mean visual distance of each two attributes over the pages that have both, by the window's width."""
    centers = {name: _first_boxes(site, np.flatnonzero(rows)) for name, rows in positive.items()}
    return _layout_matrix(list(centers.values()))


def _first_boxes(site: PaperSite, rows: npt.NDArray[np.integer]) -> dict[int, npt.NDArray[np.float32]]:
    pages, first = np.unique(site.ground.page[rows], return_index=True)
    return dict(zip(pages.tolist(), site.boxes[rows[first]], strict=True))


def _layout_matrix(boxes: Sequence[dict[int, npt.NDArray[np.float32]]]) -> Floats:
    matrix = np.zeros((len(boxes), len(boxes)), np.float32)
    for i, one in enumerate(boxes):
        for j, other in enumerate(boxes[:i]):
            both = one.keys() & other.keys()
            if both:
                distance = visual_distance(
                    np.array([one[page] for page in both]), np.array([other[page] for page in both])
                )
                matrix[i, j] = matrix[j, i] = float(distance.mean()) / VIEWPORT
    return matrix


# Adapting to a new site


@dataclass
class Adapted:
    """Where each attribute stands on a new site: its rows, one a page, and how sure."""

    rows: dict[str, Ints] = field(default_factory=dict)
    relevance: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.0


def adapt(site: PaperSite, seeds: Sequence[SeedSite], step: Step = "PL+IP+IA") -> Adapted:
    """Adapt the knowledge of each seed site by itself; the most confident solution is taken, as in the paper."""
    solutions = [_adapt(site, seed, step) for seed in seeds]
    best = Adapted()
    for solution in sorted(solutions, key=lambda one: -one.confidence):
        for name in solution.rows.keys() - best.rows.keys():
            best.rows[name], best.relevance[name] = solution.rows[name], solution.relevance[name]
        best.confidence = max(best.confidence, solution.confidence)
    return best


def _adapt(site: PaperSite, seed: SeedSite, step: Step) -> Adapted:
    relevance = {name: _relevance(site, known) for name, known in seed.attributes.items()}
    if not len(site.ground):
        return Adapted()
    if step == "PL":
        rows = {name: _best_rows(site, scores, site.eligible) for name, scores in relevance.items()}
        found = {name: float(relevance[name][chosen].mean()) for name, chosen in rows.items()}
        return Adapted(rows, found, float(np.mean(list(found.values()))))
    context = site.context
    fields = group(site.ground.path, context.preceding, context.prefix, context.suffix)
    usable = _usable(site, fields)
    candidates: list[list[tuple[int, float]]] = []
    for scores in relevance.values():
        means = np.where(usable, np.bincount(fields, scores) / np.bincount(fields), 0)
        order = np.argsort(-means, kind="stable")[: MAX_CANDIDATES + 1]
        if step == "PL+IP":
            kept = 1
        else:
            drops = means[order[:-1]] - means[order[1:]]
            kept = int(np.argmax(drops)) + 1 if len(drops) else 1
        candidates.append([(int(number), float(means[number])) for number in order[:kept]])
    chosen, confidence = _best_solution(site, seed, fields, candidates, list(relevance.values()))
    rows, found = {}, {}
    for (name, scores), (number, mean) in zip(relevance.items(), chosen, strict=True):
        if mean >= THRESHOLD:
            rows[name], found[name] = _best_rows(site, scores, fields == number), mean
    return Adapted(rows, found, confidence)


def _relevance(site: PaperSite, known: SeedAttribute) -> Floats:
    """Of each row: the larger of what its content and its context say."""
    scaled = _scaled(_raw(site, known.frequencies, known.mean_types), known.low, known.high)
    distances = np.concatenate(
        [_decision(known, part) for part in np.array_split(scaled, max(1, len(scaled) // 2000))]
    )
    content = 1 / (1 + np.exp(-np.clip(known.slope * distances + known.offset, -30, 30)))
    matched, present = np.zeros(len(site.ground)), np.zeros(len(site.ground))
    for name, column in _columns(site.context):
        match = np.array([text in known.contexts[name] for text in site.context.texts] + [False], np.bool_)
        matched += match[column]
        present += column >= 0
    context = matched / np.maximum(1, present)
    return np.maximum(content[site.ground.text], context).astype(np.float32)


def _decision(known: SeedAttribute, features: Floats) -> npt.NDArray[np.float64]:
    square = ((features[:, None, :] - known.support[None]) ** 2).sum(axis=2)
    distances: npt.NDArray[np.float64] = np.exp(-known.gamma * square) @ known.dual.astype(np.float64)
    return distances + known.intercept


def _usable(site: PaperSite, fields: Ints) -> Bools:
    """Fields with nodes on enough pages that are not all the template's own."""
    ground = site.ground
    pages = np.unique(fields.astype(np.int64) * len(ground.pages) + ground.page) // len(ground.pages)
    support = np.bincount(pages) / len(ground.pages)
    eligible = np.bincount(fields, site.eligible) / np.bincount(fields)
    return (support >= MIN_SUPPORT) & (eligible > 0.5)


def _best_rows(site: PaperSite, scores: Floats, among: Bools) -> Ints:
    """The best of some rows on each page."""
    rows = np.flatnonzero(among)
    order = rows[np.lexsort((rows, -scores[rows], site.ground.page[rows]))]
    return order[np.unique(site.ground.page[order], return_index=True)[1]].astype(np.int32)


def _best_solution(
    site: PaperSite,
    seed: SeedSite,
    fields: Ints,
    candidates: list[list[tuple[int, float]]],
    scores: Sequence[Floats],
) -> tuple[list[tuple[int, float]], float]:
    """The combination of fields with the highest confidence: semantics times likeness of the layout."""
    while np.prod([len(each) for each in candidates], dtype=float) > MAX_SOLUTIONS:
        longest = max(candidates, key=len)
        longest.pop()
    boxes = [
        {number: _first_boxes(site, _best_rows(site, score, fields == number)) for number, _ in each}
        for each, score in zip(candidates, scores, strict=True)
    ]
    pairs = {
        (i, m, j, n): _layout_matrix([boxes[i][m], boxes[j][n]])[0, 1]
        for i in range(len(candidates))
        for j in range(i)
        for m in boxes[i]
        for n in boxes[j]
    }
    best, best_confidence = [each[0] for each in candidates], -1.0
    for solution in product(*candidates):
        semantic = float(np.mean([mean for _, mean in solution]))
        confidence = semantic * _likeness(seed.layout, solution, pairs)
        if confidence > best_confidence:
            best, best_confidence = list(solution), confidence
    return best, best_confidence


def _likeness(
    layout: Floats, solution: Sequence[tuple[int, float]], pairs: dict[tuple[int, int, int, int], np.float32]
) -> float:
    """The cosine of the seed's layout matrix and the solution's."""
    if len(solution) < 2:
        return 1.0
    matrix = np.zeros_like(layout)
    for i, (m, _) in enumerate(solution):
        for j, (n, _) in enumerate(solution[:i]):
            matrix[i, j] = matrix[j, i] = pairs[i, m, j, n]
    norms = float(np.linalg.norm(matrix) * np.linalg.norm(layout))
    return float((matrix * layout).sum()) / norms if norms else 0.0
