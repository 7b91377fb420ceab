"""Find the best field of each attribute on a new site: evidence is ranked alone, then jointly, then judged.

A ranker is a conditional logit: the probability of a field is its share of the exponentials of all fields' scores.
The sign of each weight is fixed, which keeps a ranker trained on few verticals from learning their peculiarities.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from untemplate.labeling.seed.attribute_model import EVIDENCE, NAME_ONLY, SIGNS, AttributeModel, mean_evidence
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.page.arrays import Bools, Doubles, Floats, Ints
from untemplate.schema import Attribute, Schema

__all__ = [
    "JOINT",
    "JOINT_SIGNS",
    "JUDGED",
    "JUDGE_SIGNS",
    "BestField",
    "CandidateFields",
    "Rankers",
    "find_best_fields",
    "find_candidates",
    "find_other_fields",
    "gather_joint_evidence",
    "join_fields",
    "judge_evidence",
    "load_rankers",
    "rank_jointly",
    "softmax",
]

FILE = "rankers.json"


@dataclass(frozen=True)
class Rankers:
    """Weights of evidence that are the same for all verticals.

    They come with the package, trained on the made-up web by `python -m benchmarks.train.rankers`.

    Attributes:
        evidence: Weights of the evidence for a field by itself.
        joint: Weights of the evidence from the other attributes.
        judge: Weights, and the intercept, for the probability that the best field is right.
    """

    evidence: dict[str, float]
    joint: dict[str, float]
    judge: dict[str, float]

    def score(self, columns: Floats, names: Iterable[str]) -> Doubles:
        """Return the score of each candidate field by its own evidence."""
        return _weighted_sum(columns, [self.evidence[name] for name in names])

    def score_jointly(self, columns: Floats, names: Iterable[str]) -> Doubles:
        """Return the score of each candidate field, given the other attributes."""
        return _weighted_sum(columns, [self.joint[name] for name in names])

    def confidence(self, columns: Floats, names: Sequence[str]) -> float:
        """Return the probability that the best field is right."""
        score = float(_weighted_sum(columns, [self.judge[name] for name in names])) + self.judge["intercept"]
        return float(1 / (1 + np.exp(-score)))


def _weighted_sum(columns: Floats, weights: Sequence[float]) -> Doubles:
    scores: Doubles = columns.astype(np.float64) @ np.array(weights)
    return scores


@cache
def load_rankers() -> Rankers:
    """Return the rankers that come with the package."""
    text = (resources.files("untemplate.labeling.seed") / FILE).read_text("utf-8")
    return Rankers(**json.loads(text))


def softmax(scores: Doubles) -> Doubles:
    """Return scores as probabilities that sum to 1."""
    raised: Doubles = np.exp(scores - scores.max(initial=-np.inf))
    total: Doubles = raised / raised.sum()
    return total


# Choosing fields

JOINT_SIGNS: dict[str, int] = {
    "score": +1,
    "taken": -1,  # the probability that the field's rows contain another attribute
    "nearest": -1,  # logarithm of the rows between it and the nearest of the other attributes
    "spread": -1,  # the mean of that over all other attributes
}
JOINT = tuple(JOINT_SIGNS)

# Rounds in which each attribute is ranked given the current ranks of all others.
JOINT_ROUNDS = 2
# Distances are measured to this many of the most probable fields of another attribute, if they are probable enough.
# Set by hand, as is the next; with both, 0.934 of F1 on SWDE's fields became 0.940, counted once.
MAX_NEIGHBORS, MIN_NEIGHBOR_PROBABILITY = 5, 0.02
# If a typed value, such as a date, is this share of its text, then it is among other words.
AMONG_WORDS = (0.1, 0.8)

JUDGE_SIGNS: dict[str, int] = {
    "chance": +1,  # the probability of the best field with its duplicates
    **{name: JOINT_SIGNS[name] for name in ("score", "taken", "nearest")},
    **SIGNS,
}
JUDGED = tuple(JUDGE_SIGNS)
_NAME_COLUMNS = [EVIDENCE.index("named"), EVIDENCE.index("named mark")]


# Fields of one attribute, and the confidence of those after the first. From 0.05 to 0.3 the F1 of labels is the same
# within 0.006 on made-up sites of each of three verticals, where these fields are worth 0.1 and more, and within
# 0.001 on each vertical of SWDE, where they are worth up to 0.01.
MAX_FIELDS, MIN_OTHER_CONFIDENCE = 5, 0.2
# The share of its pages that a further field may have in common with the fields before it: this happens by chance.
MAX_SHARED_PAGES = 0.1


@dataclass(frozen=True)
class CandidateFields:
    """The candidate fields of one attribute.

    Attributes:
        fields: The numbers of the fields.
        evidence: The evidence for each field by itself; `EVIDENCE` names the columns.
        joint: The evidence for each from the other attributes; `JOINT` names the columns.
        score: The score of each, given all evidence.
    """

    fields: Ints
    evidence: Floats
    joint: Floats
    score: Doubles

    def among(self, chosen: Ints) -> CandidateFields:
        """Return some of the candidates, by their positions."""
        return CandidateFields(
            self.fields[chosen], self.evidence[chosen], self.joint[chosen], self.score[chosen]
        )


@dataclass(frozen=True)
class BestField:
    """The best field of an attribute, all rows that contain it, and how sure that is."""

    field: int
    rows: Ints
    confidence: float


def find_best_fields(
    site: SiteFields, teachers: Mapping[str, Sequence[AttributeModel]], schema: Schema, rankers: Rankers
) -> dict[str, BestField]:
    """Return the best field for each attribute that has any candidate.

    Args:
        site: The fields of a new site.
        teachers: What other sites taught, by attribute; attributes without a model are searched by their name.
        schema: The attributes to search.
        rankers: Weigh the evidence.
    """
    fields: dict[str, Ints] = {}
    evidence: dict[str, Floats] = {}
    for name, attribute in schema.attributes.items():
        candidates, columns = _find_candidates_of(site, attribute, teachers.get(name, ()))
        if len(candidates):
            fields[name], evidence[name] = candidates, columns
    ranked = rank_jointly(site, schema.attributes, fields, evidence, rankers)
    return {name: _best_field(site, candidates, rankers) for name, candidates in ranked.items()}


def _find_candidates_of(
    site: SiteFields, attribute: Attribute, teachers: Sequence[AttributeModel]
) -> tuple[Ints, Floats]:
    """Return the candidate fields of an attribute and the evidence for each, the mean over all teachers.

    Without a teacher, only fields with the attribute's name in their captions or class names are candidates.
    """
    models = teachers or [NAME_ONLY]
    fields = find_candidates(site, attribute, models)
    if not len(fields):
        return fields, np.zeros((0, len(EVIDENCE)), np.float32)
    columns = mean_evidence(site, fields, attribute, models)
    if teachers:
        return fields, columns
    named = columns[:, _NAME_COLUMNS].max(axis=1) > 0
    return fields[named], columns[named]


def find_candidates(site: SiteFields, attribute: Attribute, models: Sequence[AttributeModel]) -> Ints:
    """Return the fields that may contain an attribute, given what is known about its values."""
    spans_nodes = any(model.spans_nodes for model in models)
    crossed_out = any(model.crossed_out for model in models)
    return site.candidates(attribute, spans_nodes, crossed_out)


def _best_field(site: SiteFields, candidates: CandidateFields, rankers: Rankers) -> BestField:
    """Return the candidate with the best score, joined with fields that contain the attribute on other pages."""
    best = int(np.argmax(candidates.score))
    field = int(candidates.fields[best])
    confidence = rankers.confidence(judge_evidence(site, candidates, best), JUDGED)
    parts = [(site.fields.rows_of(field), confidence)]
    if confidence >= MIN_OTHER_CONFIDENCE:
        parts += find_other_fields(site, candidates, parts[0][0], rankers)
    return BestField(field, *join_fields(parts))


def find_other_fields(
    site: SiteFields, candidates: CandidateFields, rows: Ints, rankers: Rankers
) -> Iterator[tuple[Ints, float]]:
    """Yield the rows of the best fields on pages where an attribute has no row yet, each with its confidence.

    A template may put a value in different places: as a link or not, before or after an optional part.
    """
    fields, table = site.fields, site.table
    covered = np.zeros(len(table.pages), np.bool_)
    for _ in range(MAX_FIELDS - 1):
        covered[table.page[rows]] = True
        shared = fields.mean(covered[table.page])[candidates.fields]
        others = candidates.among(np.flatnonzero(shared <= MAX_SHARED_PAGES).astype(np.int32))
        if not len(others.fields):
            break
        best = int(np.argmax(others.score))
        confidence = rankers.confidence(judge_evidence(site, others, best), JUDGED)
        if confidence < MIN_OTHER_CONFIDENCE:
            break
        rows = fields.rows_of(int(others.fields[best]))
        rows = rows[~covered[table.page[rows]]]
        yield rows, confidence


def join_fields(parts: Sequence[tuple[Ints, float]]) -> tuple[Ints, float]:
    """Return the rows of several fields in page order, and their mean confidence."""
    sizes = [len(rows) for rows, _ in parts]
    confidence = float(np.average([chance for _, chance in parts], weights=sizes))
    return np.sort(np.concatenate([rows for rows, _ in parts])), confidence


def judge_evidence(site: SiteFields, candidates: CandidateFields, best: int) -> Floats:
    """Return the input of the judge: the probability of the best field with its duplicates, and evidence."""
    fields = site.fields
    chance = softmax(candidates.score)
    inside = np.zeros(len(site.table), np.bool_)
    inside[fields.rows_of(int(candidates.fields[best]))] = True
    same = fields.mean(inside)[candidates.fields] > 0.5
    columns = [[chance[same].sum()], candidates.joint[best, :3], candidates.evidence[best]]
    return np.concatenate(columns).astype(np.float32)


# Attributes together


def rank_jointly(
    site: SiteFields,
    attributes: Mapping[str, Attribute],
    fields: dict[str, Ints],
    evidence: dict[str, Floats],
    rankers: Rankers,
) -> dict[str, CandidateFields]:
    """Return each attribute's candidate fields with scores that depend on the candidates of all other attributes.

    A field contains one attribute only, and the attributes of a record are near each other.

    Args:
        site: The fields of a new site.
        attributes: The attributes by name.
        fields: The candidate fields of each attribute.
        evidence: The evidence for each of them by itself.
        rankers: Weigh the evidence.
    """
    alone = {name: rankers.score(columns, EVIDENCE) for name, columns in evidence.items()}
    scores, joint = alone, {}
    for _ in range(JOINT_ROUNDS):
        joint = gather_joint_evidence(site, attributes, fields, alone, scores)
        scores = {name: rankers.score_jointly(columns, JOINT) for name, columns in joint.items()}
    return {
        name: CandidateFields(fields[name], evidence[name], joint[name], score)
        for name, score in scores.items()
    }


def gather_joint_evidence(
    site: SiteFields,
    attributes: Mapping[str, Attribute],
    candidates: dict[str, Ints],
    scores: dict[str, Doubles],
    current: dict[str, Doubles],
) -> dict[str, Floats]:
    """Return the evidence for each attribute's candidates from other attributes; `JOINT` names the columns.

    Args:
        site: The fields of a new site.
        attributes: The attributes by name.
        candidates: The candidate fields of each attribute.
        scores: Their scores by their own evidence.
        current: Their current scores: alone at first, jointly in later rounds.
    """
    fields, table = site.fields, site.table
    position = fields.mean(table.first - table.starts[table.page])
    is_alone, taken, distances = {}, {}, {}
    for name, values in current.items():
        chance = softmax(values)
        is_alone[name] = ~_among_words(site, attributes[name])
        taken[name] = _taken_share(site, candidates[name], chance) * is_alone[name]
        distances[name] = _mean_log_distance(position, candidates[name], chance)
    evidence = {}
    for name, score in scores.items():
        columns = np.zeros((3, len(score)))
        other_names = [other for other in scores if other != name]
        if other_names:
            away = np.array([distances[other] for other in other_names])
            taken_by_others = np.max([taken[other] for other in other_names], axis=0) * is_alone[name]
            columns = np.array([taken_by_others, away.min(axis=0), away.mean(axis=0)])[:, candidates[name]]
        evidence[name] = np.column_stack([score, *columns]).astype(np.float32)
    return evidence


def _taken_share(site: SiteFields, candidates: Ints, chance: Doubles) -> Floats:
    """Return for each field of a site the mean probability that its rows contain an attribute, or are part of it."""
    fields = site.fields
    of_fields = np.zeros(len(fields))
    of_fields[candidates] = chance
    of_rows = np.zeros(len(site.table))
    np.maximum.at(of_rows, fields.row, of_fields[fields.field])
    for row in np.flatnonzero(site.table.spans_nodes & (of_rows > 0)).tolist():
        inside = site.table.rows_inside(row)
        of_rows[inside] = np.maximum(of_rows[inside], of_rows[row])
    return fields.mean(of_rows)


def _mean_log_distance(position: Floats, candidates: Ints, chance: Doubles) -> Doubles:
    """Return for each field the mean distance, as logarithm, to the most probable fields of an attribute."""
    best = np.argsort(-chance, kind="stable")[:MAX_NEIGHBORS]
    best = best[chance[best] >= min(MIN_NEIGHBOR_PROBABILITY, chance[best[0]])]
    apart = np.log1p(np.abs(position[:, None] - position[None, candidates[best]]))
    mean: Doubles = apart @ chance[best] / float(chance[best].sum())
    return mean


def _among_words(site: SiteFields, attribute: Attribute) -> Bools:
    """Return whether the values of each field are among other words, which may contain another attribute.

    An example is the date in `Knopf; first edition (May 25, 2010)`.
    """
    if attribute.type == "text":
        return np.zeros(len(site.fields), np.bool_)
    share = site.typed(attribute.type)
    among: Bools = (share > AMONG_WORDS[0]) & (share < AMONG_WORDS[1])
    return among
