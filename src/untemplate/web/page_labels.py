"""Labels that a person gives on a page: from clicks to labels in the catalog, and from labels back to marks.

Every label is written to the catalog at once. Replaced labels are removed, not deleted, so changes can be undone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf

from lxml import etree

from untemplate.errors import CatalogError, LabelError
from untemplate.labeling import Label
from untemplate.learning import SampleTable
from untemplate.learning.occurrences import find_element_occurrences, find_occurrences
from untemplate.page import Node, Page, element_xpath, squeeze, visible_text
from untemplate.page.captions import join_texts, nodes_after
from untemplate.page.locating import MAX_SPAN_NODES, Occurrence
from untemplate.rules import Rule
from untemplate.rules.applying import Match
from untemplate.schema import Attribute
from untemplate.web.cluster_session import ClusterSession
from untemplate.web.embedded_panel import labels_from_embedded
from untemplate.web.rendering import Rendering
from untemplate.web.workspace import OpenSite

__all__ = [
    "Click",
    "LabelChange",
    "MarkedItems",
    "change_labels",
    "confirm_values",
    "label_from_click",
    "mark_label",
    "mark_match",
    "replace_labels",
    "set_absent",
    "set_labels",
]


@dataclass(frozen=True, slots=True)
class Click:
    """What a person pointed at.

    Attributes:
        item: An item of the page.
        attribute: An attribute of the item, such as `src`.
        last: The last item of a range.
        part: A part of the item's text.
        is_whole: Whether the item is an element, and all its text is the value.
        embedded: Instead of an item, the number of a value of the embedded data.
        label: Instead of an item, the id of a label that stays as it is.
        found: Instead of an item, the position of a value among those that the rule finds on the page.
    """

    item: int | None = None
    attribute: str | None = None
    last: int | None = None
    part: str | None = None
    embedded: int | None = None
    label: int | None = None
    found: int | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class MarkedItems:
    """What to mark on a page: some items, or a part of the text of one item."""

    items: tuple[int, ...]
    part: str | None = None


@dataclass(frozen=True)
class LabelChange:
    """The ids of labels that were added or restored, and of labels that were removed; swap them to undo it."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()


# Changing labels


def set_labels(site: OpenSite, page: str, attribute: str, clicks: Sequence[Click] | None) -> LabelChange:
    """Replace the labels of an attribute on a page.

    Args:
        site: The site of the page.
        page: The id of the page.
        attribute: The name of the attribute.
        clicks: The values. None means that the page does not contain the attribute, an empty sequence that it has no
            label.

    Raises:
        LabelError: The schema has no such attribute, a click is not on a value, or there are too many values.
    """
    definition = site.schema.attributes.get(attribute)
    if definition is None:
        raise LabelError(f"schema {site.schema.name!r} has no attribute {attribute!r}")
    parsed, rendering = site.rendered_page(page)
    if clicks is None:
        return replace_labels(site, page, [attribute], [Label(page, attribute, None)])
    if len(clicks) > 1 and not definition.many:
        raise LabelError(f"{attribute} has one value on a page, not {len(clicks)}")
    stored = {old.id: old.label for old in site.labels(page) if old.label.attribute == attribute}
    labels: list[Label] = []
    for click in clicks:
        if click.found is None:
            labels += _labels_of_click(click, parsed, rendering, definition, stored)
        else:
            labels += _found_labels(site, parsed, attribute)[click.found : click.found + 1]
    return replace_labels(site, page, [attribute], labels)


def _found_labels(site: OpenSite, page: Page, attribute: str) -> list[Label]:
    """Return the values that the rule of an attribute finds on a page, as labels; none without a rule."""
    session = site.session(site.cluster_of(page.id))
    matches = session.find(page).get(attribute)
    return _matches_as_labels(page.id, attribute, matches, session) if matches else []


def confirm_values(site: OpenSite, page: str, attributes: Collection[str] | None = None) -> LabelChange:
    """Label a page with the values that the rules find: for some attributes, or for all that have no label there.

    Somebody who confirms all values sees what was found, and not what is missing. So an attribute whose rule finds
    nothing is labeled as not on the page only if it is named.

    Args:
        site: The site of the page.
        page: The id of the page.
        attributes: The names of the attributes whose values are right; None for all that have a value and no label.
    """
    session = site.session(site.cluster_of(page))
    parsed, _ = site.rendered_page(page)
    found = session.find_unlabeled(parsed) if attributes is None else session.find(parsed)
    confirmed = [name for name in found if (found[name] if attributes is None else name in attributes)]
    labels: list[Label] = []
    for name in confirmed:
        labels += _matches_as_labels(page, name, found[name], session)
    return replace_labels(site, page, confirmed, labels)


