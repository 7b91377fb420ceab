"""What the first bytes of a page tell: whether it is HTML, and its URL."""

from __future__ import annotations

import html
import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

__all__ = ["HTML_TYPES", "SNIFF", "has_html_suffix", "is_html", "page_url"]

#: bytes that `is_html` looks at
SNIFF = 4096
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})

_SUFFIXES = frozenset({".htm", ".html", ".shtml", ".xht", ".xhtml"})
# The tags by which the WHATWG "MIME Sniffing" standard knows HTML, and others that open real pages.
_START = re.compile(
    rb"(?>\s+|<!--.*?-->|<\?.*?\?>)*+<(?:!doctype\s+html|html|head|body|base|title|meta|link|script|style|iframe|h1"
    rb"|div|span|font|table|form|center|noscript|a|b|br|p)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_BINARY = re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF|%PDF|PK\x03\x04|\x1f\x8b")

# Where base and canonical link stand; they come early in the head, but long scripts may come before them.
_HEAD = 1 << 18
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(?:script|style)\b.*?(?:</(?:script|style)|\Z)|<([a-z][a-z0-9]*)([^>]*)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]++))""")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


def is_html(name: str, head: bytes) -> bool:
    """Whether a file is an HTML page: its first bytes decide, its name only when they do not tell."""
    head = _ascii_compatible(head[:SNIFF])
    if _START.match(head):
        return True
    return has_html_suffix(name) and not _BINARY.match(head)


def has_html_suffix(name: str) -> bool:
    """Whether a file claims to be a page."""
    return PurePosixPath(name).suffix.lower() in _SUFFIXES


def page_url(page: bytes) -> str | None:
    """The absolute URL that a page gives itself, if any.

    That is a `base` whose `href` was put before everything else by who saved the page or does not name a
    folder (sites use one that does for all their pages); otherwise the canonical link.
    """
    canonical: str | None = None
    first = True
    for match in _TAG.finditer(_ascii_compatible(page[:_HEAD])):
        tag = (match[1] or b"").lower()
        if tag == b"body":
            break
        if tag in (b"base", b"link"):
            attributes = _attributes(match[2])
            url = attributes.get("href", "")
            if _is_absolute(url):
                if tag == b"base" and (first or not url.endswith("/")):
                    return url
                if tag == b"link" and "canonical" in attributes.get("rel", "").lower().split():
                    canonical = canonical or url
        first = first and not tag
    return canonical


def _attributes(tag: bytes) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(tag):
        value = html.unescape(b"".join(values).decode("utf-8", "replace")).strip()
        attributes.setdefault(name.decode("ascii", "replace").lower(), value)
    return attributes


def _is_absolute(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _ascii_compatible(page: bytes) -> bytes:
    if page.startswith(_UTF16_MARKS):
        return page.decode("utf-16", "replace").encode()
    return page.removeprefix(_UTF8_MARK)
