"""Changes of what to extract from a site: attributes are added, removed, renamed, described, and get another type.

Labels and rules follow their attribute to its new name. An attribute with another type, or with several values
instead of one, is learned again from its labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from untemplate.errors import InputError
from untemplate.extraction import Rules
from untemplate.rules import Bellwether, Wrapper
from untemplate.schema import Attribute
from untemplate.web.site_updates import is_draft_saved, save_draft
from untemplate.web.workspace import OpenSite

__all__ = ["ChangedAttribute", "change_schema"]

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class ChangedAttribute:
    """An attribute as it should be, and the name that it has had so far; None if it is new."""

    attribute: Attribute
    old_name: str | None = None


def change_schema(site: OpenSite, attributes: Sequence[ChangedAttribute]) -> int:
    """Give a site other attributes, and return the number of the newest version of its rules.

    Attributes that are not listed are removed. Their labels stay in the catalog, for the case that an attribute of
    this name is added again.

    Args:
        site: The site.
        attributes: All attributes, in the order of the output.

    Raises:
        InputError: Two attributes have the same name, or come from the same one, or there is none.
    """
    _check_names(site, attributes)
    with site.writing:
        if not is_draft_saved(site):
            save_draft(site, "before a change of the schema")
            site.workspace.site(site.name)  # loads this version
        new_attributes = {changed.attribute.name: changed.attribute for changed in attributes}
        schema = replace(site.schema, attributes=new_attributes)
        if schema == site.schema:
            return site.version.number
        new_names = {changed.old_name: changed.attribute.name for changed in attributes if changed.old_name}
        wrappers = _rename_in_wrappers(site, new_names, new_attributes)
        site.catalog.rename_attributes(site.name, new_names)
        version = site.catalog.save_rules(
            site.name,
            Rules(schema, wrappers),
            "learned",
            "schema changed",
            site.workspace.user,
            based_on=site.version.number,
        )
        site.workspace.site(site.name)
        if any(site.changed_attributes().values()):
            version = save_draft(site, "learned again after a change of the schema")
    site.workspace.changes.publish(site.name)
    return version


def _check_names(site: OpenSite, attributes: Sequence[ChangedAttribute]) -> None:
    """Raise InputError if the attributes cannot be those of a schema."""
    if not attributes:
        raise InputError("a schema has at least one attribute")
    for names in (
        [changed.attribute.name for changed in attributes],
        [changed.old_name for changed in attributes if changed.old_name],
    ):
        if len(set(names)) < len(names):
            raise InputError("two attributes have the same name")
    for changed in attributes:
        if changed.old_name and changed.old_name not in site.schema.attributes:
            raise InputError(f"schema {site.schema.name!r} has no attribute {changed.old_name!r}")


def _rename_in_wrappers(
    site: OpenSite, new_names: Mapping[str, str], new_attributes: Mapping[str, Attribute]
) -> tuple[Wrapper, ...]:
    """Return the wrappers of a site with the new names of attributes, without rules that are learned anew.

    Rules of lists are learned together, from labels of rows, so they stay until these change.
    """
    old_attributes = site.schema.attributes
    kept = {
        old: new
        for old, new in new_names.items()
        if not _is_learned_anew(old_attributes[old], new_attributes[new])
    }
    return tuple(
        _rename_in_wrapper(wrapper, new_names if wrapper.records else kept) for wrapper in site.rules.wrappers
    )


def _is_learned_anew(old: Attribute, new: Attribute) -> bool:
    """Return True if the rule of an attribute does not fit its new definition."""
    return (old.type, old.many, old.pattern) != (new.type, new.many, new.pattern)


def _rename_in_wrapper(wrapper: Wrapper, new_names: Mapping[str, str]) -> Wrapper:
    """Return a wrapper with what it has of these attributes, under their new names."""
    rules = {new_names[name]: rule for name, rule in wrapper.rules.items() if name in new_names}
    return replace(
        wrapper,
        rules={name: replace(rule, attribute=name) for name, rule in rules.items()},
        profiles=_rename_keys(wrapper.profiles, new_names),
        lost=tuple(new_names[name] for name in wrapper.lost if name in new_names),
        bellwethers=tuple(_rename_in_bellwether(page, new_names) for page in wrapper.bellwethers),
    )


def _rename_in_bellwether(bellwether: Bellwether, new_names: Mapping[str, str]) -> Bellwether:
    return replace(
        bellwether,
        golden=_rename_keys(bellwether.golden, new_names),
        unsure=tuple(new_names[name] for name in bellwether.unsure if name in new_names),
    )


def _rename_keys(values: Mapping[str, V], new_names: Mapping[str, str]) -> dict[str, V]:
    return {new_names[name]: value for name, value in values.items() if name in new_names}