def set_absent(site: OpenSite, cluster: str, attribute: str) -> LabelChange:
    """Label all sample pages of a cluster as not containing an attribute, except those that have a label for it.

    Args:
        site: The site of the cluster.
        cluster: The id of the cluster.
        attribute: The name of the attribute.

    Raises:
        LabelError: The schema has no such attribute.
    """
    if attribute not in site.schema.attributes:
        raise LabelError(f"schema {site.schema.name!r} has no attribute {attribute!r}")
    labeled = {stored.label.page for stored in site.labels() if stored.label.attribute == attribute}
    pages = [id for id in site.session(cluster).pages if id not in labeled]
    with site.writing:
        labels = [Label(page, attribute, None) for page in pages]
        ids = site.catalog.add_labels(site.name, labels, site.workspace.user)
    site.workspace.changes.publish(site.name)
    return LabelChange(tuple(ids))


def change_labels(site: OpenSite, restore: Iterable[int], remove: Iterable[int]) -> LabelChange:
    """Undo or redo a change: restore some labels of a site and remove others.

    Labels that are restored or removed already are ignored, because another window may have done it.

    Args:
        site: The site of the labels.
        restore: The ids of removed labels to restore.
        remove: The ids of labels to remove.

    Raises:
        CatalogError: A label does not belong to the site.
    """
    with site.writing:
        labels = {stored.id: stored for stored in site.catalog.labels(site.name, removed=True)}
        to_restore, to_remove = list(dict.fromkeys(restore)), list(dict.fromkeys(remove))
        if unknown := _without_ids([*to_restore, *to_remove], labels):
            raise CatalogError(f"no label {unknown[0]} of {site.name} in the catalog")
        restored = [id for id in to_restore if labels[id].removed is not None]
        removed = [id for id in to_remove if labels[id].removed is None]
        for id in restored:
            site.catalog.restore_label(id, site.workspace.user)
        for id in removed:
            site.catalog.remove_label(id, site.workspace.user)
    site.workspace.changes.publish(site.name)
    return LabelChange(tuple(restored), tuple(removed))


def _matches_as_labels(
    page: str, attribute: str, matches: Sequence[Match], session: ClusterSession
) -> list[Label]:
    """Return labels for the values of a rule.

    Values over several nodes, and embedded ones, have no XPath; their text identifies them.
    """
    has_one_node = session.rules[attribute].nodes == 1
    labels = []
    for match in matches:
        has_xpath = has_one_node and match.node.kind != "data"
        labels.append(Label(page, attribute, match.text, match.node.xpath if has_xpath else None))
    return labels or [Label(page, attribute, None)]


def replace_labels(
    site: OpenSite, page: str, attributes: Collection[str], labels: Sequence[Label]
) -> LabelChange:
    """Replace the labels of some attributes on a page, and publish the change.

    A label that the same person gave before stays as it is, with its id, unless it now comes after a new one: labels
    are in the order of their ids.

    Args:
        site: The site of the page.
        page: The id of the page.
        attributes: The names of the attributes whose labels are replaced.
        labels: Their new labels.
    """
    with site.writing:
        old_ids = {
            stored.label: stored.id for stored in site.labels(page) if stored.label.attribute in attributes
        }
        moved = _moved_ids(labels, old_ids)
        for id in moved:
            site.catalog.remove_label(id, site.workspace.user)
        new_ids = site.catalog.add_labels(site.name, labels, site.workspace.user)
        removed = _without_ids(list(old_ids.values()), [*new_ids, *moved])
        for id in removed:
            site.catalog.remove_label(id, site.workspace.user)
    site.workspace.changes.publish(site.name)
    return LabelChange(_without_ids(new_ids, list(old_ids.values())), (*moved, *removed))


def _moved_ids(labels: Sequence[Label], old_ids: Mapping[Label, int]) -> list[int]:
    """Return the ids of labels that come after a new label, or after one with a higher id."""
    moved: list[int] = []
    highest: float = 0
    for label in labels:
        id = old_ids.get(label, inf)
        if id < highest:
            moved.append(int(id))
        highest = max(highest, id)
    return moved


def _without_ids(ids: Sequence[int], excluded: Collection[int]) -> tuple[int, ...]:
    """Return the ids that are not excluded, in their order."""
    return tuple(id for id in ids if id not in excluded)


# From clicks to labels


def _labels_of_click(
    click: Click, page: Page, rendering: Rendering, attribute: Attribute, stored: Mapping[int, Label]
) -> list[Label]:
    """Return the labels that a click means; none for a label that another window has removed.

    Args:
        click: A click on a place, on an embedded value, or a label that stays.
        page: The page.
        rendering: The page as it is shown.
        attribute: The attribute to label.
        stored: The labels that the attribute has on the page, by id.
    """
    if click.label is not None:
        return [stored[click.label]] if click.label in stored else []
    if click.embedded is not None:
        return labels_from_embedded(click.embedded, page, attribute)
    return [label_from_click(click, page, rendering, attribute)]


