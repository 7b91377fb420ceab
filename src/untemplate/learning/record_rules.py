"""Where the records of list pages begin and end, learned from located records.

The paper's search (Vertex III-C.2) is run among elements instead of texts, for the elements that begin records. Where
no features tell these from other elements, it is run among texts, for the anchors by which the records were found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from lxml import etree

from untemplate.labeling.list_labels import LocatedRecord
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.search import ScoredFeatures, Search, shared_features
from untemplate.learning.selectors import MAX_COMMITTEE, without_contexts
from untemplate.page import Node, Page
from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.record_pages import link_kinds, split_records, text_beginnings
from untemplate.rules.rule import LinkKind, RecordRule, Selector

__all__ = ["LocatedLists", "inner_paths", "learn_record_rule", "spread_evenly"]

T = TypeVar("T")
LocatedLists = Mapping[Page, Sequence[LocatedRecord]]
"""The records found on each labeled page."""

_TAGS = re.compile(r"(/[a-z][a-z0-9]*)+")
# Records whose features are compared to find where records begin.
MAX_COMPARED_RECORDS = 200
# Labeled records after so many others, that share words with so few of all, are of a kind of their own. By reasoning:
# two records of a list rarely share such words by chance, and people label the first ones unless they want others.
MIN_SKIPPED_RECORDS = 20
MAX_RARE_SHARE = 0.05
_WORD = re.compile(r"[^\W\d_]{2}")
# Levels inside a record that are searched for tags that other elements lack.
MAX_INNER_LEVELS = 4


def learn_record_rule(located: LocatedLists, unlabeled: Sequence[Page]) -> RecordRule | None:
    """Learn where records begin, how many siblings they span, and with which tags; None if nothing tells them apart.

    Args:
        located: the records of each labeled page.
        unlabeled: pages of the same template.
    """
    records = list(chain.from_iterable(located.values()))
    rule = _learn_places(located, unlabeled, records)
    return replace(rule, required_text=_shared_rare_text(records)) if rule else None


def _shared_rare_text(records: Sequence[LocatedRecord]) -> str:
    """Return words that all labeled records have and hardly any other, if labeled ones are far down; "" for none.

    Who labels two records far down a long list, and both are of the same rare kind, such as one of many courts, wants
    that kind. Two records at the top may be alike by chance, as neighbors of the same day.
    """
    labeled = [number for number, record in enumerate(records) if record.labels]
    if len(labeled) < 2 or labeled[0] < MIN_SKIPPED_RECORDS:
        return ""
    beginnings = [text_beginnings(record.elements) for record in records]
    counts = Counter(chain.from_iterable(beginnings))
    shared = set.intersection(*(beginnings[number] for number in labeled))
    rare = [text for text in shared if counts[text] <= MAX_RARE_SHARE * len(records)]
    words = filter(_WORD.search, rare)
    return min(words, key=lambda text: (counts[text], -len(text), text), default="")


def _learn_places(
    located: LocatedLists, unlabeled: Sequence[Page], records: Sequence[LocatedRecord]
) -> RecordRule | None:
    if all(record.anchor is None for record in records):
        rule = _learn_by_elements(located, unlabeled, records)
        # No feature tells repetitions from the records that they repeat.
        distinct = any(record.is_repetition for record in records)
        return replace(rule, distinct=distinct) if rule else None
    begins_with_text = any(record.lead for record in records)
    rules = [] if begins_with_text else [_learn_by_elements(located, unlabeled, records)]
    rules.append(_learn_by_anchors(located, unlabeled, records))
    candidates = list(filter(None, rules))
    if kind := _shared_link_kind(records):
        candidates += [replace(rule, required_link=kind) for rule in candidates]
    return max(candidates, key=lambda rule: _agreement(rule, located), default=None)


def _shared_link_kind(records: Sequence[LocatedRecord]) -> LinkKind | None:
    """Return the strictest kind of link that all records have."""
    shared = set.intersection(*(link_kinds(record.elements) for record in records))
    return "document" if "document" in shared else next(iter(shared), None)


def _agreement(rule: RecordRule, located: LocatedLists) -> float:
    """Return the F1 of the records that a rule finds, compared with the located ones by where they begin."""
    common = total = 0
    for page, records in located.items():
        wanted = {record.start for record in records}
        found = {record.start for record in split_records(rule, page)}
        common += 2 * len(wanted & found)
        total += len(wanted) + len(found)
    return common / total


class _ElementRows(SampleTable):
    """A sample whose rows are all elements that contain text."""

    def _nodes(self, page: Page) -> list[Node]:
        with_text: set[etree._Element] = set()
        for node in page.nodes:
            element = node.parent if node.is_text else None
            while element is not None and element not in with_text:
                with_text.add(element)
                element = element.getparent()
        elements = (element for element in page.tree.iter(etree.Element) if element in with_text)
        return [Node(element, "element", "") for element in elements]


def _learn_by_elements(
    located: LocatedLists, unlabeled: Sequence[Page], records: Sequence[LocatedRecord]
) -> RecordRule | None:
    """Learn which elements begin records."""
    table = _ElementRows([*located, *unlabeled])
    row_of = {node.element: row for row, node in enumerate(table.rows)}
    heads = [row_of[record.elements[0]] for record in records if record.elements[0] in row_of]
    is_anchored = any(record.anchor for record in records)
    selecting = _select_starts(table, heads, len(located), (1 << len(table)) - 1, is_anchored)
    if not selecting:
        return None
    holds = "" if selecting[0].is_precise else _distinguishing_path(table, heads, selecting[0], len(located))
    return RecordRule(
        _as_selectors("element()", selecting),
        holds,
        *_count_siblings(records, 1),
        with_texts=any(record.ends_in_text for record in records),
    )


def _learn_by_anchors(
    located: LocatedLists, unlabeled: Sequence[Page], records: Sequence[LocatedRecord]
) -> RecordRule | None:
    """Learn which texts are anchors."""
    table = SampleTable([*located, *unlabeled])
    anchors = [record.anchor for record in records if record.anchor]
    texts = table.node_bits.get("text()", 0)
    selecting = _select_starts(table, _rows_of_nodes(table, anchors), len(located), texts, is_anchored=True)
    if not selecting:
        return None
    has_lead = any(record.lead for record in records)
    return RecordRule(
        _as_selectors("text()", selecting),
        "",
        *_count_siblings(records, 0 if has_lead else 1),
        max(record.level for record in records),
        any(record.ends_in_text for record in records),
    )


def _rows_of_nodes(table: SampleTable, nodes: Iterable[Node]) -> list[int]:
    """Return the rows of the nodes that are in the table."""
    row_of = {(node.element, node.kind): row for row, node in enumerate(table.rows)}
    keys = [(node.element, node.kind) for node in nodes]
    return [row_of[key] for key in keys if key in row_of]


def _as_selectors(node: str, selecting: Iterable[ScoredFeatures]) -> tuple[Selector, ...]:
    return tuple(Selector(node, best.features, support=round(best.support, 3)) for best in selecting)


def _count_siblings(records: Sequence[LocatedRecord], first: int) -> tuple[int, tuple[str, ...]]:
    """Return how many elements may follow the first ones of a record, and their tags."""
    siblings = [record.elements[first:] for record in records]
    tags = {element.tag for element in chain.from_iterable(siblings)}
    return max(map(len, siblings)), tuple(sorted(tags))


def _select_starts(
    table: SampleTable, rows: Sequence[int], labeled_pages: int, universe: int, is_anchored: bool
) -> list[ScoredFeatures]:
    """Return the most general feature sets of some rows, each in other contexts.

    Only the first may be imprecise.
    """
    search = Search(table, rows, range(labeled_pages), universe, many=True)
    features = shared_features(table, spread_evenly(rows, MAX_COMPARED_RECORDS))
    if is_anchored:
        features = set(filter(_describes_anchor, features))
    chosen: list[ScoredFeatures] = []
    while features and len(chosen) < MAX_COMMITTEE:
        best = search.best_by_distance(features)
        if best is None or (chosen and not best.is_precise):
            break
        chosen.append(best)
        features = without_contexts(features, best.features)
    return chosen


def _describes_anchor(feature: Feature) -> bool:
    """Return True if a feature may describe records that were found by anchors.

    What is around a record is not known to be the same for all of them. Captions are not among the static texts of a
    list page, because only those of its records are remembered.
    """
    if feature.axis:
        return feature.level == 0 and feature.axis == "preceding"
    return feature.kind != CAPTION and not feature.looks_ahead


def _distinguishing_path(
    table: SampleTable, heads: Sequence[int], imprecise: ScoredFeatures, labeled_pages: int
) -> str:
    """Return a path of tags inside all record heads that fewest of the wrongly selected elements have.

    The shortest of several such paths is best. Returns an empty path if all wrong elements have all paths.
    """
    selected: set[int] = set()
    for page in range(labeled_pages):
        selected.update(table.on_page(imprecise.bits, page))
    wrong = selected.difference(heads)
    shared = set.intersection(*(inner_paths(table.rows[row].element) for row in heads))
    remaining = {path: _count_with(table, wrong, path) for path in shared}
    best = min(remaining, key=lambda path: (remaining[path], path.count("/"), path), default="")
    return best if best and remaining[best] < len(wrong) else ""


def _count_with(table: SampleTable, rows: Collection[int], path: str) -> int:
    return sum(table.rows[row].element.find(path) is not None for row in rows)


def inner_paths(element: etree._Element) -> set[str]:
    """Return the tag paths below an element, down to a few levels."""
    paths: set[str] = set()
    level = [("", element)]
    for _ in range(MAX_INNER_LEVELS):
        level = list(_next_level(level))
        paths.update(path[1:] for path, _ in level if _TAGS.fullmatch(path))
    return paths


def _next_level(level: Iterable[tuple[str, etree._Element]]) -> Iterator[tuple[str, etree._Element]]:
    """Yield the children of some elements, each with its tag path."""
    for path, parent in level:
        for child in parent.iterchildren("*"):
            yield f"{path}/{child.tag}", child


def spread_evenly(items: Sequence[T], count: int) -> list[T]:
    """Return at most `count` items, evenly spread."""
    return list(items[:: max(1, -(-len(items) // count))])
