"""What all parts of the API share: parameters, request bodies, jobs, and answers to errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from untemplate.errors import CatalogError, UntemplateError, VersionConflict
from untemplate.web.background import Job
from untemplate.web.workspace import OpenSite, Workspace

__all__ = [
    "ERROR_RESPONSES",
    "ErrorView",
    "JobView",
    "NameParam",
    "RequestBody",
    "SiteParam",
    "Text",
    "WorkspaceParam",
    "answer_errors",
    "file_response",
    "job_view",
]

NameParam = Annotated[str, Query(max_length=4000)]
"""The name of a site, cluster or page in the query; the name of a page may be its URL."""

Text = Annotated[str, Field(max_length=4000)]
"""A name in a request body."""


class RequestBody(BaseModel):
    """A body that a client sends. Fields that the server does not know are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorView(BaseModel):
    """What is wrong, in one line for people."""

    detail: str


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorView, "description": "The request cannot be done; the detail says why"},
    401: {"model": ErrorView, "description": "The token is missing"},
    403: {"model": ErrorView, "description": "The request came from another site"},
    404: {"model": ErrorView, "description": "There is no such site, cluster, page or version"},
    409: {"model": ErrorView, "description": "Somebody else saved rules in the meantime; try again"},
}


def file_response(media: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a response that is a file."""
    return {200: {"description": "The file", "content": {media: {}}}}


def _get_workspace(request: Request) -> Workspace:
    workspace: Workspace = request.app.state.workspace
    return workspace


WorkspaceParam = Annotated[Workspace, Depends(_get_workspace)]


def _get_site(workspace: WorkspaceParam, site: NameParam) -> OpenSite:
    return workspace.site(site)


SiteParam = Annotated[OpenSite, Depends(_get_site)]
"""The site that the query names."""


class JobView(BaseModel):
    """A job, how far it is, and its result."""

    id: int
    kind: str
    site: str
    title: str
    state: Literal["running", "done", "failed", "canceled"]
    pages: int
    total: int | None
    step: str | None
    problem: str | None
    summary: str | None
    result: dict[str, Any]
    file: bool = Field(description="Whether there is a file to download")


def job_view(job: Job) -> JobView:
    """Return a job as the API sends it."""
    has_file = job.file is not None and job.state == "done"
    return JobView.model_validate(vars(job) | {"file": has_file})


def answer_errors(app: FastAPI) -> None:
    """Let an application answer every UntemplateError with its message."""

    @app.exception_handler(UntemplateError)
    def answer(request: Request, error: UntemplateError) -> JSONResponse:
        if isinstance(error, VersionConflict):
            return JSONResponse({"detail": str(error)}, 409)
        return JSONResponse({"detail": str(error)}, 404 if isinstance(error, CatalogError) else 400)
