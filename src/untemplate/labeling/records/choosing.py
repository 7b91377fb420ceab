"""Which groups are the records of a page: a linear score of their features, chosen on labelled list pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from untemplate.labeling.records.appearance import FEATURES
from untemplate.labeling.records.groups import Group
from untemplate.labeling.records.members import left_out, settle
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import Floats

__all__ = ["WEIGHTS", "confidence", "is_hidden", "lists_apart", "most_prominent", "score"]

# `python -m benchmarks.lists --choose` prints these and the next two: the weights with which a softmax over the
# groups of a page finds its records, on the 222 pages of `lists`.
WEIGHTS = {
    "number": 0.472,
    "two": -1.033,
    "coverage": 3.415,
    "length": 0.391,
    "links": -0.622,
    "headed": 1.123,
    "likeness": 1.049,
    "paths": 1.458,
    "distinct": 0.907,
    "variety": 1.511,
    "repeats": -3.078,
    "parents": -0.098,
    "uneven": -2.012,
    "item": 0.647,
    "compact": 1.433,
    "gaps": -0.407,
    "left_out": -0.774,
    "left_any": -1.077,
    "consistent": -2.500,
    "uniform": 1.422,
    "aside": -2.082,
    "near_aside": -1.267,
    "main": 1.268,
    "own_main": 0.758,
    "area": -0.946,
    "center": -0.142,
    "top": 0.941,
    "shown": 1.898,
    "columns": -0.520,
}
# A logistic regression that tells these groups from the best ones of the same pages without their records, by the
# features that do not depend on how many records there are.
BIAS = -18.744
PLAUSIBLE = {
    "coverage": 1.437,
    "length": 0.352,
    "links": -0.682,
    "headed": 0.518,
    "likeness": 5.312,
    "paths": 0.691,
    "distinct": 1.529,
    "repeats": -3.740,
    "item": 0.459,
    "compact": 6.547,
    "uniform": 1.349,
    "aside": -1.290,
    "near_aside": -2.276,
    "main": 0.649,
    "own_main": 1.492,
    "center": -0.373,
}
# So many groups are looked at closely, those with most letters. Real pages have a few hundred.
MAX_GROUPS = 2_000
# More than any difference of scores.
BEHIND = 1_000.0
_SHOWN = list(FEATURES).index("shown")


def most_prominent(survey: Survey, groups: Sequence[Group]) -> list[Group]:
    """The groups worth looking at, in their order."""
    if len(groups) <= MAX_GROUPS:
        return list(groups)
    chars = [sum(survey.chars[row] for run in group.runs for row in run) for group in groups]
    return [groups[number] for number in sorted(np.argsort(chars)[-MAX_GROUPS:].tolist())]


def score(features: Floats, weights: Floats | None = None) -> Floats:
    """How much each group looks like the records of its page; those that are hidden come behind all others."""
    if weights is None:
        weights = np.array([WEIGHTS[name] for name in FEATURES])
    scores: Floats = features @ weights - BEHIND * is_hidden(features)
    return scores


def is_hidden(features: Floats) -> npt.NDArray[np.bool_]:
    """Which groups are mostly not shown."""
    hidden: npt.NDArray[np.bool_] = features[:, _SHOWN] <= 0.5
    return hidden


def confidence(features: Floats) -> float:
    """How sure it is that a group with these features is the records of its page, from 0 to 1."""
    weights = np.array([PLAUSIBLE.get(name, 0.0) for name in FEATURES])
    return float(1 / (1 + np.exp(-BIAS - features @ weights)))


def lists_apart(survey: Survey, groups: Sequence[Group], scores: Floats) -> list[Group]:
    """Groups that share nothing, the best first; at the end what they leave out themselves."""
    taken = np.zeros(len(survey.tree) + 1, np.bool_)
    waiting = [groups[number] for number in np.argsort(-scores, kind="stable").tolist()]
    chosen: list[Group] = []
    while waiting:
        rest: list[Group] = []
        for group in waiting:
            if not any(taken[start:end].any() for start, end in _spans(survey, group)):
                chosen.append(group)
                for start, end in _spans(survey, settle(survey, group)):
                    taken[start:end] = True
                rest.append(left_out(survey, group))
        waiting = [group for group in rest if len(group) > 1]
    return chosen


def _spans(survey: Survey, group: Group) -> list[tuple[int, int]]:
    return [(run[0], int(survey.tree.end[run[-1]])) for run in group.runs]
