"""Fetching, against a real server on this machine."""

from __future__ import annotations

import gzip
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from protego import Protego

from tests.linear_time import assert_linear
from tests.sources.web_server import HTML, QUICK, Server, write
from untemplate import Limits, PageError, SourceError
from untemplate.sources import Politeness, fetch, read_pages
from untemplate.sources.fetch import AGENT, _limit_robots, allowed_addresses, is_public


def test_pages_with_charset_and_time(server: Server, listing: Path) -> None:
    server.answers["/a?b=ü".replace("ü", "%C3%BC")] = (200, HTML, b"<p>caf\xe9")
    pages = read_pages(write(listing, server, "/a?b=ü", "/missing", "/a?b=ü"), politeness=QUICK)
    (page,) = pages
    assert page.url == page.id == f"{server.url}/a?b=ü"
    assert page.text == "<p>café"
    assert page.charset == "windows-1252"
    assert page.fetched is not None
    assert page.fetched.tzinfo is not None
    assert pages.skipped.counts == {"HTTP status 404": 1}
    assert pages.total == 2
    assert all(agent.startswith(f"{AGENT}/") for agent in server.agents)


def test_robots(server: Server, listing: Path) -> None:
    server.answers["/robots.txt"] = (
        200,
        {"Content-Type": "text/plain"},
        b"User-agent: *\nDisallow: /*secret$",
    )
    server.answers["/open"] = server.answers["/my-secret"] = (200, HTML, b"<p>")
    server.answers["/moved"] = (302, {"Location": "/my-secret"}, b"")
    pages = read_pages(write(listing, server, "/open", "/my-secret", "/moved"), politeness=QUICK)
    assert [page.url for page in pages] == [f"{server.url}/open"]
    assert pages.skipped.counts == {"robots.txt forbids it": 2}
    assert "/my-secret" not in server.asked
    assert server.asked["/robots.txt"] == 1


def test_robots_that_cannot_be_read_forbids_all(server: Server, listing: Path) -> None:
    server.answers |= {"/robots.txt": (500, {}, b""), "/a": (200, HTML, b"<p>")}
    with pytest.raises(SourceError, match=r"robots\.txt cannot be read: HTTP status 500"):
        list(read_pages(write(listing, server, "/a"), politeness=QUICK))
    assert server.asked == {"/robots.txt": 3}


def test_robots_delay(server: Server, listing: Path) -> None:
    server.answers |= {
        "/robots.txt": (200, {}, b"User-agent: *\nCrawl-delay: 0.3"),
        "/a": (200, HTML, b"<p>"),
    }
    list(read_pages(write(listing, server, "/a", "/b"), politeness=QUICK))
    assert all(
        later - earlier >= 0.29 for earlier, later in zip(server.times, server.times[1:], strict=False)
    )


def test_robots_that_asks_too_much(server: Server, listing: Path) -> None:
    server.answers["/robots.txt"] = (200, {}, b"User-agent: untemplate\nCrawl-delay: 86400")
    with pytest.raises(SourceError, match="asks to wait longer"):
        list(read_pages(write(listing, server, "/a"), politeness=QUICK))


def test_delay(server: Server, listing: Path) -> None:
    server.answers["/a"] = (200, HTML, b"<p>")
    politeness = Politeness(delay=0.2, timeout=30, private=True)
    list(read_pages(write(listing, server, "/a", "/b", "/c"), politeness=politeness))
    assert len(server.times) == 4
    assert server.times[-1] - server.times[0] >= 0.59


def test_retries(server: Server, listing: Path) -> None:
    server.answers |= {"/moody": (200, HTML, b"<p>now"), "/down": (503, {}, b"")}
    pages = read_pages(write(listing, server, "/moody", "/down"), politeness=QUICK)
    assert [page.html for page in pages] == [b"<p>now"]
    assert server.asked["/down"] == 3
    assert pages.skipped.counts == {"HTTP status 503": 1}


def test_a_wait_that_is_too_long_is_not_made(server: Server, listing: Path) -> None:
    server.answers |= {"/a": (200, HTML, b"<p>"), "/busy": (429, {"Retry-After": "3600"}, b"")}
    list(read_pages(write(listing, server, "/a", "/busy"), politeness=QUICK))
    assert server.asked["/busy"] == 1


