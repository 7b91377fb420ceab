"""Places to selectors: from the most specific description of the labelled places to coarser ones.

The paper takes the most general precise XPath. On the pages of the same template a specific one is right more often,
and a general one is what still holds after a change; so this departs from the paper: a rule tries the descriptions
of the labelled places first, then coarser ones that agree with them, and the paper's choices form its committee.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from untemplate.learning.descriptions import Task, Variant
from untemplate.learning.features import node_features
from untemplate.learning.search import Search, disjunctions
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Selector

__all__ = [
    "MAX_COMMITTEE",
    "cover",
    "learn_committee",
    "learn_elsewhere",
    "learn_selectors",
    "pick",
    "places_of",
]

# Variants of one template that a rule distinguishes.
MAX_VARIANTS = 4
MAX_COMMITTEE = 3
# A coarser selector must find what the specific ones find on this share of the pages where both find something.
# Swept with `python -m benchmarks.measure.constants`: 0.75 to 1 are alike.
AGREEMENT = 0.9


def cover(task: Task, variants: Sequence[Variant]) -> list[Variant]:
    """The best variants that together cover as many labelled pages as possible."""
    chosen: list[Variant] = []
    left = {page for page, values in task.rows.items() if values}
    for variant in variants:
        if variant.covered & left and len(chosen) < MAX_VARIANTS:
            chosen.append(variant)
            left -= variant.covered
    return chosen


def learn_selectors(task: Task, variants: Sequence[Variant]) -> list[Selector]:
    """Ordered selectors: what is specific to each variant, then coarser ones that agree."""
    specific = [_selector(task, variant.sets[0], variant.position) for variant in variants]
    selectors = list(specific)
    for variant in variants:
        coarser = [_selector(task, features, variant.position) for features in variant.sets[1:]]
        if variant.counted:
            coarser.append(_selector(task, variant.counted.sets[0], variant.counted.position))
        selectors += (selector for selector in coarser if _agrees(task, selector, specific))
    return list(dict.fromkeys(selectors))


def learn_committee(task: Task, selectors: Sequence[Selector]) -> list[Selector]:
    """The paper's choices: most general precise feature sets, each using nothing that another uses."""
    positives = [row for page in task.rows for row in pick(task, selectors, page)]
    features = disjunctions([node_features(task.table, row) for row in positives])
    search = Search(task.table, positives, task.rows.keys(), task.universe, task.many)
    members: list[Selector] = []
    while features and len(members) < MAX_COMMITTEE:
        best = search.best_by_distance(features)
        if best is None or not best.is_precise:
            break
        used = places_of(best.features)
        features = {feature for feature in features if not places_of([feature]) & used}
        member = _selector(task, best.features, 0)
        if _agrees(task, member, selectors):
            members.append(member)
    return members


def learn_elsewhere(
    task: Task, variants: Sequence[Variant], own: Task, selectors: Sequence[Selector]
) -> list[Selector]:
    """Selectors of another place that shows the same texts as the selectors of its own."""
    members = [
        _selector(task, variant.sets[min(1, len(variant.sets) - 1)], variant.position) for variant in variants
    ]
    return [member for member in members if _same_texts(task, member, own, selectors)]


def _same_texts(task: Task, member: Selector, own: Task, selectors: Sequence[Selector]) -> bool:
    same = both = 0
    for page in set(task.open_pages) & set(own.open_pages):
        mine, theirs = pick(task, [member], page), pick(own, selectors, page)
        if mine and theirs:
            both += 1
            same += task.table.rows[mine[0]].text == own.table.rows[theirs[0]].text
    return same >= AGREEMENT * both and (both > 0 or not task.open_pages)


def pick(task: Task, selectors: Sequence[Selector], page: int) -> list[int]:
    """The rows that the first selector to select anything selects on a page."""
    for selector in selectors:
        if rows := task.pick(task.bits(selector.features), page, selector.position):
            return rows if task.many else rows[:1]
    return []


def _agrees(task: Task, selector: Selector, specific: Sequence[Selector]) -> bool:
    """Whether a selector is right on labelled pages and finds what the specific ones find on the others."""
    bits = task.bits(selector.features)
    if not all(task.accepts(bits, page, selector.position) for page in task.rows):
        return False
    same = both = 0
    for page in task.open_pages:
        mine, theirs = pick(task, [selector], page), pick(task, specific, page)
        if mine and theirs:
            both += 1
            same += [task.table.rows[row].text for row in mine] == [
                task.table.rows[row].text for row in theirs
            ]
    return same >= AGREEMENT * both and (both > 0 or not task.open_pages)


def _selector(task: Task, features: tuple[Feature, ...], position: int) -> Selector:
    selector = Selector(task.node, features, position)
    found = sum(bool(pick(task, [selector], page)) for page in task.open_pages)
    return replace(selector, support=round(found / len(task.open_pages), 3) if task.open_pages else 1.0)


def places_of(features: Iterable[Feature]) -> set[tuple[str, int, int]]:
    """What features look at: those of one place are not independent."""
    return {
        (f.side or f.axis or ("self" if f.is_structural else "own"), f.level, f.sibling) for f in features
    }
