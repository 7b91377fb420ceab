"""The rules file: versioned, readable JSON, checked on the way in.

XPaths stand in the file for people to read; what is applied are the features beside them, which can name elements,
attributes and texts of a page and nothing else. A file whose XPath says something else is refused.
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
from untemplate.rules.classifier import Classifier
from untemplate.rules.feature import Feature
from untemplate.rules.ranges import Range
from untemplate.rules.rule import Bellwether, Profile, RecordRule, Rule, Selector, Wrapper
from untemplate.schema import Attribute, Pattern, Schema, Type

__all__ = ["VERSION", "format_rules", "parse_rules"]

VERSION = 1
# No page is deeper, so no rule looks further up; and no value stands in more nodes.
MAX_LEVEL = Limits().depth
MAX_NODES = 1000


def format_rules(schema: Schema, wrappers: Iterable[Wrapper]) -> str:
    """Schema and wrappers as the text of a rules file."""
    content = {
        "untemplate": VERSION,
        "schema": {"name": schema.name, "attributes": _attributes(schema)},
        "wrappers": [_wrapper(wrapper) for wrapper in wrappers],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def parse_rules(text: str | bytes, name: str) -> tuple[Schema, tuple[Wrapper, ...]]:
    """Schema and wrappers out of the text of a rules file; RulesError says what is wrong with the file so named."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{name}: cannot read the rules: {error}") from error
    version = content.get("untemplate") if isinstance(content, dict) else None
    if not isinstance(version, int):
        raise RulesError(f"{name}: not a rules file; write one with `untemplate learn`")
    if version > VERSION:
        raise RulesError(f"{name}: written by a newer untemplate (format {version}); upgrade this one")
    try:
        file = _File.model_validate(content)
        return file.parse()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RulesError(f"{name}: at {place}: {first['msg']}") from error
    except ValueError as error:
        raise RulesError(f"{name}: {error}") from error


def _attributes(schema: Schema) -> dict[str, dict[str, Any]]:
    plain = asdict(Attribute(""))
    return {
        name: {
            key: value for key, value in asdict(attribute).items() if key != "name" and value != plain[key]
        }
        for name, attribute in schema.attributes.items()
    }


def _wrapper(wrapper: Wrapper) -> dict[str, Any]:
    content = {
        "cluster": wrapper.cluster,
        "signatures": [str(signature) for signature in wrapper.signatures],
        "importance": wrapper.importance,
        "url_pattern": wrapper.url_pattern,
        "rules": {name: _rule(rule) for name, rule in wrapper.rules.items()},
        "static": list(wrapper.static),
        "stops": list(wrapper.stops),
        "bellwethers": [_bellwether(bellwether) for bellwether in wrapper.bellwethers],
        "profiles": {name: asdict(profile) for name, profile in wrapper.profiles.items()},
        "lost": list(wrapper.lost),
    }
    if wrapper.records:
        content["records"] = _record_rule(wrapper.records)
    return content


def _record_rule(rule: RecordRule) -> dict[str, Any]:
    content: dict[str, Any] = {"selectors": [_selector(selector) for selector in rule.selectors]}
    if rule.holds:
        content["holds"] = rule.holds
    if rule.siblings:
        content |= {"siblings": rule.siblings, "tags": list(rule.tags)}
    return content


