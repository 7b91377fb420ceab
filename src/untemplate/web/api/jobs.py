"""Jobs: all that the server works on besides requests, with progress, results, files and canceling."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from pydantic import Field

from untemplate.errors import CatalogError
from untemplate.output.record_files import FORMATS
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    JobView,
    RequestBody,
    WorkspaceParam,
    file_response,
    job_view,
)

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["jobs"], responses=ERROR_RESPONSES)

JobParam = Annotated[int, Query(ge=1, le=2**31 - 1)]


class CancelBody(RequestBody):
    """The job to cancel."""

    id: Annotated[int, Field(ge=1, le=2**31 - 1)]


@router.get("/jobs")
def get_jobs(workspace: WorkspaceParam) -> list[JobView]:
    """Return all jobs since the server started, the newest first."""
    return [job_view(job) for job in workspace.jobs.all()]


@router.get("/job")
def get_job(workspace: WorkspaceParam, id: JobParam) -> JobView:
    """Return how far a job is."""
    return job_view(workspace.jobs.get(id))


@router.post("/job/cancel")
def post_cancel(workspace: WorkspaceParam, body: CancelBody) -> JobView:
    """Cancel a job: it ends before its next page or step."""
    job = workspace.jobs.get(body.id)
    job.cancel()
    return job_view(job)


@router.get("/job/file", response_class=FileResponse, responses=file_response("application/octet-stream"))
def get_file(workspace: WorkspaceParam, id: JobParam) -> FileResponse:
    """Return the file that a job has written."""
    job = workspace.jobs.get(id)
    if job.file is None or job.state != "done":
        raise CatalogError(f"job {id} has no file")
    name = re.sub(r"[^\w.-]+", "-", str(job.result["name"]))
    ending = job.file.suffix
    return FileResponse(job.file, media_type=FORMATS[ending].media_type, filename=f"{name}{ending}")
