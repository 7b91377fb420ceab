"""The native core builds the trees that lxml builds."""

from __future__ import annotations

import time
from contextlib import suppress
from random import Random

import pytest
from lxml import etree

from benchmarks.data.html_noise import make_noise
from benchmarks.measure.native import find_difference
from untemplate import Limits, Page
from untemplate.errors import PageError
from untemplate.native import core

pytestmark = pytest.mark.skipif(
    core is None or etree.LIBXML_VERSION < (2, 14),
    reason="needs the native core, and libxml2 2.14 to compare with",
)

PAGES = 20_000
"""Random pages of a test run: ten seconds. A run of a million is a command; docs/architecture.md has its result."""


def test_random_pages_have_the_same_trees() -> None:
    random = Random(7)
    for _ in range(PAGES):
        html = make_noise(random)
        assert find_difference(html) is None, html


@pytest.mark.parametrize(
    "html",
    [
        "<head><title>a</title><body>b</body></html><p>c",
        "<p>a</body>b<p>c",
        "<table><tr><td>1<td>2<tr><td>3</table>4",
        "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>",
        "<noscript><p>a</noscript><template><p>b</template><svg><title>c</title></svg>",
        "<script>if (a < b) '<\\/p>' // </body></script>d",
        "<script><!-- <script>a</script> --></script>b",
        "<br/>a<br></br>b<div/>c<p/>d",
        "<a b='&amp;&copy=&copy;&copyx' c=&lt; d e='>'>&notit; &#128; &#xD800; &#x110000; &amp",
        "<option selected><input checked><td nowrap=''>",
        "<p>a&nbsp;b\r\nc\rd&#13;e",
        "<body><frameset><frame></frameset>x",
        "<p " + "é" * 70 + "=1>" + "<" + "x" * 120 + ">y",
        "<title>a</title b>c<textarea>\n<b></textarea>",
    ],
)
def test_usual_quirks(html: str) -> None:
    assert find_difference(html.encode()) is None


@pytest.mark.parametrize(
    "unit",
    [
        "<body a='&amp;'>y",
        "<head c='&lt;'>y",
        "</p x='&amp;'>&lt;y",
        "</q>&nGt;",
        "</q>&nGt;<body a='&nGt;&nGt;'>y",
        "<!--x-->y",
    ],
)
def test_a_text_in_very_many_pieces(unit: str) -> None:
    """Ignored tags and removed comments interrupt a text, and references are longer than what they stand for."""
    assert find_difference(f"<p>x{unit * 3000}<b>z</b>".encode()) is None


def test_a_text_of_references_after_an_ignored_tag() -> None:
    assert find_difference(b"<p>x</q>" + b"&nGt;" * 3000) is None


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "gb18030", "shift_jis", "iso2022_jp"])
def test_pages_in_any_encoding(encoding: str) -> None:
    html = f"<meta charset={encoding}><p title='caf\u00e9 \u65e5\u672c'>caf\u00e9 \u65e5\u672c".encode(
        encoding, "ignore"
    )
    native, plain = Page(html=html), Page(html=html)
    assert plain.tree is not None
    assert [element.text for element in native.root.iter()] == [element.text for element in plain.tree.iter()]
    assert native.root[0][0].tag == "meta"


def test_broken_utf8_and_nul_bytes() -> None:
    page = Page(html=b"<p>a\0b\xff\xc3<b>\xf0\x9f</b>")
    assert [(element.tag, element.text) for element in page.root.iter()] == [
        (element.tag, element.text) for element in Page(html=page.html).tree.iter()
    ]


# Hostile pages take linear time, and are refused for the same reasons


def assert_quick(html: bytes) -> None:
    started = time.process_time()
    with suppress(PageError):
        assert Page(html=html).root is not None
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "html",
    [
        b"<p>" + b"<b>" * 1900 + b"</i>" * 300_000,
        b"<i><table>" + b"<b>" * 1900 + b"</i>" * 300_000,
        b"<tbody><table>" + b"<tr><div>" * 900 + b"</tbody>" * 300_000,
        b"<p " + b" ".join(b"a%d" % number for number in range(200_000)) + b">",
        b"<p a a a" + b" a" * 500_000 + b">",
        b"<p " + b" ".join(b"a%d" % number for number in range(3_000)) + b">" * 1_000_000,
        b"x</q>" * 400_000,
        b"&" * 2_000_000,
        b"&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 50_000,
        b"&nGt;" * 400_000,
        b"<!--" * 500_000,
        b"<!--a--" * 300_000,
        b"<script><!--<script>" * 100_000,
        b"<script></script" * 150_000,
        b"<p a='" * 400_000,
        b"<" * 2_000_000,
        b"<a" + b"=" * 2_000_000,
        b"<x" * 700_000,
        b"</" * 700_000,
        b"<br>" * 400_000,
    ],
    ids=range(20),
)
def test_hostile_pages_take_linear_time(html: bytes) -> None:
    assert_quick(html)


@pytest.mark.parametrize(
    ("html", "limits"),
    [
        (b"<div>" * 2100, Limits()),
        (b"<div>" * 60, Limits(depth=50)),
        (b"<p>" * 5_000, Limits(elements=1_000)),
        (b"<p>" * 5_000, Limits(bytes=1_000)),
        (b"", Limits()),
        (b"<!--only a comment-->", Limits()),
        (b"  \n ", Limits()),
        (b"</p>", Limits()),
        (b"<p " + b" ".join(b"a%d" % number for number in range(40_000)) + b">", Limits()),
    ],
    ids=range(9),
)
def test_pages_are_refused_for_the_same_reason(html: bytes, limits: Limits) -> None:
    native, plain = Page(html=html, limits=limits), Page(html=html, limits=limits)
    with pytest.raises(PageError) as by_native:
        assert native.root
    with pytest.raises(PageError) as by_plain:
        assert plain.tree
    assert str(by_native.value) == str(by_plain.value)


def test_a_page_may_be_as_deep_as_its_limit() -> None:
    html = b"<div>" * 1998 + b"x"
    assert sum(1 for _ in Page(html=html).root.iter()) == sum(1 for _ in Page(html=html).tree.iter()) == 2000


def test_a_page_that_lxml_has_parsed_is_not_parsed_again() -> None:
    page = Page(html="<p>a")
    assert page.tree is page.root
