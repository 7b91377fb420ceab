"""The server of the other origin: it sends the frame that shows pages, and the assets that came with them.

Three walls surround a page. It arrives as plain data that cannot run anything (`rendering`). The frame is sandboxed
into an origin of its own, by its parent and by its own headers. And its policy lets only our script run, loads
nothing but assets from this server, connects to nothing, and sends no form.
"""

from __future__ import annotations

import secrets
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from untemplate.errors import UntemplateError
from untemplate.web.assets import Asset
from untemplate.web.rendering import rewrite_css
from untemplate.web.workspace import OpenSite, Workspace

__all__ = ["make_frame_app"]

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline' {own} {remote}; "
    "img-src data: {own} {remote}; font-src data: {own} {remote}; form-action 'none'; base-uri 'none'; "
    "frame-ancestors {parent}; sandbox allow-scripts"
)
_REMOTE = "http: https:"
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
        policy = _POLICY.format(nonce=nonce, own=own, parent=parent, remote=_REMOTE if site.remote else "")
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
