"""Fetching, politely: robots.txt, one request at a time to a host, a delay per host, limits, back-off.

Only public addresses are fetched, and the address that was checked is the one connected to. To check the name
instead would let a redirect, or a name server that changes its answer, reach the machines of a private network.
"""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.message import Message
from functools import partial
from http.client import HTTPException, IncompleteRead
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SHUT_RDWR, SOCK_STREAM, gaierror, getaddrinfo, socket
from urllib.parse import SplitResult, urlsplit

from protego import Protego
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InvalidHeader,
    NewConnectionError,
)
from urllib3.exceptions import TimeoutError as HTTPTimeoutError
from urllib3.util import Retry
from w3lib.url import safe_url_string

from untemplate.errors import PageError
from untemplate.sources.html_sniffing import HTML_TYPES
from untemplate.sources.stream import read_up_to
from untemplate.sources.warc import decode_body
from untemplate.value_types import absolute_url
from untemplate.version import PACKAGE_VERSION

__all__ = [
    "DEFAULT_POLITENESS",
    "USER_AGENT",
    "Answer",
    "Call",
    "FetchedPage",
    "Fetcher",
    "Politeness",
    "allowed_addresses",
    "is_public",
]

AGENT = "untemplate"
USER_AGENT = f"{AGENT}/{PACKAGE_VERSION} (structured records from web pages; obeys robots.txt)"

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5  # the number that RFC 9309 requires for robots.txt
_MAX_ROBOTS_BYTES = 500 << 10  # the size that RFC 9309 requires
# Big sites have a few hundred rules with one or two wild cards each.
_MAX_ROBOTS_RULES = 5_000
_MAX_ROBOTS_WILDCARDS = 8
_MAX_ROBOTS_LINE = 4_000
_ROBOTS_RULE = re.compile(rb"\s*(?:dis)?allow\s*:", re.IGNORECASE)
_TEMPORARY_STATUS = frozenset({429, 500, 502, 503, 504})
# A host that asks for a longer wait, in seconds, does not want to be crawled now.
_MAX_WAIT = 60.0
# IPv6 addresses that contain an IPv4 address, for translators (RFC 6052).
_NAT64 = IPv6Network("64:ff9b::/96")
_CONNECTION_ERRORS = (OSError, HTTPException, HTTPError)


@dataclass(frozen=True, slots=True)
class Politeness:
    """How pages are fetched."""

    #: seconds between two requests to a host; more if its robots.txt asks for more
    delay: float = 1.0
    #: how often a request that failed for a temporary reason is repeated, after a wait that doubles
    retries: int = 3
    #: seconds that one request may take in all
    timeout: float = 30.0
    #: whether addresses outside the public internet may be fetched
    private: bool = False
    #: the only hosts that may be fetched, also after a redirect; None for all
    hosts: frozenset[str] | None = None


DEFAULT_POLITENESS = Politeness()


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An HTML page as a server sent it.

    Attributes:
        url: Its address after all redirects.
        html: The page.
        charset: The encoding that the HTTP header gave.
        time: When it was fetched.
        cookies: The `Set-Cookie` headers.
    """

    url: str
    html: bytes
    charset: str | None
    time: datetime
    cookies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """What a request says, besides its address."""

    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=lambda: {"Accept": "text/html,*/*;q=0.1"})
    body: bytes | None = None

    def redirected(self, status: int) -> Call:
        """Return the request to make after a redirect: all but 307 and 308 turn it into a GET, as browsers do."""
        return self if status in (307, 308) else replace(self, method="GET", body=None)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent. The body is still compressed; `decode` returns it as it was meant."""

    url: str
    status: int
    headers: Message
    body: bytes

    def decode(self, limit: int) -> bytes:
        """Return the body without its `Content-Encoding`, up to `limit` bytes."""
        return decode_body(self.body, str(self.headers.get("Content-Encoding", "")), limit)


_PAGE_CALL = Call()

