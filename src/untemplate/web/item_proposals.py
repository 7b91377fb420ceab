"""The other items of a list: all places on a page that are like two that a person labeled.

Two labeled items differ in their position and in little else. So the elements from their common ancestor down to each
of them must have the same tags, and whatever has these tags and the classes that both share is an item, too. Where
both are, say, the second cell of their row, the second cells of all rows are meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from untemplate.page.locating import MAX_SPAN_NODES
from untemplate.web.embedded_panel import find_alike_values
from untemplate.web.page_labels import Click
from untemplate.web.rendering import Rendering

__all__ = ["LabeledPlace", "find_alike_places", "find_whole_items", "propose_clicks"]

MAX_ALIKE = 300
"""Places that are proposed. A list with more is hardly what a person means by its like."""

ItemRange = tuple[int, int]
"""The numbers of the first and the last text of a place."""


@dataclass(frozen=True, slots=True)
class LabeledPlace:
    """A label of a page: its id, the items that show its value, and the embedded values that it may mean."""

    label: int
    items: Sequence[int]
    embedded: Sequence[int]


@dataclass(frozen=True, slots=True)
class _ItemPlace:
    """All text of an element, or one of the texts right inside it."""

    element: etree._Element
    text: int | None = None  # the index among the texts right inside the element; None for all text


@dataclass(frozen=True, slots=True)
class _PathStep:
    """What two elements at the same level share."""

    tag: str
    classes: frozenset[str]
    position: int | None = None  # among the like children of their parents

    def children(self, parent: etree._Element) -> list[etree._Element]:
        """Return the children of an element that are like both."""
        alike = [child for child in parent.iterchildren(self.tag) if self.classes <= _classes(child)]
        if self.position is None:
            return alike
        return alike[self.position : self.position + 1]


def propose_clicks(
    rendering: Rendering,
    places: Sequence[LabeledPlace],
    added: Collection[int],
    in_data: bool,
    whole_items: bool = False,
) -> list[Click]:
    """Return the clicks that label all places like the newest one and another one; labels elsewhere stay.

    Args:
        rendering: The page as it is shown.
        places: The labels of an attribute on the page.
        added: The ids of the labels that were just added.
        in_data: Whether the newest is a value of the embedded data.
        whole_items: Whether the list items that contain such places are meant, with all their texts.

    Returns:
        Nothing if not exactly one label is new, or if no further place is like it.
    """
    newest = [place for place in places if place.label in added]
    others = [place for place in places if place.label not in added]
    if len(newest) != 1 or not others:
        return []
    find_alike = _alike_data if in_data else _alike_items
    clicks, apart = find_alike(rendering, newest[0], others, whole_items)
    kept = [Click(label=place.label) for place in apart]
    return kept + clicks if clicks else []


def _alike_items(
    rendering: Rendering, newest: LabeledPlace, others: Sequence[LabeledPlace], whole_items: bool
) -> tuple[list[Click], list[LabeledPlace]]:
    """Return the clicks on places like the newest one and another one, and the labeled places that are elsewhere."""
    find = _whole_item_clicks if whole_items else _alike_clicks
    clicks = find(rendering, newest.items, [place.items for place in others])
    return clicks, _places_apart(rendering, others, clicks)


def _alike_clicks(
    rendering: Rendering, newest: Sequence[int], others: Sequence[Sequence[int]]
) -> list[Click]:
    return [Click(first, last=last) for first, last in find_alike_places(rendering, newest, others)]


def _whole_item_clicks(
    rendering: Rendering, newest: Sequence[int], others: Sequence[Sequence[int]]
) -> list[Click]:
    return [Click(number, is_whole=True) for number in find_whole_items(rendering, newest, others)]


def _places_apart(
    rendering: Rendering, places: Sequence[LabeledPlace], clicks: Sequence[Click]
) -> list[LabeledPlace]:
    """Return the labeled places that are not among some clicks."""
    inside: set[int] = set()
    for click in clicks:
        first = click.item or 0
        items = [first] if click.is_whole else range(first, (click.last or first) + 1)
        inside.update(_text_numbers(rendering, items))
    return [place for place in places if inside.isdisjoint(_text_numbers(rendering, place.items))]


def _alike_data(
    rendering: Rendering, newest: LabeledPlace, others: Sequence[LabeledPlace], whole_items: bool
) -> tuple[list[Click], list[LabeledPlace]]:
    """Return clicks on the embedded values at the path of two labels, and the labels that are not among them.

    Embedded values are no part of list items on the page.
    """
    if whole_items:
        return [], []
    numbers = find_alike_values(rendering.embedded, newest.embedded, [place.embedded for place in others])
    apart = [place for place in others if set(place.embedded).isdisjoint(numbers)]
    return [Click(embedded=number) for number in numbers], apart


def find_alike_places(
    rendering: Rendering, newest: Sequence[int], others: Sequence[Sequence[int]]
) -> list[ItemRange]:
    """Return the places that are like two labeled ones, in document order, with these two.

    Args:
        rendering: The page as it is shown.
        newest: The items of the place that was labeled last.
        others: The items of the places that were labeled before, the newest last.

    Returns:
        Nothing if no other place is like the newest one, or if all that are like it are labeled already.
    """
    newest_place = _find_place(rendering, newest)
    if newest_place is None:
        return []
    for items in reversed(others):
        place = _find_place(rendering, items)
        ranges = list(_find_members(rendering, place, newest_place)) if place else []
        if len(others) + 1 < len(ranges) <= MAX_ALIKE:
            return ranges
    return []


def find_whole_items(
    rendering: Rendering, newest: Sequence[int], others: Sequence[Sequence[int]]
) -> list[int]:
    """Return the list items, as numbers of elements, that contain places like two labeled ones.

    A person who clicks `4` in two items `<div><div>4</div><div>cloves</div></div>` may mean the items. An item is the
    innermost element around a place that has further texts, and beside it elements with the same tag and classes.

    Args:
        rendering: The page as it is shown.
        newest: The items of the place that was labeled last.
        others: The items of the places that were labeled before, the newest last.

    Returns:
        Nothing if the places are items themselves, or if the items have too many texts for a value.
    """
    newest_place = _find_place(rendering, newest)
    for items in reversed(others) if newest_place else ():
        place = _find_place(rendering, items)
        if place is None or newest_place is None or place.element is newest_place.element:
            continue
        steps = _common_steps(place.element, newest_place.element)
        if steps is not None:
            labeled = set(_text_numbers(rendering, [*newest, *items]))
            return _items_around(rendering, place.element, *steps, labeled)
    return []


def _items_around(
    rendering: Rendering,
    place: etree._Element,
    ancestor: etree._Element,
    path: Sequence[_PathStep],
    labeled: Collection[int],
) -> list[int]:
    """Return the numbers of all elements at the level of the items around a labeled place.

    Args:
        rendering: The page as it is shown.
        place: The labeled place.
        ancestor: An element around this place and another one.
        path: The steps from there to both.
        labeled: The numbers of the texts that are labeled.
    """
    element = place
    for level in range(len(path) - 1, -1, -1):
        if _is_item(rendering, element, labeled):
            step = _PathStep(path[level].tag, path[level].classes)
            return _numbers_of_items(rendering, _follow_steps(ancestor, [*path[:level], step]))
        element = element.getparent()
    return []


def _is_item(rendering: Rendering, element: etree._Element, labeled: Collection[int]) -> bool:
    """Return True if an element has texts that are not labeled, and elements of its kind are beside it."""
    parent = element.getparent()
    alike = [child for child in parent.iterchildren(element.tag) if _classes(child) == _classes(element)]
    return len(alike) > 1 and not set(labeled).issuperset(rendering.texts_inside(element))


def _numbers_of_items(rendering: Rendering, elements: Sequence[etree._Element]) -> list[int]:
    """Return the numbers of the elements with texts; nothing if they are too few, or one is too long for a value."""
    texts = {element: rendering.texts_inside(element) for element in elements}
    items = {element: numbers for element, numbers in texts.items() if numbers}
    if not 2 < len(items) <= MAX_ALIKE or max(map(len, items.values())) > MAX_SPAN_NODES:
        return []
    return [rendering.numbers[item, "element"] for item in items if (item, "element") in rendering.numbers]


def _find_place(rendering: Rendering, items: Sequence[int]) -> _ItemPlace | None:
    """Return the place of some items: the outermost element with just their texts, or one text of an element."""
    texts = _text_numbers(rendering, items)
    if not texts:
        return None
    first = rendering.node(texts[0])
    if first is None:
        return None
    element = first.parent
    inside = rendering.texts_inside(element)
    while not set(texts) <= set(inside):
        element = element.getparent()
        if element is None:
            return None
        inside = rendering.texts_inside(element)
    if inside == texts:
        return _ItemPlace(_outermost_with(rendering, element, texts))
    direct = _direct_texts(rendering, element)
    return _ItemPlace(element, direct.index(texts[0])) if len(texts) == 1 and texts[0] in direct else None


def _text_numbers(rendering: Rendering, items: Sequence[int]) -> list[int]:
    """Return the numbers of the texts among items, or of those inside them, in document order."""
    numbers: set[int] = set()
    for item in items:
        element, kind = rendering.nodes[item]
        numbers.update(rendering.texts_inside(element) if kind == "element" else [item])
    return sorted(number for number in numbers if rendering.node(number) is not None)


def _outermost_with(rendering: Rendering, element: etree._Element, texts: Sequence[int]) -> etree._Element:
    """Return the outermost ancestor of an element, or itself, that has no other text."""
    parent = element.getparent()
    while parent is not None and rendering.texts_inside(parent) == texts:
        element, parent = parent, parent.getparent()
    return element


def _direct_texts(rendering: Rendering, element: etree._Element) -> list[int]:
    """Return the numbers of the texts right inside an element."""
    numbers = [rendering.numbers.get((element, "text"))]
    numbers += [rendering.numbers.get((child, "tail")) for child in element]
    return [number for number in numbers if number is not None and rendering.node(number) is not None]


def _find_members(rendering: Rendering, first: _ItemPlace, second: _ItemPlace) -> Iterator[ItemRange]:
    """Yield the places that are like two others; these two are among them."""
    if first.element is second.element:
        yield from _texts_beside(rendering, first, second)
        return
    steps = _common_steps(first.element, second.element)
    if steps is None or first.text != second.text:
        return
    is_link = _is_only_link(first.element)
    both_alike = is_link == _is_only_link(second.element)
    for element in _follow_steps(*steps):
        if both_alike and is_link != _is_only_link(element):
            continue  # a link to another page between steps of this one, or a note between links
        if numbers := _item_texts(rendering, element, first.text):
            yield numbers[0], numbers[-1]


def _texts_beside(rendering: Rendering, first: _ItemPlace, second: _ItemPlace) -> Iterator[ItemRange]:
    """Yield the texts right inside the element of two places, if both places are such texts."""
    if first.text is not None and second.text is not None:
        for number in _direct_texts(rendering, first.element):
            yield number, number


def _item_texts(rendering: Rendering, element: etree._Element, position: int | None) -> Sequence[int]:
    """Return the numbers of an element's texts: all of them, or the one at a position right inside it."""
    if position is None:
        return rendering.texts_inside(element)
    return _direct_texts(rendering, element)[position : position + 1]


