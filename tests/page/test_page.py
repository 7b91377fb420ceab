"""Page and Node: what a page shows, where it stands, how its bytes are read, and pages made to do harm."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Limits, Node, Page, PageError, static_text
from untemplate.page import decode, squeeze


def texts(html: bytes | str) -> list[str]:
    return [node.text for node in Page(html=html).nodes]


def selected(node: Node) -> str:
    """What the node's XPath selects: exactly one text or attribute, of exactly this place."""
    found = node.element.getroottree().xpath(node.xpath)
    assert len(found) == 1, node.xpath
    [text] = found
    if node.is_attribute:
        assert text.is_attribute
        assert text.attrname == node.kind[1:]
    else:
        assert text.is_tail == (node.kind == "tail")
        # lxml names the element before a tail text, except where comments stand between
        assert text.getparent() is node.element
    return squeeze(text)


# nodes


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one</p><p>two</p>", ["one", "two"]),
        ("<p>12 Main St<br>New York<br/>NY</p>", ["12 Main St", "New York", "NY"]),
        ("<p>before <b>bold</b> after</p> tail", ["before", "bold", "after", "tail"]),
        ("<p>a<!-- no -->b</p>", ["a", "b"]),
        ("<p>Tom &amp; Jerry&nbsp;&#33; &copy;</p>", ["Tom & Jerry ! ©"]),
        ("<p>  many \n\t blanks\xa0here </p>", ["many blanks here"]),
        ("<p></p><p> </p><p>&nbsp;</p>", []),
        ("<p>open<p>unclosed<td>cell", ["open", "unclosed", "cell"]),
        ("<html><body><p>in</p></body></html>after<p>late", ["in", "after", "late"]),
        ("just text", ["just text"]),
    ],
)
def test_text_nodes(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


@pytest.mark.parametrize("tag", ["script", "style", "template", "iframe", "noembed"])
def test_hidden_content_is_no_node_but_what_follows_is(tag: str) -> None:
    assert texts(f"<div>a<{tag}>x<b title=t>y</b>z</{tag}>b</div>") == ["a", "b"]


def test_attributes_that_hold_values() -> None:
    html = (
        '<meta name=d content="About  us"><a href="/x" class=c>link</a><img src=i.png alt="A cat">'
        '<time datetime="2024-01-02">today</time><input value=v><img data-src=lazy.png id=i src="">'
    )
    assert [(node.path.rsplit("/", 2)[-2:], node.text) for node in Page(html=html).nodes] == [
        (["meta", "@content"], "About us"),
        (["a", "@href"], "/x"),
        (["a", "text()"], "link"),
        (["img", "@src"], "i.png"),
        (["img", "@alt"], "A cat"),
        (["time", "@datetime"], "2024-01-02"),
        (["time", "text()"], "today"),
        (["input", "@value"], "v"),
        (["img", "@data-src"], "lazy.png"),
    ]


def test_paths_have_no_positions_and_xpaths_do() -> None:
    nodes = Page(html="<div><p>a</p><p>b<br>c</p></div>").nodes
    assert [node.path for node in nodes] == ["html/body/div/p/text()"] * 3
    assert [node.xpath for node in nodes] == [
        "/html/body/div/p[1]/text()[1]",
        "/html/body/div/p[2]/text()[1]",
        "/html/body/div/p[2]/text()[2]",
    ]


def test_parent_is_the_element_that_contains_the_node() -> None:
    first, bold, tail, link, _ = Page(html="<p>a<b>b</b>c</p><a href=x>d</a>").nodes
    assert [node.parent.tag for node in (first, bold, tail, link)] == ["p", "b", "p", "a"]


def test_a_page_is_parsed_once_and_again_after_release() -> None:
    page = Page(html="<title> A  title </title><p>a")
    assert page.tree is page.tree
    assert page.nodes is page.nodes
    assert page.title == "A title"
    before = page.tree
    page.release()
    assert page.tree is not before
    assert [node.text for node in page.nodes] == ["A title", "a"]


def test_id_is_the_url_where_the_source_gives_none() -> None:
    assert Page(url="http://a/").id == "http://a/"
    assert Page(url="http://a/", id="1.htm").id == "1.htm"
    assert repr(Page(html=b"x" * 1000, id="1.htm")) == "Page('1.htm', 1,000 bytes)"
    assert repr(Page(html="<p>x").nodes[0]) == "Node('/html/body/p/text()[1]', 'x')"


# each XPath selects exactly its node

pieces = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<div class='a b'>",
            "</div>",
            "<b>",
            "</b>",
            "<br>",
            "<table>",
            "<tr>",
            "<td>",
            "</table>",
        ),
        *(
            "<a href='/x'>",
            "</a>",
            "<img src=i.png alt='x'>",
            "<li>",
            "<ul>",
            "</ul>",
            "<!-- c -->",
            "<!--",
            "-->",
        ),
        *(
            "<script>",
            "</script>",
            "<template>",
            "</template>",
            "<html lang=en>",
            "<body>",
            "</body>",
            "</html>",
        ),
        *(
            "<o:p>",
            "</o:p>",
            "<x-y title=t>",
            "<ä>",
            "<p\x01>",
            "<?pi x?>",
            "<![CDATA[",
            "]]>",
            "&amp;",
            "&bogus;",
        ),
        *(
            "<svg>",
            "<path d=m>",
            "</svg>",
            "<",
            ">",
            "'",
            '"',
            "=",
            "\0",
            "\n",
            " ",
            "text",
            "é",
            "漢",
            "\ufeff",
        ),
        *(
            "<form>",
            "<input value='1'>",
            "<select>",
            "<option>",
            "<frameset>",
            "<title>",
            "<textarea>",
            "<meta content=c>",
        ),
    ]
)
soup = st.lists(st.one_of(pieces, st.text(max_size=5)), max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(soup)
def test_each_xpath_selects_exactly_its_node(html: str) -> None:
    page = Page(html=html)
    try:
        nodes = page.nodes
    except PageError:
        return
    xpaths = [node.xpath for node in nodes]
    assert len(set(xpaths)) == len(xpaths)
    for node in nodes:
        assert selected(node) == node.text
        assert node.text


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "shift_jis", "utf-16", "gb2312", "nonsense"]))
def test_any_bytes_make_a_page_or_a_page_error(html: bytes, charset: str | None) -> None:
    try:
        nodes = Page(html=html, charset=charset).nodes
    except PageError:
        return
    for node in nodes:
        assert selected(node) == node.text