def test_redirects(server: Server, listing: Path) -> None:
    server.answers |= {
        "/old": (301, {"Location": "new"}, b""),
        "/new": (200, HTML, b"<p>new"),
        "/loop": (302, {"Location": "/loop"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    }
    pages = read_pages(write(listing, server, "/old", "/loop", "/file"), politeness=QUICK)
    assert [(page.url, page.html) for page in pages] == [(f"{server.url}/old", b"<p>new")]
    assert pages.skipped.counts == {"more than 5 redirects": 1, "not a web address": 1}


def test_limits(server: Server, listing: Path) -> None:
    body = gzip.compress(b"<p>" + b"x" * 1_000_000)
    server.answers |= {
        "/big": (200, HTML, b"<p>" + b"x" * 1_000_000),
        "/bomb": (200, HTML | {"Content-Encoding": "gzip"}, body),
        "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
        "/cut": (200, HTML | {"Content-Length": "1000"}, b"<p>"),
    }
    limits = Limits(bytes=50_000)
    paths = ("/big", "/bomb", "/image", "/cut")
    pages = read_pages(write(listing, server, *paths), politeness=QUICK, limits=limits)
    assert [len(page.html) for page in pages] == [50_001, 50_001]
    assert pages.skipped.counts == {"not HTML": 1, "answer is cut short": 1}


def test_a_server_that_drips_is_left(server: Server, listing: Path) -> None:
    server.answers["/a"] = (200, HTML, b"<p>")
    politeness = Politeness(delay=0.01, retries=0, timeout=0.5, private=True)
    pages = read_pages(write(listing, server, "/a", "/drip"), politeness=politeness)
    assert len(list(pages)) == 1
    assert pages.skipped.counts == {"no answer within 0.5 s": 1}


def test_private_addresses_are_refused(server: Server, listing: Path) -> None:
    with pytest.raises(SourceError, match="host is at a private address"):
        list(read_pages(write(listing, server, "/a"), politeness=Politeness(delay=0, retries=0)))
    assert not server.asked


def test_a_name_is_no_way_around() -> None:
    with pytest.raises(PageError, match="private address"):
        allowed_addresses("localhost", 80, private=False)


def test_the_checked_address_is_the_one_connected_to(
    server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that gives a private address the second time is not asked a second time."""
    asked = []

    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(fetch, "getaddrinfo", resolve)
    server.answers["/a"] = (200, HTML, b"<p>a")
    listing.write_text(f"http://shop.test:{server.server_port}/a")
    pages = read_pages(listing, politeness=QUICK)
    assert [page.html for page in pages] == [b"<p>a"]
    assert asked == ["shop.test", "shop.test"]  # for robots.txt, and for the page


def test_an_address_that_does_not_answer_is_not_the_last(
    server: Server, listing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = [
        (2, 1, 6, "", ("127.0.0.2", server.server_port)),
        (2, 1, 6, "", ("127.0.0.1", server.server_port)),
    ]
    monkeypatch.setattr(fetch, "getaddrinfo", lambda *_, **__: addresses)
    server.answers["/a"] = (200, HTML, b"<p>a")
    listing.write_text(f"http://shop.test:{server.server_port}/a")
    assert len(list(read_pages(listing, politeness=QUICK))) == 1


def test_a_certificate_of_somebody_else_is_refused(server: Server, listing: Path, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", "/CN=shop.test", "-days", "1", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    listing.write_text(f"{server.url.replace('http', 'https')}/a")
    with pytest.raises(SourceError, match="certificate is not valid"):
        list(read_pages(listing, politeness=QUICK))
    assert not server.asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_a_robots_file_of_many_wild_cards_costs_little(server: Server, listing: Path) -> None:
    """Patterns with very many wild cards, and rules after thousands of others, are ignored; the usual ones count."""
    hostile = b"".join(b"Disallow: /%s%d\n" % (b"*a" * 40, number) for number in range(20_000))
    usual = b"User-agent: *\nDisallow: /private*.html$\n"
    server.answers["/robots.txt"] = (200, {"Content-Type": "text/plain"}, usual + hostile)
    server.answers["/a"] = (200, HTML, b"<p>x")
    pages = read_pages(write(listing, server, "/private/7.html", "/a"), politeness=QUICK)
    assert [page.html for page in pages] == [b"<p>x"]
    assert pages.skipped.counts == {"robots.txt forbids it": 1}


def test_robots_files_take_linear_time() -> None:
    def work(size: int) -> None:
        text = b"User-agent: *\n" + b"".join(b"Disallow: /*a*a*a*a*a%d\n" % number for number in range(size))
        Protego.parse(_limit_robots(text).decode()).can_fetch("http://a.example/" + "a" * 500, AGENT)

    assert_linear(work, 500, 5_000)
    assert len(_limit_robots(b"Disallow: /*a\n" * 100_000).splitlines()) == 5_000


def test_a_redirect_to_no_address(server: Server, listing: Path) -> None:
    server.answers |= {"/a": (302, {"Location": "http://["}, b""), "/b": (200, HTML, b"<p>x")}
    pages = read_pages(write(listing, server, "/a", "/b"), politeness=QUICK)
    assert len(list(pages)) == 1
    assert pages.skipped.counts == {"not a web address": 1}
