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
    "number": 0.425,
    "two": -1.020,
    "coverage": 3.115,
    "length": 0.422,
    "links": -0.574,
    "headed": 1.139,
    "likeness": 0.948,
    "paths": 1.360,
    "distinct": 1.625,
    "variety": 1.553,
    "repeats": -3.161,
    "parents": -0.340,
    "uneven": -2.013,
    "item": 0.677,
    "compact": 1.698,
    "gaps": -0.362,
    "left_out": -1.469,
    "consistent": -3.276,
    "uniform": 1.277,
    "aside": -2.243,
    "near_aside": -1.316,
    "main": 1.223,
    "own_main": 0.739,
    "area": -0.919,
    "center": -0.157,
    "top": 0.844,
    "shown": 1.572,
    "columns": -0.491,
}
# A logistic regression that tells these groups from the best ones of the same pages without their records, by the
# features that do not depend on how many records there are.
BIAS = -17.284
PLAUSIBLE = {
    "coverage": 1.491,
    "length": 0.149,
    "links": -1.154,
    "headed": 0.684,
    "likeness": 4.641,
    "paths": 0.822,
    "distinct": 2.111,
    "repeats": -2.707,
    "item": 0.445,
    "compact": 3.605,
    "uniform": 1.957,
    "aside": -1.105,
    "near_aside": -1.931,
    "main": 0.544,
    "own_main": 1.138,
    "center": -0.350,
    "shown": 1.824,
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