def test_each_xpath_selects_exactly_its_node_on_real_pages(real_pages: list[Path]) -> None:
    for path in real_pages[::4]:
        for node in Page(html=path.read_bytes()).nodes[::23]:
            assert selected(node) == node.text, path


# decoding

META_1252 = b"<meta charset=windows-1252>"
META_UTF8 = b"<meta http-equiv=Content-Type content='text/html; charset=utf-8'>"


@pytest.mark.parametrize(
    ("html", "charset", "expected"),
    [
        ("é".encode(), None, "é"),
        ("é".encode("cp1252"), None, "é"),
        (b"\x93quoted\x94", None, "“quoted”"),
        ("é".encode("utf-8-sig"), "shift_jis", "é"),
        ("\ufeffé".encode("utf-16-le"), "utf-8", "é"),
        ("\ufeffé".encode("utf-16-be"), None, "é"),
        ("é".encode("utf-16-le"), "utf-16", "é"),
        (META_1252 + "é".encode(), "utf-8", "é"),
        (META_1252 + "é".encode("cp1252"), None, "é"),
        (META_UTF8 + "é".encode(), None, "é"),
        (META_UTF8 + "é".encode("cp1252"), None, "\ufffd"),
        (b"<meta charset=utf-16>" + "é".encode(), None, "é"),
        (b"<meta charset=iso-8859-1>\x80", None, "€"),
        (b"<?xml version='1.0' encoding='koi8-r'?>" + "дом".encode("koi8-r"), None, "дом"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本"),
        ("中文".encode("gbk"), "gb2312", "中文"),
        ("한국".encode("cp949"), "euc-kr", "한국"),
        ("é".encode("iso8859-15"), "ISO-8859-15", "é"),
        ("é".encode(), "no-such-charset", "é"),
    ],
)
def test_bytes_are_decoded_as_a_browser_would(html: bytes, charset: str | None, expected: str) -> None:
    assert decode(html, charset).endswith(expected)


@pytest.mark.parametrize(
    "name",
    [
        "hex",
        "base64",
        "zip",
        "rot13",
        "idna",
        "punycode",
        "unicode_escape",
        "utf-7",
        "undefined",
        "utf-32",
        "\0",
    ],
)
def test_codecs_that_are_not_of_the_web_are_not_used(name: str) -> None:
    html = b"<p>a-b \\q +AGE- \xe9"
    assert decode(html, name) == "<p>a-b \\q +AGE- é"
    assert decode(f"<meta charset={name}>".encode() + html).endswith("<p>a-b \\q +AGE- é")


def test_text_is_its_own_encoding() -> None:
    assert texts("<meta charset=shift_jis><p>é") == ["é"]
    assert texts("<p>lone \ud800 surrogate")[0].startswith("lone ")


# limits, and pages made to do harm


def reason(html: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(PageError) as error:
        _ = Page(html=html, limits=limits or Limits()).nodes
    return str(error.value)


@pytest.mark.parametrize(
    "html", [b"", b" \n ", b"\0\0", b"<!-- only -->", b"<!DOCTYPE html>", b"<?php echo 1 ?>"]
)
def test_nothing_on_the_page(html: bytes) -> None:
    assert reason(html) == "page is empty"


def test_limits() -> None:
    assert reason(b"x" * 11, Limits(bytes=10)) == "page is larger than 10 bytes"
    assert reason(b"<p>x" * 20, Limits(elements=10)) == "page has more than 10 elements"
    assert reason(b"<div>" * 20, Limits(depth=10)) == "page is nested deeper than 10 elements"
    assert reason(b"<div>" * 20 + b"</div>" * 20 + b"<p>", Limits(depth=10)).startswith(
        "page is nested deeper"
    )
    assert texts(b"<div>" * 20 + b"x") == ["x"]


def test_nul_bytes_are_dropped() -> None:
    assert texts(b"<p>a\0b</p\0><p>c") == ["ab", "c"]


def test_entities_are_not_expanded_and_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    html = f"""<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY x SYSTEM "file://{secret}">]>
        <p>&b;|&x;</p>"""
    assert "aaaaaaaa" not in "".join(texts(html))
    assert "secret" not in "".join(texts(html)).replace(str(secret), "")


ATTRIBUTES = range(40_000)
BOMBS = {
    "plain": b"<p " + b" ".join(b"a%d=1" % i for i in ATTRIBUTES) + b">",
    "a > in each value": b"<p " + b" ".join(b"a%d='>'" % i for i in ATTRIBUTES) + b">",
    "a < in each value": b"<p " + b" ".join(b'a%d="<"' % i for i in ATTRIBUTES) + b">",
    "no blanks": b"<p " + b"".join(b"a%d='1'" % i for i in ATTRIBUTES) + b">",
    "slashes": b"<p/" + b"/".join(b"a%d" % i for i in ATTRIBUTES) + b">",
    "quotes in names": b"<p " + b" ".join(b"a%d\"'" % i for i in ATTRIBUTES) + b">",
    "many tags": (b"<p " + b" ".join(b"a%d" % i for i in range(4_000)) + b">") * 10,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_tags_of_very_many_attributes(bomb: str) -> None:
    start = time.process_time()
    assert reason(BOMBS[bomb]) == "page has tags with more than 10,000 attributes"
    assert time.process_time() - start < 2


def test_tags_of_many_attributes() -> None:
    many = " ".join(f"data-a{i}='{i} > {i}'" for i in range(1000))
    assert texts(f"<p {many} title=t>x") == ["t", "x"]


@pytest.mark.parametrize(
    ("html", "count"),
    [
        (b"<p>x</p>" * 500_000, 500_000),
        (b"<p>" + b"x y " * (50 << 18), 1),
        (b"<" * (10 << 20), 1),
        (b"&" * (10 << 20), 1),
        (b"<p a='" + b"x " * (5 << 20), 0),
        (b"<p/a=" * (2 << 20), 0),
        (b"<p" + b" " * (10 << 20) + b">x", 1),
        (b"</div></b>x" * 100_000, 1),
    ],
    ids=["1,000,000 nodes", "50 MB text", "<<<", "&&&", "open quote", "one value", "blanks", "stray ends"],
)
def test_big_pages_take_linear_time(html: bytes, count: int) -> None:
    start = time.process_time()
    assert len(Page(html=html).nodes) == count
    assert time.process_time() - start < 20  # a second or three on an idle machine


@pytest.mark.parametrize("opening", [b"<div>", b"<b><i>", b"<a><p>", b"<table><tr><td>", b"<div></span></p>"])
def test_depth_of_10_000(opening: bytes) -> None:
    assert reason(opening * 10_000 + b"x") == "page is nested deeper than 2,000 elements"
    assert reason(opening * 10_000 + b"x" + b"</div>" * 10_000 + b"<p>y").startswith("page is nested deeper")


def test_a_million_elements_over_the_limit() -> None:
    assert reason(b"<br>" * 1_000_000, Limits(elements=100_000)) == "page has more than 100,000 elements"


# static text


def test_static_text_is_what_stands_on_most_pages() -> None:
    pages = [Page(html=f"<h1>{name}</h1><b>Price:</b><i>{name} tail</i>") for name in "abcd"]
    pages.append(Page(html="<b>Price:</b>"))
    assert static_text(pages) == {("html/body/b/text()", "Price:")}
    assert static_text(pages, share=1.0) == {("html/body/b/text()", "Price:")}
    assert ("html/body/h1/text()", "a") in static_text(pages, share=0.2)


def test_static_text_counts_pages_not_occurrences() -> None:
    pages = [Page(html="<p>x</p>" * 10), Page(html="<p>y</p>")]
    assert static_text(pages, share=0.8) == frozenset()


def test_static_text_needs_two_readable_pages() -> None:
    assert static_text([]) == frozenset()
    assert static_text([Page(html="<p>x")]) == frozenset()
    assert static_text([Page(html="<p>x"), Page(html=b"")]) == frozenset()
    assert static_text([Page(html="<p>x"), Page(html=b""), Page(html="<p>x")]) != frozenset()


def test_static_text_needs_the_same_path() -> None:
    assert static_text([Page(html="<p>x</p>"), Page(html="<b>x</b>")], share=0.6) == frozenset()
