"""The sections of a rules file, checked when they are read.

msgspec checks types, keys and limits; pydantic, which does so for other files, takes longer to start than a hundred
pages take to extract. `parse` checks the rest, raises ValueError with a message for the user, and returns the object
that the section describes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, convert
from msgspec.structs import asdict

from untemplate.input_files import check_pattern
from untemplate.page import Limits, Signature
from untemplate.page.embedded_data import DataPath
from untemplate.page.template_cores import RUN_BITS, Core
from untemplate.rules.feature import CELL, Feature, is_writable
from untemplate.rules.ranges import Range
from untemplate.rules.rule import (
    Bellwether,
    CandidateClassifier,
    EmbeddedSelector,
    LinkKind,
    ListLook,
    Profile,
    RecordRule,
    Region,
    Rule,
    Selector,
    Wrapper,
)
from untemplate.schema import Attribute, Schema, Type

__all__ = [
    "AttributeSection",
    "EmbeddedSection",
    "ListLookSection",
    "RangeSection",
    "RecordRuleSection",
    "RegionSection",
    "RuleSection",
    "RulesFile",
    "Section",
    "SelectorSection",
]

# No page is deeper than this, so no feature needs a higher level.
MAX_LEVEL = Limits().depth
# The most text nodes in one value, and the most sibling elements in one record.
MAX_NODES = 1000
# The most selectors of one rule, features of one selector, and values of all its features. Learning makes ten, thirty
# and a hundred at most. With several thousand, libxml2 refuses the XPath.
MAX_SELECTORS = 200
MAX_FEATURES = 500
MAX_FEATURE_VALUES = 1000
# The highest position that a selector may have: no page has more candidates for a value.
MAX_POSITION = 100_000

_Position = Annotated[int, Meta(ge=-1, le=MAX_POSITION)]
_Features = Annotated[tuple[tuple[str | int, ...], ...], Meta(max_length=MAX_FEATURES)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Number = Annotated[int, Meta(ge=0)]


class Section(Struct, forbid_unknown_fields=True):
    """Base of all sections: no unknown keys, and no conversion of types."""


class RegionSection(Section, kw_only=True):
    """The part of a page in which a selector selects."""

    position: _Position = 0
    features: _Features

    def parse(self) -> Region:
        """Return the region. Its elements are known by structure alone."""
        features = _parse_features(self.features)
        if not all(feature.is_structural for feature in features):
            raise ValueError("a region is known by its elements, not by texts")
        return Region(features, self.position)


class SelectorSection(Section, kw_only=True):
    """A selector. Its XPath is for people, and must agree with its features."""

    xpath: str
    node: Annotated[str, Meta(pattern=r"^(text\(\)|element\(\)|@[A-Za-z_][\w.-]*)\Z")]
    position: _Position = 0
    support: _Share
    features: _Features
    region: RegionSection | None = None

    def parse(self) -> Selector:
        """Return the selector. Its XPath is compiled when it is used, which fails only if a value contains such
        characters as are refused here."""
        features = _parse_features(self.features)
        region = self.region.parse() if self.region else None
        selector = Selector(self.node, features, self.position, self.support, region)
        if selector.xpath != self.xpath:
            raise ValueError(f"the XPath {self.xpath!r} is not what its features say; change the features")
        if not is_writable(self.xpath):
            raise ValueError(
                f"the XPath {self.xpath!r} cannot be used: XML does not allow some of its characters"
            )
        return selector


class EmbeddedSection(Section, kw_only=True):
    """A selector of embedded data. Its path is for people, and must agree with its parts."""

    path: str
    source: Annotated[str, Meta(min_length=1)]
    type: str = ""
    keys: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    only_first_end: bool = False
    position: _Number = 0
    lines: bool = False
    skips_repeats: bool = False
    support: _Share

    def parse(self) -> EmbeddedSelector:
        """Return the selector."""
        path = DataPath(self.source, self.type, self.keys, self.ends, self.only_first_end)
        if str(path) != self.path:
            raise ValueError(f"the path {self.path!r} is not what its parts say; change the parts")
        return EmbeddedSelector(path, self.position, self.lines, self.skips_repeats, self.support)


class _ClassifierSection(Section, kw_only=True):
    """A classifier: log odds for each of its features."""

    prior: float
    features: _Features
    present: tuple[float, ...]
    absent: tuple[float, ...]

    def parse(self) -> CandidateClassifier:
        if not len(self.features) == len(self.present) == len(self.absent):
            raise ValueError("a classifier needs as many weights as features")
        features = _parse_features(self.features)
        return CandidateClassifier(self.prior, features, self.present, self.absent)


class RangeSection(Section, kw_only=True):
    """The part of a text that is the value; see `Range`."""

    after: str | None = None
    before: str | None = None
    start: int | None = None
    stop: int | None = None
    type: Type | None = None
    separators: tuple[Annotated[str, Meta(min_length=1)], ...] = ()
    last: bool = False
    delimiter: Annotated[str, Meta(min_length=1)] = " "

    def parse(self) -> Range:
        return Range(**asdict(self))


class ListLookSection(Section, kw_only=True):
    """See `ListLook`."""

    members: Annotated[int, Meta(ge=1)] = 1
    of_sentences: bool = False
    has_titles: bool = False
    between: tuple[str, ...] = ()
    is_punctuated: bool = False


_Selectors = Annotated[tuple[SelectorSection, ...], Meta(max_length=MAX_SELECTORS)]


class RuleSection(Section, kw_only=True):
    """The rule of one attribute, whose name is the section's key."""

    selectors: _Selectors = ()
    committee: _Selectors = ()
    classifier: _ClassifierSection | None = None
    range: RangeSection | None = None
    nodes: Annotated[int, Meta(ge=1, le=MAX_NODES)] = 1
    typed: bool = False
    single: bool = False
    disputed: bool = False
    embedded: Annotated[tuple[EmbeddedSection, ...], Meta(max_length=MAX_SELECTORS)] = ()
    look: ListLookSection | None = None
    unfit: bool = False

    def parse(self, attribute: str) -> Rule:
        """Return the rule of the attribute with this name."""
        if not self.selectors and not self.embedded:
            raise ValueError(f"the rule for {attribute!r} has no selectors")
        return Rule(
            attribute,
            tuple(selector.parse() for selector in self.selectors),
            tuple(selector.parse() for selector in self.committee),
            self.classifier.parse() if self.classifier else None,
            self.range.parse() if self.range else None,
            self.nodes,
            self.typed,
            self.single,
            self.disputed,
            tuple(selector.parse() for selector in self.embedded),
            ListLook(**asdict(self.look)) if self.look else None,
            self.unfit,
        )


