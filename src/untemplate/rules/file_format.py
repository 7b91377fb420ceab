"""The rules file: versioned, readable JSON, checked when it is loaded.

The XPaths in the file are for people. What is applied are the features beside them, which can only name elements,
attributes and texts of a page, so a hostile file cannot do more than that. A file whose XPath does not agree with its
features is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from lxml import etree
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from untemplate.errors import RulesError
from untemplate.page import Limits, Signature
from untemplate.page.embedded_data import DataPath
from untemplate.page.traits import RUN_BITS, Core
from untemplate.rules.feature import Feature
from untemplate.rules.rule import (
    Bellwether,
    CandidateClassifier,
    EmbeddedSelector,
    ListLook,
    Profile,
    Range,
    RecordRule,
    Region,
    Rule,
    Selector,
    Wrapper,
)
from untemplate.schema import Attribute, Pattern, Schema, Type

__all__ = ["VERSION", "format_rules", "parse_rules"]

VERSION = 2
"""The format that is written. Format 1 had no embedded data. Files of newer formats are refused."""

# No page is deeper than this, so no feature needs a higher level.
MAX_LEVEL = Limits().depth
# The most text nodes in one value, and the most sibling elements in one record.
MAX_NODES = 1000


def format_rules(schema: Schema, wrappers: Iterable[Wrapper]) -> str:
    """Return the text of a rules file. Values that equal their default are left out."""
    content = {
        "untemplate": VERSION,
        "schema": _format_schema(schema),
        "wrappers": list(map(_format_wrapper, wrappers)),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def parse_rules(text: str | bytes, name: str) -> tuple[Schema, tuple[Wrapper, ...]]:
    """Return the schema and the wrappers of a rules file.

    Args:
        text: the content of the file.
        name: the name of the file, for error messages.

    Raises:
        RulesError: the file is broken, hostile or newer than this version; the message says where and why.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{name}: cannot read the rules: {error}") from error
    version = content.get("untemplate") if isinstance(content, dict) else None
    if not isinstance(version, int):
        raise RulesError(f"{name}: not a rules file; write one with `untemplate learn`")
    if version > VERSION:
        raise RulesError(f"{name}: written by a newer untemplate (format {version}); upgrade untemplate")
    try:
        return _RulesFile.model_validate(content).parse()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RulesError(f"{name}: at {place}: {first['msg']}") from error
    except ValueError as error:
        raise RulesError(f"{name}: {error}") from error


def _format_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema section. The name of an attribute is its key, not one of its fields."""
    attributes = {}
    for name, attribute in schema.attributes.items():
        fields = asdict(attribute)
        del fields["name"]
        attributes[name] = _without_defaults(_AttributeSection, fields)
    return {"name": schema.name, "attributes": attributes}


def _format_wrapper(wrapper: Wrapper) -> dict[str, Any]:
    """Return the section of one cluster: how to recognize its pages, its rules, and what is remembered."""
    content = {
        "cluster": wrapper.cluster,
        "signatures": list(map(str, wrapper.signatures)),
        "importance": wrapper.importance,
        "url_pattern": wrapper.url_pattern,
        "rules": {name: _format_rule(rule) for name, rule in wrapper.rules.items()},
        "static": wrapper.static,
        "stops": wrapper.stops,
        "bellwethers": list(map(_format_bellwether, wrapper.bellwethers)),
        "profiles": {name: _format_profile(profile) for name, profile in wrapper.profiles.items()},
        "lost": wrapper.lost,
    }
    if wrapper.records:
        content["records"] = _format_record_rule(wrapper.records)
    if wrapper.core:
        content["core"] = _format_core(wrapper.core)
    if wrapper.lender:
        content["lender"] = wrapper.lender
    return content


def _format_core(core: Core) -> dict[str, Any]:
    """Return the core of a template. Its runs are hashes, so they are written as short as possible."""
    return {
        "own": " ".join(f"{run:x}" for run in core.own),
        "frame": " ".join(f"{run:x}" for run in core.frame),
        "min_own_share": core.min_own_share,
        "min_share": core.min_share,
    }


def _format_rule(rule: Rule) -> dict[str, Any]:
    """Return the section of one attribute's rule. The name of the attribute is the key of the section."""
    content = {
        "selectors": list(map(_format_selector, rule.selectors)),
        "committee": list(map(_format_selector, rule.committee)),
        "classifier": rule.classifier and _format_classifier(rule.classifier),
        "range": rule.range and _without_defaults(_RangeSection, asdict(rule.range)),
        "nodes": rule.nodes,
        "typed": rule.typed,
        "single": rule.single,
        "disputed": rule.disputed,
        "embedded": list(map(_format_embedded, rule.embedded)),
        "look": rule.look and _format_look(rule.look),
        "unfit": rule.unfit,
    }
    return _without_defaults(_RuleSection, content)


