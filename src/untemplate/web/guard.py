"""Access control: the server answers only a browser on this machine that has the token, and only our own pages.

This is Jupyter's model: the token in the address becomes a cookie that no script can read and no other site can send.
The guard checks Host against DNS rebinding, Origin and Sec-Fetch-Site against other sites, and the size of the body
against floods.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MAX_BODY", "Guard", "allowed_hosts"]

MAX_BODY = 1 << 20
"""Bytes of a request body; a label is far smaller."""

MAX_UPLOAD = 4 << 30
"""Bytes of a file that a person uploads, such as a WARC."""

UPLOAD_PATH = "/api/upload"

# Our pages may run and load what this server sends, call it, and show frames of the other origin. With Trusted Types
# no text can become HTML or script, so no text of a labeled page can, even if our code has a bug.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src {frame}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def allowed_hosts(port: int) -> frozenset[str]:
    """Return the values of the Host header that requests to this machine may have."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})


class Guard:
    """Passes allowed requests on to `app`, and adds security headers to every response.

    Args:
        app: The application to protect.
        token: The secret that requests must contain.
        hosts: The allowed values of the Host header.
        frame: The origin of the frames that our pages may show.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str], frame: str) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts
        self._cookie = f"untemplate-{min(hosts).rpartition(':')[2]}"
        self._headers = {
            "content-security-policy": _POLICY.format(frame=frame),
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with a refusal or a redirect, or pass it on. WebSockets are ignored."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        response = self._refusal(scope, headers) or self._login(scope) or self._challenge(scope, headers)
        app: ASGIApp = response or self._app
        await app(scope, _limit_body(receive, _body_limit(scope)), self._with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """Refuse requests to other host names, from other sites, or with too big a body, even with the token.

        A link on another site may open our page: that is a navigation, which sends nothing.
        """
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This server answers to 127.0.0.1 and localhost only.", 421)
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") != headers["host"]:
            return _refused(403, "Requests from other sites are refused.")
        navigates = scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not navigates:
            return _refused(403, "Requests from other sites are refused.")
        limit = _body_limit(scope)
        if _is_too_big(headers, limit):
            return _refused(413, f"The body is larger than {limit:,} bytes.")
        return None

    def _login(self, scope: Scope) -> ASGIApp | None:
        """Turn the token in the address into a cookie, and redirect to the address without it."""
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = query.pop("token", [""])[-1]
        if scope["path"] != "/" or not self._is_token(token):
            return None
        rest = urlencode(query, doseq=True)
        response = RedirectResponse(f"/?{rest}" if rest else "/", 303)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return response

    def _challenge(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """Refuse requests without the token."""
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or self._is_token(self._cookie_token(headers)):
            return None
        if scope["path"].startswith("/api/"):
            return _refused(401, "Give the token that the terminal printed: Authorization: Bearer TOKEN")
        return PlainTextResponse("Open the address that the terminal printed: it contains the token.", 401)

    def _cookie_token(self, headers: Headers) -> str:
        """Return the token in the cookie of a request, or an empty text."""
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[self._cookie].value if self._cookie in cookies else ""

    def _is_token(self, text: str) -> bool:
        """Compare a text with the token in constant time."""
        return secrets.compare_digest(text.encode("utf-8", "replace"), self._token.encode())

    def _with_headers(self, send: Send) -> Send:
        """Return a sender that adds the security headers to the response."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message = {**message, "headers": [*message.get("headers", []), *added]}
            await send(message)

        return sending


def _body_limit(scope: Scope) -> int:
    """Return how many bytes the body of a request may have."""
    return MAX_UPLOAD if scope["path"] == UPLOAD_PATH else MAX_BODY


def _is_too_big(headers: Headers, limit: int) -> bool:
    """Return True if the body is larger than allowed, or if its size is not a number."""
    try:
        return int(headers.get("content-length", "0")) > limit
    except ValueError:
        return True


def _refused(status: int, detail: str) -> ASGIApp:
    return JSONResponse({"detail": detail}, status)


def _limit_body(receive: Receive, limit: int) -> Receive:
    """Return a receiver that disconnects if the body is larger than its header says and than allowed."""
    left = limit

    async def receiving() -> Message:
        nonlocal left
        message = await receive()
        if message["type"] == "http.request":
            left -= len(message.get("body", b""))
            if left < 0:
                return {"type": "http.disconnect"}
        return message

    return receiving
