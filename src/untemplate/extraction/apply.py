"""A rule applied to a page: the one function that evaluates rules.

The structural part of a selector is one compiled XPath; conditions on texts are tested on the few nodes it
leaves, so the cost of a page is linear in its size whatever the rule says.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import re2
from lxml import etree

from untemplate.extraction.candidates import find_candidates
from untemplate.extraction.classifier import Classifier
from untemplate.extraction.feature import Feature
from untemplate.extraction.neighbors import Labels, nodes_after, static_key, text_after, text_before
from untemplate.extraction.rule import Rule, Selector, Wrapper
from untemplate.page import HIDDEN_TAGS, Node
from untemplate.patterns import looks_typed
from untemplate.schema import Attribute

__all__ = ["Found", "apply_rule", "holds", "holds_anywhere", "select"]


@dataclass(frozen=True, slots=True)
class Found:
    """A place where a rule found a value."""

    node: Node
    text: str
    rule: str
    confidence: float


def apply_rule(rule: Rule, tree: etree._Element, wrapper: Wrapper, attribute: Attribute) -> list[Found]:
    """What the rule finds on a page: all places in order for a `many` attribute, else at most one."""
    reader = _Reader(rule, wrapper, attribute, tree, Labels(wrapper.static_texts))
    for number, selector in enumerate(rule.selectors, 1):
        found = reader.read(selector, f"{attribute.name}#{number}")
        if found:
            return found
    return reader.ask_committee()


def select(selector: Selector, tree: etree._Element, static: frozenset[str]) -> Iterator[Node]:
    """The visible nodes that a selector selects, in document order, each found when it is asked for."""
    candidates = find_candidates(selector, tree, static)
    labels = Labels(static)
    nodes = (n for n in candidates if _all_hold(selector.text_features, n, labels) and _is_visible(n))
    if selector.position > 0:
        return islice(nodes, selector.position - 1, selector.position)
    return iter(deque(nodes, maxlen=1)) if selector.position else nodes


def _is_visible(node: Node) -> bool:
    parent = node.parent
    return parent.tag not in HIDDEN_TAGS and next(parent.iterancestors(*HIDDEN_TAGS), None) is None


def _all_hold(features: tuple[Feature, ...], node: Node, labels: Labels) -> bool:
    return all(holds(feature, node, labels) for feature in features)


def holds_anywhere(feature: Feature, node: Node, labels: Labels) -> bool:
    """Whether a feature holds of a node; from level 2 up, of any element there (Vertex III-C.3)."""
    return holds(feature, node, labels, anywhere=feature.level > 1)


def holds(feature: Feature, node: Node, labels: Labels, anywhere: bool = False) -> bool:
    """Whether a feature holds of a node; `anywhere`: at its level or any above."""
    values = feature.values
    match feature.kind:
        case "label":
            return labels.of(node) in values
        case "inside-left-text":
            return node.text.startswith(values)
        case "inside-right-text":
            return node.text.endswith(values)
        case "inside-word":
            return not set(values).isdisjoint(node.text.split(" "))
        case "text" | "word":
            text = text_before(node) if feature.side == "left" else text_after(node)
            if feature.kind == "word":
                text = text.rpartition(" ")[2] if feature.side == "left" else text.partition(" ")[0]
            return text in values
        case _:
            return any(_element_holds(feature, element) for element in _elements(feature, node, anywhere))


def _elements(feature: Feature, node: Node, anywhere: bool) -> Iterator[etree._Element | None]:
    """The element or elements that a structural feature speaks of; None where a sibling is missing."""
    if feature.level == 0:
        yield _row_sibling(feature, node)
        return
    element: etree._Element | None = node.parent
    for _ in range(feature.level - 1):
        element = None if element is None else element.getparent()
    while element is not None:
        yield _sibling(feature, element, feature.sibling) if feature.axis else element
        element = element.getparent() if anywhere else None


def _row_sibling(feature: Feature, node: Node) -> etree._Element | None:
    """The element sibling of a text node."""
    if not node.is_text:
        return None
    element = node.element
    if feature.axis == "preceding":
        if node.kind == "text":
            return None
        first = element if isinstance(element.tag, str) else _sibling(feature, element, 1)
    elif node.kind == "text":
        first = next(iter(element.iterchildren("*")), None)
    else:
        first = _sibling(feature, element, 1)
    return first if feature.sibling == 1 or first is None else _sibling(feature, first, 1)


def _sibling(feature: Feature, element: etree._Element, distance: int) -> etree._Element | None:
    siblings = element.itersiblings("*", preceding=feature.axis == "preceding")
    for _ in range(distance - 1):
        next(siblings, None)
    return next(siblings, None)


def _element_holds(feature: Feature, element: etree._Element | None) -> bool:
    kind = feature.kind
    if element is None:
        return kind == "tag" and "" in feature.values
    match kind:
        case "tag":
            return element.tag in feature.values
        case "id" | "class":
            return element.get(kind) in feature.values
        case "token":
            return not set(feature.values).isdisjoint((element.get("class") or "").split())
        case _:
            return element.get(kind[1:]) in feature.values


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the values that a rule's selectors select on one page."""

    rule: Rule
    wrapper: Wrapper
    attribute: Attribute
    tree: etree._Element
    labels: Labels

    def read(self, selector: Selector, name: str) -> list[Found]:
        """The values at the selected nodes, with the confidence that the committee gives them."""
        nodes = select(selector, self.tree, self.wrapper.static_texts)
        if self.rule.classifier is not None:
            nodes = self._winner(self.rule.classifier, nodes)
        found = []
        for node in nodes:
            text = self._text(node)
            if text:
                found.append(Found(node, text, name, self._confidence(node)))
                if not self.attribute.many:
                    break
        return found

    def ask_committee(self) -> list[Found]:
        """What the committee finds where no selector finds anything.

        Most of it must find the same, or two members of it that look at different kinds of nodes.
        """
        readings: dict[str, list[Found]] = {}  # by first text, all that the first member to find it found
        nodes: defaultdict[str, set[str]] = defaultdict(set)
        weights: defaultdict[str, float] = defaultdict(float)
        for number, member in enumerate(self.rule.committee, 1):
            found = self.read(member, f"{self.attribute.name}#committee-{number}")
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
        static = self.wrapper.static_texts
        return node.is_text and static_key(node.parent, node.text) in static

    def _confidence(self, node: Node) -> float:
        """The share of those that agree, among the committee's members for such nodes and the selector itself."""
        members = [member for member in self.rule.committee if member.node == node.node_test]
        agreeing = sum(_all_hold(member.features, node, self.labels) for member in members)
        return (1 + agreeing) / (1 + len(members))