class RecordRuleSection(Section, kw_only=True):
    """Where the records of list pages are. `holds` is the required path, by its name in files."""

    selectors: Annotated[tuple[SelectorSection, ...], Meta(min_length=1, max_length=MAX_SELECTORS)]
    holds: Annotated[str, Meta(pattern=r"^([a-z][a-z0-9]*(/[a-z][a-z0-9]*)*)?\Z", max_length=1000)] = ""
    siblings: Annotated[int, Meta(ge=0, le=MAX_NODES)] = 0
    tags: tuple[str, ...] = ()
    levels: Annotated[int, Meta(ge=0, le=MAX_NODES)] = 0
    with_texts: bool = False
    required_link: LinkKind | None = None
    required_text: Annotated[str, Meta(max_length=1000)] = ""
    distinct: bool = False

    def parse(self) -> RecordRule:
        """Return the rule. Its selectors must select texts, or elements by structure alone."""
        selectors = tuple(selector.parse() for selector in self.selectors)
        for selector in selectors:
            if selector.node != "text()" and (selector.node != "element()" or selector.text_features):
                raise ValueError(f"records are known by texts, or by elements alone: {selector.xpath!r}")
        return RecordRule(
            selectors,
            self.holds,
            self.siblings,
            self.tags,
            self.levels,
            self.with_texts,
            self.required_link,
            self.required_text,
            self.distinct,
        )


class _BellwetherSection(Section, kw_only=True):
    """A watched page and its golden values."""

    page: str
    url: str
    signature: str
    golden: dict[str, tuple[str, ...]]
    unsure: tuple[str, ...] = ()

    def parse(self) -> Bellwether:
        return Bellwether(self.page, self.url, Signature.parse(self.signature), self.golden, self.unsure)


class _ProfileSection(Section, kw_only=True):
    """What surrounded an attribute's values. `labels` are captions, by their name in files."""

    agreement: float
    labels: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def parse(self) -> Profile:
        return Profile(self.agreement, self.labels, self.names)


_HexNumbers = Annotated[str, Meta(pattern=r"^(([0-9a-f]{1,5} )*[0-9a-f]{1,5})?\Z", max_length=10_000)]


class _CoreSection(Section, kw_only=True):
    """The core of a template: tag runs as hexadecimal numbers, and the shares that a page must have."""

    own: _HexNumbers
    frame: _HexNumbers
    min_own_share: _Share
    min_share: _Share

    def parse(self) -> Core:
        own, frame = (tuple(int(run, 16) for run in runs.split()) for runs in (self.own, self.frame))
        if any(run >> RUN_BITS for run in (*own, *frame)):
            raise ValueError(f"a tag run with more than {RUN_BITS} bits")
        return Core(own, frame, self.min_own_share, self.min_share)


