"""Apply rules to a page: the only place where rules become values.

`node_selection` finds nodes for one selector. Here the selectors of a rule are tried in order, the committee votes,
and the value is cut out of the node's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress, filterfalse
from operator import itemgetter
from typing import NamedTuple

import re2
from lxml import etree

from untemplate.page import Node, Page
from untemplate.page.captions import CaptionFinder, join_texts
from untemplate.page.embedded_data import META
from untemplate.rules.embedded_values import (
    EmbeddedNodes,
    are_mostly_same,
    are_own_texts,
    embedded_texts,
    find_shown_list,
    same_texts,
    with_other_syntax,
)
from untemplate.rules.list_look import are_sentences, is_title, looks_alike
from untemplate.rules.node_selection import (
    CandidateNodes,
    feature_matches_at_or_above,
    is_crossed_out,
    select_candidates,
    selector_matches,
)
from untemplate.rules.parsed_page import ParsedPage, parse_page
from untemplate.rules.rule import CandidateClassifier, EmbeddedSelector, Rule, Selector, Wrapper
from untemplate.schema import Attribute
from untemplate.value_types import is_one_typed, looks_typed

__all__ = ["NOT_SHOWN", "UNDECIDED", "Match", "apply_rule", "apply_rules", "apply_wrapper"]

# Confidence in a value by what embedded data and the page say. Counted on the 210 sites of `recipes`, with which this
# was developed, with rules from one labeled page: 598 of 602 values are right on which both agree, and 286 of 304
# embedded ones that the page shows elsewhere. Of the others there are too few to count.
AGREED, SHOWN, NOT_SHOWN, CONTRADICTED = 0.99, 0.9, 0.6, 0.5
# Highest confidence in a value from the page if a meta tag that said the same on the labeled pages says something
# else. Without scripts 17 of 21 such values are right on the even half of the sites, and 20 of 23 on the odd one.
META_DIFFERS = 0.85
# Confidence in values that the labels neither confirm nor exclude. They are no values of a record.
UNDECIDED = 0.0
# Factor of the confidence where the labels fit several places that differ on other pages.
DISPUTED = 0.5


class Match(NamedTuple):
    """A value that a rule found on a page.

    Attributes:
        node: where the value begins.
        text: the value.
        rule: which part of the rule found it, such as `price#1` or `price#committee-2`.
        confidence: the share of the committee that agrees.
        is_doubtful: True if only a minority of the committee found it.
    """

    node: Node
    text: str
    rule: str
    confidence: float
    is_doubtful: bool = False


class _Found(NamedTuple):
    """The values that one part of a rule found on a page; they share what is known about them.

    Attributes:
        texts: the values; there is at least one.
        nodes: where each begins. Those of embedded values are made when they are asked for.
        rule: which part of the rule found them.
        confidence: the share of the committee that agrees.
        is_doubtful: True if only a minority of the committee found them.
    """

    texts: list[str]
    nodes: Iterable[Node]
    rule: str
    confidence: float = 1.0
    is_doubtful: bool = False

    def with_confidence(self, confidence: float) -> _Found:
        """Return the same values with another confidence."""
        return _Found(self.texts, self.nodes, self.rule, confidence, self.is_doubtful)

    def with_limit(self, highest: float) -> _Found:
        """Return the same values with at most this confidence."""
        return self.with_confidence(min(self.confidence, highest))

    def matches(self) -> list[Match]:
        """Return each value by itself."""
        return [
            Match(node, text, self.rule, self.confidence, self.is_doubtful)
            for node, text in zip(self.nodes, self.texts, strict=True)
        ]


def apply_wrapper(
    wrapper: Wrapper, page: Page, attributes: Mapping[str, Attribute]
) -> dict[str, list[Match]]:
    """Return what each rule of a wrapper finds on a page, by attribute.

    Raises:
        PageError: the page cannot be read.
    """
    return apply_rules(wrapper, parse_page(page), attributes)


def apply_rules(
    wrapper: Wrapper, page: ParsedPage, attributes: Mapping[str, Attribute]
) -> dict[str, list[Match]]:
    """Return what each rule of a wrapper finds on a parsed page, by attribute."""
    static = wrapper.static_texts
    candidates, captions = CandidateNodes(page.tree, static), CaptionFinder(static)
    return {
        name: _RuleRun(rule, attributes[name], page, candidates, captions).find_matches()
        for name, rule in wrapper.rules.items()
    }


def apply_rule(rule: Rule, tree: etree._Element, wrapper: Wrapper, attribute: Attribute) -> list[Match]:
    """Return what one rule finds on a page: all matches in order for a `many` attribute, else at most one."""
    static = wrapper.static_texts
    run = _RuleRun(rule, attribute, ParsedPage(tree), CandidateNodes(tree, static), CaptionFinder(static))
    return run.find_matches()


@dataclass(slots=True)
class _Vote:
    """The committee members that find the same values."""

    found: _Found | None
    weight: float = 0.0
    nodes: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _RuleRun:
    """One rule on one page."""

    rule: Rule
    attribute: Attribute
    page: ParsedPage
    candidates: CandidateNodes
    captions: CaptionFinder

    def find_matches(self) -> list[Match]:
        """Return the matches on the page and in its embedded data, whichever are more likely right."""
        found = self._find()
        return found.matches() if found else []

    def _find(self) -> _Found | None:
        """Return the values on the page or in its embedded data.

        The committee is asked last, as it costs most: where embedded data decide, its confidence does not count.
        """
        selected = self._select_first() if self._reads_first else self._select_visible()
        visible = selected or self._find_by_committee()
        if visible and not self._is_decided(visible):
            visible = visible.with_confidence(UNDECIDED)
        found = self._choose(visible) if self.rule.embedded else visible
        is_judged = self._reads_first and not self.rule.embedded
        return found if found is None or found is not selected or is_judged else self._judge(found)

    @property
    def _reads_first(self) -> bool:
        """True if the native core finds the one value; without embedded data also the confidence in it."""
        return self.candidates.is_native and not self.attribute.many and self.rule.reads_first_node

    def _is_decided(self, found: _Found) -> bool:
        """Return False if the labels do not decide whether these are the values."""
        look = self.rule.look
        if self.rule.unfit:
            return False
        return look is None or looks_alike(look, list(found.nodes))

    def _choose(self, visible: _Found | None) -> _Found | None:
        """Return what the embedded data say if the page shows it; else what was found on the page, if anything."""
        not_shown: list[_Found] = []
        has_other_meta = False
        for source, embedded in self._embedded_values():
            if visible and same_texts(embedded.texts, visible.texts):
                return visible._replace(confidence=AGREED, is_doubtful=False)
            # Meta tags are made for lists of links: they confirm what the page shows, and do not correct it.
            if source == META and visible:
                has_other_meta = True
            elif self._are_shown_completely(embedded.texts):
                return embedded.with_confidence(self._trust_in_shown(embedded, visible))
            else:
                not_shown.append(embedded)
        if not visible:
            return self._as_shown(not_shown[0]) if not_shown else None
        return self._limit_visible(visible, not_shown, has_other_meta)

    def _limit_visible(self, visible: _Found, not_shown: Iterable[_Found], has_other_meta: bool) -> _Found:
        """Return what was found on the page, with less confidence if the embedded data say something else."""
        if not all(are_mostly_same(embedded.texts, visible.texts) for embedded in not_shown):
            return visible.with_limit(CONTRADICTED)
        return self._judge_once(visible).with_limit(META_DIFFERS) if has_other_meta else visible

    def _embedded_values(self) -> Iterator[tuple[str, _Found]]:
        """Yield the values in the embedded data, the best place first, each with the source that contains them."""
        for number, selector in enumerate(self.rule.embedded, 1):
            if found := self._read_embedded(selector, f"{self.attribute.name}#embedded-{number}"):
                yield selector.path.source, found

    def _trust_in_shown(self, embedded: _Found, visible: _Found | None) -> float:
        """Return the confidence in embedded values that the page shows, but that are not those found on the page.

        A list on which the committee does not agree can neither confirm another list nor exclude it. On `recipes`,
        6 of 10 lists of embedded data were right that differ from such a list; both halves of the sites were counted.
        Too few to be sure: on other sites such lists may mostly be right. Single values are not withheld.
        """
        if len(embedded.texts) == 1 or not visible:
            return SHOWN
        is_split = UNDECIDED < self._judge_once(visible).confidence < 1
        return UNDECIDED if is_split else SHOWN

    def _as_shown(self, embedded: _Found) -> _Found:
        """Return embedded values that the page does not show, lists as far as possible in the page's own writing."""
        texts = embedded.texts
        nodes = find_shown_list(self.page.tree, texts) if len(texts) > 1 else []
        if not nodes:
            return embedded.with_confidence(UNDECIDED if self._are_shown(texts) else NOT_SHOWN)
        return _Found([node.text for node in nodes], nodes, embedded.rule, SHOWN)

    def _judge_once(self, found: _Found) -> _Found:
        """Return values with the committee's confidence, if they do not have a lower one already."""
        return self._judge(found) if found.confidence == 1 else found

    def _are_shown(self, texts: Iterable[str]) -> bool:
        return all(map(self.page.shows, texts))

    def _are_shown_completely(self, texts: Sequence[str]) -> bool:
        """Return False, too, for a list of items that are only parts of longer texts, as `Oil` in `2 tbsp Oil`.

        In the even half of `recipes` one such list is wrong. Of right ones, at least 0.88 of the members are texts of
        their own. Another wrong one is in `changes`. Steps may be cut into sentences: there it says nothing.
        """
        if not self._are_shown(texts):
            return False
        return len(texts) == 1 or are_sentences(texts) or are_own_texts(self.page.tree, texts)

    def _read_embedded(self, selector: EmbeddedSelector, name: str) -> _Found | None:
        """Return the values that a selector finds in the embedded data, whichever syntax the page uses for them."""
        for same in chain([selector], with_other_syntax(selector, self.page.embedded)):
            if found := self._embedded_found(same, name):
                return found
        return None

    def _embedded_found(self, selector: EmbeddedSelector, name: str) -> _Found | None:
        """Return the values of one syntax, as far as they are allowed."""
        texts = embedded_texts(selector, self.page.embedded)
        numbers = list(range(len(texts)))
        if not self._allows_any_text:
            numbers = [number for number in numbers if self._is_allowed(texts[number])]
        if not self.attribute.many:
            numbers = numbers[:1]
        if not numbers:
            return None
        nodes = EmbeddedNodes(selector, self.page.tree, texts, numbers)
        return _Found([texts[number] for number in numbers], nodes, name, 0.0)

    def _select_visible(self) -> _Found | None:
        """Return what the first selector finds that finds anything."""
        for number, selector in enumerate(self.rule.selectors, 1):
            if found := self._read_values(selector, f"{self.attribute.name}#{number}"):
                return found
        return None

    def _select_first(self) -> _Found | None:
        """Return the one value of the first selector that finds any; the native core does most of it.

        Where no embedded data can be asked, it has the committee's confidence already.
        """
        searches, votes = self.rule.first_searches, not self.rule.embedded
        cut = None if self._is_plain else self._cut_first
        first = self.candidates.find_value(searches, self.captions, cut, votes)
        if first is None:
            return None
        number, element, kind, text, value, agreeing = first
        node = Node(element, kind, text)
        confidence = 1.0
        if votes:
            search = searches[number]
            confidence = self._share_agreeing(node, agreeing, len(search.members), search.in_regions)
            confidence = DISPUTED * confidence if self.rule.disputed else confidence
        return _Found([value], [node], f"{self.attribute.name}#{number + 1}", confidence)

    @property
    def _is_plain(self) -> bool:
        """True if every text of a selected node is a value as it is."""
        return self.rule.takes_any_text and not self.attribute.pattern

    @property
    def _allows_any_text(self) -> bool:
        """True if neither the type nor a pattern decides whether a text is a value."""
        return not (self.rule.typed or self.rule.single or self.attribute.pattern)

    def _cut_first(self, text: str) -> str | None:
        """Return the first value in the text of a node; None if there is none."""
        for value in self.rule.range.cut_values(text) if self.rule.range else (text,):
            if value and self._is_allowed(value):
                return value
        return None

    def _read_values(self, selector: Selector, name: str) -> _Found | None:
        """Return the values at the nodes that a selector selects."""
        nodes = self._select_nodes(selector)
        found = self._read_one(nodes, name) if self._uses_one_node else self._read_all(nodes, name)
        if found is None or self.attribute.many or len(found.texts) == 1:
            return found
        return _Found(found.texts[:1], list(found.nodes)[:1], name)

    def _select_nodes(self, selector: Selector) -> Iterable[Node]:
        """Return the selected nodes that may be values: the likeliest one, or all members of a list but titles."""
        nodes = select_candidates(selector, self.candidates, self.captions)
        if self.rule.classifier is not None:
            return self._pick_likely(self.rule.classifier, nodes)
        if self.rule.look and self.rule.look.excludes_titles:
            return filterfalse(is_title, nodes)
        return nodes

    @property
    def _uses_one_node(self) -> bool:
        """True if all values are at one node: there is only one, or separators are between them."""
        return not self.attribute.many or bool(self.rule.range and self.rule.range.separators)

    def _read_one(self, nodes: Iterable[Node], name: str) -> _Found | None:
        """Return the values at the first node that has any, preferably one that is not crossed out."""
        crossed_out: _Found | None = None
        for node in nodes:
            found = self._read_all([node], name)
            if found and not is_crossed_out(node):
                return found
            crossed_out = crossed_out or found
        return crossed_out

    def _read_all(self, nodes: Iterable[Node], name: str) -> _Found | None:
        """Return the values at all of these nodes."""
        places: list[Node] = []
        texts: list[str] = []
        if self._is_plain:
            places = list(nodes)
            texts = [node.text for node in places]
        else:
            for node in nodes:
                values = self._value_texts(node)
                texts += values
                places += [node] * len(values)
        return _Found(texts, places, name) if texts else None

    def _judge(self, found: _Found) -> _Found:
        """Return the values with the committee's confidence in them; several values are judged as a whole."""
        trust = DISPUTED if self.rule.disputed else 1.0
        if not self.attribute.many:
            return found.with_confidence(trust * self._confidence(next(iter(found.nodes))))
        agreeing = voting = 1
        for member in self.rule.committee:
            other = self._read_member(member, "")
            voting += other is not None
            agreeing += other is not None and other.texts == found.texts
        return found.with_confidence(trust * agreeing / voting)

    def _pick_likely(self, classifier: CandidateClassifier, nodes: Iterable[Node]) -> list[Node]:
        """Return the candidates that are more likely the value than not; only the likeliest if one is wanted."""
        probabilities: list[tuple[float, Node]] = []
        for node in nodes:
            matches = partial(feature_matches_at_or_above, node=node, captions=self.captions)
            probabilities.append((classifier.probability(matches), node))
        likely = [(probability, node) for probability, node in probabilities if probability > 0.5]
        if self.attribute.many or not likely:
            return [node for _, node in likely]
        return [max(likely, key=itemgetter(0))[1]]

    def _value_texts(self, node: Node) -> list[str]:
        """Return the values that begin at this node: joined, cut to their range, and checked."""
        range_ = self.rule.range
        text = node.lines() if range_ and range_.keeps_lines else node.text
        if self.rule.nodes > 1:
            text = join_texts(node, self.rule.nodes)
        values = range_.cut_values(text) if range_ else [text]
        return [value for value in values if value and self._is_allowed(value)]

    def _is_allowed(self, text: str) -> bool:
        """Return True if a text has the attribute's type and pattern, where the rule requires them."""
        if self.rule.typed and not looks_typed(text, self.attribute.type):
            return False
        if self.rule.single and not is_one_typed(text, self.attribute.type):
            return False
        return not self.attribute.pattern or bool(re2.search(self.attribute.pattern, text))

    def _confidence(self, node: Node) -> float:
        """Return the share that agrees with a value, among the selector itself and the members for such nodes."""
        members = [member for member in self.rule.committee if member.node == node.node_test]
        return self._share_agreeing(node, 0, 0, members)

    def _share_agreeing(self, node: Node, agreeing: int, voting: int, others: Sequence[Selector]) -> float:
        """Return the share that agrees with a value: the selector itself, members that voted already, and others."""
        for member in others:
            agreeing += selector_matches(member, node, self.candidates, self.captions)
        return (agreeing + 1) / (voting + len(others) + 1)

    def _find_by_committee(self) -> _Found | None:
        """Return what the committee finds where no selector finds anything.

        More than half of it, by weight, must agree, or two members that select different kinds of nodes. A mandatory
        value is on every page: there, one member is enough if the title of the page repeats what it finds.
        """
        votes = self._collect_votes()
        total = sum(vote.weight for vote in votes)
        for vote in votes:
            if vote.found and (2 * vote.weight > total or len(vote.nodes) > 1):
                return vote.found.with_confidence(vote.weight / total / 2)
        if not self.attribute.mandatory:
            return None
        for vote in votes:
            if vote.found and self.page.has_title_with(vote.found.texts[0]):
                return vote.found._replace(confidence=vote.weight / total / 2, is_doubtful=True)
        return None

    def _collect_votes(self) -> list[_Vote]:
        """Return the votes of the committee, those of members that find nothing, too.

        Such members have no say in lists, which a description may miss as a whole.
        """
        votes: dict[tuple[str, ...], _Vote] = {}
        for number, member in enumerate(self.rule.committee, 1):
            found = self._read_member(member, f"{self.attribute.name}#committee-{number}")
            if self.attribute.many and not found:
                continue
            vote = votes.setdefault(tuple(found.texts) if found else (), _Vote(found))
            vote.weight += member.vote_weight
            vote.nodes.add(member.node)
        return list(votes.values())

    def _read_member(self, member: Selector, name: str) -> _Found | None:
        """Return what one committee member finds, without static texts such as the caption of the next value."""
        found = self._read_values(member, name)
        if found is None:
            return None
        is_static = list(map(self.captions.is_static, found.nodes))
        if not any(is_static):
            return found
        kept = [not static for static in is_static]
        texts = list(compress(found.texts, kept))
        return _Found(texts, list(compress(found.nodes, kept)), name) if texts else None
