"""Who may ask the server what: only a browser on this machine that was given the token, and only our own pages.

Jupyter's model: the token in the address becomes a cookie that no script can read and no other site can send. Host is
checked against DNS rebinding, Origin and Sec-Fetch-Site against other sites, the size of a body against floods.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MAX_BODY", "Guard", "hosts"]

MAX_BODY = 1 << 20
"""Bytes of a request; a label is far smaller."""

# What a page of ours may do: run and load what this server sends, call it, and show frames of the other origin. No
# text can become HTML or script (Trusted Types), so that nothing from a page can, whatever our code does with it.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src {frame}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def hosts(port: int) -> frozenset[str]:
    """What the Host header of a request to this machine may say."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})


class Guard:
    """Lets through to `app` what may pass, and sends every answer with the headers that bind browsers."""

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
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers) or self._login(scope) or self._challenge(scope, headers)
        app: ASGIApp = answer or self._app
        await app(scope, _limited(receive), self._with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """What is refused whoever asks: other names of this machine, other sites, bodies too big."""
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This server answers to 127.0.0.1 and localhost only.", 421)
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") != headers["host"]:
            return _refused(403, "Requests from other sites are refused.")
        navigates = scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not navigates:
            return _refused(403, "Requests from other sites are refused.")
        try:
            too_big = int(headers.get("content-length", "0")) > MAX_BODY
        except ValueError:
            too_big = True
        return _refused(413, f"The body is larger than {MAX_BODY:,} bytes.") if too_big else None

    def _login(self, scope: Scope) -> ASGIApp | None:
        """The token in the address becomes a cookie, and leaves the address."""
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = query.pop("token", [""])[-1]
        if scope["path"] != "/" or not self._is_token(given):
            return None
        rest = urlencode(query, doseq=True)
        answer = RedirectResponse(f"/?{rest}" if rest else "/", 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _challenge(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or self._is_token(self._cookie_token(headers)):
            return None
        if scope["path"].startswith("/api/"):
            return _refused(401, "Give the token that the terminal printed: Authorization: Bearer TOKEN")
        return PlainTextResponse("Open the address that the terminal printed: it holds the token.", 401)

    def _cookie_token(self, headers: Headers) -> str:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[self._cookie].value if self._cookie in cookies else ""

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        return sending


def _refused(status: int, detail: str) -> ASGIApp:
    return JSONResponse({"detail": detail}, status)


def _limited(receive: Receive) -> Receive:
    """Ends a body that is larger than it said."""
    left = MAX_BODY

    async def receiving() -> Message:
        nonlocal left
        message = await receive()
        if message["type"] == "http.request":
            left -= len(message.get("body", b""))
            if left < 0:
                return {"type": "http.disconnect"}
        return message

    return receiving
