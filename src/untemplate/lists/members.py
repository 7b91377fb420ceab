"""Members: which members of a group are records of its page, and which only look like them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np

from untemplate.lists.groups import Group, Run
from untemplate.lists.survey import Survey

__all__ = ["left_out", "settle"]


def settle(survey: Survey, group: Group) -> Group:
    """A group without what is hidden while others are shown, what is listed aside, and what is there twice."""
    return Group(_once(survey, _kept(survey, group.runs)))


def left_out(survey: Survey, group: Group) -> Group:
    """What is hidden or listed aside of a group whose others are not."""
    kept = set(_kept(survey, group.runs))
    return Group(tuple(run for run in group.runs if run not in kept))


def _kept(survey: Survey, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    for keep in (_shown, _central):
        kept = keep(survey, runs)
        runs = kept if len(kept) > 1 else runs
    return runs


def _shown(survey: Survey, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    return tuple(run for run in runs if survey.shown[run[0]])


def _central(survey: Survey, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Runs that are not, several side by side, in a part named related and the like; all if those are the most."""
    parents = survey.tree.parent[[run[0] for run in runs]]
    times = Counter(parents.tolist())
    aside = [bool(survey.aside[parent]) and times[parent] > 1 for parent in parents.tolist()]
    if sum(aside) * 2 >= len(runs):
        return runs
    return tuple(run for run, own in zip(runs, aside, strict=True) if not own)


def _once(survey: Survey, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Of runs that say the same and link to the same only the first, as where a carousel shows them in turns."""
    kept: dict[Hashable, Run] = {}
    for run in runs:
        links = _links(survey, run)
        span = survey.codes_before[[run[0], survey.tree.end[run[-1]]]]
        kept.setdefault((int(np.diff(span)[0]), *links) if links else run, run)
    return tuple(kept.values())


def _links(survey: Survey, run: Run) -> list[str]:
    tree = survey.tree
    inside = (row for top in run for row in range(top, int(tree.end[top])) if tree.tags[row] == "a")
    links = (item.get("href", "") for row in inside if not isinstance(item := tree.items[row], str))
    return [link for link in links if link and not link.startswith(("#", "javascript:"))]