def _format_selector(selector: Selector) -> dict[str, Any]:
    """Return a selector with its XPath first, which is what people read."""
    content = {
        "xpath": selector.xpath,
        "node": selector.node,
        "position": selector.position,
        "support": selector.support,
        "features": list(map(_format_feature, selector.features)),
        "region": selector.region and _format_region(selector.region),
    }
    return _without_defaults(_SelectorSection, content)


def _format_region(region: Region) -> dict[str, Any]:
    content = {"position": region.position, "features": list(map(_format_feature, region.features))}
    return _without_defaults(_RegionSection, content)


def _format_embedded(selector: EmbeddedSelector) -> dict[str, Any]:
    """Return a selector of embedded data with its path first, which is what people read."""
    content = asdict(selector) | asdict(selector.path) | {"path": str(selector.path)}
    return _without_defaults(_EmbeddedSection, content)


def _format_classifier(classifier: CandidateClassifier) -> dict[str, Any]:
    return asdict(classifier) | {"features": list(map(_format_feature, classifier.features))}


def _format_look(look: ListLook) -> dict[str, Any]:
    return _without_defaults(_ListLookSection, asdict(look) | {"between": list(look.between)})


def _format_feature(feature: Feature) -> list[Any]:
    """Return a feature as a short list, since a file contains thousands of them."""
    return [feature.type, feature.level, *feature.values]


def _format_record_rule(rule: RecordRule) -> dict[str, Any]:
    content = {
        "selectors": list(map(_format_selector, rule.selectors)),
        "holds": rule.required_path,
        "siblings": rule.siblings,
        "tags": list(rule.tags),
    }
    return _without_defaults(_RecordRuleSection, content)


def _format_bellwether(bellwether: Bellwether) -> dict[str, Any]:
    return {
        "page": bellwether.page,
        "url": bellwether.url,
        "signature": str(bellwether.signature),
        "golden": dict(bellwether.golden),
        "unsure": bellwether.unsure,
    }


def _format_profile(profile: Profile) -> dict[str, Any]:
    return {"agreement": profile.agreement, "labels": profile.captions, "names": profile.names}


