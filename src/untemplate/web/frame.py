"""The server of the other origin: the frame that shows pages, and the assets that came with them. Nothing else.

Three walls stand around a page. It arrives as plain data in which nothing can act (`rendering`); the frame is
sandboxed into an origin of its own, by its parent and by its own headers; and its policy lets only our script run,
loads nothing but assets from here, connects to nothing, and sends no form anywhere.
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
from untemplate.web.sites import Desk

__all__ = ["frame_app"]

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
# The frame is of no origin, so that fonts and our script need leave to be loaded by it; a file that somebody opens by
# itself, such as an SVG image, can do nothing.
_FILE_HEADERS = {
    **_HEADERS,
    "access-control-allow-origin": "*",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}


def frame_app(desk: Desk, secret: str, parent: str) -> Starlette:
    """Serves below `/{secret}`, which only our own page knows; `parent` is the origin of that page."""
    own = desk.frame.removesuffix(f"/{secret}")

    def shell(request: Request) -> Response:
        site = desk.site(request.query_params.get("site", ""))
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
        found = _asset(desk, *(request.query_params.get(name, "") for name in ("site", "page", "key")))
        return Response(found.content, media_type=found.type, headers=_FILE_HEADERS)

    routes = [
        Route(f"/{secret}/show", shell),
        Route(f"/{secret}/asset", asset),
        Route(f"/{secret}/{{name}}.js", script),
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(routes=routes, middleware=[hosts], exception_handlers={UntemplateError: _not_found})


def _asset(desk: Desk, site: str, page: str, key: str) -> Asset:
    opened = desk.site(site)
    found = opened.assets.read(key)
    if found is None:
        raise HTTPException(404)
    if found.type.startswith("text/css"):
        of = opened.catalog.page(site, page)
        text = rewrite_css(found.content.decode("utf-8", "replace"), lambda ref: opened.link(of, key, ref))
        return Asset("text/css; charset=utf-8", text.encode())
    return found


def _not_found(request: Request, error: Exception) -> Response:
    return Response(str(error), 404, media_type="text/plain")
