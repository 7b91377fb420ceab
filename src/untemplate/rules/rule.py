"""Rules as data: how to extract one attribute (Rule), and everything known about one cluster (Wrapper).

A rule selects nodes (Selector) or embedded values (EmbeddedSelector), may choose among nodes (CandidateClassifier),
and cuts the value out of a node's text (Range). Nothing here reads a page: `node_selection` and `applying` do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, Literal, NamedTuple

from lxml import etree

from untemplate.page import Signature, url_matches
from untemplate.page.embedded_data import DataPath
from untemplate.page.template_cores import Core
from untemplate.rules.feature import (
    CAPTION,
    Feature,
    anchor_xpath,
    full_xpath,
    native_conditions,
    region_xpath,
    structure_xpath,
)
from untemplate.rules.ranges import Range

__all__ = [
    "Bellwether",
    "CandidateClassifier",
    "EmbeddedSelector",
    "FirstSearch",
    "LinkKind",
    "ListLook",
    "Profile",
    "RecordRule",
    "Region",
    "Rule",
    "Selector",
    "Wrapper",
]


@dataclass(frozen=True)
class Region:
    """A part of a page: one element, or several alike. What is outside cannot be selected by mistake.

    Attributes:
        features: structural conditions; level 1 is the element itself.
        position: which of the matching elements, counted from 1; −1 for the last, 0 for all of them.
    """

    features: tuple[Feature, ...]
    position: int = 0

    @cached_property
    def xpath(self) -> str:
        """The elements as XPath."""
        return region_xpath(self.features, self.position)

    @cached_property
    def find_elements(self) -> etree.XPath:
        """The compiled XPath.

        Raises:
            lxml.etree.XPathError: a value contains a character that XPath does not allow.
        """
        return etree.XPath(self.xpath, regexp=False)

    @cached_property
    def conditions(self) -> Any:
        """The features for the native core."""
        return native_conditions("element()", self.features)


@dataclass(frozen=True)
class Selector:
    """Selects the nodes of a page that match all features. It can be written as one XPath.

    Attributes:
        node: what is selected: `text()`, an attribute such as `@src`, or `element()` for the text of an element.
        features: the conditions.
        position: which of the matching nodes to keep, counted from 1; −1 keeps the last, 0 keeps all.
        support: the share of the unlabeled sample pages on which the selector selects something.
        region: the part of the page in which the nodes are; None for the whole page.
    """

    node: str
    features: tuple[Feature, ...]
    position: int = 0
    support: float = 0.0
    region: Region | None = None

    @cached_property
    def xpath(self) -> str:
        """The complete condition as XPath, for people and for XSLT."""
        region = self.region.xpath if self.region else ""
        return full_xpath(self.node, self.features, self.position, region)

    @cached_property
    def anchor(self) -> Feature | None:
        """The feature whose text the page is searched for, if all features are about texts; else None.

        Captions come last because their candidates are many: all nodes up to the next caption.
        """
        if self.node != "text()" or self.region or any(feature.is_structural for feature in self.features):
            return None
        searchable = [feature for feature in self.features if all(map(str.strip, feature.values))]
        return min(searchable, key=_is_caption, default=None)

    @cached_property
    def candidates_xpath(self) -> str:
        """The structural features as XPath; without any, the texts that may be the anchor.

        With a region, the path starts at one of the region's elements.
        """
        if self.region:
            return "." + structure_xpath(self.node, self.features, in_region=True)
        return anchor_xpath(self.anchor) if self.anchor else structure_xpath(self.node, self.features)

    @cached_property
    def candidates_key(self) -> tuple[str, str]:
        """What selectors with the same candidates have in common."""
        return self.candidates_xpath, self.region.xpath if self.region else ""

    @cached_property
    def find_candidates(self) -> etree.XPath:
        """The compiled XPath of the candidates.

        Raises:
            lxml.etree.XPathError: a value contains a character that XPath does not allow.
        """
        return etree.XPath(self.candidates_xpath, regexp=False)

    @cached_property
    def conditions(self) -> Any:
        """The features for the native core."""
        return native_conditions(self.node, self.features, self.text_features)

    @cached_property
    def text_features(self) -> tuple[Feature, ...]:
        """The features to test on each candidate; captions last, because they are the slowest to test."""
        return tuple(sorted((f for f in self.features if not f.is_structural), key=_is_caption))

    @cached_property
    def vote_weight(self) -> float:
        """Vote weight. Halved for selectors that rely on following context, because optional values can shift it."""
        only_ahead = all(feature.looks_ahead for feature in self.features)
        return self.support / 2 if only_ahead else self.support


def _is_caption(feature: Feature) -> bool:
    """Return True for features of captions, which are slow to test and have many candidates."""
    return feature.kind == CAPTION


@dataclass(frozen=True, slots=True)
class EmbeddedSelector:
    """Selects values of the embedded data of a page.

    Attributes:
        path: where they are.
        position: which of the values to keep, counted from 1; 0 keeps all.
        lines: True if each line of a text is a value of its own.
        skips_repeats: True to drop a text that the text before or after it repeats and continues, such as the
            title of a step.
        support: the share of the unlabeled sample pages on which the selector selects something.
    """

    path: DataPath
    position: int = 0
    lines: bool = False
    skips_repeats: bool = False
    support: float = 0.0


@dataclass(frozen=True, slots=True)
class CandidateClassifier:
    """Naive Bayes that picks from a selector's candidates, for when no XPath is precise (Vertex III-C.3).

    It picks the likeliest one; of a `many` attribute, all that are more likely a value than not.

    Attributes:
        prior: log odds that any candidate is the value.
        features: the features it knows.
        present: per feature, what is added to the log odds if it matches.
        absent: per feature, what is added to the log odds if it does not match.
    """

    prior: float
    features: tuple[Feature, ...]
    present: tuple[float, ...]
    absent: tuple[float, ...]

    def probability(self, matches: Callable[[Feature], bool]) -> float:
        """Return the probability that a node is the value, given a function that tests features on it."""
        odds = self.prior
        for feature, present, absent in zip(self.features, self.present, self.absent, strict=True):
            odds += present if matches(feature) else absent
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))


@dataclass(frozen=True, slots=True)
class ListLook:
    """What the labeled lists of an attribute look like. Lists that look different may not be what the labels mean.

    Attributes:
        members: how many members the shortest labeled list has.
        of_sentences: True if the members are sentences rather than short items. Titles between sentences may be
            members of their own, which a labeled list without titles does not show; titles between items are none.
        has_titles: True if some labeled member looks like a title itself.
        between: tags of what is between the labeled members, such as the caption of a picture.
        is_punctuated: True if the members of some labeled list end as sentences do, however short they are.
    """

    members: int = 1
    of_sentences: bool = False
    has_titles: bool = False
    between: tuple[str, ...] = ()
    is_punctuated: bool = False

    @property
    def excludes_titles(self) -> bool:
        """True if texts that look like titles are not members."""
        return not self.of_sentences and not self.has_titles


class FirstSearch(NamedTuple):
    """A selector for the native core, and the members of the committee that vote on the nodes that it selects.

    Attributes:
        conditions: the features of the selector.
        key: what selectors with the same candidates have in common.
        position: which of the selected nodes counts, as in `Selector`.
        selector: the selector itself.
        members: the features of members that select anywhere on the page.
        in_regions: members that select inside a region.
    """

    conditions: Any
    key: tuple[str, str]
    position: int
    selector: Selector
    members: list[Any]
    in_regions: list[Selector]


@dataclass(frozen=True)
class Rule:
    """How to extract one attribute.

    Attributes:
        attribute: the attribute's name.
        selectors: tried in order; the first that selects something determines the value.
        committee: further, structurally independent selectors. The share that agrees with a value is its confidence.
            If no selector finds anything, a majority of the committee may supply the value.
        classifier: chooses among the selected nodes, if no selector is precise enough.
        range: which part of the node's text is the value; None for all of it.
        nodes: how many consecutive text nodes make up the value.
        typed: True if all labeled values look like the attribute's type, so that other texts are not values.
        single: True if each labeled value is one value of its type, so that a text with none or several is no value.
        disputed: True if the labels fit several places that differ on other pages: the confidence is halved until a
            label decides.
        embedded: where the value is in the embedded data, the best place first. A rule has these, selectors, or both.
        look: what the labeled lists look like; None for other rules.
        unfit: True for a rule that returns none of its labeled lists: nothing that it finds is a value.
    """

    attribute: str
    selectors: tuple[Selector, ...]
    committee: tuple[Selector, ...] = ()
    classifier: CandidateClassifier | None = None
    range: Range | None = None
    nodes: int = 1
    typed: bool = False
    single: bool = False
    disputed: bool = False
    embedded: tuple[EmbeddedSelector, ...] = ()
    look: ListLook | None = None
    unfit: bool = False

    def _repr_html_(self) -> str:
        """Return the rule in words, for notebooks."""
        from untemplate.rules.in_words import explain_rule

        return f"<p><b>{escape(self.attribute)}</b>: {escape(explain_rule(self))}</p>"

    @property
    def support(self) -> float:
        """The share of the unlabeled sample pages on which one of its selectors, at least, finds something."""
        supports = [selector.support for selector in self.selectors]
        supports += [selector.support for selector in self.embedded]
        return max(supports)

    @cached_property
    def takes_any_text(self) -> bool:
        """True if the text of every selected node is a value, as far as the rule decides it."""
        return self.range is None and self.nodes == 1 and not self.typed and not self.single

    @cached_property
    def reads_first_node(self) -> bool:
        """True if a single value is in the text of the first node that a selector selects."""
        if self.classifier is not None or self.look is not None or self.nodes > 1:
            return False
        keeps_lines = self.range is not None and self.range.keeps_lines
        return not keeps_lines and all(selector.anchor is None for selector in self.selectors)

    @cached_property
    def members_by_node(self) -> dict[str, tuple[list[Any], list[Selector]]]:
        """The committee by what its members select: for the native core, then those with a region."""
        by_node: dict[str, tuple[list[Any], list[Selector]]] = {}
        for member in self.committee:
            everywhere, in_regions = by_node.setdefault(member.node, ([], []))
            if member.region is None:
                everywhere.append(member.conditions)
            else:
                in_regions.append(member)
        return by_node

    @cached_property
    def first_searches(self) -> list[FirstSearch]:
        """The selectors for the native core, which finds the first value."""
        return [
            FirstSearch(
                selector.conditions,
                selector.candidates_key,
                selector.position,
                selector,
                *self.members_by_node.get(selector.node, ([], [])),
            )
            for selector in self.selectors
        ]

    @property
    def selects_one_node(self) -> bool:
        """True if a value is the complete text of one node, and selectors alone find it."""
        return self.range is None and self.classifier is None and self.nodes == 1


LinkKind = Literal["link", "document"]


@dataclass(frozen=True)
class RecordRule:
    """Where the records of a list page begin and end.

    Attributes:
        selectors: tried in order. Each element that the first successful one selects begins a record. If it selects
            texts, each of them is in one record, its anchor.
        required_path: a path of tags, such as `div/a`, that must exist inside an element that begins a record; empty
            for no condition.
        siblings: how many elements after the first may belong to the same record.
        tags: the tags such a sibling may have. It must not begin a record itself.
        levels: how many levels above its anchor a record may begin, below any element with another anchor.
        with_texts: True if the texts before the first element of a record and after its last belong to it.
        required_link: the kind of link that a record must contain: any, or one to a document; None for no condition.
        required_text: the words with which a text of each record begins; empty for no condition.
        distinct: True if a record with the texts and links of an earlier one is left out, as in a carousel.
    """

    selectors: tuple[Selector, ...]
    required_path: str = ""
    siblings: int = 0
    tags: tuple[str, ...] = ()
    levels: int = 0
    with_texts: bool = False
    required_link: LinkKind | None = None
    required_text: str = ""
    distinct: bool = False


@dataclass(frozen=True)
class Bellwether:
    """A page that is watched to notice change, as it was when the rules were learned.

    Attributes:
        page: the page's id.
        url: the page's URL.
        signature: the page's signature.
        golden: attribute → texts of the values that were extracted; attributes without a value have no entry.
        unsure: attributes whose value the committee doubted. Nothing is remembered of them.
    """

    page: str
    url: str
    signature: Signature
    golden: Mapping[str, tuple[str, ...]]
    unsure: tuple[str, ...] = ()

    def golden_values(self, attribute: str) -> tuple[str, ...] | None:
        """Return the remembered values of an attribute, which may be none; None if we are unsure about them."""
        return None if attribute in self.unsure else self.golden.get(attribute, ())


@dataclass(frozen=True)
class Profile:
    """What surrounded an attribute's values on the bellwethers. Healing looks for it when the values have moved.

    Attributes:
        agreement: the committee's mean confidence.
        captions: captions of the values, the most frequent first.
        names: words of classes, ids and microdata around the values, the most frequent first.
    """

    agreement: float
    captions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wrapper:
    """All rules of one cluster, how to recognize its pages, and what is remembered about them.

    Attributes:
        cluster: the cluster's name.
        signatures: signatures that cover the cluster's pages.
        importance: how many pages the cluster had; more important wrappers are tried first.
        url_pattern: a pattern with `*` that the URLs of the cluster's pages match.
        rules: attribute → rule. Without rules, the pages still need labels.
        static: keys of the static texts, which can be captions. See `page.captions.static_key`.
        bellwethers: the pages to watch.
        profiles: attribute → what surrounded its values.
        lost: attributes whose rules the site's last change broke and nobody has repaired yet.
        records: for list pages, where their records are. Then `rules` and `static` apply inside each record, as if it
            were a small page.
        core: what the markup of nearly all of the cluster's pages has in common; None if there were too few pages.
        lender: the cluster whose rules these are, if no label of this cluster taught them; else empty.
        named: whether a person named the template; then its pages stay together when the site is clustered again.
    """

    cluster: str
    signatures: tuple[Signature, ...]
    importance: int
    url_pattern: str
    rules: Mapping[str, Rule]
    static: tuple[str, ...] = ()
    bellwethers: tuple[Bellwether, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    records: RecordRule | None = None
    core: Core | None = None
    lender: str = ""
    named: bool = False

    @cached_property
    def static_texts(self) -> frozenset[str]:
        """`static` as a set, for fast tests."""
        return frozenset(self.static)

    def for_any_page(self) -> Wrapper:
        """Return the wrapper with the same rules that accepts every page on which they succeed."""
        return replace(self, signatures=(), url_pattern="*", core=None)

    def matches_url(self, url: str) -> bool:
        """Return True if the URL matches the cluster's URL pattern."""
        return url_matches(self.url_pattern, url)

    def matches_signature(self, signature: Signature) -> bool:
        """Return True if one of the cluster's signatures covers this one."""
        return any(mine.covers(signature) for mine in self.signatures)
