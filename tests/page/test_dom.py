"""Elements: their text as a browser shows it, the words that name them, and XPaths that select exactly one node."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Node, Page, PageError
from untemplate.page import squeeze, visible_text
from untemplate.page.dom import element_texts, split_name, visible_lines, words_around


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


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<b>b</b>c", "abc"),
        ("<p>a<p>b", "a b"),
        ("a<br>b<!-- c -->d", "a bd"),
        ("a<script>b</script>c", "ac"),
        ("<ul><li>a<style>b</style><li>c</ul>d", "a c d"),
        ("<script>a</script>", ""),
        ("a<i hidden>b</i>c", "ac"),
        ('a<i style="color:red; Display : NONE">b</i>c<p style=visibility:hidden>d', "ac"),
        ('a<i style="backface-visibility:hidden">b</i>c<template>d</template>', "abc"),
        ("<div style=display:none>a</div>b<i aria-hidden=true>c</i>", "bc"),
    ],
)
def test_only_blocks_and_line_breaks_separate_words(html: str, expected: str) -> None:
    assert visible_text(Page(html=f"<body>{html}").tree) == expected


def test_a_hidden_element_has_a_text_of_its_own() -> None:
    """A tab that opens on a click is hidden until then, and so is what it contains."""
    tree = Page(html="<div>a<div hidden>b<p>c</p><p hidden>d</p></div></div>").tree
    outer, tab = tree.iter("div")
    first, second = tree.iter("p")
    expected = {outer: "a", tab: "b c", first: "c", second: "d"}
    assert {element: visible_text(element) for element in expected} == expected
    assert expected.items() <= element_texts(tree, 100).items()


@pytest.mark.parametrize("html", ["a<b>b</b> <br>c<p>d<i hidden>e</i><script>f</script>g", "<p>a<!-- b -->c"])
def test_texts_of_all_elements_and_of_one_are_the_same(html: str) -> None:
    tree = Page(html=html).tree
    for element, text in element_texts(tree, 1000).items():
        assert text == visible_text(element) == visible_lines(element).replace("\n", " ")


def test_lines_as_readers_see_them() -> None:
    [block] = Page(html="<div>1 <b>egg</b>\n<br>2\ncups <a>milk</a><p>salt</div>").tree.iter("div")
    assert visible_lines(block) == "1 egg\n2 cups milk\nsalt"


def test_what_follows_an_element_is_not_its_text() -> None:
    [bold] = Page(html="<p>a <b> b <i>c</i> </b> d").tree.iter("b")
    assert visible_text(bold) == "b c"


def test_white_space_is_squeezed() -> None:
    assert squeeze(" a\n\t b\u00a0c ") == "a b c"


def test_names_are_split_at_capitals_digits_and_signs() -> None:
    assert split_name("productTitle_2 ISBN-13") == ["product", "title", "2", "isbn", "13"]


def test_words_around_an_element_are_the_nearest_first_and_say_something() -> None:
    page = Page(
        html="<main id=shop><div class='productInfo Ci x9'><b itemprop=price name=A4>5</b></div></main>"
    )
    [bold] = page.tree.iter("b")
    assert list(words_around(bold, 1)) == ["price"]
    assert list(words_around(bold, 2)) == ["price", "product", "info"]
    assert list(words_around(bold, 9)) == ["price", "product", "info", "shop"]
