"""The rules file: versioned, readable JSON, checked when it is loaded.

The XPaths in the file are for people. What is applied are the features beside them, which can only name elements,
attributes and texts of a page, so a hostile file cannot do more than that. A file whose XPath does not agree with its
features is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from msgspec import convert
from msgspec.structs import fields

from untemplate.errors import RulesError
from untemplate.input_files import load_json, shorten
from untemplate.page.template_cores import Core
from untemplate.rules.feature import Feature
from untemplate.rules.file_sections import (
    AttributeSection,
    EmbeddedSection,
    ListLookSection,
    RangeSection,
    RecordRuleSection,
    RegionSection,
    RuleSection,
    RulesFile,
    Section,
    SelectorSection,
)
from untemplate.rules.rule import (
    Bellwether,
    CandidateClassifier,
    EmbeddedSelector,
    ListLook,
    Profile,
    RecordRule,
    Region,
    Rule,
    Selector,
    Wrapper,
)
from untemplate.schema import Schema

__all__ = ["VERSION", "format_rules", "parse_rules"]

VERSION = 2
"""The format that is written. Format 1 had no embedded data. Files of newer formats are refused."""


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
        content = load_json(text)
    except ValueError as error:
        raise RulesError(f"{name}: cannot read the rules: {error}") from error
    version = content.get("untemplate") if isinstance(content, dict) else None
    if not isinstance(version, int):
        raise RulesError(f"{name}: not a rules file; write one with `untemplate learn`")
    if version > VERSION:
        raise RulesError(f"{name}: written by a newer untemplate (format {version}); upgrade untemplate")
    try:
        return convert(content, RulesFile).parse()
    except ValueError as error:
        raise RulesError(f"{name}: {shorten(str(error))}") from error


def _format_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema section. The name of an attribute is its key, not one of its fields."""
    attributes = {}
    for name, attribute in schema.attributes.items():
        fields = asdict(attribute)
        del fields["name"]
        attributes[name] = _without_defaults(AttributeSection, fields)
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
    if wrapper.named:
        content["named"] = True
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
        "range": rule.range and _without_defaults(RangeSection, asdict(rule.range)),
        "nodes": rule.nodes,
        "typed": rule.typed,
        "single": rule.single,
        "disputed": rule.disputed,
        "embedded": list(map(_format_embedded, rule.embedded)),
        "look": rule.look and _format_look(rule.look),
        "unfit": rule.unfit,
    }
    return _without_defaults(RuleSection, content)


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
    return _without_defaults(SelectorSection, content)


def _format_region(region: Region) -> dict[str, Any]:
    content = {"position": region.position, "features": list(map(_format_feature, region.features))}
    return _without_defaults(RegionSection, content)


def _format_embedded(selector: EmbeddedSelector) -> dict[str, Any]:
    """Return a selector of embedded data with its path first, which is what people read."""
    content = asdict(selector) | asdict(selector.path) | {"path": str(selector.path)}
    return _without_defaults(EmbeddedSection, content)


def _format_classifier(classifier: CandidateClassifier) -> dict[str, Any]:
    return asdict(classifier) | {"features": list(map(_format_feature, classifier.features))}


def _format_look(look: ListLook) -> dict[str, Any]:
    return _without_defaults(ListLookSection, asdict(look) | {"between": list(look.between)})


def _format_feature(feature: Feature) -> list[Any]:
    """Return a feature as a short list, since a file contains thousands of them."""
    return [feature.type, feature.level, *feature.values]


def _format_record_rule(rule: RecordRule) -> dict[str, Any]:
    content = {
        "selectors": list(map(_format_selector, rule.selectors)),
        "holds": rule.required_path,
        "siblings": rule.siblings,
        "tags": list(rule.tags),
        "levels": rule.levels,
        "with_texts": rule.with_texts,
        "required_link": rule.required_link,
        "required_text": rule.required_text,
        "distinct": rule.distinct,
    }
    return _without_defaults(RecordRuleSection, content)


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


def _without_defaults(section: type[Section], content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a section without the fields that have the default value of the section.

    Most fields of most rules do, so files stay short. Reading the file restores the defaults.
    """
    defaults = {field.name: field.default for field in fields(section)}
    return {key: value for key, value in content.items() if _as_read(value) != defaults[key]}


def _as_read(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
