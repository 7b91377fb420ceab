"""Monitor: figures and alarms of a site over time, a page before and after, watching, and healing with approval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.catalog import Run, StoredAlarm
from untemplate.errors import CatalogError
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.rules.applying import apply_rule
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    JobView,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
    job_view,
)
from untemplate.web.api.label_views import MarkView, PageView, mark_view
from untemplate.web.rendering import Rendering, render
from untemplate.web.site_watching import (
    ValueChange,
    approve_repair,
    compare_values,
    run_heal,
    run_watch,
    take_repair,
)
from untemplate.web.workspace import OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)


class ClusterFiguresView(BaseModel):
    """The figures of a cluster in one watch run."""

    cluster: str
    pages: int
    coverage: float = Field(description="Share of the pages that still look like the cluster")
    fill: dict[str, float] = Field(description="For each attribute, the share of pages with a value")


class WatchRunView(BaseModel):
    """One watch run."""

    id: int
    started: datetime
    finished: datetime
    clusters: list[ClusterFiguresView]
    alarms: int


class HealRunView(BaseModel):
    """One heal run, and what it repaired."""

    finished: datetime
    version: int | None
    healed: list[dict[str, Any]]
    lost: list[dict[str, Any]]
    reused: dict[str, str]


class RepairView(BaseModel):
    """A rule that was learned again, with values before and after."""

    cluster: str
    attribute: str
    how: str
    values: list[ValueChange]


class RepairProposalView(BaseModel):
    """Repaired rules that wait for a person."""

    job: int
    summary: str
    repairs: list[RepairView]
    lost: list[dict[str, Any]]


class MonitorView(BaseModel):
    """A site over time, the oldest runs and alarms first."""

    attributes: list[str]
    runs: list[WatchRunView]
    alarms: list[StoredAlarm]
    heals: list[HealRunView]
    proposal: RepairProposalView | None


class SideView(BaseModel):
    """A page at one time, with marks of the values that the rules find on it."""

    page: PageView
    marks: list[MarkView]


class ComparisonView(BaseModel):
    """A page in its state when the rules were saved, if the catalog has it, and in its last state."""

    before: SideView | None
    after: SideView


class FreshPagesBody(RequestBody):
    """Where fresh pages are; null to fetch the watched pages from their URLs."""

    site: Text
    source: Text | None = None


class RepairBody(RequestBody):
    """The heal job whose proposal a person decides about."""

    id: Annotated[int, Field(ge=1, le=2**31 - 1)]


class DecisionView(BaseModel):
    """The version that was saved; null if nothing was."""

    version: int | None


@router.get("/monitor", tags=["monitor"])
def get_monitor(site: SiteParam) -> MonitorView:
    """Return the figures, alarms and repairs of a site over time."""
    runs = site.catalog.runs(site.name)
    return MonitorView(
        attributes=list(site.schema.attributes),
        runs=list(_watch_runs(runs)),
        alarms=site.catalog.alarms(site.name, open_only=False),
        heals=list(_heal_runs(runs)),
        proposal=_repair_proposal(site),
    )


@router.get("/compare", tags=["monitor"])
def get_comparison(site: SiteParam, page: NameParam) -> ComparisonView:
    """Return a page before and after a change: when the newest rules were saved, and in its last state."""
    wrapper = site.wrapper(site.cluster_of(page))
    try:
        before = _side_view(site, wrapper, site.catalog.page(site.name, page, site.version.saved))
    except CatalogError:
        before = None
    return ComparisonView(before=before, after=_side_view(site, wrapper, site.catalog.page(site.name, page)))


@router.post("/watch", tags=["monitor"])
def post_watch(workspace: WorkspaceParam, body: FreshPagesBody) -> JobView:
    """Start to test the rules on fresh pages."""
    site = workspace.site(body.site)
    title = f"Watch {site.name}"
    return job_view(
        workspace.jobs.start("watch", site.name, title, lambda job: run_watch(site, body.source, job))
    )


@router.post("/heal", tags=["monitor"])
def post_heal(workspace: WorkspaceParam, body: FreshPagesBody) -> JobView:
    """Start to repair rules with fresh pages; the result waits for a person who approves it."""
    site = workspace.site(body.site)
    title = f"Heal {site.name}"
    return job_view(
        workspace.jobs.start("heal", site.name, title, lambda job: run_heal(site, body.source, job))
    )


@router.post("/heal/approve", tags=["monitor"])
def post_approve(workspace: WorkspaceParam, body: RepairBody) -> DecisionView:
    """Save the repaired rules that a heal job proposed as a new version."""
    site = workspace.site(workspace.jobs.get(body.id).site)
    return DecisionView(version=approve_repair(site, body.id))


@router.post("/heal/dismiss", tags=["monitor"])
def post_dismiss(workspace: WorkspaceParam, body: RepairBody) -> DecisionView:
    """Forget the repaired rules that a heal job proposed."""
    take_repair(workspace.site(workspace.jobs.get(body.id).site), body.id)
    return DecisionView(version=None)


def _repair_proposal(site: OpenSite) -> RepairProposalView | None:
    """Return the repaired rules of a site that wait for a person, if there are any."""
    repair = site.workspace.repairs.get(site.name)
    if repair is None:
        return None
    healed = repair.healed
    return RepairProposalView(
        job=repair.job,
        summary=f"{len(healed.healed)} rules learned again, {len(healed.lost)} lost",
        repairs=[
            RepairView(
                cluster=one.cluster,
                attribute=one.attribute,
                how=one.how,
                values=compare_values(site, repair, one.cluster, one.attribute),
            )
            for one in healed.healed
        ],
        lost=[asdict(loss) for loss in healed.lost],
    )


def _watch_runs(runs: list[Run]) -> Iterator[WatchRunView]:
    """Yield the finished watch runs that recorded figures of clusters.

    A run may have recorded its alarms, or only their number.
    """
    for run in runs:
        clusters = run.figures.get("clusters")
        if run.kind != "watch" or run.finished is None or not isinstance(clusters, list):
            continue
        alarms = run.figures.get("alarms", [])
        yield WatchRunView(
            id=run.id,
            started=run.started,
            finished=run.finished,
            clusters=[ClusterFiguresView.model_validate(figures) for figures in clusters],
            alarms=len(alarms) if isinstance(alarms, list) else alarms,
        )


def _heal_runs(runs: list[Run]) -> Iterator[HealRunView]:
    """Yield the finished heal runs."""
    for run in runs:
        if run.kind == "heal" and run.finished is not None:
            yield HealRunView(
                finished=run.finished,
                version=run.figures.get("version"),
                healed=run.figures.get("healed", []),
                lost=run.figures.get("lost", []),
                reused=run.figures.get("reused", {}),
            )


def _side_view(site: OpenSite, wrapper: Wrapper, page: Page) -> SideView:
    """Return a page in one state, with marks of the values that a wrapper finds on it.

    Nothing is kept in memory, unlike `OpenSite.rendered_page` does for pages that a person labels.
    """
    rendering = render(page, lambda reference: site.asset_address(page, None, reference))
    view = PageView(
        page=page.id,
        url=page.url,
        quirks=rendering.quirks,
        remote=site.remote,
        missing=rendering.missing,
        plain=rendering.is_plain,
        items=rendering.items,
    )
    return SideView(page=view, marks=list(_found_marks(site, wrapper, page, rendering)))


def _found_marks(site: OpenSite, wrapper: Wrapper, page: Page, rendering: Rendering) -> Iterator[MarkView]:
    """Yield a mark for each value that a wrapper finds on a page."""
    for name, rule in wrapper.rules.items():
        for match in apply_rule(rule, page.tree, wrapper, site.schema.attributes[name]):
            yield mark_view(match, rule, rendering)
