"""The fields of a new site that hold the attributes: evidence, ranked by itself, then jointly, then judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from untemplate.labeling.ground.nodes import Floats, Ints
from untemplate.labeling.seed.evidence import EVIDENCE, gather
from untemplate.labeling.seed.joint import rank_jointly
from untemplate.labeling.seed.models import NAME_ONLY, AttributeModel
from untemplate.labeling.seed.ranking import Doubles, Rankers, chances
from untemplate.labeling.seed.survey import Survey
from untemplate.schema import Schema

__all__ = ["JUDGED", "JUDGE_SIGNS", "Solved", "judged", "solve"]

# What the judge of the best field looks at besides its chance: evidence that means something without comparison.
_ABSOLUTE = (
    *(
        "words",
        "label",
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


@dataclass(frozen=True)
class Solved:
    """The best field of an attribute, and the chance that it is right."""

    field: int
    confidence: float


def solve(
    survey: Survey, models: Mapping[str, AttributeModel], schema: Schema, rankers: Rankers
) -> dict[str, Solved]:
    """The best field for each attribute that has any candidate; without a model, of those that bear its name."""
    candidates: dict[str, Ints] = {}
    evidence: dict[str, Floats] = {}
    for name, attribute in schema.attributes.items():
        own = survey.candidates(attribute)
        if not len(own):
            continue
        columns = gather(survey, own, attribute, models.get(name, NAME_ONLY))
        if name not in models:
            named = columns[:, _NAMED].max(axis=1) > 0
            own, columns = own[named], columns[named]
        if len(own):
            candidates[name], evidence[name] = own, columns
    scores = {name: rankers.score(columns, EVIDENCE) for name, columns in evidence.items()}
    scores = rank_jointly(survey, schema.attributes, candidates, scores, rankers)
    found = {}
    for name, score in scores.items():
        best = int(np.argmax(score))
        columns = judged(survey, candidates[name], evidence[name], score, best)
        found[name] = Solved(int(candidates[name][best]), rankers.confidence(columns, JUDGED))
    return found


def judged(survey: Survey, candidates: Ints, evidence: Floats, score: Doubles, best: int) -> Floats:
    """What the judge looks at of the best field: its chance together with fields of the same rows, and evidence."""
    fields = survey.fields
    chance = chances(score)
    inside = np.zeros(len(survey.ground), np.bool_)
    inside[fields.rows_of(int(candidates[best]))] = True
    same = fields.mean(inside)[candidates] > 0.5
    return np.concatenate([[chance[same].sum()], evidence[best, _PICKED]]).astype(np.float32)
