"""Fetching pages politely: robots.txt, one request at a time, a delay for each host, limits, back-off."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException
from importlib.metadata import version
from socket import SHUT_RDWR, gaierror, socket
from urllib.parse import SplitResult, urljoin, urlsplit

from protego import Protego
from w3lib.url import safe_url_string

from untemplate.errors import PageError
from untemplate.sources.body import decode_body
from untemplate.sources.connect import connect
from untemplate.sources.html import HTML_TYPES
from untemplate.sources.stream import read_up_to

__all__ = ["Fetched", "Fetcher", "Politeness"]

AGENT = "untemplate"
USER_AGENT = f"{AGENT}/{version('untemplate')} (structured records from web pages; obeys robots.txt)"

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5  # as many as RFC 9309 asks for with robots.txt
_MAX_ROBOTS = 500 << 10  # bytes of robots.txt that RFC 9309 asks for
_TEMPORARY = frozenset({429, 500, 502, 503, 504})
# A host that wants a longer wait than this, in seconds, does not want to be crawled now.
_MAX_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Politeness:
    """How pages are fetched."""

    #: seconds between two requests to a host; more when its robots.txt asks for more
    delay: float = 1.0
    #: how often a request that failed for a passing reason is made again, after a wait that doubles
    retries: int = 3
    #: seconds that one request may take altogether
    timeout: float = 30.0
    #: whether addresses that are not of the public internet may be fetched
    private: bool = False


DEFAULT_POLITENESS = Politeness()


@dataclass(frozen=True, slots=True)
class Fetched:
    """An HTML page as a server gave it."""

    html: bytes
    charset: str | None
    time: datetime


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Message
    body: bytes


class _TemporaryError(PageError):
    """A failure that may pass; `wait` is how long the server asks to wait, if it does."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Fetcher:
    """Fetches one page at a time, and remembers each host's robots.txt and when it was last asked."""

    def __init__(self, politeness: Politeness, limit: int) -> None:
        """No more than `limit` bytes of a page are read, and one more, that shows that it has more."""
        self._politeness = politeness
        self._limit = limit
        self._robots: dict[str, Protego | str] = {}  # by origin; a reason where it could not be read
        self._turns: dict[str, float] = {}  # by host, when it may be asked again

    def fetch(self, url: str) -> Fetched:
        """The page at a URL; PageError with the reason when it cannot or may not be fetched."""
        answer = self._follow(url, self._limit + 1, obey=True)
        if answer.status != 200:
            raise PageError(f"HTTP status {answer.status}")
        if answer.headers.get_content_type() not in HTML_TYPES and "Content-Type" in answer.headers:
            raise PageError("not HTML")
        encoding = str(answer.headers.get("Content-Encoding", ""))
        html = decode_body(answer.body, encoding, self._limit + 1)
        if not html.strip():
            raise PageError("empty")
        return Fetched(html, answer.headers.get_content_charset(), datetime.now(UTC))

    def _follow(self, url: str, limit: int, obey: bool) -> _Answer:
        for _ in range(_MAX_REDIRECTS + 1):
            parts = _split(url)
            delay = self._obey(url, parts) if obey else 0.0
            answer = self._get_patiently(parts, max(delay, self._politeness.delay), limit)
            location = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not location:
                return answer
            url = urljoin(url, location)
        raise PageError(f"more than {_MAX_REDIRECTS} redirects")

    def _obey(self, url: str, parts: SplitResult) -> float:
        """The delay that robots.txt asks for, in seconds; PageError when it forbids the page."""
        origin = f"{parts.scheme}://{parts.netloc}"
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
        """As RFC 9309 has it: no file allows everything, a server that fails allows nothing."""
        try:
            answer = self._follow(f"{origin}/robots.txt", _MAX_ROBOTS, obey=False)
            if answer.status == 200:
                encoding = str(answer.headers.get("Content-Encoding", ""))
                return Protego.parse(
                    decode_body(answer.body, encoding, _MAX_ROBOTS).decode("utf-8", "replace")
                )
        except PageError as error:
            return f"robots.txt cannot be read: {error}"
        return Protego.parse("")

    def _get_patiently(self, parts: SplitResult, delay: float, limit: int) -> _Answer:
        for attempt in range(self._politeness.retries + 1):
            self._wait_turn(parts.netloc, delay)
            try:
                return self._get(parts, limit)
            except _TemporaryError as error:
                pause = max(error.wait or 0.0, self._politeness.delay * 2**attempt)
                if attempt == self._politeness.retries or pause > _MAX_WAIT:
                    raise
            finally:
                self._turns[parts.netloc] = time.monotonic()
            time.sleep(pause)
        raise AssertionError("unreachable")

    def _wait_turn(self, host: str, delay: float) -> None:
        if host in self._turns:
            time.sleep(max(0.0, self._turns[host] + delay - time.monotonic()))

    def _get(self, parts: SplitResult, limit: int) -> _Answer:
        """One request; PageError with the reason when there is no answer, temporary where it may pass."""
        secure = parts.scheme == "https"
        host, timeout = parts.hostname or "", self._politeness.timeout
        try:
            port = parts.port or (443 if secure else 80)
            connection = HTTPConnection(host, parts.port or port, timeout=timeout)
            connection.sock = connect(host, port, secure, timeout, self._politeness.private)
            with closing(connection), _deadline(connection.sock, timeout):
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                headers = {
                    "User-Agent": USER_AGENT,
                    "Accept": "text/html,*/*;q=0.1",
                    "Accept-Encoding": "gzip",
                }
                headers["Host"] = parts.netloc.rpartition("@")[2]
                connection.request("GET", target, headers=headers)
                response = connection.getresponse()
                answer = _Answer(response.status, response.headers, read_up_to(response, limit))
                if response.length and len(answer.body) < limit:
                    raise _TemporaryError("answer is cut short")
        except ssl.SSLCertVerificationError as error:
            raise PageError("certificate is not valid") from error
        except gaierror as error:
            raise PageError("host is not known") from error
        except TimeoutError as error:
            raise _TemporaryError(f"no answer within {timeout:g} s") from error
        except (OSError, HTTPException, ValueError) as error:
            raise _TemporaryError(f"connection failed: {type(error).__name__}") from error
        if answer.status in _TEMPORARY:
            raise _TemporaryError(f"HTTP status {answer.status}", _retry_after(answer.headers))
        return answer


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(safe_url_string(url))
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise PageError("not a web address")
    return parts


@contextmanager
def _deadline(connection: socket, seconds: float) -> Iterator[None]:
    """TimeoutError when the block takes longer, also where a server sends a byte now and then."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        try:
            connection.shutdown(SHUT_RDWR)
        except OSError:  # closed already
            return

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, HTTPException) as error:
        if expired.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
    if expired.is_set():
        raise TimeoutError


def _retry_after(headers: Message) -> float | None:
    value = str(headers.get("Retry-After", "")).strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        return (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