def _without_defaults(section: type[_Section], content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a section without the fields that have the default value of the section.

    Most fields of most rules do, so files stay short. Reading the file restores the defaults.
    """
    fields = section.model_fields
    return {key: value for key, value in content.items() if value != fields[key].default}


# The classes below are the sections of the file. pydantic checks types and keys; `parse` checks the rest, raises
# ValueError with a message for the user, and returns the object that the section describes.


class _Section(BaseModel):
    """Base of all sections: no unknown keys, and no conversion of types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _RegionSection(_Section):
    """The part of a page in which a selector selects."""

    position: int = 0
    features: list[list[str | int]]

    def parse(self) -> Region:
        """Return the region. Its elements are known by structure alone."""
        features = tuple(map(_parse_feature, self.features))
        if not all(feature.is_structural for feature in features):
            raise ValueError("a region is known by its elements, not by texts")
        return Region(features, self.position)


class _SelectorSection(_Section):
    """A selector. Its XPath is for people, and must agree with its features."""

    xpath: str
    node: str = Field(pattern=r"^(text\(\)|element\(\)|@[A-Za-z_][\w.-]*)$")
    position: int = 0
    support: float
    features: list[list[str | int]]
    region: _RegionSection | None = None

    def parse(self) -> Selector:
        """Return the selector. Its XPath is compiled here, which fails if a value contains a control character."""
        features = tuple(map(_parse_feature, self.features))
        region = self.region.parse() if self.region else None
        selector = Selector(self.node, features, self.position, self.support, region)
        if selector.xpath != self.xpath:
            raise ValueError(f"the XPath {self.xpath!r} is not what its features say; change the features")
        try:
            _ = selector.find_candidates
            _ = region and region.find_elements
        except (etree.XPathError, ValueError) as error:
            raise ValueError(f"the XPath {self.xpath!r} cannot be used: {error}") from error
        return selector


class _EmbeddedSection(_Section):
    """A selector of embedded data. Its path is for people, and must agree with its parts."""

    path: str
    source: str = Field(min_length=1)
    type: str = ""
    keys: list[str] | tuple[str, ...] = ()
    ends: list[str] | tuple[str, ...] = ()
    only_first_end: bool = False
    position: int = Field(0, ge=0)
    lines: bool = False
    skips_repeats: bool = False
    support: float

    def parse(self) -> EmbeddedSelector:
        """Return the selector."""
        path = DataPath(self.source, self.type, tuple(self.keys), tuple(self.ends), self.only_first_end)
        if str(path) != self.path:
            raise ValueError(f"the path {self.path!r} is not what its parts say; change the parts")
        return EmbeddedSelector(path, self.position, self.lines, self.skips_repeats, self.support)


class _ClassifierSection(_Section):
    """A classifier: log odds for each of its features."""

    prior: float
    features: list[list[str | int]]
    present: list[float]
    absent: list[float]

    def parse(self) -> CandidateClassifier:
        if not len(self.features) == len(self.present) == len(self.absent):
            raise ValueError("a classifier needs as many weights as features")
        features = tuple(map(_parse_feature, self.features))
        return CandidateClassifier(self.prior, features, tuple(self.present), tuple(self.absent))


class _RangeSection(_Section):
    """The part of a text that is the value; see `Range`."""

    after: str | None = None
    before: str | None = None
    start: int | None = None
    stop: int | None = None
    type: Type | None = None
    separators: list[Annotated[str, Field(min_length=1)]] | tuple[str, ...] = ()

    def parse(self) -> Range:
        return Range(**vars(self) | {"separators": tuple(self.separators)})


class _ListLookSection(_Section):
    """See `ListLook`."""

    members: int = Field(1, ge=1)
    of_sentences: bool = False
    has_titles: bool = False
    between: list[str] = []


class _RuleSection(_Section):
    """The rule of one attribute, whose name is the section's key."""

    selectors: list[_SelectorSection] = []
    committee: list[_SelectorSection] = []
    classifier: _ClassifierSection | None = None
    range: _RangeSection | None = None
    nodes: int = Field(1, ge=1, le=MAX_NODES)
    typed: bool = False
    single: bool = False
    disputed: bool = False
    embedded: list[_EmbeddedSection] = []
    look: _ListLookSection | None = None
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
            ListLook(**(vars(self.look) | {"between": tuple(self.look.between)})) if self.look else None,
            self.unfit,
        )


class _RecordRuleSection(_Section):
    """Where the records of list pages are. `holds` is the required path, by its name in files."""

    selectors: list[_SelectorSection] = Field(min_length=1)
    holds: str = Field("", pattern=r"^([a-z][a-z0-9]*(/[a-z][a-z0-9]*)*)?$")
    siblings: int = Field(0, ge=0, le=MAX_NODES)
    tags: list[str] = []

    def parse(self) -> RecordRule:
        """Return the rule. Its selectors must select elements by structure alone, as the texts of records differ."""
        selectors = tuple(selector.parse() for selector in self.selectors)
        for selector in selectors:
            if selector.node != "element()" or selector.text_features:
                raise ValueError(f"records begin at elements, and are not known by texts: {selector.xpath!r}")
        return RecordRule(selectors, self.holds, self.siblings, tuple(self.tags))


class _BellwetherSection(_Section):
    """A watched page and its golden values."""

    page: str
    url: str
    signature: str
    golden: dict[str, list[str]]
    unsure: list[str] = []

    def parse(self) -> Bellwether:
        golden = {name: tuple(texts) for name, texts in self.golden.items()}
        return Bellwether(self.page, self.url, Signature.parse(self.signature), golden, tuple(self.unsure))


class _ProfileSection(_Section):
    """What surrounded an attribute's values. `labels` are captions, by their name in files."""

    agreement: float
    labels: list[str] = []
    names: list[str] = []

    def parse(self) -> Profile:
        return Profile(self.agreement, tuple(self.labels), tuple(self.names))


