"""Monitor and export: figures and alarms over time, a page before and after; and jobs: watch, heal, write files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from pydantic import AfterValidator, BaseModel, Field

from untemplate.catalog import Run, StoredAlarm
from untemplate.errors import CatalogError
from untemplate.labeling import write_labels
from untemplate.output import write_records
from untemplate.output.record_files import FORMATS
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.rules.applying import apply_rule
from untemplate.sources import Pages, read_pages
from untemplate.web.api.annotate import MarkView, PageView, mark_view
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    JobView,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
    file_response,
    job_view,
)
from untemplate.web.background import Job
from untemplate.web.rendering import Rendering, render
from untemplate.web.site_updates import is_draft_saved, run_heal, run_watch
from untemplate.web.workspace import OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)

JobId = Annotated[int, Query(ge=1, le=2**31 - 1)]

EXPORT_FORMATS = (*(ending.removeprefix(".") for ending in FORMATS), "labels")
"""What an export can write: the formats of records, or the labels."""


def _check_export_format(name: str) -> str:
    if name not in EXPORT_FORMATS:
        raise ValueError(f"unknown format; give {', '.join(EXPORT_FORMATS)}")
    return name


ExportFormat = Annotated[
    str, AfterValidator(_check_export_format), Field(json_schema_extra={"enum": list(EXPORT_FORMATS)})
]


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


class MonitorView(BaseModel):
    """A site over time, the oldest runs and alarms first."""

    attributes: list[str]
    runs: list[WatchRunView]
    alarms: list[StoredAlarm]
    heals: list[HealRunView]


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


class ExportBody(RequestBody):
    """What to write: the records of all pages, or the labels."""

    site: Text
    format: ExportFormat


class SourceView(BaseModel):
    """The pages that an export reads, and the version of the rules."""

    source: str | None = Field(description="Where the pages come from; null if only the catalog has them")
    version: int
    saved: bool = Field(description="Whether the newest version has the rules that the labels teach")


@router.get("/monitor", tags=["monitor"])
def get_monitor(site: SiteParam) -> MonitorView:
    """Return the figures, alarms and repairs of a site over time."""
    runs = site.catalog.runs(site.name)
    return MonitorView(
        attributes=list(site.schema.attributes),
        runs=list(_watch_runs(runs)),
        alarms=site.catalog.alarms(site.name, open_only=False),
        heals=list(_heal_runs(runs)),
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
    return job_view(workspace.jobs.start("watch", site.name, lambda job: run_watch(site, body.source, job)))


@router.post("/heal", tags=["monitor"])
def post_heal(workspace: WorkspaceParam, body: FreshPagesBody) -> JobView:
    """Start to repair rules with fresh pages; the result is a new version."""
    site = workspace.site(body.site)
    return job_view(workspace.jobs.start("heal", site.name, lambda job: run_heal(site, body.source, job)))


@router.get("/export/source", tags=["export"])
def get_source(site: SiteParam) -> SourceView:
    """Return what an export would read."""
    return SourceView(source=_existing_source(site), version=site.version.number, saved=is_draft_saved(site))


@router.post("/export", tags=["export"])
def post_export(workspace: WorkspaceParam, body: ExportBody) -> JobView:
    """Start to write a file of all records, or of the labels; get the job until it is done."""
    site = workspace.site(body.site)
    ending = "jsonl" if body.format == "labels" else body.format

    def write(job: Job) -> None:
        path = workspace.jobs.path(job, ending)
        if body.format == "labels":
            write_labels([stored.label for stored in site.labels()], path)
        else:
            pages = _all_pages(site)
            records = site.rules.extract(job.counted(pages, pages.total))
            job.result["records"] = write_records(records, path, site.schema)
        job.file = path

    return job_view(workspace.jobs.start(f"export {body.format}", site.name, write))


@router.get("/job", tags=["export"])
def get_job(workspace: WorkspaceParam, id: JobId) -> JobView:
    """Return how far a job is."""
    return job_view(workspace.jobs.get(id))


@router.get(
    "/job/file",
    tags=["export"],
    response_class=FileResponse,
    responses=file_response("application/octet-stream"),
)
def get_file(workspace: WorkspaceParam, id: JobId) -> FileResponse:
    """Return the file that a job has written."""
    job = workspace.jobs.get(id)
    if job.file is None or job.state != "done":
        raise CatalogError(f"job {id} has no file")
    name = re.sub(r"[^\w.-]+", "-", f"{job.site}-{'labels' if 'labels' in job.kind else 'records'}")
    ending = job.file.suffix
    return FileResponse(job.file, media_type=FORMATS[ending].media_type, filename=f"{name}{ending}")


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
        page=page.id, url=page.url, quirks=rendering.quirks, remote=site.remote, items=rendering.items
    )
    return SideView(page=view, marks=list(_found_marks(site, wrapper, page, rendering)))


def _found_marks(site: OpenSite, wrapper: Wrapper, page: Page, rendering: Rendering) -> Iterator[MarkView]:
    """Yield a mark for each value that a wrapper finds on a page."""
    for name, rule in wrapper.rules.items():
        for match in apply_rule(rule, page.tree, wrapper, site.schema.attributes[name]):
            yield mark_view(match, rule, rendering)


def _existing_source(site: OpenSite) -> str | None:
    """Return where the pages of a site come from, if that still exists."""
    source = site.figures.get("source")
    return source if source and Path(source).exists() else None


def _all_pages(site: OpenSite) -> Pages:
    """Return the pages of the source, or those of the catalog if the source is gone."""
    source = _existing_source(site)
    if source is None:
        return read_pages(list(site.catalog.pages(site.name)))
    return read_pages(source, **site.figures.get("options", {}))