_Request = Callable[[SplitResult, float, Call], Answer]
"""Makes one request: its URL, the delay that robots.txt asks for in seconds, and what to ask."""


class _TemporaryError(PageError):
    """A failure that may pass; `wait` is the number of seconds that the server asks to wait, if it does."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Fetcher:
    """Fetches pages; remembers the robots.txt of each host and when it last asked the host.

    Several threads may fetch at the same time. A host still gets one request at a time.
    """

    def __init__(self, politeness: Politeness, limit: int) -> None:
        """Choose how to fetch.

        Args:
            politeness: Delays, retries, timeouts.
            limit: The maximum size of a page in bytes. One more byte is read, to recognize pages that are too big.
        """
        self._politeness = politeness
        self._limit = limit
        self._robots: dict[str, Protego | str] = {}  # by origin; a reason if it could not be read
        self._robots_locks: dict[str, threading.Lock] = {}  # by origin
        self._last_request: dict[str, float] = {}  # by host, on the monotonic clock
        self._host_locks: dict[str, threading.Lock] = {}  # held while a host is waited for or asked

    def fetch(self, url: str) -> FetchedPage:
        """Fetch the page at a URL.

        Raises:
            PageError: The page cannot or must not be fetched; the message is the reason.
        """
        answer = self._follow_redirects(url, partial(self._request_politely, self._limit + 1))
        if answer.status != 200:
            raise PageError(f"HTTP status {answer.status}")
        if "Content-Type" in answer.headers and answer.headers.get_content_type() not in HTML_TYPES:
            raise PageError("not HTML")
        html = answer.decode(self._limit + 1)
        if not html.strip():
            raise PageError("empty")
        cookies = tuple(answer.headers.get_all("Set-Cookie", ()))
        charset = answer.headers.get_content_charset()
        return FetchedPage(answer.url, html, charset, datetime.now(UTC), cookies)

    def load(self, url: str, call: Call, limit: int, timeout: float) -> Answer:
        """Load something that a page needs, such as a script. May be called by several threads.

        Every address, also after a redirect, is checked like that of a page, and robots.txt is obeyed. But there is
        no delay, as in a browser, and no second attempt.

        Args:
            url: The address.
            call: What to ask.
            limit: The maximum number of bytes to read.
            timeout: Seconds that each request may take.

        Raises:
            PageError: It cannot or must not be loaded; the message is the reason.
        """
        politeness = replace(self._politeness, timeout=min(timeout, self._politeness.timeout))

        def request(parts: SplitResult, delay: float, call: Call) -> Answer:
            return _request(parts, politeness, limit, call)

        return self._follow_redirects(url, request, call)

    def _follow_redirects(
        self, url: str, request: _Request, call: Call = _PAGE_CALL, obey_robots: bool = True
    ) -> Answer:
        """Return the first answer that is no redirect; every step is checked like the first URL.

        Args:
            url: Where to start.
            request: Makes one request.
            call: What to ask.
            obey_robots: False only for robots.txt itself.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            parts = _split_web_url(url)
            if self._politeness.hosts is not None and parts.hostname not in self._politeness.hosts:
                raise PageError("host is not among those that may be fetched")
            delay = self._check_robots(url, parts) if obey_robots else 0.0
            answer = request(parts, delay, call)
            location = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not location:
                return answer
            url, call = absolute_url(location, url) or location, call.redirected(answer.status)
        raise PageError(f"more than {_MAX_REDIRECTS} redirects")

    def _check_robots(self, url: str, parts: SplitResult) -> float:
        """Return the delay that robots.txt asks for, in seconds.

        Raises:
            PageError: It forbids the page, cannot be read, or asks for too long a delay.
        """
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._robots_locks.setdefault(origin, threading.Lock()):
            if origin not in self._robots:
                self._robots[origin] = self._read_robots(origin)
        robots = self._robots[origin]
        if isinstance(robots, str):
            raise PageError(robots)
        if not robots.can_fetch(url, AGENT):
            raise PageError("robots.txt forbids it")
        delay = robots.crawl_delay(AGENT) or 0.0
        if delay > _MAX_WAIT:
            raise PageError(f"robots.txt asks to wait longer than {_MAX_WAIT:.0f} s")
        return delay

    def _read_robots(self, origin: str) -> Protego | str:
        """Read robots.txt as RFC 9309 says: no file allows everything, a server that fails allows nothing."""
        try:
            request = partial(self._request_politely, _MAX_ROBOTS_BYTES)
            answer = self._follow_redirects(f"{origin}/robots.txt", request, obey_robots=False)
            text = answer.decode(_MAX_ROBOTS_BYTES) if answer.status == 200 else b""
        except PageError as error:
            return f"robots.txt cannot be read: {error}"
        return Protego.parse(_limit_robots(text).decode("utf-8", "replace"))

    def _request_politely(self, limit: int, parts: SplitResult, delay: float, call: Call) -> Answer:
        """Make one request after the delay, and repeat it with growing pauses if it fails for a temporary reason."""
        pause = self._politeness.delay
        delay = max(delay, pause)
        retries_left = self._politeness.retries
        while True:
            with self._host_locks.setdefault(parts.netloc, threading.Lock()):
                self._wait_turn(parts.netloc, delay)
                try:
                    return _request(parts, self._politeness, limit, call)
                except _TemporaryError as error:
                    wait = max(error.wait or 0.0, pause)
                    if not retries_left or wait > _MAX_WAIT:
                        raise
                finally:
                    self._last_request[parts.netloc] = time.monotonic()
            time.sleep(wait)
            pause *= 2
            retries_left -= 1

    def _wait_turn(self, host: str, delay: float) -> None:
        """Wait until the last request to a host is `delay` seconds ago."""
        if host in self._last_request:
            time.sleep(max(0.0, self._last_request[host] + delay - time.monotonic()))