def _bellwether(bellwether: Bellwether) -> dict[str, Any]:
    return {
        "page": bellwether.page,
        "url": bellwether.url,
        "signature": str(bellwether.signature),
        "golden": {name: list(texts) for name, texts in bellwether.golden.items()},
        "unsure": list(bellwether.unsure),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    content: dict[str, Any] = {"selectors": [_selector(selector) for selector in rule.selectors]}
    if rule.committee:
        content["committee"] = [_selector(selector) for selector in rule.committee]
    if rule.classifier:
        content["classifier"] = {
            "prior": rule.classifier.prior,
            "features": [_feature(feature) for feature in rule.classifier.features],
            "present": list(rule.classifier.present),
            "absent": list(rule.classifier.absent),
        }
    if rule.range:
        content["range"] = {key: value for key, value in asdict(rule.range).items() if value is not None}
    for key, usual in (("nodes", 1), ("typed", False)):
        if getattr(rule, key) != usual:
            content[key] = getattr(rule, key)
    return content


def _selector(selector: Selector) -> dict[str, Any]:
    content: dict[str, Any] = {"xpath": selector.xpath, "node": selector.node}
    if selector.position:
        content["position"] = selector.position
    content["support"] = selector.support
    content["features"] = [_feature(feature) for feature in selector.features]
    return content


def _feature(feature: Feature) -> list[Any]:
    return [feature.type, feature.level, *feature.values]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _SelectorFile(_Part):
    xpath: str
    node: str = Field(pattern=r"^(text\(\)|element\(\)|@[A-Za-z_][\w.-]*)$")
    position: int = 0
    support: float
    features: list[list[str | int]]

    def parse(self) -> Selector:
        features = tuple(_parse_feature(feature) for feature in self.features)
        selector = Selector(self.node, features, self.position, self.support)
        if selector.xpath != self.xpath:
            raise ValueError(f"the XPath {self.xpath!r} is not what its features say; change the features")
        try:
            assert selector.find
        except etree.XPathError as error:
            raise ValueError(f"the XPath {self.xpath!r} cannot be used: {error}") from error
        return selector


class _ClassifierFile(_Part):
    prior: float
    features: list[list[str | int]]
    present: list[float]
    absent: list[float]

    def parse(self) -> Classifier:
        if not len(self.features) == len(self.present) == len(self.absent):
            raise ValueError("a classifier needs as many weights as features")
        features = tuple(_parse_feature(feature) for feature in self.features)
        return Classifier(self.prior, features, tuple(self.present), tuple(self.absent))


class _RangeFile(_Part):
    after: str | None = None
    before: str | None = None
    start: int | None = None
    stop: int | None = None
    type: Type | None = None


class _RuleFile(_Part):
    selectors: list[_SelectorFile] = Field(min_length=1)
    committee: list[_SelectorFile] = []
    classifier: _ClassifierFile | None = None
    range: _RangeFile | None = None
    nodes: int = Field(1, ge=1, le=MAX_NODES)
    typed: bool = False

    def parse(self, attribute: str) -> Rule:
        return Rule(
            attribute,
            tuple(selector.parse() for selector in self.selectors),
            tuple(selector.parse() for selector in self.committee),
            self.classifier.parse() if self.classifier else None,
            Range(**vars(self.range)) if self.range else None,
            self.nodes,
            self.typed,
        )


class _RecordRuleFile(_Part):
    selectors: list[_SelectorFile] = Field(min_length=1)
    holds: str = Field("", pattern=r"^([a-z][a-z0-9]*(/[a-z][a-z0-9]*)*)?$")
    siblings: int = Field(0, ge=0, le=MAX_NODES)
    tags: list[str] = []

    def parse(self) -> RecordRule:
        selectors = tuple(selector.parse() for selector in self.selectors)
        for selector in selectors:
            if selector.node != "element()" or not all(f.is_structural for f in selector.features):
                raise ValueError(f"records begin at elements, and are not known by texts: {selector.xpath!r}")
        return RecordRule(selectors, self.holds, self.siblings, tuple(self.tags))


class _BellwetherFile(_Part):
    page: str
    url: str
    signature: str
    golden: dict[str, list[str]]
    unsure: list[str] = []

    def parse(self) -> Bellwether:
        golden = {name: tuple(texts) for name, texts in self.golden.items()}
        return Bellwether(self.page, self.url, Signature.parse(self.signature), golden, tuple(self.unsure))


class _ProfileFile(_Part):
    agreement: float
    labels: list[str] = []
    names: list[str] = []

    def parse(self) -> Profile:
        return Profile(self.agreement, tuple(self.labels), tuple(self.names))


class _WrapperFile(_Part):
    cluster: str
    signatures: list[str]
    importance: int
    url_pattern: str
    rules: dict[str, _RuleFile]
    static: list[Annotated[str, Field(pattern=r"^\d+ \S+ .")]]
    stops: list[Annotated[str, Field(pattern=r"^<[A-Za-z][\x00-\x7f]*$")]] = []
    bellwethers: list[_BellwetherFile] = []
    profiles: dict[str, _ProfileFile] = {}
    lost: list[str] = []
    records: _RecordRuleFile | None = None

    def parse(self, attributes: Mapping[str, Attribute]) -> Wrapper:
        if unknown := {*self.rules, *self.profiles, *self.lost} - set(attributes):
            raise ValueError(f"a rule for {min(unknown)!r}, which the schema does not have")
        return Wrapper(
            self.cluster,
            tuple(Signature.parse(text) for text in self.signatures),
            self.importance,
            self.url_pattern,
            {name: rule.parse(name) for name, rule in self.rules.items()},
            tuple(self.static),
            tuple(self.stops),
            tuple(bellwether.parse() for bellwether in self.bellwethers),
            {name: profile.parse() for name, profile in self.profiles.items()},
            tuple(self.lost),
            self.records.parse() if self.records else None,
        )


class _AttributeFile(_Part):
    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: Pattern | None = None


class _SchemaFile(_Part):
    name: str
    attributes: dict[str, _AttributeFile] = Field(min_length=1)


class _File(_Part):
    untemplate: Literal[1]
    schema_: _SchemaFile = Field(alias="schema")
    wrappers: list[_WrapperFile]

    def parse(self) -> tuple[Schema, tuple[Wrapper, ...]]:
        attributes = {
            name: Attribute(name, **vars(fields)) for name, fields in self.schema_.attributes.items()
        }
        wrappers = tuple(wrapper.parse(attributes) for wrapper in self.wrappers)
        rows = any(wrapper.records for wrapper in wrappers)
        return Schema(self.schema_.name, attributes, rows), wrappers


def _parse_feature(content: list[str | int]) -> Feature:
    match content:
        case [str() as type_, int() as level, *values] if 0 <= level <= MAX_LEVEL and values:
            texts = tuple(value for value in values if isinstance(value, str))
            if len(texts) == len(values):
                feature = Feature(type_, level, texts)
                assert feature.kind
                return feature
    raise ValueError(f"not a feature: {content!r}; expected [type, level, value, …]")
