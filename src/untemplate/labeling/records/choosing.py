"""Which groups are the records of a page: a linear score of their features, chosen on labelled list pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untemplate.labeling.records.groups import Group
from untemplate.labeling.records.survey import FEATURES, Survey
from untemplate.labeling.records.tree import Floats

__all__ = ["WEIGHTS", "confidence", "lists_apart", "most_prominent", "score"]

# `python -m benchmarks.lists --choose` prints these and the next two: the weights with which a softmax over the
# groups of a page finds its records, on the 222 pages of `lists`.
WEIGHTS = {
    "number": 0.399,
    "two": -1.214,
    "coverage": 3.409,
    "length": 0.589,
    "links": -0.757,
    "headed": 1.210,
    "likeness": 1.636,
    "paths": 1.448,
    "distinct": 2.654,
    "variety": 2.050,
    "repeats": -3.783,
    "parents": -0.274,
    "uneven": -2.871,
    "item": 0.634,
    "compact": 2.567,
    "gaps": -0.382,
    "left_out": -1.625,
    "consistent": -4.363,
    "aside": -3.156,
    "main": 1.368,
    "own_main": 0.793,
    "area": -1.585,
    "center": -0.227,
    "top": 1.110,
    "shown": 2.113,
    "columns": -0.719,
}
# A logistic regression that tells these groups from the best ones of the same pages without their records, by the
# features that do not depend on how many records there are.
BIAS = -24.699
PLAUSIBLE = {
    "coverage": 1.336,
    "length": 0.218,
    "links": -1.075,
    "headed": 0.424,
    "likeness": 6.630,
    "paths": 1.079,
    "distinct": 0.862,
    "repeats": -2.715,
    "item": 0.689,
    "compact": 10.899,
    "aside": -1.275,
    "main": 0.807,
    "own_main": 1.083,
    "center": -0.582,
    "shown": 1.901,
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