def _limit_robots(text: bytes) -> bytes:
    """Return a robots.txt without lines that would take much time or memory: a pattern is compiled for each rule.

    Only the first rules count, and of these all but patterns with very many wild cards, which nobody writes.
    """
    lines = []
    rules = 0
    for line in text.splitlines():
        is_rule = _ROBOTS_RULE.match(line) is not None
        rules += is_rule
        if is_rule and (rules > _MAX_ROBOTS_RULES or line.count(b"*") > _MAX_ROBOTS_WILDCARDS):
            continue
        lines.append(line[:_MAX_ROBOTS_LINE])
    return b"\n".join(lines)


def _split_web_url(url: str) -> SplitResult:
    """Split a URL into its parts; PageError if it is not one of http or https."""
    try:
        parts = urlsplit(safe_url_string(url))
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise PageError("not a web address")
    return parts


def _request(parts: SplitResult, politeness: Politeness, limit: int, call: Call) -> Answer:
    """Make one request and read at most `limit` bytes of the answer.

    Raises:
        PageError: There is no usable answer; a `_TemporaryError` if a later request may succeed.
    """
    try:
        connection = _connect(parts, politeness)
        with closing(connection), _deadline(connection, politeness.timeout):
            answer = _exchange(connection, parts, limit, call)
    except (*_CONNECTION_ERRORS, ValueError) as error:
        raise _page_error(error, politeness.timeout) from error
    if answer.status in _TEMPORARY_STATUS:
        raise _TemporaryError(f"HTTP status {answer.status}", _retry_after(answer.headers))
    return answer


def _exchange(connection: HTTPConnection, parts: SplitResult, limit: int, call: Call) -> Answer:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    own = {"Host": parts.netloc.rpartition("@")[2], "User-Agent": USER_AGENT, "Accept-Encoding": "gzip"}
    connection.request(
        call.method,
        target,
        body=call.body,
        headers={**call.headers, **own},
        preload_content=False,
        decode_content=False,  # decompressed later, within the limit
    )
    headers = Message()
    with closing(connection.getresponse()) as response:
        for name, value in response.headers.items():
            headers[name] = value
        return Answer(parts.geturl(), response.status, headers, read_up_to(response, limit))


