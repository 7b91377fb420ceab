"""Select nodes on a page: the evaluation of selectors and their features.

The structural features of a selector are tested on all elements of a page: by the native core, or as one compiled
XPath. Features of texts are tested on the few nodes that are left, so the cost of a page is linear in its size
whatever the rule says. A selector without structural features would have to test every text of the page. Instead the
page is searched for one of the texts that the selector names, and the nodes beside or behind it are the candidates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain, islice, starmap
from typing import Any

from lxml import etree

from untemplate.native import core, is_native
from untemplate.page import HIDDEN_TAGS, Node, squeeze, visible_text
from untemplate.page.captions import (
    CaptionFinder,
    nodes_after,
    nodes_before,
    static_key,
    text_after,
    text_before,
)
from untemplate.page.dom import CROSSED_OUT_TAGS
from untemplate.rules.feature import CAPTION, Feature, anchor_words
from untemplate.rules.rule import FirstSearch, Region, Selector

__all__ = [
    "CandidateNodes",
    "all_features_match",
    "feature_matches",
    "feature_matches_at_or_above",
    "is_crossed_out",
    "select",
    "select_candidates",
    "selector_matches",
]

# A selector with more candidates than this describes the text of the page rather than a value. The rest is ignored.
MAX_CANDIDATES = 10_000


class CandidateNodes:
    """The nodes of one page that selectors may select. A search that several selectors share runs once."""

    def __init__(self, tree: etree._Element, static: frozenset[str]) -> None:
        self._tree = tree
        self._static = static
        self.is_native = is_native(tree)
        # By XPath: texts are compared faster than regions.
        self._found: dict[tuple[str, str], Any] = {}
        self._regions: dict[str, dict[etree._Element, None]] = {}

    def select(self, selector: Selector, captions: CaptionFinder) -> Iterator[Node]:
        """Yield the visible nodes that match all features of a selector, in document order."""
        found = self._find(selector)
        if self.is_native and selector.anchor is None:
            return starmap(Node, selector.conditions.select(found, captions.native))
        nodes: Iterator[Node] = starmap(Node, found)
        if selector.anchor and not selector.anchor.kind.startswith("inside"):
            beside = (_nodes_beside_anchor(selector.anchor, node, self._static) for node in nodes)
            nodes = chain.from_iterable(beside)
        tests = selector.text_features
        return (
            node
            for node in nodes
            if all_features_match(tests, node, captions) and not _is_inside(node, HIDDEN_TAGS)
        )

    def find_value(
        self,
        searches: list[FirstSearch],
        captions: CaptionFinder,
        cut: Callable[[str], str | None] | None,
        votes: bool,
    ) -> tuple[int, etree._Element, str, str, str, int] | None:
        """Return the first value that selectors find, found by the native core.

        Args:
            searches: the selectors, tried in order; none has an anchor.
            captions: the captions of the page.
            cut: returns the value in a text, or None; None if the texts are the values.
            votes: True to count the members that match the node, without those that select in regions.

        Returns:
            The number of the selector, the element, the kind and the text of the node, the value, and the votes. A
            node that is crossed out counts if there is no other. None without a value.
        """
        first: tuple[int, etree._Element, str, str, str, int] | None = core.find_value(  # type: ignore[union-attr]
            searches, self._found, self._find, captions.native, cut, votes
        )
        return first

    def _find(self, selector: Selector) -> Any:
        """Return element, kind and text of nodes in document order, among them all that the selector selects.

        With an anchor these are the nodes that may be the anchor.
        """
        key = selector.candidates_key
        if key not in self._found:
            find = self._find_natively if self.is_native else self._evaluate
            self._found[key] = find(selector)
        return self._found[key]

    def _find_natively(self, selector: Selector) -> Any:
        """Return the candidates that the native core finds."""
        if selector.anchor:
            found = core.find_texts(self._tree, anchor_words(selector.anchor))  # type: ignore[union-attr]
        else:
            regions = self.elements_of(selector.region) if selector.region else None
            found = selector.conditions.find(self._tree, regions)
        found.cut(MAX_CANDIDATES)
        return found

    def _evaluate(self, selector: Selector) -> Any:
        """Return what the XPath of a selector finds on the page, or inside the elements of its region."""
        tops = self.elements_of(selector.region) if selector.region else [self._tree]
        results: list[Any] = []
        for element in tops:
            results += selector.find_candidates(element)
        return list(_locate_results(results[:MAX_CANDIDATES]))

    def elements_of(self, region: Region) -> dict[etree._Element, None]:
        """Return the elements of a region in document order, without those inside another of them."""
        if region.xpath not in self._regions:
            find = self._find_outermost if self.is_native else self._evaluate_outermost
            self._regions[region.xpath] = dict.fromkeys(find(region))
        return self._regions[region.xpath]

    def _find_outermost(self, region: Region) -> list[etree._Element]:
        """Return the elements of a region that the native core finds."""
        found = region.conditions.find(self._tree)
        if not region.position:
            outermost: list[etree._Element] = found.outermost()
            return outermost
        elements = found.elements()
        start = region.position - 1 if region.position > 0 else len(elements) - 1
        return elements[start : start + 1] if elements else []

    def _evaluate_outermost(self, region: Region) -> list[etree._Element]:
        """Return the elements of a region that its XPath finds."""
        outermost: dict[etree._Element, None] = {}
        for element in region.find_elements(self._tree):
            if not any(ancestor in outermost for ancestor in element.iterancestors()):
                outermost[element] = None
        return list(outermost)


def _locate_results(results: Iterable[Any]) -> Iterator[tuple[etree._Element, str, str]]:
    """Yield what an XPath returned as element, kind and text, without nodes that show none."""
    for result in results:
        if isinstance(result, etree._Element):
            element, kind, text = result, "element", visible_text(result)
        else:
            element, text = result.getparent(), squeeze(result)
            kind = f"@{result.attrname}" if result.is_attribute else "tail" if result.is_tail else "text"
        if text:
            yield element, kind, text


def _nodes_beside_anchor(anchor: Feature, node: Node, static: frozenset[str]) -> Iterator[Node]:
    """Return the nodes that may match the anchor because of this node's text, if readers see it."""
    if _is_inside(node, HIDDEN_TAGS):
        return iter(())
    if anchor.kind != CAPTION:
        return islice(nodes_after(node) if anchor.side == "left" else nodes_before(node), 1)
    if node.text not in anchor.values or static_key(node.parent, node.text) not in static:
        return iter(())
    return _nodes_until_caption(node, static)


