"""The web interface: the two applications behind it, and the two servers that run them on this machine.

One server sends our pages and answers the API. The other one, with another origin, sends the frame that shows labeled
pages, and the assets that came with them.

Three walls surround a labeled page. It arrives as plain data that cannot run anything (`rendering`). The frame is
sandboxed into an origin of its own, by its parent and by its own headers. And its policy lets only our script run,
loads nothing but assets from this server, connects to nothing, and sends no form.
"""

from __future__ import annotations

import asyncio
import getpass
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from threading import Thread
from time import sleep

from untemplate.catalog import Catalog
from untemplate.errors import InputError, MissingExtra, UntemplateError
from untemplate.sources.assets import Asset
from untemplate.web.rendering import rewrite_css
from untemplate.web.workspace import OpenSite, Workspace

try:
    import uvicorn
    from fastapi import FastAPI
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response, StreamingResponse
    from starlette.routing import Route
    from starlette.staticfiles import StaticFiles

    from untemplate.web.api import ROUTERS
    from untemplate.web.api.common import answer_errors
    from untemplate.web.guard import Guard, allowed_hosts
except ImportError as error:
    raise MissingExtra("web", "The web interface") from error

__all__ = [
    "RunningServer",
    "check_port",
    "make_app",
    "make_frame_app",
    "run_server",
    "running_server",
]

HOST = "127.0.0.1"

_API_DESCRIPTION = """\
The API behind untemplate's own pages. Send the token that the terminal printed as `Authorization: Bearer TOKEN`.

Sites, clusters and pages are named in the query or the body, because the name of a page may be its URL.
"""
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline' {own} {remote}; "
    "img-src data: {own} {remote}; font-src data: {own} {remote}; form-action 'none'; base-uri 'none'; "
    "frame-ancestors {parent}; sandbox allow-scripts"
)
_SHELL = (
    '{doctype}<html><head><meta charset="utf-8"><title>Page</title>'
    '<script type="module" nonce="{nonce}" src="{script}" data-parent="{parent}"></script></head><body></body></html>'
)
_HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "cache-control": "no-store",
}
# The frame has no origin, so fonts and our script need a permission to be loaded by it. A file that is opened
# directly, such as an SVG image, can do nothing.
_FILE_HEADERS = {
    **_HEADERS,
    "access-control-allow-origin": "*",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}


@dataclass(frozen=True)
class RunningServer:
    """The addresses and the workspace of a server that runs."""

    url: str  # with the token
    origin: str
    token: str
    workspace: Workspace


