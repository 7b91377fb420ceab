"""Rules as data: how to extract one attribute (Rule), those of one cluster (Wrapper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from lxml import etree

from untemplate.page import Signature, url_matches
from untemplate.rules.classifier import Classifier
from untemplate.rules.feature import Feature
from untemplate.rules.ranges import Range
from untemplate.rules.xpath import anchor_xpath, structure_xpath, whole_xpath

__all__ = ["Bellwether", "Profile", "RecordRule", "Rule", "Selector", "Wrapper"]


@dataclass(frozen=True)
class Selector:
    """The nodes of which all features hold: one XPath.

    `node` is `text()`, `@name`, or `element()` for all text of an element. Of several selected nodes `position`
    picks one (−1: the last), 0 keeps all.
    `support` is the share of the unlabelled sample pages on which it selects something.
    """

    node: str
    features: tuple[Feature, ...]
    position: int = 0
    support: float = 0.0

    @cached_property
    def xpath(self) -> str:
        """The whole condition, for people and for XSLT."""
        return whole_xpath(self.node, self.features, self.position)

    @cached_property
    def anchor(self) -> Feature | None:
        """Where all features speak of texts, the one whose text the page is searched for."""
        if self.node != "text()" or any(feature.is_structural for feature in self.features):
            return None
        useful = [f for f in self.features if all(value.strip() for value in f.values)]
        return min(useful, key=lambda feature: feature.kind == "label", default=None)

    @cached_property
    def ahead(self) -> float:
        """Up to which level it looks at what follows: an element's text is inside level 0; −1: at nothing."""
        levels = [inf if feature.side else feature.level for feature in self.features if feature.looks_ahead]
        return max(levels, default=0 if self.node == "element()" else -1)

    @cached_property
    def asking(self) -> tuple[Feature, ...]:
        """Features that ask for words which stand in the bytes of every page where something is selected.

        The text of an element is none of them: its tags may part a word.
        """
        is_element = self.node == "element()"
        return tuple(f for f in self.features if f.words and not (is_element and f.kind.startswith("inside")))

    @cached_property
    def find(self) -> etree.XPath:
        """Compiled: the structural part, which selects the candidates, or what finds the anchor."""
        path = anchor_xpath(self.anchor) if self.anchor else structure_xpath(self.node, self.features)
        return etree.XPath(path, regexp=False)

    @cached_property
    def weight(self) -> float:
        """What its word counts in the committee: what follows a value depends on other values being there."""
        follows = all(f.side == "right" or f.axis == "following" for f in self.features)
        return self.support / 2 if follows else self.support

    @cached_property
    def text_features(self) -> tuple[Feature, ...]:
        """What is left to test on each candidate."""
        left = [feature for feature in self.features if not feature.is_structural]
        return tuple(
            sorted(left, key=lambda feature: feature.kind == "label")
        )  # the dearest to test goes last


@dataclass(frozen=True)
class Rule:
    """How to extract one attribute.

    Selectors are tried in order; the first that selects something gives the value. The committee are further,
    structurally independent selectors: those that agree give a value its confidence, and where no selector
    finds anything they may, if most of them agree. `nodes` says that the value is so many consecutive text
    nodes; `typed`, that all labelled values look like the attribute's type, so that what does not is no value.
    """

    attribute: str
    selectors: tuple[Selector, ...]
    committee: tuple[Selector, ...] = ()
    classifier: Classifier | None = None
    range: Range | None = None
    nodes: int = 1
    typed: bool = False


@dataclass(frozen=True)
class RecordRule:
    """Where the records of a list page begin and end.

    Selectors, each of whole elements, are tried in order; every element that the first to select anything selects
    begins a record, if there is something in it at the path of tags `holds`. Up to `siblings` elements after it are
    of the record, too, if they have one of the `tags` and begin no other record.
    """

    selectors: tuple[Selector, ...]
    holds: str = ""
    siblings: int = 0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bellwether:
    """A page watched to notice change, as it was when the rules were learnt.

    `golden` is what came out of it: per attribute the texts of its values, no entry where there are none. Of the
    attributes in `unsure` a value came out that the committee doubted: nothing is known of them.
    """

    page: str
    url: str
    signature: Signature
    golden: Mapping[str, tuple[str, ...]]
    unsure: tuple[str, ...] = ()

    def remembered(self, attribute: str) -> tuple[str, ...] | None:
        """The values of an attribute, none if it is empty; None if they are not known."""
        return None if attribute in self.unsure else self.golden.get(attribute, ())


@dataclass(frozen=True)
class Profile:
    """How an attribute's values stood on the bellwethers: what is looked for when they stand elsewhere.

    `agreement` is the committee's mean confidence; `labels` are the texts before the values, `names` the words of
    classes, ids and microdata around them, the most frequent first.
    """

    agreement: float
    labels: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wrapper:
    """All rules of one cluster, how to recognise its pages, and what is remembered of them.

    `stops` are tags before which the rules find all they look for, so that most pages need not be read further.
    `lost` names the attributes whose rules the site's last change broke and nobody has repaired yet. With `records`
    it is one of list pages: rules and static texts are those of each record, as a small page of its own.
    """

    cluster: str
    signatures: tuple[Signature, ...]
    importance: int
    url_pattern: str
    rules: Mapping[str, Rule]
    static: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    bellwethers: tuple[Bellwether, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    records: RecordRule | None = None

    @cached_property
    def stop_bytes(self) -> tuple[bytes, ...]:
        return tuple(map(str.encode, self.stops))

    @cached_property
    def static_texts(self) -> frozenset[str]:
        """The template's own words: what a label can be."""
        return frozenset(self.static)

    def knows_url(self, url: str) -> bool:
        return url_matches(self.url_pattern, url)

    def knows_signature(self, signature: Signature) -> bool:
        return any(mine.covers(signature) for mine in self.signatures)
