"""The selectors of a rule: specific descriptions of the labeled places, then coarser ones.

Departure from the paper, which takes the most general precise XPath. On pages of the same template a specific XPath
is right more often, while a general one survives changes. So a rule first tries specific descriptions of the labeled
places (`variants.py`). Coarser selectors that agree with these follow. The paper's choices form the rule's committee.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from untemplate.learning.search import (
    Search,
    shared_features,
    tag_path,
)
from untemplate.learning.variants import (
    HEADINGS,
    Description,
    LearningTarget,
    Variant,
    allowed_features,
    fits_target,
)
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Region, Selector
from untemplate.value_types import is_one_typed

__all__ = [
    "MAX_COMMITTEE",
    "count_exact_pages",
    "learn_committee",
    "learn_elsewhere",
    "learn_selectors",
    "pick_rows",
    "without_contexts",
]

MAX_COMMITTEE = 3
# How far above a text the heading may be that contains it.
MAX_HEADING_LEVEL = 2
# A coarser selector must find what the specific ones find on this share of the pages where both find something.
# Swept with `python -m benchmarks.measure.constants`: 0.75 to 1 are alike.
MIN_AGREEMENT = 0.9


def learn_selectors(
    target: LearningTarget, variants: Sequence[Variant], alternatives: Sequence[Variant] = ()
) -> list[Selector]:
    """Return selectors in the order to try them: the specific ones of all variants, then coarser ones that agree.

    If these find nothing on some unlabeled pages, the best alternative follows that agrees with them and does.
    """
    specific = [
        _measured_selector(target, variant.sets[0], variant.position, variant.region) for variant in variants
    ]
    selectors = list(specific)
    for variant in variants:
        coarser = _coarser_selectors(target, variant)
        selectors += [selector for selector in coarser if _agrees(target, selector, specific)]
    selectors += _find_alternative(target, selectors, alternatives)
    return list(dict.fromkeys(selectors))


def _find_alternative(
    target: LearningTarget, selectors: Sequence[Selector], alternatives: Sequence[Variant]
) -> list[Selector]:
    """Return the first alternative in a region that finds a value where the selectors find nothing, if any does.

    Only values with a type are looked for like this, and only if they have no caption of their own: without the
    caption there is no value, and other texts may be inside the same region.
    """
    if target.type is None or _has_own_captions(target):
        return []
    missed = [page for page in target.unlabeled_pages if not pick_rows(target, selectors, page)]
    for variant in alternatives if missed else ():
        if variant.region is None:
            continue
        selector = _measured_selector(target, variant.sets[0], variant.position, variant.region)
        if _finds_values(target, selector, missed) and _agrees(target, selector, selectors):
            return [selector]
    return []


def _finds_values(target: LearningTarget, selector: Selector, pages: Iterable[int]) -> bool:
    """Return True if a selector finds what can be the value on one of these pages, at least."""
    return any(fits_target(target, pick_rows(target, [selector], page)) for page in pages)


def _has_own_captions(target: LearningTarget) -> bool:
    """Return True if a caption is right before one of the values, so that without the caption there is no value."""
    return any(Description.of(target, row).has_own_caption for row in target.best_rows())


def _pages_without_caption(target: LearningTarget) -> list[int]:
    """Return the unlabeled pages that lack the captions of the values, if each of these has one right before it."""
    descriptions = [Description.of(target, row) for row in target.best_rows()]
    if not all(description.has_own_caption for description in descriptions):
        return []
    captioned = 0
    for description in descriptions:
        if description.caption:
            captioned |= target.bits([description.caption])
    return [page for page in target.unlabeled_pages if not target.table.on_page(captioned, page)]


def _coarser_selectors(target: LearningTarget, variant: Variant) -> Iterator[Selector]:
    for features in variant.sets[1:]:
        yield _measured_selector(target, features, variant.position, variant.region)
    if variant.counted:
        yield _measured_selector(target, variant.counted.sets[0], variant.counted.position)


def learn_committee(target: LearningTarget, selectors: Sequence[Selector]) -> list[Selector]:
    """Return the selector by heading, if there is one, and the paper's choices, as far as they agree with a rule.

    Of values with a caption, members are left out that find something on pages without the caption: they count.
    """
    positives = list(chain.from_iterable(pick_rows(target, selectors, page) for page in target.rows))
    uncaptioned = _pages_without_caption(target)

    def is_member(selector: Selector) -> bool:
        return _agrees(target, selector, selectors) and not _finds_often(target, selector, uncaptioned)

    by_heading = filter(is_member, _by_heading(target, positives))
    general = filter(is_member, _general_selectors(target, positives))
    return list(dict.fromkeys([*by_heading, *islice(general, MAX_COMMITTEE)]))


def _general_selectors(target: LearningTarget, positives: Sequence[int]) -> Iterator[Selector]:
    """Yield the most general precise feature sets, each in other contexts than those before (Algorithm 3)."""
    features = allowed_features(target, shared_features(target.table, positives))
    search = Search(target.table, positives, target.rows.keys(), target.universe, target.many)
    while features:
        best = search.best_by_distance(features)
        if best is None or not best.is_precise:
            return
        features = without_contexts(features, best.features)
        yield _measured_selector(target, best.features, 0)


def _by_heading(target: LearningTarget, rows: Sequence[int]) -> Iterator[Selector]:
    """Yield the selector of the heading that contains all values, if it is the only one of its rank on each page.

    Names change in a redesign, but the title remains the main heading of the page.
    """
    paths = [tag_path(target.table, row)[:MAX_HEADING_LEVEL] for row in rows]
    shared = [tag for tag in paths[0] if all(tag in path for path in paths)] if paths else []
    for tag in shared:
        if tag.values[0] in HEADINGS and target.is_precise(target.bits([tag])):
            yield _measured_selector(target, (tag,), 0)


def _finds_often(target: LearningTarget, member: Selector, pages: Sequence[int]) -> bool:
    """Return True if a member finds something on more than a few of the pages on which there is no value."""
    found = sum(bool(pick_rows(target, [member], page)) for page in pages)
    return found > (1 - MIN_AGREEMENT) * len(pages)


def learn_elsewhere(
    target: LearningTarget, variants: Sequence[Variant], main: LearningTarget, selectors: Sequence[Selector]
) -> list[Selector]:
    """Return selectors of another place, such as meta data, that shows the same texts as the main place.

    Args:
        target: the other place.
        variants: its descriptions.
        main: the place that the rule selects.
        selectors: the rule's selectors there.
    """
    members = []
    for variant in variants:
        coarse = variant.sets[1] if len(variant.sets) > 1 else variant.sets[0]
        members.append(_measured_selector(target, coarse, variant.position, variant.region))
    return [member for member in members if _shows_same_row_texts(target, member, main, selectors)]


def _shows_same_row_texts(
    target: LearningTarget, member: Selector, main: LearningTarget, selectors: Sequence[Selector]
) -> bool:
    pages = set(target.unlabeled_pages) & set(main.unlabeled_pages)
    pairs = [(pick_rows(target, [member], page)[:1], pick_rows(main, selectors, page)[:1]) for page in pages]
    texts = [(_row_texts(target, rows), _row_texts(main, main_rows)) for rows, main_rows in pairs]
    return _is_agreement(texts, target)


def pick_rows(target: LearningTarget, selectors: Sequence[Selector], page: int) -> list[int]:
    """Return the rows that a rule selects on a page: those of its first selector that selects anything."""
    for selector in selectors:
        rows = target.select(target.bits(selector.features, selector.region), page, selector.position)
        if target.type is not None:
            rows = [row for row in rows if is_one_typed(target.table.rows[row].text, target.type)]
        if rows:
            return rows if target.many else target.valid_rows(rows)[:1]
    return []


def count_exact_pages(target: LearningTarget, selectors: Sequence[Selector]) -> int:
    """Return on how many labeled pages selectors select every labeled value, and nothing else."""
    return sum(_is_exact(pick_rows(target, selectors, page), values) for page, values in target.rows.items())


def _is_exact(rows: Sequence[int], values: Sequence[Sequence[int]]) -> bool:
    """Return True if rows are one of the rows of each value, in any order."""
    return len(rows) == len(values) and all(any(row in rows for row in value) for value in values)


def _agrees(target: LearningTarget, selector: Selector, specific: Sequence[Selector]) -> bool:
    """Return True if a selector is right on labeled pages and finds the same texts as others on the rest."""
    if not target.accepts_everywhere(selector.features, selector.position, selector.region):
        return False
    pages = target.unlabeled_pages
    pairs = [(pick_rows(target, [selector], page), pick_rows(target, specific, page)) for page in pages]
    return _is_agreement(
        [(_row_texts(target, rows), _row_texts(target, others)) for rows, others in pairs], target
    )


def _is_agreement(texts: Iterable[tuple[list[str], list[str]]], target: LearningTarget) -> bool:
    """Return True if pairs of texts are mostly the same, where both are there. No such pair is no agreement."""
    both = [pair for pair in texts if pair[0] and pair[1]]
    if not both:
        return not target.unlabeled_pages
    return sum(first == second for first, second in both) >= MIN_AGREEMENT * len(both)


def _row_texts(target: LearningTarget, rows: Iterable[int]) -> list[str]:
    return [target.table.rows[row].text for row in rows]


def _measured_selector(
    target: LearningTarget, features: tuple[Feature, ...], position: int, region: Region | None = None
) -> Selector:
    """Return a selector with its support: the share of unlabeled pages on which it selects something."""
    selector = Selector(target.node, features, position, region=region)
    pages = target.unlabeled_pages
    if not pages:
        return replace(selector, support=1.0)
    hits = sum(bool(pick_rows(target, [selector], page)) for page in pages)
    return replace(selector, support=round(hits / len(pages), 3))


def without_contexts(features: Iterable[Feature], used: Iterable[Feature]) -> set[Feature]:
    """Return the features that look at other places than those used, such as another sibling or another level.

    Features that look at the same place are not independent of each other.
    """
    contexts = set(map(_context, used))
    return {feature for feature in features if _context(feature) not in contexts}


def _context(feature: Feature) -> tuple[str, int, int]:
    direction = feature.side or feature.axis or ("self" if feature.is_structural else "own")
    return direction, feature.level, feature.sibling
