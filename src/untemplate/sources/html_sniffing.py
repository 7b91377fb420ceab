"""Answers from the first bytes of a page: whether it is HTML, and which URL it gives itself."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import urlsplit

__all__ = ["HTML_TYPES", "SNIFF", "has_html_suffix", "is_html", "page_url"]

#: bytes that `is_html` looks at
SNIFF = 4096
#: the content types of HTML
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})

_SUFFIXES = frozenset({".htm", ".html", ".shtml", ".xht", ".xhtml"})
# The tags by which the WHATWG "MIME Sniffing" standard recognizes HTML, and others that open real pages.
_START = re.compile(
    rb"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<(?:!doctype\s+html|html|head|body|base|title|meta|link|script|style|iframe|h1"
    rb"|div|span|font|table|form|center|noscript|a|b|br|p)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_BINARY = re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF|%PDF|PK\x03\x04|\x1f\x8b")

# Bytes searched for base and canonical link: they come early in the head, but long scripts may precede them.
_HEAD_BYTES = 1 << 18
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(?:script|style)\b.*?(?:</(?:script|style)|\Z)|<([a-z][a-z0-9]*)([^>]*)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]++))""")
# An address on the web that needs no closer look.
_PLAIN_ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#][\x21-\x7e]*)?", re.ASCII)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


def is_html(name: str, head: bytes) -> bool:
    """Return True if a file is an HTML page.

    The first bytes decide. The name decides only if they neither look like HTML nor like another format.
    """
    head = _ascii_compatible(head[:SNIFF])
    if _START.match(head):
        return True
    return has_html_suffix(name) and not _BINARY.match(head)


def has_html_suffix(name: str) -> bool:
    """Return True if the name of a file claims that it is a page."""
    return PurePosixPath(name).suffix.lower() in _SUFFIXES


def page_url(page: bytes) -> str | None:
    """Return the absolute URL that a page gives itself, if any.

    This is the `href` of a `base` element if it is the first tag of the page, because programs that save pages put it
    there, or if it does not name a folder, because sites use one `base` with a folder for all their pages. Otherwise
    it is the canonical link.
    """
    canonical: str | None = None
    for number, (tag, attributes) in enumerate(_head_tags(page)):
        if tag == b"base":
            url = _absolute_href(_parse_attributes(attributes))
            if url and (number == 0 or not url.endswith("/")):
                return url
        elif tag == b"link" and canonical is None:
            canonical = _canonical_url(attributes)
    return canonical


def _head_tags(page: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the tags before the body, each with its attributes.

    Scripts, styles and comments are skipped with their content, because it may look like tags.
    """
    if page.startswith(_UTF16_MARKS):
        page = _ascii_compatible(page[:_HEAD_BYTES])
    start = len(_UTF8_MARK) if page.startswith(_UTF8_MARK) else 0
    for match in _TAG.finditer(page, start, start + _HEAD_BYTES):
        tag = (match[1] or b"").lower()
        if tag == b"body":
            return
        if tag:
            yield tag, match[2]


def _canonical_url(link: bytes) -> str | None:
    """Return the URL of a `link` element if it is the canonical one and absolute."""
    attributes = _parse_attributes(link)
    if "canonical" not in attributes.get("rel", "").lower().split():
        return None
    return _absolute_href(attributes)


def _parse_attributes(tag: bytes) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(tag):
        value = html.unescape(b"".join(values).decode("utf-8", "replace")).strip()
        attributes.setdefault(name.decode("ascii", "replace").lower(), value)
    return attributes


def _absolute_href(attributes: dict[str, str]) -> str | None:
    """Return the `href` if it is a complete web address."""
    url = attributes.get("href", "")
    if _PLAIN_ADDRESS.fullmatch(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def _ascii_compatible(page: bytes) -> bytes:
    """Return the bytes of a page in an encoding that contains ASCII, without a byte order mark."""
    if page.startswith(_UTF16_MARKS):
        return page.decode("utf-16", "replace").encode()
    return page.removeprefix(_UTF8_MARK)