def _is_only_link(element: etree._Element) -> bool:
    """Return True if an element has nothing but a link, or is one."""
    while element.tag != "a" and len(element) == 1 and not (element.text or element[0].tail or "").strip():
        element = element[0]
    return bool(element.tag == "a")


def _common_steps(
    first: etree._Element, second: etree._Element
) -> tuple[etree._Element, list[_PathStep]] | None:
    """Return the common ancestor of two elements, and the steps from there to both; None if they are not alike."""
    first_chain = [first, *first.iterancestors()]
    second_chain = [second, *second.iterancestors()]
    if len(first_chain) != len(second_chain):
        return None
    steps: list[_PathStep] = []
    for one, other in zip(first_chain, second_chain, strict=True):
        if one is other:
            last = steps.pop()
            steps.append(_PathStep(last.tag, last.classes))  # both are children of the ancestor: any position
            return one, steps[::-1]
        if one.tag != other.tag:
            return None
        steps.append(_make_step(one, other))
    return None


def _make_step(one: etree._Element, other: etree._Element) -> _PathStep:
    """Return what two elements share; their position, too, if it is the same and there are others beside them."""
    step = _PathStep(one.tag, _classes(one) & _classes(other))
    beside_one, beside_other = step.children(one.getparent()), step.children(other.getparent())
    position = beside_one.index(one)
    if position == beside_other.index(other) and max(len(beside_one), len(beside_other)) > 1:
        return _PathStep(step.tag, step.classes, position)
    return step


def _follow_steps(ancestor: etree._Element, steps: Sequence[_PathStep]) -> list[etree._Element]:
    """Return the elements that steps lead to."""
    elements = [ancestor]
    for step in steps:
        below: list[etree._Element] = []
        for element in elements:
            below += step.children(element)
        elements = below
    return elements


def _classes(element: etree._Element) -> frozenset[str]:
    return frozenset(element.get("class", "").split())
