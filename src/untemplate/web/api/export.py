"""Export: records of all pages, and labels, as files; and the jobs that write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from untemplate.errors import CatalogError
from untemplate.labeling import write_labels
from untemplate.output import write_records
from untemplate.sources import Pages, read_pages
from untemplate.web.api.common import PROBLEMS, DeskOf, Given, SiteOf, Text
from untemplate.web.jobs import Job
from untemplate.web.sites import OpenSite

__all__ = ["JobView", "job_view", "router", "source_of"]

router = APIRouter(prefix="/api", tags=["export"], responses=PROBLEMS)

_TYPES = {"csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {"application/octet-stream": {}}}
}

JobId = Annotated[int, Query(ge=1, le=2**31 - 1)]


class ExportGiven(Given):
    """What to write: the records of all pages, or the labels."""

    site: Text
    format: Literal["csv", "jsonl", "parquet", "labels"]


class JobView(BaseModel):
    """A job, how far it is, and what came of it."""

    id: int
    kind: str
    site: str
    state: Literal["running", "done", "failed"]
    pages: int
    total: int | None
    problem: str | None
    result: dict[str, Any]
    file: bool = Field(description="Whether there is a file to download")


class SourceView(BaseModel):
    """Which pages an export reads, and with which rules."""

    source: str | None = Field(description="Where the pages come from; none: those that the catalog keeps")
    version: int
    saved: bool = Field(description="Whether the newest version is what the labels teach")


@router.get("/export/source")
def get_source(site: SiteOf) -> SourceView:
    """What an export would read."""
    from untemplate.web.drafts import is_saved

    assert site.version is not None
    return SourceView(source=source_of(site), version=site.version.number, saved=is_saved(site))


@router.post("/export")
def post_export(desk: DeskOf, given: ExportGiven) -> JobView:
    """Begin to write a file of all records, or of the labels; ask for the job until it is done."""
    site = desk.site(given.site)
    ending = "jsonl" if given.format == "labels" else given.format

    def write(job: Job) -> None:
        path = desk.jobs.path(job, ending)
        if given.format == "labels":
            write_labels([one.label for one in site.labels()], path)
        else:
            pages = _pages(site)
            records = site.rules.extract(job.counted(pages, pages.total))
            job.result["records"] = write_records(records, path, site.schema)
        job.file = path

    return job_view(desk.jobs.start(f"export {given.format}", site.name, write))


@router.get("/job")
def get_job(desk: DeskOf, id: JobId) -> JobView:
    """How far a job is."""
    return job_view(desk.jobs.get(id))


@router.get("/job/file", response_class=FileResponse, responses=_FILE)
def get_file(desk: DeskOf, id: JobId) -> FileResponse:
    """The file that a job has written."""
    job = desk.jobs.get(id)
    if job.file is None or job.state != "done":
        raise CatalogError(f"job {id} has no file")
    name = re.sub(r"[^\w.-]+", "-", f"{job.site}-{'labels' if 'labels' in job.kind else 'records'}")
    ending = job.file.suffix.removeprefix(".")
    return FileResponse(job.file, media_type=_TYPES[ending], filename=f"{name}.{ending}")


def source_of(site: OpenSite) -> str | None:
    """Where the site's pages come from, if that is still there."""
    source = site.figures.get("source")
    return source if source and Path(source).exists() else None


def _pages(site: OpenSite) -> Pages:
    source = source_of(site)
    if source is None:
        return read_pages(list(site.catalog.pages(site.name)))
    return read_pages(source, **site.figures.get("columns", {}))


def job_view(job: Job) -> JobView:
    return JobView(
        id=job.id,
        kind=job.kind,
        site=job.site,
        state=job.state,
        pages=job.pages,
        total=job.total,
        problem=job.problem,
        result=job.result,
        file=job.file is not None and job.state == "done",
    )
