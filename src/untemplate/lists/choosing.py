"""Which groups are the records of a page: a linear score of their features, chosen on labelled list pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from untemplate.lists.appearance import FEATURES
from untemplate.lists.groups import Group
from untemplate.lists.members import left_out, settle
from untemplate.lists.survey import Survey
from untemplate.lists.tree import Floats

__all__ = ["WEIGHTS", "confidence", "is_hidden", "lists_apart", "most_prominent", "score"]

# `python -m benchmarks.measure.lists --choose` prints these and the next two: the weights with which a softmax over
# the groups of a page finds its records, on the 222 pages of `lists`.
WEIGHTS = {
    "number": 0.477,
    "two": -1.045,
    "coverage": 3.413,
    "length": 0.385,
    "links": -0.673,
    "headed": 1.141,
    "likeness": 1.017,
    "paths": 1.467,
    "distinct": 0.840,
    "variety": 1.501,
    "repeats": -3.066,
    "parents": -0.094,
    "uneven": -2.030,
    "item": 0.656,
    "compact": 1.431,
    "gaps": -0.405,
    "left_out": -0.771,
    "left_any": -1.084,
    "consistent": -2.479,
    "uniform": 1.419,
    "aside": -2.117,
    "near_aside": -1.254,
    "main": 1.249,
    "own_main": 0.774,
    "area": -0.961,
    "center": -0.081,
    "top": 0.843,
    "shown": 2.315,
    "columns": -0.516,
}
# A logistic regression that tells these groups from the best ones of the same pages without their records, by the
# features that do not depend on how many records there are.
BIAS = -17.498
PLAUSIBLE = {
    "coverage": 1.484,
    "length": 0.356,
    "links": -0.757,
    "headed": 0.489,
    "likeness": 5.363,
    "paths": 0.774,
    "distinct": 1.455,
    "repeats": -3.784,
    "item": 0.402,
    "compact": 5.104,
    "uniform": 1.385,
    "aside": -1.269,
    "near_aside": -2.161,
    "main": 0.643,
    "own_main": 1.438,
    "center": -0.377,
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
