"""The best field of each attribute on a new site: evidence is ranked alone, then jointly, then judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from untemplate.labeling.seed.attribute_model import NAME_ONLY, AttributeModel
from untemplate.labeling.seed.field_evidence import EVIDENCE, gather_evidence
from untemplate.labeling.seed.joint import rank_jointly
from untemplate.labeling.seed.ranking import Rankers, softmax
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.page.arrays import Doubles, Floats, Ints
from untemplate.schema import Schema

__all__ = [
    "JUDGED",
    "JUDGE_SIGNS",
    "BestField",
    "find_best_fields",
    "find_other_fields",
    "join_fields",
    "judge_evidence",
]

# What the judge of the best field looks at besides its chance: evidence that means something without comparison.
_ABSOLUTE = (
    *(
        "words",
        "caption",
        "names",
        "topic",
        "best clue",
        "parts",
        "values",
        "named",
        "named mark",
    ),
    *("typed", "untyped", "coverage", "unlike coverage", "unlike distinct", "unlike title", "unlike length"),
)
JUDGE_SIGNS: dict[str, int] = {
    "chance": +1,
    **{name: -1 if name.startswith("un") else +1 for name in _ABSOLUTE},
}
JUDGED = tuple(JUDGE_SIGNS)
_PICKED = [EVIDENCE.index(name) for name in _ABSOLUTE]
_NAMED = [EVIDENCE.index("named"), EVIDENCE.index("named mark")]


# Fields of an attribute at most, and the chance to be right of those after the first. From 0.05 to 0.3 the F1 of
# labels is the same within 0.006 on made-up sites of each of three verticals, where these fields are worth 0.1 and
# more, and within 0.001 on each vertical of SWDE, where they are worth up to 0.01.
MAX_FIELDS, MIN_CHANCE = 5, 0.2
# Of its pages, the share that a field may have in common with those before it: that is chance.
SHARED = 0.1


@dataclass(frozen=True)
class BestField:
    """The best field of an attribute, all rows that hold it, and the chance that they do."""

    field: int
    rows: Ints
    confidence: float


def find_best_fields(
    site: SiteFields, models: Mapping[str, AttributeModel], schema: Schema, rankers: Rankers
) -> dict[str, BestField]:
    """The best field for each attribute that has any candidate; without a model, of those that bear its name."""
    candidates: dict[str, Ints] = {}
    evidence: dict[str, Floats] = {}
    for name, attribute in schema.attributes.items():
        model = models.get(name, NAME_ONLY)
        own = site.candidates(attribute, model.spans_nodes)
        if not len(own):
            continue
        columns = gather_evidence(site, own, attribute, model)
        if name not in models:
            named = columns[:, _NAMED].max(axis=1) > 0
            own, columns = own[named], columns[named]
        if len(own):
            candidates[name], evidence[name] = own, columns
    scores = {name: rankers.score(columns, EVIDENCE) for name, columns in evidence.items()}
    scores = rank_jointly(site, schema.attributes, candidates, scores, rankers)
    found = {}
    for name, score in scores.items():
        best = int(np.argmax(score))
        columns = judge_evidence(site, candidates[name], evidence[name], score, best)
        field, confidence = int(candidates[name][best]), rankers.confidence(columns, JUDGED)
        parts = [(site.fields.rows_of(field), confidence)]
        if confidence >= MIN_CHANCE:
            parts += find_other_fields(site, candidates[name], evidence[name], score, parts[0][0], rankers)
        found[name] = BestField(field, *join_fields(parts))
    return found


def find_other_fields(
    site: SiteFields, candidates: Ints, evidence: Floats, score: Doubles, rows: Ints, rankers: Rankers
) -> Iterator[tuple[Ints, float]]:
    """The likeliest fields of pages on which an attribute has no row yet, and their chances to be right.

    A template puts a value here or there: as a link or not, before or after what is optional.
    """
    fields, table = site.fields, site.table
    covered = np.zeros(len(table.pages), np.bool_)
    for _ in range(MAX_FIELDS - 1):
        covered[table.page[rows]] = True
        others = np.flatnonzero(fields.mean(covered[table.page])[candidates] <= SHARED)
        if not len(others):
            break
        best = int(np.argmax(score[others]))
        columns = judge_evidence(site, candidates[others], evidence[others], score[others], best)
        confidence = rankers.confidence(columns, JUDGED)
        if confidence < MIN_CHANCE:
            break
        rows = fields.rows_of(int(candidates[others[best]]))
        rows = rows[~covered[table.page[rows]]]
        yield rows, confidence


def join_fields(parts: Sequence[tuple[Ints, float]]) -> tuple[Ints, float]:
    """All rows in page order, and their mean chance to be right."""
    sizes = [len(rows) for rows, _ in parts]
    confidence = float(np.average([chance for _, chance in parts], weights=sizes))
    return np.sort(np.concatenate([rows for rows, _ in parts])), confidence


def judge_evidence(site: SiteFields, candidates: Ints, evidence: Floats, score: Doubles, best: int) -> Floats:
    """What the judge looks at of the best field: its chance together with fields of the same rows, and evidence."""
    fields = site.fields
    chance = softmax(score)
    inside = np.zeros(len(site.table), np.bool_)
    inside[fields.rows_of(int(candidates[best]))] = True
    same = fields.mean(inside)[candidates] > 0.5
    return np.concatenate([[chance[same].sum()], evidence[best, _PICKED]]).astype(np.float32)