def _nodes_until_caption(node: Node, static: frozenset[str]) -> Iterator[Node]:
    """Yield the nodes after a caption, up to and including the next one."""
    for following in nodes_after(node):
        yield following
        if static_key(following.parent, following.text) in static:
            return


def select(selector: Selector, tree: etree._Element, static: frozenset[str]) -> Iterator[Node]:
    """Yield the visible nodes that a selector selects, lazily and in document order.

    Args:
        selector: what to select.
        tree: the root element of the page.
        static: keys of the site's static texts, which can be captions; see `static_key`.
    """
    return select_candidates(selector, CandidateNodes(tree, static), CaptionFinder(static))


def select_candidates(
    selector: Selector, candidates: CandidateNodes, captions: CaptionFinder
) -> Iterator[Node]:
    """Do the same as `select`, with candidates and captions that all selectors of a page share."""
    nodes = candidates.select(selector, captions)
    if selector.position > 0:
        return islice(nodes, selector.position - 1, selector.position)
    if selector.position < 0:
        return iter(deque(nodes, maxlen=1))
    return nodes


def is_crossed_out(node: Node) -> bool:
    """Return True if readers see a node crossed out, as a former price."""
    element = node.parent
    if is_native(element):
        is_crossed: bool = element.is_crossed_out()
        return is_crossed
    return _is_inside(node, CROSSED_OUT_TAGS)


def _is_inside(node: Node, tags: Container[str]) -> bool:
    """Return True if an element with one of these tags contains a node."""
    element = node.parent
    if is_native(element):
        inside: bool = element.is_inside(tags)
        return inside
    while element is not None:
        if element.tag in tags:
            return True
        element = element.getparent()
    return False


def selector_matches(
    selector: Selector, node: Node, candidates: CandidateNodes, captions: CaptionFinder
) -> bool:
    """Return True if a node matches all features of a selector, and is inside its region."""
    if candidates.is_native:
        matches = selector.conditions.matches(node.element, node.kind, node.text, captions.native)
    else:
        matches = all_features_match(selector.features, node, captions)
    return matches and (selector.region is None or _is_in_region(selector, selector.region, node, candidates))


