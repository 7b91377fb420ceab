"""Rules: each rule in words and XPath with examples, all versions and their differences, and files to download."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from untemplate.errors import RulesError
from untemplate.extraction import Rules
from untemplate.rules import Selector, Wrapper
from untemplate.rules.in_words import (
    RuleChange,
    compare_rules,
    explain_records,
    explain_rule,
    explain_selector,
)
from untemplate.rules.xslt import OF_LISTS, not_exportable, wrapper_xslt
from untemplate.schema import Attribute
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
    file_response,
)
from untemplate.web.site_updates import draft_rules, is_draft_saved, save_draft
from untemplate.web.workspace import OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["rules"], responses=ERROR_RESPONSES)

MAX_EXAMPLES = 5
"""Pages whose values are shown as examples of a rule."""

VersionParam = Annotated[int, Query(ge=1, le=2**31 - 1)]


class SelectorView(BaseModel):
    """A selector of a rule, in words and as XPath."""

    words: str
    xpath: str
    support: float = Field(description="Share of the unlabeled sample pages on which it selects something")


class ExampleView(BaseModel):
    """The values that a rule found on a page."""

    page: str
    texts: list[str]


class RuleView(BaseModel):
    """A rule in words and XPath, the share of watched pages on which it finds a value, and examples."""

    attribute: str
    type: str
    lost: bool
    examples: list[ExampleView]
    words: str | None = Field(default=None, description="None without a rule")
    coverage: float | None = None
    selectors: list[SelectorView] = []
    committee: list[SelectorView] = []
    no_xslt: str | None = Field(
        default=None, description="Why the rule cannot be exported to XSLT, if it cannot"
    )


class WrapperView(BaseModel):
    """The rules of one cluster."""

    cluster: str
    url_pattern: str
    signatures: list[str]
    records: str | None = Field(description="On list pages, where their records are, in words")
    rules: list[RuleView]


class VersionView(BaseModel):
    """A version of the rules."""

    number: int
    reason: str
    note: str
    saved: datetime
    clusters: int
    rules: int


class RulesView(BaseModel):
    """The rules of a site in one version, and the list of all versions."""

    version: int
    newest: int
    saved: bool = Field(description="Whether the newest version has the rules that the labels teach")
    wrappers: list[WrapperView]
    history: list[VersionView]


class SaveBody(RequestBody):
    """The site whose labels are saved as rules, and a note for the history."""

    site: Text
    note: Text = ""


class RollbackBody(RequestBody):
    """The old version to save again as the newest one."""

    site: Text
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]


class SavedView(BaseModel):
    """The number of a new version."""

    version: int


@router.get("/rules")
def get_rules(site: SiteParam, version: VersionParam | None = None) -> RulesView:
    """Return the newest rules of a site, or those of a version."""
    rules = site.rules if version is None else site.catalog.rules(site.name, version)
    return RulesView(
        version=version or site.version.number,
        newest=site.version.number,
        saved=is_draft_saved(site),
        wrappers=[_wrapper_view(site, wrapper, rules) for wrapper in rules.wrappers],
        history=[VersionView(**asdict(saved)) for saved in site.catalog.history(site.name)],
    )


@router.get("/rules/diff")
def get_diff(site: SiteParam, old: VersionParam, new: VersionParam | None = None) -> list[RuleChange]:
    """Return the differences from one version to another, or to the rules that the labels teach now."""
    before = site.catalog.rules(site.name, old)
    after = draft_rules(site) if new is None else site.catalog.rules(site.name, new)
    return compare_rules(before, after)


@router.post("/rules/save")
def post_save(workspace: WorkspaceParam, body: SaveBody) -> SavedView:
    """Save the rules that the labels teach as a new version."""
    return SavedView(version=save_draft(workspace.site(body.site), body.note))


@router.post("/rules/rollback")
def post_rollback(workspace: WorkspaceParam, body: RollbackBody) -> SavedView:
    """Save an old version again as the newest one. No version is lost."""
    site = workspace.site(body.site)
    with site.writing:
        version = site.catalog.rollback(site.name, body.version, workspace.user)
    workspace.changes.publish(site.name)
    return SavedView(version=version)


@router.get("/rules/file", response_class=Response, responses=file_response("application/json"))
def get_rules_file(site: SiteParam, version: VersionParam | None = None) -> Response:
    """Return the rules as a rules file."""
    return _download(
        site.catalog.rules(site.name, version).dumps(), "application/json", f"{site.name}-rules.json"
    )


@router.get("/rules/xslt", response_class=Response, responses=file_response("application/xslt+xml"))
def get_xslt(site: SiteParam, cluster: NameParam, version: VersionParam | None = None) -> Response:
    """Return the rules of a cluster as an XSLT 1.0 style sheet."""
    rules = site.catalog.rules(site.name, version)
    for wrapper in rules.wrappers:
        if wrapper.cluster == cluster and wrapper.rules:
            sheet = wrapper_xslt(wrapper, rules.schema)
            return _download(sheet, "application/xslt+xml", f"{site.name}-{cluster}.xsl")
    raise RulesError(f"no rules for cluster {cluster!r} of {site.name}")


def _download(text: str, media: str, name: str) -> Response:
    """Return a response that browsers save as a file with a safe name."""
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)
    return Response(text, media_type=media, headers={"content-disposition": f'attachment; filename="{safe}"'})


def _wrapper_view(site: OpenSite, wrapper: Wrapper, rules: Rules) -> WrapperView:
    """Return the rules of a cluster; attributes without a rule are included.

    The shares of pages with a value are those of the newest rules, if the wrapper is one of them.
    """
    is_newest = site.rules.by_cluster.get(wrapper.cluster) == wrapper
    shares = site.filled_shares(wrapper.cluster) if is_newest else {}
    return WrapperView(
        cluster=wrapper.cluster,
        url_pattern=wrapper.url_pattern,
        signatures=[str(signature) for signature in wrapper.signatures],
        records=explain_records(wrapper.records) if wrapper.records else None,
        rules=[
            _rule_view(wrapper, attribute, shares.get(attribute.name))
            for attribute in rules.schema.attributes.values()
        ],
    )


def _rule_view(wrapper: Wrapper, attribute: Attribute, share: float | None) -> RuleView:
    """Return the rule of an attribute, if there is one, and examples of its values.

    Without a rule, remembered values of watched pages are shown nevertheless, if there are any.
    """
    name = attribute.name
    examples = _examples(wrapper, name)
    view = RuleView(
        attribute=name, type=attribute.type, lost=name in wrapper.lost, examples=examples[:MAX_EXAMPLES]
    )
    rule = wrapper.rules.get(name)
    if rule is None:
        return view
    return view.model_copy(
        update={
            "words": explain_rule(rule),
            "coverage": share,
            "selectors": [_selector_view(selector) for selector in rule.selectors],
            "committee": [_selector_view(selector) for selector in rule.committee],
            "no_xslt": OF_LISTS if wrapper.records else not_exportable(rule),
        }
    )


def _examples(wrapper: Wrapper, attribute: str) -> list[ExampleView]:
    """Return the golden values of an attribute on the watched pages, as examples of what its rule finds."""
    return [
        ExampleView(page=bellwether.page, texts=list(bellwether.golden[attribute]))
        for bellwether in wrapper.bellwethers
        if attribute in bellwether.golden
    ]


def _selector_view(selector: Selector) -> SelectorView:
    """Return a selector in words and as XPath."""
    return SelectorView(
        words=explain_selector(selector), xpath=selector.xpath, support=round(selector.support, 3)
    )
