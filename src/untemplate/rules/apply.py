"""A rule applied to a page: the one function that evaluates rules.

The structural part of a selector is one compiled XPath; conditions on texts are tested on the few nodes it
leaves, so the cost of a page is linear in its size whatever the rule says.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import re2
from lxml import etree

from untemplate.page import HIDDEN_TAGS, Node, Page
from untemplate.page.captions import CaptionFinder, nodes_after, static_key, text_after, text_before
from untemplate.rules.candidates import Candidates
from untemplate.rules.classifier import Classifier
from untemplate.rules.feature import Feature
from untemplate.rules.reading import Reading, Unread, read_beginning, read_whole
from untemplate.rules.rule import Rule, Selector, Wrapper
from untemplate.schema import Attribute
from untemplate.value_types import looks_typed

__all__ = ["Found", "apply_rule", "apply_rules", "apply_wrapper", "holds", "holds_anywhere", "select"]


@dataclass(frozen=True, slots=True)
class Found:
    """A place where a rule found a value."""

    node: Node
    text: str
    rule: str
    confidence: float


def apply_wrapper(
    wrapper: Wrapper, page: Page, attributes: Mapping[str, Attribute]
) -> dict[str, list[Found]]:
    """What the rules of a wrapper find on a page, which is read to its end only if that may matter."""
    if wrapper.stops and not page.is_parsed:
        beginning = read_beginning(page, wrapper.stop_bytes)
        if beginning is not None:
            with suppress(Unread):
                return apply_rules(wrapper, beginning, attributes)
    return apply_rules(wrapper, read_whole(page), attributes)


def apply_rules(
    wrapper: Wrapper, reading: Reading, attributes: Mapping[str, Attribute]
) -> dict[str, list[Found]]:
    """What each rule of a wrapper finds on a page. Raises Unread if that may change with what was not read."""
    candidates, labels = Candidates(reading.tree, wrapper.static_texts), CaptionFinder(wrapper.static_texts)
    return {
        name: _Reader(rule, attributes[name], reading, candidates, labels).apply()
        for name, rule in wrapper.rules.items()
    }


def apply_rule(rule: Rule, tree: etree._Element, wrapper: Wrapper, attribute: Attribute) -> list[Found]:
    """What a rule finds on a page: all places in order for a `many` attribute, else at most one."""
    static = wrapper.static_texts
    return _Reader(rule, attribute, Reading(tree), Candidates(tree, static), CaptionFinder(static)).apply()


def select(selector: Selector, tree: etree._Element, static: frozenset[str]) -> Iterator[Node]:
    """The visible nodes that a selector selects, in document order, each found when it is asked for."""
    return _select(selector, Candidates(tree, static), CaptionFinder(static))


def _select(selector: Selector, candidates: Candidates, labels: CaptionFinder) -> Iterator[Node]:
    tests = selector.text_features
    nodes = (n for n in candidates.of(selector) if _all_hold(tests, n, labels) and _is_visible(n))
    if selector.position > 0:
        return islice(nodes, selector.position - 1, selector.position)
    return iter(deque(nodes, maxlen=1)) if selector.position else nodes


def _is_visible(node: Node) -> bool:
    element = node.parent
    while element is not None:
        if element.tag in HIDDEN_TAGS:
            return False
        element = element.getparent()
    return True


def _all_hold(features: tuple[Feature, ...], node: Node, labels: CaptionFinder) -> bool:
    for feature in features:  # noqa: SIM110, as this is where most of the time goes
        if not holds(feature, node, labels):
            return False
    return True


def holds_anywhere(feature: Feature, node: Node, labels: CaptionFinder) -> bool:
    """Whether a feature holds of a node; from level 2 up, of any element there (Vertex III-C.3)."""
    if not feature.is_structural or feature.level < 2:
        return holds(feature, node, labels)
    above = _ancestor(node, feature.level)
    while above is not None:
        if feature.holds_of(_beside(feature, above)):
            return True
        above = above.getparent()
    return False


def holds(feature: Feature, node: Node, labels: CaptionFinder) -> bool:
    """Whether a feature holds of a node."""
    if feature.is_structural:
        if feature.level == 0:
            return feature.holds_of(_beside_text(feature, node))
        element = _ancestor(node, feature.level)
        return element is not None and feature.holds_of(_beside(feature, element))
    values = feature.values
    match feature.kind:
        case "label":
            return labels.caption(node) in values
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


def _ancestor(node: Node, level: int) -> etree._Element | None:
    """The element so many steps up from the node; 1 is the one that contains it."""
    element: etree._Element | None = node.parent
    while level > 1 and element is not None:
        element = element.getparent()
        level -= 1
    return element


def _beside(feature: Feature, element: etree._Element) -> etree._Element | None:
    """The element that a structural feature speaks of: this one, or its sibling; None if that is missing."""
    return _sibling(feature, element, feature.sibling) if feature.axis else element


def _beside_text(feature: Feature, node: Node) -> etree._Element | None:
    """The element sibling of a text node."""
    if not node.is_text:
        return None
    element = node.element
    if feature.axis == "preceding":
        if node.kind == "text":
            return None
        first = element if isinstance(element.tag, str) else _sibling(feature, element, 1)
    elif node.kind == "text":
        first = next(element.iterchildren("*"), None)
    else:
        first = _sibling(feature, element, 1)
    return first if feature.sibling == 1 or first is None else _sibling(feature, first, 1)


def _sibling(feature: Feature, element: etree._Element, distance: int) -> etree._Element | None:
    before = feature.axis == "preceding"
    sibling: etree._Element | None = element
    while distance and sibling is not None:
        sibling = sibling.getprevious() if before else sibling.getnext()
        distance -= sibling is not None and isinstance(sibling.tag, str)
    return sibling


def _is_read(feature: Feature, node: Node, reading: Reading) -> bool:
    """Whether the rest of the page cannot change what a feature says of a node."""
    if feature.side == "right":
        after = next(nodes_after(node), None)
        return after is not None and not reading.cuts(after)
    if feature.axis != "following":
        return True
    if feature.level == 0:
        return _beside_text(feature, node) is not None or node.parent not in reading.open
    element = _ancestor(node, feature.level)
    if element is None or _beside(feature, element) is not None:
        return True
    return element.getparent() not in reading.open


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the values that a rule's selectors select on one page."""

    rule: Rule
    attribute: Attribute
    reading: Reading
    candidates: Candidates
    labels: CaptionFinder

    def apply(self) -> list[Found]:
        """What the first selector finds that finds anything, or else the committee."""
        if not self.reading.is_whole and (self.rule.nodes > 1 or self.rule.classifier is not None):
            raise Unread
        first, *others = self.rule.selectors
        if found := self.read(first, f"{self.attribute.name}#1"):
            return found
        for number, selector in enumerate(others, 2):
            if not self.reading.lacks(selector):
                found = self.read(selector, f"{self.attribute.name}#{number}")
                if found:
                    return found
        return self.ask_committee()

    def read(self, selector: Selector, name: str) -> list[Found]:
        """The values at the selected nodes, with the confidence that the committee gives them."""
        nodes = _select(selector, self.candidates, self.labels)
        if self.rule.classifier is not None:
            nodes = self._winner(self.rule.classifier, nodes)
        found = []
        for node in nodes:
            text = self._text(node)
            if text:
                found.append(Found(node, text, name, self._confidence(node)))
                if not self.attribute.many:
                    break
        if not self.reading.is_whole and not self._is_known(selector, found):
            raise Unread
        return found

    def _is_known(self, selector: Selector, found: Sequence[Found]) -> bool:
        """Whether the selector finds the same on the whole page."""
        if any(self.reading.cuts(place.node) for place in found):
            return False
        is_first = bool(found) and not self.attribute.many and selector.position >= 0
        if (is_first and selector.ahead < 0) or self.reading.has_all(selector, self.labels):
            return True
        # What comes before a text is followed by no later text than it, but maybe by later elements.
        ahead = [feature for feature in selector.features if feature.looks_ahead]
        return (
            is_first
            and selector.node == "text()"
            and all(f.side == "right" and _is_read(f, found[0].node, self.reading) for f in ahead)
        )

    def ask_committee(self) -> list[Found]:
        """What the committee finds where no selector finds anything.

        Most of it must find the same, or two members of it that look at different kinds of nodes.
        """
        readings: dict[str, list[Found]] = {}  # by first text, all that the first member to find it found
        nodes: defaultdict[str, set[str]] = defaultdict(set)
        weights: defaultdict[str, float] = defaultdict(float)
        for number, member in enumerate(self.rule.committee, 1):
            name = f"{self.attribute.name}#committee-{number}"
            found = [] if self.reading.lacks(member) else self.read(member, name)
            found = [place for place in found if not self._is_static(place.node)]
            text = found[0].text if found else ""
            readings.setdefault(text, found)
            nodes[text].add(member.node)
            weights[text] += member.weight
        total = sum(weights.values())
        if not total:
            return []
        for text, found in readings.items():
            share = weights[text] / total
            if text and (share > 0.5 or len(nodes[text]) > 1):
                return [replace(place, confidence=share / 2) for place in found]
        return []

    def _winner(self, classifier: Classifier, nodes: Iterable[Node]) -> Iterator[Node]:
        """The candidate that is most likely the value, if it is more likely than not."""
        best, best_probability = None, 0.5
        for node in nodes:
            probability = classifier.probability(partial(holds_anywhere, node=node, labels=self.labels))
            if probability > best_probability:
                best, best_probability = node, probability
        return iter([best] if best is not None else [])

    def _text(self, node: Node) -> str | None:
        """The text of the value that begins at this node: joined, cut to its range, and of its type."""
        text: str | None = node.text
        if self.rule.nodes > 1:
            following = islice(nodes_after(node), self.rule.nodes - 1)
            text = " ".join([node.text, *(other.text for other in following)])
        if text and self.rule.range:
            text = self.rule.range.prune(text)
        if text and self.rule.typed and not looks_typed(text, self.attribute.type):
            return None
        if text and self.attribute.pattern and not re2.search(self.attribute.pattern, text):
            return None
        return text

    def _is_static(self, node: Node) -> bool:
        """Whether a node is one of the template's own words, such as the label of the next value."""
        return node.is_text and static_key(node.parent, node.text) in self.labels.static

    def _confidence(self, node: Node) -> float:
        """The share of those that agree, among the committee's members for such nodes and the selector itself."""
        agreeing = voting = 1
        kind = node.node_test
        for member in self.rule.committee:
            if member.node == kind:
                voting += 1
                agreeing += _all_hold(member.features, node, self.labels)
                if not self.reading.is_whole and member.ahead >= 0 and not self._sees(member, node):
                    raise Unread
        return agreeing / voting

    def _sees(self, selector: Selector, node: Node) -> bool:
        """Whether all was read that the selector looks at around a node."""
        return all(_is_read(feature, node, self.reading) for feature in selector.features)
