"""Connections to public addresses only: the address that was checked is the one connected to.

Checking the name instead would let a redirect, or a name server that changes its answer, reach the
machines of a private network.
"""

from __future__ import annotations

import socket
import ssl
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from untemplate.errors import PageError

__all__ = ["connect", "is_public"]

# An IPv4 address within an IPv6 one, for translators (RFC 6052).
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address, or the IPv4 address wrapped in it, is one of the public internet."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        ip = inner or ip
    return ip.is_global and not ip.is_multicast


def connect(host: str, port: int, secure: bool, timeout: float, private: bool) -> socket.socket:
    """A connected socket, with TLS if `secure`; PageError when the host has no public address.

    With `private`, any address will do. Other failures are OSErrors.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise PageError("host name is not valid") from error
    addresses = [str(address[0]) for *_, address in found]
    allowed = [address for address in addresses if private or is_public(address)]
    if not allowed:
        raise PageError("host is at a private address")
    connection = _connect_first(allowed, port, timeout)
    if not secure:
        return connection
    try:
        return ssl.create_default_context().wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def _connect_first(addresses: list[str], port: int, timeout: float) -> socket.socket:
    *others, last = dict.fromkeys(addresses)
    for address in others:
        try:
            return socket.create_connection((address, port), timeout)
        except OSError:
            continue
    return socket.create_connection((last, port), timeout)
