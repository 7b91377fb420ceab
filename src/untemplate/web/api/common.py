"""What all parts of the API share: whom they ask, and how they say that something is wrong."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from untemplate.errors import CatalogError, UntemplateError
from untemplate.web.sites import Desk, OpenSite

__all__ = ["PROBLEMS", "DeskOf", "Given", "Name", "Problem", "SiteOf", "Text", "answer_errors"]

Name = Annotated[str, Query(max_length=4000)]
"""A site's, cluster's or page's name; pages may be named by their URLs."""


Text = Annotated[str, Field(max_length=4000)]
"""The same in a body."""


class Given(BaseModel):
    """A body that a client sends: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(BaseModel):
    """What is wrong, in one line for people."""

    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "What was asked for cannot be done; the detail says why"},
    401: {"model": Problem, "description": "The token is missing"},
    403: {"model": Problem, "description": "The request came from another site"},
    404: {"model": Problem, "description": "There is no such site, cluster, page or version"},
}


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


DeskOf = Annotated[Desk, Depends(_desk)]


def _site(desk: DeskOf, site: Name) -> OpenSite:
    return desk.site(site)


SiteOf = Annotated[OpenSite, Depends(_site)]
"""The site that the query names."""


def answer_errors(app: FastAPI) -> None:
    """What untemplate raises on purpose becomes an answer with its one line."""

    @app.exception_handler(UntemplateError)
    def answer(request: Request, error: UntemplateError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 404 if isinstance(error, CatalogError) else 400)