def make_app(workspace: Workspace) -> FastAPI:
    """Return the application with our pages and the API. It expects a `Guard` in front of it."""
    app = FastAPI(
        title="untemplate",
        version="1",
        description=_API_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.workspace = workspace
    answer_errors(app)
    for router in ROUTERS:
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    def index() -> HTMLResponse:
        page = resources.files("untemplate.web") / "static" / "index.html"
        return HTMLResponse(page.read_text("utf-8"), headers={"cache-control": "no-store"})

    @app.get("/api/changes", include_in_schema=False)
    async def changes() -> StreamingResponse:
        """Sites as they change, as server-sent events; the id of an event is the number of the site's change."""
        return StreamingResponse(_change_events(workspace), media_type="text/event-stream")

    app.mount("/static", _StaticFiles(packages=[("untemplate.web", "static")]), name="static")
    return app


async def _change_events(workspace: Workspace) -> AsyncIterator[str]:
    """Yield the changes of all sites as server-sent events."""
    yield ": welcome\n\n"
    async for site, number in workspace.changes.listen():
        yield f"id: {number}\n" + "".join(f"data: {line}\n" for line in site.splitlines()) + "\n"


class _StaticFiles(StaticFiles):
    """Our own files. Browsers must check for new versions each time, because they change with the program."""

    def file_response(self, *arguments: object, **options: object) -> object:  # type: ignore[override]
        response = super().file_response(*arguments, **options)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response


def make_frame_app(workspace: Workspace, secret: str, parent: str) -> Starlette:
    """Return the application of the frame server.

    Args:
        workspace: The sites whose pages it shows.
        secret: The first part of all paths, which only our own page knows.
        parent: The origin of our own page.
    """
    own = workspace.frame_address.removesuffix(f"/{secret}")

    def shell(request: Request) -> Response:
        site = workspace.site(request.query_params.get("site", ""))
        nonce = secrets.token_urlsafe(16)
        hosts = " ".join(site.remote_hosts(request.query_params["page"])) if site.remote else ""
        policy = _POLICY.format(nonce=nonce, own=own, parent=parent, remote=hosts)
        doctype = "" if request.query_params.get("quirks") else "<!doctype html>"
        html = _SHELL.format(doctype=doctype, nonce=nonce, script=f"/{secret}/frame.js", parent=parent)
        return HTMLResponse(html, headers={**_HEADERS, "content-security-policy": policy})

    def script(request: Request) -> Response:
        name = request.path_params["name"]
        file = resources.files("untemplate.web") / "static" / "frame" / f"{name}.js"
        if not name.isalpha() or not file.is_file():
            raise HTTPException(404)
        return Response(file.read_bytes(), media_type="text/javascript", headers=_FILE_HEADERS)

    def asset(request: Request) -> Response:
        site, page, key = (request.query_params.get(name, "") for name in ("site", "page", "key"))
        file = _find_asset(workspace.site(site), page, key)
        return Response(file.content, media_type=file.type, headers=_FILE_HEADERS)

    routes = [
        Route(f"/{secret}/show", shell),
        Route(f"/{secret}/asset", asset),
        Route(f"/{secret}/{{name}}.js", script),
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(
        routes=routes, middleware=[hosts], exception_handlers={UntemplateError: _answer_not_found}
    )


def _find_asset(site: OpenSite, page_id: str, key: str) -> Asset:
    """Return an asset; the references of a style sheet lead to this server, too."""
    asset = site.assets.read(key)
    if asset is None:
        raise HTTPException(404)
    if not asset.type.startswith("text/css"):
        return asset
    page = site.catalog.page(site.name, page_id)
    sheet = asset.content.decode("utf-8", "replace")
    text = rewrite_css(sheet, lambda reference: site.asset_address(page, key, reference))
    return Asset("text/css; charset=utf-8", text.encode())


def _answer_not_found(request: Request, error: Exception) -> Response:
    return Response(str(error), 404, media_type="text/plain")


class _QuietServer(uvicorn.Server):
    """A server that does not handle signals; whoever runs it does."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _ServerPair:
    """Both servers over one workspace. Their ports are reserved when the pair is created."""

    def __init__(self, catalog: Catalog, port: int) -> None:
        token, secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._sockets = (_reserve_port(port), _reserve_port(0))
        page_port, frame_port = (reserved.getsockname()[1] for reserved in self._sockets)
        origin, frame_origin = f"http://{HOST}:{page_port}", f"http://{HOST}:{frame_port}"
        workspace = Workspace(catalog, getpass.getuser(), f"{frame_origin}/{secret}")
        self.running = RunningServer(f"{origin}/?token={token}", origin, token, workspace)
        apps = (
            Guard(make_app(workspace), token, allowed_hosts(page_port), frame_origin),
            make_frame_app(workspace, secret, origin),
        )
        self._servers = [
            _QuietServer(
                uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
            )
            for app in apps
        ]

    async def serve(self) -> None:
        """Serve until `stop` is called."""
        pairs = zip(self._servers, self._sockets, strict=True)
        try:
            await asyncio.gather(*(server.serve(sockets=[reserved]) for server, reserved in pairs))
        finally:
            self.running.workspace.jobs.close()

    @property
    def is_started(self) -> bool:
        """Whether both servers accept requests."""
        return all(server.started for server in self._servers)

    def stop(self) -> None:
        """End both servers, and the streams that they send."""
        self.running.workspace.changes.close()
        for server in self._servers:
            server.should_exit = True


def check_port(port: int) -> None:
    """Raise InputError if a port is in use, before somebody waits for work that needs it."""
    _reserve_port(port).close()


def run_server(catalog: Catalog, port: int, on_start: Callable[[str], None], view: str = "") -> None:
    """Serve until a signal interrupts.

    Args:
        catalog: The catalog to work on.
        port: The port of our pages; 0 for any free one.
        on_start: Called with the address as soon as a browser can open it.
        view: What the address opens, such as `#/annotate?site=guide`; by default the overview.

    Raises:
        InputError: The port is in use.
    """
    servers = _ServerPair(catalog, port)

    async def serve() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows: the interrupt ends the process without it
                asyncio.get_running_loop().add_signal_handler(number, servers.stop)
        task = asyncio.create_task(servers.serve())
        while not servers.is_started and not task.done():
            await asyncio.sleep(0.01)
        on_start(servers.running.url + view)
        await task

    asyncio.run(serve())


@contextmanager
def running_server(catalog: Catalog) -> Iterator[RunningServer]:
    """Serve in a thread, on free ports, while the `with` block runs. Tests and benchmarks use this."""
    servers = _ServerPair(catalog, 0)
    thread = Thread(target=lambda: asyncio.run(servers.serve()), daemon=True)
    thread.start()
    while not servers.is_started:
        sleep(0.01)
    try:
        yield servers.running
    finally:
        servers.stop()
        thread.join()


def _reserve_port(port: int) -> socket.socket:
    """Return a socket that is bound to a port of this machine; raise InputError if the port is in use."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        reserved.bind((HOST, port))
    except OSError as error:
        reserved.close()
        raise InputError(f"port {port} cannot be used: {error.strerror}; give another --port") from error
    return reserved
