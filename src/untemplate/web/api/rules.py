"""Rules: each in words and XPath with what it found, all versions, what differs between them, and files of them."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from untemplate.errors import RulesError
from untemplate.extraction import Rules
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.in_words import compare_rules, explain_records, explain_rule, explain_selector
from untemplate.rules.xslt import OF_LISTS, not_exportable, wrapper_xslt
from untemplate.web.api.common import PROBLEMS, DeskOf, Given, Name, SiteOf, Text
from untemplate.web.drafts import draft, is_saved, save

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["rules"], responses=PROBLEMS)

# Values shown of each rule: enough to judge it.
EXAMPLES = 5

Number = Annotated[int, Query(ge=1, le=2**31 - 1)]


class SelectorView(BaseModel):
    words: str
    xpath: str
    support: float = Field(description="Share of the unlabelled sample pages on which it selected something")


class Example(BaseModel):
    page: str
    texts: list[str]


class RuleView(BaseModel):
    """A rule in words and XPath, how often it finds something on the watched pages, and what."""

    attribute: str
    type: str
    words: str | None = Field(description="None without a rule")
    lost: bool
    coverage: float | None
    selectors: list[SelectorView]
    committee: list[SelectorView]
    examples: list[Example]
    no_xslt: str | None = Field(description="Why the rule cannot be exported to XSLT, if it cannot")


class WrapperView(BaseModel):
    cluster: str
    url_pattern: str
    signatures: list[str]
    records: str | None = Field(description="Of list pages, where their records are, in words")
    rules: list[RuleView]


class VersionView(BaseModel):
    number: int
    reason: str
    note: str
    saved: datetime
    clusters: int
    rules: int


class RulesView(BaseModel):
    """The rules of a site in one version, and which versions there are."""

    version: int
    newest: int
    saved: bool = Field(description="Whether the newest version is what the labels teach")
    wrappers: list[WrapperView]
    history: list[VersionView]


class ChangeView(BaseModel):
    """A difference between two versions in words; empty where there was or is nothing.

    Without an attribute it is the cluster that changed; without a cluster, what the schema says of the attribute.
    """

    cluster: str | None
    attribute: str | None
    before: str
    after: str


class SaveGiven(Given):
    """Save what the labels teach as a new version."""

    site: Text
    note: Text = ""


class RollbackGiven(Given):
    """Save an old version again, as the newest one."""

    site: Text
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]


class Saved(BaseModel):
    version: int


@router.get("/rules")
def get_rules(site: SiteOf, version: Number | None = None) -> RulesView:
    """The newest rules of a site, or those of a version."""
    assert site.version is not None
    rules = site.rules if version is None else site.catalog.rules(site.name, version)
    return RulesView(
        version=version or site.version.number,
        newest=site.version.number,
        saved=is_saved(site),
        wrappers=[_wrapper_view(wrapper, rules) for wrapper in rules.wrappers],
        history=[
            VersionView(
                number=one.number,
                reason=one.reason,
                note=one.note,
                saved=one.saved,
                clusters=one.clusters,
                rules=one.rules,
            )
            for one in site.catalog.history(site.name)
        ],
    )


@router.get("/rules/diff")
def get_diff(site: SiteOf, old: Number, new: Number | None = None) -> list[ChangeView]:
    """What differs from one version to another, or to what the labels teach now."""
    before = site.catalog.rules(site.name, old)
    after = draft(site) if new is None else site.catalog.rules(site.name, new)
    return [ChangeView(**asdict(change)) for change in compare_rules(before, after)]


@router.post("/rules/save")
def post_save(desk: DeskOf, given: SaveGiven) -> Saved:
    """Save what the labels teach as a new version."""
    return Saved(version=save(desk.site(given.site), given.note))


@router.post("/rules/rollback")
def post_rollback(desk: DeskOf, given: RollbackGiven) -> Saved:
    """Go back to an old version; nothing is lost, it becomes the newest one."""
    site = desk.site(given.site)
    with site.writing:
        version = site.catalog.rollback(site.name, given.version, desk.by)
    desk.changes.tell(site.name)
    return Saved(version=version)


def _file(media: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": "The file", "content": {media: {}}}}


@router.get("/rules/file", response_class=Response, responses=_file("application/json"))
def get_rules_file(site: SiteOf, version: Number | None = None) -> Response:
    """The rules as a rules file."""
    return _download(
        site.catalog.rules(site.name, version).dumps(), "application/json", f"{site.name}-rules.json"
    )


@router.get("/rules/xslt", response_class=Response, responses=_file("application/xslt+xml"))
def get_xslt(site: SiteOf, cluster: Name, version: Number | None = None) -> Response:
    """The rules of a cluster as an XSLT 1.0 stylesheet."""
    rules = site.catalog.rules(site.name, version)
    for wrapper in rules.wrappers:
        if wrapper.cluster == cluster and wrapper.rules:
            sheet = wrapper_xslt(wrapper, rules.schema)
            return _download(sheet, "application/xslt+xml", f"{site.name}-{cluster}.xsl")
    raise RulesError(f"no rules for cluster {cluster!r} of {site.name}")


def _download(text: str, media: str, name: str) -> Response:
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)
    return Response(text, media_type=media, headers={"content-disposition": f'attachment; filename="{safe}"'})


def _wrapper_view(wrapper: Wrapper, rules: Rules) -> WrapperView:
    return WrapperView(
        cluster=wrapper.cluster,
        url_pattern=wrapper.url_pattern,
        signatures=[str(one) for one in wrapper.signatures],
        records=explain_records(wrapper.records) if wrapper.records else None,
        rules=[
            _rule_view(wrapper, name, attribute.type, wrapper.rules.get(name))
            for name, attribute in rules.schema.attributes.items()
        ],
    )


def _rule_view(wrapper: Wrapper, attribute: str, type: str, rule: Rule | None) -> RuleView:
    examples = [
        Example(page=one.page, texts=list(one.golden[attribute]))
        for one in wrapper.bellwethers
        if attribute in one.golden
    ]
    return RuleView(
        attribute=attribute,
        type=type,
        words=explain_rule(rule) if rule else None,
        lost=attribute in wrapper.lost,
        coverage=round(len(examples) / len(wrapper.bellwethers), 3) if rule and wrapper.bellwethers else None,
        selectors=[_selector_view(one) for one in rule.selectors] if rule else [],
        committee=[_selector_view(one) for one in rule.committee] if rule else [],
        examples=examples[:EXAMPLES],
        no_xslt=(OF_LISTS if wrapper.records else not_exportable(rule)) if rule else None,
    )


def _selector_view(selector: Selector) -> SelectorView:
    return SelectorView(
        words=explain_selector(selector), xpath=selector.xpath, support=round(selector.support, 3)
    )
