"""Overview: how all sites of the catalog are doing, the clusters of one of them, and what waits for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.catalog import SiteStatus
from untemplate.rules import Wrapper
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
)
from untemplate.web.cluster_session import measure_progress
from untemplate.web.workspace import SAMPLE_PAGES, OpenSite, Workspace

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["overview"], responses=ERROR_RESPONSES)


class FillView(BaseModel):
    """An attribute, and the share of watched pages on which its rule found a value."""

    attribute: str
    share: float | None = Field(description="None without a rule")
    lost: bool = Field(description="A change of the site broke its rule")


class ClusterView(BaseModel):
    """The pages of one template."""

    cluster: str
    name: str = Field(description="What people call it; empty if nobody named it")
    kind: str = Field(description="What its pages seem to be: detail, list or other; empty if unknown")
    kind_reason: str = Field(description="Why, in words")
    url_pattern: str
    pages: int = Field(description="Pages in the source")
    labeled: int = Field(description="Pages with labels")
    first: str | None = Field(description="The first page worth labeling")
    pages_stored: list[str] = Field(
        description="The first pages that the catalog has, the best to label first"
    )
    attributes: list[FillView]
    alarms: int


class WaitingView(BaseModel):
    """Pages of a cluster that wait for a person, and the one to start with."""

    cluster: str
    reason: str
    pages: int = 0
    page: str | None = None
    attributes: list[str] = []


class SiteView(BaseModel):
    """A site, its clusters, and what waits for a person."""

    site: str
    labels: int
    schema_name: str | None = None
    version: int | None = None
    saved: datetime | None = None
    clusters: list[ClusterView] = []
    waiting: list[WaitingView] = []
    alarms: int = 0
    remote: bool = Field(default=False, description="Whether pages may load assets from other hosts")


class MeasureView(BaseModel):
    """A share in the last run, and on average in the runs before."""

    now: float | None
    before: float | None


class StatusView(BaseModel):
    """How a site is doing, without opening it."""

    site: str
    schema_name: str | None
    version: int
    saved: datetime | None
    labels: int
    clusters: int
    pages: int | None = Field(description="Pages of the last crawl, or else of its clusters")
    coverage: MeasureView
    fill: MeasureView
    last_watch: datetime | None
    last_extract: datetime | None
    alarms: int
    pages_lost: int = Field(description="About how many pages lose values until people have done what waits")
    waiting: list[WaitingView]


class SettingsBody(RequestBody):
    """Whether the pages of a site may load images and style sheets from other hosts."""

    remote: bool


class ClusterNameBody(RequestBody):
    """A name for a cluster; an empty one takes it away."""

    cluster: Text
    name: Annotated[str, Field(max_length=80)]


class FrameView(BaseModel):
    """The address of the server that shows pages."""

    address: str


@router.get("/sites")
def get_sites(workspace: WorkspaceParam) -> list[StatusView]:
    """Return how all sites of the catalog are doing, the worst first."""
    return [_status_view(status) for status in workspace.catalog.statuses()]


@router.get("/site")
def get_site(workspace: WorkspaceParam, site: NameParam) -> SiteView:
    """Return a site with its clusters, and all that waits for a person."""
    return _site_view(workspace, site)


@router.get("/frame")
def get_frame(workspace: WorkspaceParam) -> FrameView:
    """Return the address of the server that shows pages."""
    return FrameView(address=workspace.frame_address)


@router.put("/cluster")
def put_cluster(site: SiteParam, body: ClusterNameBody) -> SiteView:
    """Name a cluster, so that people know which pages it has."""
    site.name_cluster(body.cluster, body.name)
    return _site_view(site.workspace, site.name)


@router.put("/settings")
def put_settings(site: SiteParam, body: SettingsBody) -> SiteView:
    """Let the pages of a site load assets from other hosts, or not. The setting is off when the server starts."""
    site.remote = body.remote
    site.workspace.changes.publish(site.name)
    return _site_view(site.workspace, site.name)


def _status_view(status: SiteStatus) -> StatusView:
    """Return the status of a site as the API sends it."""
    waiting = [
        WaitingView(
            cluster=work.cluster,
            reason=work.reason,
            pages=work.pages,
            page=work.page,
            attributes=list(work.attributes),
        )
        for work in status.waiting
    ]
    values = asdict(status) | {
        "schema_name": status.schema,
        "pages_lost": status.pages_lost,
        "waiting": waiting,
    }
    return StatusView.model_validate(values)


def _site_view(workspace: Workspace, name: str) -> SiteView:
    """Return a site as the API sends it; a site without rules has no clusters."""
    versions = workspace.catalog.history(name)
    labels = workspace.catalog.labels(name)
    if not versions:
        return SiteView(site=name, labels=len(labels))
    site = workspace.site(name)
    alarms = workspace.catalog.alarms(name)
    labeled = {stored.label.page for stored in labels}
    clusters = [
        _cluster_view(site, wrapper, labeled, sum(alarm.cluster == wrapper.cluster for alarm in alarms))
        for wrapper in site.rules.wrappers
    ]
    return SiteView(
        site=name,
        labels=len(labels),
        schema_name=site.schema.name,
        version=versions[-1].number,
        saved=versions[-1].saved,
        clusters=clusters,
        waiting=_waiting_views(site, clusters),
        alarms=len(alarms),
        remote=site.remote,
    )


def _cluster_view(site: OpenSite, wrapper: Wrapper, labeled: set[str], alarms: int) -> ClusterView:
    """Return a cluster with the number of its pages, and the fill rates of its attributes."""
    ids = site.pages[wrapper.cluster]
    shares = site.filled_shares(wrapper.cluster)
    figures = site.figures.get("clusters", {}).get(wrapper.cluster, {})
    return ClusterView(
        cluster=wrapper.cluster,
        name=site.figures.get("names", {}).get(wrapper.cluster, ""),
        kind=figures.get("kind", ""),
        kind_reason=figures.get("kind_reason", ""),
        url_pattern=wrapper.url_pattern,
        pages=figures.get("size", len(ids)),
        labeled=len(labeled & set(ids)),
        first=ids[0] if ids else None,
        pages_stored=ids[:SAMPLE_PAGES],
        attributes=[
            FillView(attribute=name, share=shares.get(name), lost=name in wrapper.lost)
            for name in site.schema.attributes
        ],
        alarms=alarms,
    )


def _waiting_views(site: OpenSite, clusters: list[ClusterView]) -> list[WaitingView]:
    """Return what waits for a person: broken clusters, partly labeled ones, then those without labels.

    Clusters without labels are sorted by size, because labels for a big one give most records.
    """
    flagged = [
        WaitingView(cluster=flag["cluster"], reason=_flag_reason(flag), pages=1, page=page)
        for page, flag in site.flags.items()
    ]
    broken = list(_broken_clusters(site))
    broken_ids = {view.cluster for view in broken}
    started = _started_clusters(site, broken_ids)
    without_rules = [view for view in clusters if not view.labeled and not site.wrapper(view.cluster).rules]
    unlabeled = [
        WaitingView(cluster=view.cluster, reason="no labels yet", pages=view.pages, page=view.first)
        for view in sorted(without_rules, key=lambda view: -view.pages)
        if view.cluster not in broken_ids
    ]
    return [*broken, *started, *unlabeled, *flagged]


def _flag_reason(flag: Mapping[str, str]) -> str:
    return f"flagged by {flag['by']}" + (f": {flag['note']}" if flag["note"] else "")


def _broken_clusters(site: OpenSite) -> Iterator[WaitingView]:
    """Yield the clusters whose rules were broken by a change of the site."""
    for request in site.catalog.pages_to_label(site.name):
        if site.wrapper(request.cluster).lost:
            yield WaitingView(
                cluster=request.cluster,
                pages=len(request.pages),
                page=next(iter(request.pages), None),
                attributes=list(request.attributes),
                reason="the site changed",
            )


def _started_clusters(site: OpenSite, broken: set[str]) -> Iterator[WaitingView]:
    """Yield clusters with labels that the newest rules do not contain yet.

    Broken clusters are skipped, because they are listed already.
    """
    for cluster, changed in site.changed_attributes().items():
        if changed and cluster not in broken:
            view = _remaining_work(site, cluster)
            if view is not None:
                yield view


def _remaining_work(site: OpenSite, cluster: str) -> WaitingView | None:
    """Return what is left to do for a cluster with new labels; None if its rules are complete and saved."""
    session = site.session_if_open(cluster)
    if session is None:  # parsing its pages only to count them would take too long
        return WaitingView(cluster=cluster, reason="labels since the last version")
    progress = measure_progress(session)
    if progress.done:
        return None if session.is_saved else WaitingView(cluster=cluster, reason="rules to save")
    return WaitingView(
        cluster=cluster,
        reason="partly labeled",
        pages=sum(not state.is_extracted for state in progress.pages),
        page=progress.next,
        attributes=list(progress.undecided),
    )
