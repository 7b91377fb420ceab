"""From clicks to labels, and from labels and predictions back to what is marked on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from untemplate.errors import LabelError
from untemplate.labeling import Label
from untemplate.learning import Table
from untemplate.learning.occurrences import MAX_SPAN, Place, find_elements, find_places
from untemplate.page import Node, Page, element_xpath, squeeze
from untemplate.page.captions import nodes_after
from untemplate.rules import Rule
from untemplate.rules.applying import Match
from untemplate.schema import Attribute
from untemplate.web.rendering import Rendering

__all__ = ["Click", "Spot", "label_at", "spot_of_found", "spots_of_label"]


@dataclass(frozen=True, slots=True)
class Click:
    """What a person pointed at: an item, or its attribute; up to another item; or only a part of its text."""

    item: int
    attribute: str | None = None
    last: int | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """What to mark on a page: these items, or of one of them only a part of its text."""

    items: tuple[int, ...]
    part: str | None = None


def label_at(click: Click, page: Page, rendering: Rendering, attribute: Attribute) -> Label:
    """The label that a click means; LabelError if there is nothing to label."""
    node = rendering.node(click.item, click.attribute)
    if node is None:
        raise LabelError("there is no text to label at this place")
    if click.last is not None and click.last != click.item:
        nodes = _between(page, rendering, click.item, click.last)
        return Label(page.id, attribute.name, _joined(nodes), _common_xpath(nodes, page))
    if click.part is None:
        return Label(page.id, attribute.name, node.text, node.xpath)
    part = squeeze(click.part)
    if not part or part not in node.text:
        raise LabelError("the selected text is not part of this place")
    return Label(page.id, attribute.name, part, node.xpath)


def spots_of_label(
    label: Label, number: int, table: Table, rendering: Rendering, attribute: Attribute
) -> list[Spot]:
    """Where a label stands on page `number` of a table; the first place if there are several."""
    if label.is_gap:
        return []
    place = next(iter(find_places(table, number, label, attribute)), None)
    if place is None:
        element = next(iter(find_elements(table.with_elements, number, label)), None)
        return [_element_spot(table.with_elements.rows[element.row], rendering)] if element else []
    return [_place_spot(place, table, rendering)]


def spot_of_found(found: Match, rule: Rule, rendering: Rendering) -> Spot:
    """Where a rule found a value."""
    if found.node.kind == "element":
        return _element_spot(found.node, rendering)
    nodes = [found.node, *islice(nodes_after(found.node), rule.nodes - 1)]
    part = found.text if rule.range is not None and found.node.is_text else None
    return Spot(_numbers(nodes, rendering), part)


def _place_spot(place: Place, table: Table, rendering: Rendering) -> Spot:
    first = table.rows[place.row]
    texts = (node for node in table.rows[place.row :] if node.is_text or node is first)
    part = place.text if place.mode == "part" else None
    return Spot(_numbers(list(islice(texts, place.nodes)), rendering), part)


def _element_spot(node: Node, rendering: Rendering) -> Spot:
    number = rendering.numbers.get((node.element, "element"))
    return Spot(() if number is None else (number,))


def _numbers(nodes: Sequence[Node], rendering: Rendering) -> tuple[int, ...]:
    numbers = (rendering.number(node) for node in nodes)
    return tuple(number for number in numbers if number is not None)


def _between(page: Page, rendering: Rendering, first: int, last: int) -> list[Node]:
    """The text nodes from one item to another, in document order whichever comes first."""
    low, high = sorted((first, last))
    nodes = [
        node
        for node in page.nodes
        if node.is_text and (number := rendering.number(node)) is not None and low <= number <= high
    ]
    if not nodes:
        raise LabelError("there is no text to label at this place")
    if len(nodes) > MAX_SPAN:
        raise LabelError(f"a value may run over {MAX_SPAN} texts, not {len(nodes)}")
    return nodes


def _joined(nodes: Sequence[Node]) -> str:
    return " ".join(node.text for node in nodes)


def _common_xpath(nodes: Sequence[Node], page: Page) -> str | None:
    """The element whose texts are these and no others; None if there is none."""
    if len(nodes) == 1:
        return nodes[0].xpath
    wanted = {(node.element, node.kind) for node in nodes}
    for element in _upward(nodes[0].parent):
        inside = set(element.iter())
        held = {(node.element, node.kind) for node in page.nodes if node.is_text and node.parent in inside}
        if wanted <= held:
            return element_xpath(element) if held == wanted else None
    return None


def _upward(element: etree._Element) -> Iterator[etree._Element]:
    yield element
    yield from element.iterancestors()
