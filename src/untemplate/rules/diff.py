"""Two versions of a site's rules compared: what a person reads before trusting the newer one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from untemplate.rules.explain import explain_records, explain_rule
from untemplate.rules.rule import Rule, Wrapper
from untemplate.schema import Attribute, Schema

__all__ = ["Change", "SiteRules", "compare_rules"]

LOST = "no rule: the site changed"


@dataclass(frozen=True)
class Change:
    """One difference in words: what there was, and what there is; empty where there was or is nothing.

    Without an attribute it is the cluster that changed; without a cluster, what the schema says of the attribute.
    """

    cluster: str | None
    attribute: str | None
    before: str
    after: str


class SiteRules(Protocol):
    """The rules of a site: what `Rules` is, without what extracts."""

    @property
    def schema(self) -> Schema: ...
    @property
    def wrappers(self) -> tuple[Wrapper, ...]: ...


def compare_rules(old: SiteRules, new: SiteRules) -> list[Change]:
    """How new rules differ from old ones: the schema, then cluster by cluster."""
    changes = []
    for name in {**old.schema.attributes, **new.schema.attributes}:
        before, after = (_attribute(rules.schema.attributes.get(name)) for rules in (old, new))
        changes.append(Change(None, name, before, after))
    old_wrappers, new_wrappers = ({one.cluster: one for one in rules.wrappers} for rules in (old, new))
    for cluster in old_wrappers | new_wrappers:
        changes += _compare_wrappers(cluster, old_wrappers.get(cluster), new_wrappers.get(cluster))
    return [change for change in changes if change.before != change.after]


def _compare_wrappers(cluster: str, old: Wrapper | None, new: Wrapper | None) -> Iterator[Change]:
    before, after = _wrapper(old), _wrapper(new)
    if old and new and set(old.signatures) != set(new.signatures):
        after += ", other signatures"
    yield Change(cluster, None, before, after)
    yield Change(cluster, None, _records(old), _records(new))
    attributes = [name for wrapper in (old, new) if wrapper for name in (*wrapper.rules, *wrapper.lost)]
    for name in dict.fromkeys(attributes):
        before, after = _rule(name, old), _rule(name, new)
        if before == after and old and new and old.rules.get(name) != new.rules.get(name):
            after += f"; with {_details(old.rules[name], new.rules[name])}"
        yield Change(cluster, name, before, after)


def _attribute(attribute: Attribute | None) -> str:
    if attribute is None:
        return ""
    flags = [flag for flag in ("mandatory", "constant", "many") if getattr(attribute, flag)]
    pattern = [f"like {attribute.pattern}"] if attribute.pattern else []
    return ", ".join([attribute.type, *flags, *pattern])


def _wrapper(wrapper: Wrapper | None) -> str:
    if wrapper is None:
        return ""
    return wrapper.url_pattern if wrapper.rules or wrapper.lost else f"{wrapper.url_pattern}, needs labels"


def _records(wrapper: Wrapper | None) -> str:
    return f"records: {explain_records(wrapper.records)}" if wrapper and wrapper.records else ""


def _rule(attribute: str, wrapper: Wrapper | None) -> str:
    if wrapper is None:
        return ""
    if rule := wrapper.rules.get(attribute):
        return explain_rule(rule)
    return LOST if attribute in wrapper.lost else ""


def _details(old: Rule, new: Rule) -> str:
    """What of a rule is not the same, where the words for both are."""
    parts = {
        "other XPaths": [one.xpath for one in old.selectors] != [one.xpath for one in new.selectors],
        "another committee": old.committee != new.committee,
        "another classifier": old.classifier != new.classifier,
    }
    return " and ".join(words for words, differ in parts.items() if differ) or "other details"
