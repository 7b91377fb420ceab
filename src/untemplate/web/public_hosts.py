"""Which addresses a shown page may load: only those of public hosts, never those of this machine or its network.

A saved page is written by strangers. If its images could come from `http://192.168.1.1/`, opening it would let them
talk to the devices of the person who labels it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from socket import getaddrinfo
from urllib.parse import urlsplit

from untemplate.sources.fetch import is_public

__all__ = ["is_public_url", "url_origin"]

_HOST_NAME = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")

LOCAL_ENDINGS = (".local", ".localhost", ".internal", ".lan", ".home", ".intranet")
"""Names that only a local network gives to its machines."""


def is_public_url(url: str) -> bool:
    """Return True if a URL is an HTTP address of a host on the public internet.

    A name is refused if it belongs to a local network by its form, or if it leads to a private address from here.
    A name that leads nowhere from here is allowed: the browser asks again, and gets nothing either.

    >>> is_public_url("http://192.168.1.1/router.gif")
    False
    """
    origin = url_origin(url)
    return origin is not None and _is_public_host(urlsplit(origin).hostname or "")


def url_origin(url: str) -> str | None:
    """Return the scheme, host and port of an HTTP address; None if it is no such address.

    >>> url_origin("https://user@cdn.example:8080/a.css")
    'https://cdn.example:8080'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not _HOST_NAME.fullmatch(host):
        return None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}" if port else f"{parts.scheme}://{shown}"


@lru_cache(maxsize=1000)
def _is_public_host(host: str) -> bool:
    with suppress(ValueError):
        return is_public(str(ip_address(host)))
    name = host.rstrip(".").lower()
    if "." not in name or name.endswith(LOCAL_ENDINGS) or name.rpartition(".")[2].isdigit():
        return False
    try:
        addresses = {str(found[4][0]) for found in getaddrinfo(name, None)}
    except (OSError, UnicodeError):
        return True
    return all(map(is_public, addresses))