class _WrapperSection(Section, kw_only=True):
    """All rules of one cluster. Static texts are keys as `static_key` makes them.

    Files of before had `stops`, the tags up to which a page was read. They are ignored.
    """

    cluster: str
    signatures: tuple[str, ...]
    importance: int
    url_pattern: str
    rules: dict[str, Any]
    static: tuple[Annotated[str, Meta(pattern=r"^\d+ \S+ .")], ...]
    stops: tuple[str, ...] = ()
    bellwethers: tuple[_BellwetherSection, ...] = ()
    profiles: dict[str, _ProfileSection] = {}
    lost: tuple[str, ...] = ()
    records: RecordRuleSection | None = None
    core: _CoreSection | None = None
    lender: str = ""
    named: bool = False

    def parse(self, attributes: Mapping[str, Attribute]) -> Wrapper:
        """Return the wrapper. All attributes that it names must be among these, which are those of the schema."""
        named = {*self.rules, *self.profiles, *self.lost}
        if unknown := named - set(attributes):
            raise ValueError(f"a rule for {min(unknown)!r}, which the schema does not have")
        remembered: set[str] = set()
        for bellwether in self.bellwethers:
            remembered.update(bellwether.golden)
        if unknown := remembered - set(attributes):
            raise ValueError(f"a remembered value of {min(unknown)!r}, which the schema does not have")
        return Wrapper(
            self.cluster,
            tuple(map(Signature.parse, self.signatures)),
            self.importance,
            self.url_pattern,
            {name: self._parse_rule(name) for name in self.rules},
            self.static,
            tuple(bellwether.parse() for bellwether in self.bellwethers),
            {name: profile.parse() for name, profile in self.profiles.items()},
            self.lost,
            self.records.parse() if self.records else None,
            self.core.parse() if self.core else None,
            self.lender,
            self.named,
        )

    def _parse_rule(self, name: str) -> Rule:
        """Return the rule of an attribute; errors name it."""
        try:
            return convert(self.rules[name], RuleSection).parse(name)
        except ValueError as error:
            raise ValueError(f"cluster {self.cluster!r}, rule of {name!r}: {error}") from error


class AttributeSection(Section, kw_only=True):
    """An attribute of the schema, whose name is the section's key."""

    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: str | None = None
    same_as: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    description: str = ""

    def parse(self, name: str) -> Attribute:
        if self.pattern is not None:
            check_pattern(self.pattern)
        return Attribute(name, **asdict(self))


class _SchemaSection(Section, kw_only=True):
    """The schema, with the fields of its attributes that differ from their default."""

    name: str
    attributes: Annotated[dict[str, Any], Meta(min_length=1)]

    def parse(self) -> dict[str, Attribute]:
        """Return the attributes; errors name the attribute, as msgspec names the number of a member but no key."""
        return {name: self._parse_attribute(name) for name in self.attributes}

    def _parse_attribute(self, name: str) -> Attribute:
        try:
            return convert(self.attributes[name], AttributeSection).parse(name)
        except ValueError as error:
            raise ValueError(f"attribute {name!r}: {error}") from error


class RulesFile(Section, kw_only=True):
    """The complete file."""

    untemplate: Literal[1, 2]
    schema: _SchemaSection
    wrappers: tuple[_WrapperSection, ...]

    def parse(self) -> tuple[Schema, tuple[Wrapper, ...]]:
        """Return the schema and the wrappers. The schema has rows if one of the wrappers is for list pages."""
        attributes = self.schema.parse()
        wrappers = tuple(wrapper.parse(attributes) for wrapper in self.wrappers)
        has_rows = any(wrapper.records for wrapper in wrappers)
        return Schema(self.schema.name, attributes, has_rows), wrappers


def _parse_features(contents: tuple[tuple[str | int, ...], ...]) -> tuple[Feature, ...]:
    """Return the features of a selector, a region or a classifier."""
    if sum(map(len, contents)) > MAX_FEATURE_VALUES + 2 * len(contents):
        raise ValueError(f"features with more than {MAX_FEATURE_VALUES:,} values together")
    return tuple(map(_parse_feature, contents))


def _parse_feature(content: tuple[str | int, ...]) -> Feature:
    """Return the feature that a list `[type, level, value, …]` describes.

    Raises:
        ValueError: the list has another form, or there is no such feature type.
    """
    match content:
        case [str() as type_, int() as level, str(), *_] if 0 <= level <= MAX_LEVEL:
            texts = tuple(value for value in content[2:] if isinstance(value, str))
            if len(texts) == len(content) - 2:
                feature = _make_feature(type_, level, texts)
                # `kind` raises ValueError if there is no such type.
                if feature.kind != CELL or all(text.isascii() and text.isdigit() for text in texts):
                    return feature
    raise ValueError(f"not a feature: {list(content)!r}; expected [type, level, value, …]")


@lru_cache(maxsize=4096)
def _make_feature(type_: str, level: int, values: tuple[str, ...]) -> Feature:
    """Return a feature. Selectors share most of theirs, and features remember what they compute."""
    return Feature(type_, level, values)