def label_from_click(click: Click, page: Page, rendering: Rendering, attribute: Attribute) -> Label:
    """Return the label that a click means.

    Raises:
        LabelError: There is no text to label, the selected part is not there, or the range is too long.
    """
    if click.is_whole:
        return _label_of_element(click, page, rendering, attribute)
    node = None if click.item is None else rendering.node(click.item, click.attribute)
    if click.item is None or node is None:
        raise LabelError("there is no text to label at this place; click on a text")
    if click.last is not None and click.last != click.item:
        return _label_from_range(click.item, click.last, page, rendering, attribute)
    if click.part is None:
        return Label(page.id, attribute.name, node.text, node.xpath)
    part = squeeze(click.part)
    if not part or part not in node.text:
        raise LabelError("the selected text is not part of this place; select it again")
    return Label(page.id, attribute.name, part, node.xpath)


def _label_of_element(click: Click, page: Page, rendering: Rendering, attribute: Attribute) -> Label:
    """Return the label of all text of an element.

    Raises:
        LabelError: The item is no element, or has no text.
    """
    if click.item is None or not click.item < len(rendering.nodes):
        raise LabelError("there is no such element on the page; load it again")
    element, kind = rendering.nodes[click.item]
    text = visible_text(element)
    if kind != "element" or not text:
        raise LabelError("there is no text to label at this place; click on a text")
    return Label(page.id, attribute.name, text, element_xpath(element))


def _label_from_range(first: int, last: int, page: Page, rendering: Rendering, attribute: Attribute) -> Label:
    """Return the label of all texts from one item to another: an element's text, or several texts without an XPath.

    Raises:
        LabelError: There are none, or more than a value may span.
    """
    nodes = _text_nodes_between(rendering, first, last)
    if len(nodes) == 1:
        return Label(page.id, attribute.name, nodes[0].text, nodes[0].xpath)
    element = _element_with(nodes, rendering)
    if element is not None:
        return Label(page.id, attribute.name, visible_text(element), element_xpath(element))
    if len(nodes) > MAX_SPAN_NODES:
        raise LabelError(f"a value may span {MAX_SPAN_NODES} texts, not {len(nodes)}; choose a shorter range")
    return Label(page.id, attribute.name, join_texts(nodes[0], len(nodes)))


def _text_nodes_between(rendering: Rendering, first: int, last: int) -> list[Node]:
    """Return the text nodes from one item to another, in document order whichever comes first."""
    low, high = sorted((first, last))
    nodes = [rendering.node(number) for number in range(low, min(high + 1, len(rendering.nodes)))]
    return [node for node in nodes if node is not None]


def _element_with(nodes: Sequence[Node], rendering: Rendering) -> etree._Element | None:
    """Return the element that contains these text nodes and no others; None if there is no such element."""
    wanted = [rendering.number(node) for node in nodes]
    parent = nodes[0].parent
    for element in (parent, *parent.iterancestors()):
        contained = rendering.texts_inside(element)
        if set(wanted) <= set(contained):
            return element if contained == wanted else None
    return None


# From labels and found values to marks


def mark_label(
    label: Label, number: int, table: SampleTable, rendering: Rendering, attribute: Attribute
) -> MarkedItems | None:
    """Return what to mark for a label: the first place on its page where its value is, if any.

    Args:
        label: The label.
        number: The number of its page in the table.
        table: A table that contains the page.
        rendering: The page as it is shown.
        attribute: The attribute of the label.
    """
    if label.is_gap:
        return None
    occurrence = next(iter(find_occurrences(table, number, label, attribute)), None)
    if occurrence is not None:
        return _mark_occurrence(occurrence, table, rendering)
    elements = table.with_elements
    occurrence = next(iter(find_element_occurrences(elements, number, label)), None)
    return _mark_element(elements.rows[occurrence.row], rendering) if occurrence else None


def mark_match(match: Match, rule: Rule, rendering: Rendering) -> MarkedItems:
    """Return what to mark for a value that a rule found."""
    if match.node.kind == "data":
        return MarkedItems(())
    if match.node.kind == "element":
        return _mark_element(match.node, rendering)
    nodes = [match.node, *islice(nodes_after(match.node), rule.nodes - 1)]
    part = match.text if rule.range is not None and match.node.is_text else None
    return MarkedItems(_item_numbers(nodes, rendering), part)


def _mark_occurrence(occurrence: Occurrence, table: SampleTable, rendering: Rendering) -> MarkedItems:
    """Return the items of the text nodes, or of the attribute, where a value occurs.

    A value may span several text nodes; attributes between them are not part of it.
    """
    first = table.rows[occurrence.row]
    texts = (node for node in table.rows[occurrence.row :] if node.is_text or node is first)
    part = occurrence.text if occurrence.mode == "part" else None
    return MarkedItems(_item_numbers(list(islice(texts, occurrence.nodes)), rendering), part)


def _mark_element(node: Node, rendering: Rendering) -> MarkedItems:
    number = rendering.numbers.get((node.element, "element"))
    return MarkedItems(() if number is None else (number,))


def _item_numbers(nodes: Sequence[Node], rendering: Rendering) -> tuple[int, ...]:
    """Return the numbers of the items that show these nodes; nodes that are not shown have none."""
    numbers = (rendering.number(node) for node in nodes)
    return tuple(number for number in numbers if number is not None)
