"""The application: our pages, and the API behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import resources

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse
from starlette.staticfiles import StaticFiles

from untemplate.web.api import ROUTERS
from untemplate.web.api.common import DeskOf, answer_errors
from untemplate.web.sites import Desk

__all__ = ["make_app"]

_ABOUT = """\
The API behind untemplate's own pages. Give the token that the terminal printed as `Authorization: Bearer TOKEN`.

Sites, clusters and pages are named in the query or the body, since pages may be named by their URLs.
"""


def make_app(desk: Desk) -> FastAPI:
    """The application over a desk; it expects a `Guard` in front of it."""
    app = FastAPI(
        title="untemplate",
        version="1",
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.desk = desk
    answer_errors(app)
    for router in ROUTERS:
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    def index() -> HTMLResponse:
        page = resources.files("untemplate.web") / "static" / "index.html"
        return HTMLResponse(page.read_text("utf-8"), headers={"cache-control": "no-store"})

    @app.get("/api/changes", include_in_schema=False)
    async def changes(desk: DeskOf) -> StreamingResponse:
        """Sites as they change, as server-sent events; the id of an event is the number of the site's change."""
        return StreamingResponse(_events(desk), media_type="text/event-stream")

    app.mount("/static", _Static(packages=[("untemplate.web", "static")]), name="static")
    return app


async def _events(desk: Desk) -> AsyncIterator[str]:
    yield ": welcome\n\n"
    async for site, number in desk.changes.listen():
        yield f"id: {number}\n" + "".join(f"data: {line}\n" for line in site.splitlines()) + "\n"


class _Static(StaticFiles):
    """Our own files, asked for anew each time: they change with the program."""

    def file_response(self, *arguments: object, **options: object) -> object:  # type: ignore[override]
        response = super().file_response(*arguments, **options)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response
