"""The right place among several: which occurrences of the labeled values belong to one record.

A value may be on the page several times: a price also in "related products", an author also among the comments. The
places of one record share a deep element, so we choose for each attribute the place that shares the deepest elements
with the places of the others, above all with lists, which occur only once. All attributes of a page are chosen
together.

A place inside a unit that the page repeats, such as one product of a list of others, is not this record's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from untemplate.labeling import Label
from untemplate.learning.occurrences import PageLabels, occurrences_in_nodes
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.value_lists import ListPlace, element_around, find_list_places
from untemplate.page.locating import Occurrence
from untemplate.schema import Attribute, Schema

__all__ = [
    "FAR_WEIGHT",
    "AttributePlaces",
    "are_all_found",
    "are_rarely_found",
    "find_weighted_lists",
    "weigh_labels",
    "weigh_places",
]

# Places of one attribute that are compared with those of the others.
MAX_COMPARED_PLACES = 25
# Rounds of choosing; the choice is stable after two or three.
MAX_ROUNDS = 4
# A list counts as much as this many other attributes.
LIST_WEIGHT = 3.0
# Weight of a place that is farther from the others than the nearest, and of one inside a repeated unit.
FAR_WEIGHT = 0.3
REPEATED_WEIGHT = 0.3
# A unit is repeated if at least this many siblings look like it and contain the same path.
MIN_REPEATED = 3
# Ancestors of a place that may be a unit.
MAX_UNIT_LEVEL = 8


@dataclass(frozen=True)
class AttributePlaces:
    """Where one attribute may be on a labeled page.

    Attributes:
        places: for each candidate place its elements, innermost first; for a list, the element around its members.
        is_list: whether each place has several values.
        parts: places where the value is only a part of the text. They are weighed, but say nothing about others.
    """

    places: tuple[tuple[int, ...], ...]
    is_list: bool = False
    parts: tuple[tuple[int, ...], ...] = ()


def weigh_labels(
    table: SampleTable, labels_of: Mapping[str, PageLabels], schema: Schema
) -> dict[str, dict[int, float]]:
    """Return for each attribute the weight of each element around a labeled value, over all labeled pages."""
    weights: dict[str, dict[int, float]] = {name: {} for name in labels_of}
    pages = set[int]().union(*labels_of.values())
    for page in sorted(pages):
        places = _places_on_page(table, page, labels_of, schema)
        if len(places) > 1:
            for name, of_page in weigh_places(table, places).items():
                weights[name].update(of_page)
    return weights


def _places_on_page(
    table: SampleTable, page: int, labels_of: Mapping[str, PageLabels], schema: Schema
) -> dict[str, AttributePlaces]:
    """Return where each attribute may be on a labeled page, if it has a value there."""
    places: dict[str, AttributePlaces] = {}
    for name, labels in labels_of.items():
        present = [label for label in labels.get(page, ()) if not label.is_gap]
        if present:
            attribute = schema.attributes.get(name, Attribute(name))
            places[name] = _find_places(table, page, present, attribute)
    return places


def _find_places(
    table: SampleTable, page: int, labels: Sequence[Label], attribute: Attribute
) -> AttributePlaces:
    """Return where an attribute may be on a labeled page: at spans that equal its values, else inside texts."""
    if len(labels) > 1:
        return _find_list_places(table.with_elements, page, labels)
    (occurrences,) = occurrences_in_nodes(table, {page: labels}, attribute)[page]
    is_link = attribute.type in ("url", "image")
    modes = ("node", "span", "attribute") if is_link else ("node", "span")
    complete = dict.fromkeys(_elements_in_mode(table, occurrences, modes))
    if labels[0].xpath is None:
        for elements in _elements_at_spans(table.with_elements, page, labels[0].value or ""):
            complete.setdefault(elements)
    parts = dict.fromkeys(_elements_in_mode(table, occurrences, ("part",)))
    if not complete:
        hidden = _elements_in_mode(table, occurrences, ("attribute",))
        return AttributePlaces(tuple(dict.fromkeys((*parts, *hidden))))
    return AttributePlaces(tuple(complete), parts=tuple(place for place in parts if place not in complete))


def _find_list_places(table: SampleTable, page: int, labels: Sequence[Label]) -> AttributePlaces:
    """Return the elements around each place where the values of a list follow each other."""
    lists = find_list_places(table, page, [label.value or "" for label in labels])
    return AttributePlaces(tuple((element_around(table, place),) for place in lists), is_list=True)


def _elements_in_mode(
    table: SampleTable, occurrences: Iterable[Occurrence], modes: Sequence[str]
) -> Iterator[tuple[int, ...]]:
    """Yield the element that contains each occurrence of these modes."""
    for occurrence in occurrences:
        if occurrence.mode in modes:
            yield (int(table.ancestor(1)[occurrence.row]),)


def _elements_at_spans(table: SampleTable, page: int, value: str) -> Iterator[tuple[int, ...]]:
    """Yield the elements whose text is the value, innermost first, for each place of the page."""
    spans = table.spans(page)
    for span in spans.find(value):
        elements = (int(table.ancestor(1)[row]) for row in reversed(spans.rows_at[span]))
        yield tuple(dict.fromkeys(elements))


def weigh_places(table: SampleTable, places: Mapping[str, AttributePlaces]) -> dict[str, dict[int, float]]:
    """Return for each attribute the weight of each element of its places: 1 for the best places, less for others.

    The best places share the deepest element with a list. On pages without lists they share the deepest element with
    all other attributes: any place inside the record is good enough then, as breadcrumbs and titles are often close.

    Args:
        table: the sample.
        places: the places of all labeled attributes of one page.
    """
    chosen = _choose_together(table, places)
    weights: dict[str, dict[int, float]] = {}
    for name, of_attribute in places.items():
        others = _without_attribute(chosen, name)
        lists = [element for other, element in others.items() if places[other].is_list]
        targets = lists or _element_around_all(table, list(others.values()))
        all_places = (*of_attribute.places, *of_attribute.parts)
        depths = [
            max((table.shared_depth(elements[0], target) for target in targets), default=0)
            for elements in all_places
        ]
        deepest = max(depths[: len(of_attribute.places)], default=0)
        weights[name] = {}
        for elements, depth in zip(all_places, depths, strict=True):
            weight = 1.0 if depth >= deepest else FAR_WEIGHT
            weight *= _repetition_weight(table, elements[0], of_attribute)
            weights[name].update(dict.fromkeys(elements, weight))
    return weights


def _element_around_all(table: SampleTable, elements: Sequence[int]) -> list[int]:
    """Return the smallest element around all elements, or nothing if there are none."""
    if not elements:
        return []
    shared = elements[0]
    for element in elements[1:]:
        shared = table.shared_element(shared, element)
    return [shared]


def _choose_together(table: SampleTable, places: Mapping[str, AttributePlaces]) -> dict[str, int]:
    """Return the place of each attribute so that all together share the deepest elements.

    Each place of the attribute with the fewest places is tried as a start. From there, each attribute moves to the
    place nearest to the others until nothing changes.
    """
    candidates = {
        name: [elements[0] for elements in found.places[:MAX_COMPARED_PLACES]]
        for name, found in places.items()
        if found.places
    }
    if not candidates:
        return {}
    fewest = min(candidates, key=lambda name: (len(candidates[name]), not places[name].is_list))
    best: dict[str, int] = {}
    best_score = -1.0
    for start in candidates[fewest]:
        chosen = _settle(table, places, candidates, {fewest: start})
        score = sum(
            _nearness(table, element, _without_attribute(chosen, name), places)
            for name, element in chosen.items()
        )
        if score > best_score:
            best, best_score = chosen, score
    return best


def _settle(
    table: SampleTable,
    places: Mapping[str, AttributePlaces],
    candidates: Mapping[str, Sequence[int]],
    chosen: dict[str, int],
) -> dict[str, int]:
    """Move each attribute to its place nearest to the others until nothing changes, lists first."""
    order = sorted(candidates, key=lambda name: (not places[name].is_list, len(candidates[name]), name))
    for _ in range(MAX_ROUNDS):
        before = dict(chosen)
        for name in order:
            others = _without_attribute(chosen, name)
            chosen[name] = max(candidates[name], key=lambda e: (_nearness(table, e, others, places), -e))
        if chosen == before:
            break
    return chosen


def _without_attribute(chosen: Mapping[str, int], name: str) -> dict[str, int]:
    return {other: element for other, element in chosen.items() if other != name}


def _nearness(
    table: SampleTable, element: int, others: Mapping[str, int], places: Mapping[str, AttributePlaces]
) -> float:
    """Return how deep the elements are that a place shares with other attributes; lists count more."""
    total = 0.0
    for name, other in others.items():
        weight = LIST_WEIGHT if places[name].is_list else 1.0
        total += weight * table.shared_depth(element, other)
    return total


def _repetition_weight(table: SampleTable, element: int, places: AttributePlaces) -> float:
    if places.is_list or not _is_repeated(table, element):
        return 1.0
    return REPEATED_WEIGHT


def _is_repeated(table: SampleTable, element: int) -> bool:
    """Return True if a place is inside a unit whose siblings have the same tags and classes down to the place."""
    path: list[int] = []
    unit = element
    for _ in range(MAX_UNIT_LEVEL):
        parent = int(table.parent[unit])
        if not parent:
            return False
        if path and _count_like(table, parent, unit, path) >= MIN_REPEATED:
            return True
        path.insert(0, unit)
        unit = parent
    return False


def _count_like(table: SampleTable, parent: int, unit: int, path: Sequence[int]) -> int:
    """Count the children of an element that look like a unit and contain the same path of elements."""
    steps = [_look(table, number) for number in path]
    look = _look(table, unit)
    siblings = (child for child in table.children(parent) if _look(table, child) == look)
    return sum(_has_steps(table, sibling, steps) for sibling in islice(siblings, 2 * MIN_REPEATED))


def _look(table: SampleTable, number: int) -> tuple[str, str]:
    """Return the tag and the first class of an element: further classes often differ between repeated units."""
    element = table.element(number)
    return element.tag, (element.get("class") or "").split(" ")[0]


def _has_steps(table: SampleTable, number: int, steps: Iterable[tuple[str, str]]) -> bool:
    """Return True if there are elements with these looks inside an element, each the child of the one before."""
    level = [number]
    for step in steps:
        children = chain.from_iterable(map(table.children, level))
        level = [child for child in children if _look(table, child) == step]
    return bool(level)


def are_all_found(places: Sequence[ListPlace]) -> bool:
    """Return True if all labels of a page are at its best place of a list."""
    return bool(places) and not places[0].lost


def are_rarely_found(labels: PageLabels, places: Mapping[int, Sequence[ListPlace]]) -> bool:
    """Return True if the values are a list on fewer than half of the labeled pages: they may be one there by chance.

    Related records often show values of the same attribute, each of which may be that of the page.
    """
    labeled = [page for page, page_labels in labels.items() if page_labels]
    return 2 * sum(bool(places.get(page)) for page in labeled) < len(labeled)


def find_weighted_lists(
    table: SampleTable, labels: PageLabels, weights: Mapping[int, float]
) -> dict[int, list[ListPlace]]:
    """Return for each page with labels where they follow each other, each as a node or element of its own."""
    places: dict[int, list[ListPlace]] = {}
    for page, page_labels in labels.items():
        if page_labels:
            found = find_list_places(table, page, [label.value or "" for label in page_labels])
            places[page] = _best_weighted(table, found, weights)
    return places


def _best_weighted(
    table: SampleTable, places: Sequence[ListPlace], weights: Mapping[int, float]
) -> list[ListPlace]:
    """Return the places of a list that fit the page's other attributes best."""

    def weight(place: ListPlace) -> float:
        if len(place.rows) == 1:
            return weights.get(int(table.ancestor(1)[place.rows[0][-1]]), 0.0)
        return weights.get(element_around(table, place), 0.0)

    best = max(map(weight, places), default=0.0)
    return [place for place in places if weight(place) == best]