_HexNumbers = Annotated[str, Field(pattern=r"^(([0-9a-f]{1,5} )*[0-9a-f]{1,5})?$", max_length=10_000)]


class _CoreSection(_Section):
    """The core of a template: tag runs as hexadecimal numbers, and the shares that a page must have."""

    own: _HexNumbers
    frame: _HexNumbers
    min_own_share: Annotated[float, Field(ge=0, le=1)]
    min_share: Annotated[float, Field(ge=0, le=1)]

    def parse(self) -> Core:
        own, frame = (tuple(int(run, 16) for run in runs.split()) for runs in (self.own, self.frame))
        if any(run >> RUN_BITS for run in (*own, *frame)):
            raise ValueError(f"a tag run with more than {RUN_BITS} bits")
        return Core(own, frame, self.min_own_share, self.min_share)


class _WrapperSection(_Section):
    """All rules of one cluster. Stops are ASCII tags, static texts are keys as `static_key` makes them."""

    cluster: str
    signatures: list[str]
    importance: int
    url_pattern: str
    rules: dict[str, _RuleSection]
    static: list[Annotated[str, Field(pattern=r"^\d+ \S+ .")]]
    stops: list[Annotated[str, Field(pattern=r"^<[A-Za-z][\x00-\x7f]*$")]] = []
    bellwethers: list[_BellwetherSection] = []
    profiles: dict[str, _ProfileSection] = {}
    lost: list[str] = []
    records: _RecordRuleSection | None = None
    core: _CoreSection | None = None
    lender: str = ""

    def parse(self, attributes: Mapping[str, Attribute]) -> Wrapper:
        """Return the wrapper. All attributes that it names must be among these, which are those of the schema."""
        if unknown := {*self.rules, *self.profiles, *self.lost} - set(attributes):
            raise ValueError(f"a rule for {min(unknown)!r}, which the schema does not have")
        return Wrapper(
            self.cluster,
            tuple(map(Signature.parse, self.signatures)),
            self.importance,
            self.url_pattern,
            {name: rule.parse(name) for name, rule in self.rules.items()},
            tuple(self.static),
            tuple(self.stops),
            tuple(bellwether.parse() for bellwether in self.bellwethers),
            {name: profile.parse() for name, profile in self.profiles.items()},
            tuple(self.lost),
            self.records.parse() if self.records else None,
            self.core.parse() if self.core else None,
            self.lender,
        )


class _AttributeSection(_Section):
    """An attribute of the schema, whose name is the section's key."""

    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: Pattern | None = None
    same_as: tuple[str, ...] = Field((), strict=False)


class _SchemaSection(_Section):
    """The schema, with the fields of its attributes that differ from their default."""

    name: str
    attributes: dict[str, _AttributeSection] = Field(min_length=1)


class _RulesFile(_Section):
    """The complete file."""

    untemplate: Literal[1, 2]
    schema_: _SchemaSection = Field(alias="schema")
    wrappers: list[_WrapperSection]

    def parse(self) -> tuple[Schema, tuple[Wrapper, ...]]:
        """Return the schema and the wrappers. The schema has rows if one of the wrappers is for list pages."""
        sections = self.schema_.attributes
        attributes = {name: Attribute(name, **vars(section)) for name, section in sections.items()}
        wrappers = tuple(wrapper.parse(attributes) for wrapper in self.wrappers)
        has_rows = any(wrapper.records for wrapper in wrappers)
        return Schema(self.schema_.name, attributes, has_rows), wrappers


def _parse_feature(content: list[str | int]) -> Feature:
    """Return the feature that a list `[type, level, value, …]` describes.

    Raises:
        ValueError: the list has another form, or there is no such feature type.
    """
    match content:
        case [str() as type_, int() as level, str(), *_] if 0 <= level <= MAX_LEVEL:
            texts = tuple(value for value in content[2:] if isinstance(value, str))
            if len(texts) == len(content) - 2:
                feature = Feature(type_, level, texts)
                _ = feature.kind  # raises ValueError if there is no such type
                return feature
    raise ValueError(f"not a feature: {content!r}; expected [type, level, value, …]")