def _page_error(error: Exception, timeout: float) -> PageError:
    """Return the reason why a request failed.

    Returns:
        A `_TemporaryError` unless a later request would fail for the same reason.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return PageError("certificate is not valid")
    if isinstance(error, gaierror):
        return PageError("host is not known")
    if isinstance(error, TimeoutError | HTTPTimeoutError):
        return _TemporaryError(f"no answer within {timeout:g} s")
    cause = error.__cause__ or error  # urllib3 wraps some errors
    if isinstance(cause, IncompleteRead):
        return _TemporaryError("answer is cut short")
    return _TemporaryError(f"connection failed: {type(cause).__name__}")


def _connect(parts: SplitResult, politeness: Politeness) -> HTTPConnection:
    """Connect to the first address of a host that answers, with TLS for https.

    The connection gets an address instead of the name, so nobody resolves the name again.
    """
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    *fallbacks, last = allowed_addresses(host, port, politeness.private)
    for address in fallbacks:
        connection = _new_connection(address, port, host, parts.scheme, politeness.timeout)
        try:
            connection.connect()
        except (NewConnectionError, ConnectTimeoutError):
            continue
        return connection
    connection = _new_connection(last, port, host, parts.scheme, politeness.timeout)
    connection.connect()
    return connection


def _new_connection(address: str, port: int, host: str, scheme: str, timeout: float) -> HTTPConnection:
    if scheme == "http":
        return HTTPConnection(address, port, timeout=timeout)
    context = ssl.create_default_context()
    return HTTPSConnection(address, port, timeout=timeout, server_hostname=host, ssl_context=context)


def allowed_addresses(host: str, port: int, private: bool) -> list[str]:
    """Resolve a host name to the addresses that may be connected to.

    Args:
        host: The name, or an address.
        port: The port to connect to.
        private: True to allow all addresses.

    Raises:
        PageError: The host has no public address, or its name is not valid.
        OSError: The name cannot be resolved.
    """
    try:
        resolved = getaddrinfo(host, port, type=SOCK_STREAM)
    except UnicodeError as error:
        raise PageError("host name is not valid") from error
    addresses = dict.fromkeys(str(address[0]) for *_, address in resolved)
    allowed = [address for address in addresses if private or is_public(address)]
    if not allowed:
        raise PageError("host is at a private address")
    return allowed


def is_public(address: str) -> bool:
    """Return True if an IP address, or the IPv4 address inside it, belongs to the public internet.

    An IPv6 address may contain the IPv4 address of a private machine, which a gateway would connect to.
    """
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        ip = _inner_address(ip) or ip
    return ip.is_global and not ip.is_multicast


def _inner_address(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that a translated, tunneled or mapped address leads to."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    if ip.teredo:
        return ip.teredo[1]
    return ip.ipv4_mapped or ip.sixtofour


@contextmanager
def _deadline(connection: HTTPConnection, seconds: float) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer, even if the server sends a byte now and then."""
    expired = threading.Event()
    # the connection gives its socket away with the response
    timer = threading.Timer(seconds, _shut_down, (connection.sock, expired))
    timer.daemon = True
    timer.start()
    try:
        yield
    except _CONNECTION_ERRORS as error:
        if expired.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
    if expired.is_set():
        raise TimeoutError


def _shut_down(connected: socket, expired: threading.Event) -> None:
    expired.set()
    try:
        connected.shutdown(SHUT_RDWR)
    except OSError:  # closed already
        return


def _retry_after(headers: Message) -> float | None:
    """Return the number of seconds that a server asks to wait, if it does."""
    try:
        return Retry().parse_retry_after(str(headers.get("Retry-After", "")))
    except (InvalidHeader, ValueError, OverflowError):
        return None