def _is_in_region(selector: Selector, region: Region, node: Node, candidates: CandidateNodes) -> bool:
    """Return True if the highest element that a selector tests is inside an element of its region."""
    top = _ancestor(node, max((f.level for f in selector.features if f.is_structural), default=1))
    if top is not None and node.kind == "element" and top is node.element:
        top = top.getparent()  # a selected element is inside the region, not the region itself
    regions = candidates.elements_of(region)
    return top is not None and any(element in regions for element in (top, *top.iterancestors()))


def all_features_match(features: tuple[Feature, ...], node: Node, captions: CaptionFinder) -> bool:
    """Return True if a node matches all features."""
    for feature in features:  # noqa: SIM110, as this is where most of the time goes
        if not feature_matches(feature, node, captions):
            return False
    return True


def feature_matches(feature: Feature, node: Node, captions: CaptionFinder) -> bool:
    """Return True if a node matches a feature."""
    if feature.is_structural:
        return _structure_matches(feature, node)
    values = feature.values
    match feature.kind:
        case "label":
            return captions.caption(node) in values
        case "text":
            return (text_before(node) if feature.side == "left" else text_after(node)) in values
        case "word" if feature.side == "left":
            return text_before(node).rpartition(" ")[2] in values
        case "word":
            return text_after(node).partition(" ")[0] in values
        case "inside-left-text":
            return node.text.startswith(values)
        case "inside-right-text":
            return node.text.endswith(values)
        case _:
            return not set(values).isdisjoint(node.text.split(" "))


def feature_matches_at_or_above(feature: Feature, node: Node, captions: CaptionFinder) -> bool:
    """Return True if a feature matches; from level 2 up any higher ancestor may match instead (Vertex III-C.3)."""
    if not feature.is_structural or feature.level < 2:
        return feature_matches(feature, node, captions)
    ancestor = _ancestor(node, feature.level)
    while ancestor is not None:
        if feature.matches_element(_compared_element(feature, ancestor)):
            return True
        ancestor = ancestor.getparent()
    return False


def _structure_matches(feature: Feature, node: Node) -> bool:
    """Return True if a node matches a structural feature. At level 0 these are about the siblings of a text."""
    if feature.level == 0:
        return feature.matches_element(_sibling_of_text(feature, node))
    element = _ancestor(node, feature.level)
    return element is not None and feature.matches_element(_compared_element(feature, element))


def _ancestor(node: Node, level: int) -> etree._Element | None:
    """Return the element that many steps up from the node; 1 is the one that contains it."""
    element: etree._Element | None = node.parent
    while level > 1 and element is not None:
        element = element.getparent()
        level -= 1
    return element


def _compared_element(feature: Feature, element: etree._Element) -> etree._Element | None:
    """Return the element that a structural feature is about: this one or its sibling; None if that is missing."""
    return _sibling(feature, element, feature.sibling) if feature.axis else element


def _sibling_of_text(feature: Feature, node: Node) -> etree._Element | None:
    """Return the element before or after a text node that a feature is about; None if it is missing."""
    if not node.is_text:
        return None
    nearest = _nearest_before(feature, node) if feature.axis == "preceding" else _nearest_after(feature, node)
    if nearest is None or feature.sibling == 1:
        return nearest
    return _sibling(feature, nearest, 1)


def _nearest_before(feature: Feature, node: Node) -> etree._Element | None:
    """Return the element right before a text node: none before an element's first text."""
    if node.kind == "text":
        return None
    is_element = isinstance(node.element.tag, str)  # a text may also follow a comment
    return node.element if is_element else _sibling(feature, node.element, 1)


def _nearest_after(feature: Feature, node: Node) -> etree._Element | None:
    """Return the element right after a text node: for an element's first text, its first child."""
    if node.kind == "text":
        return next(node.element.iterchildren("*"), None)
    return _sibling(feature, node.element, 1)


def _sibling(feature: Feature, element: etree._Element, distance: int) -> etree._Element | None:
    """Return the element that many siblings away, along the feature's axis."""
    is_before = feature.axis == "preceding"
    sibling: etree._Element | None = element
    while distance and sibling is not None:
        sibling = sibling.getprevious() if is_before else sibling.getnext()
        distance -= sibling is not None and isinstance(sibling.tag, str)
    return sibling
