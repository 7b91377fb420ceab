"""Which groups are the records of a page: a linear score of their features, chosen on labelled list pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untemplate.labeling.records.appearance import FEATURES
from untemplate.labeling.records.groups import Group
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import Floats

__all__ = ["WEIGHTS", "confidence", "lists_apart", "most_prominent", "score"]

# `python -m benchmarks.lists --choose` prints these and the next two: the weights with which a softmax over the
# groups of a page finds its records, on the 222 pages of `lists`.
WEIGHTS = {
    "number": 0.436,
    "two": -1.069,
    "coverage": 3.133,
    "length": 0.431,
    "links": -0.589,
    "headed": 1.136,
    "likeness": 1.135,
    "paths": 1.391,
    "distinct": 1.639,
    "variety": 1.513,
    "repeats": -3.149,
    "parents": -0.076,
    "uneven": -2.068,
    "item": 0.638,
    "compact": 1.611,
    "gaps": -0.375,
    "left_out": -0.824,
    "left_any": -1.099,
    "consistent": -2.722,
    "uniform": 1.389,
    "aside": -2.238,
    "near_aside": -1.252,
    "main": 1.258,
    "own_main": 0.782,
    "area": -0.989,
    "center": -0.241,
    "top": 0.850,
    "shown": 1.588,
    "columns": -0.494,
}
# A logistic regression that tells these groups from the best ones of the same pages without their records, by the
# features that do not depend on how many records there are.
BIAS = -17.814
PLAUSIBLE = {
    "coverage": 1.808,
    "length": 0.217,
    "links": -0.967,
    "headed": 0.592,
    "likeness": 4.964,
    "paths": 0.795,
    "distinct": 1.308,
    "repeats": -3.702,
    "item": 0.572,
    "compact": 3.977,
    "uniform": 1.728,
    "aside": -1.374,
    "near_aside": -2.156,
    "main": 0.581,
    "own_main": 1.358,
    "center": -2.537,
    "shown": 2.255,
}
# So many groups are looked at closely, those with most letters. Real pages have a few hundred.
MAX_GROUPS = 2_000


def most_prominent(survey: Survey, groups: Sequence[Group]) -> list[Group]:
    """The groups worth looking at, in their order."""
    if len(groups) <= MAX_GROUPS:
        return list(groups)
    chars = [sum(survey.chars[row] for run in group.runs for row in run) for group in groups]
    return [groups[number] for number in sorted(np.argsort(chars)[-MAX_GROUPS:].tolist())]


def score(features: Floats) -> Floats:
    """How much each group looks like the records of its page."""
    scores: Floats = features @ np.array([WEIGHTS[name] for name in FEATURES])
    return scores


def confidence(features: Floats) -> float:
    """How sure it is that a group with these features is the records of its page, from 0 to 1."""
    weights = np.array([PLAUSIBLE.get(name, 0.0) for name in FEATURES])
    return float(1 / (1 + np.exp(-BIAS - features @ weights)))


def lists_apart(survey: Survey, groups: Sequence[Group], scores: Floats) -> list[int]:
    """The numbers of groups that share nothing, the best first."""
    taken = np.zeros(len(survey.tree) + 1, np.bool_)
    chosen: list[int] = []
    for number in np.argsort(-scores, kind="stable").tolist():
        spans = [(run[0], int(survey.tree.end[run[-1]])) for run in groups[number].runs]
        if not any(taken[start:end].any() for start, end in spans):
            chosen.append(number)
            for start, end in spans:
                taken[start:end] = True
    return chosen
